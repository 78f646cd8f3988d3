/* Sorts events by time: cuts every batch into sorted pieces, and merges batches with a heap.
 *
 * Most inputs are nearly sorted: then a batch is one piece or a few long ones, batches hardly overlap, and the only
 * work per event is to compare its time with the previous one. */
#include "op/reorder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

_Static_assert(TL_BATCH_MAX <= UINT16_MAX, "positions in a batch are uint16_t");

/* Bits of a digit when sorting: its counters stay in a first-level cache. */
enum { DIGIT_MOST = 11 };

/* Events from .. to-1 of a batch: consecutive also in the order of time. */
typedef struct piece {
    uint16_t from, to;
} piece;

/* A batch of the window. */
typedef struct slot {
    tl_batch batch;
    size_t bytes; /* memory of its values */
    uint32_t npiece, at;
    uint32_t from; /* not handed out yet: the events from here in piece `at`, and all later pieces */
    uint64_t last; /* the latest time in it */
    piece piece[TL_BATCH_MAX];
} slot;

/* The next event of a batch. */
typedef struct entry {
    uint64_t ts, number; /* number: of the batch */
    slot *slot;
} entry;

struct tl_reorder {
    tl_source *source;
    tl_want want;
    tl_cursor *cursor; /* NULL: everything was read */
    int status;        /* what ended reading, if < 0: `error` */
    tl_error error;
    uint64_t batches; /* read */
    uint64_t latest;  /* time of the latest event handed out */
    uint64_t late;    /* events that came too late */
    size_t bytes;     /* of values, in the heap and in `spent` */
    uint32_t capacity;
    uint32_t nheap, nspent, nfree;
    entry heap[TL_REORDER_BATCHES];  /* the earliest first */
    slot *spent[TL_REORDER_BATCHES]; /* handed out, in use until the next call */
    slot *free[TL_REORDER_BATCHES];
    uint16_t order[TL_BATCH_MAX], other[TL_BATCH_MAX], count[1 << DIGIT_MOST]; /* of sort() */
};

/* Sorts positions by insertion. False if that takes more than a few steps for most of them. */
static bool insert_all(uint16_t *order, const uint64_t *ts, uint32_t n)
{
    enum { STEPS_AN_EVENT = 8 };
    uint32_t steps = n * STEPS_AN_EVENT;
    order[0] = 0;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t at = i;
        for (; at > 0 && ts[order[at - 1]] > ts[i]; at--)
            order[at] = order[at - 1];
        order[at] = (uint16_t)i;
        if (i - at > steps)
            return false;
        steps -= i - at;
    }
    return true;
}

/* One digit of the sort below. */
static void sort_digit(tl_reorder *r, const uint64_t *ts, uint64_t least, uint32_t n, uint32_t shift, uint32_t width)
{
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    uint16_t *const count = r->count, sum = 0;
    memset(count, 0, sizeof *count << width);
    for (uint32_t i = 0; i < n; i++)
        count[(ts[i] - least) >> shift & mask]++;
    for (uint32_t i = 0; i <= mask; i++) {
        const uint16_t here = count[i];
        count[i] = sum;
        sum = (uint16_t)(sum + here);
    }
    for (uint32_t i = 0; i < n; i++)
        r->other[count[(ts[r->order[i]] - least) >> shift & mask]++] = r->order[i];
    memcpy(r->order, r->other, n * sizeof *r->order);
}

/* Puts the positions of n events into r->order, by time, stably. Times that differ little, such as milliseconds, are
 * sorted digit by digit, without data-dependent branches. */
static void sort(tl_reorder *r, const uint64_t *ts, uint32_t n)
{
    uint64_t least = ts[0], most = ts[0];
    for (uint32_t i = 1; i < n; i++) {
        least = ts[i] < least ? ts[i] : least;
        most = ts[i] > most ? ts[i] : most;
    }
    uint32_t bits = 1;
    while (bits < 64 && (most - least) >> bits)
        bits++;
    const uint32_t digits = (bits + DIGIT_MOST - 1) / DIGIT_MOST, width = (bits + digits - 1) / digits;
    if (digits > 2 && insert_all(r->order, ts, n))
        return;
    for (uint32_t i = 0; i < n; i++)
        r->order[i] = (uint16_t)i;
    for (uint32_t shift = 0; shift < bits; shift += width)
        sort_digit(r, ts, least, n, shift, width);
}

/* Cuts a batch into pieces. */
static void cut(tl_reorder *r, slot *s)
{
    const uint64_t *ts = s->batch.ts;
    const uint32_t n = s->batch.n;
    uint32_t i = 1;
    while (i < n && ts[i - 1] <= ts[i])
        i++;
    s->at = 0;
    s->npiece = 1;
    if (i == n) {
        s->piece[0] = (piece){0, (uint16_t)n};
    } else {
        sort(r, ts, n);
        const uint16_t *at = r->order;
        piece *p = s->piece, whole = {at[0], at[0]};
        for (i = 0; i < n; i++) { /* branch-free: the ends of pieces are unpredictable */
            const bool other = at[i] != whole.to;
            p += other;
            whole.from = other ? at[i] : whole.from;
            whole.to = (uint16_t)(at[i] + 1);
            *p = whole;
        }
        s->npiece = (uint32_t)(p - s->piece) + 1;
    }
    s->from = s->piece[0].from;
    s->last = ts[s->piece[s->npiece - 1].to - 1];
}

TL_ALWAYS_INLINE bool earlier(const entry *a, const entry *b)
{
    return a->ts < b->ts || (a->ts == b->ts && a->number < b->number);
}

/* Sinks an entry into the heap from the empty place i. */
static void sink(tl_reorder *r, uint32_t i, entry x)
{
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= r->nheap)
            break;
        if (child + 1 < r->nheap && earlier(&r->heap[child + 1], &r->heap[child]))
            child++;
        if (!earlier(&r->heap[child], &x))
            break;
        r->heap[i] = r->heap[child];
        i = child;
    }
    r->heap[i] = x;
}

static void push(tl_reorder *r, entry x)
{
    uint32_t i = r->nheap++;
    for (; i > 0 && earlier(&x, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
        r->heap[i] = r->heap[(i - 1) / 2];
    r->heap[i] = x;
}

int tl_reorder_open(tl_reorder **out, tl_source *s, uint32_t stream, const tl_want *want, const tl_limit *limit,
                    tl_error *e)
{
    tl_reorder *r = calloc(1, sizeof *r);
    if (!r)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to put events in order");
    r->source = s;
    r->want = want ? *want : s->want;
    int status = tl_cursor_open_want(&r->cursor, s, stream, &r->want, limit, e);
    if (status < 0) {
        tl_reorder_close(r);
        return status;
    }
    r->capacity = r->cursor->batch.capacity;
    *out = r;
    return 0;
}

static slot *take_slot(tl_reorder *r, tl_error *e)
{
    slot *s = r->nfree ? r->free[--r->nfree] : calloc(1, sizeof *s);
    if (!s) {
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to put events in order");
        return NULL;
    }
    if (!s->batch.ts && tl_batch_init(&s->batch, &r->source->trace, &r->want, r->capacity, e) < 0) {
        free(s);
        return NULL;
    }
    return s;
}

/* Keeps the memory of one batch, unless it is unusually large. */
static void give_back(tl_reorder *r, slot *s)
{
    r->bytes -= s->bytes;
    if (s->bytes > TL_REORDER_BYTES / TL_REORDER_BATCHES)
        tl_batch_fini(&s->batch);
    s->bytes = 0;
    r->free[r->nfree++] = s;
}

/* How many events of a batch are earlier than those handed out before it was read. */
static uint64_t count_late(const tl_reorder *r, const slot *s)
{
    uint64_t n = 0;
    if (s->batch.ts[s->from] < r->latest)
        for (uint32_t i = 0; i < s->batch.n; i++)
            n += s->batch.ts[i] < r->latest;
    return n;
}

/* Reads the next batch. 1, 0 at the end, < 0. */
static int read_batch(tl_reorder *r, tl_error *e)
{
    slot *s = take_slot(r, e);
    int status = s ? tl_cursor_fill(r->cursor, &s->batch, e) : TL_ENOMEM;
    if (!s)
        return status;
    const tl_batch *b = &s->batch;
    s->bytes = b->val_capacity * sizeof *b->v + (b->arena ? b->arena->total : 0);
    r->bytes += s->bytes;
    if (status <= 0 || b->n == 0) {
        give_back(r, s);
        return status;
    }
    cut(r, s);
    r->late += count_late(r, s);
    push(r, (entry){b->ts[s->from], r->batches++, s});
    return 1;
}

/* May the earliest batch be handed out, because everything still to come is later? */
static bool is_settled(const tl_reorder *r)
{
    uint64_t (*const stream_floor)(const void *) = r->source->reader->stream_floor;
    return r->nheap > 0 && stream_floor && r->heap[0].slot->last <= stream_floor(r->cursor->state);
}

/* Fills the window, as far as needed. */
static void fill(tl_reorder *r)
{
    while (r->cursor && !is_settled(r) && r->nheap < TL_REORDER_BATCHES &&
           (r->nheap == 0 || r->bytes < TL_REORDER_BYTES)) {
        r->status = read_batch(r, &r->error);
        if (r->status <= 0) {
            tl_cursor_close(r->cursor);
            r->cursor = NULL;
        }
    }
}

/* Reports which events came too late, once. */
static int report(tl_reorder *r, tl_error *e)
{
    const uint64_t no_stream = UINT64_C(1) << 40; /* the format adds those of its streams, if it counts them */
    const tl_damage note = {.kind = TL_DAMAGE_NOTE, .rule = "order.too-late"};
    const uint64_t n = r->late;
    if (n == 0)
        return 0;
    r->late = 0;
    tl_trace_add_out_of_order(&r->source->trace, no_stream, n);
    return tl_trace_report(&r->source->trace, e, &note, "%" PRIu64 " event%s came too late to be put in order of time",
                           n, n == 1 ? "" : "s");
}

/* The next runs of the earliest batch: those before the next event of any other. Returns how many, at most `room`; the
 * batch may then be used up. */
static uint32_t plan_batch(tl_reorder *r, tl_run *run, uint32_t room)
{
    const entry *first = &r->heap[0], *second = NULL;
    slot *s = first->slot;
    const uint64_t *ts = s->batch.ts;
    if (r->nheap > 1)
        second = r->nheap > 2 && earlier(&r->heap[2], &r->heap[1]) ? &r->heap[2] : &r->heap[1];
    /* Events before `end` come first, with `inclusive` also those at that time. */
    const uint64_t end = second ? second->ts : UINT64_MAX;
    const bool inclusive = !second || first->number < second->number;
    uint32_t n = 0;
    while (n < room && s->at < s->npiece) {
        const piece p = s->piece[s->at];
        const uint64_t last = ts[p.to - 1];
        uint32_t to = p.to;
        if (last > end || (last == end && !inclusive)) {
            to = s->from;
            while (ts[to] < end || (inclusive && ts[to] == end))
                to++;
            if (to > s->from)
                run[n++] = (tl_run){&s->batch, s->from, to};
            s->from = to;
            break;
        }
        run[n++] = (tl_run){&s->batch, s->from, to};
        s->from = s->piece[++s->at < s->npiece ? s->at : 0].from;
    }
    const tl_run *behind = &run[n - 1];
    const uint64_t latest = ts[behind->to - 1];
    if (latest > r->latest)
        r->latest = latest;
    return n;
}

int tl_reorder_plan(tl_reorder *r, tl_run *run, uint32_t room, tl_error *e)
{
    uint32_t n = 0;
    while (r->nspent)
        give_back(r, r->spent[--r->nspent]);
    fill(r);
    while (n < room && r->nheap > 0) {
        entry x = r->heap[0];
        n += plan_batch(r, run + n, room - n);
        if (x.slot->at < x.slot->npiece) {
            x.ts = x.slot->batch.ts[x.slot->from];
            sink(r, 0, x);
            continue;
        }
        r->spent[r->nspent++] = x.slot;
        if (--r->nheap)
            sink(r, 0, r->heap[r->nheap]);
        if (r->cursor) /* the window has room: read on first */
            break;
    }
    if (n > 0)
        return (int)n;
    int status = report(r, e);
    if (status == 0 && r->status < 0) {
        status = r->status;
        if (e)
            *e = r->error;
    }
    return status;
}

void tl_reorder_close(tl_reorder *r)
{
    if (!r)
        return;
    (void)report(r, NULL);
    while (r->nspent)
        give_back(r, r->spent[--r->nspent]);
    for (uint32_t i = 0; i < r->nheap; i++)
        give_back(r, r->heap[i].slot);
    for (uint32_t i = 0; i < r->nfree; i++) {
        tl_batch_fini(&r->free[i]->batch);
        free(r->free[i]);
    }
    tl_cursor_close(r->cursor);
    free(r);
}
