/* The table of spans. They come in the order of their ends; those that never ended come last. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/profile_impl.h"
#include "model/timeline.h"
#include "model/value_json.h"
#include "op/scan/event_scan.h"
#include "op/scan/line_scan.h"
#include "op/scan/line_tables.h"

enum {
    TRACE,
    ID,
    TS,
    UTC,
    DUR,
    END,
    TRACK,
    THREAD,
    CLASS,
    NAME,
    ROLE,
    FUNCTION,
    FUNCTION_NAME,
    FIELDS,
    END_FIELDS,
    COLUMNS
};

static const tl_column_info columns[COLUMNS] = {
    [TRACE] = {"trace", "trace", TL_INTEGER, TL_UNIT_NONE, "the number of the trace, from 1"},
    [ID] = {"id", "id", TL_INTEGER, TL_UNIT_NONE, "the event of its begin, as in events"},
    [TS] = {"ts", "ts", TL_INTEGER, TL_UNIT_TIME, "when it began, from the begin of the trace"},
    [UTC] = {"utc", "utc", TL_INTEGER, TL_UNIT_UTC, "the same as time of day; null: not known"},
    [DUR] = {"dur", "dur", TL_INTEGER, TL_UNIT_TIME,
             "how long it took: end_ts - ts; null: it did not end, or more than 16,384 spans, or 256 of its class on "
             "its track, were open when it began"},
    [END] = {"end_ts", "end_ts", TL_INTEGER, TL_UNIT_TIME, "when it ended; null: as dur"},
    [TRACK] = {"track_id", "track_id", TL_INTEGER, TL_UNIT_NONE, "the number of the track on which it began, from 0"},
    [THREAD] = {"thread", "thread", TL_TEXT, TL_UNIT_NONE, "the thread on which it began"},
    [CLASS] = {"class_id", "class_id", TL_INTEGER, TL_UNIT_NONE, "the class of its begin"},
    [NAME] = {"name", "name", TL_TEXT, TL_UNIT_NONE, "what it is: GC, JIT, ..."},
    [ROLE] = {"role", "role", TL_TEXT, TL_UNIT_NONE,
              "the same, whatever the format: collection, compilation, code search; null: none of these"},
    [FUNCTION] = {"function_id", "function_id", TL_INTEGER, TL_UNIT_NONE,
                  "the function that it is about; null: none, or not known"},
    [FUNCTION_NAME] = {"function_name", "function_name", TL_TEXT, TL_UNIT_NONE, "its name, or its number"},
    [FIELDS] = {"fields", "fields", TL_TEXT, TL_UNIT_JSON,
                "the fields of its begin: an object; null: those of open spans take over 8 MiB"},
    [END_FIELDS] = {"end_fields", "end_fields", TL_TEXT, TL_UNIT_JSON,
                    "the fields of its end; null: as fields, and dur"},
};

static const uint8_t part[COLUMNS] = {
    [TRACE] = TL_EVENT_OTHER,
    [ID] = TL_EVENT_OTHER,
    [TS] = TL_EVENT_TS,
    [UTC] = TL_EVENT_UTC,
    [DUR] = TL_EVENT_OTHER,
    [END] = TL_EVENT_OTHER,
    [TRACK] = TL_EVENT_TRACK,
    [THREAD] = TL_EVENT_THREAD,
    [CLASS] = TL_EVENT_CLASS,
    [NAME] = TL_EVENT_OTHER,
    [ROLE] = TL_EVENT_OTHER,
    [FUNCTION] = TL_EVENT_OTHER,
    [FUNCTION_NAME] = TL_EVENT_OTHER,
    [FIELDS] = TL_EVENT_OTHER,
    [END_FIELDS] = TL_EVENT_OTHER,
};

/* What a row says besides the tl_span. */
typedef struct span_kept {
    uint64_t id;
    char *fields, *end_fields;
    uint32_t next; /* of an unused one */
} span_kept;
#define NONE UINT32_MAX

typedef struct span_row {
    tl_line_row head;
    tl_span span; /* without args */
    uint32_t kept;
} span_row;

typedef struct spans_scan {
    tl_line_scan line;
    tl_spans spans;
    tl_event_view view;
    tl_fields json;
    bool is_open;
    span_kept *kept; /* [nkept]; a span that is open has the index of its own in its args */
    uint32_t nkept, unused;
    size_t text; /* bytes of all fields */
} spans_scan;

/* Of spans that are those of a managed runtime. */
static const char *role_of(const tl_class *c)
{
    const bool known = c->role >= TL_ROLE_COLLECTION && c->role <= TL_ROLE_CODE_SEARCH;
    return known ? tl_role_name(c->role) : NULL;
}

static const char *title_of(const tl_class *c)
{
    return tl_span_title(&(tl_span){.cls = c});
}

static bool takes(const tl_line_scan *s, const tl_class *c)
{
    return tl_timeline_use_of(s->trace, c) == TL_TIMELINE_BEGIN && tl_line_takes_text(s, NAME, title_of(c)) &&
           tl_line_takes_text(s, ROLE, role_of(c));
}

static uint8_t use_of(const tl_line_scan *s, const tl_class *c)
{
    const tl_timeline_use use = tl_timeline_use_of(s->trace, c);
    const tl_class *begin = use == TL_TIMELINE_BEGIN ? c : use == TL_TIMELINE_END ? &s->trace->cls[c->pair] : NULL;
    return use == TL_TIMELINE_CODE || (begin && tl_line_takes(s, begin)) ? (uint8_t)use : 0;
}

static bool add_row(spans_scan *s, const tl_span *span, uint32_t kept)
{
    span_row *row = tl_line_add(&s->line, span->track, span->begin);
    if (!row)
        return false;
    row->span = *span;
    row->span.args = NULL;
    row->kept = kept;
    return true;
}

static void drop(spans_scan *s, uint32_t at)
{
    span_kept *k = &s->kept[at];
    free(k->fields);
    free(k->end_fields);
    *k = (span_kept){.next = s->unused};
    s->unused = at;
}

/* The span is over: a row that waits for the end of a run of events, unless terms leave it out. */
static bool give_out(spans_scan *s, const tl_span *span, uint32_t at)
{
    const span_kept *k = &s->kept[at];
    s->text -= (k->fields ? strlen(k->fields) : 0) + (k->end_fields ? strlen(k->end_fields) : 0);
    if (tl_line_wants(&s->line, span->track, span->begin))
        return add_row(s, span, at);
    drop(s, at);
    return true;
}

static bool write_span(void *scan, const tl_span *span)
{
    uint32_t at;
    memcpy(&at, span->args, sizeof at);
    return give_out(scan, span, at);
}

static bool begin(tl_line_scan *line)
{
    spans_scan *s = (spans_scan *)line;
    tl_spans_init(&s->spans, line->trace, write_span, s);
    s->view = (tl_event_view){.trace = line->trace, .begin = line->origin, .number = line->number, .json = &s->json};
    s->is_open = true;
    s->unused = NONE;
    return tl_json_fields_init(&s->json, line->trace);
}

static void close_source(tl_line_scan *line)
{
    spans_scan *s = (spans_scan *)line;
    if (!s->is_open)
        return;
    tl_spans_fini(&s->spans);
    tl_fields_fini(&s->json);
    for (uint32_t i = 0; i < s->nkept; i++) {
        free(s->kept[i].fields);
        free(s->kept[i].end_fields);
    }
    free(s->kept);
    s->kept = NULL;
    s->nkept = 0;
    s->text = 0;
    s->json = (tl_fields){0};
    s->is_open = false;
}

/* The fields of an event as text, if somebody looks at them and there is room. */
static bool keep_fields(spans_scan *s, uint32_t column, const tl_batch *b, uint32_t i, char **out)
{
    tl_pb *text = &s->line.block.json;
    if (!tl_scan_has(&s->line.block, column))
        return true;
    tl_pb_clear(text);
    if (!tl_event_object(&s->view, b, i, false, text) || s->json.failed || text->failed)
        return false;
    if (text->n <= TL_SPAN_TEXT_MAX - s->text) {
        *out = malloc(text->n + 1);
        if (!*out)
            return false;
        memcpy(*out, text->data, text->n);
        (*out)[text->n] = '\0';
        s->text += text->n;
    }
    tl_pb_clear(text);
    return true;
}

/* Makes room for what is kept of a span. */
static bool take_kept(spans_scan *s, uint32_t *at)
{
    if (s->unused == NONE) {
        const uint32_t before = s->nkept;
        if (!TL_GROW_TO(s->kept, s->nkept, before, NONE))
            return false;
        for (uint32_t i = s->nkept; i-- > before;) {
            s->kept[i].next = s->unused;
            s->unused = i;
        }
    }
    *at = s->unused;
    s->unused = s->kept[*at].next;
    return true;
}

static bool begin_span(spans_scan *s, const tl_batch *b, uint32_t i)
{
    tl_span *span;
    uint32_t at;
    if (!take_kept(s, &at))
        return false;
    s->kept[at].id = tl_event_id(b, i);
    if (!keep_fields(s, FIELDS, b, i, &s->kept[at].fields) || !tl_spans_begin(&s->spans, b, i, b->ts[i], &span))
        return false;
    if (span)
        return tl_span_keep(&s->spans, span, &at, sizeof at);
    /* Left out there: its end will not be found. */
    const tl_span alone = {.cls = &s->line.trace->cls[b->cls[i]], .track = b->track[i], .begin = b->ts[i]};
    return give_out(s, &alone, at);
}

static bool end_span(spans_scan *s, const tl_batch *b, uint32_t i)
{
    tl_span *span;
    uint32_t at;
    if (!tl_spans_end(&s->spans, b, i, b->ts[i], &span))
        return false;
    if (span) {
        memcpy(&at, span->args, sizeof at);
        if (!keep_fields(s, END_FIELDS, b, i, &s->kept[at].end_fields))
            return false;
    }
    return tl_spans_flush(&s->spans);
}

static bool event(tl_line_scan *line, const tl_batch *b, uint32_t i)
{
    spans_scan *s = (spans_scan *)line;
    switch ((tl_timeline_use)line->use[b->cls[i]]) {
    case TL_TIMELINE_BEGIN:
        return begin_span(s, b, i);
    case TL_TIMELINE_END:
        return end_span(s, b, i);
    default:
        return tl_spans_code(&s->spans, b, i);
    }
}

static bool end(tl_line_scan *line)
{
    return tl_spans_finish(&((spans_scan *)line)->spans, 0);
}

/* Text, or NULL, copied into the block. */
static void put_text(tl_scan_block *b, uint32_t column, uint32_t at, const char *text)
{
    if (!tl_scan_has(b, column))
        return;
    char *copy = text ? tl_arena_strndup(&b->arena, text, strlen(text)) : NULL;
    b->failed = b->failed || (text && !copy);
    tl_scan_put_text(b, column, at, copy);
}

/* As calls.name: the number of one without a name. */
static void put_function_name(tl_scan_block *b, uint32_t at, const tl_trace *t, const tl_span *x)
{
    char label[24];
    const tl_function *f = x->has_function ? tl_trace_function(t, x->function) : NULL;
    const tl_function unknown = {.id = x->function};
    put_text(b, FUNCTION_NAME, at, x->has_function ? tl_function_label(f ? f : &unknown, label) : NULL);
}

static void put(tl_line_scan *line, const void *row, uint32_t at)
{
    spans_scan *s = (spans_scan *)line;
    const span_row *r = row;
    const tl_span *x = &r->span;
    const tl_trace *t = line->trace;
    tl_scan_block *b = &line->block;
    const tl_track *track = tl_trace_track(t, x->track);
    const int64_t ts = tl_event_ts(t, line->origin, x->begin), until = tl_event_ts(t, line->origin, x->end);
    tl_list_int(b, TRACE, at, true, line->number);
    tl_list_int(b, ID, at, true, (int64_t)s->kept[r->kept].id);
    tl_list_int(b, TS, at, true, ts);
    tl_list_utc(b, UTC, at, t, x->begin);
    tl_list_int(b, DUR, at, x->ended, until - ts);
    tl_list_int(b, END, at, x->ended, until);
    tl_list_int(b, TRACK, at, true, x->track);
    tl_list_text(b, THREAD, at, track ? track->name : NULL);
    tl_list_int(b, CLASS, at, true, x->cls->id);
    tl_list_text(b, NAME, at, title_of(x->cls));
    tl_list_text(b, ROLE, at, role_of(x->cls));
    tl_list_int(b, FUNCTION, at, x->has_function, x->function);
    put_function_name(b, at, t, x);
    put_text(b, FIELDS, at, s->kept[r->kept].fields);
    put_text(b, END_FIELDS, at, s->kept[r->kept].end_fields);
    drop(s, r->kept);
}

void tl_spans_table(tl_scan_table *out, const tl_dataset *d)
{
    static const tl_line_kind kind = {
        .info = {"spans", "what has a begin and an end, other than calls: collections, compilations", TL_NEEDS_SPANS},
        .column = columns,
        .ncolumn = COLUMNS,
        .texts = 1u << NAME | 1u << ROLE,
        .size = sizeof(spans_scan),
        .row = sizeof(span_row),
        .part = part,
        .takes = takes,
        .use = use_of,
        .begin = begin,
        .event = event,
        .end = end,
        .close = close_source,
        .put = put};
    tl_line_table(out, d, &kind, TL_NO_ORDER);
}
