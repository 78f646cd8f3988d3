/* Writes the instructions of one thread or processor as a trace of DynamoRIO's drmemtrace; see drmemtrace_layout.h.
 *
 * A branch record includes its target or outcome, and only what was executed is written: an instruction is held back
 * until that is known. Its bytes are written unless they were recently written for the same address. DynamoRIO's tools
 * want an access for each memory operand: what an instruction accesses in one piece is one, as for the load of a pair.
 */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "format/drmemtrace/drmemtrace_layout.h"
#include "isa/a64.h"
#include "model/format_impl.h"

enum { INSN_SIZE = 4, CACHE_BITS = 14, LONGEST_ACCESS = UINT16_MAX, ACCESS_PART = 32768 };

/* Traces do not have these. They are those of the processor that we record for, Neoverse N1; others may differ. */
enum { CACHE_LINE = 64, PAGE = 4096 };

/* Ids must not be 0. This is the limit of Linux's thread numbers, so no thread has it. */
#define NUMBER_OF_ZERO (UINT64_C(1) << 22)

enum { FIRST_TIME = 1, TIME_STEP = 1000, RT_SIGRETURN = 139, LAST_ERRNO = 4095 };
enum { NOTHING, INSTRUCTION, LOAD, STORE, TARGET, ARGUMENT, RESULT, CACHE, ORDER, REGISTERS, FLAGS };

/* An instruction whose bytes were written. */
typedef struct written_insn {
    uint64_t pc;
    uint32_t op;
    bool used;
} written_insn;

typedef struct drmemtrace_writer {
    tl_write_context context;
    uint8_t *action;       /* by class: what to do with its events */
    written_insn *written; /* by pc */
    uint32_t track;        /* UINT32_MAX: none yet */
    bool begun;
    uint64_t id; /* of the thread */

    /* The last instruction. */
    bool has_place; /* it was written or is held back: what follows belongs to it */
    bool holds;     /* it is not written yet */
    uint64_t pc, target;
    uint32_t op;
    a64_class cls;
    unsigned level;
    bool has_target, has_access, clears;
    bool is_call, has_number, has_returned;
    uint64_t number; /* of the system call */

    /* An access that the next one may continue. */
    unsigned access;
    uint64_t address, size; /* size 0: none */

    bool gap, has_registers, interrupted;
    uint64_t time, last_stamp, window;
    const char *lost_name[FLAGS + 1]; /* of classes that are only looked at */
    uint64_t lost[FLAGS + 1];
    uint64_t without_pc, lost_arguments, lost_targets, failed;
} drmemtrace_writer;

static unsigned action_of_state(tl_role role)
{
    switch (role) {
    case TL_ROLE_TARGET:
        return TARGET;
    case TL_ROLE_CALL_ARGUMENT:
        return ARGUMENT;
    case TL_ROLE_CALL_RESULT:
        return RESULT;
    case TL_ROLE_CACHE_ADDRESS:
        return CACHE;
    case TL_ROLE_ORDER:
        return ORDER;
    case TL_ROLE_FLAGS:
        return FLAGS;
    default:
        return NOTHING;
    }
}

static unsigned action_of(const tl_class *c)
{
    switch (c->role) {
    case TL_ROLE_A64:
        return c->kind == TL_INSN && c->aux == TL_AUX_INSN ? INSTRUCTION : NOTHING;
    case TL_ROLE_LOAD:
        return c->kind == TL_MEM && c->aux == TL_AUX_SIZE ? LOAD : NOTHING;
    case TL_ROLE_STORE:
        return c->kind == TL_MEM && c->aux == TL_AUX_SIZE ? STORE : NOTHING;
    case TL_ROLE_GENERAL:
        return c->kind == TL_REGS ? REGISTERS : NOTHING;
    default:
        return c->key == TL_KEY_VALUE ? action_of_state(c->role) : NOTHING;
    }
}

static int drmemtrace_create(void *writer, const tl_write_context *context, tl_error *e)
{
    drmemtrace_writer *w = writer;
    const tl_trace *t = context->trace;
    bool any = false;
    w->context = *context;
    w->track = UINT32_MAX;
    w->action = calloc((size_t)t->ncls + 1, sizeof *w->action);
    w->written = calloc((size_t)1 << CACHE_BITS, sizeof *w->written);
    if (!w->action || !w->written)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "drmemtrace: no memory for the classes of events");
    for (uint32_t i = 0; i < t->ncls; i++) {
        w->action[i] = (uint8_t)action_of(&t->cls[i]);
        any = any || w->action[i] == INSTRUCTION;
        w->lost_name[w->action[i]] = t->cls[i].name;
    }
    return any ? 0 : tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "drmemtrace: the trace has no instructions of A64");
}

static tl_accept drmemtrace_accept(void *writer, const tl_class *c)
{
    (void)writer;
    if (c->kind == TL_FORMAT)
        return TL_ACCEPT_IGNORE;
    return action_of(c) != NOTHING ? TL_ACCEPT_KEEP : TL_ACCEPT_DROP;
}

static void put(drmemtrace_writer *w, unsigned type, unsigned size, uint64_t value)
{
    char *p = tl_output_reserve(w->context.out, DRMEMTRACE_SIZE);
    tl_store16(p, (uint16_t)type, false);
    tl_store16(p + 2, (uint16_t)size, false);
    tl_store64(p + 4, value, false);
    tl_output_commit(w->context.out, p + DRMEMTRACE_SIZE);
}

static void mark(drmemtrace_writer *w, unsigned what, uint64_t value)
{
    put(w, DRMEMTRACE_MARKER, what, value);
}

/* The order of accesses of several threads is the only time that a trace has: it lets the tools merge their files. */
static void put_time(drmemtrace_writer *w)
{
    const tl_track *t = tl_trace_track(w->context.trace, w->track == UINT32_MAX ? 0 : w->track);
    w->last_stamp = w->time;
    mark(w, DRMEMTRACE_MARK_TIMESTAMP, FIRST_TIME + w->time);
    mark(w, DRMEMTRACE_MARK_CPU, t && t->is_cpu ? (uint64_t)t->tid : UINT64_MAX /* not known */);
}

static void begin(drmemtrace_writer *w)
{
    const tl_track *t = tl_trace_track(w->context.trace, w->track == UINT32_MAX ? 0 : w->track);
    const uint64_t tid = t && t->has_tid && t->tid > 0 ? (uint64_t)t->tid : NUMBER_OF_ZERO;
    const uint64_t pid = t && t->has_pid && t->pid > 0 ? (uint64_t)t->pid : tid;
    w->id = tid;
    w->begun = true;
    put(w, DRMEMTRACE_HEADER, 0, DRMEMTRACE_VERSION);
    mark(w, DRMEMTRACE_MARK_VERSION, DRMEMTRACE_VERSION);
    mark(w, DRMEMTRACE_MARK_FILETYPE, DRMEMTRACE_FILE_AARCH64 | DRMEMTRACE_FILE_ENCODINGS | DRMEMTRACE_FILE_SYSCALLS);
    put(w, DRMEMTRACE_THREAD, 0, tid);
    put(w, DRMEMTRACE_PID, 0, pid);
    mark(w, DRMEMTRACE_MARK_CACHE_LINE, CACHE_LINE);
    mark(w, DRMEMTRACE_MARK_CHUNK, 0); /* in one piece */
    mark(w, DRMEMTRACE_MARK_PAGE, PAGE);
    put_time(w);
}

static void put_encoding(drmemtrace_writer *w, uint64_t pc, uint32_t op)
{
    written_insn *known = &w->written[(pc >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CACHE_BITS)];
    if (known->used && known->pc == pc && known->op == op)
        return;
    *known = (written_insn){pc, op, true};
    put(w, DRMEMTRACE_ENCODING, INSN_SIZE, op);
}

static unsigned type_of(a64_class c)
{
    switch (c) {
    case A64_JUMP:
        return DRMEMTRACE_DIRECT_JUMP;
    case A64_CALL:
        return DRMEMTRACE_DIRECT_CALL;
    case A64_COND:
        return DRMEMTRACE_CONDITIONAL_JUMP;
    case A64_INDIRECT:
        return DRMEMTRACE_INDIRECT_JUMP;
    case A64_INDIRECT_CALL:
        return DRMEMTRACE_INDIRECT_CALL;
    case A64_RETURN:
        return DRMEMTRACE_RETURN;
    default:
        return DRMEMTRACE_INSTR;
    }
}

static void put_access(drmemtrace_writer *w)
{
    for (; w->size > LONGEST_ACCESS; w->size -= ACCESS_PART, w->address += ACCESS_PART)
        put(w, w->access, ACCESS_PART, w->address);
    if (w->size > 0)
        put(w, w->access, (unsigned)w->size, w->address);
    w->size = 0;
}

/* May the last instruction be followed by the one at pc? */
static bool leads_to(const drmemtrace_writer *w, uint64_t pc)
{
    uint64_t target = w->pc + INSN_SIZE;
    if (w->has_target)
        return pc == w->target;
    if (!a64_is_branch(w->cls))
        return pc == target;
    if (w->cls == A64_INDIRECT || w->cls == A64_INDIRECT_CALL || w->cls == A64_RETURN)
        return !w->interrupted;
    if (w->cls == A64_COND && pc == target)
        return true;
    a64_direct_target(w->pc, w->op, &target);
    return pc == target;
}

static bool needs_target(a64_class c)
{
    return a64_is_branch(c) && c != A64_JUMP && c != A64_CALL;
}

static void mark_gap(drmemtrace_writer *w)
{
    if (w->gap)
        mark(w, DRMEMTRACE_MARK_WINDOW, ++w->window);
    w->gap = false;
}

/* Writes the instruction held back. `next` is where it goes, if that is known. False: it cannot be written. */
static bool release(drmemtrace_writer *w, bool has_next, uint64_t next)
{
    unsigned type = type_of(w->cls);
    if (!w->holds)
        return true;
    w->holds = false;
    if (needs_target(w->cls) && !has_next) {
        w->lost_targets++;
        return false;
    }
    mark_gap(w);
    put_encoding(w, w->pc, w->op);
    if (w->cls == A64_COND)
        type = next != w->pc + INSN_SIZE ? DRMEMTRACE_TAKEN_JUMP : DRMEMTRACE_UNTAKEN_JUMP;
    else if (needs_target(w->cls))
        mark(w, DRMEMTRACE_MARK_BRANCH_TARGET, next);
    put(w, type, INSN_SIZE, w->pc);
    return true;
}

/* Where a signal interrupted the program: behind the last instruction, or at one that failed: a load or store without
 * an access, or what is always an exception. */
static uint64_t interrupted_at(const drmemtrace_writer *w)
{
    uint64_t next = w->pc + INSN_SIZE;
    if (w->has_target)
        return w->target;
    if ((w->cls == A64_EXCEPTION && !w->is_call) || needs_target(w->cls))
        return w->pc;
    if ((w->cls == A64_LOAD || w->cls == A64_STORE || w->cls == A64_ATOMIC || w->cls == A64_OTHER) && !w->has_access)
        return w->pc;
    a64_direct_target(w->pc, w->op, &next);
    return next;
}

static bool is_handler_end(const drmemtrace_writer *w)
{
    return w->has_number && w->number == RT_SIGRETURN && w->interrupted;
}

/* Behind a signal, or the return from its handler, which may be where the next one comes. An instruction that failed is
 * not in the trace. */
static void cross_signal(drmemtrace_writer *w, uint64_t pc)
{
    const uint64_t at = interrupted_at(w);
    if (w->holds && at == w->pc && !a64_is_branch(w->cls)) {
        w->holds = false;
        w->failed++;
        mark_gap(w);
        mark(w, DRMEMTRACE_MARK_UNCOMPLETED, w->op);
    }
    release(w, w->has_target, w->target);
    const bool returns = is_handler_end(w);
    if (returns)
        mark(w, DRMEMTRACE_MARK_KERNEL_XFER, w->pc + INSN_SIZE);
    if (!returns || (w->has_target && w->target != pc))
        mark(w, DRMEMTRACE_MARK_KERNEL_EVENT, at);
}

/* Writes the last instruction, and what comes between it and the one at pc. */
static void connect(drmemtrace_writer *w, bool has_pc, uint64_t pc, unsigned level)
{
    /* At another level it may be the begin of an interrupt. */
    const bool same = w->has_place && has_pc && level == w->level;
    if (same && leads_to(w, pc) && !is_handler_end(w)) {
        release(w, true, pc);
        if ((w->is_call && w->has_number && !w->has_returned) ||
            (w->time >= w->last_stamp + TIME_STEP && !a64_is_branch(w->cls)))
            put_time(w);
        return;
    }
    if (same && w->interrupted) {
        cross_signal(w, pc);
        return;
    }
    release(w, w->has_target, w->target);
    w->gap = w->gap || w->has_place;
}

static void instruction(drmemtrace_writer *w, uint64_t pc, uint64_t aux)
{
    const uint32_t op = tl_insn_opcode(aux);
    const bool has_pc = tl_insn_has_pc(aux);
    put_access(w);
    connect(w, has_pc, pc, tl_insn_level(aux));
    w->has_place = w->holds = has_pc;
    w->without_pc += !has_pc;
    w->pc = pc;
    w->op = op;
    w->cls = a64_class_quick(op);
    w->level = tl_insn_level(aux);
    w->is_call = (op & 0xffe0001f) == 0xd4000001; /* SVC */
    w->has_number = w->has_returned = w->has_target = w->has_access = w->clears = false;
    w->has_registers = w->interrupted = false;
}

static void argument(drmemtrace_writer *w, uint64_t value)
{
    if (!w->has_place || !w->is_call || w->has_returned) {
        w->lost_arguments++;
    } else if (!w->has_number) {
        w->has_number = true;
        w->number = value;
        release(w, false, 0);
        put_time(w);
        mark(w, DRMEMTRACE_MARK_SYSCALL, value);
        mark(w, DRMEMTRACE_MARK_FUNCTION, DRMEMTRACE_SYSTEM_CALL + (uint32_t)value);
    } else {
        mark(w, DRMEMTRACE_MARK_ARGUMENT, value);
    }
}

static void result(drmemtrace_writer *w, uint64_t value)
{
    if (!w->has_place || !w->has_number || w->has_returned) {
        w->lost_arguments++;
        return;
    }
    w->has_returned = true;
    put_time(w);
    mark(w, DRMEMTRACE_MARK_FUNCTION, DRMEMTRACE_SYSTEM_CALL + (uint32_t)w->number);
    mark(w, DRMEMTRACE_MARK_RESULT, value);
    if (-value <= LAST_ERRNO && value != 0)
        mark(w, DRMEMTRACE_MARK_FAILED, -value);
}

static void access_memory(drmemtrace_writer *w, unsigned type, uint64_t address, uint64_t size)
{
    if (!w->has_place || w->clears)
        return;
    if (!release(w, w->has_target, w->target)) { /* a damaged trace: no branch accesses memory */
        w->has_place = false;
        w->gap = true;
        return;
    }
    w->has_access = true;
    if (w->size > 0 && w->access == type && w->address + w->size == address && w->size + size <= LONGEST_ACCESS) {
        w->size += size;
        return;
    }
    put_access(w);
    w->access = type;
    w->address = address;
    w->size = size;
}

/* The operand of an instruction for caches. */
static void cache_line(drmemtrace_writer *w, uint64_t address)
{
    if (!w->has_place)
        return;
    switch (a64_cache_of(w->op)) {
    case A64_CACHE_CLEARS:
        access_memory(w, DRMEMTRACE_WRITE, address & ~(uint64_t)(CACHE_LINE - 1), CACHE_LINE);
        w->clears = true;
        break;
    case A64_CACHE_INSNS:
        access_memory(w, DRMEMTRACE_INSTR_FLUSH, address, CACHE_LINE);
        break;
    case A64_CACHE_DATA:
        access_memory(w, DRMEMTRACE_DATA_FLUSH, address, CACHE_LINE);
        break;
    default:
        break;
    }
}

static void other(drmemtrace_writer *w, unsigned action, uint64_t value)
{
    if (action != ORDER) /* which comes before each access */
        put_access(w);
    w->lost[action]++;
    switch (action) {
    case TARGET:
        w->has_target = true;
        w->target = value;
        break;
    case ARGUMENT:
        argument(w, value);
        break;
    case RESULT:
        result(w, value);
        break;
    case CACHE:
        cache_line(w, value);
        break;
    case ORDER:
        w->time = value > w->time && value < INT64_MAX ? value : w->time;
        break;
    case REGISTERS:
        w->has_registers = true;
        break;
    default: /* behind all registers: an exception at a level that is not recorded, or a signal */
        w->interrupted = w->has_registers;
        break;
    }
}

static int drmemtrace_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    drmemtrace_writer *w = writer;
    for (uint32_t i = from; i < to; i++) {
        const unsigned action = w->action[b->cls[i]];
        if (action == NOTHING)
            continue;
        if (TL_UNLIKELY(b->track[i] != w->track)) {
            if (w->track != UINT32_MAX)
                return tl_fail(
                    e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                    "drmemtrace: the trace has several tracks, a file holds one: choose it with -t or --cpu, or write "
                    "all with --split track");
            w->track = b->track[i];
            begin(w);
        }
        if (action == INSTRUCTION)
            instruction(w, b->key[i], b->aux[i]);
        else if (action == LOAD || action == STORE)
            access_memory(w, action == LOAD ? DRMEMTRACE_READ : DRMEMTRACE_WRITE, b->key[i], b->aux[i]);
        else
            other(w, action, b->key[i]);
    }
    return 0;
}

static int drmemtrace_finish(void *writer, tl_error *e)
{
    drmemtrace_writer *w = writer;
    (void)e;
    if (!w->begun)
        begin(w);
    put_access(w);
    release(w, w->has_target, w->target);
    put(w, DRMEMTRACE_THREAD_EXIT, 0, w->id);
    put(w, DRMEMTRACE_FOOTER, 0, 0);
    tl_drops_add(w->context.drops, "instructions without pc", w->without_pc);
    tl_drops_add(w->context.drops, "arguments of system calls", w->lost_arguments);
    tl_drops_add(w->context.drops, "branches of which the trace does not say where they go", w->lost_targets);
    tl_drops_add(w->context.drops, "instructions that failed", w->failed);
    for (unsigned i = REGISTERS; i <= FLAGS; i++)
        tl_drops_add(w->context.drops, w->lost_name[i], w->lost[i]);
    return 0;
}

static void drmemtrace_discard(void *writer)
{
    drmemtrace_writer *w = writer;
    free(w->action);
    free(w->written);
}

const tl_format tl_format_drmemtrace = {
    .name = "drmemtrace",
    .summary = "instructions and memory accesses for the tools of DynamoRIO (one thread)",
    .suffixes = ".memtrace",
    .event_writer = &(const tl_event_writer){.holds = "instructions of A64",
                                             .size = sizeof(drmemtrace_writer),
                                             .create = drmemtrace_create,
                                             .accept = drmemtrace_accept,
                                             .write = drmemtrace_write,
                                             .finish = drmemtrace_finish,
                                             .discard = drmemtrace_discard},
};
