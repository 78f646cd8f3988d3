/* Writes the instructions of one thread or processor as a trace of DynamoRIO's drmemtrace; see drmemtrace_layout.h.
 *
 * A branch record includes its target or outcome: it is held back until that is known. The bytes of an instruction are
 * written unless they were recently written for the same address. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "format/drmemtrace/drmemtrace_layout.h"
#include "isa/a64.h"
#include "model/format_impl.h"

enum { INSN_SIZE = 4, CACHE_BITS = 14 };

/* Ids must not be 0. This is the limit of Linux's thread numbers, so no thread has it. */
#define NUMBER_OF_ZERO (UINT64_C(1) << 22)

/* The time is unknown, but several files can only be opened together if each has one. */
#define ANY_TIME UINT64_C(1)

enum { NOTHING, INSTRUCTION, LOAD, STORE, TARGET, ARGUMENT };

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
    uint64_t id;    /* of the thread */
    bool has_place; /* the last instruction was written or is held back: what follows belongs to it */
    bool holds;     /* a branch: */
    uint64_t pc, target;
    uint32_t op;
    a64_class cls;
    bool has_target;
    unsigned level;
    bool is_call, has_number; /* the last instruction was a system call; its number was written */
    uint64_t without_pc, lost_arguments, lost_targets;
} drmemtrace_writer;

static unsigned action_of(const tl_class *c)
{
    switch (c->role) {
    case TL_ROLE_A64:
        return c->kind == TL_INSN && c->aux == TL_AUX_INSN ? INSTRUCTION : NOTHING;
    case TL_ROLE_LOAD:
        return c->kind == TL_MEM && c->aux == TL_AUX_SIZE ? LOAD : NOTHING;
    case TL_ROLE_STORE:
        return c->kind == TL_MEM && c->aux == TL_AUX_SIZE ? STORE : NOTHING;
    case TL_ROLE_TARGET:
        return c->key == TL_KEY_VALUE ? TARGET : NOTHING;
    case TL_ROLE_CALL_ARGUMENT:
        return c->key == TL_KEY_VALUE ? ARGUMENT : NOTHING;
    default:
        return NOTHING;
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

static void begin(drmemtrace_writer *w)
{
    const tl_track *t = tl_trace_track(w->context.trace, w->track == UINT32_MAX ? 0 : w->track);
    const uint64_t tid = t && t->has_tid && t->tid > 0 ? (uint64_t)t->tid : NUMBER_OF_ZERO;
    const uint64_t pid = t && t->has_pid && t->pid > 0 ? (uint64_t)t->pid : tid;
    w->id = tid;
    w->begun = true;
    put(w, DRMEMTRACE_HEADER, 0, DRMEMTRACE_VERSION);
    put(w, DRMEMTRACE_MARKER, DRMEMTRACE_MARK_VERSION, DRMEMTRACE_VERSION);
    put(w, DRMEMTRACE_MARKER, DRMEMTRACE_MARK_FILETYPE,
        DRMEMTRACE_FILE_AARCH64 | DRMEMTRACE_FILE_ENCODINGS | DRMEMTRACE_FILE_SYSCALLS);
    put(w, DRMEMTRACE_THREAD, 0, tid);
    put(w, DRMEMTRACE_PID, 0, pid);
    put(w, DRMEMTRACE_MARKER, DRMEMTRACE_MARK_TIMESTAMP, ANY_TIME);
    put(w, DRMEMTRACE_MARKER, DRMEMTRACE_MARK_CPU, t && t->is_cpu ? (uint64_t)t->tid : UINT64_MAX /* not known */);
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

/* Writes the branch held back. `next` is the following instruction, if it is known and shows the branch's target. */
static void release(drmemtrace_writer *w, bool has_next, uint64_t next)
{
    unsigned type = type_of(w->cls);
    if (!w->holds)
        return;
    w->holds = false;
    put_encoding(w, w->pc, w->op);
    if (w->cls == A64_COND) {
        if (has_next)
            type = next != w->pc + INSN_SIZE ? DRMEMTRACE_TAKEN_JUMP : DRMEMTRACE_UNTAKEN_JUMP;
        else
            w->lost_targets++;
    } else if (w->has_target || has_next) {
        put(w, DRMEMTRACE_MARKER, DRMEMTRACE_MARK_BRANCH_TARGET, w->has_target ? w->target : next);
    } else {
        w->lost_targets++;
    }
    put(w, type, INSN_SIZE, w->pc);
}

static void instruction(drmemtrace_writer *w, uint64_t pc, uint64_t aux)
{
    const uint32_t op = tl_insn_opcode(aux);
    const unsigned level = tl_insn_level(aux);
    const bool has_pc = tl_insn_has_pc(aux);
    /* At another level it may be the begin of an interrupt. */
    release(w, has_pc && level == w->level, pc);
    w->has_place = has_pc;
    w->level = level;
    w->is_call = (op & 0xffe0001f) == 0xd4000001; /* SVC */
    w->has_number = false;
    if (!has_pc) {
        w->without_pc++;
        return;
    }
    const a64_class c = a64_class_of(op);
    if (c == A64_COND || c == A64_INDIRECT || c == A64_INDIRECT_CALL || c == A64_RETURN) {
        w->holds = true;
        w->has_target = false;
        w->pc = pc;
        w->op = op;
        w->cls = c;
        return;
    }
    put_encoding(w, pc, op);
    put(w, type_of(c), INSN_SIZE, pc);
}

static void argument(drmemtrace_writer *w, uint64_t value)
{
    if (w->has_place && w->is_call && !w->has_number) {
        w->has_number = true;
        put(w, DRMEMTRACE_MARKER, DRMEMTRACE_MARK_SYSCALL, value);
    } else {
        w->lost_arguments++;
    }
}

static void access_memory(drmemtrace_writer *w, unsigned type, uint64_t address, uint64_t size)
{
    if (!w->has_place)
        return;
    release(w, false, 0); /* no branch accesses memory, but a damaged trace may contain one that does */
    for (; size > UINT16_MAX; size -= 32768, address += 32768)
        put(w, type, 32768, address);
    put(w, type, (unsigned)size, address);
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
        switch (action) {
        case INSTRUCTION:
            instruction(w, b->key[i], b->aux[i]);
            break;
        case LOAD:
            access_memory(w, DRMEMTRACE_READ, b->key[i], b->aux[i]);
            break;
        case STORE:
            access_memory(w, DRMEMTRACE_WRITE, b->key[i], b->aux[i]);
            break;
        case TARGET:
            w->has_target = true;
            w->target = b->key[i];
            break;
        default:
            argument(w, b->key[i]);
            break;
        }
    }
    return 0;
}

static int drmemtrace_finish(void *writer, tl_error *e)
{
    drmemtrace_writer *w = writer;
    (void)e;
    if (!w->begun)
        begin(w);
    release(w, false, 0);
    put(w, DRMEMTRACE_THREAD_EXIT, 0, w->id);
    put(w, DRMEMTRACE_FOOTER, 0, 0);
    tl_drops_add(w->context.drops, "instructions without pc", w->without_pc);
    tl_drops_add(w->context.drops, "arguments of system calls", w->lost_arguments);
    tl_drops_add(w->context.drops, "branches of which the trace does not say where they go", w->lost_targets);
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
