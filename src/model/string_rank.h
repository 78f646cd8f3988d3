/* The distinct strings that a profile's functions and threads use, in text order. Comparing ranks instead of text makes
 * sorting cheap, however long and similar the strings are. */
#ifndef TL_MODEL_STRING_RANK_H
#define TL_MODEL_STRING_RANK_H

#include "model/profile_impl.h"

typedef struct tl_string_ranks {
    const char **text; /* [n], ascending by strcmp() */
    uint32_t n;
    struct tl_string_rank *by_pointer;
    uint32_t npointer;
} tl_string_ranks;

/* Strings of functions, tracks, clock, build-id and exe. */
int tl_string_ranks_init(tl_string_ranks *r, const tl_profile *p, tl_error *e);
void tl_string_ranks_fini(tl_string_ranks *r);
/* 1 + index in text; 0 for NULL. s is one of the pointers in the profile. */
uint32_t tl_string_rank(const tl_string_ranks *r, const char *s);

#endif
