/* A slice: QEMU runs the program as always up to a call, or an instruction. There it translates anew, one instruction a
 * block, so that registers are known, and with all callbacks; and again behind the end of the slice. */
#include "qemu/insn_thread.h"

#define TRANSLATED() ((uintptr_t)__builtin_return_address(0)) /* where the callback was called from */

enum { STARTS, WAITS, LOOKS, RUNS, FORKED, OVER };
static uint32_t phase;    /* of this process */
static uint64_t function; /* where it is in memory */

static void enter(uint32_t next)
{
    __atomic_store_n(&phase, next, __ATOMIC_RELEASE);
    singlestep = next == RUNS || next == LOOKS;
    tb_flush(current_cpu); /* as soon as no thread is in translated code */
}

static insn_thread *me(void)
{
    return insn_me ? insn_me : insn_begin_thread();
}

/* The instruction, which has not been executed, is executed once it is translated anew. */
static void begin(insn_thread *t, uintptr_t translated)
{
    const insn_slice *const s = &insn_memory->slice;
    uint32_t is_free = 0;
    if (__atomic_compare_exchange_n(&insn_memory->slice.taken, &is_free, 1, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
        t->on = true;
        t->tls = insn_tls();
        t->until = s->function && !s->insns_most ? t->x[30] : 0;
        t->until_sp = t->x[QEMU_SP];
        enter(RUNS);
    } else {
        enter(OVER);
    }
    cpu_loop_exit_restore(current_cpu, translated);
}

static void on_function(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != WAITS)
        return;
    if (__atomic_add_fetch(&insn_memory->slice.calls, 1, __ATOMIC_RELAXED) == insn_memory->slice.number)
        begin(me(), TRANSLATED());
}

static void on_count(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != WAITS)
        return;
    insn_thread *const t = me();
    if (t->before_slice++ == insn_memory->slice.number)
        begin(t, TRANSLATED());
}

/* The first MSR of TPIDR_EL0, which the program's start executes before there are other threads. A register's value is
 * known in a block of its own, so it is executed in one. */
static void on_tls(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != WAITS || insn_knows_tls())
        return;
    enter(LOOKS);
    cpu_loop_exit_restore(current_cpu, TRANSLATED());
}

static void on_tls_alone(unsigned cpu, void *data)
{
    const uint32_t into = (uint32_t)(uintptr_t)data;
    (void)cpu;
    insn_thread *const t = me();
    insn_before_tls(into == 31 ? 0 : t->x[into]);
    if (!insn_memory->slice.function && t->before_slice++ == insn_memory->slice.number)
        begin(t, TRANSLATED());
}

static void on_tls_set(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != LOOKS)
        return;
    insn_after_tls();
    enter(WAITS);
    cpu_loop_exit_restore(current_cpu, TRANSLATED());
}

/* The kernel put the program's entry on its stack: behind its arguments and its environment, in pairs. */
static uint64_t find_entry(const insn_thread *t)
{
    enum { WORD = 8, MOST = 1 << 20, AT_NULL = 0, AT_ENTRY = 9 };
    uint64_t at = t->x[QEMU_SP], arguments, word = 1, pair[2] = {1, 0};
    if (!insn_read_guest(at, &arguments, WORD) || arguments > MOST)
        return 0;
    at += WORD * (arguments + 2);
    for (uint32_t i = 0; i < MOST && word; i++, at += WORD)
        if (!insn_read_guest(at, &word, WORD))
            return 0;
    for (; pair[0] != AT_NULL && pair[0] != AT_ENTRY; at += sizeof pair)
        if (!insn_read_guest(at, pair, sizeof pair))
            return 0;
    return pair[1];
}

/* At the first instruction of the program, or of its loader. */
static void on_start(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != STARTS)
        return;
    const insn_slice *const s = &insn_memory->slice;
    if (s->function)
        function = s->function + find_entry(me()) - s->entry;
    enter(WAITS);
    cpu_loop_exit_restore(current_cpu, TRANSLATED());
}

static void watch(struct qemu_plugin_insn *one, void (*callback)(unsigned, void *))
{
    qemu_plugin_register_vcpu_insn_exec_cb(one, callback, QEMU_NO_REGISTERS, NULL);
}

static bool is_tls(const struct qemu_plugin_insn *one)
{
    uint32_t opcode;
    memcpy(&opcode, qemu_plugin_insn_data(one), sizeof opcode);
    return (opcode & ~31u) == 0xd51bd040;
}

/* The instruction itself, and the one behind it. */
static void watch_tls(struct qemu_plugin_insn *one)
{
    uint32_t opcode;
    memcpy(&opcode, qemu_plugin_insn_data(one), sizeof opcode);
    if (is_tls(one))
        qemu_plugin_register_vcpu_insn_exec_cb(one, on_tls_alone, QEMU_NO_REGISTERS, (void *)(uintptr_t)(opcode & 31));
    else
        watch(one, on_tls_set);
}

bool insn_slice_translates(struct qemu_plugin_tb *block)
{
    const uint32_t now = __atomic_load_n(&phase, __ATOMIC_ACQUIRE);
    if (!insn_how.slice || now == RUNS)
        return false;
    if (now == STARTS)
        watch(qemu_plugin_tb_get_insn(block, 0), on_start);
    if (now == LOOKS)
        watch_tls(qemu_plugin_tb_get_insn(block, 0));
    for (size_t k = 0; now == WAITS && k < qemu_plugin_tb_n_insns(block); k++) {
        struct qemu_plugin_insn *const one = qemu_plugin_tb_get_insn(block, k);
        if (is_tls(one) && !insn_knows_tls() && qemu_plugin_insn_vaddr(one) != function)
            watch(one, on_tls);
        if (!insn_memory->slice.function)
            watch(one, on_count);
        else if (qemu_plugin_insn_vaddr(one) == function)
            watch(one, on_function);
    }
    return true;
}

bool insn_slice_is_over(const insn_thread *t, uint64_t pc)
{
    const uint64_t most = insn_memory->slice.insns_most;
    if (!insn_how.slice || t->count == 0)
        return false;
    return most ? t->count == most : t->until && pc == t->until && t->x[QEMU_SP] == t->until_sp;
}

void insn_end_slice(insn_thread *t)
{
    insn_end_thread(t);
    enter(OVER);
}

/* A child of the thread that is recorded is another one. QEMU can do nothing yet. */
void insn_fork_slice(insn_thread *t)
{
    if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != RUNS)
        return;
    t->on = false;
    t->finished = true;
    __atomic_store_n(&phase, FORKED, __ATOMIC_RELEASE);
}

void insn_leave_slice(void)
{
    if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) == FORKED)
        enter(OVER);
}
