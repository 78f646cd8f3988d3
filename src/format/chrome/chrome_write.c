/* Chrome trace event JSON, for Perfetto's viewer, chrome://tracing, speedscope and others.
 *
 *   {"displayTimeUnit":"ns","traceEvents":[
 *   {"ph":"M","name":"process_name","pid":7,"tid":8,"args":{"name":"fib"}},
 *   {"ph":"M","name":"thread_name","pid":7,"tid":8,"args":{"name":"thread 8"}},
 *   {"ph":"B","name":"fib","pid":7,"tid":8,"ts":0.123,"args":{"args":[3]}},
 *   {"ph":"E","name":"fib","pid":7,"tid":8,"ts":2.500},
 *   {"ph":"i","name":"xray.custom","pid":7,"tid":8,"ts":2.600,"s":"t","args":{"data":"6869"}}
 *   ],"metadata":{...}}
 *
 *   ts    microseconds since the begin of the trace with three digits: exact ns, and small enough for the doubles that
 *         viewers keep them in. Where the clock has no frequency a tick counts as one ns.
 *   E     carries the name because speedscope matches by it
 *   args  only where there are some; contexts are their member "context"
 *
 * B and E must nest in each thread: an exit closes the calls above the one it belongs to, exits of functions that are
 * not open are dropped, calls that are open at the end are closed at the last time of their thread, and times that go
 * back are moved forward. All of these are counted and reported. Threads need not be merged by time: viewers sort, and
 * only the order within a thread matters to them, so streams may come one after the other if no thread is in two. */
#include <stdlib.h>

#include "base/io/base_name.h"
#include "format/chrome/chrome_writer.h"

/* Room for all of an event that is neither label nor args. */
enum { FRAME = 96 };

static void put(tl_pb *out, const char *s)
{
    tl_pb_raw(out, s, strlen(s));
}

static void put_i64(tl_pb *out, int64_t v)
{
    char text[24];
    tl_pb_raw(out, text, (size_t)(tl_put_i64(text, v) - text));
}

static void make_name(chrome_writer *w, const char *name, tl_pb *text)
{
    put(text, "\"name\":");
    tl_string_json(text, name, strlen(name), &w->fields.bad);
}

static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    chrome_writer *w = writer;
    const tl_function *f = tl_trace_function(w->context.trace, (int64_t)id);
    if (f && f->name) {
        make_name(w, f->name, text);
        return;
    }
    put(text, "\"name\":\"#");
    put_i64(text, (int64_t)id);
    put(text, "\"");
}

static void make_class(void *writer, uint64_t id, tl_pb *text)
{
    chrome_writer *w = writer;
    make_name(w, tl_trace_class(w->context.trace, (uint32_t)id)->name, text);
}

static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    chrome_writer *w = writer;
    int64_t tid;
    put(text, ",\"pid\":");
    put_i64(text, tl_track_pid(w->context.trace, (uint32_t)index));
    put(text, ",\"tid\":");
    if (tl_track_tid(&w->ids, w->context.trace, (uint32_t)index, &tid))
        put_i64(text, tid);
    else
        text->failed = true;
    put(text, ",\"ts\":");
}

static int chrome_create(void *writer, const tl_write_context *context, tl_error *e)
{
    chrome_writer *w = writer;
    w->context = *context;
    tl_labels_init(&w->function, make_function, w);
    tl_labels_init(&w->cls, make_class, w);
    tl_labels_init(&w->track, make_track, w);
    if (!chrome_runtime_init(w) || !tl_json_fields_init(&w->fields, context->trace))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "chrome: no memory for the classes");
    tl_output_puts(context->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    return 0;
}

static tl_accept chrome_accept(void *writer, const tl_class *c)
{
    (void)writer;
    return c->kind == TL_FORMAT ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP;
}

/* What to call the traced program: the title, or the file name of the binary or of the trace. */
static const char *process_name(const tl_write_context *c)
{
    if (c->options->title)
        return c->options->title;
    return tl_base_name(c->trace->exe ? c->trace->exe : c->trace->path ? c->trace->path : "trace");
}

/* {"ph":"M","name":"thread_name","pid":7,"tid":8,"ts":0,"args":{"name":"thread 8"}} */
static bool write_metadata(chrome_writer *w, const char *what, tl_label track, const char *name)
{
    tl_pb *line = &w->line;
    tl_pb_clear(line);
    put(line, w->any ? ",\n{\"ph\":\"M\"," : "{\"ph\":\"M\",");
    if (w->samples_first) /* speedscope takes samples for what the file is about if the first event has it */
        put(line, "\"cat\":\"__metadata\",");
    put(line, "\"name\":\"");
    put(line, what);
    put(line, "\"");
    tl_pb_raw(line, track.p, track.n);
    put(line, "0,\"args\":{\"name\":");
    tl_string_json(line, name, strlen(name), &w->fields.bad);
    put(line, "}}");
    if (line->failed)
        return false;
    tl_output_write(w->context.out, line->data, line->n);
    w->any = true;
    return true;
}

/* Names a track, and its process if it is the first of it, before the track's first event. */
static bool name_track(chrome_writer *w, uint32_t index, tl_label label)
{
    const tl_track *track = tl_trace_track(w->context.trace, index);
    uint64_t pid = (uint64_t)tl_track_pid(w->context.trace, index);
    if (tl_hash_get(&w->named_pid, pid) == TL_HASH_NONE &&
        (!tl_hash_put(&w->named_pid, pid, 1) || !write_metadata(w, "process_name", label, process_name(&w->context))))
        return false;
    return write_metadata(w, "thread_name", label, track ? track->name : "thread");
}

/* ns since the begin as microseconds with three digits. */
TL_ALWAYS_INLINE char *put_microseconds(char *p, uint64_t ns)
{
    p = tl_put_u64(p, ns / 1000);
    unsigned rest = (unsigned)(ns % 1000);
    p[0] = '.';
    p[1] = (char)('0' + rest / 100);
    p[2] = (char)('0' + rest / 10 % 10);
    p[3] = (char)('0' + rest % 10);
    return p + 4;
}

/* The parts of an event. */
typedef struct event_parts {
    char ph;
    tl_label name, track;
    uint64_t ns;
    const tl_pb *args; /* or NULL */
} event_parts;

TL_ALWAYS_INLINE char *put_event(char *p, const event_parts *v, bool comma)
{
    if (TL_LIKELY(comma))
        p = TL_PUT(p, ",\n");
    p = TL_PUT(p, "{\"ph\":\"B\",");
    p[-3] = v->ph;
    p = tl_put_label(p, v->name);
    p = tl_put_label(p, v->track);
    p = put_microseconds(p, v->ns);
    if (TL_UNLIKELY(v->ph == 'i'))
        p = TL_PUT(p, ",\"s\":\"t\"");
    if (TL_UNLIKELY(v->args)) {
        p = TL_PUT(p, ",\"args\":{");
        memcpy(p, v->args->data, v->args->n);
        p += v->args->n;
        *p++ = '}';
    }
    *p++ = '}';
    return p;
}

/* An event of any length, by way of a buffer of our own. */
static TL_COLD bool write_long(chrome_writer *w, const event_parts *v, size_t size)
{
    if (size > w->line.capacity) {
        uint8_t *data = realloc(w->line.data, size);
        if (!data)
            return false;
        w->line.data = data;
        w->line.capacity = size;
    }
    char *p = (char *)w->line.data;
    tl_output_write(w->context.out, p, (size_t)(put_event(p, v, w->any) - p));
    return true;
}

TL_ALWAYS_INLINE bool write_event(chrome_writer *w, const event_parts *v)
{
    if (TL_UNLIKELY(!v->name.p || !v->track.p))
        return false;
    size_t size = FRAME + v->name.n + v->track.n + (v->args ? v->args->n : 0);
    if (TL_LIKELY(size <= TL_OUTPUT_ROOM))
        tl_output_commit(w->context.out, put_event(tl_output_reserve(w->context.out, size), v, w->any));
    else if (!write_long(w, v, size))
        return false;
    w->any = true;
    return true;
}

TL_ALWAYS_INLINE uint64_t to_ns(chrome_writer *w, uint64_t ts)
{
    uint64_t begin = w->context.options->begin;
    if (TL_LIKELY(ts >= begin))
        return tl_scale_ns(&w->context.trace->scale, ts - begin);
    w->before_begin++;
    return 0;
}

/* Fills w->args; NULL if there are none. */
const tl_pb *chrome_args(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i)
{
    tl_text_writer tw;
    bool any = false;
    tl_pb_clear(&w->args);
    if (!tl_text_open_buffer(&tw, &w->args))
        return &w->args;
    if (tl_key_name(c)) {
        tl_key_json(&tw, c, b->key[i]);
        any = true;
    }
    if (b->val)
        tl_event_json(&tw, &w->fields, c, b, i, &any);
    tl_text_close(&tw);
    return any || w->args.failed ? &w->args : NULL;
}

/* The numeric fields of the payload only, as viewers draw one curve for each; NULL if there are none. */
static const tl_pb *collect_series(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i)
{
    tl_text_writer tw;
    const tl_class_text *text = tl_field_texts_get(&w->fields.texts, c);
    tl_pb_clear(&w->args);
    if (!b->val)
        return NULL;
    if (!text || !tl_text_open_buffer(&tw, &w->args)) {
        w->args.failed = true;
        return &w->args;
    }
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    bool any = false;
    v = tl_values_skip(v, end, c->ncontext);
    for (uint32_t f = c->ncontext; f < c->nfield && v < end; v = tl_value_skip(v, end), f++) {
        if (v->type != TL_U64 && v->type != TL_I64 && v->type != TL_F64 && v->type != TL_BOOL)
            continue;
        tl_value number = *v;
        if (v->type == TL_BOOL)
            number.type = TL_U64;
        tl_field_text plain = text->field[f];
        plain.labels = NULL;
        tl_fields_json(&tw, &w->fields, &plain, 1, &number, &number + 1, &any);
    }
    tl_text_close(&tw);
    return any || w->args.failed ? &w->args : NULL;
}

/* Closes n calls of a track at one time. */
static bool write_exits(chrome_writer *w, tl_nest_track *t, tl_label track, uint32_t n, uint64_t ns)
{
    for (; n > 0; n--) {
        event_parts v = {.ph = 'E', .name = tl_labels_get(&w->function, tl_nest_pop(t)), .track = track, .ns = ns};
        if (!write_event(w, &v))
            return false;
    }
    return true;
}

/* Everything but entries and exits of functions. */
static bool write_other(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, tl_label track, uint64_t ts,
                        uint64_t ns)
{
    const chrome_use use = (chrome_use)w->use[c->id];
    if (use != CHROME_EVENT && use != CHROME_CODE)
        return chrome_runtime_event(w, c, b, i, ts);
    event_parts v = {.ph = 'i', .name = tl_labels_get(&w->cls, c->id), .track = track, .ns = ns};
    if (c->kind == TL_COUNTER) {
        v.ph = 'C';
        v.args = collect_series(w, c, b, i);
        if (!v.args) {
            w->no_number++;
            return true;
        }
    } else {
        v.args = chrome_args(w, c, b, i);
    }
    return !w->args.failed && !w->fields.failed && write_event(w, &v) &&
           (use == CHROME_EVENT || chrome_runtime_event(w, c, b, i, ts));
}

static bool write_one(chrome_writer *w, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &w->context.trace->cls[b->cls[i]];
    uint32_t index = b->track[i];
    tl_nest_track *t = tl_nest_get(&w->nest, index);
    tl_label track = tl_labels_get(&w->track, index);
    if (!t || !track.p)
        return false;
    bool function = c->key == TL_KEY_FUNCTION;
    uint32_t exits = 0;
    if (function && c->kind == TL_EXIT && (exits = tl_nest_exit(&w->nest, t, b->key[i])) == 0)
        return true;
    if (TL_UNLIKELY(!t->started) && !name_track(w, index, track))
        return false;
    const uint64_t ts =
        TL_LIKELY(function || !w->managed) ? tl_nest_time(&w->nest, t, b->ts[i]) : tl_nest_own_time(t, b->ts[i]);
    uint64_t ns = to_ns(w, ts);

    if (exits > 0) {
        w->closed_early += exits - 1;
        return write_exits(w, t, track, exits, ns);
    }
    if (!function || c->kind != TL_ENTER)
        return write_other(w, c, b, i, track, ts, ns);
    tl_nest_result opened = tl_nest_enter(&w->nest, t, b->key[i]);
    if (opened != TL_NEST_OPENED)
        return opened == TL_NEST_TOO_DEEP;
    event_parts v = {.ph = 'B', .name = tl_labels_get(&w->function, b->key[i]), .track = track, .ns = ns};
    if (TL_UNLIKELY(c->nfield > 0))
        v.args = chrome_args(w, c, b, i);
    return !w->args.failed && !w->fields.failed && write_event(w, &v);
}

static int chrome_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    chrome_writer *w = writer;
    tl_stack_nodes_run(&w->stacks, b);
    for (uint32_t i = from; i < to; i++)
        if (!write_one(w, b, i))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "chrome: no memory for an event");
    return 0;
}

static void report(chrome_writer *w)
{
    const struct {
        const char *what;
        uint64_t n;
    } drop[] = {
        {"exits of functions that were not open", w->nest.unmatched_exits},
        {"entries deeper than 1048576 calls", w->nest.too_deep},
        {"counters without a number", w->no_number},
        {"calls without an exit of their own (closed with their caller)", w->closed_early},
        {"calls still open at the end (closed there)", w->open_at_end},
        {"times that went back (moved forward)", w->nest.moved},
        {"times before the begin (moved there)", w->before_begin},
        {"bytes that are not UTF-8 (escaped one by one)", w->fields.bad},
    };
    for (size_t i = 0; i < TL_COUNT(drop); i++)
        if (drop[i].n > 0)
            tl_drops_add(w->context.drops, drop[i].what, drop[i].n);
    chrome_runtime_report(w);
}

static int chrome_finish(void *writer, tl_error *e)
{
    chrome_writer *w = writer;
    for (uint32_t i = 0; i < w->nest.ntrack; i++) {
        tl_nest_track *t = &w->nest.track[i];
        w->open_at_end += t->n;
        if (t->n > 0 && !write_exits(w, t, tl_labels_get(&w->track, i), t->n, to_ns(w, t->last)))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "chrome: no memory for an event");
    }
    if (!chrome_runtime_finish(w))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "chrome: no memory for an event");
    const tl_trace *t = w->context.trace;
    tl_pb_clear(&w->line);
    put(&w->line, w->any ? "\n],\"metadata\":{" : "],\"metadata\":{");
    put(&w->line, "\"time-unit\":");
    put(&w->line, t->clock.hz ? "\"ns\"" : "\"ticks\"");
    if (t->clock.has_utc) {
        put(&w->line, ",\"begin-utc-ns\":");
        put_i64(&w->line,
                (int64_t)((uint64_t)t->clock.utc_offset_ns + tl_scale_ns(&t->scale, w->context.options->begin)));
    }
    put(&w->line, "}}\n");
    if (w->line.failed)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "chrome: no memory for the end of the file");
    tl_output_write(w->context.out, w->line.data, w->line.n);
    report(w);
    return 0;
}

static void chrome_discard(void *writer)
{
    chrome_writer *w = writer;
    tl_labels_fini(&w->function);
    tl_labels_fini(&w->cls);
    tl_labels_fini(&w->track);
    tl_nest_fini(&w->nest);
    tl_hash_fini(&w->named_pid);
    tl_json_fields_fini(&w->fields);
    tl_pb_fini(&w->args);
    tl_pb_fini(&w->line);
    chrome_runtime_fini(w);
}

/* Never ".chrome.json": speedscope takes a file of that name for a bare array and fails. */
const tl_format tl_format_chrome = {
    .name = "chrome",
    .summary = "Chrome trace event JSON, for Perfetto, chrome://tracing and speedscope",
    .suffixes = ".trace.json .json",
    .track_order = true,
    .writes_fields = true,
    .writes_calls = true,
    .writer_size = sizeof(chrome_writer),
    .create = chrome_create,
    .accept = chrome_accept,
    .write = chrome_write,
    .finish = chrome_finish,
    .discard = chrome_discard,
};
