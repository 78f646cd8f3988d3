/* Collects begins and ends of garbage collections, and the sizes of the heap. */
#include "analysis/runtime/gc_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/runtime/latest_names.h"
#include "base/grow.h"

#define NOT_CHOSEN UINT32_MAX /* in place of a collection: its begin was not selected */

/* State for one input. */
typedef struct gc_input {
    tl_gc *gc;
    tl_begins open;
    bool failed; /* no memory for names */
} gc_input;

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a table of collections");
}

static const char *keep(gc_input *in, const char *s)
{
    const char *copy = tl_strings_get(&in->gc->strings, s, strlen(s));
    in->failed = in->failed || !copy;
    return copy;
}

static int begin_collection(gc_input *in, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    tl_gc *g = in->gc;
    uint32_t index = NOT_CHOSEN;
    if (ev->chosen) {
        if (!TL_GROW(g->collection, g->n, 1, g->capacity))
            return no_memory(e);
        const char *generations = tl_value_text(ev->field[TL_FIELD_GENERATIONS], &g->strings, &in->failed);
        g->collection[g->n] = (tl_collection){
            .begin = tl_runtime_time(r, ev->ts),
            .track = keep(in, tl_runtime_track(r, ev->track)),
            .reason = tl_value_text(ev->field[TL_FIELD_REASON], &g->strings, &in->failed),
            .generations = generations ? generations : "",
        };
        if (in->failed)
            return no_memory(e);
        index = g->n++;
        g->open++;
    }
    return tl_begins_add(&in->open, ev->cls->id, ev->key, index, e);
}

static void end_collection(gc_input *in, const tl_runtime *r, const tl_runtime_event *ev)
{
    tl_gc *g = in->gc;
    uint32_t index;
    if (!tl_begins_take(&in->open, ev->cls->pair, ev->key, &index)) {
        g->stray_ends += ev->chosen;
        return;
    }
    if (index == NOT_CHOSEN || !ev->in_time)
        return;
    tl_collection *c = &g->collection[index];
    c->end = tl_runtime_time(r, ev->ts);
    c->pause = c->end > c->begin ? c->end - c->begin : 0;
    c->ended = true;
    g->open--;
}

static int add_heap(gc_input *in, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    tl_gc *g = in->gc;
    if (!ev->chosen)
        return 0;
    if (!TL_GROW(g->heap, g->nheap, 1, g->heap_capacity))
        return no_memory(e);
    tl_heap_sizes *h = &g->heap[g->nheap];
    *h = (tl_heap_sizes){.ts = tl_runtime_time(r, ev->ts), .first = g->nsize};
    for (tl_runtime_items i = tl_runtime_items_of(ev); tl_runtime_items_next(&i); h->n++) {
        if (!TL_GROW(g->size, g->nsize, 1, g->size_capacity))
            return no_memory(e);
        const char *name = tl_value_text(i.field[TL_FIELD_NAME], &g->strings, &in->failed);
        if (in->failed)
            return no_memory(e);
        g->size[g->nsize++] = (tl_heap_size){.name = name ? name : "?",
                                             .used = tl_value_number(i.field[TL_FIELD_BYTES]),
                                             .reserved = tl_value_number(i.field[TL_FIELD_RESERVED])};
    }
    g->nheap++;
    return 0;
}

static int on_event(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e)
{
    gc_input *in = arg;
    if (ev->cls->role == TL_ROLE_HEAP_SIZES)
        return add_heap(in, r, ev, e);
    if (ev->cls->kind == TL_BEGIN)
        return begin_collection(in, r, ev, e);
    if (ev->cls->kind == TL_END)
        end_collection(in, r, ev);
    return 0;
}

int tl_gc_read(void *table, tl_source *s, const tl_select *select, tl_error *e)
{
    tl_gc *g = table;
    static const tl_runtime_visitor visitor = {.roles = 1u << TL_ROLE_COLLECTION | 1u << TL_ROLE_HEAP_SIZES,
                                               .event = on_event};
    gc_input in = {.gc = g};
    const uint32_t before = g->n;
    tl_runtime r;
    int status = tl_begins_init(&in.open, tl_trace_classes(tl_source_trace(s)), e);
    if (status == 0)
        status = tl_runtime_read(&r, s, select, &visitor, &in, e);
    tl_begins_fini(&in.open);
    if (status < 0)
        return status;
    if (r.has_span)
        g->span += tl_runtime_time(&r, r.last) - tl_runtime_time(&r, r.first);
    for (uint32_t i = before; i < g->n; i++) {
        const tl_collection *c = &g->collection[i];
        g->induced += c->reason && strcmp(c->reason, "induced") == 0;
        for (size_t k = 0; k < 4 && c->generations[k]; k++)
            g->by_generation[k] += c->generations[k] == 't';
    }
    return 0;
}

int tl_gc_pauses(const tl_gc *g, tl_quantiles *out, tl_error *e)
{
    uint64_t *pause = tl_alloc((size_t)g->n + 1, sizeof *pause);
    uint32_t n = 0;
    if (!pause)
        return no_memory(e);
    for (uint32_t i = 0; i < g->n; i++)
        if (g->collection[i].ended)
            pause[n++] = g->collection[i].pause;
    *out = tl_quantiles_of(pause, n);
    free(pause);
    return 0;
}

typedef struct kind_pause {
    uint64_t pause;
    uint32_t kind;
    bool ended;
} kind_pause;

static int by_kind(const void *left, const void *right)
{
    const kind_pause *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return TL_COMPARE(a->pause, b->pause);
}

/* The number of a name, given in the order of first use. Names are interned: equal ones have equal pointers. */
static uint32_t number_of(tl_hash *h, const char *name)
{
    const uint64_t key = (uint64_t)(uintptr_t)name;
    const uint32_t known = tl_hash_get(h, key);
    if (known != TL_HASH_NONE)
        return known;
    const uint32_t number = h->n;
    return tl_hash_put(h, key, number) ? number : TL_HASH_NONE;
}

static bool find_kinds(const tl_gc *g, kind_pause *of, tl_gc_kind *kind, uint32_t *nkind)
{
    tl_hash reason = {0}, generations = {0}, both = {0};
    bool fine = true;
    for (uint32_t i = 0; fine && i < g->n; i++) {
        const tl_collection *c = &g->collection[i];
        const uint32_t a = number_of(&reason, c->reason), b = number_of(&generations, c->generations);
        const uint64_t key = (uint64_t)a << 32 | b;
        uint32_t k = tl_hash_get(&both, key);
        fine = a != TL_HASH_NONE && b != TL_HASH_NONE;
        if (fine && k == TL_HASH_NONE) {
            k = *nkind;
            kind[k] = (tl_gc_kind){.reason = c->reason, .generations = c->generations};
            fine = tl_hash_put(&both, key, (*nkind)++);
        }
        if (fine) {
            kind[k].collections++;
            of[i] = (kind_pause){c->pause, k, c->ended};
        }
    }
    tl_hash_fini(&reason);
    tl_hash_fini(&generations);
    tl_hash_fini(&both);
    return fine;
}

int tl_gc_kinds(const tl_gc *g, tl_gc_kind **out, uint32_t *n, tl_error *e)
{
    kind_pause *of = tl_alloc((size_t)g->n + 1, sizeof *of);
    tl_gc_kind *kind = tl_alloc((size_t)g->n + 2, sizeof *kind); /* one more for their sum */
    uint64_t *pause = tl_alloc((size_t)g->n + 1, sizeof *pause);
    uint32_t kinds = 0;
    if (!of || !kind || !pause || !find_kinds(g, of, kind, &kinds)) {
        free(of);
        free(kind);
        free(pause);
        return no_memory(e);
    }
    qsort(of, g->n, sizeof *of, by_kind);
    for (uint32_t i = 0, k = 0; k < kinds; k++) {
        uint32_t ended = 0;
        for (; i < g->n && of[i].kind == k; i++)
            if (of[i].ended)
                pause[ended++] = of[i].pause;
        kind[k].pause = tl_quantiles_of(pause, ended);
    }
    free(of);
    free(pause);
    *out = kind;
    *n = kinds;
    return 0;
}

typedef struct long_pause {
    uint64_t pause;
    uint32_t index;
} long_pause;

static int longest_first(const void *left, const void *right)
{
    const long_pause *a = left, *b = right;
    if (a->pause != b->pause)
        return a->pause > b->pause ? -1 : 1;
    return TL_COMPARE(a->index, b->index);
}

int tl_gc_longest(const tl_gc *g, uint32_t most, uint32_t **out, uint32_t *n, tl_error *e)
{
    long_pause *all = tl_alloc((size_t)g->n + 1, sizeof *all);
    uint32_t *index = tl_alloc((size_t)g->n + 1, sizeof *index), count = 0;
    if (!all || !index) {
        free(all);
        free(index);
        return no_memory(e);
    }
    for (uint32_t i = 0; i < g->n; i++)
        if (g->collection[i].ended)
            all[count++] = (long_pause){g->collection[i].pause, i};
    qsort(all, count, sizeof *all, longest_first);
    if (most && count > most)
        count = most;
    for (uint32_t i = 0; i < count; i++)
        index[i] = all[i].index;
    free(all);
    *out = index;
    *n = count;
    return 0;
}

void tl_gc_fini(void *table)
{
    tl_gc *g = table;
    free(g->collection);
    free(g->heap);
    free(g->size);
    tl_strings_fini(&g->strings);
    *g = (tl_gc){0};
}
