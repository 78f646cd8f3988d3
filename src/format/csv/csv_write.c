/* Comma-separated values (RFC 4180, with line feeds): one line an event, for spreadsheets and data frames.
 *
 *   ts,class,track,cpu,function,id,fields
 *   44597,xray.enter,thread 18353,0,fib,1,
 *   44700,xray.typed,thread 18353,0,,,"{""type"":3,""data"":""6869""}"
 *
 *   ts             ns since the begin of the trace (ticks where the clock has no frequency)
 *   cpu            empty where it is not known
 *   function, id   empty for events that are not of a function; function also where there is no name
 *   fields         the other fields as one JSON object, empty if there are none; contexts are its member "context"
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
    tl_json_fields fields;
    tl_pb json;           /* of one event, or what is left of it */
    tl_text_writer *line; /* where it goes */
    bool begun;           /* the first part of it did */
} csv_writer;

enum { PIECE = 1024, NUMBER_ROOM = 32, JSON_MOST = 256 * 1024 };

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

/* Text with quotes doubled, but without those around it. */
static void put_doubled(tl_text_writer *tw, const char *s, size_t n)
{
    while (n > 0) {
        const size_t length = n < PIECE ? n : PIECE;
        tl_text_room(tw, 2 * length);
        char *p = tw->p;
        for (size_t i = 0; i < length; i++) {
            *p = s[i];
            p[1] = '"';
            p += s[i] == '"' ? 2 : 1;
        }
        tw->p = p;
        s += length;
        n -= length;
    }
}

static void put_json(csv_writer *w)
{
    if (!w->begun)
        tl_text_char(w->line, '"');
    w->begun = true;
    put_doubled(w->line, (const char *)w->json.data, w->json.n);
    tl_pb_clear(&w->json);
}

/* Writes what there is of a long text, so that it does not take memory. */
static void spill(void *writer, tl_text_writer *json)
{
    csv_writer *w = writer;
    if (json->p - (char *)w->json.data < JSON_MOST || w->json.failed)
        return;
    tl_text_close(json);
    put_json(w);
    (void)tl_text_open_buffer(json, &w->json); /* there is room */
}

static int csv_create(void *writer, const tl_write_context *context, tl_error *e)
{
    csv_writer *w = writer;
    w->context = *context;
    tl_labels_init(&w->function, make_function, w);
    tl_labels_init(&w->track, make_track, w);
    tl_labels_init(&w->cls, make_class, w);
    if (!tl_json_fields_init(&w->fields, context->trace))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "csv: no memory for the classes");
    w->fields.spill = spill;
    w->fields.spill_arg = w;
    tl_output_puts(context->out, "ts,class,track,cpu,function,id,fields\n");
    return 0;
}

static tl_accept csv_accept(void *writer, const tl_class *c)
{
    (void)writer;
    return c->kind == TL_FORMAT ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP;
}

static bool put_fields(tl_text_writer *tw, csv_writer *w, const tl_class *c, const tl_batch *b, uint32_t i)
{
    tl_text_writer json;
    bool any = false;
    w->line = tw;
    w->begun = false;
    tl_pb_clear(&w->json);
    if (!tl_text_open_buffer(&json, &w->json))
        return false;
    tl_text_char(&json, '{');
    if (tl_key_name(c)) {
        tl_key_json(&json, c, b->key[i]);
        any = true;
    }
    if (b->val)
        tl_event_json(&json, &w->fields, c, b, i, &any);
    tl_text_char(&json, '}');
    tl_text_close(&json);
    if (w->json.failed || w->fields.failed)
        return false;
    if (any) {
        put_json(w);
        tl_text_char(tw, '"');
    }
    return true;
}

static bool put_event(tl_text_writer *tw, csv_writer *w, const tl_batch *b, uint32_t i)
{
    const tl_trace *t = w->context.trace;
    const tl_class *c = &t->cls[b->cls[i]];
    tl_label cls = tl_labels_get(&w->cls, c->id);
    tl_label track = tl_labels_get(&w->track, b->track[i]);
    tl_label function = c->key == TL_KEY_FUNCTION ? tl_labels_get(&w->function, b->key[i]) : (tl_label){",,", 2};
    if (!cls.p || !track.p || !function.p)
        return false;

    tl_text_room(tw, NUMBER_ROOM);
    tw->p = tl_put_time(tw->p, &t->scale, w->context.options->begin, b->ts[i]);
    tl_text_raw(tw, cls.p, cls.n);
    tl_text_raw(tw, track.p, track.n);
    tl_text_room(tw, NUMBER_ROOM);
    if (b->cpu && b->cpu[i] >= 0)
        tw->p = tl_put_u64(tw->p, (uint32_t)b->cpu[i]);
    *tw->p++ = ',';
    tl_text_raw(tw, function.p, function.n);
    if ((c->nfield > 0 || c->key > TL_KEY_FUNCTION) && !put_fields(tw, w, c, b, i))
        return false;
    tl_text_char(tw, '\n');
    return true;
}

static int csv_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    csv_writer *w = writer;
    tl_text_writer tw;
    bool ok = true;
    tl_text_open(&tw, w->context.out);
    for (uint32_t i = from; i < to && ok; i++)
        ok = put_event(&tw, w, b, i);
    tl_text_close(&tw);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "csv: no memory for a line");
}

static int csv_finish(void *writer, tl_error *e)
{
    (void)e;
    csv_writer *w = writer;
    if (w->fields.bad > 0)
        tl_drops_add(w->context.drops, "bytes that are not UTF-8 (escaped one by one)", w->fields.bad);
    return 0;
}

static void csv_discard(void *writer)
{
    csv_writer *w = writer;
    tl_labels_fini(&w->function);
    tl_labels_fini(&w->track);
    tl_labels_fini(&w->cls);
    tl_json_fields_fini(&w->fields);
    tl_pb_fini(&w->json);
}

const tl_format tl_format_csv = {
    .name = "csv",
    .summary = "comma-separated values: one line an event",
    .suffixes = ".csv",
    .ordered = true,
    .writes_growing = true,
    .writes_fields = true,
    .writes_cpu = true,
    .writer_size = sizeof(csv_writer),
    .create = csv_create,
    .accept = csv_accept,
    .write = csv_write,
    .finish = csv_finish,
    .discard = csv_discard,
};
