/* The recorder's life in the process.
 *
 *   begin    a constructor: after those that register hooks and objects (101), before all others of the program
 *   finish   a destructor: after the handlers of atexit and the program's other destructors; also after those of
 *            at_quick_exit. In libtraceloom-rt.so both are the library's.
 *   fork     the child records to its own file
 *
 * Nothing is done at _exit, abort, exec, or in a process that is killed: the live file stays, and can be read. After
 * vfork the child runs in the parent's memory, on the parent's stack, until it calls exec or _exit: its calls are
 * recorded as the parent's. The program ends when its last thread does, so pthread_exit in main needs nothing here. */
#include "rt/rt_life.h"

#include <pthread.h>
#include <stdlib.h>

#include "rt/hook/rt_llvm.h"
#include "rt/hook/rt_spans.h"
#include "rt/object/rt_wanted.h"
#include "rt/rt_lane.h"
#include "rt/rt_record.h"

enum { LIFE = 102 }; /* priority: 101 is for what must be there before */

const char tl_rt_life[] = "";

/* exit() was called in a signal handler that interrupted its thread inside the recorder. The interrupted code will
 * never go on, so nobody waits for it; events put aside since are added now. */
static void leave_recorder(void)
{
    uint64_t mask = rt_signals_block();
    rt_lane *l = tl_rt_record_take((uintptr_t)__builtin_frame_address(0));
    if (l)
        tl_rt_record_give(l);
    rt_signals_restore(mask);
}

static void end(void)
{
    tl_rt_ending = 1;
    if (tl_rt_lane && tl_rt_lane->busy)
        leave_recorder();
    tl_rt_finish();
}

static void child(void)
{
    tl_rt_wanted_child();
    tl_rt_child();
}

extern uint32_t tl_rt_on_here __attribute__((visibility("hidden")));

__attribute__((constructor(LIFE))) static void begin(void)
{
    /* A library linked with the program's flags has a recorder, too; the program's does all the work. */
    const uint32_t *here = &tl_rt_on_here;
    __asm__("" : "+r"(here)); /* clang assumes that two names are two places */
    if (&tl_rt_on != here)
        return;
    /* Handlers registered first run last at exit, and first in a child. */
    at_quick_exit(end);
    pthread_atfork(tl_rt_before_fork, tl_rt_after_fork, child);
    tl_rt_llvm_begin();
    tl_rt_begin();
}

__attribute__((destructor(LIFE))) static void finish(void)
{
    end();
}
