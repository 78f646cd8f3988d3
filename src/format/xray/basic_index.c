/* Finds the runs of each thread's records in an XRay basic log. Threads write blocks of records in any order, so this
 * reads the whole file once, and notes damage. */
#include "format/xray/basic_index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "base/io/window.h"
#include "format/xray/xray_classes.h"

enum { RUN_RECORDS = INT32_MAX }; /* then another run begins */

/* A thread, as far as scanned. */
typedef struct thread {
    basic_last last;
    uint32_t block;   /* its latest one, or BASIC_NO_BLOCK */
    uint32_t records; /* in that */
} thread;

/* The scan that builds the index. */
typedef struct scan {
    basic_reader *r;
    tl_trace *t;
    xray_threads threads;
    thread *thread; /* by track */
    uint32_t ntrack, track_capacity;
    uint64_t mask;  /* the valid bits of two ids */
    bool in_run;    /* the previous record belongs to the last run */
    uint64_t ids;   /* of that run's thread */
    uint32_t track; /* of that run */
} scan;

/* The ids of a thread in the form that all its records have. p: their place in a record. */
TL_ALWAYS_INLINE uint64_t ids_at(const scan *s, const uint8_t *p)
{
    return tl_load64(p, false) & s->mask;
}

/* A call of the last run's thread: it begins a block, if the latest one is full. False when memory runs out. */
static bool enter_block(scan *s, uint64_t offset, uint64_t tsc)
{
    basic_reader *r = s->r;
    thread *th = &s->thread[s->track];
    if (th->block == BASIC_NO_BLOCK || th->records >= BASIC_BLOCK_RECORDS) {
        if (!TL_GROW(r->block, r->nblock, 1, r->block_capacity))
            return false;
        *(th->block == BASIC_NO_BLOCK ? &r->first_block[s->track] : &r->block[th->block].next) = r->nblock;
        th->block = r->nblock++;
        th->records = 0;
        r->block[th->block] = (basic_block){.offset = offset, .least = tsc, .most = tsc, .next = BASIC_NO_BLOCK};
    }
    basic_block *b = &r->block[th->block];
    b->least = tsc < b->least ? tsc : b->least;
    b->most = tsc > b->most ? tsc : b->most;
    return true;
}

static void see_time(tl_trace *t, uint64_t tsc)
{
    if (!t->has_range || tsc < t->begin)
        t->begin = tsc;
    if (!t->has_range || tsc > t->end)
        t->end = tsc;
    t->has_range = true;
}

static int add_track(scan *s, uint32_t pid, uint32_t tid, tl_error *e)
{
    int status = xray_thread(&s->threads, s->t, s->r->version >= 3, pid, tid, &s->track, e);
    if (status < 0 || s->track < s->ntrack)
        return status;
    if (!TL_GROW(s->thread, s->ntrack, 1, s->track_capacity) ||
        !TL_GROW(s->r->first_block, s->ntrack, 1, s->r->first_capacity))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for more than %" PRIu32 " threads", s->ntrack);
    s->r->first_block[s->ntrack] = BASIC_NO_BLOCK;
    s->thread[s->ntrack++] = (thread){.block = BASIC_NO_BLOCK};
    return 0;
}

/* Makes the last run one of the thread whose ids are at p. 1: done; 0: the thread is unknown, and may not be added
 * unless `adds`. */
static int enter_run(scan *s, uint64_t offset, const uint8_t *p, bool adds, tl_error *e)
{
    basic_reader *r = s->r;
    const uint64_t ids = ids_at(s, p);
    if (s->in_run && s->ids == ids && r->run[r->nrun - 1].records < RUN_RECORDS)
        return 1;
    s->in_run = false;
    const bool has_pid = r->version >= 3;
    const uint32_t tid = tl_load32(p, r->big), pid = has_pid ? tl_load32(p + sizeof tid, r->big) : 0;
    if (!adds && !xray_thread_known(&s->threads, has_pid, pid, tid, &s->track))
        return 0;
    int status = adds ? add_track(s, pid, tid, e) : 0;
    if (status < 0)
        return status;
    if (!TL_GROW(r->run, r->nrun, 1, r->capacity))
        return tl_fail(e, TL_ENOMEM, offset, "no memory for the index of more than %zu runs of records", r->nrun);
    r->run[r->nrun++] = (basic_run){.offset = offset, .track = s->track};
    s->in_run = true;
    s->ids = ids;
    return 1;
}

static int scan_function(scan *s, uint64_t offset, const uint8_t *p, tl_error *e)
{
    const bool big = s->r->big;
    const unsigned kind = p[BASIC_FUNCTION_KIND];
    const bool known = kind < BASIC_KINDS;
    int status = enter_run(s, offset, p + BASIC_FUNCTION_TID, known, e);
    if (status > 0)
        s->thread[s->track].last = basic_last_of(p, big);
    if (known && status > 0) {
        const uint64_t tsc = tl_load64(p + BASIC_FUNCTION_TSC, big);
        see_time(s->t, tsc);
        if (!enter_block(s, offset, tsc))
            status = tl_fail(e, TL_ENOMEM, offset, "no memory for the index of more than %" PRIu32 " blocks of records",
                             s->r->nblock);
    } else if (status >= 0) {
        status = tl_trace_add_damage(s->t, e, offset, BASIC_RECORD_SIZE, "basic.unknown-kind",
                                     "function record of kind %u; known are 0 to %d", kind, BASIC_KINDS - 1);
    }
    return status;
}

/* Does the argument record at p belong to the previous record, of the same thread? */
TL_ALWAYS_INLINE bool follows_its_entry(const uint8_t *p, bool big)
{
    const uint8_t *before = p - BASIC_RECORD_SIZE;
    basic_last last = basic_last_of(before, big);
    return tl_load16(before + BASIC_RECORD_TYPE, big) == BASIC_FUNCTION && basic_take_argument(&last, p, big);
}

/* Skips calls and arguments of the last run's thread, which are nearly all records of a log: returns how many of n. In
 * version 1, what looks like an argument may be a header. */
TL_ALWAYS_INLINE uint32_t pass_calls(const scan *s, const uint8_t *p, uint32_t n, const bool big)
{
    const uint64_t ids = s->ids;
    thread *th = &s->thread[s->track];
    basic_block *block = &s->r->block[th->block]; /* there is one, since a run begins at or after a call */
    uint64_t begin = block->least, end = block->most;
    uint32_t i = 0;
    for (; i < n; i++, p += BASIC_RECORD_SIZE) {
        const unsigned type = tl_load16(p + BASIC_RECORD_TYPE, big);
        if (TL_LIKELY(type == BASIC_FUNCTION)) {
            if (p[BASIC_FUNCTION_KIND] >= BASIC_KINDS || ids_at(s, p + BASIC_FUNCTION_TID) != ids)
                break;
            const uint64_t tsc = tl_load64(p + BASIC_FUNCTION_TSC, big);
            begin = tsc < begin ? tsc : begin;
            end = tsc > end ? tsc : end;
        } else if (i && type == BASIC_ARGUMENT && s->r->version != BASIC_ARGUMENT &&
                   ids_at(s, p + BASIC_ARGUMENT_TID) == ids) {
            s->t->lost_events += !follows_its_entry(p, big);
        } else {
            break;
        }
    }
    block->least = begin;
    block->most = end;
    if (i) {
        see_time(s->t, begin);
        see_time(s->t, end);
        p -= BASIC_RECORD_SIZE;
        th->last = tl_load16(p + BASIC_RECORD_TYPE, big) == BASIC_FUNCTION ? basic_last_of(p, big) : (basic_last){0};
        th->records += i;
    }
    return i;
}

/* The same in the file's byte order, added to the run. */
static uint32_t scan_calls(scan *s, const uint8_t *p, size_t n)
{
    basic_reader *r = s->r;
    if (!s->in_run || r->run[r->nrun - 1].records >= RUN_RECORDS || s->thread[s->track].records >= BASIC_BLOCK_RECORDS)
        return 0;
    const uint32_t room = BASIC_BLOCK_RECORDS - s->thread[s->track].records, few = n < room ? (uint32_t)n : room;
    const uint32_t passed = r->big ? pass_calls(s, p, few, true) : pass_calls(s, p, few, false);
    r->run[r->nrun - 1].records += passed;
    return passed;
}

/* LLVM's runtime omits calls that are too deep, but writes their arguments: one without an entry belongs to such a
 * call. */
static int scan_argument(scan *s, uint64_t offset, const uint8_t *p, tl_error *e)
{
    int status = enter_run(s, offset, p + BASIC_ARGUMENT_TID, false, e);
    if (status >= 0 && (status == 0 || !basic_take_argument(&s->thread[s->track].last, p, s->r->big)))
        s->t->lost_events++;
    return status;
}

/* Is there a further header at p? 1: the same as the first, 2: another one; 0: none; < 0: error. The documentation of
 * the format has the rule. */
static int find_header(const scan *s, uint64_t offset, const uint8_t *p, size_t available, tl_error *e)
{
    const basic_reader *r = s->r;
    bool big = p[0] == 0; /* no version uses the upper byte */
    const unsigned version = tl_load16(p + BASIC_HEADER_VERSION, big);
    const uint64_t hz = tl_load64(p + BASIC_HEADER_HZ, big);
    const bool same = version == r->version && big == r->big && hz == s->t->clock.hz;
    if (tl_load16(p + BASIC_HEADER_TYPE, big) != BASIC_TYPE || version < BASIC_VERSION_MIN ||
        version > BASIC_VERSION_MAX)
        return 0;
    if (!same && (hz > BASIC_HZ_MAX || (version == BASIC_ARGUMENT && big == r->big)))
        return 0; /* it may also be a damaged record or an argument */
    uint8_t next[4] = {0};
    if (available >= BASIC_HEADER_SIZE + sizeof next) {
        memcpy(next, p + BASIC_HEADER_SIZE, sizeof next);
    } else {
        size_t got = 0;
        int status = tl_input_read(r->in, offset + BASIC_HEADER_SIZE, next, sizeof next, &got, e);
        if (status < 0)
            return status;
    }
    if (tl_load16(next + BASIC_RECORD_TYPE, big) != BASIC_FUNCTION || next[BASIC_FUNCTION_KIND] >= BASIC_KINDS)
        return 0;
    return same ? 1 : 2;
}

/* Scans the record at p. 1: go on; 0: the rest is not read; < 0: error. */
static int scan_record(scan *s, uint64_t offset, const uint8_t *p, size_t available, tl_error *e)
{
    basic_reader *r = s->r;
    const unsigned type = tl_load16(p + BASIC_RECORD_TYPE, r->big);
    int status;
    if (type == BASIC_FUNCTION) {
        status = scan_function(s, offset, p, e);
    } else {
        const int header = find_header(s, offset, p, available, e);
        if (header == 2)
            return tl_trace_add_damage(s->t, e, offset, r->size - offset, "basic.other-header",
                                       "a header of another version, byte order or frequency; the rest is not read");
        if (header != 0) {
            s->in_run = false;
            return header;
        }
        if (type == BASIC_ARGUMENT)
            status = scan_argument(s, offset, p, e);
        else
            status = tl_trace_add_damage(s->t, e, offset, BASIC_RECORD_SIZE, "basic.unknown-record-type",
                                         "record of type %u; known are 0 and 1", type);
    }
    if (s->in_run) {
        r->run[r->nrun - 1].records++;
        s->thread[s->track].records++;
    }
    return status < 0 ? status : 1;
}

int basic_index_scan(basic_reader *r, tl_trace *t, tl_error *e)
{
    scan s = {.r = r, .t = t, .mask = r->version >= 3 ? UINT64_MAX : UINT32_MAX};
    tl_window w;
    int status = tl_window_init(&w, r->in, BASIC_WINDOW, e);
    status = status < 0 ? status : 1;
    uint64_t position = BASIC_HEADER_SIZE;
    while (status > 0 && position < r->size) {
        size_t available = 0;
        const uint8_t *p = tl_window_at(&w, position, BASIC_RECORD_SIZE, &available, e);
        if (!p) {
            status = TL_EIO;
        } else if (available < BASIC_RECORD_SIZE) {
            status =
                tl_trace_add_damage(t, e, position, r->size - position, "basic.truncated-record",
                                    "record of %d bytes, but the file ends after %zu", BASIC_RECORD_SIZE, available);
            break;
        }
        while (status > 0 && available >= BASIC_RECORD_SIZE) {
            const size_t passed = (size_t)scan_calls(&s, p, available / BASIC_RECORD_SIZE) * BASIC_RECORD_SIZE;
            p += passed;
            position += passed;
            available -= passed;
            if (available < BASIC_RECORD_SIZE)
                break;
            status = scan_record(&s, position, p, available, e);
            p += BASIC_RECORD_SIZE;
            position += BASIC_RECORD_SIZE;
            available -= BASIC_RECORD_SIZE;
        }
    }
    tl_window_fini(&w);
    xray_threads_fini(&s.threads);
    free(s.thread);
    return status < 0 ? status : 0;
}

int basic_index_group(basic_reader *r, uint32_t tracks, tl_error *e)
{
    basic_run *grouped = tl_alloc(r->nrun + 1, sizeof *grouped);
    r->first = calloc((size_t)tracks + 2, sizeof *r->first);
    if (!grouped || !r->first) {
        free(grouped);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to sort %zu runs of records", r->nrun);
    }
    for (size_t i = 0; i < r->nrun; i++)
        r->first[r->run[i].track + 2]++;
    for (uint32_t t = 1; t <= tracks; t++)
        r->first[t + 1] += r->first[t];
    for (size_t i = 0; i < r->nrun; i++)
        grouped[r->first[r->run[i].track + 1]++] = r->run[i];
    free(r->run);
    r->run = grouped;
    return 0;
}
