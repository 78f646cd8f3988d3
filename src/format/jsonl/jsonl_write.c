/* JSON lines: one object an event, for jq, scripts and tests.
 *
 *   {"ts":44597,"class":"xray.enter","track":"thread 18353","cpu":0,"fields":{"function":"fib","id":1}}
 *   {"ts":51,"class":"open","track":"0/ch_0","fields":{"path":"/etc/hosts","mode":{"value":1,"labels":["READ"]}},
 *    "context":{"pid":7}}
 *
 *   ts       ns since the begin of the trace (ticks where the clock has no frequency)
 *   cpu      left out where it is not known
 *   fields   what the key means ("function" and "id", or "pc", "addr", "stack"), then the payload. Where the payload
 * says the key itself, only the name of the function stands before it, if there is one context  of the stream and of
 * the class, if there is one; a name that both have gets "stream." or "event." in front
 *
 * Every event is written, whatever its kind; only TL_FORMAT records are not events. Lines are in the order of time. */
#include <stdlib.h>

#include "model/format_impl.h"
#include "model/label.h"
#include "model/value_json.h"

/* What is said of the function of an event. */
typedef enum jsonl_function { NO_FUNCTION, NAME_AND_ID, NAME_IF_KNOWN } jsonl_function;

typedef struct jsonl_class {
    const tl_class_text *text; /* NULL: not made yet */
    tl_label head;             /* ,"class":"xray.enter","track": */
    jsonl_function function;
} jsonl_class;

typedef struct jsonl_writer {
    tl_write_context context;
    tl_labels function; /* "function":"fib","id":1 */
    tl_labels name;     /* "function":"fib", or nothing */
    tl_labels track;    /* "thread 18353" */
    tl_arena arena;
    jsonl_class *cls; /* [ncls] */
    tl_json_fields fields;
} jsonl_writer;

/* Room for what is neither label nor field: ts; cpu, and the begin of fields. */
enum { TIME_ROOM = 32, CPU_ROOM = 64 };

static void put_function(jsonl_writer *w, const tl_function *f, tl_pb *text)
{
    tl_pb_raw(text, "\"function\":", 11);
    if (f && f->name)
        tl_string_json(text, f->name, strlen(f->name), &w->fields.bad);
    else
        tl_pb_raw(text, "null", 4);
}

static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    jsonl_writer *w = writer;
    char number[24];
    put_function(w, tl_trace_function(w->context.trace, (int64_t)id), text);
    tl_pb_raw(text, ",\"id\":", 6);
    tl_pb_raw(text, number, (size_t)(tl_put_i64(number, (int64_t)id) - number));
}

static void make_name(void *writer, uint64_t id, tl_pb *text)
{
    jsonl_writer *w = writer;
    const tl_function *f = tl_trace_function(w->context.trace, (int64_t)id);
    if (f && f->name)
        put_function(w, f, text);
}

static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    jsonl_writer *w = writer;
    const tl_track *track = tl_trace_track(w->context.trace, (uint32_t)index);
    const char *name = track ? track->name : "";
    tl_string_json(text, name, strlen(name), &w->fields.bad);
}

static jsonl_function function_of(const tl_class *c)
{
    if (c->key != TL_KEY_FUNCTION)
        return NO_FUNCTION;
    if (!(c->flags & TL_CLASS_KEY_IS_FIELD))
        return NAME_AND_ID;
    for (uint32_t i = c->ncontext; i < c->nfield; i++)
        if (strcmp(c->field[i].name, "function") == 0)
            return NO_FUNCTION;
    return NAME_IF_KNOWN;
}

static TL_COLD bool make_class(jsonl_writer *w, const tl_class *c)
{
    jsonl_class *out = &w->cls[c->id];
    tl_pb text = {0};
    tl_pb_raw(&text, ",\"class\":", 9);
    tl_string_json(&text, c->name, strlen(c->name), &w->fields.bad);
    tl_pb_raw(&text, ",\"track\":", 9);
    const char *head = text.failed ? NULL : tl_arena_strndup(&w->arena, (const char *)text.data, text.n);
    out->head = (tl_label){head, text.n};
    out->function = function_of(c);
    out->text = head ? tl_field_texts_get(&w->fields.texts, c) : NULL;
    tl_pb_fini(&text);
    return out->text != NULL;
}

static int jsonl_create(void *writer, const tl_write_context *context, tl_error *e)
{
    jsonl_writer *w = writer;
    w->context = *context;
    tl_labels_init(&w->function, make_function, w);
    tl_labels_init(&w->name, make_name, w);
    tl_labels_init(&w->track, make_track, w);
    w->cls = calloc((size_t)context->trace->ncls + 1, sizeof *w->cls);
    if (w->cls && tl_json_fields_init(&w->fields, context->trace))
        return 0;
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "jsonl: no memory for the classes");
}

static tl_accept jsonl_accept(void *writer, const tl_class *c)
{
    (void)writer;
    return c->kind == TL_FORMAT ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP;
}

/* "fields":{...},"context":{...} without the first word and the bracket behind it. */
static void put_fields(tl_text_writer *tw, jsonl_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, bool any)
{
    const tl_class_text *text = w->cls[c->id].text;
    if (tl_key_name(c)) {
        tl_key_json(tw, c, b->key[i]);
        any = true;
    }
    const tl_value *v = b->val ? b->v + b->val[i] : NULL, *end = b->val ? b->v + b->val[i + 1] : NULL;
    const uint32_t npacket = text->npacket, ncontext = text->ncontext;
    const tl_value *context = v, *payload = v;
    if (TL_UNLIKELY(ncontext > 0)) {
        context = tl_values_skip(v, end, npacket);
        payload = tl_values_skip(context, end, ncontext - npacket);
    }
    tl_fields_json(tw, &w->fields, text->field + ncontext, text->nfield - ncontext, payload, end, &any);
    if (TL_UNLIKELY(ncontext > npacket) && tl_values_present(context, payload, ncontext - npacket)) {
        TL_TEXT_PUT(tw, "},\"context\":{");
        any = false;
        tl_fields_json(tw, &w->fields, text->field + npacket, ncontext - npacket, context, payload, &any);
    }
}

TL_ALWAYS_INLINE bool put_event(tl_text_writer *tw, jsonl_writer *w, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &w->context.trace->cls[b->cls[i]];
    const jsonl_class *cls = &w->cls[c->id];
    if (TL_UNLIKELY(!cls->text) && !make_class(w, c))
        return false;
    tl_label track = tl_labels_get(&w->track, b->track[i]), function = {"", 0};
    if (cls->function != NO_FUNCTION)
        function = tl_labels_get(cls->function == NAME_AND_ID ? &w->function : &w->name, b->key[i]);
    if (TL_UNLIKELY(!track.p || !function.p))
        return false;

    tl_text_room(tw, TIME_ROOM);
    tw->p = TL_PUT(tw->p, "{\"ts\":");
    tw->p = tl_put_time(tw->p, &w->context.trace->scale, w->context.options->begin, b->ts[i]);
    tl_text_raw(tw, cls->head.p, cls->head.n);
    tl_text_raw(tw, track.p, track.n);
    tl_text_room(tw, CPU_ROOM);
    if (b->cpu && b->cpu[i] >= 0) {
        tw->p = TL_PUT(tw->p, ",\"cpu\":");
        tw->p = tl_put_u64(tw->p, (uint32_t)b->cpu[i]);
    }
    tw->p = TL_PUT(tw->p, ",\"fields\":{");
    tl_text_raw(tw, function.p, function.n);
    if (c->nfield > 0 || c->key > TL_KEY_FUNCTION)
        put_fields(tw, w, c, b, i, function.n > 0);
    TL_TEXT_PUT(tw, "}}\n");
    return !w->fields.failed;
}

static int jsonl_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    jsonl_writer *w = writer;
    tl_text_writer tw;
    bool ok = true;
    tl_text_open(&tw, w->context.out);
    for (uint32_t i = from; i < to && ok; i++)
        ok = put_event(&tw, w, b, i);
    tl_text_close(&tw);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "jsonl: no memory for a line");
}

static int jsonl_finish(void *writer, tl_error *e)
{
    (void)e;
    jsonl_writer *w = writer;
    if (w->fields.bad > 0)
        tl_drops_add(w->context.drops, "bytes that are not UTF-8 (escaped one by one)", w->fields.bad);
    return 0;
}

static void jsonl_discard(void *writer)
{
    jsonl_writer *w = writer;
    tl_labels_fini(&w->function);
    tl_labels_fini(&w->name);
    tl_labels_fini(&w->track);
    tl_arena_fini(&w->arena);
    tl_json_fields_fini(&w->fields);
    free(w->cls);
}

const tl_format tl_format_jsonl = {
    .name = "jsonl",
    .summary = "JSON lines: one object an event",
    .suffixes = ".jsonl .ndjson",
    .ordered = true,
    .writes_growing = true,
    .writes_fields = true,
    .writes_cpu = true,
    .writer_size = sizeof(jsonl_writer),
    .create = jsonl_create,
    .accept = jsonl_accept,
    .write = jsonl_write,
    .finish = jsonl_finish,
    .discard = jsonl_discard,
};
