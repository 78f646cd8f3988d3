/* Reading XRay basic logs: one stream per thread, made of its runs of records in the file, which opening found
 * (basic_index.h). The layout is in basic_layout.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/io/window.h"
#include "format/xray/basic_index.h"
#include "format/xray/basic_layout.h"
#include "format/xray/basic_write.h"
#include "format/xray/xray_classes.h"

typedef struct basic_cursor {
    const basic_reader *reader;
    const basic_run *run, *end_run;
    uint64_t position, end;
    uint64_t begin_range, end_range; /* of the file: records of adjacent blocks to be read */
    uint32_t block;                  /* the first after that range, or BASIC_NO_BLOCK */
    uint32_t end_block;              /* the first that is not needed, with all after it, or BASIC_NO_BLOCK */
    uint64_t from;                   /* blocks whose times are all smaller are left out */
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
    r->big = version > 255; /* no version uses the upper byte */
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
        status = basic_index_scan(r, t, e);
    }
    return status < 0 ? status : basic_index_group(r, t->ntrack, e);
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
    c->end_range = UINT64_MAX;
    c->block = c->end_block = BASIC_NO_BLOCK;
    uint64_t bytes =
        stream_weight(reader, stream); /* many threads may be read at once, so the window is not larger than useful */
    return tl_window_init(&c->window, r->in, bytes < BASIC_WINDOW ? (size_t)bytes : BASIC_WINDOW, e);
}

static int stream_limit(void *cursor, uint64_t from, uint64_t to, tl_error *e)
{
    basic_cursor *c = cursor;
    const basic_reader *r = c->reader;
    (void)e;
    c->from = from;
    c->begin_range = c->end_range = 0;
    c->block = c->end_block = r->first_block[c->track];
    /* A later block may be earlier, and events before it decide where a merge puts it: only the last ones go. */
    for (uint32_t i = c->block; i != BASIC_NO_BLOCK; i = r->block[i].next)
        if (r->block[i].least < to)
            c->end_block = r->block[i].next;
    return 0;
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

/* Appends function records of a kind below `kinds`, and skips unwanted arguments; returns how many of n
 * records. There is room for all. */
TL_ALWAYS_INLINE uint32_t append_calls(tl_batch *b, const uint8_t *p, uint32_t n, unsigned kinds, const bool big)
{
    const uint32_t at = b->n, nval = b->nval;
    uint64_t *const ts = b->ts + at, *const key = b->key + at;
    uint32_t *const cls = b->cls + at, *const val = b->val ? b->val + at : NULL;
    int32_t *const cpu = b->cpu ? b->cpu + at : NULL;
    uint32_t done = 0, events = 0;
    for (; done < n; done++, p += BASIC_RECORD_SIZE) {
        const unsigned kind = p[BASIC_FUNCTION_KIND], type = tl_load16(p + BASIC_RECORD_TYPE, big);
        if (type == BASIC_ARGUMENT && !val)
            continue;
        if (type != BASIC_FUNCTION || kind >= kinds)
            break;
        ts[events] = tl_load64(p + BASIC_FUNCTION_TSC, big);
        key[events] = (uint64_t)(int32_t)tl_load32(p + BASIC_FUNCTION_ID, big);
        cls[events] = kind;
        if (cpu)
            cpu[events] = p[BASIC_FUNCTION_CPU];
        if (val)
            val[events] = nval;
        events++;
    }
    b->n += events;
    return done;
}

/* Appends the usual records, up to the first that needs decode_record(); returns how many. */
static uint32_t append_usual(basic_cursor *c, tl_batch *b, const uint8_t *p, uint64_t records)
{
    const bool big = c->reader->big;
    const unsigned kinds = b->val ? BASIC_ENTER_ARGS : BASIC_KINDS; /* arguments are values */
    const uint32_t room = b->capacity - b->n, n = records < room ? (uint32_t)records : room;
    const uint32_t done = big ? append_calls(b, p, n, kinds, true) : append_calls(b, p, n, kinds, false);
    if (done && b->val)
        c->last_record = basic_last_of(p + (size_t)(done - 1) * BASIC_RECORD_SIZE, big);
    return done;
}

/* Decodes the record at p. 1: done; 0: it needs room in the batch, which is full; < 0: error. */
static int decode_record(basic_cursor *c, tl_batch *b, const uint8_t *p, tl_error *e)
{
    const bool big = c->reader->big;
    const unsigned type = tl_load16(p + BASIC_RECORD_TYPE, big);
    if (type == BASIC_FUNCTION) {
        if (b->n == b->capacity)
            return 0;
        c->last_record = basic_last_of(p, big);
        if (append_calls(b, p, 1, BASIC_KINDS, big) && b->val && p[BASIC_FUNCTION_KIND] == BASIC_ENTER_ARGS) {
            tl_value *list = tl_batch_slots(b, 1);
            if (!list)
                return tl_fail(e, TL_ENOMEM, c->position, "no memory for the values of a batch");
            *list = (tl_value){.type = TL_LIST};
        }
        return 1;
    }
    if (type == BASIC_ARGUMENT && basic_take_argument(&c->last_record, p, big) && b->n &&
        add_argument(b, tl_load64(p + BASIC_ARGUMENT_VALUE, big)) < 0)
        return tl_fail(e, TL_ENOMEM, c->position, "no memory for the arguments of a call");
    return 1;
}

/* Finds the next range of blocks to be read. False: there is none. */
static bool next_range(basic_cursor *c)
{
    const basic_block *block = c->reader->block;
    while (c->block != c->end_block && block[c->block].most < c->from)
        c->block = block[c->block].next;
    if (c->block == c->end_block)
        return false;
    c->begin_range = block[c->block].offset;
    while (c->block != c->end_block && block[c->block].most >= c->from)
        c->block = block[c->block].next;
    c->end_range = c->block == BASIC_NO_BLOCK ? UINT64_MAX : block[c->block].offset;
    return true;
}

/* Goes to the next records of a run that are in the range. False: there are none. */
static bool next_records(basic_cursor *c)
{
    while (c->run != c->end_run) {
        const uint64_t begin = c->run->offset, end = begin + (uint64_t)c->run->records * BASIC_RECORD_SIZE;
        const uint64_t at = begin > c->begin_range ? begin : c->begin_range;
        if (at >= c->end_range) {
            if (!next_range(c))
                return false;
        } else if (at >= end) {
            c->run++;
        } else {
            c->position = at;
            c->begin_range = c->end = end < c->end_range ? end : c->end_range;
            return true;
        }
    }
    return false;
}

static int stream_next(void *cursor, tl_batch *b, tl_error *e)
{
    basic_cursor *c = cursor;
    int status = 1;
    while (status > 0) {
        if (c->position == c->end) {
            if (!next_records(c)) /* the last argument of a full batch may be in the next run */
                break;
            if (c->reader->progress)
                __atomic_fetch_add(c->reader->progress, c->end - c->position, __ATOMIC_RELAXED);
        }
        size_t available = 0;
        const uint8_t *p = tl_window_at(&c->window, c->position, BASIC_RECORD_SIZE, &available, e);
        if (!p)
            return TL_EIO;
        if (available < BASIC_RECORD_SIZE)
            return tl_fail(e, TL_EIO, c->position, "the file changed while it was read");
        uint64_t left = (c->end - c->position < available ? c->end - c->position : available) / BASIC_RECORD_SIZE;
        while (status > 0 && left > 0) {
            const uint32_t usual = append_usual(c, b, p, left);
            p += (size_t)usual * BASIC_RECORD_SIZE;
            c->position += (uint64_t)usual * BASIC_RECORD_SIZE;
            left -= usual;
            if (left == 0)
                break;
            status = decode_record(c, b, p, e);
            if (status <= 0)
                break;
            p += BASIC_RECORD_SIZE;
            c->position += BASIC_RECORD_SIZE;
            left--;
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
    free(r->block);
    free(r->first_block);
}

const tl_format tl_format_xray_basic = {
    .name = "xray-basic",
    .summary = "LLVM XRay basic (\"naive\") log, versions 1 to 3",
    .suffixes = ".xray-basic .basic",
    .reader = &(const tl_reader){.event_bytes = BASIC_RECORD_SIZE,
                                 .size = sizeof(basic_reader),
                                 .cursor_size = sizeof(basic_cursor),
                                 .probe = probe,
                                 .open = open_reader,
                                 .streams = streams,
                                 .stream_weight = stream_weight,
                                 .stream_open = stream_open,
                                 .skips = TL_SKIPS_BEFORE | TL_SKIPS_AFTER,
                                 .stream_limit = stream_limit,
                                 .stream_next = stream_next,
                                 .stream_close = stream_close,
                                 .functions = xray_functions,
                                 .close = close_reader},
    .event_writer = &(const tl_event_writer){.holds = "calls of functions",
                                             .wants = {.fields = true, .cpu = true, .calls = true},

                                             .size = sizeof(basic_writer),
                                             .create = basic_create,
                                             .accept = basic_accept,
                                             .write = basic_write,
                                             .finish = basic_finish,
                                             .discard = basic_discard},
};
