/* The events of a trace as numbers that can be compared: for programs that read it in several ways. */
#ifndef TL_TEST_EVENT_DIGEST_H
#define TL_TEST_EVENT_DIGEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traceloom/traceloom.h"

typedef struct digest {
    uint64_t ts, rest;
} digest;

typedef struct digests {
    digest *at;
    size_t n, capacity;
} digests;

static inline uint64_t mix(uint64_t h, uint64_t value)
{
    h ^= value + UINT64_C(0x9e3779b97f4a7c15) + (h << 6) + (h >> 2);
    return h * UINT64_C(0xff51afd7ed558ccd);
}

static inline uint64_t mix_bytes(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return mix(h, n);
}

static inline uint64_t mix_value(uint64_t h, const tl_value *v)
{
    h = mix(mix(mix(h, v->type), v->n), (uint64_t)v->flags << 16 | v->variant);
    if (v->type == TL_STRING || v->type == TL_BYTES)
        return mix_bytes(h, v->as.p, v->n);
    if (v->type != TL_STACK)
        return v->type == TL_U64 || v->type == TL_I64 || v->type == TL_HEX || v->type == TL_F64 || v->type == TL_BOOL
                   ? mix(h, v->as.u)
                   : h;
    for (const tl_frame *f = v->as.p; f; f = f->caller) {
        h = mix(mix(mix(h, f->function), f->ip), f->flags);
        h = f->name ? mix_bytes(h, f->name, strlen(f->name)) : h;
    }
    return h;
}

static inline uint64_t digest_of(const tl_batch *b, uint32_t i)
{
    uint64_t h = mix(mix(mix(1, b->key[i]), b->cls[i]), b->track[i]);
    h = b->aux ? mix(h, b->aux[i]) : h;
    h = b->rank ? mix(h, b->rank[i]) : h;
    h = b->cpu ? mix(h, (uint32_t)b->cpu[i]) : h;
    for (uint32_t k = b->val ? b->val[i] : 0; b->val && k < b->val[i + 1]; k++)
        h = mix_value(h, &b->v[k]);
    return h;
}

/* Adds the events from .. to-1. */
static inline void digests_add(digests *d, const tl_batch *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (d->n == d->capacity) {
            d->capacity = d->capacity ? 2 * d->capacity : 1024;
            d->at = realloc(d->at, d->capacity * sizeof *d->at);
            if (!d->at)
                abort();
        }
        d->at[d->n++] = (digest){b->ts[i], digest_of(b, i)};
    }
}

static inline void digests_clear(digests *d)
{
    d->n = 0;
}

static inline void digests_free(digests *d)
{
    free(d->at);
    *d = (digests){0};
}

static inline bool digests_equal(const digests *a, const digests *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n * sizeof *a->at) == 0);
}

/* Only those at ticks from <= t < to stay. */
static inline void digests_cut(digests *d, uint64_t from, uint64_t to)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->at[i].ts >= from && d->at[i].ts < to)
            d->at[n++] = d->at[i];
    d->n = n;
}

static inline void digests_copy(digests *to, const digests *from)
{
    digests_free(to);
    to->at = malloc((from->n + 1) * sizeof *to->at);
    if (!to->at)
        abort();
    if (from->n)
        memcpy(to->at, from->at, from->n * sizeof *to->at);
    to->n = to->capacity = from->n;
}

/* A random number below n, the same on each run. */
static inline uint64_t draw(uint64_t *state, uint64_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n ? (*state >> 20) % n : 0;
}

#endif
