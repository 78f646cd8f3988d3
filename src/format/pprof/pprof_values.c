/* Weights of samples as values of pprof, and lines as locations. */
#include "format/pprof/pprof_values.h"

#include <string.h>

#include "model/trace_impl.h"

static void add(pprof_values *v, const char *name, const char *unit, uint32_t weight)
{
    v->name[v->n] = name;
    v->unit[v->n] = unit;
    v->weight[v->n++] = weight;
}

static bool is_of_allocations(const tl_weight *w)
{
    return strncmp(w->name, "alloc", 5) == 0;
}

/* The time that every sample represents, or 1 if they differ. */
static uint64_t period_of(const tl_profile *p)
{
    uint32_t samples = UINT32_MAX, time = UINT32_MAX;
    uint64_t period = 0, product;
    for (uint32_t i = 0; i < p->nweight; i++) {
        if (strcmp(p->kind[i].name, "samples") == 0)
            samples = i;
        else if (strcmp(p->kind[i].unit, "nanoseconds") == 0)
            time = i;
    }
    if (samples == UINT32_MAX || time == UINT32_MAX || p->clock.hz == 0)
        return 1;
    for (uint32_t i = 1; i < p->nplace; i++) {
        const uint64_t n = tl_profile_weight_self(p, i, samples), ticks = tl_profile_weight_self(p, i, time);
        if (n == 0 && ticks == 0)
            continue;
        if (n > 0 && period == 0)
            period = ticks / n;
        if (period == 0 || __builtin_mul_overflow(period, n, &product) || product != ticks)
            return 1;
    }
    return period ? tl_scale_ns(&p->scale, period) : 1;
}

/* When the trace was taken; pprof shows which share of that time was sampled. */
static void add_times(pprof_values *v, const tl_profile *p)
{
    if (!p->has_span || p->clock.hz == 0)
        return;
    const uint64_t begin = tl_scale_ns(&p->scale, p->begin), end = tl_scale_ns(&p->scale, p->end);
    v->duration = end - begin <= INT64_MAX ? end - begin : 0;
    if (p->clock.has_utc && p->clock.utc_offset_ns > 0 && begin <= (uint64_t)(INT64_MAX - p->clock.utc_offset_ns))
        v->begin = (uint64_t)p->clock.utc_offset_ns + begin;
}

void pprof_values_init(pprof_values *v, const tl_profile *p)
{
    const char *time = p->clock.hz ? "nanoseconds" : "ticks";
    *v = (pprof_values){.period = 1};
    if (!p->nweight) {
        const char *unit = tl_clock_unit(&p->clock);
        const bool insns = strcmp(unit, "instructions") == 0;
        v->shown = insns ? unit : "time";
        add(v, "calls", "count", 0);
        add(v, v->shown, insns ? "count" : time, 0);
        return;
    }
    bool some[2] = {false, false}; /* of samples, of allocations */
    for (uint32_t i = 0; i < p->nweight; i++)
        if (i == p->weight || tl_profile_weight_sum(p, i) > 0)
            some[is_of_allocations(&p->kind[i])] = true;
    for (uint32_t i = 0; i < p->nweight && v->n < TL_SAMPLE_WEIGHTS; i++) {
        const tl_weight *w = &p->kind[i];
        if (some[is_of_allocations(w)])
            add(v, w->name, strcmp(w->unit, "nanoseconds") == 0 ? time : w->unit, i);
    }
    v->shown = p->kind[p->weight].name;
    v->period = period_of(p);
    add_times(v, p);
}

void pprof_place_values(const pprof_values *v, const tl_profile *p, uint32_t place, uint64_t *value)
{
    for (uint32_t i = 0; i < v->n; i++)
        value[i] = tl_profile_weight_value(p, v->weight[i], tl_profile_weight_self(p, place, v->weight[i]));
}

bool pprof_same_function(const tl_profile *p, const tl_function *a, const tl_function *b)
{
    const uint32_t ignored = TL_FUNCTION_OFFSET;
    /* Strings of a profile are interned. An unknown file sorts first, and matches any. */
    return p->nweight && a->id == b->id && ((a->flags ^ b->flags) & ~ignored) == 0 && a->module == b->module &&
           a->name == b->name && (a->file == b->file || !a->file) && a->library == b->library &&
           a->renamed == b->renamed;
}

const char *pprof_function_file(const tl_profile *p, const uint32_t *order, uint32_t i)
{
    const tl_function *f = &p->function[order[i]];
    if (!p->nweight)
        return f->file;
    while (!f->file && i + 1 < p->nfunction && pprof_same_function(p, f, &p->function[order[i + 1]]))
        f = &p->function[order[++i]];
    return f->file;
}
