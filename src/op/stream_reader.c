/* Batches of all streams of a source, by cursors or threads that decode ahead. */
#include "op/stream_reader.h"

#include <stdlib.h>

#include "op/ahead.h"

typedef struct feed {
    tl_cursor *cursor;
    bool ended;
} feed;

struct tl_stream_reader {
    tl_source *source;
    tl_want want;
    tl_limit limit;
    tl_ahead *ahead; /* or NULL: cursors */
    feed *feed;      /* by stream */
};

int tl_stream_reader_open(tl_stream_reader **out, tl_source *s, const tl_want *want, const tl_limit *limit, tl_error *e)
{
    const uint32_t n = tl_source_streams(s);
    tl_stream_reader *p = calloc(1, sizeof *p);
    int status = 0;
    if (!p || !(p->feed = calloc((size_t)n + 1, sizeof *p->feed))) {
        free(p);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to read %u streams", n);
    }
    p->source = s;
    p->want = want ? *want : s->want;
    if (limit)
        p->limit = *limit;
    if (tl_ahead_pays(s, &p->want))
        status = tl_ahead_open(&p->ahead, s, &p->want, &p->limit, e);
    if (status < 0) {
        tl_stream_reader_close(p);
        return status;
    }
    *out = p;
    return 0;
}

int tl_stream_reader_next(tl_stream_reader *p, uint32_t stream, const tl_batch **batch, tl_error *e)
{
    if (p->ahead)
        return tl_ahead_next(p->ahead, stream, batch, e);
    feed *f = &p->feed[stream];
    if (f->ended)
        return 0;
    int status = f->cursor ? 0 : tl_cursor_open_want(&f->cursor, p->source, stream, &p->want, &p->limit, e);
    if (status == 0)
        status = tl_cursor_next(f->cursor, batch, e);
    if (status == 0) {
        tl_stream_reader_rewind(p, stream);
        f->ended = true;
    }
    return status;
}

void tl_stream_reader_rewind(tl_stream_reader *p, uint32_t stream)
{
    tl_cursor_close(p->feed[stream].cursor);
    p->feed[stream].cursor = NULL;
}

bool tl_stream_reader_rewinds(const tl_stream_reader *p)
{
    return !p->ahead;
}

void tl_stream_reader_close(tl_stream_reader *p)
{
    if (!p)
        return;
    tl_ahead_close(p->ahead);
    for (uint32_t i = 0; i < tl_source_streams(p->source); i++)
        tl_cursor_close(p->feed[i].cursor);
    tl_trace_sort_damage(&p->source->trace); /* for what was read, even if not everything was */
    free(p->feed);
    free(p);
}
