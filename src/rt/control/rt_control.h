/* Control from outside: a page (control_layout.h) and a thread that does what is written there. */
#ifndef TL_RT_CONTROL_H
#define TL_RT_CONTROL_H

#include "rt/rt_core.h"

/* Makes the page and the thread, with all signals blocked in it. 0 or -errno. Again in the child after fork. Not from
 * hooks. The thread also calls tl_rt_clock_refine() and updates the page's numbers at most once a second,
 * and otherwise sleeps. */
int tl_rt_control_begin(void);
void tl_rt_control_end(void);  /* ends the thread and, unless it is the caller, waits for it */
void tl_rt_control_show(void); /* updates the numbers of the page */

/* From the control thread: all other threads are stopped until tl_rt_world_go(), by the process that gave the command.
 * False: nobody can do that, and they run. Between the two no lock may be taken, and nothing of libc be called. May be
 * called again after tl_rt_world_go(). */
bool tl_rt_world_stop(void);
/* Are they still? No, if that process has ended since: threads go on some time after this is known. */
bool tl_rt_world_is_stopped(void);
void tl_rt_world_go(void);

#endif
