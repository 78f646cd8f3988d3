/* Stacks from their differences.
 *
 * A thread's stack is a list of nodes, and an event gets a pointer to the innermost: events share the nodes of their
 * common callers, and so do batches. A line makes nodes in the memory of its batch; those on a stack when the batch
 * ends are copied to persistent memory. A batch holds what it points to, so persistent memory can be rebuilt without
 * nodes that no thread has any more. */

#include "base/grow.h"
#include "format/tracelog/tracelog_replay.h"

replay_function *tracelog_replay_function(tracelog_replay *p, uint64_t iid)
{
    uint32_t at = tl_id_map_get(&p->function_of, iid);
    if (TL_LIKELY(at != TL_HASH_NONE))
        return &p->function[at];
    at = p->nfunction;
    if (!TL_GROW(p->function, at, 1, p->function_capacity) || !tl_id_map_put(&p->function_of, iid, at))
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

/* ---- persistent nodes ---- */

/* New nodes for the frames from `from` up to `to`; the old ones are unchanged, since other events use them. */
static bool copy_nodes(replay_thread *t, uint32_t from, uint32_t to, tl_arena *arena, bool lasts)
{
    if (from >= to)
        return true;
    tl_frame *node = tl_arena_alloc(arena, (to - from) * sizeof *node);
    if (!node)
        return false;
    const tl_frame *caller = from ? t->node[from - 1] : NULL;
    for (; from < to; from++, node++) {
        const tl_frame *f = t->node[from]; /* its memo belongs to the user of the batch, who may be writing it now */
        *node = (tl_frame){.caller = caller,
                           .function = f->function,
                           .name = f->name,
                           .ip = f->ip,
                           .depth = f->depth,
                           .flags = f->flags,
                           .lasts = lasts};
        caller = t->node[from] = node;
    }
    return true;
}

/* Frees frames that no thread has any more. */
TL_COLD static bool renew_stacks(tracelog_replay *p)
{
    tl_shared_arena *fresh = tl_shared_arena_new();
    bool ok = fresh != NULL;
    for (uint32_t i = 0; ok && i < p->nthread; i++)
        ok = copy_nodes(&p->thread[i], 0, p->thread[i].depth, &fresh->arena, true);
    if (ok) {
        tl_shared_arena_release(p->stacks);
        p->stacks = fresh;
        p->lasting = p->live;
    } else {
        tl_shared_arena_release(fresh);
    }
    return ok;
}

bool tracelog_replay_save(tracelog_replay *p)
{
    if (p->touched && !p->stacks && !(p->stacks = tl_shared_arena_new()))
        return false;
    for (; p->touched; p->touched = p->thread[p->touched - 1].next) {
        replay_thread *t = &p->thread[p->touched - 1];
        if (!copy_nodes(t, t->saved, t->depth, &p->stacks->arena, true))
            return false;
        p->lasting += t->depth - t->saved;
        p->live = p->live - t->counted + t->depth;
        t->saved = t->counted = t->depth;
    }
    return p->lasting <= 2 * p->live + p->nthread + TRACELOG_LASTING_LEAST || renew_stacks(p);
}

/* ---- changes by a line ---- */

/* Called for a thread's first line in this batch. */
static void touch(tracelog_replay *p, uint32_t thread)
{
    replay_thread *t = &p->thread[thread];
    t->batch = p->batch;
    t->next = p->touched;
    p->touched = thread + 1;
}

/* Adds frames that no line gave. */
TL_COLD static bool fill_up(replay_thread *t, uint32_t kept, tl_arena *arena)
{
    tl_frame *node = tl_arena_alloc(arena, (kept - t->depth) * sizeof *node);
    if (!node)
        return false;
    for (; t->depth < kept; node++) {
        *node = (tl_frame){.caller = t->depth ? t->node[t->depth - 1] : NULL, .depth = t->depth + 1};
        t->node[t->depth++] = node;
    }
    return true;
}

static const char *name_now(const tracelog_replay *p, const tl_frame *f)
{
    const uint32_t at = f->flags & TL_FRAME_FUNCTION ? tl_id_map_get(&p->function_of, f->function) : TL_HASH_NONE;
    return at == TL_HASH_NONE ? NULL : p->function[at].name;
}

/* Gives the kept frames the current names of their functions. From the first new one on each is a different stack in a
 * profile, so a line that names a function would grow it by the depth of a stack: see TRACELOG_RENAMED_FREE. */
TL_COLD static bool renew(tracelog_replay *p, replay_thread *t, uint32_t kept, uint64_t offset, tl_arena *arena)
{
    uint32_t from = 0;
    while (from < kept && t->node[from]->name == name_now(p, t->node[from]))
        from++;
    p->renewed += kept;
    t->names = p->names;
    if (p->renamed + (kept - from) > TRACELOG_RENAMED_FREE + offset / 4) {
        p->keeps_names = true;
        return true;
    }
    p->renamed += kept - from;
    t->saved = t->saved < from ? t->saved : from;
    if (!copy_nodes(t, from, kept, arena, false))
        return false;
    for (; from < kept; from++)
        t->node[from]->name = name_now(p, t->node[from]);
    return true;
}

/* Changes the call point of the last kept frame. */
static bool move(replay_thread *t, uint32_t kept, const tracelog_note *note, uint32_t line, tl_arena *arena)
{
    if (!copy_nodes(t, kept - 1, kept, arena, false))
        return false;
    tl_frame *node = t->node[kept - 1];
    node->ip = note->flags & TRACELOG_HAS_IP ? note->other : 0;
    node->flags =
        (node->flags & (TL_FRAME_FUNCTION | TL_FRAME_CALL)) | (note->flags & TRACELOG_HAS_IP ? TL_FRAME_IP | line : 0u);
    t->saved = t->saved < kept - 1 ? t->saved : kept - 1;
    return true;
}

bool tracelog_replay_stack(tracelog_replay *p, uint32_t thread, const tracelog_part *part, const tracelog_note *note,
                           uint32_t kept, tl_value *out)
{
    replay_thread *t = &p->thread[thread];
    tl_arena *const arena = part->batch.arena;
    const uint32_t line = p->reader->has_lines ? TL_FRAME_LINE : 0;
    if (TL_UNLIKELY(t->batch != p->batch))
        touch(p, thread);
    if (!TL_GROW(t->node, 0, kept + note->nframes, t->capacity) ||
        (TL_UNLIKELY(t->depth < kept) && !fill_up(t, kept, arena)))
        return false;
    if (TL_UNLIKELY(t->names != p->names) && kept <= TRACELOG_RENEWED_MAX - p->renewed &&
        !renew(p, t, kept, note->offset, arena))
        return false;
    t->depth = kept;
    t->saved = t->saved < kept ? t->saved : kept;
    if ((note->flags & TRACELOG_MOVED) && kept == note->kept && !move(t, kept, note, line, arena))
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
    t->depth = depth;
    out->n = depth;
    out->as.p = caller;
    return true;
}
