/* Calls made from changes of stacks, as events that replace the lines: see tl_want.calls.
 *
 * The events of a part and its calls become batches of both, in the order of the log. Their values stay where they are,
 * in memory that these batches share. The calls of a thread never go back in time, so that each stays inside its caller
 * however events are sorted. */
#include <string.h>

#include "base/grow.h"
#include "format/tracelog/tracelog_replay.h"

static bool add_call(tracelog_replay *p, replay_thread *t, const tl_frame *f, uint32_t cls, uint32_t line, uint64_t ms)
{
    if (!TL_GROW(p->call, p->ncall, 1, p->call_capacity))
        return false;
    t->call_ms = ms > t->call_ms ? ms : t->call_ms;
    p->call[p->ncall++] = (replay_call){
        .ts = t->call_ms,
        .function = f->flags & TL_FRAME_FUNCTION ? f->function : (uint64_t)TRACELOG_UNKNOWN_FUNCTION,
        .cls = cls,
        .track = t->track,
        .line = line,
    };
    return true;
}

bool tracelog_replay_leave(tracelog_replay *p, uint32_t thread, uint32_t kept, uint32_t line, uint64_t ms)
{
    replay_thread *t = &p->thread[thread];
    bool ok = true;
    for (uint32_t i = t->depth; ok && i > kept; i--)
        ok = add_call(p, t, t->node[i - 1], TRACELOG_EXIT, line, ms);
    return ok;
}

bool tracelog_replay_enter(tracelog_replay *p, uint32_t thread, uint32_t entered, uint32_t line, uint64_t ms)
{
    replay_thread *t = &p->thread[thread];
    bool ok = true;
    for (uint32_t i = t->depth - entered; ok && i < t->depth; i++)
        ok = add_call(p, t, t->node[i], TRACELOG_ENTER, line, ms);
    return ok;
}

void tracelog_replay_unmix(tracelog_replay *p)
{
    tl_shared_arena_release(p->mixed_memory);
    p->mixed_memory = NULL;
    p->mixed = NULL;
    p->ncall = 0;
}

static void put_call(const replay_call *call, tl_batch *out)
{
    const uint32_t i = out->n++;
    out->ts[i] = call->ts;
    out->key[i] = call->function;
    out->cls[i] = call->cls;
    out->track[i] = call->track;
    if (out->val)
        out->val[i + 1] = out->nval;
}

/* False when memory runs out. */
static bool put_line(const tl_batch *b, uint32_t line, tl_batch *out)
{
    const uint32_t i = out->n, n = b->val ? b->val[line + 1] - b->val[line] : 0;
    tl_value *v = n > 0 ? tl_batch_slots(out, n) : NULL;
    if (n > 0 && !v)
        return false;
    if (n > 0)
        memcpy(v, b->v + b->val[line], n * sizeof *v);
    out->ts[i] = b->ts[line];
    out->key[i] = b->key[line];
    out->cls[i] = b->cls[line];
    out->track[i] = b->track[line];
    if (out->val)
        out->val[i + 1] = out->nval;
    out->n++;
    return true;
}

static bool is_change(const tl_batch *b, uint32_t line)
{
    return (b->cls[line] == tracelog_sam_str || b->cls[line] == tracelog_str_sam) && b->key[line] & TL_WEIGHT_CALLS;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the calls of the log");
}

int tracelog_replay_mixed(tracelog_replay *p, tl_batch *out, tl_error *e)
{
    const tl_batch *b = &p->mixed->batch;
    bool ok = true, more = true;
    if (out->val)
        out->val[0] = 0;
    while (ok && more && out->n < out->capacity) {
        if (p->mixed_call < p->ncall && p->call[p->mixed_call].line < p->mixed_line)
            put_call(&p->call[p->mixed_call++], out);
        else if (p->mixed_line == b->n)
            more = false;
        else if (is_change(b, p->mixed_line))
            p->mixed_line++;
        else
            ok = put_line(b, p->mixed_line++, out);
    }
    if (out->arena)
        tl_arena_hold(out->arena, p->mixed_memory);
    if (out->cpu) /* not known: -1 */
        memset(out->cpu, 0xff, out->n * sizeof *out->cpu);
    if (!ok || !more)
        tracelog_replay_unmix(p);
    return ok ? out->n > 0 : no_memory(e);
}

int tracelog_replay_mix(tracelog_replay *p, tracelog_part *part, tl_batch *out, tl_error *e)
{
    tl_shared_arena *memory = tl_shared_arena_new();
    if (!memory)
        return no_memory(e);
    if (part->batch.arena) {
        memory->arena = *part->batch.arena;
        *part->batch.arena = (tl_arena){0};
    }
    p->mixed = part;
    p->mixed_memory = memory;
    p->mixed_line = p->mixed_call = 0;
    return tracelog_replay_mixed(p, out, e);
}
