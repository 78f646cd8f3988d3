/* Sleds: the places in the code of instrumented functions that are patched. */
#ifndef TL_RT_SLED_H
#define TL_RT_SLED_H

#include "rt/hook/rt_object_start.h"
#include "rt/object/rt_objects.h"
#include "rt/rt_sys.h"

/* The instructions of one machine: rt_sled_x86_64.c, rt_sled_aarch64.c.
 *
 * One store to a sled's first instruction switches it: off, it jumps over the rest, or returns. The rest is only
 * written while the sled is off, and stays when it is switched off again: a thread may still be in it. */
enum { RT_SLED_OFF, RT_SLED_ON, RT_SLED_ODD };

/* The state of a sled; ODD: unrecognised code. */
int tl_rt_sled_state(uintptr_t at, unsigned kind);
/* Can a branch reach the trampoline from it, and back? */
bool tl_rt_sled_reaches(uintptr_t at, uintptr_t trampoline);
/* Writes all but the first instruction, for a function's number. Not for event sleds, which contain a call. */
void tl_rt_sled_prepare(uintptr_t at, uint32_t id, uintptr_t trampoline, unsigned kind);
void tl_rt_sled_switch(uintptr_t at, unsigned kind, bool on);
/* Makes all processors execute the instructions written in [from, to) from now on. */
void tl_rt_sled_sync(uintptr_t from, uintptr_t to);
/* How many bytes of a sled are written at most. */
unsigned tl_rt_sled_bytes(unsigned kind);

/* The call in an event sled: can it be made to lead to an address? Then lead() does that, while the sled is off. */
bool tl_rt_sled_can_lead(uintptr_t at, unsigned kind, uintptr_t to);
void tl_rt_sled_lead(uintptr_t at, unsigned kind, uintptr_t to);

/* Code that continues at tl_rt_far_*, wherever that is (rt_far_*.S); sleds go through it if trampolines are too far
 * away. Caches must be told. */
enum { RT_FAR_BYTES = 32 };
void tl_rt_sled_write_far(void *at, uintptr_t far);
/* Any two addresses that are no further apart: a branch or a call of any sled reaches from one to the other. */
extern const uintptr_t tl_rt_sled_reach;

/* xray_instr_map in memory: rt_patch.c. */

/* One record of it. */
enum { RT_SLED_RECORD = 32 };
typedef struct rt_sled_place {
    uintptr_t at, function;
    unsigned kind;
    bool relative; /* the record is right even before the loader has relocated it */
} rt_sled_place;
/* False: of an unknown kind or version. */
bool tl_rt_map_sled(uintptr_t record, rt_sled_place *out);

/* How many functions the map has; if `function` is not NULL, their addresses without bias go there. */
uint32_t tl_rt_map_functions(const void *begin, const void *end, uintptr_t bias, uint64_t *function);
/* Switches the object's sleds: on where `on` and the function is wanted, else off. Reports the sleds that it cannot
 * switch. With tl_rt_sleds_lock taken. */
void tl_rt_patch(rt_object *o, bool on);

/* An object with sleds that was not linked with the start file, and does not register itself: see
 * patch/hook_sleds_found.c. */
typedef struct rt_sled_found {
    rt_sled_map map;
    uintptr_t event[RT_SLED_TYPED + 1 - RT_SLED_CUSTOM]; /* where the calls in event sleds must lead */
    bool refused;                                        /* its sleds are not to be touched; a message said why */
    bool leaves;                                         /* it may be unloaded, which its own end announces */
    bool followed;                                       /* the same, and the loader announces it */
} rt_sled_found;

/* rt_objects.c: registers one. *found does not move. False, after a message: no room. Not from hooks. */
bool tl_rt_object_found(const rt_sled_found *found);
/* The same file at the same place as one that the loader had announced, and removed: its functions keep their numbers.
 * False: it is another one. Not from hooks. */
bool tl_rt_object_again(const rt_object *like);
/* The loader has removed the object that contained an address. With tl_rt_sleds_lock. */
void tl_rt_object_closed(uintptr_t address);

/* The hook "sleds", hook_sleds.c. */
void tl_rt_sleds_begin(void);       /* adds the hook, once */
extern rt_lock tl_rt_sleds_lock;    /* held for patching, and while objects with sleds come and go; never by hooks */
extern rt_lock tl_rt_found_lock;    /* held by the one thread that looks for objects with sleds; taken before that */
void tl_rt_sleds_add(rt_object *o); /* a new object; with the lock */
/* The loader removes objects now, and their pages may be gone before it says which; with the lock. */
extern volatile bool tl_rt_sleds_removing;
/* Takes the lock to change code: not while objects are removed. That never lasts long, but in a child of fork whose
 * parent's thread did so. */
void tl_rt_sleds_lock_calmly(void);

/* rt_objects.c: writes notes for objects that the current recording has no note of. Not from hooks. */
void tl_rt_objects_note_new(void);

#endif
