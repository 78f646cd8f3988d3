/* The state of a thread, and the frame that has the kernel put it back: that of a signal handler (x86-64 Linux). */
#ifndef TL_CLI_ATTACH_FRAME_H
#define TL_CLI_ATTACH_FRAME_H

#include "cli/attach/attach.h"

#if TL_CAN_INJECT
#include <sys/user.h>

#define TL_ATTACH_RED_ZONE 128u /* bytes below the stack pointer that functions use */

typedef struct tl_attach_state {
    struct user_regs_struct regs;
    uint8_t *extended; /* x87, vector registers, ...: as XSAVE stores them */
    size_t extended_size;
    uint64_t mask; /* blocked signals */
} tl_attach_state;

/* Takes the state of a stopped thread. False: errno says why. */
bool tl_attach_state_take(pid_t thread, tl_attach_state *s);
/* Blocks its signals: only while a frame will put them back, whatever happens to us. False: errno says why. */
bool tl_attach_state_mute(pid_t thread);
/* Puts all of it back. */
void tl_attach_state_put(pid_t thread, const tl_attach_state *s);
void tl_attach_state_free(tl_attach_state *s);
/* x87 and vector registers as a function may expect them. False: errno says why. */
bool tl_attach_state_clean(pid_t thread, const tl_attach_state *s);
/* Writes the frame below `top`. Returns its address, for the stack pointer of a function that returns to `back`; 0: it
 * cannot be written. */
uint64_t tl_attach_frame_write(const tl_attach *a, const tl_attach_state *s, uint64_t top, uint64_t back);
#endif

#endif
