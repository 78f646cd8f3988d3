/* Matches entries and exits into calls. The hot loop of every profile: about a dozen instructions per event, no
 * allocation once the stacks have grown. */
#include "op/callstack_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/batch.h"

enum { EXIT_OF_ANY = UINT8_MAX }; /* in place of a kind: an exit without a function */

int tl_callstack_new(tl_callstack **out, tl_profile *p, const tl_trace *t, const tl_profile_options *options,
                     tl_exits exits, tl_error *e)
{
    tl_callstack *c = calloc(1, sizeof *c);
    if (!c)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match calls");
    c->p = p;
    c->trace = t;
    c->flat = options->flat;
    c->per_thread = options->per_thread;
    c->selecting = options->select != NULL;
    const tl_select *by = options->select;
    c->by_time = by && !by->nfunc && !by->nnot && !by->nthread && !by->ncls && !by->ncpu && !by->depth;
    c->loops_from = exits == TL_EXITS_MISSING ? TL_STACK_REPEATS : UINT32_MAX;
    c->kind = malloc(t->ncls + 1);
    c->ntrack = t->ntrack;
    c->thread = calloc((size_t)t->ntrack + 1, sizeof *c->thread);
    int status = c->kind && c->thread ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match calls");
    if (status == 0 && c->selecting)
        status = tl_call_select_init(&c->select, options->select, t, t->has_range ? t->begin : 0, e);
    if (status < 0) {
        tl_callstack_free(c);
        return status;
    }
    for (uint32_t i = 0; i < t->ncls; i++)
        c->kind[i] = t->cls[i].key == TL_KEY_FUNCTION                            ? (uint8_t)t->cls[i].kind
                     : t->cls[i].key == TL_KEY_NONE && t->cls[i].kind == TL_EXIT ? EXIT_OF_ANY
                                                                                 : (uint8_t)TL_INSTANT;
    *out = c;
    return 0;
}

static int find_places(tl_callstack *c, const tl_call_places *places, bool needs_origins, tl_error *e)
{
    c->flat = false;
    c->has_origins = places || needs_origins;
    if (places && !tl_call_finder_init(&c->finder, places))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match calls");
    return 0;
}

int tl_callstack_give_rows(tl_callstack *c, tl_call_rows *rows, const tl_call_places *places, tl_error *e)
{
    c->way = TL_CALLS_TO_ROWS;
    c->rows = rows;
    return find_places(c, places, !(rows->without & TL_CALL_IDS), e);
}

int tl_callstack_use_slots(tl_callstack *c, tl_call_slots *slots, const tl_call_places *places, tl_error *e)
{
    c->way = TL_CALLS_TO_SLOTS;
    c->slots = slots;
    return find_places(c, places, slots->by & TL_BY_CPU, e);
}

bool tl_callstack_matched(const tl_callstack *c, size_t i, bool not )
{
    return not ? c->select.hit_not[i] : c->select.hit[i];
}

static void free_thread(tl_call_thread *th)
{
    free(th->stack);
    free(th->origin);
    free(th->function);
    *th = (tl_call_thread){0};
}

void tl_callstack_free(tl_callstack *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->nbegun; i++)
        free_thread(&c->thread[c->begun[i]]);
    tl_call_select_fini(&c->select);
    tl_call_finder_fini(&c->finder);
    free(c->thread);
    free(c->begun);
    free(c->kind);
    free(c);
}

TL_COLD bool tl_callstack_grow_functions(tl_call_thread *th, uint32_t function)
{
    uint32_t n = th->nfunction ? th->nfunction : 256;
    while (n <= function)
        n *= 2;
    tl_call_on_stack *larger = calloc(n, sizeof *larger);
    if (!larger)
        return false;
    if (th->nfunction)
        memcpy(larger, th->function, th->nfunction * sizeof *larger);
    free(th->function);
    th->function = larger;
    th->nfunction = n;
    return true;
}

TL_COLD bool tl_callstack_grow_stack(const tl_callstack *c, tl_call_thread *th)
{
    const uint32_t capacity = th->capacity ? 2 * th->capacity : 64;
    if (!TL_RESIZE(th->stack, capacity) || (c->has_origins && !TL_RESIZE(th->origin, capacity)))
        return false;
    th->capacity = capacity;
    return true;
}

TL_COLD bool tl_callstack_begin_thread(tl_callstack *c, uint32_t track)
{
    tl_call_thread *th = &c->thread[track];
    if (!TL_GROW(c->begun, c->nbegun, 1, c->begun_capacity))
        return false;
    th->used = true;
    c->begun[c->nbegun++] = track;
    th->root = c->per_thread ? tl_profile_thread_root(c->p, &c->trace->track[track]) : 0;
    th->tree = c->finder.places ? tl_call_places_root(c->finder.places, &c->trace->track[track]) : 0;
    return th->root != TL_HASH_NONE;
}

TL_ALWAYS_INLINE uint64_t id_of(const tl_callstack *c, uint32_t i)
{
    return c->id ? c->id[i] : c->first + i;
}

TL_ALWAYS_INLINE bool selected_at_entry(tl_callstack *c, const tl_batch *b, uint32_t i, const tl_call_thread *th,
                                        uint32_t function)
{
    tl_call_select *s = &c->select;
    /* Whether a glob matches any function depends on all calls, not only on those that pass the other tests. */
    if (!tl_call_select_function(s, c->p, function))
        return false;
    return b->ts[i] >= s->from && (!s->select->depth || th->depth < s->select->depth) &&
           tl_call_select_track(s, b->track[i]) && s->cls[b->cls[i]] && tl_call_select_cpu(s, b, i);
}

/* What rows and slots need of the frame that is put on top; false when memory runs out. */
TL_ALWAYS_INLINE bool push_origin(tl_callstack *c, const tl_batch *b, uint32_t i, tl_call_thread *th,
                                  const tl_call_on_stack *on, const tl_call_way way)
{
    if (!c->has_origins)
        return way == TL_CALLS_TO_ROWS || tl_callstack_find_slot(c, b->track[i], th);
    tl_call_origin *origin = &th->origin[th->depth];
    *origin = (tl_call_origin){.id = id_of(c, i), .cpu = b->cpu ? b->cpu[i] : -1};
    if (TL_LIKELY(th->stack[th->depth].repeat <= TL_STACK_REPEATS))
        return tl_callstack_find_place(c, b->track[i], th, way);
    origin->tree = th->origin[on->top - 1].tree;
    return way == TL_CALLS_TO_ROWS || tl_callstack_find_slot(c, b->track[i], th);
}

/* Puts a frame on top; false when memory runs out. */
TL_ALWAYS_INLINE bool push(tl_callstack *c, const tl_batch *b, uint32_t i, tl_call_thread *th, uint64_t key,
                           uint32_t function, const bool begun, const tl_call_way way)
{
    tl_profile *p = c->p;
    if (TL_UNLIKELY(function >= th->nfunction) && !tl_callstack_grow_functions(th, function))
        return false;
    tl_call_on_stack *on = &th->function[function];
    if (TL_UNLIKELY(th->depth == th->capacity)) {
        if (th->depth >= TL_STACK_UNWIND_DEPTH && on->top && th->stack[on->top - 1].repeat >= TL_STACK_REPEATS) {
            if (!tl_callstack_unwind_at_entry(c, b->track[i], th, on, b->ts[i]))
                return false;
        } else if (th->depth == TL_STACK_DEPTH_MAX) {
            th->too_deep++;
            p->unmatched_open++;
            return true;
        } else if (!tl_callstack_grow_stack(c, th)) {
            return false;
        }
    }
    uint32_t place = 0, repeat = 0;
    if (TL_UNLIKELY(th->depth >= c->loops_from))
        repeat = 1 + (on->top ? th->stack[on->top - 1].repeat : 0);
    if (way == TL_CALLS_TO_PLACES && c->flat) {
        if (TL_UNLIKELY(!on->place))
            on->place = tl_profile_child(p, th->root, function);
        place = on->place;
        if (TL_UNLIKELY(place == TL_HASH_NONE))
            return false;
    } else if (TL_UNLIKELY(repeat > TL_STACK_REPEATS)) {
        place = th->stack[on->top - 1].place;
    } else if (way == TL_CALLS_TO_PLACES) {
        place = tl_profile_child(p, th->depth ? th->stack[th->depth - 1].place : th->root, function);
        if (TL_UNLIKELY(place == TL_HASH_NONE))
            return false;
    }
    tl_call_frame *f = &th->stack[th->depth];
    *f = (tl_call_frame){.key = key,
                         .entered = b->ts[i],
                         .place = place,
                         .function = function,
                         .below = begun ? on->top : 0,
                         .repeat = repeat & 0x3fffffff,
                         .selected = !c->selecting || (c->by_time ? b->ts[i] >= c->select.from
                                                                  : selected_at_entry(c, b, i, th, function)),
                         .begun = begun};
    if (way != TL_CALLS_TO_PLACES && !push_origin(c, b, i, th, on, way))
        return false;
    ++th->depth;
    if (begun)
        on->top = th->depth;
    return true;
}

/* False when memory runs out. */
TL_ALWAYS_INLINE bool enter(tl_callstack *c, const tl_batch *b, uint32_t i, tl_call_thread *th, const tl_call_way way)
{
    const uint64_t key = b->key[i];
    uint32_t function = tl_id_map_get(&c->p->by_id, key);
    if (TL_UNLIKELY(function == TL_HASH_NONE)) {
        function = tl_profile_intern_function(c->p, c->trace, (int64_t)key);
        if (function == TL_HASH_NONE)
            return false;
    }
    return push(c, b, i, th, key, function, true, way);
}

/* False when memory runs out. */
TL_ALWAYS_INLINE bool leave(tl_callstack *c, const tl_batch *b, uint32_t i, tl_call_thread *th, const tl_call_way way)
{
    const uint64_t key = b->key[i];
    if (TL_LIKELY(th->depth && th->stack[th->depth - 1].key == key && !th->too_deep))
        return tl_callstack_close_top(c, b->track[i], th, b->ts[i], id_of(c, i), way);
    if (th->too_deep) {
        th->too_deep--;
        return true;
    }
    uint32_t function = tl_id_map_get(&c->p->by_id, key);
    if (function == TL_HASH_NONE || function >= th->nfunction || !th->function[function].top) {
        c->p->unmatched_exits++;
        return true;
    }
    const uint32_t above = th->function[function].top;
    if (tl_callstack_has_loops(th, above) && !tl_callstack_unwind_loops(c, b->track[i], th, above))
        return false;
    while (th->stack[th->depth - 1].key != key)
        if (!tl_callstack_close_unwound(c, b->track[i], th, b->ts[i]))
            return false;
    return tl_callstack_close_top(c, b->track[i], th, b->ts[i], id_of(c, i), way);
}

/* An exit without a function ends the innermost call. False when memory runs out. */
static bool leave_any(tl_callstack *c, const tl_batch *b, uint32_t i, tl_call_thread *th, const tl_call_way way)
{
    if (th->too_deep) {
        th->too_deep--;
        return true;
    }
    if (th->depth)
        return tl_callstack_close_top(c, b->track[i], th, b->ts[i], id_of(c, i), way);
    c->p->unmatched_exits++;
    return true;
}

TL_ALWAYS_INLINE bool add_events(tl_callstack *c, const tl_batch *b, const tl_call_way way)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->n;) {
        const uint32_t track = b->track[i];
        tl_call_thread *th = &c->thread[track];
        if (!th->used)
            ok = tl_callstack_begin_thread(c, track);
        for (; ok && i < b->n && b->track[i] == track; i++) {
            const uint8_t kind = c->kind[b->cls[i]];
            if (kind == TL_ENTER)
                ok = enter(c, b, i, th, way);
            else if (kind == TL_EXIT)
                ok = leave(c, b, i, th, way);
            else if (kind == EXIT_OF_ANY)
                ok = leave_any(c, b, i, th, way);
        }
    }
    return ok;
}

void tl_callstack_number(tl_callstack *c, uint64_t first)
{
    c->id = NULL;
    c->first = first;
}

int tl_callstack_add_ids(tl_callstack *c, const tl_batch *b, const uint64_t *id, tl_error *e)
{
    c->id = id;
    c->first = tl_event_id(b, 0);
    const bool ok = c->way == TL_CALLS_TO_PLACES ? add_events(c, b, TL_CALLS_TO_PLACES)
                    : c->way == TL_CALLS_TO_ROWS ? add_events(c, b, TL_CALLS_TO_ROWS)
                                                 : add_events(c, b, TL_CALLS_TO_SLOTS);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the call tree (%u places)", c->p->nplace);
}

int tl_callstack_add(tl_callstack *c, const tl_batch *b, tl_error *e)
{
    return tl_callstack_add_ids(c, b, NULL, e);
}

/* Removes the topmost frame, which has no end and so is not a call. Its callees count. False when memory runs out. */
static bool forget_top(tl_callstack *c, uint32_t track, tl_call_thread *th)
{
    const tl_call_frame *f = &th->stack[--th->depth];
    if (!f->begun)
        return true;
    c->p->unmatched_open++;
    th->function[f->function].top = f->below;
    if (c->way != TL_CALLS_TO_ROWS) {
        tl_callstack_pass_on(c, th, f, f->inner);
        return true;
    }
    const bool counts = !c->selecting || (f->selected && c->select.to == UINT64_MAX && !c->select.select->min_ticks);
    return !(counts || c->rows->all) || tl_callstack_put_row(c, track, th, f, TL_CALL_NO_ID, 0, 0,
                                                             counts ? TL_CALL_OPEN : TL_CALL_OPEN | TL_CALL_LEFT_OUT);
}

uint32_t tl_callstack_depth(const tl_callstack *c, uint32_t track)
{
    return track < c->ntrack ? c->thread[track].depth : 0;
}

bool tl_callstack_cut(tl_callstack *c, const tl_batch *b, uint32_t i, uint32_t depth, bool left)
{
    const uint32_t track = b->track[i];
    bool ok = true;
    while (ok && tl_callstack_depth(c, track) > depth) {
        tl_call_thread *th = &c->thread[track];
        const bool begun = th->stack[th->depth - 1].begun;
        c->p->unmatched_exits += left && !begun;
        if (left && begun)
            ok = tl_callstack_close_top(c, track, th, b->ts[i], TL_CALL_NO_ID, c->way);
        else
            ok = forget_top(c, track, th);
    }
    return ok;
}

bool tl_callstack_push(tl_callstack *c, const tl_batch *b, uint32_t i, uint32_t function, bool begun)
{
    const uint32_t track = b->track[i];
    if (!TL_GROW_TO(c->thread, c->ntrack, track, TL_TRACKS_MAX)) /* tracks may come while reading */
        return false;
    tl_call_thread *th = &c->thread[track];
    return (th->used || tl_callstack_begin_thread(c, track)) && push(c, b, i, th, function, function, begun, c->way);
}

bool tl_callstack_finish(tl_callstack *c)
{
    bool ok = true;
    for (uint32_t i = 0; i < c->nbegun; i++) {
        const uint32_t track = c->begun[i];
        tl_call_thread *th = &c->thread[track];
        while (th->depth)
            ok = forget_top(c, track, th) && ok;
        free_thread(th);
    }
    c->nbegun = 0;
    return ok;
}
