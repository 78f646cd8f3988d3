/* Numbers of functions: dense, from 1 on, at most 2^28 - 1.
 *
 * Objects with sleds take a range each when they are registered (rt_objects.h). Functions known by address and those
 * known by name get the next number when first seen, and a note says which. */
#ifndef TL_RT_IDS_H
#define TL_RT_IDS_H

#include "rt/rt_sys.h"

enum { RT_ID_MAX = 0x0fffffff };

/* The first of n new numbers in a row, minus 1 (a `base`); UINT32_MAX: there are no more. From anywhere. */
uint32_t tl_rt_ids_take(uint32_t n);

/* Number of a function by its address, from a hook with its lane busy; made, and noted, if need be. 0: left out by the
 * settings' patterns, or no memory. The fast way is inline and one probe of a table. */
uint32_t tl_rt_ids_of_address_slow(uintptr_t address);

typedef struct rt_address_slot {
    uintptr_t address; /* 0: free */
    uint32_t id;       /* 0: known, but left out; RT_ID_PENDING: being made */
} rt_address_slot;
enum { RT_ADDRESS_SLOTS = 1 << 20 }; /* virtual; only what is used takes memory. Beyond 3/4 of them ids are 0 */
extern rt_address_slot *tl_rt_address_slots; /* NULL until the recorder began */

RT_INLINE uint32_t rt_id_of_address(uintptr_t address)
{
    rt_address_slot *slots = tl_rt_address_slots;
    if (RT_UNLIKELY(!slots))
        return 0;
    uint64_t h = (uint64_t)address * UINT64_C(0x9e3779b97f4a7c15);
    rt_address_slot *s = &slots[h >> 44];
    if (RT_LIKELY(__atomic_load_n(&s->address, __ATOMIC_ACQUIRE) == address))
        return __atomic_load_n(&s->id, __ATOMIC_RELAXED);
    return tl_rt_ids_of_address_slow(address);
}

/* Calls with every function known by address so far: after a fork or a new start the notes are written again. */
void tl_rt_ids_each_address(void (*visit)(void *arg, uint32_t id, uintptr_t address), void *arg);

#endif
