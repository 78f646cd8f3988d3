/* A sliding window over an input: the bytes at any offset as a pointer, read in large pieces. One per reading thread.
 */
#ifndef TL_BASE_WINDOW_H
#define TL_BASE_WINDOW_H

#include "base/compiler.h"
#include "base/io/input.h"

/* Bytes after the capacity that may be read, with any content: loads may be wider than data. */
#define TL_WINDOW_SLACK 16u

typedef struct tl_window {
    tl_input *in;
    uint8_t *data;
    size_t capacity;
    uint64_t base; /* offset of data[0] */
    size_t n;      /* valid bytes */
} tl_window;

int tl_window_init(tl_window *w, tl_input *in, size_t capacity, tl_error *e);
void tl_window_fini(tl_window *w);

/* Reads `want` bytes (at most the capacity) at an offset into the window. */
int tl_window_load(tl_window *w, uint64_t offset, size_t want, tl_error *e);

/* The bytes at an offset: at least `need` of them (at most the capacity), fewer only at the end of the content.
 * *available: how many. NULL when reading fails. Valid until the next call. */
TL_ALWAYS_INLINE const uint8_t *tl_window_at(tl_window *w, uint64_t offset, size_t need, size_t *available, tl_error *e)
{
    if (TL_UNLIKELY(offset < w->base || offset - w->base > w->n || w->n - (offset - w->base) < need)) {
        if (tl_window_load(w, offset, w->capacity, e) < 0)
            return NULL;
    }
    size_t at = (size_t)(offset - w->base);
    *available = w->n - at;
    return w->data + at;
}

#endif
