/* Commands from outside while samples are recorded: `traceloom ctl PID stop`. The page is the recorder's of calls
 * (rt/control/control_layout.h). The writer looks at it in each turn. */
#ifndef TL_MANAGED_CONTROL_H
#define TL_MANAGED_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the page. Without one, which is said, nobody can control the recording. */
void managed_control_begin(void);
/* Does what the page asks for, and updates its numbers; `threads` and `lost` so far. */
void managed_control_look(uint32_t threads, uint64_t lost);
/* The recording is over; or, in a child of fork, somebody else's. */
void managed_control_end(void);

#endif
