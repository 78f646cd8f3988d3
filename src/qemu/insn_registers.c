/* Finds the registers in the emulator's CPU. They are up to date at the begin of a translated block: with -singlestep,
 * before each instruction. */
#include "qemu/insn_thread.h"

enum { CPU_WORDS = 16384 /* searched, of the emulator's CPU */, X_IN_ENV = 64 /* bytes before X0 */ };

uint64_t insn_gdb_register(insn_thread *t, int number)
{
    uint64_t value = 0;
    t->answer->len = 0;
    const int n = aarch64_cpu_gdb_read_register(current_cpu, t->answer, number);
    memcpy(&value, t->answer->data, n > 0 && (size_t)n < sizeof value ? (size_t)n : sizeof value);
    return value;
}

/* A run of X0 .. SP and the pc with the values that the debugger gets, and a pointer to what contains them. */
void insn_find_registers(insn_thread *t)
{
    uint64_t *const cpu = current_cpu, wanted[QEMU_PC + 1];
    t->answer = g_byte_array_new();
    g_byte_array_set_size(t->answer, 64); /* allocated */
    for (int i = 0; i <= QEMU_PC; i++)
        wanted[i] = insn_gdb_register(t, i);
    for (size_t i = 0; i + QEMU_PC < CPU_WORDS && !t->x; i++)
        if (memcmp(cpu + i, wanted, sizeof wanted) == 0)
            t->x = cpu + i;
    for (size_t i = 0; t->x && cpu + i < t->x && !t->env; i++)
        if (cpu[i] == (uintptr_t)t->x - X_IN_ENV)
            t->env = (char *)t->x - X_IN_ENV;
    if (!t->env)
        insn_refuse(INSN_NO_REGISTERS);
}

uint64_t insn_flags(insn_thread *t)
{
    return insn_gdb_register(t, QEMU_CPSR) & 0xf0000000;
}
