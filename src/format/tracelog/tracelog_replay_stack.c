/* Stacks made of their differences.
 *
 * A thread keeps its frames by value, for as long as it likes, and the same frames as nodes in the memory of the
 * present batch: an event gets a pointer to the innermost node, and events share the nodes of their common callers. A
 * new batch begins without nodes; those of a thread are made again when it is first heard of. */
#include <stdlib.h>

#include "format/tracelog/tracelog_replay.h"

static bool reserve(replay_thread *t, uint32_t depth)
{
    if (TL_LIKELY(depth <= t->capacity))
        return true;
    uint32_t capacity = t->capacity ? t->capacity : 32;
    while (capacity < depth)
        capacity *= 2;
    replay_frame *frame = realloc(t->frame, capacity * sizeof *frame);
    if (frame)
        t->frame = frame;
    tl_frame **node = realloc(t->node, capacity * sizeof(tl_frame *));
    if (node)
        t->node = node;
    if (!frame || !node)
        return false;
    t->capacity = capacity;
    return true;
}

replay_function *tracelog_replay_function(tracelog_replay *p, uint64_t iid)
{
    uint32_t at = tl_id_map_get(&p->function_of, iid);
    if (TL_LIKELY(at != TL_HASH_NONE))
        return &p->function[at];
    at = p->nfunction;
    if (at == p->function_capacity) {
        const uint32_t capacity = at ? at * 2 : 256;
        replay_function *larger = realloc(p->function, capacity * sizeof *larger);
        if (!larger)
            return NULL;
        p->function = larger;
        p->function_capacity = capacity;
    }
    if (!tl_id_map_put(&p->function_of, iid, at))
        return NULL;
    p->nfunction++;
    p->function[at] = (replay_function){0};
    return &p->function[at];
}

static bool look_up_name(tracelog_replay *p, replay_frame *f)
{
    if (!(f->flags & TL_FRAME_FUNCTION)) {
        f->name = NULL;
        return true;
    }
    replay_function *function = tracelog_replay_function(p, f->function);
    if (!function)
        return false;
    function->used = true;
    f->name = function->name;
    return true;
}

/* Some name on some stack changed: those of this one are looked up again. */
TL_COLD static bool look_up_names(tracelog_replay *p, replay_thread *t)
{
    for (uint32_t i = 0; i < t->depth; i++)
        if (!look_up_name(p, &t->frame[i]))
            return false;
    t->names = p->names;
    t->shared = 0;
    return true;
}

/* Nodes for the frames from t->shared up to the depth. */
static bool make_nodes(replay_thread *t, tl_arena *arena)
{
    const uint32_t from = t->shared, n = t->depth - from;
    if (n == 0)
        return true;
    tl_frame *node = tl_arena_alloc(arena, n * sizeof *node);
    if (!node)
        return false;
    const tl_frame *caller = from ? t->node[from - 1] : NULL;
    for (uint32_t i = 0; i < n; i++) {
        const replay_frame *f = &t->frame[from + i];
        node[i] = (tl_frame){.caller = caller,
                             .function = f->function,
                             .ip = f->ip,
                             .name = f->name,
                             .depth = from + i + 1,
                             .flags = f->flags};
        caller = t->node[from + i] = &node[i];
    }
    t->shared = t->depth;
    return true;
}

bool tracelog_replay_stack(tracelog_replay *p, replay_thread *t, const tracelog_part *part, const tracelog_note *note,
                           tl_value *out)
{
    const uint32_t kept = note->kept, line = p->reader->has_lines ? TL_FRAME_LINE : 0;
    if (!reserve(t, kept + note->nframes))
        return false;
    if (t->batch != p->batch) {
        t->batch = p->batch;
        t->shared = 0;
    }
    for (; t->depth < kept; t->depth++) /* frames that nobody told us */
        t->frame[t->depth] = (replay_frame){0};
    t->depth = kept;
    if (TL_UNLIKELY(t->names != p->names) && !look_up_names(p, t))
        return false;
    t->shared = t->shared < kept ? t->shared : kept;
    if (note->flags & TRACELOG_MOVED) {
        replay_frame *top = &t->frame[kept - 1];
        top->ip = note->flags & TRACELOG_HAS_IP ? note->other : 0;
        top->flags &= ~(uint32_t)(TL_FRAME_IP | TL_FRAME_LINE);
        top->flags |= note->flags & TRACELOG_HAS_IP ? TL_FRAME_IP | line : 0;
        t->shared = t->shared < kept - 1 ? t->shared : kept - 1;
    }
    const tracelog_frame *new = part->frame + note->frame;
    for (uint32_t i = 0; i < note->nframes; i++) {
        replay_frame *f = &t->frame[t->depth++];
        f->function = new[i].function;
        f->ip = new[i].ip;
        f->flags = new[i].flags | (new[i].flags &TL_FRAME_IP ? line : 0);
        if (!look_up_name(p, f))
            return false;
    }
    if (!make_nodes(t, part->batch.arena))
        return false;
    out->n = t->depth;
    out->as.p = t->depth ? t->node[t->depth - 1] : NULL;
    return true;
}
