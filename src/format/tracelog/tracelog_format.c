/* TraceLog: the text logs of CoreProfiler. The format's interface, and the one cursor.
 *
 *   block n of the text --> parts (tracelog_scan.c) --> replay (tracelog_replay.c) --> batches
 *   several threads, any order                          one thread, in the order of the log
 *
 * The specification is docs/format/tracelog.md; the records are in records.def. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/ordered_workers.h"
#include "format/tracelog/tracelog_cut.h"
#include "format/tracelog/tracelog_facts.h"
#include "format/tracelog/tracelog_replay.h"
#include "format/tracelog/tracelog_words.h"
#include "format/tracelog/tracelog_write.h"

#include "model/format_impl.h"

#define BLOCK       ((uint64_t)64 << 10) /* text and its parts fit a second-level cache */
#define SLOTS_OF    4u                   /* how many blocks per thread may be ahead */
#define FOLLOW_WAIT 100u                 /* ms */
enum { THREADS = 16 };

/* A block of the log: its parts, and what follows them. */
typedef struct block {
    tracelog_text text;
    tracelog_part *part; /* [capacity] */
    uint32_t nparts, capacity;
    int status; /* 0, or the error after the parts */
    tl_error error;
} block;

typedef struct cursor {
    tracelog_reader *reader;
    tracelog_replay replay;
    tl_want want; /* what its batches have, once `begun` */
    bool begun;
    tracelog_cutting cutting;
    tl_ordered_workers *workers; /* NULL: when following */
    uint64_t offset;             /* then: where to read on */
    uint64_t blocks;             /* taken so far */
    uint64_t to;                 /* no later event is needed */
    block *block;                /* [nslots] */
    unsigned nslots;
    block *at; /* the current block, or NULL */
    uint32_t part;
} cursor;

/* ---- opening */

/* Counts complete lines of the head that begin with the words of a record. */
static int probe(const tl_probe *p)
{
    const uint8_t *at = p->head, *end = p->head + p->size;
    int known = 0, others = 0;
    if (p->size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    tracelog_words_init();
    while (end - at >= 8) {
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        if (*at != '\n' && *at != '\r' && tracelog_record_at(at) < TRACELOG_RECORDS)
            known++;
        else if (*at != '\n' && *at != '\r')
            others++;
        if (!feed)
            break;
        at = feed + 1;
    }
    return known > others ? 50 : 0;
}

static int open_log(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    tracelog_reader *r = reader;
    r->trace = t;
    r->want = *want;
    r->follow = tl_input_follows(in);
    tl_trace_set_clock(t, "milliseconds", 1000);
    t->clock.from_zero = true;
    if (pthread_mutex_init(&r->lock, NULL) != 0)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to open the log");
    r->in = in;
    r->late = r->follow || want->late;
    r->makes_calls = r->late && want->calls; /* otherwise if the log turns out to have some */
    int status = tracelog_set_classes(t, r->makes_calls, e);
    if (status < 0)
        return status;
    return r->late ? tracelog_add_tracks(r, e) : tracelog_survey(r, progress, e);
}

static void close_log(void *reader)
{
    tracelog_reader *r = reader;
    tl_id_map_fini(&r->track);
    free(r->floor);
    tracelog_code_fini(&r->code);
    tl_strings_fini(&r->names);
    if (r->in) /* otherwise it was not opened */
        pthread_mutex_destroy(&r->lock);
}

const char *tracelog_intern_name(tracelog_reader *r, const char *name, size_t n)
{
    pthread_mutex_lock(&r->lock);
    const char *interned = tl_strings_get_text(&r->names, name, n);
    pthread_mutex_unlock(&r->lock);
    return interned;
}

static uint32_t streams(void *reader)
{
    (void)reader;
    return 1;
}

static bool locate(void *reader, const tl_frame *frame, tl_location *out)
{
    const tracelog_reader *r = reader;
    return tracelog_code_locate(&r->code, frame, out);
}

/* ---- blocks */

/* The next part of a block, made if needed. NULL when memory runs out. */
static tracelog_part *next_part(const cursor *c, block *b, tl_error *e)
{
    if (!TL_GROW_TO(b->part, b->capacity, b->nparts, UINT32_MAX)) {
        tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to read lines");
        return NULL;
    }
    tracelog_part *part = &b->part[b->nparts];
    if (!part->note && tracelog_part_init(part, c->reader->trace, &c->want, e) < 0)
        return NULL;
    tracelog_part_clear(part);
    b->nparts++;
    return part;
}

static void scan_block(const cursor *c, block *b, tracelog_lines *lines)
{
    tl_error e;
    while (lines->at < lines->end) {
        tracelog_part *part = next_part(c, b, &e);
        int status = part ? tracelog_scan(lines, part, &e) : TL_ENOMEM;
        if (status < 0) {
            b->status = status;
            b->error = e;
            return;
        }
    }
}

static int make_block(void *arg, unsigned slot, uint64_t number)
{
    cursor *c = arg;
    block *b = &c->block[slot];
    tracelog_lines lines = {0};
    b->nparts = 0;
    b->status = 0;
    const int status = tracelog_cut(&c->cutting, number, &b->text, &lines, &b->error);
    if (status == 0)
        return 0;
    if (status < 0)
        b->status = status;
    scan_block(c, b, &lines);
    return 1;
}

/* ---- the cursor */

static void close_cursor(void *state)
{
    cursor *c = state;
    tl_ordered_close(c->workers);
    for (unsigned i = 0; c->block && i < c->nslots; i++) {
        for (uint32_t k = 0; k < c->block[i].capacity; k++)
            tracelog_part_fini(&c->block[i].part[k]);
        free(c->block[i].part);
        tracelog_text_fini(&c->block[i].text);
    }
    free(c->block);
    tracelog_replay_fini(&c->replay);
}

static unsigned threads_of(const tracelog_reader *r)
{
    const unsigned threads = r->want.threads;
    return threads > THREADS ? THREADS : threads ? threads : 1;
}

static int open_cursor(void *reader, uint32_t stream, void *state, tl_error *e)
{
    cursor *c = state;
    tracelog_reader *r = reader;
    (void)stream;
    assert(stream == 0);
    const unsigned threads = threads_of(r);
    c->reader = r;
    c->to = UINT64_MAX;
    c->cutting = (tracelog_cutting){.in = r->in, .size = BLOCK, .trace = r->trace, .strict = r->want.strict};
    c->nslots = threads > 1 && !r->follow ? threads * SLOTS_OF : 1;
    int status = tracelog_replay_init(&c->replay, r, e);
    if (status == 0 && !(c->block = calloc(c->nslots, sizeof *c->block)))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to read the log");
    if (status < 0)
        close_cursor(c);
    return status;
}

/* Blocks are read ahead from the first batch on, which shows what is wanted. */
static int begin(cursor *c, const tl_batch *b, tl_error *e)
{
    c->begun = true;
    c->want = (tl_want){.fields = b->val != NULL, .cpu = b->cpu != NULL};
    return c->reader->follow ? 0 : tl_ordered_open(&c->workers, threads_of(c->reader) - 1, c->nslots, make_block, c, e);
}

/* The next block. 1; 0 at the end. */
static int next_block(cursor *c)
{
    unsigned slot;
    c->part = 0;
    int status = tl_ordered_next(c->workers, &slot);
    c->at = status > 0 ? &c->block[slot] : NULL;
    c->blocks += status > 0;
    return status;
}

/* Lines added to a log that is followed. 1: there are some; 2: nothing new yet; 0: the end. */
static int follow(cursor *c, tl_error *e)
{
    block *b = &c->block[0];
    tracelog_lines lines = {0};
    const uint64_t known = tl_input_size(c->reader->in);
    bool ended = false;
    int status = tracelog_cut_at(&c->cutting, &c->offset, &b->text, &lines, e);
    if (status < 0)
        return status;
    c->at = b;
    c->part = b->nparts = 0;
    b->status = 0;
    if (status > 0) {
        scan_block(c, b, &lines);
        return 1;
    }
    status = tl_input_wait(c->reader->in, known, FOLLOW_WAIT, &ended, e);
    if (status < 0)
        return status;
    if (!ended || tl_input_size(c->reader->in) > known)
        return 2;
    return tracelog_cut_rest(&c->cutting, c->offset, e);
}

/* Swaps the contents of a batch with the caller's. */
static void exchange(tl_batch *a, tl_batch *b)
{
    const tl_batch was = *a;
    *a = *b;
    *b = was;
}

/* Passes on the events of a replayed part. 1; 0: there are none, < 0 error. */
static int hand_out(cursor *c, tracelog_part *part, tl_batch *out, tl_error *e)
{
    if (TL_UNLIKELY(c->replay.has_calls))
        return tracelog_replay_mix(&c->replay, part, out, e);
    exchange(out, &part->batch);
    if (out->cpu) /* not known: -1 */
        memset(out->cpu, 0xff, out->n * sizeof *out->cpu);
    return 1;
}

/* The smallest time of all remaining lines that have one. */
static uint64_t floor_of_cursor(const void *state)
{
    const cursor *c = state;
    const bool used_up = (!c->at || c->part == c->at->nparts) && !c->replay.mixed;
    const uint64_t chunk = (c->blocks - !used_up) * BLOCK / TRACELOG_CHUNK;
    return c->reader->late ? 0 : chunk < c->reader->nfloor ? c->reader->floor[chunk] : UINT64_MAX;
}

static int limit_cursor(void *state, uint64_t from, uint64_t to, tl_error *e)
{
    cursor *c = state;
    (void)from; /* stacks are differences: what comes before is needed */
    (void)e;
    c->to = to;
    return 0;
}

/* Are the remaining events too late? Lines without a time have the latest of those before. */
static bool is_past(const cursor *c)
{
    return c->to < UINT64_MAX && c->replay.now >= c->to && floor_of_cursor(c) >= c->to;
}

static int next_batch(void *state, tl_batch *out, tl_error *e)
{
    cursor *c = state;
    const int begun = c->begun ? 0 : begin(c, out, e);
    if (begun < 0)
        return begun;
    for (;;) {
        if (c->replay.mixed) {
            const int mixed = tracelog_replay_mixed(&c->replay, out, e);
            if (mixed != 0)
                return mixed;
        }
        while (c->at && c->part < c->at->nparts) {
            tracelog_part *part = &c->at->part[c->part++];
            int status = tracelog_replay_part(&c->replay, part, e);
            if (part->batch.n > 0) {
                if (status < 0) { /* after what came before it */
                    c->at->nparts = c->part;
                    c->at->status = status;
                    if (e)
                        c->at->error = *e;
                }
                status = hand_out(c, part, out, e);
                if (status != 0)
                    return status;
            } else if (status < 0) {
                return status;
            }
        }
        if (c->at && c->at->status < 0) {
            if (e)
                *e = c->at->error;
            return c->at->status;
        }
        if (is_past(c))
            return 0;
        int status = c->workers ? next_block(c) : follow(c, e);
        if (status == 0 && c->reader->late)
            return tracelog_facts_tell(&c->replay.facts, e);
        if (status != 1)
            return status > 1 ? 1 : status;
    }
}

const tl_format tl_format_tracelog = {
    .name = "tracelog",
    .summary = "text logs of .NET programs by CoreProfiler, in all dialects",
    .suffixes = ".log .tracelog",
    .reader = &(const tl_reader){.may_be_empty = true,
                                 .unsorted = true,
                                 .follows = true,
                                 .event_bytes = 48,
                                 .size = sizeof(tracelog_reader),
                                 .cursor_size = sizeof(cursor),
                                 .probe = probe,
                                 .open = open_log,
                                 .streams = streams,
                                 .stream_open = open_cursor,
                                 .skips = TL_SKIPS_AFTER,
                                 .stream_limit = limit_cursor,
                                 .stream_next = next_batch,
                                 .stream_floor = floor_of_cursor,
                                 .stream_close = close_cursor,
                                 .locate = locate,
                                 .close = close_log},
    .event_writer = &(const tl_event_writer){.holds = "function calls and no stack samples",
                                             .ordered = true,
                                             .wants = {.fields = true},
                                             .growing = true,
                                             .names = true,
                                             .size = sizeof(tracelog_writer),
                                             .create = tracelog_create,
                                             .accept = tracelog_accept,
                                             .write = tracelog_write,
                                             .finish = tracelog_finish,
                                             .discard = tracelog_discard},
    .profile_writer = &(const tl_profile_writer){.per_thread = true, .write = tracelog_write_profile},
};
