/* Puts the changes of a finished plan into the code, and takes them back.
 *
 * Two ways: `write` while no other thread runs, `switch` while any thread may be in the code. Both keep the order that
 * changes need which share bytes (patch_change.tied), leave alone what cannot be changed safely, and tell which changes
 * are on afterwards. With tl_rt_sleds_lock taken and signals blocked; system calls only. */
#ifndef TL_RT_PATCH_WRITE_H
#define TL_RT_PATCH_WRITE_H

#include "patch/patch_place.h"

typedef struct rt_patch_text {
    const patch_image *image;
    const patch_code *code;
    uint32_t functions; /* of the plan */
    uint8_t *on;        /* [code->changes]: is it in the code now? */
    bool writable;      /* the object's code was writable when it was loaded */
} rt_patch_text;

/* Is the code in memory what it should be? False: another tool changed it; *function is one that has such a change. */
bool tl_rt_patch_is_same(const rt_patch_text *t, uint32_t *function);
/* `before_main`: nothing of the program has run yet, so that no call can come back into the middle of changes of
 * several instructions; they are written, too. 0 or -errno: some changes were not made. */
int tl_rt_patch_write(rt_patch_text *t, bool on, bool before_main);
int tl_rt_patch_switch(rt_patch_text *t, bool on);

/* Which changes can be made: move[i] of all `code->changes`. `can` says whether one by itself could.
 * on    a function with a change that cannot is left out as a whole, and so is what counts on its bytes
 * off   a change that cannot stays, and so does what it counts on
 * What another tool has changed since is left alone. Changes with live == 0 do no harm, and are on as long as any
 * other. False: no memory. */
typedef bool rt_patch_can(const patch_change *c, bool on);
bool tl_rt_patch_choose(const rt_patch_text *t, bool on, rt_patch_can *can, uint8_t *move);

#endif
