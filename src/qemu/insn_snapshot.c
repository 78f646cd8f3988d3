/* Snapshots of all registers: vectors of 128 bits; no predicates, no ZA, and none of the registers of EL1. */
#include "qemu/insn_thread.h"

static void put(uint8_t **at, const void *data, size_t n)
{
    memcpy(*at, data, n);
    *at += n;
}

static void put_value(uint8_t **at, uint64_t value)
{
    put(at, &value, sizeof value);
}

static void put_zeros(uint8_t **at, size_t n)
{
    memset(*at, 0, n);
    *at += n;
}

static void put_vector_unit(insn_thread *t, uint8_t **at, int number, size_t room)
{
    t->answer->len = 0;
    const int n = aarch64_fpu_gdb_get_reg(t->env, t->answer, number);
    if (n < 0 || (size_t)n > room)
        insn_refuse(INSN_WIDE_VECTORS);
    put(at, t->answer->data, (size_t)n);
    put_zeros(at, room - (size_t)n);
}

/* The offset in the stream is that in the block; the command adds what is before. */
void insn_put_state(insn_thread *t)
{
    const uint32_t used = (uint32_t)t->block->states;
    if (used > INSN_STATES_BYTES - INSN_STATE)
        return; /* the caller began a new block in time */
    uint8_t *at = t->full + INSN_TOKENS_MOST + used;
    const uint64_t cpsr = insn_gdb_register(t, QEMU_CPSR);
    put_value(&at, 0);
    put_value(&at, (uint32_t)t->block->filled);
    put_value(&at, t->count);
    put_value(&at, t->count);
    put(&at, t->x, 32 * 8);
    for (int i = 0; i < 32; i++)
        put_vector_unit(t, &at, i, 16);
    put_zeros(&at, 17 * 16 + 16 * 16); /* P, FFR; ZA */
    put_vector_unit(t, &at, QEMU_FPCR, 8);
    put_vector_unit(t, &at, QEMU_FPSR, 8);
    put_value(&at, cpsr & 0xf0000000);
    put_value(&at, t->tls);
    put_zeros(&at, 6 * 8); /* tpidrro_el0 .. tpidr_el1 */
    put_value(&at, cpsr & 0x3c0);
    put_value(&at, 128);
    __atomic_store_n(&t->block->states, used + INSN_STATE, __ATOMIC_RELEASE);
    t->next_state += insn_memory->interval;
    insn_plan_look(t);
}
