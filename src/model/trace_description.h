/* What a file of columns says of the traces that its rows are of: JSON, a member of its own description. */
#ifndef TL_MODEL_TRACE_DESCRIPTION_H
#define TL_MODEL_TRACE_DESCRIPTION_H

#include "model/trace_impl.h"

/* A trace, and the tick that its times count from. */
typedef struct tl_described_trace {
    const tl_trace *trace;
    uint64_t begin;
} tl_described_trace;

/* An array with an object for each: "trace" (its number, from 1), "path", "format", "version" of the format, "unit" of
 * times and "begin_utc", the ns since 1970 of time 0; null where that is not known. *out belongs to the caller: free().
 * Errors: TL_ENOMEM. */
int tl_describe_traces(char **out, const tl_described_trace *t, uint32_t n, tl_error *e);

#endif
