/* Profiles: making and reading places, functions and threads. Numbers are in profile_stat.c. */
#include "model/profile_impl.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "traceloom/trace.h"

int tl_profile_new(tl_profile **out, const tl_clock *clock, tl_error *e)
{
    tl_profile *p = calloc(1, sizeof *p);
    if (!p)
        goto no_memory;
    if (!tl_profile_reserve(p, 16, 16))
        goto no_memory;
    p->place[0] = (tl_place){.function = TL_NO_FUNCTION, .track = TL_NO_TRACK};
    p->stat[0] = (tl_place_stat){.min = UINT64_MAX};
    p->same_next[0] = 0;
    p->nplace = 1;
    p->has_histogram = true;
    p->clock = *clock;
    p->clock.name = tl_profile_intern(p, clock->name);
    if (clock->name && !p->clock.name)
        goto no_memory;
    tl_scale_init(&p->scale, clock->hz);
    *out = p;
    return 0;
no_memory:
    tl_profile_free(p);
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a profile");
}

void tl_profile_free(tl_profile *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->nplace; i++)
        tl_hist_fini(&p->stat[i].hist);
    free(p->place);
    free(p->stat);
    free(p->same_next);
    free(p->function);
    free(p->same_first);
    free(p->track);
    free(p->weight_self);
    free(p->outer_calls);
    free(p->unwound);
    free(p->was);
    free(p->patched);
    tl_place_index_fini(&p->child);
    tl_hash_fini(&p->by_detail);
    tl_id_map_fini(&p->by_id);
    tl_hash_fini(&p->by_track);
    tl_strings_fini(&p->strings);
    free(p);
}

void tl_profile_swap(tl_profile *a, tl_profile *b)
{
    const tl_profile before = *a;
    *a = *b;
    *b = before;
}

static bool reserve_places(tl_profile *p, uint32_t n)
{
    if (n <= p->place_capacity)
        return true;
    if (!TL_RESIZE(p->place, n) || !TL_RESIZE(p->stat, n) || !TL_RESIZE(p->same_next, n))
        return false;
    if (p->nweight &&
        (!tl_resize(&p->weight_self, n, p->nweight * sizeof *p->weight_self) || !TL_RESIZE(p->outer_calls, n)))
        return false;
    if (p->unwound) {
        if (!TL_RESIZE(p->unwound, n))
            return false;
        memset(p->unwound + p->place_capacity, 0, (n - p->place_capacity) * sizeof *p->unwound);
    }
    p->place_capacity = n;
    return true;
}

static bool reserve_functions(tl_profile *p, uint32_t n)
{
    if (n <= p->function_capacity)
        return true;
    if (!TL_RESIZE(p->function, n) || !TL_RESIZE(p->same_first, n))
        return false;
    p->function_capacity = n;
    return true;
}

bool tl_profile_reserve(tl_profile *p, uint32_t places, uint32_t functions)
{
    return reserve_places(p, places) && reserve_functions(p, functions);
}

bool tl_profile_add_unwound(tl_profile *p, uint32_t place, uint64_t n)
{
    if (!p->unwound)
        p->unwound = calloc(p->place_capacity, sizeof *p->unwound);
    if (!p->unwound)
        return false;
    p->unwound[place] = tl_add_saturated(p->unwound[place], n);
    return true;
}

const char *tl_profile_intern(tl_profile *p, const char *s)
{
    return s ? tl_strings_get(&p->strings, s, strlen(s)) : NULL;
}

/* ---- places ---- */

/* A new place; 0 when memory runs out. The caller adds it to an index. */
static uint32_t add_place(tl_profile *p, uint32_t parent, uint32_t function, uint32_t track)
{
    if (p->nplace == TL_PLACES_MAX)
        return 0;
    if (p->nplace == p->place_capacity && !reserve_places(p, 2 * p->place_capacity))
        return 0;
    uint32_t place = p->nplace++;
    p->place[place] = (tl_place){.parent = parent, .function = function, .track = track};
    p->stat[place] = (tl_place_stat){.min = UINT64_MAX};
    p->same_next[place] = 0;
    if (p->nweight) {
        memset(p->weight_self + (size_t)place * p->nweight, 0, p->nweight * sizeof *p->weight_self);
        p->outer_calls[place] = 0;
    }
    return place;
}

uint32_t tl_profile_append_child(tl_profile *p, uint32_t parent, uint32_t function)
{
    assert(parent < p->nplace && function < p->nfunction);
    uint32_t place = add_place(p, parent, function, TL_NO_TRACK);
    if (!place)
        return TL_HASH_NONE;
    p->same_next[place] = p->same_first[function];
    p->same_first[function] = place;
    return place;
}

/* Adds the missing places to the index; roots of threads are never looked up there. */
static bool index_places(tl_profile *p)
{
    for (; p->indexed < p->nplace; p->indexed++)
        if (p->place[p->indexed].function != TL_NO_FUNCTION && !tl_place_index_add(&p->child, p->place, p->indexed))
            return false;
    return true;
}

int tl_profile_index_places(tl_profile *p, tl_error *e)
{
    return index_places(p) ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to find %u places", p->nplace);
}

uint32_t tl_profile_find_child(const tl_profile *p, uint32_t parent, uint32_t function)
{
    assert(p->indexed == p->nplace);
    return tl_place_index_get(&p->child, p->place, parent, function);
}

uint32_t tl_profile_child_slow(tl_profile *p, uint32_t parent, uint32_t function)
{
    if (!index_places(p))
        return TL_HASH_NONE;
    uint32_t place = tl_place_index_get(&p->child, p->place, parent, function);
    if (!place)
        place = tl_profile_append_child(p, parent, function);
    if (place != TL_HASH_NONE)
        p->place[parent].last_child = place;
    return place;
}

uint32_t tl_profile_place_track(const tl_profile *p, uint32_t place)
{
    while (place && p->place[place].track == TL_NO_TRACK)
        place = p->place[place].parent;
    return place ? p->place[place].track : TL_NO_TRACK;
}

/* ---- functions ---- */

static bool same_function(const tl_function *a, const tl_function *b)
{
    return a->id == b->id && a->module == b->module && a->name == b->name && a->file == b->file && a->line == b->line &&
           a->library == b->library && a->renamed == b->renamed && a->flags == b->flags && a->offset == b->offset;
}

static uint64_t hash_function(const tl_function *f)
{
    const char *const interned[] = {f->module, f->name, f->file, f->library,
                                    f->renamed}; /* equal text: equal pointers */
    tl_hasher h = tl_hasher_begin();
    for (size_t i = 0; i < TL_COUNT(interned); i++)
        tl_hasher_add(&h, (uintptr_t)interned[i]);
    tl_hasher_add(&h, (uint64_t)f->id);
    tl_hasher_add(&h, (uint64_t)f->offset << 32 | f->flags);
    tl_hasher_add(&h, f->line);
    return tl_hasher_end(h);
}

/* Details that do not identify functions: keeps the smaller known one, so that the order of merging does not matter. */
static void combine_details(tl_function *into, const tl_function *from)
{
    if (from->address && (!into->address || from->address < into->address))
        into->address = from->address;
    if (from->linkage_name && (!into->linkage_name || strcmp(from->linkage_name, into->linkage_name) < 0))
        into->linkage_name = from->linkage_name;
}

uint32_t tl_profile_add_interned_function(tl_profile *p, const tl_function *f)
{
    uint64_t key;
    for (key = hash_function(f);; key++) {
        uint32_t index = tl_hash_get(&p->by_detail, key);
        if (index == TL_HASH_NONE)
            break;
        if (same_function(&p->function[index], f)) {
            combine_details(&p->function[index], f);
            return index;
        }
    }
    if (p->nfunction == p->function_capacity &&
        (p->function_capacity > UINT32_MAX / 4 || !reserve_functions(p, 2 * p->function_capacity)))
        return TL_HASH_NONE;
    if (!tl_hash_put(&p->by_detail, key, p->nfunction))
        return TL_HASH_NONE;
    p->function[p->nfunction] = *f;
    p->same_first[p->nfunction] = 0;
    return p->nfunction++;
}

/* Interns *s in place; false when memory runs out. */
static bool intern_in_place(tl_profile *p, const char **s)
{
    return !*s || (*s = tl_profile_intern(p, *s));
}

uint32_t tl_profile_add_function(tl_profile *p, const tl_function *f)
{
    tl_function copy = *f;
    if (!intern_in_place(p, &copy.module) || !intern_in_place(p, &copy.name) || !intern_in_place(p, &copy.file) ||
        !intern_in_place(p, &copy.linkage_name) || !intern_in_place(p, &copy.library) ||
        !intern_in_place(p, &copy.renamed))
        return TL_HASH_NONE;
    return tl_profile_add_interned_function(p, &copy);
}

bool tl_profile_index_functions(tl_profile *p)
{
    tl_hash_fini(&p->by_detail);
    for (uint32_t i = 0; i < p->nfunction; i++) {
        uint64_t key = hash_function(&p->function[i]);
        while (tl_hash_get(&p->by_detail, key) != TL_HASH_NONE)
            key++;
        if (!tl_hash_put(&p->by_detail, key, i))
            return false;
    }
    return true;
}

int tl_profile_settle_functions(tl_profile *p, const tl_trace *t, tl_error *e)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->nfunction; i++) {
        tl_function *f = &p->function[i];
        const tl_function *known = f->flags & TL_FUNCTION_UNKNOWN ? NULL : tl_trace_function(t, f->id);
        if (!known)
            continue;
        f->module = known->module;
        f->library = known->library;
        f->address = known->address;
        f->renamed = known->name && (!f->name || strcmp(known->name, f->name) != 0) ? known->name : NULL;
        ok = intern_in_place(p, &f->module) && intern_in_place(p, &f->library) && intern_in_place(p, &f->renamed);
    }
    return ok && tl_profile_index_functions(p)
               ? 0
               : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for functions of a profile");
}

uint32_t tl_profile_intern_function(tl_profile *p, const tl_trace *t, int64_t id)
{
    uint32_t index = tl_id_map_get(&p->by_id, (uint64_t)id);
    if (index != TL_HASH_NONE)
        return index;
    const tl_function *known = t ? tl_trace_function(t, id) : NULL;
    index = tl_profile_add_function(p, known ? known : &(tl_function){.id = id});
    return index != TL_HASH_NONE && tl_id_map_put(&p->by_id, (uint64_t)id, index) ? index : TL_HASH_NONE;
}

const char *tl_function_label(const tl_function *f, char buf[static 24])
{
    if (f->name)
        return f->name;
    if (f->flags & TL_FUNCTION_UNKNOWN)
        return "?";
    char *end;
    if (f->flags & TL_FUNCTION_HEX_ID) {
        memcpy(buf, "0x", 2);
        end = tl_put_hex(buf + 2, (uint64_t)f->id);
    } else {
        buf[0] = '#';
        end = tl_put_i64(buf + 1, f->id);
    }
    *end = '\0';
    return buf;
}

/* ---- threads ---- */

static bool same_track(const tl_track *a, const tl_track *b)
{
    return a->has_pid == b->has_pid && a->has_tid == b->has_tid && a->pid == b->pid && a->tid == b->tid &&
           a->name == b->name;
}

uint32_t tl_profile_thread_root(tl_profile *p, const tl_track *track)
{
    tl_track copy = *track;
    return intern_in_place(p, &copy.name) ? tl_profile_interned_thread_root(p, &copy) : TL_HASH_NONE;
}

uint32_t tl_profile_interned_thread_root(tl_profile *p, const tl_track *track)
{
    tl_track t = {.name = track->name, .has_pid = track->has_pid, .has_tid = track->has_tid};
    t.pid = t.has_pid ? track->pid : 0;
    t.tid = t.has_tid ? track->tid : 0;
    tl_hasher h = tl_hasher_begin();
    tl_hasher_add(&h, (uint64_t)t.has_pid << 1 | t.has_tid);
    tl_hasher_add(&h, (uintptr_t)t.name); /* interned */
    tl_hasher_add(&h, (uint64_t)t.pid);
    tl_hasher_add(&h, (uint64_t)t.tid);
    uint64_t key;
    uint32_t root;
    for (key = tl_hasher_end(h);; key++) {
        root = tl_hash_get(&p->by_track, key);
        if (root == TL_HASH_NONE)
            break;
        if (same_track(&p->track[p->place[root].track], &t))
            return root;
    }
    if (!TL_GROW(p->track, p->ntrack, 1, p->track_capacity))
        return TL_HASH_NONE;
    root = add_place(p, 0, TL_NO_FUNCTION, p->ntrack);
    if (!root)
        return TL_HASH_NONE;
    if (!tl_hash_put(&p->by_track, key, root)) {
        p->nplace--;
        return TL_HASH_NONE;
    }
    p->track[p->ntrack++] = t;
    p->per_thread = true;
    return root;
}

/* ---- reading ---- */

const tl_clock *tl_profile_clock(const tl_profile *p)
{
    return &p->clock;
}

uint32_t tl_profile_places(const tl_profile *p)
{
    return p->nplace;
}

uint32_t tl_profile_parent(const tl_profile *p, uint32_t place)
{
    return p->place[place].parent;
}

uint32_t tl_profile_function(const tl_profile *p, uint32_t place)
{
    return p->place[place].function;
}

uint32_t tl_profile_tracks(const tl_profile *p)
{
    return p->ntrack;
}

/* "3 threads, 1": the name of the first tree if several threads used it, one after another. */
static uint64_t threads_of(const tl_track *t)
{
    static const char words[] = " threads, ";
    uint64_t n = 0;
    const char *p = t->name;
    while (p && *p >= '0' && *p <= '9' && n < UINT32_MAX)
        n = 10 * n + (uint64_t)(*p++ - '0');
    return !t->has_tid && n > 0 && strncmp(p, words, sizeof words - 1) == 0 ? n : 1;
}

uint64_t tl_profile_threads(const tl_profile *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->ntrack; i++)
        n += threads_of(&p->track[i]);
    return n;
}

const tl_track *tl_profile_track(const tl_profile *p, uint32_t index)
{
    return index < p->ntrack ? &p->track[index] : NULL;
}

uint32_t tl_profile_functions(const tl_profile *p)
{
    return p->nfunction;
}

const tl_function *tl_profile_get_function(const tl_profile *p, uint32_t index)
{
    return index < p->nfunction ? &p->function[index] : NULL;
}

bool tl_profile_has_histogram(const tl_profile *p)
{
    return p->has_histogram;
}

uint64_t tl_profile_unmatched_exits(const tl_profile *p)
{
    return p->unmatched_exits;
}

uint64_t tl_profile_unmatched_open(const tl_profile *p)
{
    return p->unmatched_open;
}
