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

#include "base/grow.h"
#include "format/chrome/chrome_writer.h"

/* Room for all of an event except label and args. */
enum { FRAME = 96 };

/* Names */

static void make_name(chrome_writer *w, const char *name, tl_pb *text)
{
    tl_pb_text(text, "\"name\":");
    tl_string_json(text, name, strlen(name), &w->fields.bad);
}

static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    chrome_writer *w = writer;
    char buf[24];
    make_name(w, tl_timeline_function(&w->line, id, buf), text);
}

static void make_class(void *writer, uint64_t id, tl_pb *text)
{
    chrome_writer *w = writer;
    make_name(w, tl_trace_class(w->line.context.trace, (uint32_t)id)->name, text);
}

static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    chrome_writer *w = writer;
    const tl_trace *t = w->line.context.trace;
    int64_t tid = 0;
    const bool ok = tl_track_tid(&w->line.ids, t, (uint32_t)index, &tid);
    tl_pb_text(text, ",\"pid\":");
    tl_pb_text_i64(text, tl_track_pid(t, (uint32_t)index));
    tl_pb_text(text, ",\"tid\":");
    tl_pb_text_i64(text, tid);
    tl_pb_text(text, ",\"ts\":");
    text->failed = text->failed || !ok;
}

/* Events piece by piece */

tl_pb *chrome_begin_event(chrome_writer *w, char ph)
{
    tl_pb *text = &w->text;
    tl_pb_clear(text);
    tl_pb_text(text, w->any ? ",\n{\"ph\":\"" : "{\"ph\":\"");
    tl_pb_raw(text, &ph, 1);
    tl_pb_text(text, "\"");
    return text;
}

bool chrome_end_event(chrome_writer *w)
{
    tl_pb_text(&w->text, "}");
    if (w->text.failed)
        return false;
    tl_output_write(w->line.context.out, w->text.data, w->text.n);
    w->any = true;
    return true;
}

void chrome_put_string(chrome_writer *w, const char *s)
{
    tl_string_json(&w->text, s, strlen(s), &w->fields.bad);
}

void chrome_put_id(tl_pb *out, uint64_t v)
{
    char text[24];
    tl_pb_text(out, "\"0x");
    tl_pb_raw(out, text, (size_t)(tl_put_hex(text, v) - text));
    tl_pb_text(out, "\"");
}

void chrome_put_time(tl_pb *out, uint64_t ns)
{
    char text[32];
    tl_pb_raw(out, text, (size_t)(chrome_microseconds(text, ns) - text));
}

bool chrome_put_place(chrome_writer *w, uint32_t track, uint64_t ns)
{
    const tl_label label = tl_labels_get(&w->track, track);
    if (!label.p)
        return false;
    tl_pb_raw(&w->text, label.p, label.n);
    chrome_put_time(&w->text, ns);
    return true;
}

/* {"ph":"M","name":"thread_name","pid":7,"tid":8,"ts":0,"args":{"name":"thread 8"}} */
static bool write_metadata(chrome_writer *w, const char *what, tl_label track, const char *name)
{
    tl_pb *text = chrome_begin_event(w, 'M');
    /* speedscope decides what a file contains by the first event */
    if (w->line.samples && !w->line.calls)
        tl_pb_text(text, ",\"cat\":\"__metadata\"");
    tl_pb_text(text, ",\"name\":\"");
    tl_pb_text(text, what);
    tl_pb_text(text, "\"");
    tl_pb_raw(text, track.p, track.n);
    tl_pb_text(text, "0,\"args\":{\"name\":");
    chrome_put_string(w, name);
    tl_pb_text(text, "}");
    return chrome_end_event(w);
}

/* Names a track, and its process if it is the first one there, before the track's first event. */
static TL_COLD bool name_track(chrome_writer *w, uint32_t index)
{
    const tl_track *track = tl_trace_track(w->line.context.trace, index);
    const uint64_t pid = (uint64_t)tl_track_pid(w->line.context.trace, index);
    const tl_label label = tl_labels_get(&w->track, index);
    if (!label.p)
        return false;
    if (tl_hash_get(&w->named_pid, pid) == TL_HASH_NONE &&
        (!tl_hash_put(&w->named_pid, pid, 1) ||
         !write_metadata(w, "process_name", label, tl_timeline_process(&w->line))))
        return false;
    return write_metadata(w, "thread_name", label, track ? track->name : "thread");
}

static inline bool ready_track(void *writer, uint32_t index, bool started)
{
    return TL_LIKELY(started) || name_track(writer, index);
}

/* Whole events */

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
    p = chrome_microseconds(p, v->ns);
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

/* An event of any length, through a buffer of our own. */
static TL_COLD bool write_long(chrome_writer *w, const event_parts *v, size_t size)
{
    if (!TL_GROW(w->text.data, 0, size, w->text.capacity))
        return false;
    char *p = (char *)w->text.data;
    tl_output_write(w->line.context.out, p, (size_t)(put_event(p, v, w->any) - p));
    return true;
}

TL_ALWAYS_INLINE bool write_event(chrome_writer *w, const event_parts *v)
{
    if (TL_UNLIKELY(!v->name.p || !v->track.p))
        return false;
    size_t size = FRAME + v->name.n + v->track.n + (v->args ? v->args->n : 0);
    if (TL_LIKELY(size <= TL_OUTPUT_ROOM))
        tl_output_commit(w->line.context.out, put_event(tl_output_reserve(w->line.context.out, size), v, w->any));
    else if (!write_long(w, v, size))
        return false;
    w->any = true;
    return true;
}

/* The content of w->args; NULL if empty. False when memory ran out. */
static inline bool get_args(const chrome_writer *w, bool any, const tl_pb **args)
{
    *args = any ? &w->args : NULL;
    return !w->args.failed && !w->fields.failed;
}

/* Key, fields and contexts. */
static bool make_args(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, const tl_pb **args)
{
    tl_text_writer tw;
    bool any = false;
    tl_pb_clear(&w->args);
    if (!tl_text_open_buffer(&tw, &w->args))
        return false;
    if (tl_key_name(c)) {
        tl_key_json(&tw, c, b->key[i]);
        any = true;
    }
    if (b->val)
        tl_event_json(&tw, &w->fields, c, b, i, &any);
    tl_text_close(&tw);
    return get_args(w, any, args);
}

static inline bool write_enter(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns)
{
    chrome_writer *w = writer;
    event_parts v = {'B', tl_labels_get(&w->function, b->key[i]), tl_labels_get(&w->track, b->track[i]), ns, NULL};
    return (TL_LIKELY(c->nfield == 0) || make_args(w, c, b, i, &v.args)) && write_event(w, &v);
}

static inline bool write_exit(void *writer, uint32_t track, uint64_t function, uint64_t ns)
{
    chrome_writer *w = writer;
    const event_parts v = {'E', tl_labels_get(&w->function, function), tl_labels_get(&w->track, track), ns, NULL};
    return write_event(w, &v);
}

static inline bool write_instant(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns)
{
    chrome_writer *w = writer;
    event_parts v = {'i', tl_labels_get(&w->cls, c->id), tl_labels_get(&w->track, b->track[i]), ns, NULL};
    return make_args(w, c, b, i, &v.args) && write_event(w, &v);
}

/* Only the numeric fields of the payload, since viewers draw a curve for each. */
static bool write_counter(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns, bool *any)
{
    chrome_writer *w = writer;
    event_parts v = {'C', tl_labels_get(&w->cls, c->id), tl_labels_get(&w->track, b->track[i]), ns, NULL};
    const tl_class_text *text = tl_field_texts_get(&w->fields.texts, c);
    tl_payload p = tl_payload_of(c, b, i);
    tl_text_writer tw;
    tl_pb_clear(&w->args);
    if (!text || !tl_text_open_buffer(&tw, &w->args))
        return false;
    while (tl_payload_next_number(&p)) {
        tl_value number = *p.v;
        tl_field_text plain = text->field[p.field];
        if (number.type == TL_BOOL)
            number.type = TL_U64;
        plain.labels = NULL;
        tl_fields_json(&tw, &w->fields, &plain, 1, &number, &number + 1, any);
    }
    tl_text_close(&tw);
    return get_args(w, *any, &v.args) && (!*any || write_event(w, &v));
}

/* What only the end of a span knows. */
static const tl_pb *span_args(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, const tl_span *s)
{
    chrome_writer *w = writer;
    const tl_pb *args;
    if (!s->ended)
        return make_args(w, c, b, i, &args) ? &w->args : NULL;
    const tl_class_text *text = tl_field_texts_get(&w->fields.texts, c);
    tl_payload p = tl_payload_of(c, b, i);
    tl_text_writer tw;
    bool any = s->nargs > 0;
    tl_pb_clear(&w->args);
    if (!text || !tl_text_open_buffer(&tw, &w->args))
        return NULL;
    while (tl_payload_next_new(&p, s->cls))
        tl_fields_json(&tw, &w->fields, &text->field[p.field], 1, p.v, p.next, &any);
    tl_text_close(&tw);
    return get_args(w, any, &args) ? &w->args : NULL;
}

static const tl_drawing drawing = {
    .no_memory = "chrome: no memory for an event",
    .open_calls = "calls still open at the end (closed there)",
    .open_spans = "begins still open at the end (closed there)",
    .deep_stacks = "samples of stacks of over 4096 calls (written without the innermost)",
    .depth_most = CHROME_DEPTH_MAX,
    .closes = true,
    .code_first = true,
    .ready = ready_track,
    .enter = write_enter,
    .exit = write_exit,
    .instant = write_instant,
    .counter = write_counter,
    .args = span_args,
    .span = chrome_write_span,
    .gauge = chrome_write_gauge,
    .samples = chrome_write_samples,
};

/* The writer */

static int chrome_create(void *writer, const tl_write_context *context, tl_error *e)
{
    chrome_writer *w = writer;
    tl_labels_init(&w->function, make_function, w);
    tl_labels_init(&w->cls, make_class, w);
    tl_labels_init(&w->track, make_track, w);
    int status = tl_timeline_init(&w->line, context, &drawing, e);
    if (status < 0)
        return status;
    if (!tl_json_fields_init(&w->fields, context->trace))
        return tl_timeline_no_memory(&w->line, e);
    tl_output_puts(context->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    return 0;
}

static int chrome_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    return tl_timeline_write(writer, &drawing, b, from, to, e);
}

static int chrome_finish(void *writer, tl_error *e)
{
    chrome_writer *w = writer;
    const tl_trace *t = w->line.context.trace;
    tl_pb *text = &w->text;
    int status = tl_timeline_finish(&w->line, e);
    if (status < 0)
        return status;
    if (!chrome_end_profiles(w))
        return tl_timeline_no_memory(&w->line, e);
    tl_pb_clear(text);
    tl_pb_text(text, w->any ? "\n],\"metadata\":{" : "],\"metadata\":{");
    tl_pb_text(text, t->clock.hz ? "\"time-unit\":\"ns\"" : "\"time-unit\":\"ticks\"");
    if (t->clock.has_utc) {
        tl_pb_text(text, ",\"begin-utc-ns\":");
        tl_pb_text_i64(
            text, (int64_t)((uint64_t)t->clock.utc_offset_ns + tl_scale_ns(&t->scale, w->line.context.options->begin)));
    }
    tl_pb_text(text, "}}\n");
    if (text->failed)
        return tl_timeline_no_memory(&w->line, e);
    tl_output_write(w->line.context.out, text->data, text->n);
    tl_timeline_report(&w->line, w->fields.bad);
    return 0;
}

static void chrome_discard(void *writer)
{
    chrome_writer *w = writer;
    tl_timeline_fini(&w->line);
    tl_labels_fini(&w->function);
    tl_labels_fini(&w->cls);
    tl_labels_fini(&w->track);
    tl_hash_fini(&w->named_pid);
    tl_hash_fini(&w->told);
    tl_fields_fini(&w->fields);
    tl_pb_fini(&w->args);
    tl_pb_fini(&w->text);
    free(w->profile);
}

/* Not ".chrome.json": speedscope takes a file of that name for a bare array and fails. */
const tl_format tl_format_chrome = {
    .name = "chrome",
    .summary = "Chrome trace event JSON, for Perfetto, chrome://tracing and speedscope",
    .suffixes = ".trace.json .json",
    .event_writer = &(const tl_event_writer){.track_order = true,
                                             .wants = {.fields = true, .calls = true},
                                             .size = sizeof(chrome_writer),
                                             .create = chrome_create,
                                             .accept = tl_accept_events,
                                             .write = chrome_write,
                                             .finish = chrome_finish,
                                             .discard = chrome_discard},
};
