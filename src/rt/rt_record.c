/* The path of an event: from a hook, past the guard, through the stack of open calls, into the recording.
 *
 * Apart from system calls, nothing here leaves the recorder's own code. */
#include "rt/rt_record.h"

#include "rt/rt_stack.h"

/* A handler is below the event that it interrupted, or on the signal stack. */
RT_COLD bool tl_rt_record_is_nested(const rt_lane *l, uintptr_t sp)
{
    stack_t s = {.ss_flags = SS_DISABLE};
    RT_SYS2(SYS_sigaltstack, 0, &s);
    bool on_signals = s.ss_flags & SS_ONSTACK,
         was = !(s.ss_flags & SS_DISABLE) && l->busy - (uintptr_t)s.ss_sp < s.ss_size;
    return on_signals == was ? sp < l->busy : on_signals;
}

/* The thread is inside the recorder: a signal handler interrupted it. Keeps its event for later. False if the handler
 * before left with longjmp: the guard is given up. */
static RT_COLD bool put_aside(rt_lane *l, uint32_t action, uint32_t id, uintptr_t sp, uintptr_t keep, uint64_t value)
{
    if (!tl_rt_record_is_nested(l, sp))
        return false;
    stack_t s;
    bool on_signals = ask_signal_stack(&s);
    uint64_t mask = rt_signals_block(); /* a handler that interrupts may never return */
    uint32_t i = l->nlate;
    if (i < RT_LATE) {
        l->late[i] = (rt_late_event){.time = rt_now(),
                                     .value = value,
                                     .sp = sp,
                                     .keep = keep,
                                     .id = id,
                                     .action = action,
                                     .on_signals = on_signals};
        l->nlate = i + 1;
    } else {
        l->lost.late++;
    }
    rt_signals_restore(mask);
    return true;
}

/* Adds what was put aside, with its original times. The lane is busy, signals are blocked: leaving with longjmp in the
 * middle would add events twice. */
static void add_all(rt_lane *l, unsigned modes)
{
    for (uint32_t i = 0; i < l->nlate; i++) {
        const rt_late_event *e = &l->late[i];
        uint64_t now = e->time;
        l->signals = e->on_signals ? RT_ON_SIGNALS : RT_NOT_ON_SIGNALS;
        if (e->action == RT_ARGUMENT)
            enter_with(l, now, e->id, e->sp, e->keep, e->value, modes);
        else if (e->action == RT_ENTER)
            enter_at(l, now, e->id, e->sp, e->keep, true, modes);
        else
            exit_at(l, now, e->id, e->sp, e->keep, e->action == RT_TAIL ? FDR_TAIL_EXIT : FDR_EXIT, modes);
    }
    l->nlate = 0;
    l->signals = 0;
}

/* Adds nothing once recording has stopped: another thread may be reading the lane. */
static RT_COLD void add_late(rt_lane *l, unsigned modes)
{
    uint64_t mask = rt_signals_block();
    l->busy = (uintptr_t)__builtin_frame_address(0);
    RT_BARRIER();
    if (l->epoch == *(const volatile uint32_t *)&tl_rt.epoch || tl_rt_lane_attach()) {
        add_all(l, modes);
    } else {
        l->lost.late += l->nlate;
        l->nlate = 0;
    }
    RT_BARRIER();
    l->busy = 0;
    rt_signals_restore(mask);
}

/* Before an event can be added: the lane was busy with one that will never be done, or others wait. The latter are
 * those of a handler that came at the end of an event; another handler may get here before that event adds them, and be
 * above them on the stack. */
static RT_COLD void catch_up(rt_lane *l, bool given_up, unsigned modes)
{
    uint64_t mask = rt_signals_block();
    if (given_up)
        tl_rt_lane_repair(l);
    add_all(l, modes);
    rt_signals_restore(mask);
}

/* The lane, busy and repaired, for an event not from a handler within the recorder. NULL: not recording. */
ALIKE rt_lane *take(uintptr_t sp, const unsigned modes)
{
    rt_lane *l = tl_rt_lane;
    if (RT_LIKELY(l != NULL)) {
        bool given_up = l->busy != 0;
        l->busy = sp;
        RT_BARRIER();
        if (RT_UNLIKELY(l->epoch != *(const volatile uint32_t *)&tl_rt.epoch) && !tl_rt_lane_attach()) {
            l->busy = 0;
            return NULL;
        }
        if (RT_UNLIKELY(given_up || l->nlate != 0))
            catch_up(l, given_up, modes);
        return l;
    }
    l = tl_rt_lane_attach();
    if (l)
        l->busy = sp;
    return l;
}

/* The guard. NULL: the event was handled, or nothing is recorded. */
ALIKE rt_lane *begin(uint32_t action, uint32_t id, uintptr_t sp, uintptr_t keep, uint64_t value, const unsigned modes)
{
    rt_lane *l = tl_rt_lane;
    if (RT_UNLIKELY(l && l->busy) && put_aside(l, action, id, sp, keep, value))
        return NULL;
    return take(sp, modes);
}

ALIKE void end(rt_lane *l, const unsigned modes)
{
    RT_BARRIER();
    if (RT_UNLIKELY(l->nlate != 0))
        add_late(l, modes); /* before the lane is free, so that events of a later handler come after these */
    l->busy = 0;
    RT_BARRIER();
    if (RT_UNLIKELY(l->nlate != 0))
        add_late(l, modes);
}

/* Events that find their lane busy, or not ready. */
ALIKE void any_enter(uint32_t id, uintptr_t sp, uintptr_t keep, const unsigned modes)
{
    rt_lane *l = begin(RT_ENTER, id, sp, keep, 0, modes);
    if (!l)
        return;
    enter_at(l, rt_now(), id, sp, keep, true, modes);
    end(l, modes);
}

ALIKE void any_exit(uint32_t id, uintptr_t sp, uintptr_t keep, unsigned action, const unsigned modes)
{
    rt_lane *l = begin(action == FDR_TAIL_EXIT ? RT_TAIL : RT_EXIT, id, sp, keep, 0, modes);
    if (!l)
        return;
    exit_at(l, rt_now(), id, sp, keep, action, modes);
    end(l, modes);
}

/* The lane, now busy, if its thread is outside the recorder and nothing has changed since its last event. */
ALIKE rt_lane *ready_lane(uintptr_t sp)
{
    rt_lane *l = tl_rt_lane;
    if (RT_UNLIKELY(!l || (l->busy | l->nlate)))
        return NULL;
    l->busy = sp;
    RT_BARRIER();
    if (RT_LIKELY(l->epoch == *(const volatile uint32_t *)&tl_rt.epoch))
        return l;
    l->busy = 0;
    return NULL;
}

/* The usual event, entirely without calls, so that nothing has to be kept on the stack. False: something is unusual;
 * the lane is busy, the time is taken, nothing else is done. (Taking the time again would make everything unusual seem
 * longer, and a first duration would never become the usual one.) */
ALIKE bool fast_enter(rt_lane *l, uint64_t now, uint32_t id, uintptr_t sp, uintptr_t keep, const unsigned modes)
{
    rt_frame *top = l->top, *f = top + 1;
    uint32_t node = 0;
    bool good = !(modes & RT_MODE_CTF) && top->sp >= keep && f != l->frame_end;
    if (modes & RT_MODE_PROFILE)
        good = good && (node = rt_profile_cached(l, top->node, id)) != 0;
    if (modes & RT_MODE_FDR)
        good = good && rt_fdr_is_ready(l, now);
    if (RT_UNLIKELY(!good))
        return false;
    f->sp = sp;
    if (modes & RT_MODE_PROFILE) {
        f->inner = 0;
        f->node = node;
    }
    if (modes & WITH_THRESHOLD) {
        f->mark = l->at;
        f->base = l->time;
    }
    RT_STORE(f->begin, now);
    RT_STORE(f->function, id);
    RT_STORE(l->top, f);
    if (modes & RT_MODE_FDR)
        rt_fdr_store(l, now, id, FDR_ENTER);
    RT_BARRIER();
    l->busy = 0;
    return true;
}

ALIKE bool fast_exit(rt_lane *l, uint64_t now, uint32_t id, uintptr_t keep, unsigned action, const unsigned modes)
{
    rt_frame *f = l->top;
    uint64_t ticks = now - f->begin;
    rt_self *self = (rt_self *)(void *)l->self;
    uint32_t *count = NULL;
    bool good = !(modes & RT_MODE_CTF) && f->function == id && f->sp >= keep && !l->beyond && now >= f->begin;
    if (modes == RT_MODE_PROFILE) /* with fdr, too, time never goes back */
        good = good && ticks >= f->inner;
    if (modes & RT_MODE_PROFILE)
        good = good && f->node && self->last_node &&
               (count = rt_profile_count(l, self->last_node, self->last_ticks)) != NULL;
    if (modes & RT_MODE_FDR)
        good = good && rt_fdr_is_ready(l, now);
    bool too_short = (modes & WITH_THRESHOLD) && ticks < tl_rt.threshold;
    if (modes & WITH_THRESHOLD) /* an entry with an argument is longer */
        good = good && (!too_short || rt_fdr_is_last(l, f));
    if (RT_UNLIKELY(!good))
        return false;
    RT_STORE(l->top, f - 1);
    if (modes & RT_MODE_PROFILE) {
        rt_profile_commit_to(l, self, count);
        f[-1].inner += ticks;
        rt_profile_last(self, f->node, ticks, f->inner);
    }
    if (too_short)
        rt_fdr_take_back(l, f);
    else if (modes & RT_MODE_FDR)
        rt_fdr_store(l, now, id, action);
    RT_BARRIER();
    l->busy = 0;
    return true;
}

ALIKE void on_argument(uint32_t id, uintptr_t sp, uintptr_t keep, uint64_t value, const unsigned modes)
{
    rt_lane *l = begin(RT_ARGUMENT, id, sp, keep, value, modes);
    if (RT_UNLIKELY(!l))
        return;
    enter_with(l, rt_now(), id, sp, keep, value, modes);
    end(l, modes);
}

ALIKE void on_event(unsigned kind, uint32_t type, const void *data, size_t n, const unsigned modes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    rt_lane *l = tl_rt_lane;
    if (l && l->busy && tl_rt_record_is_nested(l, here)) {
        l->lost.late++; /* there is no room to keep data */
        return;
    }
    l = begin(RT_ENTER, 0, here, 0, 0, modes);
    if (!l)
        return;
    if (modes & RT_MODE_FDR)
        tl_rt_fdr_event(l, rt_now(), kind, type, data, n);
    end(l, modes);
}

static unsigned modes_now(void)
{
    return tl_rt.set.modes | (tl_rt.threshold > 0 ? (unsigned)WITH_THRESHOLD : 0);
}

rt_lane *tl_rt_record_take(uintptr_t sp)
{
    return take(sp, modes_now());
}

void tl_rt_record_give(rt_lane *l)
{
    end(l, modes_now());
}

const rt_frame *tl_rt_record_top(const rt_lane *l)
{
    stack_t s;
    const rt_frame *f = first_switch(l);
    return f && !ask_signal_stack(&s) ? f - 1 : l->top;
}

void tl_rt_record_pause(rt_lane *l, unsigned modes, bool threshold)
{
    uint64_t now = rt_now();
    l->cpu_now = &l->cpu; /* the thread may be gone, and the kernel's memory of it, too */
    l->beyond = 0;
    while (l->top > l->frame) {
        if (l->top->function)
            close_left(l, now, modes | (threshold ? (unsigned)WITH_THRESHOLD : 0));
        else
            leave_signal_stack(l);
    }
}

#define HANDLERS(name, modes)                                                                                          \
    static RT_COLD void name##_late(rt_lane *l)                                                                        \
    {                                                                                                                  \
        add_late(l, modes);                                                                                            \
    }                                                                                                                  \
    static RT_RARE void name##_enter_any(uint32_t id, uintptr_t sp, uintptr_t keep)                                    \
    {                                                                                                                  \
        any_enter(id, sp, keep, modes);                                                                                \
    }                                                                                                                  \
    static RT_RARE void name##_exit_any(uint32_t id, uintptr_t sp, uintptr_t keep)                                     \
    {                                                                                                                  \
        any_exit(id, sp, keep, FDR_EXIT, modes);                                                                       \
    }                                                                                                                  \
    static RT_RARE void name##_enter_rare(rt_lane *l, uint64_t now, uint32_t id, uintptr_t sp, uintptr_t keep)         \
    {                                                                                                                  \
        enter_at(l, now, id, sp, keep, true, modes);                                                                   \
        end(l, modes);                                                                                                 \
    }                                                                                                                  \
    static RT_RARE void name##_exit_rare(rt_lane *l, uint64_t now, uint32_t id, uintptr_t sp, uintptr_t keep)          \
    {                                                                                                                  \
        exit_at(l, now, id, sp, keep, FDR_EXIT, modes);                                                                \
        end(l, modes);                                                                                                 \
    }                                                                                                                  \
    static void name##_enter(uint32_t id, uintptr_t sp, uintptr_t keep)                                                \
    {                                                                                                                  \
        rt_lane *l = ready_lane(sp);                                                                                   \
        uint64_t now;                                                                                                  \
        if (RT_UNLIKELY(!l))                                                                                           \
            name##_enter_any(id, sp, keep);                                                                            \
        else if (RT_UNLIKELY(!fast_enter(l, now = rt_counter(), id, sp, keep, modes)))                                 \
            name##_enter_rare(l, now, id, sp, keep);                                                                   \
        else if (RT_UNLIKELY(l->nlate != 0))                                                                           \
            name##_late(l);                                                                                            \
    }                                                                                                                  \
    static void name##_exit(uint32_t id, uintptr_t sp, uintptr_t keep)                                                 \
    {                                                                                                                  \
        rt_lane *l = ready_lane(sp);                                                                                   \
        uint64_t now;                                                                                                  \
        if (RT_UNLIKELY(!l))                                                                                           \
            name##_exit_any(id, sp, keep);                                                                             \
        else if (RT_UNLIKELY(!fast_exit(l, now = rt_counter(), id, keep, FDR_EXIT, modes)))                            \
            name##_exit_rare(l, now, id, sp, keep);                                                                    \
        else if (RT_UNLIKELY(l->nlate != 0))                                                                           \
            name##_late(l);                                                                                            \
    }                                                                                                                  \
    static void name##_tail(uint32_t id, uintptr_t sp, uintptr_t keep)                                                 \
    {                                                                                                                  \
        any_exit(id, sp, keep, FDR_TAIL_EXIT, modes);                                                                  \
    }                                                                                                                  \
    static void name##_argument(uint32_t id, uintptr_t sp, uintptr_t keep, uint64_t value)                             \
    {                                                                                                                  \
        on_argument(id, sp, keep, value, modes);                                                                       \
    }                                                                                                                  \
    static void name##_custom(const void *data, size_t n)                                                              \
    {                                                                                                                  \
        on_event(FDR_CUSTOM_EVENT, 0, data, n, modes);                                                                 \
    }                                                                                                                  \
    static void name##_typed(uint32_t type, const void *data, size_t n)                                                \
    {                                                                                                                  \
        on_event(FDR_TYPED_EVENT, type, data, n, modes);                                                               \
    }                                                                                                                  \
    static const rt_handlers name = {name##_enter,    name##_exit,   name##_tail,                                      \
                                     name##_argument, name##_custom, name##_typed};

HANDLERS(fdr, RT_MODE_FDR)
HANDLERS(fdr_threshold, RT_MODE_FDR | WITH_THRESHOLD)
HANDLERS(profile, RT_MODE_PROFILE)
HANDLERS(both, RT_MODE_FDR | RT_MODE_PROFILE)
HANDLERS(both_threshold, RT_MODE_FDR | RT_MODE_PROFILE | WITH_THRESHOLD)
HANDLERS(ctf, RT_MODE_CTF)

static void no_call(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    (void)id, (void)sp, (void)keep;
}

static void no_argument(uint32_t id, uintptr_t sp, uintptr_t keep, uint64_t value)
{
    (void)id, (void)sp, (void)keep, (void)value;
}

static void no_custom(const void *data, size_t n)
{
    (void)data, (void)n;
}

static void no_typed(uint32_t type, const void *data, size_t n)
{
    (void)type, (void)data, (void)n;
}

#define NOTHING                                                                                                        \
    {                                                                                                                  \
        no_call, no_call, no_call, no_argument, no_custom, no_typed                                                    \
    }
static const rt_handlers nothing = NOTHING;
rt_handlers tl_rt_handlers = NOTHING;

const rt_handlers *tl_rt_record_handlers(bool on, unsigned modes, bool threshold)
{
    if (!on)
        return &nothing;
    if (modes == RT_MODE_CTF)
        return &ctf;
    if (modes == RT_MODE_PROFILE)
        return &profile;
    if (modes == RT_MODE_FDR)
        return threshold ? &fdr_threshold : &fdr;
    return threshold ? &both_threshold : &both;
}
