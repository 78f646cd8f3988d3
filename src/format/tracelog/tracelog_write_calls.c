/* Calls and samples of other sources.
 *
 *   calls    Each entry and exit is a line of count 0 that changes the stack. Before it stands one with the whole ms
 *            that began since the last such line, as samples of the stack so far: what a sampler of 1 kHz would have
 *            seen. Time outside of all calls is not counted.
 *   samples  keep their counts if their period is whole ms; else they become samples of 1 ms, and what is left over
 *            is added to the next one of the thread.
 *
 * Threads are tracks, or, where contexts of the events name them, those. */
#include "format/tracelog/tracelog_write_calls.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/tracelog/tracelog_write_sample.h"
#include "model/field_text.h"
#include "model/label.h"

enum { NS_PER_MS = 1000000 };
#define NAMED_THREAD ((uint64_t)1 << 32) /* in a key of `index`: a number of `named`, not a track */

bool tracelog_is_call(const tl_class *c)
{
    return (c->kind == TL_ENTER || c->kind == TL_EXIT) && c->key == TL_KEY_FUNCTION;
}

static uint32_t find_stack(const tl_class *c)
{
    for (uint32_t i = 0; i < c->nfield; i++)
        if (c->field[i].type == TL_STACK)
            return i;
    return TL_NO_FIELD;
}

bool tracelog_is_sample(const tl_class *c)
{
    return c->kind == TL_SAMPLE && find_stack(c) != TL_NO_FIELD;
}

static void find_fields(tracelog_fields *f, const tl_class *c)
{
    *f = (tracelog_fields){.thread = tl_thread_fields_of(c), .count = TL_NO_FIELD, .stack = find_stack(c)};
    for (uint32_t i = 0; i < c->nfield && f->count == TL_NO_FIELD; i++)
        if (c->field[i].role == TL_FIELD_COUNT)
            f->count = i;
}

bool tracelog_calls_init(tracelog_writer *w, bool mixed)
{
    const tl_trace *t = w->context.trace;
    tracelog_calls *c = &w->calls;
    c->iids.first = c->first_iid = mixed ? TRACELOG_MIXED_IID : 0;
    if (!mixed)
        c->iids.first = TRACELOG_OWN_IID;
    c->fields = tl_alloc((size_t)t->ncls + 1, sizeof *c->fields);
    for (uint32_t i = 0; c->fields && i < t->ncls; i++)
        find_fields(&c->fields[i], &t->cls[i]);
    return c->fields != NULL;
}

void tracelog_calls_fini(tracelog_calls *c)
{
    free(c->fields);
    free(c->thread);
    tl_hash_fini(&c->index);
    tl_pair_map_fini(&c->named);
    tl_hash_fini(&c->iid);
    tl_nest_fini(&c->nest);
}

/* Index of the thread of an event; TL_HASH_NONE when memory runs out. */
static uint32_t thread_of(tl_text_writer *tw, tracelog_writer *w, const tl_batch *b, uint32_t i)
{
    tracelog_calls *c = &w->calls;
    const tl_track *track = tl_trace_track(w->context.trace, b->track[i]);
    tl_event_thread thread;
    tl_track named;
    uint64_t key = b->track[i];
    if (tl_event_thread_get(&c->fields[b->cls[i]].thread, b, i, &thread)) {
        const uint32_t number = tl_pair_map_number(&c->named, (uint64_t)thread.pid, (uint64_t)thread.tid);
        if (TL_UNLIKELY(number == TL_HASH_NONE))
            return TL_HASH_NONE;
        key = NAMED_THREAD | number;
        named = (tl_track){.has_tid = true, .tid = thread.tid, .has_pid = thread.has_pid, .pid = thread.pid};
        track = &named;
    }
    uint32_t index = tl_hash_get(&c->index, key);
    if (TL_LIKELY(index != TL_HASH_NONE))
        return index;
    if (c->n == TL_TRACKS_MAX || !TL_GROW(c->thread, c->n, 1, c->capacity))
        return TL_HASH_NONE;
    if (!tl_hash_put(&c->index, key, c->n))
        return TL_HASH_NONE;
    c->thread[c->n] = (tracelog_caller){0};
    tracelog_head_thread(tw, &w->heads, (uint64_t)c->first_iid + c->n, track);
    return c->n++;
}

/* The iid of a function, written on first use; TL_HASH_NONE when memory runs out. */
static uint32_t function_of(tl_text_writer *tw, tracelog_writer *w, uint64_t id, const char *name)
{
    tracelog_calls *c = &w->calls;
    uint32_t iid = tl_hash_get(&c->iid, id);
    if (TL_LIKELY(iid != TL_HASH_NONE))
        return iid;
    const tl_function *known = tl_trace_function(w->context.trace, (int64_t)id);
    tl_function f = known ? *known : (tl_function){.id = (int64_t)id};
    if (name)
        f.name = name;
    if (!known && w->by_address)
        f.address = id;
    iid = tracelog_iid_new(&c->iids, f.id);
    if (!tl_hash_put(&c->iid, id, iid) || !tracelog_head_function(tw, &w->heads, iid, &f))
        return TL_HASH_NONE;
    return iid;
}

void tracelog_put_line(tl_text_writer *tw, uint64_t iid, uint64_t ms, uint64_t count, uint32_t kept, uint32_t size)
{
    tl_text_room(tw, 6 * TRACELOG_NUMBER_ROOM);
    char *p = tw->p;
    p = TL_PUT(p, "sam str ");
    p = tracelog_put_hex(p, iid, TRACELOG_IID_DIGITS, TRACELOG_UPPER);
    *p++ = ' ';
    p = tl_put_u64(p, ms);
    *p++ = ' ';
    p = tl_put_u64(p, count);
    *p++ = ' ';
    p = tl_put_u64(p, kept);
    *p++ = ':';
    tw->p = tl_put_u64(p, size);
}

void tracelog_put_count(tl_text_writer *tw, uint64_t iid, uint64_t ms, uint64_t count, uint32_t depth)
{
    while (count > 0) {
        const uint64_t part = count < UINT32_MAX ? count : UINT32_MAX; /* readers take no more at once */
        tracelog_put_line(tw, iid, ms, part, depth, depth);
        tl_text_char(tw, '\n');
        count -= part;
    }
}

static uint32_t written_depth(const tl_nest_track *t)
{
    return t->n < TRACELOG_DEPTH_MAX ? t->n : TRACELOG_DEPTH_MAX;
}

bool tracelog_put_call(tl_text_writer *tw, tracelog_writer *w, const tl_batch *b, uint32_t i)
{
    tracelog_calls *c = &w->calls;
    const tl_class *cls = &w->context.trace->cls[b->cls[i]];
    const uint32_t index = thread_of(tw, w, b, i);
    tl_nest_track *t = index == TL_HASH_NONE ? NULL : tl_nest_get(&c->nest, index);
    if (TL_UNLIKELY(!t))
        return false;
    tracelog_caller *thread = &c->thread[index];
    const uint64_t ms = tl_nest_time(&c->nest, t, tracelog_write_ms(w, b->ts[i])), iid = (uint64_t)c->first_iid + index;
    const uint32_t before = written_depth(t);
    uint64_t function = 0;
    w->losses.fields += cls->nfield > cls->ncontext && !(cls->flags & TL_CLASS_KEY_IS_FIELD);
    if (cls->kind == TL_ENTER) {
        function = function_of(tw, w, b->key[i], NULL);
        if (function == TL_HASH_NONE)
            return false;
    }
    if (ms > thread->counted_ms) {
        if (before > 0) {
            tracelog_put_pace(tw, w, TRACELOG_PERIOD_MS, false);
            tracelog_put_count(tw, iid, ms, ms - thread->counted_ms, before);
        }
        thread->counted_ms = ms;
    }
    if (cls->kind == TL_ENTER) {
        if (tl_nest_enter(&c->nest, t, b->key[i]) == TL_NEST_NO_MEMORY)
            return false;
        if (TL_UNLIKELY(written_depth(t) == before)) {
            w->losses.too_deep++;
            return true;
        }
        tracelog_put_line(tw, iid, ms, 0, before, before);
        tl_text_room(tw, TRACELOG_NUMBER_ROOM);
        *tw->p++ = ' ';
        tw->p = tracelog_put_short(tw->p, function);
        *tw->p++ = '\n';
        return true;
    }
    const uint32_t closed = tl_nest_exit(&c->nest, t, b->key[i]);
    for (uint32_t k = 0; k < closed; k++)
        tl_nest_pop(t);
    w->losses.closed_early += closed > 1 ? closed - 1 : 0;
    if (written_depth(t) < before) {
        tracelog_put_line(tw, iid, ms, 0, written_depth(t), before);
        tl_text_char(tw, '\n');
    }
    return true;
}

/* How often a sample counts in lines, with the period written before; 0: it only sets the stack. */
static uint64_t weigh(tl_text_writer *tw, tracelog_writer *w, tracelog_caller *thread, const tl_class *c, uint64_t key,
                      uint64_t count)
{
    if (count == 0)
        return 0;
    uint64_t ns = c->key == TL_KEY_WEIGHT ? tl_scale_ns(&w->context.trace->scale, tl_weight_ticks(key)) : NS_PER_MS;
    if (ns == 0)
        return 0;
    if (ns % NS_PER_MS == 0 && ns / NS_PER_MS <= TRACELOG_PERIOD_MAX) {
        tracelog_put_pace(tw, w, ns / NS_PER_MS, false);
        return count;
    }
    if (__builtin_mul_overflow(ns, count, &ns) || __builtin_add_overflow(ns, thread->rest_ns, &ns))
        ns = UINT64_MAX;
    thread->rest_ns = ns % NS_PER_MS;
    tracelog_put_pace(tw, w, TRACELOG_PERIOD_MS, false);
    return ns / NS_PER_MS;
}

bool tracelog_put_foreign_sample(tl_text_writer *tw, tracelog_writer *w, const tl_batch *b, uint32_t i)
{
    tracelog_calls *c = &w->calls;
    const tl_class *cls = &w->context.trace->cls[b->cls[i]];
    const uint32_t index = thread_of(tw, w, b, i);
    if (TL_UNLIKELY(index == TL_HASH_NONE))
        return false;
    tracelog_sample s = {.known = true,
                         .iid = (uint64_t)c->first_iid + index,
                         .digits = TRACELOG_IID_DIGITS,
                         .ms = tracelog_write_ms(w, b->ts[i]),
                         .count = 1};
    const tl_value *count = tl_event_value(b, i, c->fields[cls->id].count),
                   *stack = tl_event_value(b, i, c->fields[cls->id].stack);
    if (c->fields[cls->id].count != TL_NO_FIELD)
        s.count = count && (count->type == TL_U64 || count->type == TL_I64) ? count->as.u : 0;
    tracelog_thread *thread = tracelog_threads_get(&w->threads, true, s.iid);
    if (!thread || !tracelog_stack_set(&w->threads, thread, stack && stack->type == TL_STACK ? stack->as.p : NULL,
                                       TRACELOG_KEPT_UNKNOWN, &s.change, &w->losses.too_deep))
        return false;
    for (uint32_t k = s.change.kept; k < thread->n; k++) {
        const tracelog_level *at = &thread->level[k];
        if (!(at->flags & TL_FRAME_FUNCTION))
            w->losses.no_number += at->node->name != NULL;
        else if (function_of(tw, w, at->function, at->node->name) == TL_HASH_NONE)
            return false;
    }
    s.count = weigh(tw, w, &c->thread[index], cls, b->key[i], s.count);
    uint64_t rest = s.count > UINT32_MAX ? s.count - UINT32_MAX : 0;
    s.count -= rest;
    tracelog_put_sample(tw, w, &s, thread, &c->iid);
    tracelog_put_count(tw, s.iid, s.ms, rest, thread->n);
    return true;
}
