/* Puts the changes of a finished plan into the code, and takes them back.
 *
 * Two ways: `write` while no other thread runs, `switch` while any thread may be in the code. Both keep the order that
 * changes need which share bytes (patch_change.tied), leave alone what cannot be changed safely, and tell which changes
 * are on afterwards. With tl_rt_sleds_lock taken and signals blocked; system calls only. */
#ifndef TL_RT_PATCH_WRITE_H
#define TL_RT_PATCH_WRITE_H

#include "patch/patch_place.h"

/* When code is changed. */
enum rt_patch_when {
    RT_PATCH_LOADING, /* nothing of the program has run yet: no call can come back into the middle of a change of
                         several instructions */
    RT_PATCH_ALONE,   /* there is one thread, and it is in the recorder */
    RT_PATCH_STOPPED, /* all others are stopped, and tl_rt_patch_stopped_look() knows where */
    RT_PATCH_HALTED,  /* all others are stopped somewhere */
    RT_PATCH_RUNNING
};

typedef struct rt_patch_text {
    const patch_image *image;
    const patch_code *code;
    uint32_t functions; /* of the plan */
    uint8_t *on;        /* [code->changes]: is it in the code now? */
    uint8_t *wanted;    /* [functions]: is it to be recorded? */
    bool writable;      /* the object's code was writable when it was loaded */
} rt_patch_text;

/* Is the code in memory what it should be? False: another tool changed it; *function is one that has such a change. */
bool tl_rt_patch_is_same(const rt_patch_text *t, uint32_t *function);
/* Puts in what wanted functions need, or takes all back. 0 or -errno: some changes were not made; -ECANCELED: the
 * others are no longer stopped. */
int tl_rt_patch_write(rt_patch_text *t, bool on, enum rt_patch_when when);
int tl_rt_patch_switch(rt_patch_text *t, bool on); /* RT_PATCH_RUNNING */

/* Which changes are to be made: move[i] of all `code->changes`. `can` says whether one by itself could.
 * on    a wanted function with a change that cannot, or that counts on one that cannot, is left out; changes of others
 *       are made if they are counted on
 * off   a change that cannot stays, and so does what it counts on
 * What another tool has changed since is left alone. Changes of dead bytes (live 0) do no harm, and stay as long as a
 * thread may be there, on its way. */
typedef bool rt_patch_can(const patch_change *c);
void tl_rt_patch_choose(const rt_patch_text *t, bool on, rt_patch_can *can, uint8_t *move);
rt_patch_can *tl_rt_patch_can(enum rt_patch_when when);
rt_patch_can tl_rt_patch_can_switch, tl_rt_patch_can_stopped;
/* Sees where threads are; false: that of one is not known, or there are too many. */
bool tl_rt_patch_stopped_look(void);
/* Since then: did a change stay only because a thread stands on it? */
bool tl_rt_patch_stopped_met(void);
/* Functions that have changes in the code once it is switched on, but are not recorded as a whole: other[f] of all
 * `functions`. False: no memory. */
bool tl_rt_patch_others(const rt_patch_text *t, enum rt_patch_when when, uint8_t *other);

#endif
