/* What the values of a pprof profile are, and what of a profile of samples is one function of pprof. */
#ifndef TL_FORMAT_PPROF_VALUES_H
#define TL_FORMAT_PPROF_VALUES_H

#include "model/profile_impl.h"

typedef struct pprof_values {
    uint32_t n;
    const char *name[TL_SAMPLE_WEIGHTS], *unit[TL_SAMPLE_WEIGHTS];
    uint32_t weight[TL_SAMPLE_WEIGHTS]; /* of samples: which it is */
    const char *shown;                  /* by default */
    uint64_t period;                    /* ns that each sample stands for; 1: not known, or not the same of all */
    uint64_t begin, duration;           /* of samples: ns since 1970, ns; 0: not known */
} pprof_values;

/* Of samples: the weights, but for those of samples, and those of allocations, where both are zero everywhere; the
 * chosen one is always there. Of calls: calls and time. */
void pprof_values_init(pprof_values *v, const tl_profile *p);
/* What a place of samples has itself: value[v->n]. */
void pprof_place_values(const pprof_values *v, const tl_profile *p, uint32_t place, uint64_t *value);

/* Are two functions of a profile, a before b in canonical order, two places in the source of the same function? Never
 * in a profile of calls. */
bool pprof_same_function(const tl_profile *p, const tl_function *a, const tl_function *b);
/* The file of function order[i], which is the first of those that are the same: one that is known of any of them. */
const char *pprof_function_file(const tl_profile *p, const uint32_t *order, uint32_t i);

#endif
