/* The dictionary of a column in a row group of Parquet: its different values, each once. */
#ifndef TL_BASE_PARQUET_DICTIONARY_H
#define TL_BASE_PARQUET_DICTIONARY_H

#include "base/columnar/column_batch.h"
#include "base/hash.h"
#include "base/protobuf.h"

#define TL_DICTIONARY_VALUES 65536u
#define TL_DICTIONARY_BYTES  (1u << 20)

typedef struct tl_dictionary {
    tl_hash index;   /* of a number, or of the hash of a text */
    uint32_t *start; /* [n] of text: where each is in `plain` */
    uint32_t n, capacity;
    tl_pb plain; /* the values as PLAIN */
} tl_dictionary;

typedef enum tl_lookup {
    TL_LOOKUP_DONE,
    TL_LOOKUP_FULL,  /* there are too many values */
    TL_LOOKUP_FAILED /* memory ran out */
} tl_lookup;

/* The indices of n numbers, which are added where they are new, as long as there are at most `most`. */
tl_lookup tl_dictionary_words(tl_dictionary *d, const uint64_t *word, uint32_t n, uint32_t most, uint32_t *index);
/* The same for the texts of a column that are not null. */
tl_lookup tl_dictionary_texts(tl_dictionary *d, const tl_column_data *c, uint32_t most, uint32_t *index);
/* A value that is text: its bytes, *n of them. */
const uint8_t *tl_dictionary_text(const tl_dictionary *d, uint32_t i, uint32_t *n);
void tl_dictionary_fini(tl_dictionary *d);

#endif
