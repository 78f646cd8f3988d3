/* The values of a pprof profile, and which functions of a sampled profile are one function of pprof. */
#ifndef TL_FORMAT_PPROF_VALUES_H
#define TL_FORMAT_PPROF_VALUES_H

#include "model/profile_impl.h"

typedef struct pprof_values {
    uint32_t n;
    const char *name[TL_SAMPLE_WEIGHTS], *unit[TL_SAMPLE_WEIGHTS];
    uint32_t weight[TL_SAMPLE_WEIGHTS]; /* of samples: its index */
    const char *shown;                  /* by default */
    uint64_t period;                    /* ns that each sample represents; 1: unknown, or they differ */
    uint64_t begin, duration;           /* of samples: ns since 1970, ns; 0: unknown */
} pprof_values;

/* For samples: the weights, without the pair of samples or of allocations if both are zero everywhere; the chosen one
 * is always there. For calls: calls and time. */
void pprof_values_init(pprof_values *v, const tl_profile *p);
/* A place's own amounts, of samples: value[v->n]. */
void pprof_place_values(const pprof_values *v, const tl_profile *p, uint32_t place, uint64_t *value);

/* Are two functions of a profile, a before b in canonical order, two locations of the same function? Never in a profile
 * of calls. */
bool pprof_same_function(const tl_profile *p, const tl_function *a, const tl_function *b);
/* The file of function order[i], the first of equal ones: a file known for any of them. */
const char *pprof_function_file(const tl_profile *p, const uint32_t *order, uint32_t i);

#endif
