/* Time lines: spans, gauges and samples, the end, and counts of what was left out. */
#include "model/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/base_name.h"
#include "model/field_text.h"

/* Drawing for tl_spans and tl_gauges */

static bool draw_span(void *timeline, const tl_span *s)
{
    tl_timeline *t = timeline;
    return t->drawing->span(t, s, tl_timeline_ns(t, s->begin), tl_timeline_ns(t, s->end));
}

static bool draw_gauge(void *timeline, const tl_gauge *g)
{
    tl_timeline *t = timeline;
    return t->drawing->gauge(t, g, tl_timeline_ns(t, g->ts));
}

tl_timeline_use tl_timeline_use_of(const tl_trace *t, const tl_class *c)
{
    const tl_class *other = tl_trace_class(t, c->pair);
    if (c->kind == TL_BEGIN && other && other->kind == TL_END)
        return TL_TIMELINE_BEGIN;
    if (c->kind == TL_END && other && other->kind == TL_BEGIN)
        return TL_TIMELINE_END;
    if (c->role == TL_ROLE_CODE)
        return TL_TIMELINE_CODE;
    return tl_gauge_class(c) ? TL_TIMELINE_GAUGE : tl_sample_class(c) ? TL_TIMELINE_SAMPLE : TL_TIMELINE_EVENT;
}

int tl_timeline_init(tl_timeline *t, const tl_write_context *context, const tl_drawing *drawing, tl_error *e)
{
    const tl_trace *trace = context->trace;
    t->context = *context;
    t->drawing = drawing;
    tl_spans_init(&t->spans, trace, draw_span, t);
    tl_gauges_init(&t->gauges, trace, draw_gauge, t);
    tl_stack_nodes_init(&t->stacks, trace, drawing->depth_most);
    t->use = calloc((size_t)trace->ncls + 1, sizeof *t->use);
    if (!t->use)
        return tl_timeline_no_memory(t, e);
    for (uint32_t i = 0; i < trace->ncls; i++) {
        const tl_class *c = &trace->cls[i];
        t->use[i] = (uint8_t)tl_timeline_use_of(trace, c);
        t->managed = t->managed || t->use[i] != TL_TIMELINE_EVENT;
        t->samples = t->samples || t->use[i] == TL_TIMELINE_SAMPLE;
        t->calls = t->calls || (c->kind == TL_ENTER && c->key == TL_KEY_FUNCTION);
    }
    return 0;
}

void tl_timeline_fini(tl_timeline *t)
{
    tl_nest_fini(&t->nest);
    tl_track_ids_fini(&t->ids);
    tl_spans_fini(&t->spans);
    tl_gauges_fini(&t->gauges);
    tl_stack_nodes_fini(&t->stacks);
    free(t->use);
}

int tl_timeline_no_memory(const tl_timeline *t, tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s", t->drawing->no_memory);
}

/* Events of managed runtimes */

/* Keeps what the format draws of the fields with the span: at its begin, and what only its end knows. */
static bool keep_args(tl_timeline *t, const tl_class *c, const tl_batch *b, uint32_t i, tl_span *s)
{
    const tl_pb *args = t->drawing->args(t, c, b, i, s);
    return args && (args->n == 0 || tl_span_keep(&t->spans, s, args->data, args->n));
}

static bool begin_span(tl_timeline *t, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    tl_span *s;
    return tl_spans_begin(&t->spans, b, i, ts, &s) && (!s || keep_args(t, c, b, i, s));
}

static bool end_span(tl_timeline *t, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts)
{
    tl_span *s;
    return tl_spans_end(&t->spans, b, i, ts, &s) && (!s || keep_args(t, c, b, i, s)) && tl_spans_flush(&t->spans);
}

static bool add_samples(tl_timeline *t, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns)
{
    const tl_sample sample = tl_sample_get(b, i, c);
    tl_timeline_samples s = {.track = b->track[i],
                             .count = sample.count,
                             .each = tl_scale_ns(&t->context.trace->scale, sample.weight),
                             .end = ns};
    if (s.count == 0)
        return true;
    const tl_stack_found found = tl_stack_nodes_get(&t->stacks, &sample, &s.node);
    return found == TL_STACK_TOO_MANY || (found == TL_STACK_NODE && t->drawing->samples(t, &s));
}

bool tl_timeline_managed(tl_timeline *t, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts, uint64_t ns)
{
    const tl_drawing *d = t->drawing;
    switch ((tl_timeline_use)t->use[c->id]) {
    case TL_TIMELINE_BEGIN:
        return begin_span(t, c, b, i, ts);
    case TL_TIMELINE_END:
        return end_span(t, c, b, i, ts);
    case TL_TIMELINE_GAUGE:
        return tl_gauges_event(&t->gauges, b, i);
    case TL_TIMELINE_SAMPLE:
        return add_samples(t, c, b, i, ns);
    case TL_TIMELINE_CODE:
        return (!d->code_first || tl_timeline_plain(t, d, c, b, i, ns)) && tl_spans_code(&t->spans, b, i) &&
               (d->code_first || tl_timeline_plain(t, d, c, b, i, ns));
    default:
        return tl_timeline_plain(t, d, c, b, i, ns);
    }
}

/* The end */

int tl_timeline_finish(tl_timeline *t, tl_error *e)
{
    uint64_t last = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < t->nest.ntrack; i++) {
        tl_nest_track *n = &t->nest.track[i];
        t->open_at_end += n->n;
        if (n->started && n->last > last)
            last = n->last;
        if (t->drawing->closes)
            ok = tl_timeline_exit(t, t->drawing, n, i, n->n, tl_timeline_ns(t, n->last));
    }
    return ok && tl_spans_finish(&t->spans, last) && tl_gauges_finish(&t->gauges) ? 0 : tl_timeline_no_memory(t, e);
}

void tl_timeline_report(const tl_timeline *t, uint64_t bad_text)
{
    const struct {
        const char *what;
        uint64_t n;
    } drop[] = {
        {"exits of functions that were not open", t->nest.unmatched_exits},
        {"entries deeper than 1048576 calls", t->nest.too_deep},
        {"counters without a number", t->no_number},
        {"calls without an exit of their own (closed with their caller)", t->closed_early},
        {t->drawing->open_calls, t->open_at_end},
        {"times that went back (moved forward)", t->nest.moved},
        {"times before the begin (moved there)", t->before_begin},
        {"bytes that are not UTF-8 (escaped one by one)", bad_text},
        {TL_DROP_NO_BEGIN, t->spans.no_begin},
        {t->drawing->open_spans, t->spans.open_at_end},
        {TL_DROP_MANY_SPANS, t->spans.too_many},
        {TL_DROP_LONG_ARGS, t->spans.too_long},
        {TL_DROP_NO_INTERVAL, t->gauges.no_interval},
        {TL_DROP_MANY_PARTS, t->gauges.too_many_parts},
        {TL_DROP_TYPES, t->gauges.types},
        {TL_DROP_MANY_STACKS, t->stacks.too_many},
        {t->drawing->deep_stacks, t->stacks.cut},
        {"samples beyond 1000 of one event", t->too_many_in_one},
    };
    for (size_t i = 0; i < TL_COUNT(drop); i++)
        tl_drops_add(t->context.drops, drop[i].what, drop[i].n);
}

/* For drawings */

uint64_t tl_timeline_count(tl_timeline *t, uint64_t samples)
{
    const uint64_t n = samples < TL_TIMELINE_SAMPLES_MAX ? samples : TL_TIMELINE_SAMPLES_MAX;
    t->too_many_in_one += samples - n;
    return n;
}

const char *tl_timeline_process(const tl_timeline *t)
{
    const tl_trace *trace = t->context.trace;
    if (t->context.options->title)
        return t->context.options->title;
    return tl_base_name(trace->exe ? trace->exe : trace->path ? trace->path : "trace");
}

const char *tl_timeline_function(const tl_timeline *t, uint64_t id, char buf[static 24])
{
    const tl_function *f = tl_trace_function(t->context.trace, (int64_t)id);
    if (f && f->name)
        return f->name;
    buf[0] = '#';
    *tl_put_i64(buf + 1, (int64_t)id) = 0;
    return buf;
}

const char *tl_span_title(const tl_span *s)
{
    return s->cls->title ? s->cls->title : s->cls->name;
}

void tl_timeline_words(tl_pb *text, const char *const *word, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++)
        if (word[i]) {
            tl_pb_raw(text, " ", any);
            tl_pb_text(text, word[i]);
            any = true;
        }
}

void tl_timeline_counter_name(tl_pb *text, const tl_class *c, uint32_t field)
{
    const char *word[] = {c->name, c->nfield - c->ncontext > 1 ? c->field[field].name : NULL};
    tl_timeline_words(text, word, TL_COUNT(word));
}

tl_payload tl_payload_of(const tl_class *c, const tl_batch *b, uint32_t i)
{
    tl_payload p = {.cls = c, .field = c->ncontext - 1};
    if (b->val) {
        p.end = b->v + b->val[i + 1];
        p.next = tl_values_skip(b->v + b->val[i], p.end, c->ncontext);
    }
    return p;
}

bool tl_payload_next(tl_payload *p)
{
    p->v = p->next;
    if (++p->field >= p->cls->nfield || p->v >= p->end)
        return false;
    p->next = tl_value_skip(p->v, p->end);
    return true;
}

bool tl_payload_next_number(tl_payload *p)
{
    while (tl_payload_next(p))
        if (p->v->type == TL_U64 || p->v->type == TL_I64 || p->v->type == TL_F64 || p->v->type == TL_BOOL)
            return true;
    return false;
}

static bool has_field(const tl_class *c, const char *name)
{
    for (uint32_t i = 0; i < c->nfield; i++)
        if (strcmp(c->field[i].name, name) == 0)
            return true;
    return false;
}

bool tl_payload_next_new(tl_payload *p, const tl_class *other)
{
    while (tl_payload_next(p))
        if (!has_field(other, p->cls->field[p->field].name))
            return true;
    return false;
}
