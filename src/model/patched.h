/* Objects whose functions the recorder patched in the memory of the program, and how many. */
#ifndef TL_MODEL_PATCHED_H
#define TL_MODEL_PATCHED_H

#include "model/profile_impl.h"
#include "model/trace_impl.h"

/* Strings belong to the trace or profile. */
struct tl_patched {
    const char *path;                  /* of the file; NULL: not known */
    uint64_t functions, patched, late; /* late: of the patched ones, those whose calls may end late */
    const char *why; /* the others are not, for people; NULL: there are no others, or it is not known */
};

enum { TL_PATCHED_TEXT = 17408 };

/* The *n objects of a trace, in the order in which they were patched, which begins with the program unless that was
 * left out. Borrowed. */
const tl_patched *tl_trace_patched(const tl_trace *t, uint32_t *n);
/* Copies them into a trace or a profile, which had none. TL_ENOMEM. */
int tl_trace_set_patched(tl_trace *t, const tl_patched *list, uint32_t n, tl_error *e);
int tl_profile_set_patched(tl_profile *p, const tl_patched *list, uint32_t n, tl_error *e);
bool tl_profile_same_patched(const tl_profile *a, const tl_profile *b);

/* "lua5.4: 727 of 729 functions; 3 may end late; left out: ...". Returns buf. */
const char *tl_patched_text(char buf[static TL_PATCHED_TEXT], const tl_patched *p);

#endif
