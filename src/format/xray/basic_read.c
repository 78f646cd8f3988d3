/* Reading XRay basic logs: one stream a thread, made of the runs of records that it has in the file.
 *
 * The layout is in basic_layout.h. Threads write blocks of records in any order, so opening reads the file once and
 * notes where each thread has a run of them; damage is noted on the way. A cursor reads the runs of its thread. */
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/window.h"
#include "format/xray/basic_layout.h"
#include "format/xray/basic_write.h"
#include "format/xray/xray_classes.h"

enum { WINDOW = 128 << 10 };

/* Records of one thread that follow each other; arguments and damaged records between them included. 16 bytes. */
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

/* A function record, and what an argument record after it has to match. */
typedef struct basic_event {
    uint64_t tsc;
    uint32_t kind, tid, pid;
    int32_t function;
    int32_t cpu;
} basic_event;

typedef struct basic_cursor {
    const basic_reader *reader;
    const basic_run *run, *last;
    uint64_t position, end;
    tl_window window;
    basic_event previous; /* kind BASIC_ENTER_ARGS: arguments may follow */
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

/* Does the argument record at p belong to the entry before it? */
static bool argument_fits(const uint8_t *p, const basic_event *entry, const basic_reader *r)
{
    return entry->kind == BASIC_ENTER_ARGS && (int32_t)tl_load32(p + BASIC_ARGUMENT_ID, r->big) == entry->function &&
           tl_load32(p + BASIC_ARGUMENT_TID, r->big) == entry->tid &&
           (r->version < 3 || tl_load32(p + BASIC_ARGUMENT_PID, r->big) == entry->pid);
}

/* The scan that makes the index. */
typedef struct scan {
    basic_reader *r;
    tl_trace *t;
    xray_threads threads;
    basic_event previous;
    bool has_thread;
    uint32_t tid, pid, track; /* of the current run */
} scan;

static int see_function(scan *s, uint64_t offset, const basic_event *event, tl_error *e)
{
    basic_reader *r = s->r;
    tl_trace *t = s->t;
    if (!t->has_range || event->tsc < t->begin)
        t->begin = event->tsc;
    if (!t->has_range || event->tsc > t->end)
        t->end = event->tsc;
    t->has_range = true;
    if (s->has_thread && s->tid == event->tid && (r->version < 3 || s->pid == event->pid) &&
        r->run[r->nrun - 1].records < UINT32_MAX / 2)
        return 0;
    int status =
        xray_thread(&s->threads, t, r->version >= 3, r->version >= 3 ? event->pid : 0, event->tid, &s->track, e);
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
    s->has_thread = true;
    s->tid = event->tid;
    s->pid = event->pid;
    return 0;
}

static int scan_record(scan *s, uint64_t offset, const uint8_t *p, tl_error *e)
{
    basic_reader *r = s->r;
    const unsigned type = tl_load16(p + BASIC_RECORD_TYPE, r->big);
    int status = 0;
    if (type == BASIC_FUNCTION) {
        s->previous = load_event(p, r->big);
        if (s->previous.kind < BASIC_KINDS)
            status = see_function(s, offset, &s->previous, e);
        else
            status =
                tl_trace_add_damage(s->t, e, offset, BASIC_RECORD_SIZE, "basic.unknown-kind",
                                    "function record of kind %u; known are 0 to %d", s->previous.kind, BASIC_KINDS - 1);
    } else if (type == BASIC_ARGUMENT) {
        if (!argument_fits(p, &s->previous, r))
            status = tl_trace_add_damage(s->t, e, offset, BASIC_RECORD_SIZE, "basic.stray-argument",
                                         "argument that follows no entry with arguments of its function and thread");
    } else {
        s->previous.kind = BASIC_KINDS;
        status = tl_trace_add_damage(s->t, e, offset, BASIC_RECORD_SIZE, "basic.unknown-record-type",
                                     "record of type %u; known are 0 and 1", type);
    }
    if (r->nrun)
        r->run[r->nrun - 1].records++;
    return status;
}

static int scan_file(basic_reader *r, tl_trace *t, tl_error *e)
{
    scan s = {.r = r, .t = t, .previous.kind = BASIC_KINDS};
    tl_window w;
    int status = tl_window_init(&w, r->in, WINDOW, e);
    uint64_t position = BASIC_HEADER_SIZE;
    while (status == 0 && position < r->size) {
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
        for (; status == 0 && available >= BASIC_RECORD_SIZE; available -= BASIC_RECORD_SIZE) {
            status = scan_record(&s, position, p, e);
            p += BASIC_RECORD_SIZE;
            position += BASIC_RECORD_SIZE;
        }
    }
    tl_window_fini(&w);
    xray_threads_fini(&s.threads);
    return status;
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
    c->last = r->run + r->first[stream + 1];
    c->previous.kind = BASIC_KINDS;
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

static int append(basic_cursor *c, tl_batch *b, tl_error *e)
{
    const basic_event *event = &c->previous;
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
    const basic_reader *r = c->reader;
    const unsigned type = tl_load16(p + BASIC_RECORD_TYPE, r->big);
    if (type == BASIC_FUNCTION) {
        if (b->n == b->capacity)
            return 0;
        c->previous = load_event(p, r->big);
        if (c->previous.kind < BASIC_KINDS) {
            int status = append(c, b, e);
            return status < 0 ? status : 1;
        }
    } else if (type != BASIC_ARGUMENT) {
        c->previous.kind = BASIC_KINDS;
    } else if (b->n && argument_fits(p, &c->previous, r) &&
               add_argument(b, tl_load64(p + BASIC_ARGUMENT_VALUE, r->big)) < 0) {
        return tl_fail(e, TL_ENOMEM, c->position, "no memory for the arguments of a call");
    }
    return 1;
}

static int stream_next(void *cursor, tl_batch *b, tl_error *e)
{
    basic_cursor *c = cursor;
    int status = 1;
    while (status > 0) {
        if (c->position == c->end) {
            if (b->n == b->capacity || c->run == c->last)
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
