/* Reads a source once, and finds the members of its events by role. */
#include "analysis/runtime/runtime_events.h"

#include <stdlib.h>

#include "model/field_text.h"
#include "op/call_select.h"
#include "op/source_impl.h"
#include "op/stream_reader.h"

uint64_t tl_runtime_time(const tl_runtime *r, uint64_t tick)
{
    return tick > r->origin ? tl_trace_time(r->trace, tick - r->origin) : 0;
}

const char *tl_runtime_track(const tl_runtime *r, uint32_t track)
{
    const tl_track *t = tl_trace_track(r->trace, track);
    return t && t->name ? t->name : "?";
}

/* Values of n fields, from `at` on, by the fields' roles. */
static void find_roles(const tl_field *field, uint32_t n, const tl_value *at, const tl_value *end,
                       const tl_value *out[TL_FIELD_ROLES])
{
    for (unsigned i = 0; i < TL_FIELD_ROLES; i++)
        out[i] = NULL;
    for (uint32_t i = 0; i < n && at < end; i++) {
        if (field[i].role < TL_FIELD_ROLES && at->type != TL_ABSENT)
            out[field[i].role] = at;
        if (i + 1 < n)
            at = tl_value_skip(at, end);
    }
}

static const tl_field *items_field(const tl_class *c)
{
    for (uint32_t i = 0; i < c->nfield; i++)
        if (c->field[i].role == TL_FIELD_ITEMS)
            return &c->field[i];
    return NULL;
}

tl_runtime_items tl_runtime_items_of(const tl_runtime_event *ev)
{
    const tl_value *list = ev->field[TL_FIELD_ITEMS];
    const tl_field *field = items_field(ev->cls);
    if (!list || list->type != TL_LIST || !field || field->nmember == 0)
        return (tl_runtime_items){0};
    return (tl_runtime_items){.at = list + 1, .end = ev->end, .left = list->n, .element = field->member};
}

bool tl_runtime_items_next(tl_runtime_items *i)
{
    if (i->left == 0 || i->at >= i->end)
        return false;
    if (i->at->type == TL_STRUCT) {
        const tl_field *f = i->element;
        const uint32_t n = f->nmember < i->at->n ? f->nmember : i->at->n;
        find_roles(f->member, n, i->at + 1, i->end, i->field);
    } else {
        find_roles(i->element, 1, i->at, i->end, i->field);
    }
    i->at = tl_value_skip(i->at, i->end);
    i->left--;
    return true;
}

/* Decided once for the whole pass. */
typedef struct pass {
    tl_runtime *r;
    const tl_runtime_visitor *visitor;
    void *arg;
    bool selects;
    tl_call_select select;
    bool *wanted; /* by class */
} pass;

static bool has_stack(const tl_class *c)
{
    for (uint32_t i = 0; i < c->nfield; i++)
        if (c->field[i].role == TL_FIELD_STACK)
            return true;
    return false;
}

static bool is_on_track(const pass *p, uint32_t track)
{
    if (!p->selects || p->select.select->nthread == 0)
        return true;
    return track < p->select.trace->ntrack && p->select.track[track];
}

static int visit(const pass *p, const tl_batch *b, uint32_t i, bool in_time, bool before, tl_error *e)
{
    tl_runtime_event ev = {.cls = tl_trace_class(p->r->trace, b->cls[i]),
                           .ts = b->ts[i],
                           .key = b->key[i],
                           .track = b->track[i],
                           .in_time = in_time,
                           .on_track = is_on_track(p, b->track[i]),
                           .before = before,
                           .end = b->v + b->val[i + 1]};
    ev.chosen = ev.in_time && ev.on_track;
    find_roles(ev.cls->field, ev.cls->nfield, b->v + b->val[i], ev.end, ev.field);
    return p->visitor->event(p->arg, p->r, &ev, e);
}

static int visit_batch(pass *p, const tl_batch *b, tl_error *e)
{
    tl_runtime *r = p->r;
    const uint32_t classes = tl_trace_classes(r->trace);
    const uint64_t from = p->selects ? p->select.from : 0, to = p->selects ? p->select.to : UINT64_MAX;
    const bool has_to = p->selects && p->select.select->has_to;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < b->n; i++) {
        if (b->cls[i] >= classes)
            continue;
        const uint64_t ts = b->ts[i];
        const bool before = ts < from, in_time = !before && (ts < to || !has_to);
        if (in_time && !(tl_trace_class(r->trace, b->cls[i])->flags & TL_CLASS_TIMELESS)) {
            r->first = !r->has_span || ts < r->first ? ts : r->first;
            r->last = !r->has_span || ts > r->last ? ts : r->last;
            r->has_span = true;
        }
        if (p->wanted[b->cls[i]])
            status = visit(p, b, i, in_time, before, e);
    }
    if (p->visitor->batch_end)
        p->visitor->batch_end(p->arg);
    return status;
}

static int prepare(pass *p, const tl_select *select, tl_error *e)
{
    const tl_trace *t = p->r->trace;
    const uint32_t n = tl_trace_classes(t);
    int status = 0;
    p->wanted = calloc((size_t)n + 1, sizeof *p->wanted);
    if (!p->wanted)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table");
    for (uint32_t i = 0; i < n; i++) {
        const tl_class *c = tl_trace_class(t, i);
        p->wanted[i] = (c->role != TL_ROLE_NONE && p->visitor->roles >> c->role & 1) ||
                       (p->visitor->samples && c->kind == TL_SAMPLE && has_stack(c));
    }
    if (select) {
        status = tl_select_settle_tracks(select, t->track, t->ntrack, e);
        if (status == 0)
            status = tl_call_select_init(&p->select, select, t, p->r->origin, e);
        p->selects = status == 0;
    }
    return status;
}

int tl_runtime_read(tl_runtime *r, tl_source *s, const tl_select *select, const tl_runtime_visitor *visitor, void *arg,
                    tl_error *e)
{
    const tl_trace *t = tl_source_trace(s);
    pass p = {.r = r, .visitor = visitor, .arg = arg};
    uint64_t begin = 0, end = 0;
    *r = (tl_runtime){.source = s, .trace = t};
    if (!tl_trace_clock(t)->from_zero && tl_trace_range(t, &begin, &end))
        r->origin = begin;
    int status = prepare(&p, select, e);
    const tl_want want = tl_source_want(s, true);
    tl_stream_reader *reader = NULL;
    const tl_batch *b;
    if (status >= 0)
        status = tl_stream_reader_open(&reader, s, &want, NULL, e);
    for (uint32_t i = 0; status >= 0 && i < tl_source_streams(s); i++)
        while (status >= 0 && (status = tl_stream_reader_next(reader, i, &b, e)) > 0)
            status = visit_batch(&p, b, e);
    tl_stream_reader_close(reader);
    if (p.selects)
        tl_call_select_fini(&p.select);
    free(p.wanted);
    return status;
}
