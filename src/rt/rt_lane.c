/* Lanes: a thread gets one when it first calls a hook; it is taken back once the thread is found to be gone.
 *
 * Nothing reports the end of a thread: destructors of thread-specific data come in no suitable order, and need libc. So
 * when a lane is needed, the kernel is asked whether the threads of others still exist. */
#include "rt/rt_lane.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/mman.h>

#include "rt/mode/rt_ctf.h"
#include "rt/mode/rt_fdr.h"
#include "rt/mode/rt_profile.h"
#include "rt/rt_store.h"

__thread rt_lane *tl_rt_lane;
static __thread bool attaching; /* signals that cannot be blocked (faults) do without a lane then */
uint64_t tl_rt_lane_missed;

enum {
    FIRST_FRAMES = 1024,
    LOOK_AT = 64,        /* lanes to check before making a new one: keeps a new thread cheap */
    SETTLE_TURNS = 20000 /* at most some seconds in all: a debugger may have stopped a thread in the middle */
};

static rt_lane *lanes[RT_LANES]; /* each made once, never freed */
static volatile uint32_t nlane;
static uint32_t hand; /* a clock hand that goes round, looking for lanes of ended threads */
static rt_lock lock;

extern const ptrdiff_t __rseq_offset __attribute__((weak)); /* glibc 2.35 and later */
extern const unsigned int __rseq_size __attribute__((weak));
static const uint32_t no_cpu;

uint32_t tl_rt_lanes(void)
{
    return __atomic_load_n(&nlane, __ATOMIC_ACQUIRE);
}

rt_lane *tl_rt_lane_get(uint32_t index)
{
    return lanes[index];
}

/* Where the kernel keeps the number of the thread's current processor. */
static const volatile uint32_t *cpu_place(void)
{
    enum { CPU_ID = 4, SIZE_WITH_CPU_ID = 8 };
    if (!&__rseq_offset || !&__rseq_size || __rseq_size < SIZE_WITH_CPU_ID)
        return &no_cpu;
    char *thread;
#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(thread));
#else
    __asm__("mrs %0, tpidr_el0" : "=r"(thread));
#endif
    return (const volatile uint32_t *)(void *)(thread + __rseq_offset + CPU_ID);
}

/* Is the lane's thread gone? Another thread, such as the caller, may have its number by now. */
static bool deserted(const rt_lane *l, uint32_t tid)
{
    if (!l->used || l->tid == tid)
        return true;
    return RT_SYS3(SYS_tgkill, tl_rt.pid, l->tid, 0) == -ESRCH;
}

static rt_lane *new_lane(void)
{
    if (nlane == RT_LANES)
        return NULL;
    rt_lane *l = tl_rt_memory_take(sizeof *l);
    if (!l)
        return NULL;
    l->frame = tl_rt_memory_take(FIRST_FRAMES * sizeof *l->frame);
    if (!l->frame) {
        tl_rt_memory_give(l, sizeof *l);
        return NULL;
    }
    l->frames = FIRST_FRAMES;
    l->index = nlane;
    lanes[nlane] = l;
    __atomic_store_n(&nlane, nlane + 1, __ATOMIC_RELEASE);
    return l;
}

/* A lane whose thread is gone, or a new one. With the lock. */
static rt_lane *find_lane(uint32_t tid)
{
    uint32_t n = nlane;
    for (uint32_t i = 0; i < n && i < LOOK_AT; i++) {
        hand = hand + 1 < n ? hand + 1 : 0;
        if (deserted(lanes[hand], tid))
            return lanes[hand];
    }
    return new_lane();
}

void tl_rt_lanes_look(const rt_lane *own, void (*gone)(rt_lane *l))
{
    static uint32_t look; /* as `hand` */
    rt_lock_take(&lock);
    for (uint32_t i = 0; i < nlane && i < LOOK_AT; i++) {
        look = look + 1 < nlane ? look + 1 : 0;
        rt_lane *l = lanes[look];
        if (l != own && l->newest && l->file == tl_rt.file && !l->busy && deserted(l, own->tid))
            gone(l);
    }
    rt_lock_give(&lock);
}

/* The lane's thread was cancelled in the middle of an event. With the lock; the lane stays busy. */
static void abandon(rt_lane *l)
{
    tl_rt_lane_repair(l);
    l->lost.late += l->nlate;
    l->nlate = 0;
}

/* Makes a busy lane free if its thread is gone. Not from hooks. */
static void free_deserted(rt_lane *l)
{
    uint64_t mask = rt_signals_block();
    rt_lock_take(&lock); /* a new thread may be about to get it */
    if (l->busy && deserted(l, 0)) {
        abandon(l);
        l->busy = 0;
    }
    rt_lock_give(&lock);
    rt_signals_restore(mask);
}

/* Forgets the lane's previous thread: its open calls get no end. */
static void clear(rt_lane *l)
{
    l->top = l->frame;
    l->frame[0] = (rt_frame){.sp = UINTPTR_MAX};
    l->frame_end = l->frame + 1; /* settled by the first call */
    l->beyond = 0;
    l->lost.late += l->nlate;
    l->nlate = l->signals = 0;
}

static bool set_up(rt_lane *l)
{
    if (l->file != tl_rt.file) { /* its data belongs to another file */
        l->at = l->end = l->extents = NULL;
        l->slot = (rt_slot){.memory = NULL};
        l->oldest = l->newest = NULL;
        l->nring = 0;
        l->live = l->room = l->room_end = l->self = NULL;
        l->threads = 0;
        l->full = false;
        rt_zero(&l->lost, sizeof l->lost); /* an assignment may become a call of memset */
        l->ctf = NULL;
        l->file = tl_rt.file;
    }
    unsigned modes = tl_rt.set.modes;
    bool good = true;
    if (modes & RT_MODE_FDR)
        good = tl_rt_fdr_attach(l) && good;
    if (modes & RT_MODE_PROFILE)
        good = tl_rt_profile_attach(l) && good;
    if (modes & RT_MODE_CTF)
        good = tl_rt_ctf_attach(l) && good;
    l->threads++;
    return good;
}

/* With a clock other than the processor's counter, no event takes the fast path: the epoch never matches. */
static uint32_t current_epoch(void)
{
    uint32_t epoch = __atomic_load_n(&tl_rt.epoch, __ATOMIC_ACQUIRE);
    return tl_rt_clock.counter ? epoch : ~epoch;
}

/* A lane for the calling thread, busy; NULL: none left, or recording was stopped meanwhile. */
static rt_lane *take_lane(uint32_t tid)
{
    rt_lock_take(&lock);
    rt_lane *l = find_lane(tid);
    bool given_up = false, on = true;
    if (l) {
        given_up = l->busy != 0;
        l->busy = UINTPTR_MAX;
        RT_BARRIER(); /* either tl_rt_lanes_settle() sees this, or this thread sees the new state */
        on = *(volatile uint32_t *)&tl_rt.state == RT_ON;
        if (!on)
            l->busy = given_up;
    }
    if (l && on) {
        if (l->used && l->file == tl_rt.file) {
            if (given_up)
                abandon(l);
            tl_rt_profile_leave(l); /* the open calls of the previous thread */
        }
        l->tid = tid;
        l->used = 1;
    }
    rt_lock_give(&lock);
    return on ? l : NULL;
}

/* The thread's first event. */
static rt_lane *first(uint32_t epoch)
{
    uint32_t tid = (uint32_t)RT_SYS0(SYS_gettid);
    rt_lane *l = take_lane(tid);
    if (!l)
        return NULL;
    l->pid = (uint32_t)tl_rt.pid;
    l->cpu_now = cpu_place();
    clear(l);
    set_up(l);
    l->epoch = epoch;
    return l;
}

/* After a fork the child has a file of its own, in which the open calls begin again. */
static void begin_again(rt_lane *l)
{
    rt_frame *last = l->top;
    l->top = l->frame;
    l->pid = (uint32_t)tl_rt.pid;
    l->tid = (uint32_t)RT_SYS0(SYS_gettid);
    set_up(l);
    uint64_t now = rt_now();
    for (rt_frame *f = l->frame; f <= last; f++) {
        l->top = f;
        f->begin = now;
        f->inner = 0;
        if (f == l->frame || f->function == 0) {
            f->node = f == l->frame ? f->node : f[-1].node;
            continue;
        }
        if (tl_rt.set.modes & RT_MODE_PROFILE)
            f->node = rt_profile_child(l, f[-1].node, f->function);
        if (tl_rt.set.modes & RT_MODE_FDR)
            tl_rt_fdr_enter(l, f, now, false, 0);
        if (tl_rt.set.modes & RT_MODE_CTF)
            tl_rt_ctf_enter(l, now, f->function);
    }
}

rt_lane *tl_rt_lane_attach(void)
{
    rt_lane *l = tl_rt_lane;
    uint32_t epoch = current_epoch(); /* the epoch from before a stop that happens between these two */
    if (__atomic_load_n(&tl_rt.state, __ATOMIC_ACQUIRE) != RT_ON)
        return NULL;
    if (l) {
        l->cpu_now = cpu_place();
        if (l->file != tl_rt.file) {
            uint64_t mask = rt_signals_block();
            begin_again(l);
            rt_signals_restore(mask);
        }
        l->epoch = epoch;
        return l;
    }
    if (attaching) {
        __atomic_fetch_add(&tl_rt_lane_missed, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    uint64_t mask = rt_signals_block();
    attaching = true;
    l = first(epoch);
    tl_rt_lane = l;
    if (l) /* the caller's frame is above, frames of waiting handlers are below */
        l->busy = (uintptr_t)__builtin_frame_address(0);
    attaching = false;
    rt_signals_restore(mask);
    if (!l && tl_rt.state == RT_ON)
        __atomic_fetch_add(&tl_rt_lane_missed, 1, __ATOMIC_RELAXED);
    return l;
}

bool tl_rt_lane_grow(rt_lane *l)
{
    size_t top = (size_t)(l->top - l->frame), most = tl_rt.set.depth ? (size_t)tl_rt.set.depth + 1 : RT_FRAMES;
    if (top + 1 >= most)
        return false;
    if (top + 1 == l->frames) {
        uint64_t mask = rt_signals_block();
        rt_frame *more = tl_rt_memory_grow(l->frame, l->frames * sizeof *more, 2 * l->frames * sizeof *more);
        if (more) {
            l->frame = more;
            l->frames *= 2;
            l->top = more + top;
        }
        rt_signals_restore(mask);
        if (!more)
            return false;
    }
    l->frame_end = l->frame + (l->frames < most ? l->frames : most);
    return true;
}

static void sleep_us(long us)
{
    long time[2] = {0, us * 1000};
    RT_SYS2(SYS_nanosleep, time, 0);
}

void tl_rt_lane_repair(rt_lane *l)
{
    l->lost.late++;
    l->signals = 0;
    if (l->file != tl_rt.file) {
        l->entering = NULL;
        return;
    }
    unsigned modes = tl_rt.set.modes;
    bool entered = true;
    if (modes & RT_MODE_FDR)
        entered = tl_rt_fdr_repair(l);
    if (modes & RT_MODE_CTF)
        entered = tl_rt_ctf_repair(l);
    if (modes & RT_MODE_PROFILE)
        tl_rt_profile_repair(l);
    if (!entered && l->top->function)
        l->top--;
    l->entering = NULL;
}

void tl_rt_lanes_begin(void)
{
    RT_SYS3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

/* Makes every other thread complete its stores up to now, and see ours. */
static void meet_threads(void)
{
    long done = RT_SYS3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    if (done == -EPERM) {
        tl_rt_lanes_begin();
        done = RT_SYS3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    }
    if (done < 0) /* the kernel does not have it or forbids it: no processor holds back a store for long */
        sleep_us(2000);
}

void tl_rt_lanes_settle(void)
{
    meet_threads(); /* either a thread's `busy` is visible below, or the thread sees the new epoch */
    uint32_t n = tl_rt_lanes();
    for (uint32_t i = 0, turn = 0; i < n; i++) {
        rt_lane *l = lanes[i];
        for (; turn < SETTLE_TURNS && l != tl_rt_lane && l->busy; turn++) {
            if (turn < 64) {
                RT_SYS0(SYS_sched_yield);
            } else {
                sleep_us(250);
                free_deserted(l);
            }
        }
    }
    meet_threads(); /* on AArch64 the end of `busy` may be visible before the stores under it */
}

void tl_rt_lanes_child(void)
{
    lock = (rt_lock){.held = 0};
    attaching = false;
    tl_rt_lane_missed = 0;
    for (uint32_t i = 0; i < nlane; i++)
        if (lanes[i] != tl_rt_lane) {
            lanes[i]->used = 0;
            lanes[i]->busy = 0;
        }
}
