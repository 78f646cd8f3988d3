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
#include "model/lines.h"

typedef struct csv_writer {
    tl_lines lines;
    tl_pb json;           /* of one event, or the rest of it */
    tl_text_writer *line; /* the output */
    bool begun;           /* its first part was written */
} csv_writer;

enum { PIECE = 1024, JSON_MOST = 256 * 1024 };

/* One cell: as it is, or in quotes with inner quotes doubled. */
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

/* fib,1, */
static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    const csv_writer *w = writer;
    const tl_function *f = tl_trace_function(w->lines.context.trace, (int64_t)id);
    if (f && f->name)
        put_cell(text, f->name, strlen(f->name));
    tl_pb_text(text, ",");
    tl_pb_text_i64(text, (int64_t)id);
    tl_pb_text(text, ",");
}

/* thread 18353 */
static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    const csv_writer *w = writer;
    const tl_track *track = tl_trace_track(w->lines.context.trace, (uint32_t)index);
    if (track)
        put_cell(text, track->name, strlen(track->name));
}

/* xray.enter */
static void make_class(void *writer, uint64_t id, tl_pb *text)
{
    const csv_writer *w = writer;
    const char *name = tl_trace_class(w->lines.context.trace, (uint32_t)id)->name;
    put_cell(text, name, strlen(name));
}

/* Text with quotes doubled, without enclosing quotes. */
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

/* Writes out a part of a long text, to bound memory. */
static void spill(void *writer, tl_text_writer *json)
{
    csv_writer *w = writer;
    if (json->p - (char *)w->json.data < JSON_MOST || w->json.failed)
        return;
    tl_text_close(json);
    put_json(w);
    (void)tl_text_open_buffer(json, &w->json); /* cannot fail: there is room */
}

static int csv_create(void *writer, const tl_write_context *context, tl_error *e)
{
    static const tl_line_kind kind = {.name = "csv", .function = make_function, .track = make_track, .cls = make_class};
    csv_writer *w = writer;
    int status = tl_lines_init(&w->lines, context, &kind, e);
    if (status < 0)
        return status;
    w->lines.fields.spill = spill;
    w->lines.fields.spill_arg = w;
    tl_output_puts(context->out, "ts,class,track,cpu,function,id,fields\n");
    return 0;
}

static bool put_function(tl_text_writer *tw, void *writer, const tl_class *c, const tl_batch *b, uint32_t i)
{
    csv_writer *w = writer;
    if (c->key == TL_KEY_FUNCTION)
        return tl_line_label(tw, "", tl_labels_get(&w->lines.function, b->key[i]));
    TL_TEXT_PUT(tw, ",,");
    return true;
}

static TL_NOINLINE bool put_object(tl_text_writer *tw, csv_writer *w, const tl_class *c, const tl_batch *b, uint32_t i)
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
        tl_event_json(&json, &w->lines.fields, c, b, i, &any);
    tl_text_char(&json, '}');
    tl_text_close(&json);
    if (w->json.failed || w->lines.fields.failed)
        return false;
    if (any) {
        put_json(w);
        tl_text_char(tw, '"');
    }
    return true;
}

static inline bool put_fields(tl_text_writer *tw, void *writer, const tl_class *c, const tl_batch *b, uint32_t i)
{
    return (c->nfield == 0 && c->key <= TL_KEY_FUNCTION) || put_object(tw, writer, c, b, i);
}

static const tl_column columns[] = {
    {TL_COLUMN_TIME, "", NULL},      {TL_COLUMN_CLASS, ",", NULL}, {TL_COLUMN_TRACK, ",", NULL},
    {TL_COLUMN_TEXT, ",", NULL},     {TL_COLUMN_CPU, "", NULL},    {TL_COLUMN_OWN, ",", put_function},
    {TL_COLUMN_OWN, "", put_fields}, {TL_COLUMN_TEXT, "\n", NULL},
};

static int csv_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    return tl_lines_write(writer, columns, TL_COUNT(columns), b, from, to, e);
}

static void csv_discard(void *writer)
{
    csv_writer *w = writer;
    tl_lines_fini(&w->lines);
    tl_pb_fini(&w->json);
}

const tl_format tl_format_csv = {
    .name = "csv",
    .summary = "comma-separated values: one line an event",
    .suffixes = ".csv",
    .event_writer = &(const tl_event_writer){.ordered = true,
                                             .growing = true,
                                             .wants = {.fields = true, .cpu = true},
                                             .size = sizeof(csv_writer),
                                             .create = csv_create,
                                             .accept = tl_accept_events,
                                             .write = csv_write,
                                             .finish = tl_lines_finish,
                                             .discard = csv_discard},
};
