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

#include "model/lines.h"

/* How the function of an event is written. */
typedef enum jsonl_function { NO_FUNCTION, NAME_AND_ID, NAME_IF_KNOWN } jsonl_function;

typedef struct jsonl_writer {
    tl_lines lines;
    tl_labels name;    /* "function":"fib", or nothing */
    uint8_t *function; /* [ncls] jsonl_function */
} jsonl_writer;

static void put_string(tl_lines *l, const char *s, tl_pb *text)
{
    tl_string_json(text, s, strlen(s), &l->fields.bad);
}

/* "function":"fib", or nothing */
static void make_name(void *writer, uint64_t id, tl_pb *text)
{
    jsonl_writer *w = writer;
    const tl_function *f = tl_trace_function(w->lines.context.trace, (int64_t)id);
    if (f && f->name) {
        tl_pb_text(text, "\"function\":");
        put_string(&w->lines, f->name, text);
    }
}

/* "function":"fib","id":1 */
static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    make_name(writer, id, text);
    tl_pb_text(text, text->n > 0 ? ",\"id\":" : "\"function\":null,\"id\":");
    tl_pb_text_i64(text, (int64_t)id);
}

/* "thread 18353" */
static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    jsonl_writer *w = writer;
    const tl_track *track = tl_trace_track(w->lines.context.trace, (uint32_t)index);
    put_string(&w->lines, track ? track->name : "", text);
}

/* "xray.enter" */
static void make_class(void *writer, uint64_t id, tl_pb *text)
{
    jsonl_writer *w = writer;
    put_string(&w->lines, tl_trace_class(w->lines.context.trace, (uint32_t)id)->name, text);
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

static int jsonl_create(void *writer, const tl_write_context *context, tl_error *e)
{
    static const tl_line_kind kind = {
        .name = "jsonl", .function = make_function, .track = make_track, .cls = make_class};
    jsonl_writer *w = writer;
    const tl_trace *t = context->trace;
    tl_labels_init(&w->name, make_name, w);
    w->function = malloc((size_t)t->ncls + 1);
    for (uint32_t i = 0; w->function && i < t->ncls; i++)
        w->function[i] = (uint8_t)function_of(&t->cls[i]);
    int status = tl_lines_init(&w->lines, context, &kind, e);
    return status < 0 || w->function ? status : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "jsonl: no memory for the classes");
}

/* "fields":{...},"context":{...} without the first word and the bracket after it. */
static void put_members(tl_text_writer *tw, tl_lines *w, const tl_class *c, const tl_batch *b, uint32_t i, bool any)
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

static inline bool put_fields(tl_text_writer *tw, void *writer, const tl_class *c, const tl_batch *b, uint32_t i)
{
    jsonl_writer *w = writer;
    tl_label function = {"", 0};
    if (w->function[c->id] != NO_FUNCTION)
        function = tl_labels_get(w->function[c->id] == NAME_AND_ID ? &w->lines.function : &w->name, b->key[i]);
    if (!tl_line_label(tw, "", function))
        return false;
    if (c->nfield > 0 || c->key > TL_KEY_FUNCTION)
        put_members(tw, &w->lines, c, b, i, function.n > 0);
    return true;
}

static const tl_column columns[] = {
    {TL_COLUMN_TIME, "{\"ts\":", NULL},           {TL_COLUMN_CLASS, ",\"class\":", NULL},
    {TL_COLUMN_TRACK, ",\"track\":", NULL},       {TL_COLUMN_CPU, ",\"cpu\":", NULL},
    {TL_COLUMN_OWN, ",\"fields\":{", put_fields}, {TL_COLUMN_TEXT, "}}\n", NULL},
};

static int jsonl_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    return tl_lines_write(writer, columns, TL_COUNT(columns), b, from, to, e);
}

static void jsonl_discard(void *writer)
{
    jsonl_writer *w = writer;
    tl_lines_fini(&w->lines);
    tl_labels_fini(&w->name);
    free(w->function);
}

const tl_format tl_format_jsonl = {
    .name = "jsonl",
    .summary = "JSON lines: one object an event",
    .suffixes = ".jsonl .ndjson",
    .event_writer = &(const tl_event_writer){.ordered = true,
                                             .growing = true,
                                             .wants = {.fields = true, .cpu = true},
                                             .size = sizeof(jsonl_writer),
                                             .create = jsonl_create,
                                             .accept = tl_accept_events,
                                             .write = jsonl_write,
                                             .finish = tl_lines_finish,
                                             .discard = jsonl_discard},
};
