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

TL_ALWAYS_INLINE bool look_up_name(tracelog_replay *p, tl_frame *f)
{
    f->name = NULL;
    if (TL_UNLIKELY(!(f->flags & TL_FRAME_FUNCTION)))
        return true;
    const uint32_t at = tl_id_map_get(&p->function_of, f->function);
    replay_function *function =
        TL_LIKELY(at != TL_HASH_NONE) ? &p->function[at] : tracelog_replay_function(p, f->function);
    if (TL_UNLIKELY(!function))
        return false;
    function->used = true;
    f->name = function->name;
    return true;
}

/* Frames that are only nodes so far. */
static void save(replay_thread *t)
{
    for (uint32_t i = t->saved; i < t->depth; i++) {
        const tl_frame *node = t->node[i];
        t->frame[i] = (replay_frame){node->function, node->ip, node->name, node->flags};
    }
    t->saved = t->depth;
}

void tracelog_replay_save(tracelog_replay *p)
{
    for (; p->touched; p->touched = p->thread[p->touched - 1].next)
        save(&p->thread[p->touched - 1]);
}

/* A thread is heard of for the first time in this batch: its nodes are not there. */
static void touch(tracelog_replay *p, uint32_t thread)
{
    replay_thread *t = &p->thread[thread];
    t->batch = p->batch;
    t->shared = 0;
    t->next = p->touched;
    p->touched = thread + 1;
}

/* Nodes for the kept frames that have none in this batch, or whose names changed. What is not saved has a node. */
TL_NOINLINE static bool make_nodes(replay_thread *t, uint32_t kept, tl_arena *arena)
{
    const uint32_t from = t->shared, n = kept - from;
    tl_frame *node = tl_arena_alloc(arena, n * sizeof *node);
    if (!node)
        return false;
    const tl_frame *caller = from ? t->node[from - 1] : NULL;
    for (uint32_t i = 0; i < n; i++) {
        const replay_frame *f = &t->frame[from + i];
        node[i] = (tl_frame){.caller = caller,
                             .function = f->function,
                             .name = f->name,
                             .ip = f->ip,
                             .depth = from + i + 1,
                             .flags = f->flags};
        caller = t->node[from + i] = &node[i];
    }
    t->shared = kept;
    return true;
}

/* Frames that nobody told us. */
TL_COLD static void fill_up(replay_thread *t, uint32_t kept)
{
    save(t);
    for (; t->depth < kept; t->depth++)
        t->frame[t->depth] = (replay_frame){0};
    t->saved = t->depth;
}

static const char *name_now(const tracelog_replay *p, const replay_frame *f)
{
    const uint32_t at = f->flags & TL_FRAME_FUNCTION ? tl_id_map_get(&p->function_of, f->function) : TL_HASH_NONE;
    return at == TL_HASH_NONE ? NULL : p->function[at].name;
}

/* The kept frames get the names that their functions have now. From the first new one on each is another stack to
 * whoever makes a profile, so a line that names a function would grow it by the depth of a stack: see
 * TRACELOG_RENAMED_FREE. */
TL_COLD static void renew(tracelog_replay *p, replay_thread *t, uint32_t kept, uint64_t offset)
{
    save(t);
    uint32_t from = 0;
    while (from < kept && t->frame[from].name == name_now(p, &t->frame[from]))
        from++;
    p->renewed += kept;
    t->names = p->names;
    if (p->renamed + (kept - from) > TRACELOG_RENAMED_FREE + offset / 4) {
        p->keeps_names = true;
        return;
    }
    p->renamed += kept - from;
    t->shared = t->shared < from ? t->shared : from;
    for (; from < kept; from++)
        t->frame[from].name = name_now(p, &t->frame[from]);
}

/* The call point of the last kept frame changed. The old node stays as it is: other events have it. */
static bool move(replay_thread *t, uint32_t kept, const tracelog_note *note, uint32_t line, tl_arena *arena)
{
    tl_frame *node = tl_arena_alloc(arena, sizeof *node);
    if (!node)
        return false;
    *node = *t->node[kept - 1];
    node->memo = 0;
    node->ip = note->flags & TRACELOG_HAS_IP ? note->other : 0;
    node->flags = (node->flags & TL_FRAME_FUNCTION) | (note->flags & TRACELOG_HAS_IP ? TL_FRAME_IP | line : 0u);
    t->node[kept - 1] = node;
    t->saved = t->saved < kept - 1 ? t->saved : kept - 1;
    return true;
}

bool tracelog_replay_stack(tracelog_replay *p, uint32_t thread, const tracelog_part *part, const tracelog_note *note,
                           uint32_t kept, tl_value *out)
{
    replay_thread *t = &p->thread[thread];
    const uint32_t line = p->reader->has_lines ? TL_FRAME_LINE : 0;
    if (TL_UNLIKELY(t->batch != p->batch))
        touch(p, thread);
    if (!reserve(t, kept + note->nframes))
        return false;
    if (TL_UNLIKELY(t->depth < kept))
        fill_up(t, kept);
    if (TL_UNLIKELY(t->names != p->names) && kept <= TRACELOG_RENEWED_MAX - p->renewed)
        renew(p, t, kept, note->offset);
    t->depth = kept;
    t->saved = t->saved < kept ? t->saved : kept;
    t->shared = t->shared < kept ? t->shared : kept;
    if (TL_UNLIKELY(t->shared < kept) && !make_nodes(t, kept, part->batch.arena))
        return false;
    if ((note->flags & TRACELOG_MOVED) && kept == note->kept && !move(t, kept, note, line, part->batch.arena))
        return false;
    const tl_frame *caller = kept ? t->node[kept - 1] : NULL;
    uint32_t depth = kept;
    for (uint32_t i = 0; i < note->nframes; i++) {
        tl_frame *fresh = &note->frame[i];
        fresh->caller = caller;
        fresh->flags |= fresh->flags & TL_FRAME_IP ? line : 0;
        caller = t->node[depth++] = fresh;
        fresh->depth = depth;
        if (!look_up_name(p, fresh))
            return false;
    }
    t->depth = t->shared = depth;
    out->n = depth;
    out->as.p = caller;
    return true;
}
