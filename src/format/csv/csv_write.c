/* Comma-separated values (RFC 4180, with line feeds): one line an event, for spreadsheets and data frames.
 *
 *   ts,class,track,cpu,function,id,fields
 *   44597,xray.enter,thread 18353,0,fib,1,
 *   44700,xray.typed,thread 18353,0,,,"{""type"":3,""data"":""6869""}"
 *
 *   ts             ns since the begin of the trace (ticks where the clock has no frequency)
 *   cpu            empty where it is not known
 *   function, id   empty for events that are not of a function; function also where there is no name
 *   fields         the other fields as one JSON object, empty if there are none
 *
 * Every event is written, whatever its kind; only TL_FORMAT records are not events. Lines are in the order of time. */
#include "model/format_impl.h"
#include "model/label.h"
#include "model/value_json.h"

typedef struct csv_writer {
    tl_write_context context;
    tl_labels function; /* fib,1, */
    tl_labels track;    /* thread 18353, */
    tl_labels cls;      /* ,xray.enter, */
    tl_pb fields, line;
    uint64_t bad; /* bytes that are not UTF-8, in fields */
} csv_writer;

/* One cell: as it is, or in quotes with quotes doubled. */
static void put_cell(tl_pb *out, const char *s, size_t n)
{
    bool plain = n == 0 || s[0] != ' ';
    for (size_t i = 0; i < n && plain; i++)
        plain = s[i] != ',' && s[i] != '"' && s[i] != '\n' && s[i] != '\r';
    if (plain) {
        tl_pb_raw(out, s, n);
        return;
    }
    tl_pb_raw(out, "\"", 1);
    while (n > 0) {
        const char *quote = memchr(s, '"', n);
        size_t length = quote ? (size_t)(quote - s) + 1 : n;
        tl_pb_raw(out, s, length);
        if (quote)
            tl_pb_raw(out, "\"", 1);
        s += length;
        n -= length;
    }
    tl_pb_raw(out, "\"", 1);
}

static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    csv_writer *w = writer;
    const tl_function *f = tl_trace_function(w->context.trace, (int64_t)id);
    char number[24];
    if (f && f->name)
        put_cell(text, f->name, strlen(f->name));
    tl_pb_raw(text, ",", 1);
    tl_pb_raw(text, number, (size_t)(tl_put_i64(number, (int64_t)id) - number));
    tl_pb_raw(text, ",", 1);
}

static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    csv_writer *w = writer;
    const tl_track *track = tl_trace_track(w->context.trace, (uint32_t)index);
    if (track)
        put_cell(text, track->name, strlen(track->name));
    tl_pb_raw(text, ",", 1);
}

static void make_class(void *writer, uint64_t id, tl_pb *text)
{
    csv_writer *w = writer;
    const char *name = tl_trace_class(w->context.trace, (uint32_t)id)->name;
    tl_pb_raw(text, ",", 1);
    put_cell(text, name, strlen(name));
    tl_pb_raw(text, ",", 1);
}

static int csv_create(void *writer, const tl_write_context *context, tl_error *e)
{
    (void)e;
    csv_writer *w = writer;
    w->context = *context;
    tl_labels_init(&w->function, make_function, w);
    tl_labels_init(&w->track, make_track, w);
    tl_labels_init(&w->cls, make_class, w);
    tl_output_puts(context->out, "ts,class,track,cpu,function,id,fields\n");
    return 0;
}

static tl_accept csv_accept(void *writer, const tl_class *c)
{
    (void)writer;
    return c->kind == TL_FORMAT ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP;
}

static void put_fields(csv_writer *w, const tl_class *c, const tl_batch *b, uint32_t i)
{
    tl_pb *json = &w->fields;
    tl_pb_clear(json);
    tl_pb_raw(json, "{", 1);
    if (tl_key_name(c->key))
        tl_key_json(json, c->key, b->key[i]);
    if (b->val && c->nfield > 0 && b->val[i] < b->val[i + 1]) {
        if (json->n > 1)
            tl_pb_raw(json, ",", 1);
        tl_fields_json(json, c, b->v + b->val[i], b->v + b->val[i + 1], &w->bad);
    }
    if (json->n > 1)
        tl_pb_raw(json, "}", 1);
    if (json->failed)
        w->line.failed = true;
    else if (json->n > 1)
        put_cell(&w->line, (const char *)json->data, json->n);
}

static bool put_event(csv_writer *w, const tl_batch *b, uint32_t i)
{
    const tl_trace *t = w->context.trace;
    const tl_class *c = &t->cls[b->cls[i]];
    tl_label cls = tl_labels_get(&w->cls, c->id);
    tl_label track = tl_labels_get(&w->track, b->track[i]);
    tl_label function = c->key == TL_KEY_FUNCTION ? tl_labels_get(&w->function, b->key[i]) : (tl_label){",,", 2};
    if (!cls.p || !track.p || !function.p)
        return false;

    char number[24];
    tl_pb *line = &w->line;
    tl_pb_clear(line);
    tl_pb_raw(line, number, (size_t)(tl_put_time(number, &t->scale, w->context.options->begin, b->ts[i]) - number));
    tl_pb_raw(line, cls.p, cls.n);
    tl_pb_raw(line, track.p, track.n);
    char *end = number;
    if (b->cpu && b->cpu[i] >= 0)
        end = tl_put_u64(end, (uint32_t)b->cpu[i]);
    *end++ = ',';
    tl_pb_raw(line, number, (size_t)(end - number));
    tl_pb_raw(line, function.p, function.n);
    if (c->nfield > 0 || c->key > TL_KEY_FUNCTION)
        put_fields(w, c, b, i);
    tl_pb_raw(line, "\n", 1);
    if (line->failed)
        return false;
    tl_output_write(w->context.out, line->data, line->n);
    return true;
}

static int csv_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    for (uint32_t i = from; i < to; i++)
        if (!put_event(writer, b, i))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "csv: no memory for a line");
    return 0;
}

static int csv_finish(void *writer, tl_error *e)
{
    (void)e;
    csv_writer *w = writer;
    if (w->bad > 0)
        tl_drops_add(w->context.drops, "bytes that are not UTF-8 (escaped one by one)", w->bad);
    return 0;
}

static void csv_discard(void *writer)
{
    csv_writer *w = writer;
    tl_labels_fini(&w->function);
    tl_labels_fini(&w->track);
    tl_labels_fini(&w->cls);
    tl_pb_fini(&w->fields);
    tl_pb_fini(&w->line);
}

const tl_format tl_format_csv = {
    .name = "csv",
    .summary = "comma-separated values: one line an event",
    .suffixes = ".csv",
    .ordered = true,
    .writes_fields = true,
    .writes_cpu = true,
    .writer_size = sizeof(csv_writer),
    .create = csv_create,
    .accept = csv_accept,
    .write = csv_write,
    .finish = csv_finish,
    .discard = csv_discard,
};
