/* Merging the streams of a source by time: a heap of cursors that hands out runs of events. */
#include <stdlib.h>

#include "op/source_impl.h"

/* A stream of the merge. One that has not begun yet holds no cursor, so that a trace of very many short threads costs
 * memory only for those that live at the same time. */
typedef struct head {
    uint64_t ts; /* of the stream's next event */
    uint32_t stream;
    uint32_t at;       /* its place in the batch */
    tl_cursor *cursor; /* NULL: to be opened when the stream's turn comes */
    const tl_batch *batch;
} head;

#define OPEN_AT_ONCE 64u /* streams up to this number keep their cursors from the start */

struct tl_merge {
    tl_source *source;
    head *heap; /* the earliest first */
    uint32_t n;
    uint32_t taken; /* events of the first head's batch that were handed out last time */
};

static bool earlier(const head *a, const head *b)
{
    return a->ts != b->ts ? a->ts < b->ts : a->stream < b->stream;
}

static void sift_down(tl_merge *m, uint32_t i)
{
    head moving = m->heap[i];
    for (uint32_t child; (child = 2 * i + 1) < m->n; i = child) {
        if (child + 1 < m->n && earlier(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!earlier(&m->heap[child], &moving))
            break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = moving;
}

/* Reads the next batch of a head. 1: there is one, 0: its stream has ended, < 0: error. */
static int refill(head *h, tl_error *e)
{
    int status = tl_cursor_next(h->cursor, &h->batch, e);
    if (status > 0) {
        h->at = 0;
        h->ts = h->batch->ts[0];
    }
    return status;
}

/* Opens the cursor of a head and reads its first batch. Returns as refill(). */
static int start(tl_merge *m, head *h, tl_error *e)
{
    int status = tl_cursor_open(&h->cursor, m->source, h->stream, e);
    return status < 0 ? status : refill(h, e);
}

int tl_merge_open(tl_merge **out, tl_source *s, tl_error *e)
{
    uint32_t streams = tl_source_streams(s);
    tl_merge *m = calloc(1, sizeof *m);
    head *heap = calloc((size_t)streams + 1, sizeof *heap);
    if (!m || !heap) {
        free(m);
        free(heap);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to merge %u streams", streams);
    }
    m->heap = heap;
    m->source = s;
    int status = 0;
    for (uint32_t i = 0; status >= 0 && i < streams; i++) {
        head *h = &m->heap[m->n];
        *h = (head){.stream = i};
        status = start(m, h, e);
        if (status <= 0 || streams > OPEN_AT_ONCE) {
            tl_cursor_close(h->cursor);
            h->cursor = NULL;
        }
        if (status > 0)
            m->n++;
    }
    if (status < 0) {
        tl_merge_close(m);
        return status;
    }
    for (uint32_t i = m->n / 2; i-- > 0;)
        sift_down(m, i);
    *out = m;
    return 0;
}

/* Moves the first head past the events that were handed out. */
static int advance(tl_merge *m, tl_error *e)
{
    head *h = &m->heap[0];
    h->at += m->taken;
    m->taken = 0;
    if (h->at < h->batch->n) {
        h->ts = h->batch->ts[h->at];
    } else {
        int status = refill(h, e);
        if (status < 0)
            return status;
        if (status == 0) {
            tl_cursor_close(h->cursor);
            m->heap[0] = m->heap[--m->n];
        }
    }
    sift_down(m, 0);
    return 0;
}

int tl_merge_next(tl_merge *m, const tl_batch **batch, uint32_t *from, uint32_t *to, tl_error *e)
{
    if (m->taken) {
        int status = advance(m, e);
        if (status < 0)
            return status;
    }
    if (m->n == 0)
        return 0;
    if (!m->heap[0].cursor) {
        int status = start(m, &m->heap[0], e);
        if (status <= 0)
            return status < 0 ? status : tl_fail(e, TL_EIO, TL_NO_OFFSET, "the file changed while it was read");
    }
    const head *h = &m->heap[0], *second = NULL;
    for (uint32_t i = 1; i <= 2 && i < m->n; i++)
        if (!second || earlier(&m->heap[i], second))
            second = &m->heap[i];
    uint32_t end = h->at + 1;
    if (!second) {
        end = h->batch->n;
    } else {
        /* As long as this stream's events come first; equal times go to the lower stream. */
        const uint64_t limit = second->ts;
        const bool wins = h->stream < second->stream;
        while (end < h->batch->n && (h->batch->ts[end] < limit || (wins && h->batch->ts[end] == limit)))
            end++;
    }
    *batch = h->batch;
    *from = h->at;
    *to = end;
    m->taken = end - h->at;
    return 1;
}

void tl_merge_close(tl_merge *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->n; i++)
        tl_cursor_close(m->heap[i].cursor);
    free(m->heap);
    free(m);
}
