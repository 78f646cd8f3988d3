/* Numbers of functions: dense, from 1 on, at most 2^28 - 1.
 *
 * Objects with sleds take a range each when they are registered (rt_objects.h). Functions known by address and those
 * known by name get the next number when first seen, and a note says which.
 *
 * An address has one meaning until its object is unloaded (rt_unload.h). If the same one is loaded there again, it has
 * the same number as before. */
#ifndef TL_RT_IDS_H
#define TL_RT_IDS_H

#include <stdbool.h>

#include "rt/rt_sys.h"

enum { RT_ID_MAX = 0x0fffffff };

/* The first of n new consecutive numbers, minus 1 (a `base`); UINT32_MAX: there are no more. From anywhere. */
uint32_t tl_rt_ids_take(uint32_t n);

/* Makes the table of addresses, if there is none; false: no memory. Not from hooks. */
bool tl_rt_ids_begin(void);
/* The number of a function by its address, made and noted if needed; from a hook whose lane is not busy. 0: the
 * patterns leave it out, or no memory. The fast way is rt_address_at_home(). */
uint32_t tl_rt_ids_of_address_slow(uintptr_t address);

typedef struct rt_address_slot {
    uintptr_t address; /* 0: free; never changes again */
    uint32_t id;       /* the function's number, or with flags: RT_ID_...; 0: none yet */
    uint32_t first;    /* bytes from the address to the return address of its first hook; for hook_functions.c */
} rt_address_slot;
/* 16 MiB, virtual: only used pages take memory. When 3/4 are taken, ids are 0. */
enum { RT_ADDRESS_SLOTS = 1 << 20, RT_ADDRESS_MAX = RT_ADDRESS_SLOTS / 4 * 3 };
#define RT_ID_FLAGGED  0x80000000u           /* do not use as is: one of the following flags is set */
#define RT_ID_LEFT_OUT 0xc0000000u           /* by the patterns */
#define RT_ID_UNNOTED  0xa0000000u           /* not in a note yet */
#define RT_ID_UNLOADED 0x90000000u           /* the number belonged to an unloaded object */
extern rt_address_slot *tl_rt_address_slots; /* NULL until the recorder began */

/* Neighbours in the program are neighbours in the table, which so takes as few pages as the program. With its two
 * hooks, no function is shorter than 32 bytes. */
RT_INLINE uint32_t rt_address_home(uintptr_t address)
{
    return (uint32_t)(address >> 5 ^ address >> 25) & (RT_ADDRESS_SLOTS - 1);
}

/* The slot of a function that is in its home, as most are. NULL: use tl_rt_ids_of_address_slow(). */
RT_INLINE rt_address_slot *rt_address_at_home(rt_address_slot *slots, uintptr_t address)
{
    rt_address_slot *s = &slots[rt_address_home(address)];
    return RT_LIKELY(__atomic_load_n(&s->address, __ATOMIC_RELAXED) == address) ? s : NULL;
}

/* Calls visit() with every function known by address so far, to write names. */
void tl_rt_ids_each_address(void (*visit)(void *arg, uint32_t id, uintptr_t address), void *arg);
/* Notes what signal handlers could not, because they interrupted the recorder. While it is on; not from hooks. */
void tl_rt_ids_note_late(void);
/* The functions at [low, high) were unloaded: functions loaded there later get other numbers. Not from hooks. */
void tl_rt_ids_unload(uintptr_t low, uintptr_t high);
/* An object was loaded at [low, high). `same`: it is the previous one again, and gets its numbers back. */
void tl_rt_ids_load(uintptr_t low, uintptr_t high, bool same);
/* The patterns changed: decides again about every known function. Not from hooks. */
void tl_rt_ids_decide_again(void);

#endif
