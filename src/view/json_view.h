/* An answer as a JSON object, whole or its first rows. */
#ifndef TL_VIEW_JSON_VIEW_H
#define TL_VIEW_JSON_VIEW_H

#include "base/io/output.h"
#include "model/relation_impl.h"

/* What is written of an answer. */
typedef struct tl_json_limit {
    uint64_t rows;     /* of each of its lists; an eighth of that of lists in a row */
    uint64_t bytes;    /* of the object: what precedes a list is taken off, and lists share the rest */
    uint64_t left_out; /* result: rows that the object lacks, which is its last member, too */
} tl_json_limit;

/* The object of `--json`; limit NULL: all of it. Errors: TL_ENOMEM; tl_output_finish() reports those of the output. */
int tl_answer_json(const tl_answer *a, tl_output *out, tl_json_limit *limit, tl_error *e);

#endif
