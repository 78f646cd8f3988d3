/* Measurements of processor time, by track. */
#include "analysis/runtime/cpu_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/runtime/latest_names.h"
#include "analysis/runtime/list_grow.h"

#define GAP_FACTOR 2 /* an interval of this many usual ones was interrupted */

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of processor time");
}

static int on_event(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    tl_cpu *c = arg;
    if (!ev->chosen)
        return 0;
    tl_cpu_point *room = tl_list_room(c->point, c->npoint, &c->capacity, sizeof *room);
    if (!room)
        return no_memory(e);
    c->point = room;
    const bool has_begin = ev->cls->key == TL_KEY_SINCE && ev->key != TL_SINCE_UNKNOWN;
    const tl_cpu_point p = {.begin = has_begin ? tl_runtime_time(r, ev->key) : 0,
                            .end = tl_runtime_time(r, ev->ts),
                            .has_begin = has_begin,
                            .track = ev->track,
                            .used = tl_value_number(ev->field[TL_FIELD_USED])};
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
    return order ? order : (a->track > b->track) - (a->track < b->track);
}

/* Finds the tracks that have points; `name` has room for one a point. */
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
    if (!p->has_begin)
        return;
    tl_sum_join(&t->used, tl_sum_times(p->used, TL_CPU_NS_PER_US));
    if (p->end >= p->begin)
        tl_sum_add(&t->elapsed, p->end - p->begin);
    else
        tl_sum_add(&t->elapsed_minus, p->begin - p->end);
}

/* Puts the points of each track together, in their order. */
static int group_points(tl_cpu *c, const named_track *name, uint32_t n, tl_error *e)
{
    tl_hash index = {0};
    bool fine = true;
    tl_cpu_point *sorted = malloc(((size_t)c->npoint + 1) * sizeof *sorted);
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

int tl_cpu_read(tl_cpu *c, tl_source *s, const tl_select *select, tl_error *e)
{
    static const tl_runtime_visitor visitor = {.roles = 1u << TL_ROLE_CPU, .event = on_event};
    tl_runtime r;
    uint32_t n = 0;
    int status = tl_runtime_read(&r, s, select, &visitor, c, e);
    if (status < 0)
        return status;
    named_track *name = malloc(((size_t)c->npoint + 1) * sizeof *name);
    status = name ? list_tracks(c, &r, name, &n, e) : no_memory(e);
    if (status == 0)
        status = group_points(c, name, n, e);
    free(name);
    return status;
}

static int by_number(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* How long the intervals of a track usually are: the median. 0 without any. */
static int usual_interval(const tl_cpu *c, uint32_t track, uint64_t *usual, tl_error *e)
{
    const tl_cpu_track *t = &c->track[track];
    uint64_t *length = malloc(((size_t)t->n + 1) * sizeof *length);
    uint32_t n = 0;
    if (!length)
        return no_memory(e);
    for (uint32_t i = 0; i < t->n; i++) {
        const tl_cpu_point *p = &c->point[t->first + i];
        if (p->has_begin && p->end > p->begin)
            length[n++] = p->end - p->begin;
    }
    qsort(length, n, sizeof *length, by_number);
    *usual = n ? length[n / 2] : 0;
    free(length);
    return 0;
}

/* Of a point that has a length. */
static double busy(const tl_cpu_point *p)
{
    return (double)p->used * TL_CPU_NS_PER_US / (double)(p->end - p->begin);
}

/* The part of a point's interval that lies in the picture, in columns; false if none does. */
static bool in_columns(const tl_cpu_point *p, uint64_t from, uint64_t to, unsigned n, double *left, double *right)
{
    if (!p->has_begin || p->end <= p->begin || p->end <= from || p->begin >= to)
        return false;
    const double column = (double)(to - from) / n;
    *left = p->begin > from ? (double)(p->begin - from) / column : 0;
    *right = p->end < to ? (double)(p->end - from) / column : n;
    return true;
}

int tl_cpu_columns(const tl_cpu *c, uint32_t track, uint64_t from, uint64_t to, double *value, unsigned n, tl_error *e)
{
    const tl_cpu_track *t = &c->track[track];
    double *covered = calloc((size_t)n + 1, 2 * sizeof *covered);
    uint64_t usual = 0;
    int status = covered ? usual_interval(c, track, &usual, e) : no_memory(e);
    for (unsigned i = 0; i < n; i++)
        value[i] = 0;
    for (uint32_t i = 0; status == 0 && i < t->n; i++) {
        const tl_cpu_point *p = &c->point[t->first + i];
        const bool gap = (p->end - p->begin) / GAP_FACTOR > usual;
        double left, right;
        if (!in_columns(p, from, to, n, &left, &right))
            continue;
        for (unsigned k = (unsigned)left; k < n && k < right; k++) {
            const double begin = k > left ? k : left, end = k + 1 < right ? k + 1 : right;
            if (gap) {
                covered[n + k] += end - begin;
            } else {
                covered[k] += end - begin;
                value[k] += busy(p) * (end - begin);
            }
        }
    }
    for (unsigned i = 0; status == 0 && i < n; i++)
        value[i] = covered[i] > 0 ? value[i] / covered[i] : covered[n + i] > 0 ? TL_CPU_GAP : TL_CPU_NO_DATA;
    free(covered);
    return status;
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

void tl_cpu_fini(tl_cpu *c)
{
    free(c->track);
    free(c->point);
    tl_strings_fini(&c->strings);
    *c = (tl_cpu){0};
}
