/* A sliding window over an input. */
#include "base/io/window.h"

#include <stdlib.h>

int tl_window_init(tl_window *w, tl_input *in, size_t capacity, tl_error *e)
{
    *w = (tl_window){.in = in, .capacity = capacity};
    w->data = malloc(capacity + TL_WINDOW_SLACK);
    return w->data ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a read buffer of %zu bytes", capacity);
}

void tl_window_fini(tl_window *w)
{
    free(w->data);
    *w = (tl_window){0};
}

int tl_window_load(tl_window *w, uint64_t offset, size_t want, tl_error *e)
{
    size_t got = 0;
    int status = tl_input_read(w->in, offset, w->data, want < w->capacity ? want : w->capacity, &got, e);
    w->base = offset;
    w->n = status < 0 ? 0 : got;
    return status;
}
