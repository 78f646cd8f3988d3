/* Writes the instructions of one thread or processor as a trace for ChampSim: 64 bytes each, without a header.
 *
 *   0 u64 ip           10 u8 destination registers[2]    16 u64 store addresses[2]
 *   8 u8 is a branch   12 u8 source registers[4]         32 u64 load addresses[4]
 *   9 u8 taken
 *
 * All little-endian; 0 is an empty place. The next instruction shows whether a branch was taken, and that all memory
 * accesses are there: a record is held back until then. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/champsim/champsim_registers.h"
#include "model/format_impl.h"

enum {
    RECORD_SIZE = 64,
    RECORD_BRANCH = 8,
    RECORD_TAKEN = 9,
    RECORD_DESTINATION = 10,
    RECORD_SOURCE = 12,
    RECORD_STORE = 16,
    RECORD_LOAD = 32,
    LOADS = 4,
    STORES = 2,
    CACHE = 4096 /* a power of two */
};

enum { NOTHING, INSTRUCTION, LOAD, STORE };

/* What is known about an opcode: programs use few. */
typedef struct known_opcode {
    uint32_t op;
    champsim_operands is;
} known_opcode;

typedef struct champsim_writer {
    tl_write_context context;
    uint8_t *action; /* by class: what to do with its events */
    known_opcode *known;
    uint32_t track; /* UINT32_MAX: none yet */
    bool holds, is_conditional;
    uint64_t pc;                      /* of the record held back */
    uint8_t record[RECORD_SIZE];      /* that record, except whether the branch was taken */
    uint32_t loads, stores;           /* in it */
    uint64_t after_load, after_store; /* where the last of them ended */
    uint64_t lost_loads, lost_stores, without_pc;
} champsim_writer;

static unsigned action_of(const tl_class *c)
{
    if (c->kind == TL_INSN && c->role == TL_ROLE_A64 && c->aux == TL_AUX_INSN)
        return INSTRUCTION;
    if (c->kind == TL_MEM && c->aux == TL_AUX_SIZE && c->role == TL_ROLE_LOAD)
        return LOAD;
    if (c->kind == TL_MEM && c->aux == TL_AUX_SIZE && c->role == TL_ROLE_STORE)
        return STORE;
    return NOTHING;
}

static int champsim_create(void *writer, const tl_write_context *context, tl_error *e)
{
    champsim_writer *w = writer;
    const tl_trace *t = context->trace;
    w->context = *context;
    w->track = UINT32_MAX;
    w->action = calloc((size_t)t->ncls + 1, sizeof *w->action);
    w->known = tl_alloc(CACHE, sizeof *w->known);
    if (!w->action || !w->known)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "champsim: no memory for the classes of events");
    bool any = false;
    for (uint32_t i = 0; i < t->ncls; i++) {
        w->action[i] = (uint8_t)action_of(&t->cls[i]);
        any = any || w->action[i] == INSTRUCTION;
    }
    if (!any)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "champsim: the trace has no instructions of A64");
    for (uint32_t i = 0; i < CACHE; i++)
        w->known[i] = (known_opcode){.op = 0, .is = champsim_operands_of(0)};
    return 0;
}

static tl_accept champsim_accept(void *writer, const tl_class *c)
{
    (void)writer;
    if (c->kind == TL_FORMAT || c->role == TL_ROLE_TARGET) /* the next instruction says it, too */
        return TL_ACCEPT_IGNORE;
    return action_of(c) != NOTHING ? TL_ACCEPT_KEEP : TL_ACCEPT_DROP;
}

static const champsim_operands *operands(champsim_writer *w, uint32_t op)
{
    known_opcode *k = &w->known[op * 0x9e3779b1u >> 20];
    if (TL_UNLIKELY(k->op != op))
        *k = (known_opcode){.op = op, .is = champsim_operands_of(op)};
    return &k->is;
}

/* Writes the record held back, before the instruction at `next`, if known. */
static void release(champsim_writer *w, bool has_next, uint64_t next)
{
    if (!w->holds)
        return;
    if (w->is_conditional)
        w->record[RECORD_TAKEN] = has_next && next != w->pc + 4;
    char *p = tl_output_reserve(w->context.out, RECORD_SIZE);
    memcpy(p, w->record, RECORD_SIZE);
    tl_output_commit(w->context.out, p + RECORD_SIZE);
    w->lost_loads += w->loads > LOADS ? w->loads - LOADS : 0;
    w->lost_stores += w->stores > STORES ? w->stores - STORES : 0;
    w->holds = false;
}

static void hold(champsim_writer *w, uint64_t pc, uint64_t aux)
{
    const bool has_pc = tl_insn_has_pc(aux);
    release(w, has_pc, pc);
    if (!has_pc) {
        w->without_pc++;
        return;
    }
    const champsim_operands *is = operands(w, tl_insn_opcode(aux));
    uint8_t *p = w->record;
    memset(p, 0, RECORD_SIZE);
    tl_store64(p, pc, false);
    p[RECORD_BRANCH] = p[RECORD_TAKEN] = is->is_branch;
    memcpy(p + RECORD_DESTINATION, is->destination, CHAMPSIM_DESTINATIONS);
    memcpy(p + RECORD_SOURCE, is->source, CHAMPSIM_SOURCES);
    w->pc = pc;
    w->is_conditional = is->is_conditional;
    w->loads = w->stores = 0;
    w->holds = true;
}

/* Accesses of an instruction side by side are one, as for a pair: a record has an address for each operand of memory,
 * and the simulator counts each as an access, whether it crosses a cache line or not. */
static void add_access(uint8_t *places, uint32_t room, uint32_t *n, uint64_t *after, uint64_t address, uint64_t size)
{
    const bool continues = *n > 0 && address == *after;
    *after = address + size;
    if (continues)
        return;
    if (*n < room)
        tl_store64(places + sizeof address * *n, address, false);
    ++*n;
}

static int champsim_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    champsim_writer *w = writer;
    for (uint32_t i = from; i < to; i++) {
        const unsigned action = w->action[b->cls[i]];
        if (action == NOTHING)
            continue;
        if (TL_UNLIKELY(b->track[i] != w->track)) {
            if (w->track != UINT32_MAX)
                return tl_fail(
                    e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                    "champsim: the trace has several tracks, a file holds one: choose it with -t or --cpu, or write "
                    "all with --split track");
            w->track = b->track[i];
        }
        if (action == INSTRUCTION) {
            hold(w, b->key[i], b->aux[i]);
        } else if (w->holds && action == LOAD) {
            add_access(w->record + RECORD_LOAD, LOADS, &w->loads, &w->after_load, b->key[i], b->aux[i]);
        } else if (w->holds) {
            add_access(w->record + RECORD_STORE, STORES, &w->stores, &w->after_store, b->key[i], b->aux[i]);
        }
    }
    return 0;
}

static int champsim_finish(void *writer, tl_error *e)
{
    champsim_writer *w = writer;
    (void)e;
    release(w, false, 0);
    tl_drops_add(w->context.drops, "loads beyond 4", w->lost_loads);
    tl_drops_add(w->context.drops, "stores beyond 2", w->lost_stores);
    tl_drops_add(w->context.drops, "instructions without pc", w->without_pc);
    return 0;
}

static void champsim_discard(void *writer)
{
    champsim_writer *w = writer;
    free(w->action);
    free(w->known);
}

const tl_format tl_format_champsim = {
    .name = "champsim",
    .summary = "instructions, branches and memory accesses for ChampSim (records of 64 bytes)",
    .suffixes = ".champsim .champsimtrace",
    .event_writer = &(const tl_event_writer){.holds = "instructions of A64",
                                             .size = sizeof(champsim_writer),
                                             .create = champsim_create,
                                             .accept = champsim_accept,
                                             .write = champsim_write,
                                             .finish = champsim_finish,
                                             .discard = champsim_discard},
};
