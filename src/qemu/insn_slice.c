/* A slice: QEMU runs the program as always up to a call, or an instruction. There it translates anew, one instruction a
 * block, so that registers are known, and with all callbacks; and again behind the end of the slice. */
#include "qemu/insn_thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
    const insn_slice *const s = &insn_memory->slice;
    insn_thread *const t = me();
    insn_before_tls(into == 31 ? 0 : t->x[into]);
    if (!s->function && !s->in_library && t->before_slice++ == s->number)
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
    const uint64_t place = __atomic_load_n(&function, __ATOMIC_ACQUIRE);
    const bool counts = !insn_memory->slice.function && !insn_memory->slice.in_library;
    for (size_t k = 0; now == WAITS && k < qemu_plugin_tb_n_insns(block); k++) {
        struct qemu_plugin_insn *const one = qemu_plugin_tb_get_insn(block, k);
        if (is_tls(one) && !insn_knows_tls() && qemu_plugin_insn_vaddr(one) != place)
            watch(one, on_tls);
        if (counts)
            watch(one, on_count);
        else if (place && qemu_plugin_insn_vaddr(one) == place)
            watch(one, on_function);
    }
    return true;
}

static __thread int mapped; /* the file that a system call maps, and 1; 0: none */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

void insn_slice_maps(int64_t number, uint64_t fd, uint64_t offset)
{
    enum { MMAP = 222 };
    const bool waits = insn_how.slice && insn_memory->slice.in_library && !insn_memory->slice.function;
    mapped = waits && number == MMAP && offset == 0 && fd < INT32_MAX ? (int)fd + 1 : 0;
}

/* Where the function is in a library that begins at that address; 0: it has none. */
static uint64_t ask(uint64_t address)
{
    insn_question *const q = &insn_memory->question;
    const struct timespec pause = {0, 100000000};
    char link[32];
    uint32_t is_free = INSN_UNASKED;
    while (!__atomic_compare_exchange_n(&q->state, &is_free, INSN_ASKING, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (insn_command_is_gone())
            return 0; /* or another process of the program ended while it asked */
        nanosleep(&pause, NULL);
        is_free = INSN_UNASKED;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", mapped - 1);
    const ssize_t n = readlink(link, q->path, sizeof q->path - 1);
    q->path[n > 0 ? n : 0] = '\0';
    __atomic_store_n(&q->state, INSN_ASKED, __ATOMIC_RELEASE);
    insn_wake_command();
    while (__atomic_load_n(&q->state, __ATOMIC_ACQUIRE) != INSN_ANSWERED && !insn_command_is_gone())
        syscall(SYS_futex, &q->state, FUTEX_WAIT, INSN_ASKED, &pause, NULL, 0);
    const uint64_t offset = q->offset;
    __atomic_store_n(&q->state, INSN_UNASKED, __ATOMIC_RELEASE);
    return offset ? address + offset : 0;
}

void insn_slice_mapped(int64_t address)
{
    if (!mapped || address <= 0)
        return;
    pthread_mutex_lock(&asking);
    const uint64_t found = insn_memory->slice.function ? 0 : ask((uint64_t)address);
    if (found) {
        __atomic_store_n(&function, found, __ATOMIC_RELEASE); /* nothing of it has been translated yet */
        insn_memory->slice.function = found;
    }
    pthread_mutex_unlock(&asking);
    mapped = 0;
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
