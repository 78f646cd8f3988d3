/* Sleds of AArch64, as clang emits them and when they are on:
 *
 *   entry, exit, tail        b +32                   nop
 *                            nop                     stp x17, x30, [sp, -16]!
 *                            nop                     movz w17, number
 *                            nop                     movk w17, number >> 16, lsl 16
 *                            nop                     adrp x30, trampoline
 *                            nop                     add x30, x30, :lo12:trampoline
 *                            nop                     blr x30
 *                            nop                     ldp x17, x30, [sp], 16
 *   custom, typed            b +24, b +36; a call    nop; a call
 *
 * Only a branch and a nop are exchanged while others may execute them: the architecture allows that. No register of the
 * function changes, not even x16 and x17, which may hold the target of the jump after a tail sled. */
#if defined(__aarch64__)

#include "rt/hook/rt_sled.h"

enum { SIZE = 32 }; /* of entries, exits and tails */
const uintptr_t tl_rt_sled_reach = 0x7ff0000;

enum { NOP = (int)0xd503201f, BRANCH_6 = 0x14000006, BRANCH_8 = 0x14000008, BRANCH_9 = 0x14000009 };
#define PUSH 0xa9bf7bf1u /* stp x17, x30, [sp, -16]! */

static uint32_t off_word(unsigned kind)
{
    return kind == RT_SLED_CUSTOM ? BRANCH_6 : kind == RT_SLED_TYPED ? BRANCH_9 : BRANCH_8;
}

int tl_rt_sled_state(uintptr_t at, unsigned kind)
{
    if (at % 4 != 0)
        return RT_SLED_ODD;
    const uint32_t *p = (const uint32_t *)at;
    uint32_t word = __atomic_load_n(p, __ATOMIC_RELAXED);
    if (word == off_word(kind))
        return RT_SLED_OFF;
    return word == (uint32_t)NOP && (kind >= RT_TRAMPOLINES || p[1] == PUSH) ? RT_SLED_ON : RT_SLED_ODD;
}

/* In pages, from that of the adrp. */
static int64_t distance(uintptr_t at, uintptr_t trampoline)
{
    return (int64_t)(trampoline >> 12) - (int64_t)((at + 16) >> 12);
}

bool tl_rt_sled_reaches(uintptr_t at, uintptr_t trampoline)
{
    int64_t d = distance(at, trampoline);
    return d >= -(1 << 20) && d < 1 << 20;
}

void tl_rt_sled_prepare(uintptr_t at, uint32_t id, uintptr_t trampoline, unsigned kind)
{
    (void)kind;
    volatile uint32_t *p = (volatile uint32_t *)at;
    uint32_t d = (uint32_t)distance(at, trampoline);
    p[1] = PUSH;
    p[2] = 0x52800011 | (id & 0xffff) << 5;                      /* movz w17 */
    p[3] = 0x72a00011 | id >> 16 << 5;                           /* movk w17, lsl 16 */
    p[4] = 0x9000001e | (d & 3) << 29 | (d >> 2 & 0x7ffff) << 5; /* adrp x30 */
    p[5] = 0x910003de | (uint32_t)(trampoline & 0xfff) << 10;    /* add x30, x30 */
    p[6] = 0xd63f03c0;                                           /* blr x30 */
    p[7] = 0xa8c17bf1;                                           /* ldp x17, x30, [sp], 16 */
}

void tl_rt_sled_switch(uintptr_t at, unsigned kind, bool on)
{
    __atomic_store_n((uint32_t *)at, on ? (uint32_t)NOP : off_word(kind), __ATOMIC_RELEASE);
}

/* The call is the fifth, or the seventh, instruction. */
static uintptr_t call_of(uintptr_t at, unsigned kind)
{
    return at + (kind == RT_SLED_CUSTOM ? 16 : 24);
}

unsigned tl_rt_sled_bytes(unsigned kind)
{
    return kind < RT_TRAMPOLINES ? SIZE : (unsigned)call_of(4, kind);
}

bool tl_rt_sled_can_lead(uintptr_t at, unsigned kind, uintptr_t to)
{
    const uintptr_t call = call_of(at, kind);
    int64_t d = (int64_t)(to - call) >> 2;
    return *(const uint32_t *)call >> 26 == 0x25 && d >= -(1 << 25) && d < 1 << 25;
}

void tl_rt_sled_lead(uintptr_t at, unsigned kind, uintptr_t to)
{
    const uintptr_t call = call_of(at, kind);
    *(volatile uint32_t *)call = 0x94000000 | ((uint32_t)((to - call) >> 2) & 0x3ffffff); /* bl */
}

/* No register is free here: tl_rt_far_* takes these two back. */
void tl_rt_sled_write_far(void *at, uintptr_t far)
{
    static const uint32_t jump[4] = {
        0xa9bf7bf0, /* stp x16, x30, [sp, -16]! */
        0x58000070, /* ldr x16, +12 */
        0xd61f0200, /* br x16 */
        (uint32_t)NOP,
    };
    rt_copy(at, jump, sizeof jump);
    rt_copy((uint8_t *)at + sizeof jump, &far, sizeof far);
}

/* Data caches write back to where instructions are fetched from, then instruction caches forget. */
void tl_rt_sled_sync(uintptr_t from, uintptr_t to)
{
    uint64_t ctr;
    __asm__ volatile("mrs %0, ctr_el0" : "=r"(ctr));
    uintptr_t data = 4u << (ctr >> 16 & 15), instruction = 4u << (ctr & 15);
    for (uintptr_t p = from & -data; p < to; p += data)
        __asm__ volatile("dc cvau, %0" : : "r"(p) : "memory");
    __asm__ volatile("dsb ish" : : : "memory");
    for (uintptr_t p = from & -instruction; p < to; p += instruction)
        __asm__ volatile("ic ivau, %0" : : "r"(p) : "memory");
    __asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

#else
typedef int rt_sled_aarch64_is_not_for_this_machine;
#endif
