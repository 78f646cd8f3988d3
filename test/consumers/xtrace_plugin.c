/* A plugin for QEMU's user mode that records what an AArch64 program executes, as docs/format/xtrace.md describes it.
 * It gives tests and benchmarks streams of real programs.
 *
 *     qemu-aarch64 -cpu neoverse-n1 -singlestep -plugin ./xtrace_plugin.so,out=FOLDER[,option=...] PROGRAM
 *
 *     out=FOLDER       where the files go, one for each thread
 *     always=on        from the first instruction of each thread; otherwise between two HINT #9, which are not recorded
 *     interval=N       instructions between snapshots, 1000000 unless given; 0: no snapshots
 *     times=on         a TIME before each access
 *
 * For version 1 of the interface, QEMU 6 to 8; no package has its header, so this file declares what it uses. The
 * interface gives neither registers nor values. Registers come from functions for the debugger, which the command
 * exports; memory is read from the emulator's own mapping. Registers are up to date only at the begin of a translated
 * block: with -singlestep that is every instruction, and without it the values here are wrong. Programs must not use
 * SVE, whose accesses the interface does not show, and must not fork. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

/* QEMU's plugin interface. */
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(uint32_t);
bool qemu_plugin_mem_is_store(uint32_t);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int,
                                      int, void *);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id,
                                          void (*)(plugin_id, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                                   uint64_t, uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id, void (*)(plugin_id, unsigned, int64_t, int64_t));
void qemu_plugin_register_vcpu_exit_cb(plugin_id, void (*)(plugin_id, unsigned));
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

/* Other functions that the command exports, for its debugger, and GLib's array, which they append to. */
typedef struct byte_array {
    uint8_t *data;
    unsigned len;
} byte_array;
byte_array *g_byte_array_new(void);
byte_array *g_byte_array_set_size(byte_array *, unsigned);
extern __thread void *current_cpu;
extern uintptr_t guest_base;
int aarch64_cpu_gdb_read_register(void *cpu, byte_array *, int);
int aarch64_fpu_gdb_get_reg(void *env, byte_array *, int);

enum { GDB_SP = 31, GDB_PC = 32, GDB_CPSR = 33, GDB_FPSR = 32, GDB_FPCR = 33 };
enum { CPU_WORDS = 16384 /* searched, of the emulator's CPU */, X_IN_ENV = 64 /* bytes before X0 */ };

PUBLIC int qemu_plugin_version = 1;
PUBLIC int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

/* What an instruction needs beside its accesses. */
enum {
    SETS_TARGET = 1 << 0,   /* BR, BLR, RET, ERET */
    ENDS_BLOCK = 1 << 1,    /* the next one gives its pc */
    READS_SYSTEM = 1 << 2,  /* MRS */
    WRITES_SYSTEM = 1 << 3, /* MSR of a register */
    IS_DC = 1 << 4,
    STORES_EXCLUSIVE = 1 << 5,
    WANTS_FLAGS = 1 << 6, /* conditional select, MRS of a random number */
    IS_TRIGGER = 1 << 7,  /* HINT #9 */
    SWAPS = 1 << 8        /* LDADD and similar, SWP, CAS: the interface shows one access for both */
};

typedef struct insn {
    uint64_t pc;
    uint32_t opcode, is;
} insn;

enum { BUFFER = 1 << 20, TOKENS_MOST = 64 << 10 /* bytes made by one instruction */ };
#define NO_PC UINT64_MAX

typedef struct file {
    int fd;
    uint64_t written; /* all bytes so far, including the buffer */
    size_t used;
    uint8_t buffer[BUFFER];
} file;

typedef struct thread {
    struct thread *next;
    bool on, finished;
    uint64_t *x;        /* X0 .. SP, in the emulator's CPU */
    void *env;          /* where it begins */
    byte_array *answer; /* of the debugger's functions */
    const insn *last;   /* the last one executed; tokens may follow; NULL: none */
    uint64_t expected;  /* no token if the pc is this; NO_PC: always a token */
    bool loaded, swapped;
    uint64_t swap_address, tls, insns, next_snapshot;
    unsigned swap_shift;
    file stream, snapshots;
} thread;

static const char *folder;
static bool always, times;
static uint64_t interval = 1000000, accesses;
static thread *threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread thread *me;

static void die(const char *what)
{
    fprintf(stderr, "xtrace_plugin: %s\n", what);
    _exit(3);
}

static void flush(file *f)
{
    for (size_t done = 0; f->fd >= 0 && done < f->used;) {
        const ssize_t n = write(f->fd, f->buffer + done, f->used - done);
        if (n <= 0)
            die("cannot write");
        done += (size_t)n;
    }
    f->used = 0;
}

static void put(file *f, const void *data, size_t n)
{
    memcpy(f->buffer + f->used, data, n);
    f->used += n;
    f->written += n;
}

static void put64(file *f, uint64_t value)
{
    put(f, &value, sizeof value);
}

static void token64(thread *t, uint8_t token, uint64_t value)
{
    put(&t->stream, &token, 1);
    put64(&t->stream, value);
}

static void open_file(file *f, const char *kind)
{
    static time_t when;
    char path[4096];
    if (when == 0)
        when = time(NULL);
    snprintf(path, sizeof path, "%s/xtrace.%lld.%ld.hint9.%s.bin", folder, (long long)when, syscall(SYS_gettid), kind);
    f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (f->fd < 0)
        die("cannot write the files");
}

static uint64_t answered(thread *t, int n)
{
    uint64_t value = 0;
    memcpy(&value, t->answer->data, (size_t)n < sizeof value ? (size_t)n : sizeof value);
    return value;
}

static uint64_t gdb_register(thread *t, int number)
{
    g_byte_array_set_size(t->answer, 0);
    return answered(t, aarch64_cpu_gdb_read_register(current_cpu, t->answer, number));
}

/* Finds the registers in the emulator's CPU: a run of X0 .. SP and the pc with the values that the debugger gets, and a
 * pointer to what contains them. */
static void find_registers(thread *t)
{
    uint64_t *const cpu = current_cpu, wanted[GDB_PC + 1];
    for (int i = 0; i <= GDB_PC; i++)
        wanted[i] = gdb_register(t, i);
    for (size_t i = 0; i + GDB_PC < CPU_WORDS && !t->x; i++)
        if (memcmp(cpu + i, wanted, sizeof wanted) == 0)
            t->x = cpu + i;
    for (size_t i = 0; t->x && cpu + i < t->x && !t->env; i++)
        if (cpu[i] == (uintptr_t)t->x - X_IN_ENV)
            t->env = (char *)t->x - X_IN_ENV;
    if (!t->env)
        die("this QEMU keeps its registers where they cannot be found");
}

static void begin_thread(void)
{
    thread *const t = calloc(1, sizeof *t);
    if (!t)
        die("no memory");
    t->answer = g_byte_array_new();
    t->expected = NO_PC;
    t->next_snapshot = interval ? 0 : UINT64_MAX;
    t->stream.fd = t->snapshots.fd = -1;
    t->on = always;
    find_registers(t);
    pthread_mutex_lock(&lock);
    if (threads)
        t->tls = t->x[3]; /* of clone(), which returns from here first; the first thread sets it by MSR */
    t->next = threads;
    threads = t;
    pthread_mutex_unlock(&lock);
    me = t;
}

static void open_thread(thread *t)
{
    open_file(&t->stream, "xinsndata");
    if (interval) {
        const uint8_t header[24] = {'T', 'L', 'T', 'X', [8] = 1, [16] = 1 /* of all instructions */, [18] = times};
        open_file(&t->snapshots, "xsnapshot");
        put(&t->snapshots, header, sizeof header);
    }
}

static void put_zeros(file *f, size_t n)
{
    static const uint8_t zeros[256];
    for (size_t part; n; n -= part) {
        part = n < sizeof zeros ? n : sizeof zeros;
        put(f, zeros, part);
    }
}

/* Vectors of 128 bits; this processor has neither predicates nor ZA, and programs see none of the registers of EL1. */
static void put_snapshot(thread *t)
{
    file *const f = &t->snapshots;
    const uint64_t cpsr = gdb_register(t, GDB_CPSR);
    put64(f, 0);
    put64(f, t->stream.written);
    put64(f, t->insns);
    put64(f, t->insns);
    put(f, t->x, 32 * 8);
    for (int i = 0; i < 32; i++) {
        g_byte_array_set_size(t->answer, 0);
        if (aarch64_fpu_gdb_get_reg(t->env, t->answer, i) != 16)
            die("vectors have not 128 bits");
        put(f, t->answer->data, 16);
    }
    put_zeros(f, 17 * 16 + 16 * 16); /* P, FFR; ZA */
    g_byte_array_set_size(t->answer, 0);
    put64(f, answered(t, aarch64_fpu_gdb_get_reg(t->env, t->answer, GDB_FPCR)));
    g_byte_array_set_size(t->answer, 0);
    put64(f, answered(t, aarch64_fpu_gdb_get_reg(t->env, t->answer, GDB_FPSR)));
    put64(f, cpsr & 0xf0000000);
    put64(f, t->tls);
    put_zeros(f, 6 * 8); /* tpidrro_el0 .. tpidr_el1 */
    put64(f, cpsr & 0x3c0);
    put64(f, 128);
    if (f->used > BUFFER / 2)
        flush(f);
    t->next_snapshot += interval;
}

static void put_access(thread *t, bool store, unsigned shift, uint64_t address, const void *value)
{
    if (times)
        token64(t, 0x07, __atomic_fetch_add(&accesses, 1, __ATOMIC_RELAXED));
    token64(t, (uint8_t)(shift << 4 | (store ? 0x0a : 0x02)), address);
    put(&t->stream, value, (size_t)1 << shift);
}

static uint64_t general(const thread *t, uint32_t number)
{
    return number == 31 ? 0 : t->x[number];
}

/* The results of an instruction are known when the next one begins. */
static void finish_last(thread *t, uint64_t pc)
{
    const insn *const i = t->last;
    const uint32_t rt = i->opcode & 31, rs = i->opcode >> 16 & 31;
    t->last = NULL;
    if (t->swapped) { /* CAS loads into Rs, the others into Rt */
        const uint64_t before = general(t, (i->opcode & 0x3f000000) == 0x38000000 ? rt : rs);
        put_access(t, false, t->swap_shift, t->swap_address, &before);
        put_access(t, true, t->swap_shift, t->swap_address, (void *)(guest_base + t->swap_address)); // NOLINT
    }
    if (i->is & STORES_EXCLUSIVE)
        token64(t, 0x03, (uint32_t)general(t, rs));
    if (i->is & READS_SYSTEM) {
        token64(t, 0x0b, general(t, rt));
        if ((i->opcode & ~31u) == 0xd53bd040) /* TPIDR_EL0 */
            t->tls = general(t, rt);
    }
    if (i->is & WANTS_FLAGS)
        token64(t, 0x1c, gdb_register(t, GDB_CPSR) & 0xf0000000);
    if (i->is & SETS_TARGET)
        token64(t, 0x2b, pc);
}

static void begin_insn(thread *t, const insn *i)
{
    const uint32_t rt = i->opcode & 31;
    if (t->insns == t->next_snapshot)
        put_snapshot(t);
    if (i->pc == t->expected) {
        put(&t->stream, &(uint8_t){0x01}, 1);
    } else {
        token64(t, 0x09, i->pc);
    }
    put(&t->stream, &i->opcode, sizeof i->opcode);
    t->expected = i->is & ENDS_BLOCK ? NO_PC : i->pc + 4;
    t->insns++;
    t->loaded = t->swapped = false;
    t->last = i;
    if (i->is & WRITES_SYSTEM) {
        token64(t, 0x0b, general(t, rt));
        if ((i->opcode & ~31u) == 0xd51bd040)
            t->tls = general(t, rt);
    }
    if (i->is & IS_DC)
        token64(t, 0x23, general(t, rt));
}

static void on_insn(unsigned cpu, void *data)
{
    const insn *const i = data;
    (void)cpu;
    if (!me)
        begin_thread();
    thread *const t = me;
    if (t->on && t->last)
        finish_last(t, i->pc);
    if (i->is & IS_TRIGGER && !always) {
        t->finished |= t->on; /* only one part of a thread is recorded: a stream has no holes */
        t->on = !t->finished;
        return;
    }
    if (!t->on)
        return;
    if (t->stream.fd < 0)
        open_thread(t);
    if (t->stream.used > BUFFER - TOKENS_MOST)
        flush(&t->stream);
    begin_insn(t, i);
}

/* Called after the access. */
static void on_access(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
    const insn *const i = data;
    const unsigned shift = qemu_plugin_mem_size_shift(info);
    const bool store = qemu_plugin_mem_is_store(info);
    thread *const t = me;
    (void)cpu;
    if (!t || !t->on || t->last != i)
        return;
    if (i->is & STORES_EXCLUSIVE && !store)
        return; /* the emulator's way, not the processor's */
    if (i->is & SWAPS && store && !t->loaded && shift <= 3 && !t->swapped) {
        t->swapped = true;
        t->swap_address = address;
        t->swap_shift = shift;
        return;
    }
    t->loaded |= !store;
    put_access(t, store, shift, address, (void *)(guest_base + address)); // NOLINT
}

static void on_syscall(plugin_id id, unsigned cpu, int64_t number, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7)
{
    const uint64_t arguments[7] = {(uint64_t)number, a0, a1, a2, a3, a4, a5};
    thread *const t = me;
    (void)id, (void)cpu, (void)a6, (void)a7;
    if (!t || !t->on || !t->last)
        return;
    for (int i = 0; i < 7; i++)
        token64(t, 0x13, arguments[i]);
    const bool vectors =
        number == 65 || number == 66 || number == 69 || number == 70; /* readv, writev, preadv, pwritev */
    if (vectors && a2 <= 1024) {
        token64(t, 0x24, a2);
        put(&t->stream, (void *)(guest_base + a1), 16 * a2); // NOLINT
    }
}

static void on_result(plugin_id id, unsigned cpu, int64_t number, int64_t result)
{
    (void)id, (void)cpu, (void)number;
    if (me && me->on && me->last)
        token64(me, 0x1b, (uint64_t)result);
}

static bool one_of(uint32_t opcode, uint32_t mask, uint32_t value)
{
    return (opcode & mask) == value;
}

static uint32_t kind_of(uint32_t op)
{
    uint32_t is = 0;
    if (one_of(op, 0xfe000000, 0xd6000000))
        is |= SETS_TARGET | ENDS_BLOCK;
    if (one_of(op, 0x7c000000, 0x14000000) || one_of(op, 0xfe000000, 0x54000000) ||
        one_of(op, 0x7c000000, 0x34000000) || one_of(op, 0xff000000, 0xd4000000))
        is |= ENDS_BLOCK; /* B, BL; B.cond; CBZ .. TBNZ; exceptions */
    if (one_of(op, 0xfff00000, 0xd5300000))
        is |= READS_SYSTEM;
    if (one_of(op, 0xfff00000, 0xd5100000))
        is |= WRITES_SYSTEM;
    const uint32_t crm = op >> 8 & 15;
    if (one_of(op, 0xfff8f000, 0xd5087000) && (crm == 4 || crm == 6 || crm >= 10))
        is |= IS_DC;
    if (one_of(op, 0x3fe00000, 0x08000000) || one_of(op, 0xbfe00000, 0x88200000))
        is |= STORES_EXCLUSIVE;
    if (one_of(op, 0x3fe00000, 0x1a800000) || one_of(op, 0xffffffc0, 0xd53b2400))
        is |= WANTS_FLAGS; /* CSEL .. CSNEG; RNDR, RNDRRS */
    if (one_of(op, 0x3b200c00, 0x38200000) || one_of(op, 0x3fa07c00, 0x08a07c00))
        is |= SWAPS;
    return op == 0xd503213f ? IS_TRIGGER : is;
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t k = 0; k < qemu_plugin_tb_n_insns(block); k++) {
        struct qemu_plugin_insn *const one = qemu_plugin_tb_get_insn(block, k);
        insn *const i = malloc(sizeof *i); /* code lives as long as the program */
        if (!i)
            die("no memory");
        i->pc = qemu_plugin_insn_vaddr(one);
        memcpy(&i->opcode, qemu_plugin_insn_data(one), sizeof i->opcode);
        i->is = kind_of(i->opcode);
        qemu_plugin_register_vcpu_insn_exec_cb(one, on_insn, NO_REGISTERS, i);
        qemu_plugin_register_vcpu_mem_cb(one, on_access, NO_REGISTERS, READS_AND_WRITES, i);
    }
}

static void end_thread(thread *t)
{
    flush(&t->stream);
    flush(&t->snapshots);
    t->on = false;
}

static void on_exit_of_thread(plugin_id id, unsigned cpu)
{
    (void)id, (void)cpu;
    if (me)
        end_thread(me);
}

static void on_exit_of_all(plugin_id id, void *data)
{
    (void)id, (void)data;
    pthread_mutex_lock(&lock);
    for (thread *t = threads; t; t = t->next)
        end_thread(t);
    pthread_mutex_unlock(&lock);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0)
            folder = strdup(argv[i] + 4);
        else if (strcmp(argv[i], "always=on") == 0)
            always = true;
        else if (strcmp(argv[i], "times=on") == 0)
            times = true;
        else if (strncmp(argv[i], "interval=", 9) == 0)
            interval = strtoull(argv[i] + 9, NULL, 10);
        else
            return -1;
    }
    if (!folder)
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_result);
    qemu_plugin_register_vcpu_exit_cb(id, on_exit_of_thread);
    qemu_plugin_register_atexit_cb(id, on_exit_of_all, NULL);
    return 0;
}
