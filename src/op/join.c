/* Joins the traces of several sources into one.
 *
 * Classes of the same name and fields become one. Tracks stay apart. A function keeps its id if that is free or means
 * the same function; else it gets a new id above all others. */
#include "op/join.h"

#include <stdlib.h>
#include <string.h>

typedef struct member {
    const tl_trace *trace;
    uint32_t *cls, *track; /* its ids -> joined ids */
    tl_hash function;      /* its function id -> index in `renamed`, for those that change */
    uint64_t begin;        /* its tick that is time 0 */
} member;

struct tl_join {
    tl_trace trace;
    member *member;
    uint32_t n;
    bool one_clock; /* else times are ns since each member's begin */
    int64_t *renamed;
    uint32_t nrenamed, renamed_capacity;
    tl_batch batch;
    tl_value *own_tape; /* of `batch`, while it borrows that of a source */
    struct tl_arena *own_arena;
};

static bool same_fields(const tl_class *a, const tl_class *b)
{
    if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->key != b->key || a->nfield != b->nfield)
        return false;
    for (uint32_t i = 0; i < a->nfield; i++)
        if (strcmp(a->field[i].name, b->field[i].name) != 0 || a->field[i].type != b->field[i].type)
            return false;
    return true;
}

static int join_classes(tl_join *j, tl_error *e)
{
    uint32_t most = 0, n = 0;
    for (uint32_t i = 0; i < j->n; i++)
        most += j->member[i].trace->ncls;
    tl_class *all = malloc((most + 1) * sizeof *all);
    bool ok = all != NULL;
    for (uint32_t i = 0; ok && i < j->n; i++) {
        member *m = &j->member[i];
        m->cls = malloc((m->trace->ncls + 1) * sizeof *m->cls);
        ok = m->cls != NULL;
        for (uint32_t k = 0; ok && k < m->trace->ncls; k++) {
            uint32_t at = 0;
            while (at < n && !same_fields(&all[at], &m->trace->cls[k]))
                at++;
            if (at == n)
                all[n++] = m->trace->cls[k];
            m->cls[k] = at;
        }
    }
    int status = ok ? tl_trace_set_classes(&j->trace, all, n, e)
                    : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to join traces");
    free(all);
    return status;
}

static int join_tracks(tl_join *j, tl_error *e)
{
    for (uint32_t i = 0; i < j->n; i++) {
        member *m = &j->member[i];
        m->track = malloc((m->trace->ntrack + 1) * sizeof *m->track);
        if (!m->track)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to join traces");
        for (uint32_t k = 0; k < m->trace->ntrack; k++) {
            int status = tl_trace_add_track(&j->trace, &m->trace->track[k], &m->track[k], e);
            if (status < 0)
                return status;
        }
    }
    return 0;
}

/* Gives a function of a member a new id. */
static int rename_function(tl_join *j, member *m, int64_t old, int64_t new, tl_error *e)
{
    if (j->nrenamed == j->renamed_capacity) {
        uint32_t capacity = j->renamed_capacity ? 2 * j->renamed_capacity : 64;
        int64_t *larger = realloc(j->renamed, capacity * sizeof *larger);
        if (!larger)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to join traces");
        j->renamed = larger;
        j->renamed_capacity = capacity;
    }
    if (!tl_hash_put(&m->function, (uint64_t)old, j->nrenamed))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to join traces");
    j->renamed[j->nrenamed++] = new;
    return 0;
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int join_functions(tl_join *j, tl_error *e)
{
    int64_t free_id = 1;
    for (uint32_t i = 0; i < j->n; i++)
        for (uint32_t k = 0; k < j->member[i].trace->nfunction; k++)
            if (j->member[i].trace->function[k].id >= free_id && j->member[i].trace->function[k].id < INT64_MAX)
                free_id = j->member[i].trace->function[k].id + 1;
    for (uint32_t i = 0; i < j->n; i++) {
        member *m = &j->member[i];
        for (uint32_t k = 0; k < m->trace->nfunction; k++) {
            tl_function f = m->trace->function[k];
            const tl_function *known = tl_trace_function(&j->trace, f.id);
            int status = 0;
            if (known && !(same_name(known->name, f.name) && same_name(known->module, f.module))) {
                status = rename_function(j, m, f.id, free_id, e);
                f.id = free_id++;
            } else if (known) {
                continue;
            }
            if (status == 0)
                status = tl_trace_add_function(&j->trace, &f, e);
            if (status < 0)
                return status;
        }
    }
    return 0;
}

static int join_clocks(tl_join *j, const uint64_t *begin, uint64_t *time_zero, tl_error *e)
{
    const tl_clock *first = &j->member[0].trace->clock;
    j->one_clock = true;
    *time_zero = UINT64_MAX;
    for (uint32_t i = 0; i < j->n; i++) {
        const tl_trace *t = j->member[i].trace;
        j->one_clock = j->one_clock && t->clock.hz == first->hz && strcmp(t->clock.name, first->name) == 0;
        if (!t->clock.hz != !first->hz)
            return tl_fail(
                e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s has a clock frequency and %s has none: cannot be joined",
                first->hz ? j->member[0].trace->path : t->path, first->hz ? t->path : j->member[0].trace->path);
        *time_zero = begin[i] < *time_zero ? begin[i] : *time_zero;
    }
    if (*time_zero == UINT64_MAX)
        *time_zero = 0;
    if (j->one_clock) {
        tl_trace_set_clock(&j->trace, first->name, first->hz);
        for (uint32_t i = 0; i < j->n; i++)
            j->member[i].begin = *time_zero;
    } else {
        tl_trace_set_clock(&j->trace, "ns", 1000000000);
        *time_zero = 0;
    }
    return 0;
}

int tl_join_new(tl_join **out, tl_source *const *s, uint32_t n, const uint64_t *begin, uint64_t *time_zero, tl_error *e)
{
    tl_join *j = calloc(1, sizeof *j);
    if (!j)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to join traces");
    tl_trace_init(&j->trace);
    j->n = n;
    j->member = calloc(n, sizeof *j->member);
    int status = j->member ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to join traces");
    for (uint32_t i = 0; status == 0 && i < n; i++) {
        j->member[i].trace = &s[i]->trace;
        j->member[i].begin = begin[i];
    }
    if (status == 0) {
        j->trace.path = j->member[0].trace->path;
        j->trace.format = j->member[0].trace->format;
        j->trace.version = j->member[0].trace->version;
        for (uint32_t i = 1; i < n; i++) /* only what all have in common */
            if (strcmp(j->trace.format, j->member[i].trace->format) != 0)
                j->trace.format = "several";
        const tl_want everything = {.fields = true, .cpu = true};
        status = tl_batch_init(&j->batch, &j->trace, &everything, TL_BATCH_MAX, e);
        j->own_tape = j->batch.v;
        j->own_arena = j->batch.arena;
    }
    if (status == 0)
        status = join_clocks(j, begin, time_zero, e);
    if (status == 0)
        status = join_classes(j, e);
    if (status == 0)
        status = join_tracks(j, e);
    if (status == 0)
        status = join_functions(j, e);
    if (status < 0) {
        tl_join_free(j);
        return status;
    }
    *out = j;
    return 0;
}

void tl_join_free(tl_join *j)
{
    if (!j)
        return;
    for (uint32_t i = 0; j->member && i < j->n; i++) {
        free(j->member[i].cls);
        free(j->member[i].track);
        tl_hash_fini(&j->member[i].function);
    }
    free(j->member);
    free(j->renamed);
    j->batch.v = j->own_tape;
    j->batch.arena = j->own_arena;
    tl_batch_fini(&j->batch);
    tl_trace_fini(&j->trace);
    free(j);
}

const tl_trace *tl_join_trace(const tl_join *j)
{
    return &j->trace;
}

uint64_t tl_join_begin(const tl_join *j, uint32_t i)
{
    return j->member[i].begin;
}

uint64_t tl_join_time(const tl_join *j, uint32_t i, uint64_t ts)
{
    const member *m = &j->member[i];
    return j->one_clock ? ts : tl_scale_ns(&m->trace->scale, ts - m->begin);
}

const tl_batch *tl_join_batch(tl_join *j, uint32_t i, const tl_batch *b, uint32_t from, uint32_t to)
{
    const member *m = &j->member[i];
    tl_batch *out = &j->batch;
    out->n = to - from;
    out->v = b->v;
    out->arena = b->arena;
    for (uint32_t k = 0; k < out->n; k++) {
        const uint32_t at = from + k;
        out->ts[k] = tl_join_time(j, i, b->ts[at]);
        out->cls[k] = m->cls[b->cls[at]];
        out->track[k] = m->track[b->track[at]];
        out->key[k] = b->key[at];
        if (m->function.n && m->trace->cls[b->cls[at]].key == TL_KEY_FUNCTION) {
            uint32_t renamed = tl_hash_get(&m->function, b->key[at]);
            if (renamed != TL_HASH_NONE)
                out->key[k] = (uint64_t)j->renamed[renamed];
        }
        out->cpu[k] = b->cpu ? b->cpu[at] : -1;
        out->val[k] = b->val ? b->val[at] : 0;
    }
    out->val[out->n] = b->val ? b->val[to] : 0;
    return out;
}
