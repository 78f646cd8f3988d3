/* What hooks call: the functions of tl_rt_handlers for each combination of modes. */
#ifndef TL_RT_RECORD_H
#define TL_RT_RECORD_H

#include "rt/rt_lane.h"

/* The handlers for a state; unless `on`, they do nothing. `threshold`: fdr leaves out calls shorter than
 * tl_rt.threshold. */
const rt_handlers *tl_rt_record_handlers(bool on, unsigned modes, bool threshold);
/* Does an event at sp come from a signal handler that interrupted the recorder? If not, the event that made the lane
 * busy will never go on, because a handler left it with longjmp. The lane is busy. From hooks. */
bool tl_rt_record_is_nested(const rt_lane *l, uintptr_t sp);
/* For an event at `sp` other than a call: the calling thread's lane, busy and in order, with late events added; NULL:
 * not recording. Not from a signal handler that interrupted the recorder. From hooks. */
rt_lane *tl_rt_record_take(uintptr_t sp);
void tl_rt_record_give(rt_lane *l);
/* The innermost call on the stack that the calling thread runs on now: after a signal handler this is not the lane's
 * top. From hooks; the lane is the thread's, and not busy. */
const rt_frame *tl_rt_record_top(const rt_lane *l);
/* Ends all open calls of a lane when recording stops; otherwise they would seem to last until it goes on. Hooks are
 * off, and lanes settled. */
void tl_rt_record_pause(rt_lane *l, unsigned modes, bool threshold);

#endif
