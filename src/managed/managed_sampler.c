/* Chooses objects by bytes, at random. */
#include "managed/managed_sampler.h"

#include <math.h>

/* A number of [0, 1). */
static double next(managed_sampler *s)
{
    uint64_t x = s->random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* The distance to the next hit has no memory: that from the end of an object is as good as any. */
static void aim(managed_sampler *s, uint64_t every)
{
    const double distance = ceil(-log1p(-next(s)) * (double)every);
    s->left = every == MANAGED_EVERY_OBJECT || distance < 1 ? 1 : (uint64_t)distance;
}

void managed_sampler_begin(managed_sampler *s, uint64_t every, uint64_t seed)
{
    s->random = seed;
    aim(s, every);
}

uint64_t managed_sampler_hit(managed_sampler *s, uint64_t every, uint64_t bytes)
{
    aim(s, every);
    if (every == MANAGED_EVERY_OBJECT || bytes == 0)
        return 1;
    /* One in 1 / (the probability of a hit): rounded up as often as its fraction says. */
    return (uint64_t)(1 / -expm1(-(double)bytes / (double)every) + next(s));
}
