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

static size_t tls_word; /* in the emulator's CPU; 0: not known */
static uint64_t tls_value, tls_before[CPU_WORDS];

/* Before and after the instruction that sets it, the CPU's words are compared: only one gets that value. */
void insn_before_tls(uint64_t value)
{
    tls_value = value;
    memcpy(tls_before, current_cpu, sizeof tls_before);
}

void insn_after_tls(void)
{
    const uint64_t *const cpu = current_cpu;
    for (size_t i = 1; i < CPU_WORDS && tls_value; i++)
        if (cpu[i] == tls_value && tls_before[i] != tls_value) {
            tls_word = i;
            return;
        }
}

bool insn_knows_tls(void)
{
    return tls_word != 0;
}

uint64_t insn_tls(void)
{
    return tls_word ? ((const uint64_t *)current_cpu)[tls_word] : 0;
}
