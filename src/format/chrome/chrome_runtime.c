/* Chrome trace events of managed runtimes: spans and gauges; see chrome_samples.c for samples.
 *
 *   {"ph":"X","name":"JIT Work:Fib","cat":"JIT","pid":7,"tid":8,"ts":5.000,"dur":2.000,"args":{...}}
 *   {"ph":"b","name":"GC","cat":"GC","id":"0x1","pid":7,"tid":8,"ts":5.000,"args":{...}}
 *   {"ph":"e","name":"GC","cat":"GC","id":"0x1","pid":7,"tid":8,"ts":9.000}
 *   {"ph":"C","name":"CPU thread 0x2","pid":7,"tid":8,"ts":5.000,"args":{"%":12.5}}
 *
 * A span that nests in those of its thread is an X, as viewers want them; others, and those of threads with calls, are
 * b and e. */
#include <stdlib.h>
#include <string.h>

#include "base/text/float_text.h"
#include "format/chrome/chrome_writer.h"

void chrome_put(tl_pb *out, const char *s)
{
    tl_pb_raw(out, s, strlen(s));
}

void chrome_put_u64(tl_pb *out, uint64_t v)
{
    char text[24];
    tl_pb_raw(out, text, (size_t)(tl_put_u64(text, v) - text));
}

void chrome_put_id(tl_pb *out, uint64_t v)
{
    char text[24];
    chrome_put(out, "\"0x");
    tl_pb_raw(out, text, (size_t)(tl_put_hex(text, v) - text));
    chrome_put(out, "\"");
}

uint64_t chrome_to_ns(const chrome_writer *w, uint64_t ts)
{
    const uint64_t begin = w->context.options->begin;
    return ts > begin ? tl_scale_ns(&w->context.trace->scale, ts - begin) : 0;
}

/* Microseconds with three digits. */
static void put_microseconds(tl_pb *out, uint64_t ns)
{
    const unsigned rest = (unsigned)(ns % 1000);
    const char digits[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    chrome_put_u64(out, ns / 1000);
    tl_pb_raw(out, digits, sizeof digits);
}

tl_pb *chrome_begin_event(chrome_writer *w, char ph)
{
    tl_pb *line = &w->line;
    tl_pb_clear(line);
    chrome_put(line, w->any ? ",\n{\"ph\":\"" : "{\"ph\":\"");
    tl_pb_raw(line, &ph, 1);
    chrome_put(line, "\"");
    return line;
}

bool chrome_end_event(chrome_writer *w)
{
    chrome_put(&w->line, "}");
    if (w->line.failed)
        return false;
    tl_output_write(w->context.out, w->line.data, w->line.n);
    w->any = true;
    return true;
}

void chrome_put_text(chrome_writer *w, const char *s)
{
    tl_string_json(&w->line, s, strlen(s), &w->fields.bad);
}

bool chrome_put_place(chrome_writer *w, uint32_t track, uint64_t ns)
{
    tl_label label = tl_labels_get(&w->track, track);
    if (!label.p)
        return false;
    tl_pb_raw(&w->line, label.p, label.n);
    put_microseconds(&w->line, ns);
    return true;
}

/* Spans */

/* "name":"JIT Work:Fib","cat":"JIT" */
static bool put_span_names(chrome_writer *w, const tl_span *s)
{
    char buf[24];
    const char *title = s->cls->title ? s->cls->title : s->cls->name;
    const char *label = tl_span_label(s, w->context.trace, buf);
    tl_pb *name = &w->args;
    tl_pb_clear(name);
    chrome_put(name, title);
    if (label) {
        chrome_put(name, " ");
        chrome_put(name, label);
    }
    tl_pb_raw(name, "", 1);
    if (name->failed)
        return false;
    chrome_put(&w->line, ",\"name\":");
    chrome_put_text(w, (const char *)name->data);
    chrome_put(&w->line, ",\"cat\":");
    chrome_put_text(w, title);
    return true;
}

static void put_span_args(chrome_writer *w, const tl_span *s)
{
    if (s->nargs == 0)
        return;
    chrome_put(&w->line, ",\"args\":{");
    tl_pb_raw(&w->line, s->args, s->nargs);
    chrome_put(&w->line, "}");
}

/* One of the two events of a span that overlaps others. */
static bool write_apart(chrome_writer *w, const tl_span *s, char ph, uint64_t ns)
{
    chrome_begin_event(w, ph);
    if (!put_span_names(w, s))
        return false;
    chrome_put(&w->line, ",\"id\":");
    chrome_put_id(&w->line, w->apart);
    if (!chrome_put_place(w, s->track, ns))
        return false;
    if (ph == 'b')
        put_span_args(w, s);
    return chrome_end_event(w);
}

static bool write_span(void *arg, const tl_span *s)
{
    chrome_writer *w = arg;
    const tl_nest_track *t = tl_nest_get(&w->nest, s->track);
    const uint64_t begin = chrome_to_ns(w, s->begin), end = chrome_to_ns(w, s->end);
    if (!t)
        return false;
    if (!s->nests || t->open) {
        w->apart++;
        return write_apart(w, s, 'b', begin) && write_apart(w, s, 'e', end);
    }
    chrome_begin_event(w, 'X');
    if (!put_span_names(w, s) || !chrome_put_place(w, s->track, begin))
        return false;
    chrome_put(&w->line, ",\"dur\":");
    put_microseconds(&w->line, end - begin);
    put_span_args(w, s);
    return chrome_end_event(w);
}

static bool begin_span(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    tl_span *s;
    if (!tl_spans_begin(&w->spans, b, i, ts, &s))
        return false;
    const tl_pb *args = s ? chrome_args(w, c, b, i) : NULL;
    return !args || (!args->failed && !w->fields.failed && tl_span_keep(&w->spans, s, args->data, args->n));
}

static bool has_field(const tl_class *c, const char *name)
{
    for (uint32_t i = 0; i < c->nfield; i++)
        if (strcmp(c->field[i].name, name) == 0)
            return true;
    return false;
}

/* An end adds what its begin could not know. */
static bool end_span(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    tl_span *s;
    tl_text_writer tw;
    if (!tl_spans_end(&w->spans, b, i, ts, &s))
        return false;
    if (s && b->val) {
        const tl_class_text *text = tl_field_texts_get(&w->fields.texts, c);
        const tl_value *end = b->v + b->val[i + 1], *v = tl_values_skip(b->v + b->val[i], end, c->ncontext);
        bool any = s->nargs > 0;
        tl_pb_clear(&w->args);
        if (!text || !tl_text_open_buffer(&tw, &w->args))
            return false;
        for (uint32_t f = c->ncontext; f < c->nfield && v < end; f++) {
            const tl_value *next = tl_value_skip(v, end);
            if (!has_field(s->cls, c->field[f].name))
                tl_fields_json(&tw, &w->fields, &text->field[f], 1, v, next, &any);
            v = next;
        }
        tl_text_close(&tw);
        if (w->args.failed || w->fields.failed || !tl_span_keep(&w->spans, s, w->args.data, w->args.n))
            return false;
    }
    return tl_spans_flush(&w->spans);
}

/* Gauges */

static bool write_gauge(void *arg, const tl_gauge *g)
{
    chrome_writer *w = arg;
    tl_pb *name = &w->args;
    const tl_track *track = tl_trace_track(w->context.trace, g->track);
    const char *words[] = {g->part, g->suffix, g->of_process || !track ? NULL : track->name};
    tl_pb_clear(name);
    chrome_put(name, g->name);
    for (size_t i = 0; i < TL_COUNT(words); i++)
        if (words[i]) {
            chrome_put(name, " ");
            chrome_put(name, words[i]);
        }
    tl_pb_raw(name, "", 1);
    if (name->failed)
        return false;
    tl_pb *line = chrome_begin_event(w, 'C');
    chrome_put(line, ",\"name\":");
    chrome_put_text(w, (const char *)name->data);
    if (!chrome_put_place(w, g->track, chrome_to_ns(w, g->ts)))
        return false;
    chrome_put(line, ",\"args\":{");
    chrome_put_text(w, g->unit);
    chrome_put(line, ":");
    if (g->is_real) {
        char text[TL_FLOAT_TEXT_MAX];
        tl_pb_raw(line, text, (size_t)(tl_put_double(text, g->real) - text));
    } else {
        chrome_put_u64(line, g->value);
    }
    chrome_put(line, "}");
    return chrome_end_event(w);
}

/* All together */

static chrome_use use_of(const tl_trace *t, const tl_class *c)
{
    const tl_class *other = tl_trace_class(t, c->pair);
    if (c->kind == TL_BEGIN && other && other->kind == TL_END)
        return CHROME_BEGIN;
    if (c->kind == TL_END && other && other->kind == TL_BEGIN)
        return CHROME_END;
    if (c->role == TL_ROLE_CODE)
        return CHROME_CODE;
    return tl_gauge_class(c) ? CHROME_GAUGE : tl_sample_class(c) ? CHROME_SAMPLE : CHROME_EVENT;
}

bool chrome_runtime_init(chrome_writer *w)
{
    const tl_trace *t = w->context.trace;
    w->use = calloc((size_t)t->ncls + 1, sizeof *w->use);
    bool samples = false, calls = false;
    for (uint32_t i = 0; w->use && i < t->ncls; i++) {
        w->use[i] = (uint8_t)use_of(t, &t->cls[i]);
        w->managed = w->managed || w->use[i] != CHROME_EVENT;
        samples = samples || w->use[i] == CHROME_SAMPLE;
        calls = calls || (t->cls[i].kind == TL_ENTER && t->cls[i].key == TL_KEY_FUNCTION);
    }
    w->samples_first = samples && !calls;
    tl_spans_init(&w->spans, t, write_span, w);
    tl_gauges_init(&w->gauges, t, write_gauge, w);
    tl_stack_nodes_init(&w->stacks, t, CHROME_DEPTH_MAX);
    return w->use != NULL;
}

void chrome_runtime_fini(chrome_writer *w)
{
    if (!w->use)
        return;
    tl_spans_fini(&w->spans);
    tl_gauges_fini(&w->gauges);
    tl_stack_nodes_fini(&w->stacks);
    tl_hash_fini(&w->told);
    tl_track_ids_fini(&w->ids);
    free(w->profile);
    free(w->use);
}

bool chrome_runtime_event(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    switch ((chrome_use)w->use[c->id]) {
    case CHROME_BEGIN:
        return begin_span(w, c, b, i, ts);
    case CHROME_END:
        return end_span(w, c, b, i, ts);
    case CHROME_CODE:
        return tl_spans_code(&w->spans, b, i);
    case CHROME_GAUGE:
        return tl_gauges_event(&w->gauges, b, i);
    case CHROME_SAMPLE:
        return chrome_add_sample(w, c, b, i, ts);
    default:
        return true;
    }
}

bool chrome_runtime_finish(chrome_writer *w)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < w->nest.ntrack; i++)
        if (w->nest.track[i].started && w->nest.track[i].last > last)
            last = w->nest.track[i].last;
    bool ok = tl_spans_finish(&w->spans, last) && tl_gauges_finish(&w->gauges);
    for (uint32_t i = 0; ok && i < w->nprofile; i++)
        ok = chrome_end_profile(w, i);
    return ok;
}

void chrome_runtime_report(const chrome_writer *w)
{
    tl_drops *d = w->context.drops;
    tl_drops_add(d, TL_DROP_NO_BEGIN, w->spans.no_begin);
    tl_drops_add(d, "begins still open at the end (closed there)", w->spans.open_at_end);
    tl_drops_add(d, TL_DROP_MANY_SPANS, w->spans.too_many);
    tl_drops_add(d, TL_DROP_LONG_ARGS, w->spans.too_long);
    tl_drops_add(d, TL_DROP_NO_INTERVAL, w->gauges.no_interval);
    tl_drops_add(d, TL_DROP_MANY_PARTS, w->gauges.too_many_parts);
    tl_drops_add(d, TL_DROP_TYPES, w->gauges.types);
    tl_drops_add(d, TL_DROP_MANY_STACKS, w->stacks.too_many + w->too_many_told);
    tl_drops_add(d, "samples of stacks of over 4096 calls (written without the innermost)", w->stacks.cut);
    tl_drops_add(d, "samples beyond 1000 of one event", w->too_many_in_one);
}
