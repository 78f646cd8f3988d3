/* Comma-separated values (RFC 4180, with line feeds): one line an event, for spreadsheets and data frames.
 *
 *   ts,class,track,cpu,function,id,fields
 *   44597,xray.enter,thread 18353,0,fib,1,
 *   44700,xray.typed,thread 18353,0,,,"{""type"":3,""data"":""6869""}"
 *
 *   ts             ns since the begin of the trace (ticks if the clock has no frequency)
 *   cpu            empty if unknown
 *   function, id   empty for events without a function; function also if it has no name
 *   fields         the other fields as one JSON object, empty if there are none; contexts are its member "context"
 *
 * With tl_write_options.columns, of one class, each field has a column in place of `fields`:
 *
 *   ts,class,track,cpu,function,id,context.vtid,a,point.x,point.y,list
 *   44597,app:rich,thread 18353,0,,,7,1,2,3,"[1,2]"
 *
 *   names          of nested structs with dots, of contexts after "context."; "fields.id" where a column has that name
 *                  already; a key that is no field is a column, too
 *   values         text as it is, numbers as in JSON, without quotes around those in other bases; other values as JSON;
 *                  empty if absent. Nested structs with more than FLAT_COLUMNS columns are JSON
 *
 * Every event is written, whatever its kind; only TL_FORMAT records are not events. Lines are in the order of time. */
#include "base/text/utf8.h"
#include "model/lines.h"
#include "model/value_walk.h"

typedef struct csv_writer {
    tl_lines lines;
    tl_pb json;           /* of one event, or the rest of it */
    tl_text_writer *line; /* the output */
    bool begun;           /* its first part was written */
    const tl_class *cls;  /* whose fields are columns, or NULL */
    bool nested;          /* members of structs are columns, too */
    bool any;             /* a column of this event was written */
} csv_writer;

enum { FLAT_COLUMNS = 1024 };

enum { PIECE = 1024, JSON_MOST = 256 * 1024 };

static bool is_plain(const char *s, size_t n)
{
    bool plain = n == 0 || s[0] != ' ';
    for (size_t i = 0; i < n && plain; i++)
        plain = s[i] != ',' && s[i] != '"' && s[i] != '\n' && s[i] != '\r';
    return plain;
}

/* One cell: as it is, or in quotes with inner quotes doubled. */
static void put_cell(tl_pb *out, const char *s, size_t n)
{
    if (is_plain(s, n)) {
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

/* ---- a column for each field ---- */

static bool is_flat(const tl_field *f, bool nested)
{
    return nested && f->type == TL_STRUCT && f->nmember > 0;
}

/* How many columns a field makes if structs are taken apart; more than `most` need not be exact. */
static uint32_t count_columns(const tl_field *f, bool nested, uint32_t most)
{
    uint32_t n = 0;
    if (!is_flat(f, nested))
        return 1;
    for (uint32_t i = 0; i < f->nmember && n <= most; i++)
        n += count_columns(&f->member[i], nested, most - n);
    return n;
}

static void name_columns(const csv_writer *w, tl_pb *prefix, const tl_field *f, bool is_member, tl_pb *out)
{
    static const char *const taken[] = {"ts", "class", "track", "cpu", "function", "id", "pc", "addr", "stack"};
    const size_t before = prefix->n;
    if (is_member)
        tl_pb_text(prefix, f->name);
    else
        tl_field_put_name(f, prefix);
    if (is_flat(f, w->nested)) {
        tl_pb_text(prefix, ".");
        for (uint32_t i = 0; i < f->nmember; i++)
            name_columns(w, prefix, &f->member[i], true, out);
    } else {
        tl_pb_text(out, ",");
        for (size_t i = 0; i < TL_COUNT(taken); i++)
            if (prefix->n == strlen(taken[i]) && memcmp(prefix->data, taken[i], prefix->n) == 0)
                tl_pb_text(out, "fields.");
        if (!prefix->failed)
            put_cell(out, (const char *)prefix->data, prefix->n);
    }
    prefix->n = before;
}

/* The fields that have columns: all but those that describe packets. */
static const tl_field *shown_fields(const tl_class *c, uint32_t *n, uint32_t *packet)
{
    *packet = 0;
    while (*packet < c->ncontext && tl_field_scope(&c->field[*packet]) == TL_SCOPE_PACKET)
        ++*packet;
    *n = c->nfield - *packet;
    return c->field + *packet;
}

static int put_head(csv_writer *w, tl_error *e)
{
    const tl_class *c = w->cls;
    uint32_t n, packet, columns = 0;
    const tl_field *f = shown_fields(c, &n, &packet);
    tl_pb text = {0}, prefix = {0};
    for (uint32_t i = 0; i < n && columns <= FLAT_COLUMNS; i++)
        columns += count_columns(&f[i], true, FLAT_COLUMNS - columns);
    w->nested = columns <= FLAT_COLUMNS;
    tl_pb_text(&text, "ts,class,track,cpu,function,id");
    if (tl_key_name(c)) {
        tl_pb_text(&text, ",");
        tl_pb_text(&text, tl_key_name(c));
    }
    for (uint32_t i = 0; i < n; i++) {
        tl_pb_clear(&prefix);
        if (tl_field_scope(&f[i]) != TL_SCOPE_PAYLOAD)
            tl_pb_text(&prefix, "context.");
        name_columns(w, &prefix, &f[i], false, &text);
    }
    tl_pb_text(&text, "\n");
    const bool failed = text.failed || prefix.failed;
    if (!failed)
        tl_output_write(w->lines.context.out, text.data, text.n);
    tl_pb_fini(&text);
    tl_pb_fini(&prefix);
    return failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "csv: no memory for the head") : 0;
}

/* Text as it is, or in quotes. */
static void put_text(tl_text_writer *tw, const char *s, size_t n)
{
    if (is_plain(s, n)) {
        tl_text_raw(tw, s, n);
        return;
    }
    tl_text_char(tw, '"');
    put_doubled(tw, s, n);
    tl_text_char(tw, '"');
}

static bool is_utf8(const char *s, size_t n)
{
    size_t length = 1;
    for (; n > 0 && length > 0; s += length, n -= length)
        length = tl_utf8_length(s, n);
    return length > 0;
}

/* A value as text: strings of UTF-8 unchanged, others as in JSON, without outer quotes. */
static const tl_value *put_value(tl_text_writer *tw, csv_writer *w, const tl_value *v, const tl_value *end,
                                 const tl_field_text *f)
{
    tl_text_writer json;
    if (v >= end || v->type == TL_ABSENT || v->type == TL_NULL)
        return tl_value_skip(v, end);
    if (v->type == TL_STRING && is_utf8(v->as.p, v->n)) {
        put_text(tw, v->as.p, v->n);
        return tl_value_skip(v, end);
    }
    w->line = tw;
    w->begun = false;
    tl_pb_clear(&w->json);
    if (!tl_text_open_buffer(&json, &w->json))
        return end;
    v = tl_value_json(&json, &w->lines.fields, v, end, f);
    tl_text_close(&json);
    if (w->json.failed)
        return end;
    const char *s = (const char *)w->json.data;
    const size_t n = w->json.n;
    if (w->begun) { /* it is long, and its first part is written */
        put_json(w);
        tl_text_char(tw, '"');
    } else if (n >= 2 && s[0] == '"') {
        put_text(tw, s + 1, n - 2);
    } else {
        put_text(tw, s, n);
    }
    return v;
}

static void put_comma(tl_text_writer *tw, csv_writer *w)
{
    if (w->any)
        tl_text_char(tw, ',');
    w->any = true;
}

static const tl_value *put_field(tl_text_writer *tw, csv_writer *w, const tl_field *f, const tl_field_text *text,
                                 const tl_value *v, const tl_value *end)
{
    if (!is_flat(f, w->nested)) {
        put_comma(tw, w);
        return put_value(tw, w, v, end, text);
    }
    const tl_value *behind = v < end ? tl_value_skip(v, end) : end;
    const uint32_t there = v < end && v->type == TL_STRUCT ? v->n : 0;
    v++;
    for (uint32_t i = 0; i < f->nmember; i++) /* those that are not there have no text */
        v = put_field(tw, w, &f->member[i], tl_field_text_member(text, TL_STRUCT, i), i < there ? v : end, end);
    return behind;
}

static TL_NOINLINE bool put_columns(tl_text_writer *tw, csv_writer *w, const tl_batch *b, uint32_t i)
{
    const tl_class *c = w->cls;
    const tl_class_text *text = tl_field_texts_get(&w->lines.fields.texts, c);
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    uint32_t n, packet;
    const tl_field *f = shown_fields(c, &n, &packet);
    if (!text)
        return false;
    w->any = false;
    if (tl_key_name(c)) {
        put_comma(tw, w);
        tl_text_room(tw, TL_VALUE_ROOM);
        tw->p = c->key == TL_KEY_STACK ? tl_put_u64(tw->p, b->key[i]) : tl_put_hex(TL_PUT(tw->p, "0x"), b->key[i]);
    }
    v = tl_values_skip(v, end, packet);
    for (uint32_t k = 0; k < n; k++)
        v = put_field(tw, w, &f[k], &text->field[packet + k], v, end);
    return !w->json.failed && !w->lines.fields.failed;
}

static tl_accept csv_accept(void *writer, const tl_class *c)
{
    const csv_writer *w = writer;
    return w->cls && w->cls != c && c->kind != TL_FORMAT ? TL_ACCEPT_DROP : tl_accept_events(writer, c);
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
    if (context->options->columns) {
        w->cls = &context->trace->cls[context->options->columns->id];
        return put_head(w, e);
    }
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
    if (TL_UNLIKELY(((csv_writer *)writer)->cls != NULL))
        return put_columns(tw, writer, b, i);
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
                                             .accept = csv_accept,
                                             .write = csv_write,
                                             .finish = tl_lines_finish,
                                             .discard = csv_discard},
};
