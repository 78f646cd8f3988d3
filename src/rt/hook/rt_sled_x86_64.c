/* Sleds of x86-64, as clang emits them and when they are on:
 *
 *   entry, tail        eb 09  9 bytes of nop      41 ba N N N N  e8 R R R R    mov $number, %r10d; call trampoline
 *   exit               c3 2e  9 bytes of nop      41 ba N N N N  e9 R R R R    mov $number, %r10d; jmp trampoline
 *   custom, typed      eb 0f, eb 14; a call       66 90  a call                nop
 *
 * Sleds begin at even addresses, so one atomic store writes their first two bytes. */
#if defined(__x86_64__)

#include "rt/hook/rt_sled.h"

enum { SIZE = 11 }; /* of entries, exits and tails */
const uintptr_t tl_rt_sled_reach = 0x7fff0000;

/* The first two bytes, as a little-endian number. */
enum { JUMP_9 = 0x09eb, RETURN = 0x2ec3, MOVE = 0xba41, JUMP_15 = 0x0feb, JUMP_20 = 0x14eb, NOP = 0x9066 };

static unsigned off_word(unsigned kind)
{
    switch (kind) {
    case RT_SLED_EXIT:
        return RETURN;
    case RT_SLED_CUSTOM:
        return JUMP_15;
    case RT_SLED_TYPED:
        return JUMP_20;
    default:
        return JUMP_9;
    }
}

static unsigned on_word(unsigned kind)
{
    return kind < RT_TRAMPOLINES ? MOVE : NOP;
}

int tl_rt_sled_state(uintptr_t at, unsigned kind)
{
    if (at % 2 != 0)
        return RT_SLED_ODD;
    unsigned word = __atomic_load_n((const uint16_t *)at, __ATOMIC_RELAXED);
    return word == off_word(kind) ? RT_SLED_OFF : word == on_word(kind) ? RT_SLED_ON : RT_SLED_ODD;
}

static int64_t distance(uintptr_t at, uintptr_t trampoline)
{
    return (int64_t)(trampoline - (at + SIZE));
}

bool tl_rt_sled_reaches(uintptr_t at, uintptr_t trampoline)
{
    int64_t d = distance(at, trampoline);
    return d == (int32_t)d;
}

void tl_rt_sled_prepare(uintptr_t at, uint32_t id, uintptr_t trampoline, unsigned kind)
{
    volatile uint8_t *p = (volatile uint8_t *)at;
    uint32_t d = (uint32_t)distance(at, trampoline);
    for (unsigned i = 0; i < 4; i++) {
        p[2 + i] = (uint8_t)(id >> 8 * i);
        p[7 + i] = (uint8_t)(d >> 8 * i);
    }
    p[6] = kind == RT_SLED_EXIT ? 0xe9 : 0xe8;
}

void tl_rt_sled_switch(uintptr_t at, unsigned kind, bool on)
{
    __atomic_store_n((uint16_t *)at, (uint16_t)(on ? on_word(kind) : off_word(kind)), __ATOMIC_RELEASE);
}

/* Pushes, moves, the call, pops: none of them has another length when it is not needed. */
static uintptr_t call_of(uintptr_t at, unsigned kind)
{
    return at + (kind == RT_SLED_CUSTOM ? 10 : 14);
}

unsigned tl_rt_sled_bytes(unsigned kind)
{
    return kind < RT_TRAMPOLINES ? SIZE : (unsigned)call_of(5, kind);
}

bool tl_rt_sled_can_lead(uintptr_t at, unsigned kind, uintptr_t to)
{
    const uintptr_t call = call_of(at, kind);
    int64_t d = (int64_t)(to - (call + 5));
    return *(const uint8_t *)call == 0xe8 && d == (int32_t)d;
}

void tl_rt_sled_lead(uintptr_t at, unsigned kind, uintptr_t to)
{
    volatile uint8_t *p = (volatile uint8_t *)call_of(at, kind);
    uint32_t d = (uint32_t)(to - (call_of(at, kind) + 5));
    for (unsigned i = 0; i < 4; i++)
        p[1 + i] = (uint8_t)(d >> 8 * i);
}

/* jmp *0(%rip), and the address behind it */
void tl_rt_sled_write_far(void *at, uintptr_t far)
{
    static const uint8_t jump[6] = {0xff, 0x25};
    rt_copy(at, jump, sizeof jump);
    rt_copy((uint8_t *)at + sizeof jump, &far, sizeof far);
}

/* Caches are coherent. */
void tl_rt_sled_sync(uintptr_t from, uintptr_t to)
{
    (void)from, (void)to;
}

#else
typedef int rt_sled_x86_64_is_not_for_this_machine;
#endif
