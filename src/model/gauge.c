/* Gauges: turns fields with roles into values over time. */
#include "model/gauge.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/field_text.h"
#include "model/histogram.h"
#include "model/span.h"

/* The number of a gauge: its kind, combined with the index of the part for those with parts. */
enum { CPU, ALLOCATED, LIVE_BYTES, LIVE_OBJECTS, HEAP_USED, HEAP_RESERVED };
#define ID(kind, part) ((uint32_t)(part)*8u + (uint32_t)(kind))

struct tl_gauge_track {
    bool shown;     /* a value is valid ... */
    uint64_t until; /* ... up to here */
};

struct tl_gauge_process {
    uint64_t allocated, last;
};

void tl_gauges_init(tl_gauges *g, const tl_trace *t, tl_gauge_write *write, void *arg)
{
    g->trace = t;
    g->write = write;
    g->arg = arg;
}

void tl_gauges_fini(tl_gauges *g)
{
    free(g->track);
    free(g->process);
    tl_pair_map_fini(&g->processes);
    tl_strings_fini(&g->names);
    *g = (tl_gauges){0};
}

bool tl_gauge_class(const tl_class *c)
{
    return c->role == TL_ROLE_ALLOCATION || c->role == TL_ROLE_LIVE_OBJECTS || c->role == TL_ROLE_HEAP_SIZES ||
           (c->role == TL_ROLE_CPU && c->key == TL_KEY_SINCE);
}

static struct tl_gauge_track *get_track(tl_gauges *g, uint32_t track)
{
    return TL_GROW_TO(g->track, g->ntrack, track, TL_TRACKS_MAX) ? &g->track[track] : NULL;
}

/* The process of a track: by its pid, and by the part of a joined trace. */
static struct tl_gauge_process *get_process(tl_gauges *g, uint32_t track)
{
    const tl_track *t = tl_trace_track(g->trace, track);
    const uint64_t part = t ? (uintptr_t)t->property : 0, pid = t && t->has_pid ? (uint64_t)t->pid : 0;
    const uint32_t at = tl_pair_map_number(&g->processes, part, pid);
    if (at == TL_HASH_NONE || !TL_GROW_TO(g->process, g->nprocess, at, UINT32_MAX))
        return NULL;
    return &g->process[at];
}

static bool put_cpu(tl_gauges *g, uint32_t track, uint64_t ts, double percent)
{
    const tl_gauge v = {
        .id = ID(CPU, 0), .name = "CPU", .unit = "%", .track = track, .ts = ts, .is_real = true, .real = percent};
    return g->write(g->arg, &v);
}

/* A value is written where its interval begins, and a 0 where it ends unless the next one begins there. */
static bool add_cpu(tl_gauges *g, const tl_class *c, const tl_batch *b, uint32_t i)
{
    const tl_value *used = tl_role_value(b, i, c, TL_FIELD_USED, NULL);
    uint64_t since = b->key[i];
    const uint64_t ts = b->ts[i];
    const uint64_t ns = since < ts ? tl_scale_ns(&g->trace->scale, ts - since) : 0;
    struct tl_gauge_track *t = get_track(g, b->track[i]);
    if (!t)
        return false;
    if (since == TL_SINCE_UNKNOWN)
        return true; /* the first of its track: no interval yet */
    if (ns == 0 || g->trace->clock.hz == 0 || !used || (used->type != TL_U64 && used->type != TL_I64) ||
        (t->shown && ts <= t->until)) {
        g->no_interval++;
        return true;
    }
    if (t->shown && since > t->until && !put_cpu(g, b->track[i], t->until, 0))
        return false;
    if (t->shown && since < t->until)
        since = t->until;
    t->shown = true;
    t->until = ts;
    const bool negative = used->type == TL_I64 && used->as.i < 0; /* the clock went back */
    const double percent = negative ? 0 : (double)used->as.u * 100e3 / (double)ns;
    const double rounded = percent < 1e9 ? (double)(uint64_t)(percent * 100 + 0.5) / 100 : percent;
    return put_cpu(g, b->track[i], since, rounded);
}

/* A walk over a list of structs whose members have roles. */
typedef struct items {
    const tl_field *member;
    uint32_t nmember, left;
    const tl_value *v, *end;
} items;

static items items_of(const tl_batch *b, uint32_t i, const tl_class *c)
{
    const tl_field *f = NULL;
    const tl_value *v = tl_role_value(b, i, c, TL_FIELD_ITEMS, &f);
    items walk = {0};
    if (v && v->type == TL_LIST && f->nmember > 0 && f->member[0].type == TL_STRUCT)
        walk = (items){f->member[0].member, f->member[0].nmember, v->n, v + 1, b->v + b->val[i + 1]};
    return walk;
}

/* The members with these roles in the next item, NULL where missing; false: no more items. */
static bool next_item(items *walk, const tl_field_role *role, const tl_value **out, uint32_t n)
{
    if (walk->left == 0 || walk->v >= walk->end)
        return false;
    walk->left--;
    const tl_value *v = walk->v + 1, *end = walk->end;
    const uint32_t members = walk->v->type == TL_STRUCT ? walk->v->n : 0;
    for (uint32_t k = 0; k < n; k++)
        out[k] = NULL;
    walk->v = tl_value_skip(walk->v, end);
    for (uint32_t m = 0; m < members && m < walk->nmember && v < end; m++, v = tl_value_skip(v, end))
        for (uint32_t k = 0; k < n; k++)
            if (walk->member[m].role == role[k])
                out[k] = v;
    return true;
}

static uint64_t number(const tl_value *v)
{
    return v && v->type == TL_U64 ? v->as.u : 0;
}

static bool put_process(tl_gauges *g, uint32_t track, uint64_t ts, uint32_t id, const char *name, const char *unit,
                        uint64_t value)
{
    const tl_gauge v = {
        .id = id, .of_process = true, .name = name, .unit = unit, .track = track, .ts = ts, .value = value};
    return g->write(g->arg, &v);
}

/* Sums of bytes and counts of all items. */
static void sum_items(items walk, uint64_t *bytes, uint64_t *count)
{
    static const tl_field_role role[] = {TL_FIELD_BYTES, TL_FIELD_COUNT};
    const tl_value *v[2];
    *bytes = *count = 0;
    while (next_item(&walk, role, v, 2)) {
        *bytes = tl_add_saturated(*bytes, number(v[0]));
        *count = tl_add_saturated(*count, number(v[1]));
    }
}

/* Threads of one log are not in order of time relative to each other: where they meet, the sum must not go back. */
static bool add_allocated(tl_gauges *g, const tl_class *c, const tl_batch *b, uint32_t i)
{
    uint64_t bytes, count;
    g->types++;
    if (c->key == TL_KEY_WEIGHT && tl_weight_ticks(b->key[i]) == 0)
        return true;
    struct tl_gauge_process *p = get_process(g, b->track[i]);
    if (!p)
        return false;
    sum_items(items_of(b, i, c), &bytes, &count);
    p->allocated = tl_add_saturated(p->allocated, bytes);
    p->last = b->ts[i] > p->last ? b->ts[i] : p->last;
    return put_process(g, b->track[i], p->last, ID(ALLOCATED, 0), "allocated", "bytes", p->allocated);
}

static bool add_live(tl_gauges *g, const tl_class *c, const tl_batch *b, uint32_t i)
{
    uint64_t bytes, count;
    g->types++;
    sum_items(items_of(b, i, c), &bytes, &count);
    return put_process(g, b->track[i], b->ts[i], ID(LIVE_BYTES, 0), "live", "bytes", bytes) &&
           put_process(g, b->track[i], b->ts[i], ID(LIVE_OBJECTS, 0), "live objects", "count", count);
}

/* The index of a part's name; TL_GAUGE_PARTS_MAX: too many, UINT32_MAX: no memory. */
static uint32_t part_index(tl_gauges *g, const tl_value *name)
{
    for (uint32_t i = 0; i < g->nparts; i++)
        if (strlen(g->part[i]) == name->n && (name->n == 0 || memcmp(g->part[i], name->as.p, name->n) == 0))
            return i;
    if (g->nparts == TL_GAUGE_PARTS_MAX)
        return TL_GAUGE_PARTS_MAX;
    g->part[g->nparts] = tl_strings_get(&g->names, name->n ? name->as.p : "", name->n);
    return g->part[g->nparts] ? g->nparts++ : UINT32_MAX;
}

static bool add_heap(tl_gauges *g, const tl_class *c, const tl_batch *b, uint32_t i)
{
    static const tl_field_role role[] = {TL_FIELD_NAME, TL_FIELD_BYTES, TL_FIELD_RESERVED};
    const tl_value *v[3];
    for (items walk = items_of(b, i, c); next_item(&walk, role, v, 3);) {
        if (!v[0] || v[0]->type != TL_STRING)
            continue;
        const uint32_t part = part_index(g, v[0]);
        if (part == UINT32_MAX)
            return false;
        if (part == TL_GAUGE_PARTS_MAX) {
            g->too_many_parts++;
            continue;
        }
        tl_gauge used = {.id = ID(HEAP_USED, part),
                         .of_process = true,
                         .name = "heap",
                         .part = g->part[part],
                         .unit = "bytes",
                         .track = b->track[i],
                         .ts = b->ts[i],
                         .value = number(v[1])};
        tl_gauge reserved = used;
        reserved.id = ID(HEAP_RESERVED, part);
        reserved.suffix = "reserved";
        reserved.value = number(v[2]);
        if (!g->write(g->arg, &used) || (v[2] && !g->write(g->arg, &reserved)))
            return false;
    }
    return true;
}

bool tl_gauges_event(tl_gauges *g, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &g->trace->cls[b->cls[i]];
    switch (c->role) {
    case TL_ROLE_CPU:
        return add_cpu(g, c, b, i);
    case TL_ROLE_ALLOCATION:
        return add_allocated(g, c, b, i);
    case TL_ROLE_LIVE_OBJECTS:
        return add_live(g, c, b, i);
    case TL_ROLE_HEAP_SIZES:
        return add_heap(g, c, b, i);
    default:
        return true;
    }
}

bool tl_gauges_finish(tl_gauges *g)
{
    for (uint32_t i = 0; i < g->ntrack; i++)
        if (g->track[i].shown && !put_cpu(g, i, g->track[i].until, 0))
            return false;
    return true;
}
