/* Text for people and grep: one line an event, in columns.
 *
 *       0.000044597  thread 18353  cpu 0  -> main
 *       0.000044905  thread 18353  cpu 0    -> fib(3)
 *       0.000045012  thread 18353  cpu 0    <- fib
 *       0.000045100  thread 18353  cpu 0    * xray.custom data=6869
 *       0.000045200  0/ch_0        cpu 1  * open {pid=7} path="/etc/hosts" flags=READ|SHARED(5)
 *       0.309000000  thread 0x4           * gc.start (GC begins) reason=null
 *
 *   1  seconds since the begin of the trace with all nine digits; whole ticks where the clock has no frequency
 *      --clock delta: since the event before it, whichever that is; wall: time of day, UTC; date: with the date
 *   2  the track, as wide as the longest name (up to a limit)
 *   3  the processor, only in traces that know it
 *   4  two spaces for each open call of the track, then -> entry, <- exit, * anything else;
 *      the function ("#id" without a name) or the class; entries that have "args" show them as a call
 *   5  contexts in braces, then the payload; see text_value.h
 *
 * Exits of other classes than the trace's first class of exits name it in brackets. Control characters and bytes
 * that are not UTF-8 are written as \xNN, so that a hostile name cannot drive a terminal. */
#include <stdlib.h>

#include "base/grow.h"
#include "format/text/text_clock.h"
#include "format/text/text_value.h"

enum {
    TRACK_WIDTH_MAX = 32, /* longer names push their line to the right */
    DEPTH_SHOWN_MAX = 40, /* deeper calls are not indented further: lines stay readable */
    TIME_WIDTH = 16,      /* 999999 s with nine digits */
    FRACTION_WIDTH = 9,
    NUMBER_MAX = 32, /* room for a number with its sign and a word */
    INDENT_MAX = 2 + 2 * DEPTH_SHOWN_MAX,
    NS_PER_S = 1000000000,
};

/* The beginning of a line, which stays the same within a second. */
typedef struct text_part {
    uint64_t begin; /* ns */
    size_t n;       /* bytes of text; 0: none yet */
    char text[NUMBER_MAX + TL_TEXT_PADDING];
} text_part;

typedef struct text_writer {
    tl_lines lines;
    text_part second;
    text_clock clock;
    bool has_last;
    uint64_t last;   /* tick of the previous event */
    uint32_t *depth; /* open calls of each track */
    uint32_t ndepth;
    uint32_t track_width;
    uint32_t first_exit; /* class id */
} text_writer;

static const char spaces[INDENT_MAX + TL_TEXT_PADDING] = "                                                         "
                                                         "                                                         ";

static void put_safe(tl_pb *text, const char *s)
{
    text_safe(text, s, strlen(s));
}

static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    const text_writer *w = writer;
    const tl_function *f = tl_trace_function(w->lines.context.trace, (int64_t)id);
    if (f && f->name) {
        put_safe(text, f->name);
    } else {
        tl_pb_text(text, "#");
        tl_pb_text_i64(text, (int64_t)id);
    }
}

static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    const text_writer *w = writer;
    const tl_track *track = tl_trace_track(w->lines.context.trace, (uint32_t)index);
    tl_pb_text(text, "  ");
    put_safe(text, track ? track->name : "?");
    if (text->n < w->track_width + 2)
        tl_pb_raw(text, spaces, w->track_width + 2 - text->n);
}

static void make_class(void *writer, uint64_t id, tl_pb *text)
{
    const text_writer *w = writer;
    const tl_class *c = tl_trace_class(w->lines.context.trace, (uint32_t)id);
    put_safe(text, c->name);
    if (c->title && (c->kind == TL_BEGIN || c->kind == TL_END)) {
        tl_pb_text(text, " (");
        put_safe(text, c->title);
        tl_pb_text(text, c->kind == TL_BEGIN ? " begins)" : " ends)");
    }
}

static int text_create(void *writer, const tl_write_context *context, tl_error *e)
{
    static const tl_line_kind kind = {"text", make_function, make_track, make_class, text_lead, text_labels};
    text_writer *w = writer;
    const tl_trace *t = context->trace;
    for (uint32_t i = 0; i < t->ntrack; i++) {
        size_t n = strlen(t->track[i].name);
        if (n <= TRACK_WIDTH_MAX && n > w->track_width)
            w->track_width = (uint32_t)n;
    }
    w->first_exit = UINT32_MAX;
    for (uint32_t i = t->ncls; i-- > 0;)
        if (t->cls[i].kind == TL_EXIT)
            w->first_exit = i;
    const int status = tl_lines_init(&w->lines, context, &kind, e);
    return status < 0 ? status : text_clock_choose(&w->clock, context, "relative delta wall date", e);
}

/* A time in columns; n bytes of fraction will follow. */
static char *put_padded(char *p, const char *text, size_t n, size_t fraction)
{
    const size_t width = TIME_WIDTH - fraction, padding = n < width ? width - n : 0;
    memset(p, ' ', padding);
    memcpy(p + padding, text, n);
    return p + padding + n;
}

/* Times before the begin, ticks, and the first time of each second. */
static TL_COLD char *put_new_time(text_writer *w, char *p, uint64_t time, bool negative)
{
    char text[NUMBER_MAX], *end = text;
    if (negative)
        *end++ = '-';
    if (w->lines.context.trace->scale.hz == 0)
        return put_padded(p, text, (size_t)(tl_put_u64(end, time) - text), 0);
    end = tl_put_u64(end, time / NS_PER_S);
    *end++ = '.';
    if (!negative) {
        w->second.begin = time - time % NS_PER_S;
        w->second.n = (size_t)(put_padded(w->second.text, text, (size_t)(end - text), FRACTION_WIDTH) - w->second.text);
    }
    return tl_put_nine(put_padded(p, text, (size_t)(end - text), FRACTION_WIDTH), (uint32_t)(time % NS_PER_S));
}

/* Other times than those since the begin. */
static char *clock_text(text_writer *w, char *p, uint64_t ts)
{
    const tl_trace *t = w->lines.context.trace;
    if (w->clock != TEXT_CLOCK_DELTA) {
        const int64_t ns = (int64_t)(tl_scale_ns(&t->scale, ts) + (uint64_t)t->clock.utc_offset_ns);
        const int64_t rest = ns % NS_PER_S, second = ns / NS_PER_S - (rest < 0);
        p = text_second(TL_PUT(p, "  "), second, w->clock == TEXT_CLOCK_DATE);
        return tl_put_nine(p, (uint32_t)(rest < 0 ? rest + NS_PER_S : rest));
    }
    char text[2 * NUMBER_MAX], *end = text;
    const bool back = ts < w->last;
    const uint64_t delta = tl_scale_ns(&t->scale, back ? w->last - ts : ts - w->last);
    *end++ = back && w->has_last ? '-' : '+';
    if (!w->has_last)
        end = TL_PUT(end, "?");
    else if (t->scale.hz == 0)
        end = tl_put_u64(end, delta);
    else
        end = tl_put_nine(TL_PUT(tl_put_u64(end, delta / NS_PER_S), "."), (uint32_t)(delta % NS_PER_S));
    w->has_last = true;
    w->last = ts;
    return put_padded(p, text, (size_t)(end - text), 0);
}

TL_ALWAYS_INLINE char *time_text(text_writer *w, char *p, uint64_t ts)
{
    if (TL_UNLIKELY(w->clock != TEXT_CLOCK_RELATIVE))
        return clock_text(w, p, ts);
    const tl_scale *s = &w->lines.context.trace->scale;
    const uint64_t begin = w->lines.context.options->begin;
    const bool negative = ts < begin;
    const uint64_t time = tl_scale_ns(s, negative ? begin - ts : ts - begin), fraction = time - w->second.begin;
    if (TL_UNLIKELY(negative || fraction >= NS_PER_S || w->second.n == 0))
        return put_new_time(w, p, time, negative);
    return tl_put_nine(tl_put_padded(p, w->second.text, w->second.n), (uint32_t)fraction);
}

static inline bool put_time(tl_text_writer *tw, void *writer, const tl_class *c, const tl_batch *b, uint32_t i)
{
    (void)c;
    tl_text_room(tw, TIME_WIDTH + TEXT_SECOND_SIZE + NUMBER_MAX + TL_TEXT_PADDING);
    tw->p = time_text(writer, tw->p, b->ts[i]);
    return true;
}

/* (1, 2) */
static const tl_value *put_call(tl_text_writer *tw, tl_fields *t, const tl_value *v, const tl_value *end)
{
    uint32_t n = v->n;
    tl_text_char(tw, '(');
    v++;
    for (uint32_t i = 0; i < n && v < end; i++) {
        if (i > 0)
            TL_TEXT_PUT(tw, ", ");
        v = text_value(tw, t, v, end);
    }
    tl_text_char(tw, ')');
    return v;
}

static void put_fields(tl_text_writer *tw, tl_lines *l, const tl_class *c, const tl_batch *b, uint32_t i)
{
    const tl_class_text *text = l->cls[c->id].text;
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    const tl_field_text *f = text->field;
    uint32_t n = text->nfield;
    if (TL_UNLIKELY(text->ncontext > 0)) {
        const uint32_t shown = text->ncontext - text->npacket;
        v = tl_values_skip(v, end, text->npacket);
        f += text->npacket;
        if (tl_values_present(v, end, shown)) {
            TL_TEXT_PUT(tw, " {");
            v = text_members(tw, &l->fields, f, shown, v, end, false);
            tl_text_char(tw, '}');
        } else {
            v = tl_values_skip(v, end, shown);
        }
        f += shown;
        n -= text->ncontext;
    }
    if (c->kind == TL_ENTER && n > 0 && v < end && v->type == TL_LIST &&
        strcmp(c->field[text->ncontext].name, "args") == 0) {
        v = put_call(tw, &l->fields, v, end);
        f++;
        n--;
    }
    text_members(tw, &l->fields, f, n, v, end, true);
}

static void put_key(tl_text_writer *tw, const tl_class *c, uint64_t key)
{
    const char *name = tl_key_name(c);
    tl_text_char(tw, ' ');
    tl_text_raw(tw, name, strlen(name));
    tl_text_room(tw, NUMBER_MAX);
    TL_TEXT_COPY(tw, "=0x");
    tw->p = tl_put_hex(tw->p, key);
}

static bool put_event(tl_text_writer *tw, void *writer, const tl_class *c, const tl_batch *b, uint32_t i)
{
    text_writer *w = writer;
    const uint32_t track = b->track[i];
    const tl_label cls = w->lines.cls[c->id].head;
    const tl_label name = c->key == TL_KEY_FUNCTION ? tl_labels_get(&w->lines.function, b->key[i]) : cls;
    if (TL_UNLIKELY(track >= w->ndepth) && !TL_GROW_TO(w->depth, w->ndepth, track, TL_TRACKS_MAX))
        return false;
    uint32_t *depth = &w->depth[track];
    tl_text_room(tw, INDENT_MAX + TL_TEXT_PADDING + NUMBER_MAX);
    if (c->kind == TL_EXIT && *depth > 0)
        --*depth;
    tw->p = tl_put_padded(tw->p, spaces, 2 + 2 * (size_t)(*depth < DEPTH_SHOWN_MAX ? *depth : DEPTH_SHOWN_MAX));
    if (c->kind == TL_ENTER) {
        TL_TEXT_COPY(tw, "-> ");
        *depth += *depth < UINT32_MAX;
    } else if (c->kind == TL_EXIT) {
        TL_TEXT_COPY(tw, "<- ");
    } else {
        TL_TEXT_COPY(tw, "* ");
    }
    if (!tl_line_label(tw, "", name))
        return false;
    if (c->key > TL_KEY_FUNCTION && tl_key_name(c))
        put_key(tw, c, b->key[i]);
    if (b->val && c->nfield > 0)
        put_fields(tw, &w->lines, c, b, i);
    if (TL_UNLIKELY(c->kind == TL_EXIT && c->id != w->first_exit)) {
        TL_TEXT_PUT(tw, " (");
        tl_text_raw(tw, cls.p, cls.n);
        tl_text_char(tw, ')');
    }
    tl_text_char(tw, '\n');
    return true;
}

static const tl_column columns[] = {{TL_COLUMN_OWN, "", put_time},
                                    {TL_COLUMN_TRACK, "", NULL},
                                    {TL_COLUMN_CPU, "  cpu ", NULL},
                                    {TL_COLUMN_OWN, "", put_event}};

static int text_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    return tl_lines_write(writer, columns, TL_COUNT(columns), b, from, to, e);
}

static void text_discard(void *writer)
{
    text_writer *w = writer;
    tl_lines_fini(&w->lines);
    free(w->depth);
}

const tl_format tl_format_text = {
    .name = "text",
    .summary = "text for people: one line an event, calls indented",
    .suffixes = ".txt .text",
    .event_writer = &(const tl_event_writer){.ordered = true,
                                             .clock = true,
                                             .growing = true,
                                             .wants = {.fields = true, .cpu = true},
                                             .size = sizeof(text_writer),
                                             .create = text_create,
                                             .accept = tl_accept_events,
                                             .write = text_write,
                                             .finish = tl_lines_finish,
                                             .discard = text_discard},
};
