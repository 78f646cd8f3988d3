/* A copy of the terms of a scan, whose values belong to whoever asked. */
#ifndef TL_OP_TERM_COPY_H
#define TL_OP_TERM_COPY_H

#include "op/scan/scan.h"

typedef struct tl_term_copy {
    tl_arena arena;
} tl_term_copy;

/* Replaces ask->term by a copy. After zeroing; fini is needed in any case. */
int tl_term_copy_init(tl_term_copy *c, tl_scan_ask *ask, tl_error *e);
void tl_term_copy_fini(tl_term_copy *c);

/* Does the value of the term's column fit? True also where that is not known, as of values of other types. */
bool tl_term_takes_text(const tl_scan_ask *ask, const tl_term *t, const char *text);
bool tl_term_takes_int(const tl_term *t, int64_t v);

#endif
