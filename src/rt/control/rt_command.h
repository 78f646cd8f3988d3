/* Runs the commands of traceloom ctl. */
#ifndef TL_RT_COMMAND_H
#define TL_RT_COMMAND_H

#include "rt/rt_core.h"
#include "rt/rt_say.h"

typedef struct rt_status {
    uint32_t state, modes;     /* enum rt_state, RT_MODE_* */
    uint32_t functions, known; /* recorded, and recordable */
    uint32_t lanes;
    uint64_t bytes, lost, since; /* since: ns since 1970 of the last start, 0: none yet */
} rt_status;

void tl_rt_command_status(rt_status *s);
/* Runs "show", "start", "stop", "flush" or "set PAIRS", and reports in one line what was done or is wrong. 0 or -errno.
 * By one thread at a time; not from hooks. */
int tl_rt_command(const char *command, rt_line *result);

#endif
