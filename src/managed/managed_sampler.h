/* Which objects are recorded when not all are: those that a Poisson process over the bytes that a thread allocates
 * hits. A large object is hit more often than a small one, so each that is hit stands for others of its size. */
#ifndef TL_MANAGED_SAMPLER_H
#define TL_MANAGED_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#define MANAGED_EVERY_OBJECT 1u         /* bytes between samples: no object is left out */
#define MANAGED_EVERY_MOST   (1u << 30) /* bytes between samples */

typedef struct managed_sampler {
    uint64_t left; /* bytes up to the next hit */
    uint64_t random;
} managed_sampler;

/* `every`: bytes between two hits, on average. */
void managed_sampler_begin(managed_sampler *s, uint64_t every, uint64_t seed);

/* Is it left out? Of nearly all objects only this is asked. */
static inline bool managed_sampler_passes(managed_sampler *s, uint64_t bytes)
{
    const bool passes = bytes < s->left;
    s->left -= passes ? bytes : 0;
    return passes;
}

/* For an object that is not left out: how many of its size it stands for. Sums of these are right on average. */
uint64_t managed_sampler_hit(managed_sampler *s, uint64_t every, uint64_t bytes);

#endif
