/* The stack of open calls of a lane: how entries and exits change it, whatever state it is in.
 *
 * Included by rt_record.c alone. The compiler specialises these functions for each combination of modes: `modes` is a
 * constant in all of them. */
#ifndef TL_RT_STACK_H
#define TL_RT_STACK_H

#include <signal.h>

#include "rt/mode/rt_ctf.h"
#include "rt/mode/rt_fdr.h"
#include "rt/mode/rt_profile.h"
#include "rt/rt_lane.h"

enum { WITH_THRESHOLD = 8 }; /* beside RT_MODE_... */

#define ALIKE static inline __attribute__((always_inline))

/* Ends and pops the innermost open call. */
ALIKE void close_top(rt_lane *l, uint64_t now, unsigned action, const unsigned modes)
{
    rt_frame *f = l->top;
    l->top = f - 1;
    uint64_t ticks = now > f->begin ? now - f->begin : 0;
    if ((modes & RT_MODE_PROFILE) && ticks < f->inner) /* another processor's counter is behind */
        ticks = f->inner;
    if (modes & RT_MODE_PROFILE) {
        tl_rt_profile_add(l, f->node, ticks, f->inner);
        f[-1].inner += ticks;
    }
    if (modes & RT_MODE_FDR)
        if (!(modes & WITH_THRESHOLD) || ticks >= tl_rt.threshold || !tl_rt_fdr_take_back(l, f))
            rt_fdr_put(l, now, f->function, action);
    if (modes & RT_MODE_CTF)
        tl_rt_ctf_exit(l, now, f->function);
}

/* Ends a call left by longjmp or an exception, at the next event. */
static void close_left(rt_lane *l, uint64_t now, unsigned modes)
{
    switch (modes) {
    case RT_MODE_PROFILE:
        close_top(l, now, FDR_EXIT, RT_MODE_PROFILE);
        break;
    case RT_MODE_CTF:
        close_top(l, now, FDR_EXIT, RT_MODE_CTF);
        break;
    case RT_MODE_FDR | RT_MODE_PROFILE:
        close_top(l, now, FDR_EXIT, RT_MODE_FDR | RT_MODE_PROFILE);
        break;
    case RT_MODE_FDR | RT_MODE_PROFILE | WITH_THRESHOLD:
        close_top(l, now, FDR_EXIT, RT_MODE_FDR | RT_MODE_PROFILE | WITH_THRESHOLD);
        break;
    case RT_MODE_FDR | WITH_THRESHOLD:
        close_top(l, now, FDR_EXIT, RT_MODE_FDR | WITH_THRESHOLD);
        break;
    default:
        close_top(l, now, FDR_EXIT, RT_MODE_FDR);
    }
}

/* Gets the thread's signal stack; true: the thread runs on it now. */
static bool ask_signal_stack(stack_t *s)
{
    *s = (stack_t){.ss_flags = 0};
    return RT_SYS2(SYS_sigaltstack, 0, s) == 0 && (s->ss_flags & SS_ONSTACK);
}

/* Does the event run on the signal stack? Late events have a note of it. */
static bool on_signal_stack(const rt_lane *l, stack_t *s)
{
    bool now = ask_signal_stack(s);
    return l->signals ? l->signals == RT_ON_SIGNALS : now;
}

/* The outermost change of stacks among the open calls, or NULL. */
static rt_frame *first_switch(const rt_lane *l)
{
    rt_frame *f = l->frame + l->switched;
    return l->switched && f <= l->top && !f->function ? f : NULL;
}

/* The handler's calls nest in the call that the signal interrupted. */
static bool enter_signal_stack(rt_lane *l, uint64_t now)
{
    if (l->top + 1 == l->frame_end && !tl_rt_lane_grow(l))
        return false;
    l->top[1] = (rt_frame){.node = l->top->node, .begin = now};
    l->top++;
    if (!first_switch(l))
        l->switched = (uint32_t)(l->top - l->frame);
    return true;
}

static void leave_signal_stack(rt_lane *l)
{
    l->top[-1].inner += l->top->inner;
    l->top--;
}

/* An event outside the signal stack: all calls on it are over. */
static void leave_handlers(rt_lane *l, uint64_t now, unsigned modes)
{
    const rt_frame *f = first_switch(l);
    while (f && l->top >= f) {
        if (l->top->function)
            close_left(l, now, modes);
        else
            leave_signal_stack(l);
    }
}

/* Are the innermost calls on the signal stack? Calls below one on the thread's own stack were left long ago. */
static bool in_handler(const rt_lane *l, const stack_t *s)
{
    const rt_frame *f = l->top;
    while (f->function && f->sp - (uintptr_t)s->ss_sp < s->ss_size)
        f--;
    return f > l->frame && !f->function;
}

/* Closes the calls below `keep`, except those on the other stack, about which `keep` says nothing. */
static RT_COLD void resynchronise(rt_lane *l, uint64_t now, uintptr_t keep, unsigned modes)
{
    stack_t s;
    if (!on_signal_stack(l, &s)) {
        leave_handlers(l, now, modes);
    } else if (!in_handler(l, &s)) {
        enter_signal_stack(l, now);
        return;
    }
    while (l->top->function && l->top->sp < keep)
        close_left(l, now, modes);
    l->beyond = 0;
}

/* A time that fdr's running time can take, and within the caller: another processor's counter may be behind, and late
 * events are. */
ALIKE uint64_t not_before(const rt_lane *l, uint64_t now, const unsigned modes)
{
    if ((modes & RT_MODE_FDR) && now < l->time)
        now = l->time;
    return now < l->top->begin ? l->top->begin : now;
}

/* Begins a call. False: too deep to be tracked. Without `entry`, fdr gets no record of it: l->entering remains set. */
ALIKE bool enter_at(rt_lane *l, uint64_t now, uint32_t id, uintptr_t sp, uintptr_t keep, const bool entry,
                    const unsigned modes)
{
    now = not_before(l, now, modes);
    if (RT_UNLIKELY(l->top->sp < keep))
        resynchronise(l, now, keep, modes);
    if (RT_UNLIKELY(l->top + 1 == l->frame_end && !tl_rt_lane_grow(l))) {
        l->beyond++;
        l->lost.depth += !tl_rt.set.depth;
        return false;
    }
    rt_frame *f = l->top + 1;
    f->sp = sp;
    f->function = id;
    f->begin = now;
    if (modes & RT_MODE_PROFILE) {
        f->inner = 0;
        f->node = rt_profile_child(l, f[-1].node, id);
    }
    RT_STORE(l->entering, f);
    RT_STORE(l->top, f);
    if (entry && (modes & WITH_THRESHOLD))
        tl_rt_fdr_enter(l, f, now, false, 0);
    else if (entry && (modes & RT_MODE_FDR))
        rt_fdr_put(l, now, id, FDR_ENTER);
    if (modes & RT_MODE_CTF)
        tl_rt_ctf_enter(l, now, id);
    if (entry)
        RT_STORE(l->entering, NULL);
    return true;
}

/* The same with an argument, which follows the entry in the file. */
ALIKE void enter_with(rt_lane *l, uint64_t now, uint32_t id, uintptr_t sp, uintptr_t keep, uint64_t value,
                      const unsigned modes)
{
    if (enter_at(l, now, id, sp, keep, false, modes) && (modes & RT_MODE_FDR))
        tl_rt_fdr_enter(l, l->top, now, true, value);
    RT_STORE(l->entering, NULL);
}

/* An exit of another call than the innermost: some were left, or it began before recording, or it is not tracked. */
static RT_COLD bool find_call(rt_lane *l, uint64_t now, uint32_t id, uintptr_t sp, uintptr_t keep, unsigned modes)
{
    enum { NEAR = 4096 }; /* frames of one stack whose sp is only approximate (keep < sp) */
    if (l->beyond) {
        if (l->top->sp >= keep) {
            l->beyond--;
            return false;
        }
        l->beyond = 0;
    }
    stack_t s;
    if (first_switch(l) && !on_signal_stack(l, &s))
        leave_handlers(l, now, modes);
    while (l->top->function && l->top->sp < keep)
        close_left(l, now, modes);
    const rt_frame *f = l->top;
    if (keep < sp) /* with inexact places, a call that was left may still seem open */
        while (f > l->frame && f->function != id && f->function && f->sp < sp + NEAR)
            f--;
    if (f->function != id || f == l->frame) {
        l->lost.exits++;
        return false;
    }
    while (l->top > f)
        close_left(l, now, modes);
    return true;
}

ALIKE void exit_at(rt_lane *l, uint64_t now, uint32_t id, uintptr_t sp, uintptr_t keep, unsigned action,
                   const unsigned modes)
{
    now = not_before(l, now, modes);
    const rt_frame *f = l->top;
    if (RT_UNLIKELY(f->function != id || f->sp < keep || l->beyond))
        if (!find_call(l, now, id, sp, keep, modes))
            return;
    close_top(l, now, action, modes);
}

#endif
