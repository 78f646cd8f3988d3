/* Pass over all events of function traces whose functions are addresses. */
#include "op/symbols/discover.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/pair_map.h"
#include "model/event_thread.h"
#include "op/symbols/module_names.h"

#define FUNCTIONS_MAX (1u << 20) /* functions to name; a program has some ten thousand */
#define MODULES_MAX   65536u     /* binaries, over all processes of a trace */

struct tl_discovery {
    tl_thread_fields *fields; /* [ncls] */
    tl_pair_table thread;     /* pid and tid -> track */
    tl_module *module;
    uint32_t nmodule, module_capacity;
    bool many_modules, many_functions; /* the limits were exceeded */
    tl_hash module_at;                 /* base -> module */
    tl_hash alias; /* address of a function -> index in the trace's list of the same one at another address */
};

/* A value of the payload, by name; NULL if there is none. */
static const tl_value *payload_value(const tl_class *c, const tl_batch *b, uint32_t i, const char *name)
{
    return tl_event_value(b, i, tl_class_find_field(c, false, name));
}

static bool has_field(const tl_class *c, const char *name)
{
    return tl_class_find_field(c, false, name) != TL_NO_FIELD;
}

static bool is_call(const tl_class *c)
{
    return c->kind == TL_ENTER || c->kind == TL_EXIT;
}

bool tl_discover_wanted(const tl_trace *t)
{
    for (uint32_t i = 0; i < t->ncls; i++)
        if (is_call(&t->cls[i]) && t->cls[i].by_address)
            return true;
    return false;
}

/* Whether entries or exits name their thread by a context field. */
static bool names_threads(const tl_trace *t)
{
    for (uint32_t i = 0; i < t->ncls; i++)
        if (is_call(&t->cls[i]) && tl_thread_fields_of(&t->cls[i]).tid != TL_NO_FIELD)
            return true;
    return false;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the functions and threads of the trace");
}

static int add_thread(tl_source *s, const tl_batch *b, uint32_t i, tl_error *e)
{
    struct tl_discovery *d = s->discovery;
    tl_event_thread thread;
    if (!tl_event_thread_get(&d->fields[b->cls[i]], b, i, &thread) ||
        tl_pair_table_find(&d->thread, (uint64_t)thread.pid, (uint64_t)thread.tid))
        return 0;
    char name[TL_THREAD_NAME_ROOM];
    uint32_t *track = tl_pair_table_at(&d->thread, (uint64_t)thread.pid, (uint64_t)thread.tid);
    if (!track)
        return no_memory(e);
    return tl_trace_add_track(&s->trace,
                              &(tl_track){.name = tl_event_thread_name(thread.tid, name),
                                          .pid = thread.pid,
                                          .tid = thread.tid,
                                          .has_pid = thread.has_pid,
                                          .has_tid = true},
                              track, e);
}

static tl_module *module_at(struct tl_discovery *d, uint64_t base)
{
    const uint32_t known = tl_hash_get(&d->module_at, base);
    if (known != TL_HASH_NONE)
        return &d->module[known];
    d->many_modules |= d->nmodule == MODULES_MAX;
    if (d->many_modules)
        return NULL;
    if (!TL_GROW(d->module, d->nmodule, 1, d->module_capacity) || !tl_hash_put(&d->module_at, base, d->nmodule))
        return NULL;
    d->module[d->nmodule] = (tl_module){.base = base};
    return &d->module[d->nmodule++];
}

/* An event about a binary: its place, size and path, or its build-id. */
static int add_module(tl_source *s, const tl_class *c, const tl_batch *b, uint32_t i, tl_error *e)
{
    const tl_value *base = payload_value(c, b, i, "baddr"), *size = payload_value(c, b, i, "memsz");
    const tl_value *path = payload_value(c, b, i, "path"), *id = payload_value(c, b, i, "build_id");
    if (!base || base->type != TL_U64 || (!path && !id))
        return 0;
    tl_module *m = module_at(s->discovery, base->as.u);
    if (!m)
        return 0; /* its functions stay without names */
    if (path && path->type == TL_STRING && size && size->type == TL_U64) {
        char *copy = tl_arena_strndup(&s->trace.strings.arena, path->as.p, path->n);
        if (!copy)
            return no_memory(e);
        const tl_value *pic = payload_value(c, b, i, "is_pic");
        m->path = copy;
        m->size = size->as.u;
        m->is_absolute = pic && pic->as.u == 0;
    } else if (id && id->type == TL_LIST && id->n <= 64) {
        for (uint32_t k = 0; k < id->n; k++)
            snprintf(m->build_id + (size_t)2 * k, 3, "%02x", (unsigned)(id[1 + k].as.u & 0xff));
    }
    return 0;
}

static int look_at(tl_source *s, const tl_batch *b, const bool *tells, tl_error *e)
{
    tl_trace *t = &s->trace;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < b->n; i++) {
        const tl_class *c = &t->cls[b->cls[i]];
        if (tells[c->id])
            status = add_module(s, c, b, i, e);
        if (!is_call(c))
            continue;
        if (status == 0)
            status = add_thread(s, b, i, e);
        if (status < 0 || !c->by_address || !b->key[i] || tl_trace_function(t, (int64_t)b->key[i]))
            continue;
        if (t->nfunction < FUNCTIONS_MAX)
            status = tl_trace_add_function(t, &(tl_function){.id = (int64_t)b->key[i]}, e);
        else
            s->discovery->many_functions = true;
    }
    return status;
}

static int read_all(tl_source *s, tl_error *e)
{
    const tl_want want = tl_source_want(s, true);
    bool *tells = calloc((size_t)s->trace.ncls + 1, sizeof *tells);
    if (!tells)
        return no_memory(e);
    for (uint32_t i = 0; i < s->trace.ncls; i++) {
        const tl_class *c = &s->trace.cls[i];
        tells[i] = has_field(c, "baddr") && (has_field(c, "path") || has_field(c, "build_id"));
    }
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < tl_source_streams(s); i++) {
        tl_cursor *c = NULL;
        const tl_batch *b;
        status = tl_cursor_open_want(&c, s, i, &want, NULL, e);
        while (status == 0 && (status = tl_cursor_next(c, &b, e)) > 0)
            status = look_at(s, b, tells, e);
        tl_cursor_close(c);
    }
    free(tells);
    return status;
}

/* Processes have the same function at different addresses: all are mapped to the first. Texts are interned: equal ones
 * have the same pointer. */
static int find_aliases(tl_source *s, tl_error *e)
{
    const tl_trace *t = &s->trace;
    tl_pair_map names = {0}, places = {0}; /* name and module; the number of these, and address */
    uint32_t *first = tl_alloc((size_t)t->nfunction + 1, sizeof *first); /* [places.n] */
    bool ok = first != NULL;
    for (uint32_t i = 0; ok && i < t->nfunction; i++) {
        const tl_function *f = &t->function[i];
        if (!f->name)
            continue;
        const uint32_t name = tl_pair_map_number(&names, (uintptr_t)f->name, (uintptr_t)f->module);
        const uint32_t n = places.n, place = tl_pair_map_number(&places, name, f->address);
        ok = name != TL_HASH_NONE && place != TL_HASH_NONE;
        if (ok && place == n)
            first[place] = i;
        else if (ok)
            ok = tl_hash_put(&s->discovery->alias, (uint64_t)f->id, first[place]);
    }
    free(first);
    tl_pair_map_fini(&names);
    tl_pair_map_fini(&places);
    return ok ? 0 : no_memory(e);
}

/* Notes on omissions by limits. */
static int report_limits(tl_source *s, tl_error *e)
{
    tl_damage note = {.offset = TL_NO_OFFSET, .kind = TL_DAMAGE_NOTE, .rule = "symbols.many-functions"};
    int status = 0;
    if (s->discovery->many_functions)
        status = tl_trace_report(&s->trace, e, &note, "only the first %u functions are named", FUNCTIONS_MAX);
    note.rule = "symbols.many-modules";
    if (status == 0 && s->discovery->many_modules)
        status = tl_trace_report(&s->trace, e, &note, "only functions of the first %u binaries are named", MODULES_MAX);
    return status;
}

int tl_discover(tl_source *s, tl_error *e)
{
    if (s->discovery)
        return 0;
    s->discovery = calloc(1, sizeof *s->discovery);
    if (!s->discovery || !(s->discovery->fields = tl_thread_fields_new(&s->trace)))
        return no_memory(e);
    int status = read_all(s, e);
    if (status == 0)
        status = report_limits(s, e);
    if (status == 0)
        status = tl_name_modules(s, s->discovery->module, s->discovery->nmodule, e);
    return status < 0 ? status : find_aliases(s, e);
}

int tl_discover_calls(tl_source *s, tl_error *e)
{
    return tl_discover_wanted(&s->trace) || names_threads(&s->trace) ? tl_discover(s, e) : 0;
}

void tl_discovery_free(struct tl_discovery *d)
{
    if (!d)
        return;
    tl_pair_table_fini(&d->thread);
    free(d->fields);
    tl_hash_fini(&d->module_at);
    tl_hash_fini(&d->alias);
    free(d->module);
    free(d);
}

/* ---- batches by thread ---- */

struct tl_thread_view {
    tl_source *source;
    tl_batch batch;
    uint64_t id[TL_BATCH_MAX];
};

int tl_thread_view_new(tl_thread_view **out, tl_source *s, tl_error *e)
{
    tl_thread_view *v = calloc(1, sizeof *v);
    if (!v)
        return no_memory(e);
    v->source = s;
    int status = tl_batch_init(&v->batch, &s->trace, &(tl_want){.cpu = true}, TL_BATCH_MAX, e);
    if (status < 0) {
        free(v);
        return status;
    }
    *out = v;
    return 0;
}

const tl_batch *tl_thread_view_batch(tl_thread_view *v, const tl_batch *b, uint32_t from, uint32_t to)
{
    const struct tl_discovery *d = v->source->discovery;
    tl_batch *out = &v->batch;
    out->n = 0;
    for (uint32_t i = from; i < to; i++) {
        const tl_class *c = &v->source->trace.cls[b->cls[i]];
        tl_event_thread thread;
        if (!is_call(c))
            continue;
        const uint32_t *track = NULL;
        if (tl_event_thread_get(&d->fields[b->cls[i]], b, i, &thread))
            track = tl_pair_table_find(&d->thread, (uint64_t)thread.pid, (uint64_t)thread.tid);
        const uint32_t n = out->n++;
        const uint32_t alias = c->by_address ? tl_hash_get(&d->alias, b->key[i]) : TL_HASH_NONE;
        v->id[n] = tl_event_id(b, i);
        out->ts[n] = b->ts[i];
        out->key[n] = alias == TL_HASH_NONE ? b->key[i] : (uint64_t)v->source->trace.function[alias].id;
        out->cls[n] = b->cls[i];
        out->track[n] = track ? *track : b->track[i];
        out->cpu[n] = b->cpu ? b->cpu[i] : -1;
    }
    return out;
}

const uint64_t *tl_thread_view_ids(const tl_thread_view *v)
{
    return v->id;
}

void tl_thread_view_free(tl_thread_view *v)
{
    if (!v)
        return;
    tl_batch_fini(&v->batch);
    free(v);
}
