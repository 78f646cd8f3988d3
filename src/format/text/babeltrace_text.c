/* Text exactly as `babeltrace2 --clock-gmt` (2.0.4, sink.text.pretty) prints it, for scripts that read that.
 *
 *   [19:57:48.352343840] (+0.000001084) host:proc:(352) prov:ev: { cpu_id = 2 }, { vtid = 3 }, { a = 0x1F, s = "\?" }
 *
 *   [..]      time of day, UTC; with --clock date after the date, as with babeltrace2's --clock-date. Before 1970:
 *             seconds with a minus sign; beyond 2262: [Error]
 *   (+..)     time since the event before it, of any stream; modulo 2^64 if time goes back
 *   host ..   hostname, procname and vpid of the trace's environment, if they exist
 *   { .. }    contexts of packet, stream and class, and the payload: each that exists, even if it has no fields.
 *             Nothing follows the colon and the space if none exists. Values of the clock are left out, and so is a
 *             struct of nothing else
 *
 *   integer      10, -5; base 16: 0x1F; 8: 017; 2: 0b00011111 (all bits). Negative ones there in two's complement
 *   enumeration  ( "ONE", "ODD" : container = 1 ), ( <unknown> : container = 7 )
 *   text         "..." with \a \b \t \n \v \f \r \e \" \' \? \\ and \x01
 *   real         as printf("%g"), also in 64 bits
 *   compound     { x = 1, y = 2 }, [ [0] = 1, [1] = 2 ], { the value of a variant }, { }, [ ]
 *
 * Events of streams without a clock have no time, and others do not count from them. Times count from the
 * clock's origin, also if that is not 1970; those of clocks that do not run at 1 GHz are exact, and rounded down.
 * (babeltrace2 converts them through a double.)
 *
 * Differences: control characters in names, and C1 controls in text, are written as \xNN, so that they cannot drive a
 * terminal; the last second before 1970 has its sign, and hexadecimal numbers of 61 to 63 signed bits are right.
 * For types unknown to 2.0.4: bytes are a list, absent members are left out, sets of flags are hexadecimal
 * enumerations, a key that is not a field comes first. */
#include <stdlib.h>

#include "format/text/babeltrace_value.h"
#include "format/text/text_clock.h"
#include "format/text/text_value.h"

#define NS_PER_S 1000000000u

enum { SCOPES = TL_SCOPE_PAYLOAD + 1, TIME_MAX = 64, KEY_MAX = 64 };

/* Which fields of a class are shown: of each scope that its events have. */
typedef struct babeltrace_scope {
    uint32_t skip; /* values of earlier scopes that are not shown */
    uint32_t first, n;
    bool payload;
} babeltrace_scope;

typedef struct babeltrace_class {
    uint32_t nscope;
    babeltrace_scope scope[SCOPES];
} babeltrace_class;

typedef struct babeltrace_writer {
    tl_lines lines;                                    /* prepared text of a track: "host:proc:(1) " */
    babeltrace_class *cls;                             /* [ncls] */
    uint64_t second;                                   /* ns at which the second in `text` begins */
    char text[1 + TEXT_SECOND_SIZE + TL_TEXT_PADDING]; /* "[19:57:48." */
    size_t ntext;
    text_clock clock;
    bool has_second, has_last, has_delta;
    int64_t last;   /* time of the previous event, ns */
    uint64_t delta; /* shown with it */
} babeltrace_writer;

/*  function = "fib", id = 1 */
static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    const babeltrace_writer *w = writer;
    const tl_function *f = tl_trace_function(w->lines.context.trace, (int64_t)id);
    tl_text_writer tw;
    if (!tl_text_open_buffer(&tw, text))
        return;
    if (f && f->name) {
        TL_TEXT_PUT(&tw, " function = ");
        babeltrace_string(&tw, f->name, strlen(f->name));
        tl_text_char(&tw, ',');
    }
    TL_TEXT_PUT(&tw, " id = ");
    tl_text_close(&tw);
    tl_pb_text_i64(text, (int64_t)id);
}

static const tl_property *find_property(const tl_trace *t, const tl_track *track, const char *name)
{
    const bool own = track && track->property;
    const tl_property *p = own ? track->property : t->property;
    const uint32_t n = own ? track->nproperty : t->nproperty;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0)
            return &p[i];
    return NULL;
}

static void put_property(tl_pb *text, const tl_property *p)
{
    if (p->text)
        text_safe(text, p->text, strlen(p->text));
    else
        tl_pb_text_i64(text, p->number);
}

static void make_environment(void *writer, uint64_t index, tl_pb *text)
{
    static const char *const name[] = {"hostname", "procname", "vpid"};
    enum { VPID = 2 };
    const babeltrace_writer *w = writer;
    const tl_trace *t = w->lines.context.trace;
    bool any = false;
    for (size_t i = 0; i < TL_COUNT(name); i++) {
        const tl_property *p = find_property(t, tl_trace_track(t, (uint32_t)index), name[i]);
        if (!p)
            continue;
        tl_pb_raw(text, ":", any);
        tl_pb_raw(text, "(", i == VPID);
        put_property(text, p);
        tl_pb_raw(text, ")", i == VPID);
        any = true;
    }
    tl_pb_raw(text, " ", any);
}

static bool shows_key(const tl_class *c)
{
    return c->key == TL_KEY_FUNCTION ? !(c->flags & TL_CLASS_KEY_IS_FIELD) : tl_key_name(c) != NULL;
}

/* Whether fields are only values of the clock. */
static bool is_hidden(const tl_field *f, uint32_t n)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < n; i++)
        times += (f[i].flags & TL_FIELD_CLOCK) != 0;
    return n > 0 && times == n;
}

static void find_scopes(const tl_class *c, babeltrace_class *out)
{
    uint32_t first = 0, skip = 0;
    for (unsigned s = 0; s < SCOPES; s++) {
        uint32_t end = first;
        while (end < c->nfield && (s == TL_SCOPE_PAYLOAD || tl_field_scope(&c->field[end]) == (tl_scope)s))
            end++;
        const bool payload = s == TL_SCOPE_PAYLOAD;
        const bool key = payload && shows_key(c);
        if (!key && is_hidden(c->field + first, end - first)) {
            skip += end - first;
        } else if (end > first || c->scopes >> s & 1 || key) {
            out->scope[out->nscope].skip = skip;
            out->scope[out->nscope].first = first;
            out->scope[out->nscope].n = end - first;
            out->scope[out->nscope++].payload = payload;
            skip = 0;
        }
        first = end;
    }
}

/* "name: " */
static void make_class(void *writer, uint64_t id, tl_pb *text)
{
    const babeltrace_writer *w = writer;
    const char *name = tl_trace_class(w->lines.context.trace, (uint32_t)id)->name;
    text_safe(text, name, strlen(name));
    tl_pb_text(text, ": ");
}

static int babeltrace_create(void *writer, const tl_write_context *context, tl_error *e)
{
    static const tl_line_kind kind = {"babeltrace", make_function,   make_environment,
                                      make_class,   babeltrace_lead, babeltrace_labels};
    babeltrace_writer *w = writer;
    const tl_trace *t = context->trace;
    w->cls = calloc((size_t)t->ncls + 1, sizeof *w->cls);
    for (uint32_t i = 0; w->cls && i < t->ncls; i++)
        find_scopes(&t->cls[i], &w->cls[i]);
    int status = tl_lines_init(&w->lines, context, &kind, e);
    if (status == 0)
        status = text_clock_choose(&w->clock, context, "wall date", e);
    return status < 0 || w->cls ? status : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "babeltrace: no memory for the classes");
}

/* Nanoseconds since the clock's origin, rounded down; false if they do not fit. */
TL_ALWAYS_INLINE bool time_of(const tl_trace *t, uint64_t ts, int64_t *ns)
{
    const int64_t offset = t->origin.known ? t->origin.ns : t->clock.utc_offset_ns;
    if (TL_UNLIKELY(t->clock.hz != NS_PER_S))
        ts = tl_scale_ns_down(&t->scale, ts, t->origin.rest);
    return ts <= INT64_MAX && !__builtin_add_overflow((int64_t)ts, offset, ns);
}

/* The first time of a second, and times before 1970. */
static TL_COLD char *put_new_time(babeltrace_writer *w, char *p, int64_t ns)
{
    const uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, second = size / NS_PER_S;
    if (ns < 0) {
        p = tl_put_u64(TL_PUT(p, "[-"), second);
        *p++ = '.';
        return tl_put_nine(p, (uint32_t)(size % NS_PER_S));
    }
    w->text[0] = '[';
    w->ntext = (size_t)(text_second(w->text + 1, (int64_t)second, w->clock == TEXT_CLOCK_DATE) - w->text);
    w->second = size - size % NS_PER_S;
    w->has_second = true;
    return tl_put_nine(tl_put_padded(p, w->text, w->ntext), (uint32_t)(size % NS_PER_S));
}

/* [19:57:48.352343840] (+0.000001084) ; at most TIME_MAX bytes. */
TL_ALWAYS_INLINE char *time_text(babeltrace_writer *w, char *p, uint64_t ts)
{
    int64_t ns;
    if (TL_LIKELY(time_of(w->lines.context.trace, ts, &ns))) {
        const uint64_t fraction = (uint64_t)ns - w->second;
        if (TL_LIKELY(fraction < NS_PER_S && w->has_second))
            p = tl_put_nine(tl_put_padded(p, w->text, w->ntext), (uint32_t)fraction);
        else
            p = put_new_time(w, p, ns);
        p = TL_PUT(p, "] (+");
        w->delta = (uint64_t)ns - (uint64_t)w->last;
        w->has_delta = w->has_last;
        w->has_last = true;
        w->last = ns;
    } else {
        p = TL_PUT(p, "[Error] (+");
    }
    if (TL_UNLIKELY(!w->has_delta))
        return TL_PUT(p, "?.????????"
                         "?) "); /* split: no trigraph */
    uint64_t rest = w->delta;
    if (TL_LIKELY(rest < NS_PER_S)) {
        p = TL_PUT(p, "0.");
    } else {
        p = tl_put_u64(p, rest / NS_PER_S);
        *p++ = '.';
        rest %= NS_PER_S;
    }
    return TL_PUT(tl_put_nine(p, (uint32_t)rest), ") ");
}

/* A key that is not in any field. */
static bool put_key(tl_text_writer *tw, babeltrace_writer *w, const tl_class *c, uint64_t key)
{
    if (c->key == TL_KEY_FUNCTION)
        return tl_line_label(tw, "", tl_labels_get(&w->lines.function, key));
    const char *name = tl_key_name(c);
    static const tl_field_text all_bits = {.base = 16, .bits = 64};
    tl_text_room(tw, KEY_MAX);
    *tw->p++ = ' ';
    tl_text_raw(tw, name, strlen(name));
    if (c->key == TL_KEY_STACK) {
        TL_TEXT_COPY(tw, " = ");
        tw->p = tl_put_u64(tw->p, key);
    } else {
        TL_TEXT_COPY(tw, " = 0x");
        tw->p = tl_put_based(tw->p, key, &all_bits, "0123456789ABCDEF");
    }
    return true;
}

static inline bool put_time(tl_text_writer *tw, void *writer, const tl_class *c, const tl_batch *b, uint32_t i)
{
    tl_text_room(tw, TIME_MAX + TL_TEXT_PADDING);
    if (TL_LIKELY(!(c->flags & TL_CLASS_TIMELESS)))
        tw->p = time_text(writer, tw->p, b->ts[i]);
    return true;
}

static inline bool put_scopes(tl_text_writer *tw, void *writer, const tl_class *c, const tl_batch *b, uint32_t i)
{
    babeltrace_writer *w = writer;
    const babeltrace_class *cls = &w->cls[c->id];
    const tl_field_text *f = w->lines.cls[c->id].text->field;
    const tl_value *v = b->val ? b->v + b->val[i] : NULL, *end = b->val ? b->v + b->val[i + 1] : NULL;
    for (const babeltrace_scope *s = cls->scope; s < cls->scope + cls->nscope; s++) {
        bool any = false;
        if (s > cls->scope)
            TL_TEXT_PUT(tw, ", ");
        if (TL_UNLIKELY(s->skip))
            v = tl_values_skip(v, end, s->skip);
        tl_text_char(tw, '{');
        if (s->payload && shows_key(c)) {
            if (!put_key(tw, w, c, b->key[i]))
                return false;
            any = true;
        }
        v = babeltrace_members(tw, &w->lines.fields, f + s->first, s->n, v, end, any);
        TL_TEXT_PUT(tw, " }");
    }
    tl_text_char(tw, '\n');
    return true;
}

static const tl_column columns[] = {{TL_COLUMN_OWN, "", put_time},
                                    {TL_COLUMN_TRACK, "", NULL},
                                    {TL_COLUMN_CLASS, "", NULL},
                                    {TL_COLUMN_OWN, "", put_scopes}};

static int babeltrace_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    return tl_lines_write(writer, columns, TL_COUNT(columns), b, from, to, e);
}

static void babeltrace_discard(void *writer)
{
    babeltrace_writer *w = writer;
    tl_lines_fini(&w->lines);
    free(w->cls);
}

const tl_format tl_format_babeltrace = {
    .name = "babeltrace",
    .summary = "text as babeltrace2 --clock-gmt prints it",
    .event_writer = &(const tl_event_writer){.ordered = true,
                                             .clock = true,
                                             .wants = {.fields = true, .packets = true},
                                             .size = sizeof(babeltrace_writer),
                                             .create = babeltrace_create,
                                             .accept = tl_accept_events,
                                             .write = babeltrace_write,
                                             .finish = tl_lines_finish,
                                             .discard = babeltrace_discard},
};
