/* Places from which a compressed stream can be read, according to its index. */
#ifndef TL_XTRACE_PLACES_H
#define TL_XTRACE_PLACES_H

#include "format/xtrace/xtrace_read.h"

typedef struct xtrace_places {
    xtrace_place *at; /* by offset, the first at 0; to be freed */
    uint32_t n;       /* 0: no usable index */
} xtrace_places;

/* Reads the index of the input, which must still be verified. Errors: TL_EIO, TL_ENOMEM. */
int xtrace_places_read(xtrace_places *p, const tl_input *in, tl_error *e);
/* The number of the last place at or before instruction number `count`; p->n must not be 0. */
uint32_t xtrace_places_find(const xtrace_places *p, uint64_t count);

#endif
