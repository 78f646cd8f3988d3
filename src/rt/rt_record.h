/* What hooks call: the functions of tl_rt_handlers for each combination of modes. */
#ifndef TL_RT_RECORD_H
#define TL_RT_RECORD_H

#include "rt/rt_lane.h"

/* The handlers of a state: all do nothing unless `on`. `threshold`: fdr leaves out calls shorter than tl_rt.threshold.
 */
const rt_handlers *tl_rt_record_handlers(bool on, unsigned modes, bool threshold);
/* Does an event at sp come from a signal handler that interrupted the recorder? Else what it interrupted can no longer
 * go on: a handler left with longjmp. The lane is busy. From hooks. */
bool tl_rt_record_is_nested(const rt_lane *l, uintptr_t sp);
/* The calling thread's lane, busy, put in order and with all that was put aside, for what is no call; NULL: nothing is
 * recorded. It lies at `sp`, and does not come from a signal handler that interrupted the recorder. From hooks. */
rt_lane *tl_rt_record_take(uintptr_t sp);
void tl_rt_record_give(rt_lane *l);
/* The innermost call on the stack that the calling thread runs on now: after a signal handler that is not what the lane
 * has on top. From hooks; the lane is the thread's, and not busy. */
const rt_frame *tl_rt_record_top(const rt_lane *l);
/* Ends all calls of a lane, as hooks stay off: they would seem to last until recording goes on. Hooks are off, and
 * lanes settled. */
void tl_rt_record_pause(rt_lane *l, unsigned modes, bool threshold);

#endif
