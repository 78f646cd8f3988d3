/* Joins the traces of several sources into one.
 *
 * Equal classes become one. Tracks stay separate. A function keeps its id if that is free or means the same function;
 * otherwise it gets a new id above all others. */
#include "op/join.h"
#include "base/text/same_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

typedef struct member {
    const tl_trace *trace;
    uint32_t *cls, *track; /* its ids -> joined ids */
    tl_hash function;      /* its function id -> index in `renamed`, if it changes */
    uint32_t streams;      /* of the members before it */
    uint64_t begin;        /* its tick that is time 0, ... */
    uint64_t early;        /* ... or, if before its tick 0, how many ticks before */
    uint64_t shift;        /* ns from the joined clock's 0 to its own, by the time of day */
    tl_property nothing;   /* tl_track.property of its tracks if it has none: distinguishes them from others' */
} member;

struct tl_join {
    tl_trace trace;
    member *member;
    uint32_t n;
    bool wall_clock; /* times are ns by the time of day */
    int64_t *renamed;
    uint32_t nrenamed, renamed_capacity;
    tl_batch batch;
    tl_value *own_tape; /* memory of `batch`, while it borrows that of a source */
    struct tl_arena *own_arena;
};

#define FIELDS_COMPARED 100000u /* of two classes: with more they count as different, to bound the work */
#define ALIKE_MOST      64u     /* classes of the same name and field names to compare with */

static bool same_mapping(const tl_field *a, const tl_field *b)
{
    if (a->nmapping != b->nmapping)
        return false;
    for (uint32_t i = 0; a->mapping != b->mapping && i < a->nmapping; i++) {
        const tl_mapping *x = &a->mapping[i], *y = &b->mapping[i];
        if (x->low != y->low || x->high != y->high || !tl_same_text(x->label, y->label))
            return false;
    }
    return true;
}

static bool same_fields(const tl_field *a, const tl_field *b, uint32_t n, uint32_t *left)
{
    for (uint32_t i = 0; a != b && i < n; i++, a++, b++) {
        if (*left == 0)
            return false;
        --*left;
        if (!tl_same_text(a->name, b->name) || a->type != b->type || a->nmember != b->nmember || a->bits != b->bits ||
            a->base != b->base || a->context != b->context || a->flags != b->flags || a->length != b->length ||
            a->governor != b->governor || a->role != b->role || !same_mapping(a, b) ||
            !same_fields(a->member, b->member, a->nmember, left))
            return false;
    }
    return true;
}

static bool same_alone(const tl_class *a, const tl_class *b)
{
    uint32_t left = FIELDS_COMPARED;
    return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->key == b->key && a->by_address == b->by_address &&
           a->nfield == b->nfield && a->ncontext == b->ncontext && tl_same_text(a->level, b->level) &&
           a->level_value == b->level_value && a->flags == b->flags && a->scopes == b->scopes && a->role == b->role &&
           tl_same_text(a->title, b->title) && same_fields(a->field, b->field, a->nfield, &left);
}

/* The other class of a begin or an end, or NULL. */
static const tl_class *other_of(const tl_class *c, const tl_trace *t)
{
    return (c->kind == TL_BEGIN || c->kind == TL_END) && c->pair < t->ncls ? &t->cls[c->pair] : NULL;
}

/* Compares two classes and what belongs to them. */
static bool same_class(const tl_class *a, const tl_trace *of_a, const tl_class *b, const tl_trace *of_b)
{
    const tl_class *x = other_of(a, of_a), *y = other_of(b, of_b);
    return same_alone(a, b) && !x == !y && (!x || same_alone(x, y));
}

/* A hash to find classes that may be equal. */
static uint64_t fingerprint(const tl_class *c)
{
    tl_hasher h = tl_hasher_begin();
    tl_hasher_text(&h, c->name);
    tl_hasher_text(&h, c->level);
    tl_hasher_text(&h, c->title);
    tl_hasher_add(&h, (uint64_t)c->kind << 32 | c->ncontext);
    for (uint32_t i = 0; i < c->nfield; i++) {
        const tl_field *f = &c->field[i];
        tl_hasher_text(&h, f->name);
        tl_hasher_add(&h, (uint64_t)f->type << 56 ^ (uint64_t)f->bits << 32 ^ f->length);
        tl_hasher_add(&h, (uint64_t)f->nmember << 32 | f->nmapping);
    }
    return tl_hasher_end(h);
}

/* The classes of all members so far; those with the same fingerprint are linked, newest first. */
typedef struct class_list {
    tl_class *cls;
    const tl_trace **of; /* [n]: where each comes from */
    uint32_t *older;     /* [n]: index + 1 of the previous one with the same fingerprint; 0: none */
    uint32_t n;
    tl_hash newest; /* fingerprint -> index */
} class_list;

/* The index of a class in the list, which has room for it. TL_HASH_NONE when memory runs out. */
static uint32_t list_class(class_list *l, const tl_class *c, const tl_trace *of)
{
    const uint64_t mark = fingerprint(c);
    const uint32_t newest = tl_hash_get(&l->newest, mark);
    uint32_t looked = 0;
    for (uint32_t at = newest == TL_HASH_NONE ? 0 : newest + 1; at > 0 && looked++ < ALIKE_MOST; at = l->older[at - 1])
        if (same_class(&l->cls[at - 1], l->of[at - 1], c, of))
            return at - 1;
    if (!tl_hash_put(&l->newest, mark, l->n))
        return TL_HASH_NONE;
    l->older[l->n] = newest == TL_HASH_NONE ? 0 : newest + 1;
    l->cls[l->n] = *c;
    l->of[l->n] = of;
    return l->n++;
}

/* Sets pairs of classes to joined ids, as in the trace that had them first. */
static void join_pairs(const tl_join *j, class_list *all)
{
    for (uint32_t i = 0; i < j->n; i++) {
        const member *m = &j->member[i];
        for (uint32_t k = 0; k < m->trace->ncls; k++) {
            const tl_class *c = &m->trace->cls[k];
            if (other_of(c, m->trace) && all->of[m->cls[k]] == m->trace)
                all->cls[m->cls[k]].pair = m->cls[c->pair];
        }
    }
}

static int join_classes(tl_join *j, tl_error *e)
{
    size_t most = 1;
    for (uint32_t i = 0; i < j->n; i++)
        most += j->member[i].trace->ncls;
    class_list all = {.cls = tl_alloc(most, sizeof *all.cls),
                      .of = tl_alloc(most, sizeof(*all.of)),
                      .older = tl_alloc(most, sizeof *all.older)};
    bool ok = all.cls && all.of && all.older;
    for (uint32_t i = 0; ok && i < j->n; i++) {
        member *m = &j->member[i];
        m->cls = tl_alloc((size_t)m->trace->ncls + 1, sizeof *m->cls);
        ok = m->cls != NULL;
        for (uint32_t k = 0; ok && k < m->trace->ncls; k++) {
            m->cls[k] = list_class(&all, &m->trace->cls[k], m->trace);
            ok = m->cls[k] != TL_HASH_NONE;
        }
    }
    if (ok)
        join_pairs(j, &all);
    int status = ok ? tl_trace_set_classes(&j->trace, all.cls, all.n, e)
                    : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to join traces");
    free(all.cls);
    free((void *)(uintptr_t)all.of);
    free(all.older);
    tl_hash_fini(&all.newest);
    return status;
}

static int join_tracks(tl_join *j, tl_error *e)
{
    for (uint32_t i = 0; i < j->n; i++) {
        member *m = &j->member[i];
        m->track = tl_alloc(m->trace->ntrack + 1, sizeof *m->track);
        if (!m->track)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to join traces");
        for (uint32_t k = 0; k < m->trace->ntrack; k++) {
            tl_track track = m->trace->track[k];
            track.begin = tl_join_time(j, i, track.begin);
            track.end = tl_join_time(j, i, track.end);
            if (!track.property) {
                track.property = m->trace->nproperty ? m->trace->property : &m->nothing;
                track.nproperty = m->trace->nproperty;
            }
            int status = tl_trace_add_track(&j->trace, &track, &m->track[k], e);
            if (status < 0)
                return status;
        }
    }
    return 0;
}

/* Gives a function of a member a new id. */
static int rename_function(tl_join *j, member *m, int64_t old, int64_t new, tl_error *e)
{
    if (!TL_GROW(j->renamed, j->nrenamed, 1, j->renamed_capacity) ||
        !tl_hash_put(&m->function, (uint64_t)old, j->nrenamed))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to join traces");
    j->renamed[j->nrenamed++] = new;
    return 0;
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
            if (known && !(tl_same_text(known->name, f.name) && tl_same_text(known->module, f.module))) {
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

/* All traces know the time of day and have different clocks: it becomes the common clock. */
static bool has_wall_clock(const tl_join *j, bool one_clock)
{
    const tl_clock *first = &j->member[0].trace->clock;
    bool differ = !one_clock;
    for (uint32_t i = 0; i < j->n; i++) {
        const tl_clock *c = &j->member[i].trace->clock;
        if (!c->has_utc || !c->hz)
            return false;
        differ = differ || c->utc_offset_ns != first->utc_offset_ns;
    }
    return differ;
}

/* Time of the joined clock: ns from the earliest tick 0 of all. */
static void join_wall_clocks(tl_join *j, const uint64_t *begin, uint64_t *time_zero)
{
    int64_t earliest = INT64_MAX;
    for (uint32_t i = 0; i < j->n; i++) {
        const int64_t offset = j->member[i].trace->clock.utc_offset_ns;
        earliest = offset < earliest ? offset : earliest;
    }
    tl_trace_set_clock(&j->trace, "ns", 1000000000);
    j->trace.clock.has_utc = true;
    j->trace.clock.utc_offset_ns = earliest;
    *time_zero = UINT64_MAX;
    for (uint32_t i = 0; i < j->n; i++) {
        member *m = &j->member[i];
        m->shift = (uint64_t)m->trace->clock.utc_offset_ns - (uint64_t)earliest;
        const uint64_t first = begin[i] == UINT64_MAX ? UINT64_MAX : tl_scale_ns(&m->trace->scale, begin[i]) + m->shift;
        *time_zero = first < *time_zero ? first : *time_zero;
    }
    *time_zero = *time_zero == UINT64_MAX ? 0 : *time_zero;
    for (uint32_t i = 0; i < j->n; i++) {
        member *m = &j->member[i];
        m->begin = *time_zero > m->shift ? tl_scale_ticks(&m->trace->scale, *time_zero - m->shift) : 0;
        m->early = *time_zero < m->shift ? tl_scale_ticks(&m->trace->scale, m->shift - *time_zero) : 0;
    }
}

/* No time of one trace is known on the clock of another. */
static int refuse_clocks(const tl_join *j, tl_error *e)
{
    const tl_trace *a = j->member[0].trace, *b = a;
    for (uint32_t i = 1; i < j->n && b == a; i++)
        if (!tl_same_clock(&j->member[i].trace->clock, &a->clock))
            b = j->member[i].trace;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                   "different clocks, and not all know the time of day: %s has %s at %" PRIu64
                   " Hz and %s has %s at %" PRIu64 " Hz; convert them one at a time",
                   a->path, a->clock.name ? a->clock.name : "an unnamed clock", a->clock.hz, b->path,
                   b->clock.name ? b->clock.name : "an unnamed clock", b->clock.hz);
}

static int join_clocks(tl_join *j, const uint64_t *begin, uint64_t *time_zero, tl_error *e)
{
    const tl_clock *first = &j->member[0].trace->clock;
    bool from_zero = true, one_clock = true;
    *time_zero = UINT64_MAX;
    for (uint32_t i = 0; i < j->n; i++) {
        const tl_trace *t = j->member[i].trace;
        from_zero = from_zero && t->clock.from_zero;
        one_clock = one_clock && tl_same_clock(&t->clock, first);
        if (!t->clock.hz != !first->hz)
            return tl_fail(
                e, TL_EUNSUPPORTED, TL_NO_OFFSET, "%s has a clock frequency and %s has none: cannot be joined",
                first->hz ? j->member[0].trace->path : t->path, first->hz ? t->path : j->member[0].trace->path);
        *time_zero = begin[i] < *time_zero ? begin[i] : *time_zero;
    }
    if (*time_zero == UINT64_MAX)
        *time_zero = 0;
    j->wall_clock = has_wall_clock(j, one_clock);
    if (j->wall_clock) {
        join_wall_clocks(j, begin, time_zero);
    } else if (one_clock) {
        tl_trace_set_clock(&j->trace, first->name, first->hz);
        j->trace.clock.has_utc = first->has_utc;
        j->trace.clock.utc_offset_ns = first->utc_offset_ns;
        j->trace.origin = j->member[0].trace->origin;
        for (uint32_t i = 0; i < j->n; i++) {
            const tl_origin *one = &j->member[i].trace->origin, *all = &j->trace.origin;
            if (one->known != all->known || one->ns != all->ns || one->rest != all->rest)
                j->trace.origin = (tl_origin){0};
            j->trace.clock.has_utc = j->trace.clock.has_utc && j->member[i].trace->clock.has_utc;
            j->member[i].begin = *time_zero;
        }
    } else {
        return refuse_clocks(j, e);
    }
    j->trace.clock.from_zero = from_zero;
    return 0;
}

int tl_join_new(tl_join **out, tl_source *const *s, uint32_t n, const uint64_t *begin, uint64_t *time_zero, tl_error *e)
{
    for (uint32_t i = 0; i < n; i++)
        if (s[i]->follow) /* its tracks are not known yet */
            return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                           "%s: a trace that is followed cannot be joined with others", s[i]->trace.path);
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
        j->member[i].streams = i ? j->member[i - 1].streams + tl_source_streams(s[i - 1]) : 0;
    }
    if (status == 0) {
        j->trace.path = j->member[0].trace->path;
        j->trace.format = j->member[0].trace->format;
        j->trace.version = j->member[0].trace->version;
        for (uint32_t i = 1; i < n; i++) { /* keeps what all have in common */
            if (strcmp(j->trace.format, j->member[i].trace->format) != 0)
                j->trace.format = "several";
            if (!tl_same_text(j->trace.version, j->member[i].trace->version))
                j->trace.version = NULL;
        }
        const tl_want everything = {.fields = true, .cpu = true};
        for (uint32_t i = 0; i < n; i++) {
            j->trace.has_aux |= j->member[i].trace->has_aux;
            j->trace.unsorted |= j->member[i].trace->unsorted;
            j->trace.shared_tracks |= j->member[i].trace->shared_tracks;
        }
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

uint64_t tl_join_early(const tl_join *j, uint32_t i)
{
    return j->member[i].early;
}

uint64_t tl_join_time(const tl_join *j, uint32_t i, uint64_t ts)
{
    const member *m = &j->member[i];
    return j->wall_clock ? tl_scale_ns(&m->trace->scale, ts) + m->shift : ts;
}

const tl_batch *tl_join_batch(tl_join *j, uint32_t i, const tl_batch *b, uint32_t from, uint32_t to)
{
    const member *m = &j->member[i];
    tl_batch *out = &j->batch;
    out->n = to - from;
    out->stream = m->streams + b->stream;
    out->first = b->first + from;
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
        if (out->aux)
            out->aux[k] = b->aux ? b->aux[at] : 0;
        out->cpu[k] = b->cpu ? b->cpu[at] : -1;
        out->val[k] = b->val ? b->val[at] : 0;
    }
    out->val[out->n] = b->val ? b->val[to] : 0;
    return out;
}
