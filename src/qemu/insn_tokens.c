/* The hot part: tokens of instructions and their accesses. */
#include "format/xtrace/xtrace_layout.h"
#include "qemu/insn_thread.h"

static uint64_t general(const insn_thread *t, uint32_t number)
{
    return number == 31 ? 0 : t->x[number];
}

TL_ALWAYS_INLINE const uint8_t *host(uint64_t address)
{
    return (const uint8_t *)(guest_base + address); // NOLINT
}

TL_ALWAYS_INLINE uint8_t *put_access(insn_thread *t, uint8_t *at, bool store, unsigned shift, uint64_t address,
                                     const void *value)
{
    if (TL_UNLIKELY(insn_how.times)) {
        insn_put64(&at, XTRACE_TIME, __atomic_fetch_add(&insn_memory->accesses, 1, __ATOMIC_RELAXED));
        t->stream->has_times = 1;
    }
    insn_put64(&at, (uint8_t)(shift << XTRACE_MEM_SIZE_SHIFT | (store ? XTRACE_MEM | XTRACE_MEM_STORE : XTRACE_MEM)),
               address);
    if (TL_LIKELY(shift == 3))
        memcpy(at, value, 8);
    else if (shift == 2)
        memcpy(at, value, 4);
    else
        memcpy(at, value, (size_t)1 << shift);
    if (store)
        t->stream->stores++;
    else
        t->stream->loads++;
    return at + ((size_t)1 << shift);
}

/* CAS loads into Rs, the others into Rt; a load into XZR is none. */
static uint8_t *put_swap(insn_thread *t, uint8_t *at, uint32_t op)
{
    const uint32_t into = (op & 0x3f000000) == 0x38000000 ? op & 31 : op >> 16 & 31;
    const uint64_t before = general(t, into);
    if (into != 31)
        at = put_access(t, at, false, t->swap_shift, t->swap_address, &before);
    return put_access(t, at, true, t->swap_shift, t->swap_address, host(t->swap_address));
}

/* What the last instruction did is known when the next one begins. flags: NULL: those that are now. */
static uint8_t *finish_last(insn_thread *t, uint8_t *at, uint64_t pc, const uint64_t *flags)
{
    const uint32_t is = t->copy.is, op = t->copy.opcode, rt = op & 31;
    if (t->swapped)
        at = put_swap(t, at, op);
    if (is & INSN_STORES_EXCLUSIVE)
        insn_put64(&at, XTRACE_STXR, (uint32_t)general(t, op >> 16 & 31));
    if (is & INSN_READS_SYSTEM) {
        insn_put64(&at, XTRACE_MRS, general(t, rt));
        if ((op & ~31u) == 0xd53bd040) /* TPIDR_EL0 */
            t->tls = general(t, rt);
    }
    if (is & INSN_WANTS_FLAGS)
        insn_put64(&at, XTRACE_FLAGS, flags ? *flags : insn_flags(t));
    if (is & INSN_SETS_TARGET)
        insn_put64(&at, XTRACE_TARGET, is & INSN_SIGNED_TARGET ? pc : t->target);
    return at;
}

/* Did a signal come in between, or did a handler return? Both change every register. */
static bool is_elsewhere(const insn_thread *t, uint64_t pc)
{
    const insn *const i = &t->copy;
    if (i->is & INSN_SETS_TARGET)
        return !(i->is & INSN_SIGNED_TARGET) && pc != t->target;
    return pc != i->pc + 4 && pc != i->target;
}

static uint8_t *put_all_registers(insn_thread *t, uint8_t *at)
{
    *at = XTRACE_ALLGPR;
    memcpy(at + 1, t->x, XTRACE_ALLGPR_SIZE - 1);
    at += XTRACE_ALLGPR_SIZE;
    insn_put64(&at, XTRACE_FLAGS, insn_flags(t));
    return at;
}

/* At the begin of a signal's handler, the stack has the registers that were interrupted. If that was behind the last
 * instruction, it has been executed; if it was at it, it failed. The stream says so where it cannot be seen otherwise.
 */
static uint8_t *finish_interrupted(insn_thread *t, uint8_t *at)
{
    uint64_t saved[INSN_FRAME_WORDS], *const own = t->x;
    if (!insn_read_frame(t, saved))
        return at;
    const uint64_t where = saved[INSN_FRAME_PC];
    const bool executed = !is_elsewhere(t, where), jumps = t->copy.target != t->copy.pc + 4;
    if (!(t->copy.is & INSN_SETS_TARGET) && (executed ? jumps : where == t->copy.pc))
        insn_put64(&at, XTRACE_TARGET, where);
    if (!executed)
        return at;
    const uint64_t flags = saved[INSN_FRAME_PSTATE] & 0xf0000000;
    t->x = saved;
    at = finish_last(t, at, where, &flags);
    t->x = own;
    return at;
}

/* Everything about the last instruction that is rare. */
static void follow(insn_thread *t, uint64_t pc)
{
    uint8_t *at = t->at;
    const bool elsewhere = is_elsewhere(t, pc);
    if (elsewhere)
        at = put_all_registers(t, finish_interrupted(t, at));
    else if (t->copy.is & INSN_DUE_LATER)
        at = finish_last(t, at, pc, NULL);
    insn_commit(t, at);
}

static bool is_recorded(insn_thread *t, const insn *i)
{
    if (i->is & INSN_IS_TRIGGER && !insn_how.always) {
        if (t->stream)
            insn_end_thread(t); /* only one part of a thread is recorded: a stream has no holes */
        t->on = !t->finished;
        return false;
    }
    if (!t->on && insn_how.slice)
        insn_leave_slice();
    return t->on && (t->stream || insn_open_stream(t));
}

/* Not the plain case: the first instruction of a thread or a stream, one behind a branch, a snapshot, or something is
 * due for the last one. False: the instruction is not recorded. */
TL_COLD static bool look_closer(insn_thread *t, const insn *i)
{
    if (t->any && t->stream) {
        if (t->copy.is & INSN_REPEATS && i->pc == t->copy.pc)
            return false;
        follow(t, i->pc);
        if (insn_slice_is_over(t, i->pc)) {
            insn_end_slice(t);
            return false;
        }
    }
    if (!is_recorded(t, i))
        return false;
    const bool state = t->count == t->next_state;
    if (t->at > t->full || (state && t->block->states > INSN_STATES_BYTES - INSN_STATE)) {
        if (!insn_next_block(t))
            return false;
        if (insn_memory->frames)
            t->expected = INSN_NO_PC;
    }
    if (state)
        insn_put_state(t);
    return true;
}

/* Behind a branch that was taken as it says, with nothing else to do. */
TL_ALWAYS_INLINE bool is_common_branch(const insn_thread *t, const insn *i)
{
    return t->any && t->stream && !(t->copy.is & INSN_DUE_LATER) && t->at <= t->full && t->count != t->next_look &&
           (i->pc == t->copy.target || i->pc == t->copy.pc + 4) && !(i->is & INSN_IS_TRIGGER);
}

/* What is due at once, or must be kept for later. */
static uint8_t *prepare(insn_thread *t, uint8_t *at, const insn *i)
{
    const uint64_t value = general(t, i->opcode & 31);
    t->loaded = t->swapped = false;
    t->target = general(t, i->opcode >> 5 & 31);
    if (i->is & INSN_DUE_NOW)
        insn_put64(&at, i->is & INSN_IS_DC ? XTRACE_DC : XTRACE_MRS, value);
    if ((i->opcode & ~31u) == 0xd51bd040) /* TPIDR_EL0 */
        t->tls = value;
    return at;
}

void insn_on_insn(unsigned cpu, void *data)
{
    const insn *const i = data;
    insn_thread *t = insn_me;
    (void)cpu;
    if (TL_UNLIKELY(!t))
        t = insn_begin_thread();
    if (TL_UNLIKELY(i->pc != t->quick || i->is & INSN_IS_TRIGGER || t->at > t->full || t->count == t->next_look))
        if (!is_common_branch(t, i) && !look_closer(t, i))
            return;
    uint8_t *at = t->at;
    if (i->pc == t->expected) {
        *at = XTRACE_INST;
        at += 1;
    } else {
        insn_put64(&at, XTRACE_PCINST, i->pc);
    }
    memcpy(at, &i->opcode, sizeof i->opcode);
    at += sizeof i->opcode;
    t->count++;
    t->expected = i->is & INSN_ENDS_BLOCK ? INSN_NO_PC : i->pc + 4;
    t->quick = i->is & (INSN_DUE_LATER | INSN_REPEATS) ? INSN_NO_PC : t->expected;
    t->last = i;
    t->copy = *i;
    t->any = true;
    if (TL_UNLIKELY(i->is & (INSN_DUE_NOW | INSN_SETS_TARGET | INSN_SWAPS)))
        at = prepare(t, at, i);
    insn_commit(t, at);
}

/* Called after the access. */
void insn_on_access(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
    const insn *const i = data;
    const unsigned shift = qemu_plugin_mem_size_shift(info);
    const bool store = qemu_plugin_mem_is_store(info);
    insn_thread *const t = insn_me;
    (void)cpu;
    if (!t || !t->stream || t->last != i)
        return;
    if (i->is & INSN_STORES_EXCLUSIVE && !store)
        return; /* the emulator's way, not the processor's */
    if (i->is & INSN_SWAPS) {
        if (store && !t->loaded && shift <= 3 && !t->swapped) {
            t->swapped = true;
            t->swap_address = address;
            t->swap_shift = shift;
            return;
        }
        t->loaded |= !store;
    }
    insn_commit(t, put_access(t, t->at, store, shift, address, host(address)));
}
