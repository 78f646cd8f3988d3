/* Measurements of processor time, by track. */
#include "analysis/runtime/cpu_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/runtime/latest_names.h"
#include "base/grow.h"

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of processor time");
}

static int add_pause(tl_cpu *c, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    const uint64_t now = tl_runtime_time(r, ev->ts);
    if (ev->cls->role == TL_ROLE_RESUMED) {
        if (c->is_paused)
            c->pause[c->npause - 1].to = now;
        c->is_paused = false;
        return 0;
    }
    if (c->is_paused)
        return 0;
    if (!TL_GROW(c->pause, c->npause, 1, c->pause_capacity))
        return no_memory(e);
    c->pause[c->npause++] = (tl_cpu_pause){now, UINT64_MAX};
    c->is_paused = true;
    return 0;
}

static int on_event(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    tl_cpu *c = arg;
    if (ev->cls->role != TL_ROLE_CPU)
        return add_pause(c, r, ev, e);
    if (!ev->chosen)
        return 0;
    if (!TL_GROW(c->point, c->npoint, 1, c->capacity))
        return no_memory(e);
    const tl_value *used = ev->field[TL_FIELD_USED];
    const bool negative = used && used->type == TL_I64 && used->as.i < 0;
    const bool has_begin = ev->cls->key == TL_KEY_SINCE && ev->key != TL_SINCE_UNKNOWN;
    const tl_cpu_point p = {.begin = has_begin ? tl_runtime_time(r, ev->key) : 0,
                            .end = tl_runtime_time(r, ev->ts),
                            .has_begin = has_begin,
                            .track = ev->track,
                            .used = negative ? 0 : tl_value_number(used),
                            .negative = negative};
    const uint64_t begin = has_begin && p.begin < p.end ? p.begin : p.end;
    c->first = !c->has_span || begin < c->first ? begin : c->first;
    c->last = !c->has_span || p.end > c->last ? p.end : c->last;
    c->has_span = true;
    c->point[c->npoint++] = p;
    return 0;
}

typedef struct named_track {
    const char *name;
    uint32_t track; /* of the trace */
} named_track;

static int by_name(const void *left, const void *right)
{
    const named_track *a = left, *b = right;
    const int order = strcmp(a->name, b->name);
    return order ? order : TL_COMPARE(a->track, b->track);
}

/* Finds the tracks with points; `name` has room for one per point. */
static int list_tracks(const tl_cpu *c, const tl_runtime *r, named_track *name, uint32_t *n, tl_error *e)
{
    tl_hash seen = {0};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < c->npoint; i++) {
        const uint32_t track = c->point[i].track;
        if (tl_hash_get(&seen, track) != TL_HASH_NONE)
            continue;
        status = tl_hash_put(&seen, track, 0) ? 0 : no_memory(e);
        name[(*n)++] = (named_track){tl_runtime_track(r, track), track};
    }
    tl_hash_fini(&seen);
    if (status == 0)
        qsort(name, *n, sizeof *name, by_name);
    return status;
}

static void add_point(tl_cpu_track *t, const tl_cpu_point *p)
{
    t->n++;
    t->negative += p->negative;
    if (!p->has_begin)
        return;
    tl_sum_join(&t->used, tl_sum_times(p->used, TL_CPU_NS_PER_US));
    if (p->end >= p->begin)
        tl_sum_add(&t->elapsed, p->end - p->begin);
    else
        tl_sum_add(&t->elapsed_minus, p->begin - p->end);
}

/* Groups the points by track, in their order. */
static int group_points(tl_cpu *c, const named_track *name, uint32_t n, tl_error *e)
{
    tl_hash index = {0};
    bool fine = true;
    tl_cpu_point *sorted = tl_alloc((size_t)c->npoint + 1, sizeof *sorted);
    uint32_t *at = calloc((size_t)n + 1, sizeof *at);
    c->track = calloc((size_t)n + 1, sizeof *c->track);
    for (uint32_t i = 0; fine && c->track && i < n; i++) {
        c->track[i].name = tl_strings_get(&c->strings, name[i].name, strlen(name[i].name));
        fine = c->track[i].name && tl_hash_put(&index, name[i].track, i);
    }
    if (!fine || !sorted || !at || !c->track) {
        free(sorted);
        free(at);
        tl_hash_fini(&index);
        return no_memory(e);
    }
    c->n = n;
    for (uint32_t i = 0; i < c->npoint; i++) {
        c->point[i].track = tl_hash_get(&index, c->point[i].track);
        add_point(&c->track[c->point[i].track], &c->point[i]);
    }
    for (uint32_t i = 0, first = 0; i < n; first += c->track[i++].n)
        at[i] = c->track[i].first = first;
    for (uint32_t i = 0; i < c->npoint; i++)
        sorted[at[c->point[i].track]++] = c->point[i];
    free(c->point);
    c->point = sorted;
    free(at);
    tl_hash_fini(&index);
    return 0;
}

int tl_cpu_read(void *table, tl_source *s, const tl_select *select, tl_error *e)
{
    tl_cpu *c = table;
    static const tl_runtime_visitor visitor = {
        .roles = 1u << TL_ROLE_CPU | 1u << TL_ROLE_PAUSED | 1u << TL_ROLE_RESUMED, .event = on_event};
    tl_runtime r;
    uint32_t n = 0;
    int status = tl_runtime_read(&r, s, select, &visitor, c, e);
    if (status < 0)
        return status;
    named_track *name = tl_alloc((size_t)c->npoint + 1, sizeof *name);
    status = name ? list_tracks(c, &r, name, &n, e) : no_memory(e);
    if (status == 0)
        status = group_points(c, name, n, e);
    free(name);
    return status;
}

/* For a point with a length. */
static double busy(const tl_cpu_point *p)
{
    return (double)p->used * TL_CPU_NS_PER_US / (double)(p->end - p->begin);
}

/* A picture over time: n columns. */
typedef struct columns {
    uint64_t from, to;
    unsigned n;
} columns;

/* Adds value to the columns that begin .. end covers, in proportion, and the covered part to `covered`. */
static void cover(const columns *c, uint64_t begin, uint64_t end, double value, double *sum, double *covered)
{
    if (end <= begin || end <= c->from || begin >= c->to)
        return;
    const double column = (double)(c->to - c->from) / c->n;
    const double left = begin > c->from ? (double)(begin - c->from) / column : 0,
                 right = end < c->to ? (double)(end - c->from) / column : c->n;
    for (unsigned i = (unsigned)left; i < c->n && i < right; i++) {
        const double part = (i + 1 < right ? i + 1 : right) - (i > left ? i : left);
        covered[i] += part;
        if (sum)
            sum[i] += value * part;
    }
}

int tl_cpu_columns(const tl_cpu *c, uint32_t track, uint64_t from, uint64_t to, double *value, unsigned n, tl_error *e)
{
    const tl_cpu_track *t = &c->track[track];
    const columns picture = {from, to, n};
    double *covered = calloc((size_t)n + 1, 2 * sizeof *covered), *paused = covered + n;
    if (!covered)
        return no_memory(e);
    for (unsigned i = 0; i < n; i++)
        value[i] = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_cpu_point *p = &c->point[t->first + i];
        if (p->has_begin && p->end > p->begin)
            cover(&picture, p->begin, p->end, busy(p), value, covered);
    }
    for (uint32_t i = 0; i < c->npause; i++)
        cover(&picture, c->pause[i].from, c->pause[i].to, 0, NULL, paused);
    for (unsigned i = 0; i < n; i++) {
        const bool gap = paused[i] > 0.5 && covered[i] > 0;
        value[i] = gap ? TL_CPU_GAP : covered[i] > 0 ? value[i] / covered[i] : TL_CPU_NO_DATA;
    }
    free(covered);
    return 0;
}

double tl_cpu_peak(const tl_cpu *c, uint32_t track)
{
    const tl_cpu_track *t = &c->track[track];
    double peak = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_cpu_point *p = &c->point[t->first + i];
        if (p->has_begin && p->end > p->begin && busy(p) > peak)
            peak = busy(p);
    }
    return peak;
}

void tl_cpu_fini(void *table)
{
    tl_cpu *c = table;
    free(c->track);
    free(c->point);
    free(c->pause);
    tl_strings_fini(&c->strings);
    *c = (tl_cpu){0};
}
