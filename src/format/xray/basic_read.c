/* Reading XRay basic logs: one stream a thread, made of the runs of records that it has in the file.
 *
 * The layout is in basic_layout.h. Threads write blocks of records in any order, so opening reads the file once and
 * notes where each thread has a run of them; damage is noted on the way. A cursor reads the runs of its thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/window.h"
#include "format/xray/basic_layout.h"
#include "format/xray/basic_write.h"
#include "format/xray/xray_classes.h"

enum { WINDOW = 128 << 10 };

/* Records of one thread that follow each other; arguments and records of unknown type between them included. 16 bytes.
 */
typedef struct basic_run {
    uint64_t offset;
    uint32_t records;
    uint32_t track;
} basic_run;

typedef struct basic_reader {
    tl_input *in;
    tl_trace *trace;
    uint64_t *progress;
    bool big;
    unsigned version;
    uint64_t size;
    basic_run *run; /* after opening: by track, each track's in the order of the file */
    size_t nrun, capacity;
    size_t *first; /* [tracks + 1] */
} basic_reader;

typedef struct basic_event {
    uint64_t tsc;
    uint32_t kind, tid, pid;
    int32_t function;
    int32_t cpu;
} basic_event;

/* What the last record of a thread has to do with an argument record after it: whose entry waits for one. */
typedef struct basic_last {
    int32_t function;
    bool waits;
} basic_last;

typedef struct basic_cursor {
    const basic_reader *reader;
    const basic_run *run, *end_run;
    uint64_t position, end;
    tl_window window;
    basic_last last_record;
    uint32_t track;
} basic_cursor;

static int probe(const tl_probe *p)
{
    if (p->size < 4)
        return 0;
    for (int big = 0; big < 2; big++) {
        unsigned version = tl_load16(p->head + BASIC_HEADER_VERSION, big);
        if (tl_load16(p->head + BASIC_HEADER_TYPE, big) == BASIC_TYPE && version >= BASIC_VERSION_MIN &&
            version <= BASIC_VERSION_MAX)
            return 32;
    }
    return 0;
}

static basic_event load_event(const uint8_t *p, bool big)
{
    return (basic_event){
        .tsc = tl_load64(p + BASIC_FUNCTION_TSC, big),
        .kind = p[BASIC_FUNCTION_KIND],
        .tid = tl_load32(p + BASIC_FUNCTION_TID, big),
        .pid = tl_load32(p + BASIC_FUNCTION_PID, big),
        .function = (int32_t)tl_load32(p + BASIC_FUNCTION_ID, big),
        .cpu = p[BASIC_FUNCTION_CPU],
    };
}

static basic_last last_of(const basic_event *event)
{
    return (basic_last){event->function, event->kind == BASIC_ENTER_ARGS};
}

/* Does the argument record at p, of the same thread, belong to the record before it? None after it does. */
static bool take_argument(basic_last *last, const uint8_t *p, bool big)
{
    const bool fits = last->waits && (int32_t)tl_load32(p + BASIC_ARGUMENT_ID, big) == last->function;
    last->waits = false;
    return fits;
}

/* The scan that makes the index. */
typedef struct scan {
    basic_reader *r;
    tl_trace *t;
    xray_threads threads;
    basic_last *last; /* by track */
    uint32_t ntrack, track_capacity;
    bool in_run;              /* the record before belongs to the last run */
    uint32_t tid, pid, track; /* of that run */
} scan;

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
    if (s->ntrack == s->track_capacity) {
        uint32_t capacity = s->track_capacity ? 2 * s->track_capacity : 64;
        basic_last *larger = realloc(s->last, capacity * sizeof *larger);
        if (!larger)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %" PRIu32 " threads", capacity);
        s->last = larger;
        s->track_capacity = capacity;
    }
    s->last[s->ntrack++] = (basic_last){0};
    return 0;
}

/* Makes the last run one of this thread. 1: it is; 0: the thread is not known, and `adds` does not want it to be. */
static int enter_run(scan *s, uint64_t offset, uint32_t pid, uint32_t tid, bool adds, tl_error *e)
{
    basic_reader *r = s->r;
    const bool has_pid = r->version >= 3;
    if (TL_LIKELY(s->in_run && s->tid == tid && (!has_pid || s->pid == pid) &&
                  r->run[r->nrun - 1].records < UINT32_MAX / 2))
        return 1;
    s->in_run = false;
    pid = has_pid ? pid : 0;
    if (!adds && !xray_thread_known(&s->threads, has_pid, pid, tid, &s->track))
        return 0;
    int status = adds ? add_track(s, pid, tid, e) : 0;
    if (status < 0)
        return status;
    if (r->nrun == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 64;
        basic_run *larger = realloc(r->run, capacity * sizeof *larger);
        if (!larger)
            return tl_fail(e, TL_ENOMEM, offset, "no memory for the index of %zu runs of records", capacity);
        r->run = larger;
        r->capacity = capacity;
    }
    r->run[r->nrun++] = (basic_run){.offset = offset, .track = s->track};
    s->in_run = true;
    s->tid = tid;
    s->pid = pid;
    return 1;
}

static int scan_function(scan *s, uint64_t offset, const uint8_t *p, tl_error *e)
{
    const basic_event event = load_event(p, s->r->big);
    const bool known = event.kind < BASIC_KINDS;
    int status = enter_run(s, offset, event.pid, event.tid, known, e);
    if (TL_LIKELY(status > 0))
        s->last[s->track] = last_of(&event);
    if (TL_LIKELY(known && status > 0))
        see_time(s->t, event.tsc);
    else if (status >= 0)
        status = tl_trace_add_damage(s->t, e, offset, BASIC_RECORD_SIZE, "basic.unknown-kind",
                                     "function record of kind %u; known are 0 to %d", event.kind, BASIC_KINDS - 1);
    return status;
}

/* LLVM's runtime writes the argument of a call that it leaves out because it is too deep: what belongs to no entry is
 * such a call. */
static int scan_argument(scan *s, uint64_t offset, const uint8_t *p, tl_error *e)
{
    const bool big = s->r->big;
    int status =
        enter_run(s, offset, tl_load32(p + BASIC_ARGUMENT_PID, big), tl_load32(p + BASIC_ARGUMENT_TID, big), false, e);
    if (status >= 0 && (status == 0 || !take_argument(&s->last[s->track], p, big)))
        s->t->lost_events++;
    return status;
}

/* Is there a further header at p? 1: as the first one, 2: another one; 0: none; < 0: error. See the documentation of
 * the format for the rule. */
static int find_header(const scan *s, uint64_t offset, const uint8_t *p, size_t available, tl_error *e)
{
    const basic_reader *r = s->r;
    bool big = p[0] == 0; /* no version needs the upper byte */
    const unsigned version = tl_load16(p + BASIC_HEADER_VERSION, big);
    const uint64_t hz = tl_load64(p + BASIC_HEADER_HZ, big);
    const bool same = version == r->version && big == r->big && hz == s->t->clock.hz;
    if (tl_load16(p + BASIC_HEADER_TYPE, big) != BASIC_TYPE || version < BASIC_VERSION_MIN ||
        version > BASIC_VERSION_MAX)
        return 0;
    if (!same && (hz > BASIC_HZ_MAX || (version == BASIC_ARGUMENT && big == r->big)))
        return 0; /* it may as well be a damaged record; an argument */
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

/* The record at p. 1: go on; 0: the rest is not read; < 0: error. */
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
    if (s->in_run)
        r->run[r->nrun - 1].records++;
    return status < 0 ? status : 1;
}

static int scan_file(basic_reader *r, tl_trace *t, tl_error *e)
{
    scan s = {.r = r, .t = t};
    tl_window w;
    int status = tl_window_init(&w, r->in, WINDOW, e);
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
        for (; status > 0 && available >= BASIC_RECORD_SIZE; available -= BASIC_RECORD_SIZE) {
            status = scan_record(&s, position, p, available, e);
            p += BASIC_RECORD_SIZE;
            position += BASIC_RECORD_SIZE;
        }
    }
    tl_window_fini(&w);
    xray_threads_fini(&s.threads);
    free(s.last);
    return status < 0 ? status : 0;
}

/* Groups the runs by thread. */
static int group(basic_reader *r, uint32_t tracks, tl_error *e)
{
    basic_run *grouped = malloc((r->nrun + 1) * sizeof *grouped);
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

static int open_reader(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e)
{
    (void)want;
    basic_reader *r = reader;
    r->in = in;
    r->trace = t;
    r->progress = progress;
    r->size = tl_input_size(in);
    int status = tl_trace_set_classes(t, xray_classes, XRAY_CLASSES, e);
    if (status < 0)
        return status;
    uint8_t header[BASIC_HEADER_SIZE] = {0};
    size_t got = 0;
    status = tl_input_read(in, 0, header, sizeof header, &got, e);
    if (status < 0)
        return status;
    unsigned version = tl_load16(header + BASIC_HEADER_VERSION, false);
    r->big = version > 255; /* no version needs the upper byte */
    r->version = r->big ? version >> 8 : version;
    if (tl_load16(header + BASIC_HEADER_TYPE, r->big) != BASIC_TYPE || r->version < BASIC_VERSION_MIN ||
        r->version > BASIC_VERSION_MAX || (r->big && (version & 255)))
        return tl_fail(e, TL_EFORMAT, 0, "version %u at the start; expected %d to %d and type %d", version,
                       BASIC_VERSION_MIN, BASIC_VERSION_MAX, BASIC_TYPE);
    char text[8];
    snprintf(text, sizeof text, "%u", r->version);
    t->version = tl_trace_intern(t, text);
    t->byte_order = r->big ? "big" : "little";
    if (!t->version)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the trace");
    if (got < sizeof header) {
        status = tl_trace_add_damage(t, e, 0, got, "header.truncated", "file header of %d bytes, but the file has %zu",
                                     BASIC_HEADER_SIZE, got);
    } else {
        tl_trace_set_clock(t, "tsc", tl_load64(header + BASIC_HEADER_HZ, r->big));
        status = scan_file(r, t, e);
    }
    return status < 0 ? status : group(r, t->ntrack, e);
}

static uint32_t streams(void *reader)
{
    return ((const basic_reader *)reader)->trace->ntrack;
}

static uint64_t stream_weight(void *reader, uint32_t stream)
{
    const basic_reader *r = reader;
    uint64_t records = 0;
    for (size_t i = r->first[stream]; i < r->first[stream + 1]; i++)
        records += r->run[i].records;
    return records * BASIC_RECORD_SIZE;
}

static int stream_open(void *reader, uint32_t stream, void *cursor, tl_error *e)
{
    const basic_reader *r = reader;
    basic_cursor *c = cursor;
    c->reader = r;
    c->track = stream;
    c->run = r->run + r->first[stream];
    c->end_run = r->run + r->first[stream + 1];
    uint64_t bytes =
        stream_weight(reader, stream); /* many threads may be read at once: no larger a window than is of use */
    return tl_window_init(&c->window, r->in, bytes < WINDOW ? (size_t)bytes : WINDOW, e);
}

static void stream_close(void *cursor)
{
    tl_window_fini(&((basic_cursor *)cursor)->window);
}

static int add_argument(tl_batch *b, uint64_t value)
{
    if (!b->val)
        return 0;
    tl_value *slot = tl_batch_slots(b, 1);
    if (!slot)
        return -1;
    *slot = (tl_value){.type = TL_U64, .as.u = value};
    b->v[b->val[b->n - 1]].n++;
    return 0;
}

static int append(const basic_cursor *c, tl_batch *b, const basic_event *event, tl_error *e)
{
    b->ts[b->n] = event->tsc;
    b->key[b->n] = (uint64_t)(int64_t)event->function;
    b->cls[b->n] = event->kind;
    if (b->cpu)
        b->cpu[b->n] = event->cpu;
    if (b->val) {
        b->val[b->n] = b->nval;
        if (event->kind == BASIC_ENTER_ARGS) {
            tl_value *list = tl_batch_slots(b, 1);
            if (!list)
                return tl_fail(e, TL_ENOMEM, c->position, "no memory for the values of a batch");
            *list = (tl_value){.type = TL_LIST};
        }
    }
    b->n++;
    return 0;
}

/* The record at p. 1: done; 0: it needs a place in the batch, which is full; < 0: error. */
static int decode_record(basic_cursor *c, tl_batch *b, const uint8_t *p, tl_error *e)
{
    const bool big = c->reader->big;
    const unsigned type = tl_load16(p + BASIC_RECORD_TYPE, big);
    if (type == BASIC_FUNCTION) {
        if (b->n == b->capacity)
            return 0;
        const basic_event event = load_event(p, big);
        c->last_record = last_of(&event);
        int status = event.kind < BASIC_KINDS ? append(c, b, &event, e) : 0;
        return status < 0 ? status : 1;
    }
    if (type == BASIC_ARGUMENT && take_argument(&c->last_record, p, big) && b->n &&
        add_argument(b, tl_load64(p + BASIC_ARGUMENT_VALUE, big)) < 0)
        return tl_fail(e, TL_ENOMEM, c->position, "no memory for the arguments of a call");
    return 1;
}

static int stream_next(void *cursor, tl_batch *b, tl_error *e)
{
    basic_cursor *c = cursor;
    int status = 1;
    while (status > 0) {
        if (c->position == c->end) {
            if (c->run == c->end_run) /* of a full batch, the next run may have the last argument */
                break;
            c->position = c->run->offset;
            c->end = c->position + (uint64_t)c->run->records * BASIC_RECORD_SIZE;
            c->run++;
            if (c->reader->progress)
                __atomic_fetch_add(c->reader->progress, c->end - c->position, __ATOMIC_RELAXED);
        }
        size_t available = 0;
        const uint8_t *p = tl_window_at(&c->window, c->position, BASIC_RECORD_SIZE, &available, e);
        if (!p)
            return TL_EIO;
        if (available < BASIC_RECORD_SIZE)
            return tl_fail(e, TL_EIO, c->position, "the file changed while it was read");
        for (; available >= BASIC_RECORD_SIZE && c->position < c->end; available -= BASIC_RECORD_SIZE) {
            status = decode_record(c, b, p, e);
            if (status <= 0)
                break;
            p += BASIC_RECORD_SIZE;
            c->position += BASIC_RECORD_SIZE;
        }
    }
    tl_batch_set_track(b, c->track);
    if (b->val)
        b->val[b->n] = b->nval;
    return status < 0 ? status : b->n > 0;
}

static void close_reader(void *reader)
{
    basic_reader *r = reader;
    free(r->run);
    free(r->first);
}

const tl_format tl_format_xray_basic = {
    .name = "xray-basic",
    .summary = "LLVM XRay basic (\"naive\") log, versions 1 to 3",
    .holds = "calls of functions",
    .suffixes = ".xray-basic .basic",
    .writes_fields = true,
    .writes_calls = true,
    .writes_cpu = true,
    .reader_size = sizeof(basic_reader),
    .cursor_size = sizeof(basic_cursor),
    .probe = probe,
    .open = open_reader,
    .streams = streams,
    .stream_weight = stream_weight,
    .stream_open = stream_open,
    .stream_next = stream_next,
    .stream_close = stream_close,
    .functions = xray_functions,
    .close = close_reader,
    .writer_size = sizeof(basic_writer),
    .create = basic_create,
    .accept = basic_accept,
    .write = basic_write,
    .finish = basic_finish,
    .discard = basic_discard,
};
