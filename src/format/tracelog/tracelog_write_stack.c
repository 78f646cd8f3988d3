/* Stacks as differences.
 *
 * Keeps the stack of each thread as written. Of the next one only the frames above the first identical object are
 * examined: stacks share their callers, so a sample costs what it changes. */
#include "format/tracelog/tracelog_write_stack.h"

#include <assert.h>
#include <stdlib.h>

#include "base/grow.h"

void tracelog_threads_fini(tracelog_threads *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        free(t->thread[i].level);
    free(t->thread);
    free(t->walk);
    tl_hash_fini(&t->index);
    *t = (tracelog_threads){0};
}

/* Index of a new thread; TL_HASH_NONE when memory runs out. */
static uint32_t add_thread(tracelog_threads *t)
{
    if (!TL_GROW(t->thread, t->n, 1, t->capacity))
        return TL_HASH_NONE;
    t->thread[t->n] = (tracelog_thread){0};
    return t->n++;
}

TL_NOINLINE tracelog_thread *tracelog_threads_find(tracelog_threads *t, bool known, uint64_t iid)
{
    uint32_t i = known ? tl_hash_get(&t->index, iid) : t->unknown ? t->unknown - 1 : TL_HASH_NONE;
    if (i == TL_HASH_NONE) {
        i = add_thread(t);
        if (i == TL_HASH_NONE)
            return NULL;
        if (!known) {
            t->unknown = i + 1;
        } else if (!tl_hash_put(&t->index, iid, i)) {
            t->n--;
            return NULL;
        }
    }
    t->last = known ? i + 1 : 0;
    t->last_iid = iid;
    return &t->thread[i];
}

TL_ALWAYS_INLINE tracelog_level level_of(const tl_frame *f)
{
    return (tracelog_level){.function = f->flags & TL_FRAME_FUNCTION ? f->function : 0,
                            .ip = f->flags & TL_FRAME_IP ? f->ip : 0,
                            .node = f,
                            .lasts = f->lasts,
                            .flags = f->flags & (TL_FRAME_FUNCTION | TL_FRAME_IP | TL_FRAME_LINE)};
}

static bool same_function(const tracelog_level *a, const tracelog_level *b)
{
    return a->function == b->function && ((a->flags ^ b->flags) & TL_FRAME_FUNCTION) == 0;
}

static bool same_point(const tracelog_level *a, const tracelog_level *b)
{
    /* If no call point is known, its flags do not matter. */
    const uint32_t flags = (a->flags | b->flags) & TL_FRAME_IP ? TL_FRAME_IP | TL_FRAME_LINE : 0;
    return a->ip == b->ip && ((a->flags ^ b->flags) & flags) == 0;
}

/* Is this the same frame as before? */
static bool is_same(const tracelog_threads *t, const tracelog_thread *thread, const tracelog_level *l,
                    const tl_frame *f)
{
    const uint64_t now = f->lasts ? t->held : t->contents;
    return l->node == f && l->lasts == f->lasts && now && now == (f->lasts ? thread->held : thread->contents);
}

bool tracelog_stack_set(tracelog_threads *t, tracelog_thread *thread, const tl_frame *top, uint32_t kept,
                        tracelog_change *out, uint64_t *too_deep)
{
    if (TL_UNLIKELY(top && top->depth > TRACELOG_DEPTH_MAX)) {
        ++*too_deep;
        while (top && top->depth > TRACELOG_DEPTH_MAX)
            top = top->caller;
    }
    const uint32_t depth = top ? top->depth : 0, old = thread->n;
    if (!TL_GROW(t->walk, 0, depth, t->walk_capacity) || !TL_GROW(thread->level, 0, depth, thread->capacity))
        return false;

    uint32_t same = depth; /* frames that need no comparison */
    const tl_frame *f = top;
    for (; same > 0; same--, f = f->caller) {
        assert(f && f->depth == same);
        if (same <= old && is_same(t, thread, &thread->level[same - 1], f))
            break;
        t->walk[same - 1] = f;
    }

    const uint32_t both = depth < old ? depth : old;
    uint32_t equal = same;
    bool may_move = false;
    for (; equal < both; equal++) {
        const tracelog_level new = level_of(t->walk[equal]);
        may_move = same_function(&thread->level[equal], &new);
        if (!may_move || !same_point(&thread->level[equal], &new))
            break;
        may_move = false;
    }
    if (kept > equal + may_move)
        kept = equal + may_move;
    *out = (tracelog_change){.kept = kept, .size = old, .moved = kept > equal};

    for (uint32_t i = same; i < depth; i++)
        thread->level[i] = level_of(t->walk[i]);
    thread->n = depth;
    thread->contents = t->contents;
    thread->held = t->held;
    return true;
}
