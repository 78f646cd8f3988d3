/* Where a jump can lead when some bytes of its displacement are given. Pure. */
#ifndef TL_PATCH_WINDOW_H
#define TL_PATCH_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct patch_window {
    uint64_t from;        /* address behind the jump */
    uint32_t fixed, mask; /* displacements d with (d & mask) == fixed */
} patch_window;

/* The smallest displacement from d on, as unsigned numbers; false: there is none. */
static inline bool patch_window_next(const patch_window *w, uint32_t d, uint32_t *out)
{
    const uint32_t wrong = (d ^ w->fixed) & w->mask;
    uint32_t x = d;
    if (wrong) {
        const unsigned top = 31 - (unsigned)__builtin_clz(wrong);
        const uint32_t below = ((uint32_t)1 << top) - 1; /* bits below the highest wrong one */
        if (w->fixed >> top & 1) {
            x = d & ~below;
        } else { /* the free bits above count one up: fixed ones are set, so that they pass the carry on */
            const uint64_t sum = ((uint64_t)(d | w->mask | below) | (uint64_t)1 << top) + 1;
            if (sum >> 32)
                return false;
            x = (uint32_t)sum;
        }
        x = (x & ~w->mask) | w->fixed;
    }
    *out = x;
    return true;
}

static inline uint64_t patch_window_target(const patch_window *w, uint32_t d)
{
    return w->from + (uint64_t)(int64_t)(int32_t)d;
}

#endif
