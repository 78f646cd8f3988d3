/* JSON lines: one object an event, for jq, scripts and tests.
 *
 *   {"ts":44597,"class":"xray.enter","track":"thread 18353","cpu":0,"fields":{"function":"fib","id":1}}
 *
 *   ts       ns since the begin of the trace (ticks where the clock has no frequency)
 *   cpu      left out where it is not known
 *   fields   what the key means ("function" and "id", or "pc", "addr", "stack"), then the fields of the class
 *
 * Every event is written, whatever its kind; only TL_FORMAT records are not events. Lines are in the order of time. */
#include <stdlib.h>

#include "model/format_impl.h"
#include "model/label.h"
#include "model/value_json.h"

typedef struct jsonl_writer {
    tl_write_context context;
    tl_labels function; /* "function":"fib","id":1 */
    tl_labels track;    /* "thread 18353" */
    tl_labels cls;      /* ,"class":"xray.enter","track": */
    tl_pb fields;       /* of the event at hand */
    tl_pb line;         /* an event that is too long for the output's own buffer */
    uint64_t bad;       /* bytes that are not UTF-8 */
} jsonl_writer;

/* Room for all that is not a label: names of members, ts, cpu. */
enum { FRAME = 128 };

static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    jsonl_writer *w = writer;
    const tl_function *f = tl_trace_function(w->context.trace, (int64_t)id);
    char number[24];
    tl_pb_raw(text, "\"function\":", 11);
    if (f && f->name)
        tl_string_json(text, f->name, strlen(f->name), &w->bad);
    else
        tl_pb_raw(text, "null", 4);
    tl_pb_raw(text, ",\"id\":", 6);
    tl_pb_raw(text, number, (size_t)(tl_put_i64(number, (int64_t)id) - number));
}

static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    jsonl_writer *w = writer;
    const tl_track *track = tl_trace_track(w->context.trace, (uint32_t)index);
    const char *name = track ? track->name : "";
    tl_string_json(text, name, strlen(name), &w->bad);
}

static void make_class(void *writer, uint64_t id, tl_pb *text)
{
    jsonl_writer *w = writer;
    const char *name = tl_trace_class(w->context.trace, (uint32_t)id)->name;
    tl_pb_raw(text, ",\"class\":", 9);
    tl_string_json(text, name, strlen(name), &w->bad);
    tl_pb_raw(text, ",\"track\":", 9);
}

static int jsonl_create(void *writer, const tl_write_context *context, tl_error *e)
{
    (void)e;
    jsonl_writer *w = writer;
    w->context = *context;
    tl_labels_init(&w->function, make_function, w);
    tl_labels_init(&w->track, make_track, w);
    tl_labels_init(&w->cls, make_class, w);
    return 0;
}

static tl_accept jsonl_accept(void *writer, const tl_class *c)
{
    (void)writer;
    return c->kind == TL_FORMAT ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP;
}

/* The members that are not ready-made: other keys, and the tape. */
static void collect_fields(jsonl_writer *w, const tl_class *c, const tl_batch *b, uint32_t i)
{
    tl_pb_clear(&w->fields);
    if (tl_key_name(c->key))
        tl_key_json(&w->fields, c->key, b->key[i]);
    if (!b->val || c->nfield == 0)
        return;
    if (c->key != TL_KEY_NONE)
        tl_pb_raw(&w->fields, ",", 1);
    if (tl_fields_json(&w->fields, c, b->v + b->val[i], b->v + b->val[i + 1], &w->bad) == 0 && w->fields.n > 0)
        w->fields.n--;
}

/* The parts of a line. */
typedef struct line_parts {
    tl_label cls, track, function;
    const tl_pb *fields;
    uint64_t ts;
    int32_t cpu;
} line_parts;

TL_ALWAYS_INLINE char *put_line(char *p, const jsonl_writer *w, const line_parts *l)
{
    p = TL_PUT(p, "{\"ts\":");
    p = tl_put_time(p, &w->context.trace->scale, w->context.options->begin, l->ts);
    p = tl_put_label(p, l->cls);
    p = tl_put_label(p, l->track);
    if (l->cpu >= 0) {
        p = TL_PUT(p, ",\"cpu\":");
        p = tl_put_u64(p, (uint32_t)l->cpu);
    }
    p = TL_PUT(p, ",\"fields\":{");
    p = tl_put_label(p, l->function);
    if (l->fields->n > 0) {
        memcpy(p, l->fields->data, l->fields->n);
        p += l->fields->n;
    }
    return TL_PUT(p, "}}\n");
}

/* A line of any length, by way of a buffer of our own. */
static TL_COLD bool write_long(jsonl_writer *w, const line_parts *l, size_t size)
{
    tl_pb_clear(&w->line);
    if (size > w->line.capacity) {
        uint8_t *data = realloc(w->line.data, size);
        if (!data)
            return false;
        w->line.data = data;
        w->line.capacity = size;
    }
    char *p = (char *)w->line.data;
    tl_output_write(w->context.out, p, (size_t)(put_line(p, w, l) - p));
    return true;
}

static int jsonl_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    jsonl_writer *w = writer;
    const tl_trace *t = w->context.trace;
    for (uint32_t i = from; i < to; i++) {
        const tl_class *c = &t->cls[b->cls[i]];
        line_parts l = {.cls = tl_labels_get(&w->cls, c->id),
                        .track = tl_labels_get(&w->track, b->track[i]),
                        .function = {"", 0},
                        .fields = &w->fields,
                        .ts = b->ts[i],
                        .cpu = b->cpu ? b->cpu[i] : -1};
        if (c->key == TL_KEY_FUNCTION)
            l.function = tl_labels_get(&w->function, b->key[i]);
        w->fields.n = 0;
        if (TL_UNLIKELY(c->nfield > 0 || c->key > TL_KEY_FUNCTION))
            collect_fields(w, c, b, i);
        if (TL_UNLIKELY(!l.cls.p || !l.track.p || !l.function.p || w->fields.failed))
            goto no_memory;

        size_t size = FRAME + l.cls.n + l.track.n + l.function.n + w->fields.n;
        if (TL_LIKELY(size <= TL_OUTPUT_ROOM))
            tl_output_commit(w->context.out, put_line(tl_output_reserve(w->context.out, size), w, &l));
        else if (!write_long(w, &l, size))
            goto no_memory;
    }
    return 0;
no_memory:
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "jsonl: no memory for a line");
}

static int jsonl_finish(void *writer, tl_error *e)
{
    (void)e;
    jsonl_writer *w = writer;
    if (w->bad > 0)
        tl_drops_add(w->context.drops, "bytes that are not UTF-8 (escaped one by one)", w->bad);
    return 0;
}

static void jsonl_discard(void *writer)
{
    jsonl_writer *w = writer;
    tl_labels_fini(&w->function);
    tl_labels_fini(&w->track);
    tl_labels_fini(&w->cls);
    tl_pb_fini(&w->fields);
    tl_pb_fini(&w->line);
}

const tl_format tl_format_jsonl = {
    .name = "jsonl",
    .summary = "JSON lines: one object an event",
    .suffixes = ".jsonl .ndjson",
    .ordered = true,
    .writes_fields = true,
    .writes_cpu = true,
    .writer_size = sizeof(jsonl_writer),
    .create = jsonl_create,
    .accept = jsonl_accept,
    .write = jsonl_write,
    .finish = jsonl_finish,
    .discard = jsonl_discard,
};
