/* Parts of a compressed stream, made ahead by several threads.
 *
 * A part is between two places of the index. A cursor of its own reads it, which begins in the state that the index
 * claims, and does not report damage. A part is only used if the one before ended exactly in that state; from the first
 * mismatch on, the stream is read as if there were no index. So the result does not depend on the index. */
#include "format/xtrace/xtrace_ahead.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/ordered_workers.h"
#include "format/xtrace/xtrace_classes.h"
#include "format/xtrace/xtrace_places.h"

#define SLOTS_OF_WORKER 2u
#define SLOTS_MOST      16u
/* Parts with more batches are not made ahead: the index is not ours, or the stream is unusual. */
#define BATCHES_MOST    2048u

typedef struct part {
    xtrace_cursor cursor;
    tl_batch *batch;
    uint32_t n, capacity; /* full batches; existing ones */
    bool open;            /* the cursor is open */
    tl_error error;
} part;

struct xtrace_ahead {
    xtrace_reader *reader;
    uint32_t stream;
    tl_want want; /* what its batches have */
    xtrace_places places;
    tl_ordered_workers *workers;
    part part[SLOTS_MOST];
    part *at;        /* being handed out, or NULL */
    uint32_t next;   /* its next batch */
    uint64_t number; /* of the next part */
};

static int add_batch(part *p, const xtrace_ahead *a, tl_error *e)
{
    if (!TL_GROW_TO(p->batch, p->capacity, p->n, UINT32_MAX))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a part of a stream");
    tl_batch *b = &p->batch[p->n];
    if (!b->ts)
        return tl_batch_init(b, a->reader->trace, &a->want, TL_BATCH_MAX, e);
    tl_batch_clear(b);
    return 0;
}

static int start(part *p, xtrace_ahead *a, uint64_t number)
{
    const xtrace_place *from = &a->places.at[number];
    int status = p->open ? 0 : xtrace_cursor_open_part(a->reader, a->stream, &p->cursor, &p->error);
    if (status < 0)
        return status;
    p->open = true;
    p->n = 0;
    xtrace_cursor *c = &p->cursor;
    c->offset = c->told = from->offset;
    c->count = from->count;
    c->rank = 0;
    c->no_pc = TL_INSN_NO_PC;
    c->end = number + 1 < a->places.n ? a->places.at[number + 1].offset : UINT64_MAX;
    c->ended = false;
    return 0;
}

static int make(void *arg, unsigned slot, uint64_t number)
{
    xtrace_ahead *a = arg;
    part *p = &a->part[slot];
    if (number >= a->places.n)
        return 0;
    int status = start(p, a, number);
    while (status == 0 && p->n < BATCHES_MOST) {
        status = add_batch(p, a, &p->error);
        if (status < 0)
            break;
        status = xtrace_cursor_next(&p->cursor, &p->batch[p->n], &p->error);
        if (status <= 0)
            break;
        p->n++;
        status = 0;
    }
    return status < 0 ? status : 1;
}

int xtrace_ahead_open(xtrace_ahead **out, const xtrace_cursor *c, const tl_batch *b, tl_error *e)
{
    const unsigned threads = c->reader->want.threads;
    *out = NULL;
    if (threads < 2 || tl_input_frames(c->insns->in) < 2)
        return 0;
    xtrace_ahead *a = calloc(1, sizeof *a);
    if (!a)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to read a stream");
    a->reader = c->reader;
    a->stream = c->stream;
    a->want = (tl_want){.fields = b->val != NULL, .cpu = b->cpu != NULL};
    int status = xtrace_places_read(&a->places, c->insns->in, e);
    const unsigned wanted = threads * SLOTS_OF_WORKER, slots = wanted < SLOTS_MOST ? wanted : SLOTS_MOST;
    if (status == 0 && a->places.n > 1)
        status = tl_ordered_open(&a->workers, threads - 1, slots, make, a, e);
    if (status < 0 || !a->workers) {
        xtrace_ahead_close(a);
        return status;
    }
    *out = a;
    return 0;
}

/* Does the next part begin where the stream is? */
static bool begins_here(const xtrace_ahead *a, const xtrace_cursor *c)
{
    return a->places.at[a->number].offset == c->offset && a->places.at[a->number].count == c->count;
}

/* Does it begin with an instruction that has a pc? Otherwise the part would not know the state of the stream. */
static bool says_pc(const part *p, const xtrace_cursor *c)
{
    if (c->no_pc || p->n == 0)
        return true;
    const tl_batch *b = &p->batch[0];
    return b->cls[0] == XTRACE_CLASS_INSN && tl_insn_has_pc(b->aux[0]);
}

/* Parts do not know the latest TIME before them. */
static void raise_ranks(tl_batch *b, uint64_t rank)
{
    for (uint32_t i = 0; b->rank && i < b->n && b->rank[i] < rank; i++)
        b->rank[i] = rank;
}

static void exchange(tl_batch *a, tl_batch *b)
{
    const tl_batch was = *a;
    *a = *b;
    *b = was;
}

int xtrace_ahead_next(xtrace_ahead *a, xtrace_cursor *c, tl_batch *b, tl_error *e)
{
    for (;;) {
        if (a->at && a->next < a->at->n) {
            exchange(b, &a->at->batch[a->next++]);
            raise_ranks(b, c->rank);
            return 1;
        }
        if (a->at) { /* the stream is where the part ended */
            c->offset = a->at->cursor.offset;
            c->count = a->at->cursor.count;
            c->pc = a->at->cursor.pc;
            c->no_pc = a->at->cursor.no_pc;
            c->rank = a->at->cursor.rank > c->rank ? a->at->cursor.rank : c->rank;
            a->at = NULL;
            a->number++;
        }
        if (a->number >= a->places.n || !begins_here(a, c))
            return 0;
        unsigned slot;
        int status = tl_ordered_next(a->workers, &slot);
        if (status <= 0) {
            if (status < 0 && e)
                *e = a->part[slot].error;
            return status;
        }
        if (!says_pc(&a->part[slot], c))
            return 0;
        a->at = &a->part[slot];
        a->next = 0;
    }
}

void xtrace_ahead_close(xtrace_ahead *a)
{
    if (!a)
        return;
    tl_ordered_close(a->workers);
    for (unsigned i = 0; i < SLOTS_MOST; i++) {
        part *p = &a->part[i];
        for (uint32_t k = 0; k < p->capacity; k++)
            tl_batch_fini(&p->batch[k]);
        free(p->batch);
        if (p->open)
            xtrace_cursor_close(&p->cursor);
    }
    free(a->places.at);
    free(a);
}
