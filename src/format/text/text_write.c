/* Text for people and grep: one line an event, in columns.
 *
 *       0.000044597  thread 18353  cpu 0  -> main
 *       0.000044905  thread 18353  cpu 0    -> fib(3)
 *       0.000045012  thread 18353  cpu 0    <- fib
 *       0.000045100  thread 18353  cpu 0    * xray.custom data=6869
 *
 *   1  seconds since the begin of the trace with all nine digits; whole ticks where the clock has no frequency
 *   2  the track, as wide as the longest name (up to a limit)
 *   3  the processor, only in traces that know it
 *   4  two spaces for each open call of the track, then -> entry, <- exit, * anything else;
 *      the function ("#id" without a name) or the class; entries that have "args" show them as a call
 *
 * Exits of another class than the trace's first class of exits say which, in brackets. Control characters and bytes
 * that are not UTF-8 are written as \xNN, so that a hostile name cannot drive a terminal. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "model/format_impl.h"
#include "model/label.h"
#include "model/value_json.h"

enum {
    TRACK_WIDTH_MAX = 32, /* longer names push their line to the right */
    DEPTH_SHOWN_MAX = 40, /* deeper calls are not indented further: lines stay readable */
    TIME_WIDTH = 16,      /* 999999 s with nine digits */
    NS_PER_S = 1000000000,
};

typedef struct text_writer {
    tl_write_context context;
    tl_labels function, track, cls;
    uint32_t *depth; /* open calls of each track */
    uint32_t ndepth;
    uint32_t track_width;
    uint32_t first_exit; /* class id */
    tl_pb line;
    uint64_t bad; /* not reported: the text shows the bytes themselves */
} text_writer;

static void put(tl_pb *out, const char *s)
{
    tl_pb_raw(out, s, strlen(s));
}

static void put_number(tl_pb *out, uint64_t v)
{
    char text[24];
    tl_pb_raw(out, text, (size_t)(tl_put_u64(text, v) - text));
}

static void pad(tl_pb *out, size_t n)
{
    static const char spaces[] = "                                                                                ";
    while (n > 0) {
        size_t length = n < sizeof spaces - 1 ? n : sizeof spaces - 1;
        tl_pb_raw(out, spaces, length);
        n -= length;
    }
}

/* Bytes of the printable character at s, or 0. C1 controls (U+0080 .. U+009F) are none: terminals act on them. */
static size_t printable_length(const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];
    if (c < 0x80)
        return c >= 0x20 && c != 0x7f;
    size_t length = tl_utf8_length(s, n);
    return c == 0xc2 && length == 2 && (unsigned char)s[1] < 0xa0 ? 0 : length;
}

static void put_safe(tl_pb *out, const char *text, size_t n)
{
    static const char digit[] = "0123456789abcdef";
    const char *s = text, *end = s + n;
    while (s < end) {
        const char *start = s;
        size_t length;
        while (s < end && (length = printable_length(s, (size_t)(end - s))) > 0)
            s += length;
        tl_pb_raw(out, start, (size_t)(s - start));
        if (s < end) {
            unsigned char c = (unsigned char)*s;
            char escape[4] = {'\\', 'x', digit[c >> 4], digit[c & 15]};
            tl_pb_raw(out, escape, sizeof escape);
            s++;
        }
    }
}

static void make_function(void *writer, uint64_t id, tl_pb *text)
{
    text_writer *w = writer;
    const tl_function *f = tl_trace_function(w->context.trace, (int64_t)id);
    char number[24];
    if (f && f->name) {
        put_safe(text, f->name, strlen(f->name));
    } else {
        tl_pb_raw(text, "#", 1);
        tl_pb_raw(text, number, (size_t)(tl_put_i64(number, (int64_t)id) - number));
    }
}

static void make_track(void *writer, uint64_t index, tl_pb *text)
{
    text_writer *w = writer;
    const tl_track *track = tl_trace_track(w->context.trace, (uint32_t)index);
    const char *name = track ? track->name : "?";
    put(text, "  ");
    put_safe(text, name, strlen(name));
    if (text->n < w->track_width + 2)
        pad(text, w->track_width + 2 - text->n);
}

static void make_class(void *writer, uint64_t id, tl_pb *text)
{
    text_writer *w = writer;
    const char *name = tl_trace_class(w->context.trace, (uint32_t)id)->name;
    put_safe(text, name, strlen(name));
}

static int text_create(void *writer, const tl_write_context *context, tl_error *e)
{
    (void)e;
    text_writer *w = writer;
    const tl_trace *t = context->trace;
    w->context = *context;
    tl_labels_init(&w->function, make_function, w);
    tl_labels_init(&w->track, make_track, w);
    tl_labels_init(&w->cls, make_class, w);
    for (uint32_t i = 0; i < t->ntrack; i++) {
        size_t n = strlen(t->track[i].name);
        if (n <= TRACK_WIDTH_MAX && n > w->track_width)
            w->track_width = (uint32_t)n;
    }
    w->first_exit = UINT32_MAX;
    for (uint32_t i = t->ncls; i-- > 0;)
        if (t->cls[i].kind == TL_EXIT)
            w->first_exit = i;
    return 0;
}

static tl_accept text_accept(void *writer, const tl_class *c)
{
    (void)writer;
    return c->kind == TL_FORMAT ? TL_ACCEPT_IGNORE : TL_ACCEPT_KEEP;
}

static void put_time(text_writer *w, uint64_t ts)
{
    const tl_scale *s = &w->context.trace->scale;
    uint64_t begin = w->context.options->begin;
    char text[32], *p = text;
    uint64_t time = tl_scale_ns(s, ts >= begin ? ts - begin : begin - ts);
    if (ts < begin)
        *p++ = '-';
    if (s->hz == 0) {
        p = tl_put_u64(p, time);
    } else {
        p = tl_put_u64(p, time / NS_PER_S);
        char *fraction = tl_put_u64(p, time % NS_PER_S + NS_PER_S);
        *p = '.'; /* in the place of the digit 1 that was added to get all nine */
        p = fraction;
    }
    size_t n = (size_t)(p - text);
    if (n < TIME_WIDTH)
        pad(&w->line, TIME_WIDTH - n);
    tl_pb_raw(&w->line, text, n);
}

/* The depth of a track; NULL when memory runs out. */
static uint32_t *track_depth(text_writer *w, uint32_t track)
{
    if (track >= w->ndepth) {
        uint32_t n = w->ndepth ? w->ndepth : 16;
        while (n <= track)
            n *= 2;
        uint32_t *depth = track < TL_TRACKS_MAX ? realloc(w->depth, n * sizeof *depth) : NULL;
        if (!depth)
            return NULL;
        memset(depth + w->ndepth, 0, (n - w->ndepth) * sizeof *depth);
        w->depth = depth;
        w->ndepth = n;
    }
    return &w->depth[track];
}

/* One value; strings bare, everything else as in JSON. */
static const tl_value *put_value(text_writer *w, const tl_value *v, const tl_value *end, const tl_field *f)
{
    if (v->type == TL_STRING) {
        put(&w->line, "\"");
        put_safe(&w->line, v->as.p, v->n);
        put(&w->line, "\"");
        return v + 1;
    }
    size_t at = w->line.n;
    v = tl_value_json(&w->line, v, end, f, &w->bad);
    bool quoted = v[-1].type == TL_HEX || v[-1].type == TL_BYTES || v[-1].type == TL_F64;
    if (quoted && !w->line.failed && w->line.data[at] == '"') { /* "0x10", "6869", "NaN" need no quotes here */
        memmove(w->line.data + at, w->line.data + at + 1, w->line.n - at - 2);
        w->line.n -= 2;
    }
    return v;
}

/* (1,2) */
static const tl_value *put_call(text_writer *w, const tl_value *v, const tl_value *end)
{
    uint32_t n = v->n;
    put(&w->line, "(");
    v++;
    for (uint32_t i = 0; i < n && v < end; i++) {
        if (i > 0)
            put(&w->line, ", ");
        v = put_value(w, v, end, NULL);
    }
    put(&w->line, ")");
    return v;
}

static void put_fields(text_writer *w, const tl_class *c, const tl_batch *b, uint32_t i)
{
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    for (uint32_t f = 0; f < c->nfield && v < end; f++) {
        const tl_field *field = &c->field[f];
        if (f == 0 && c->kind == TL_ENTER && v->type == TL_LIST && strcmp(field->name, "args") == 0) {
            v = put_call(w, v, end);
            continue;
        }
        put(&w->line, " ");
        put_safe(&w->line, field->name, strlen(field->name));
        put(&w->line, "=");
        v = put_value(w, v, end, field);
    }
}

static bool put_event(text_writer *w, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &w->context.trace->cls[b->cls[i]];
    uint32_t *depth = track_depth(w, b->track[i]);
    tl_label track = tl_labels_get(&w->track, b->track[i]);
    tl_label cls = tl_labels_get(&w->cls, c->id);
    tl_label name = c->key == TL_KEY_FUNCTION ? tl_labels_get(&w->function, b->key[i]) : cls;
    if (!depth || !track.p || !cls.p || !name.p)
        return false;

    tl_pb_clear(&w->line);
    put_time(w, b->ts[i]);
    tl_pb_raw(&w->line, track.p, track.n);
    if (b->cpu && b->cpu[i] >= 0) {
        put(&w->line, "  cpu ");
        put_number(&w->line, (uint32_t)b->cpu[i]);
    }
    if (c->kind == TL_EXIT && *depth > 0)
        --*depth;
    pad(&w->line, 2 + 2 * (size_t)(*depth < DEPTH_SHOWN_MAX ? *depth : DEPTH_SHOWN_MAX));
    if (c->kind == TL_ENTER && *depth < UINT32_MAX)
        ++*depth;
    put(&w->line, c->kind == TL_ENTER ? "-> " : c->kind == TL_EXIT ? "<- " : "* ");
    tl_pb_raw(&w->line, name.p, name.n);
    if (tl_key_name(c->key)) {
        char hex[24];
        put(&w->line, " ");
        put(&w->line, tl_key_name(c->key));
        put(&w->line, "=0x");
        tl_pb_raw(&w->line, hex, (size_t)(tl_put_hex(hex, b->key[i]) - hex));
    }
    if (b->val && c->nfield > 0)
        put_fields(w, c, b, i);
    if (c->kind == TL_EXIT && c->id != w->first_exit) {
        put(&w->line, " (");
        tl_pb_raw(&w->line, cls.p, cls.n);
        put(&w->line, ")");
    }
    put(&w->line, "\n");
    if (w->line.failed)
        return false;
    tl_output_write(w->context.out, w->line.data, w->line.n);
    return true;
}

static int text_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    for (uint32_t i = from; i < to; i++)
        if (!put_event(writer, b, i))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "text: no memory for a line");
    return 0;
}

static int text_finish(void *writer, tl_error *e)
{
    (void)writer;
    (void)e;
    return 0;
}

static void text_discard(void *writer)
{
    text_writer *w = writer;
    tl_labels_fini(&w->function);
    tl_labels_fini(&w->track);
    tl_labels_fini(&w->cls);
    tl_pb_fini(&w->line);
    free(w->depth);
}

const tl_format tl_format_text = {
    .name = "text",
    .summary = "text for people: one line an event, calls indented",
    .suffixes = ".txt .text",
    .ordered = true,
    .writes_fields = true,
    .writes_cpu = true,
    .writer_size = sizeof(text_writer),
    .create = text_create,
    .accept = text_accept,
    .write = text_write,
    .finish = text_finish,
    .discard = text_discard,
};
