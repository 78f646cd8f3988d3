/* What hooks call: the functions of tl_rt_handlers for each combination of modes. */
#ifndef TL_RT_RECORD_H
#define TL_RT_RECORD_H

#include "rt/rt_lane.h"

/* The handlers of a state: all do nothing unless `on`. `threshold`: fdr leaves out calls shorter than tl_rt.threshold.
 */
const rt_handlers *tl_rt_record_handlers(bool on, unsigned modes, bool threshold);
/* The innermost call on the stack that the calling thread runs on now: after a signal handler that is not what the lane
 * has on top. From hooks; the lane is the thread's, and not busy. */
const rt_frame *tl_rt_record_top(const rt_lane *l);
/* Ends all calls of a lane, as hooks stay off: they would seem to last until recording goes on. Hooks are off, and
 * lanes settled. */
void tl_rt_record_pause(rt_lane *l, unsigned modes, bool threshold);

#endif
