/* Replays the events of one track: registers from the effects of instructions, memory from loads and stores. */
#include <string.h>

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/machine_state.h"
#include "isa/a64_system.h"
#include "op/source_impl.h"

const tl_machine_register tl_machine_system[TL_MACHINE_SYSTEM] = {
    {A64_SYSTEM_NUMBER(3, 3, 4, 4, 0), "fpcr", 0},       {A64_SYSTEM_NUMBER(3, 3, 4, 4, 1), "fpsr", 0},
    {A64_SYSTEM_NUMBER(3, 3, 13, 0, 2), "tpidr_el0", 0}, {A64_SYSTEM_NUMBER(3, 3, 13, 0, 3), "tpidrro_el0", 0},
    {A64_SYSTEM_NUMBER(3, 0, 2, 0, 0), "ttbr0_el1", 0},  {A64_SYSTEM_NUMBER(3, 0, 4, 0, 1), "elr_el1", 2},
    {A64_SYSTEM_NUMBER(3, 0, 4, 0, 0), "spsr_el1", 2},   {A64_SYSTEM_NUMBER(3, 0, 5, 2, 0), "esr_el1", 2},
    {A64_SYSTEM_NUMBER(3, 0, 13, 0, 4), "tpidr_el1", 0}, {A64_SYSTEM_NUMBER(3, 3, 4, 2, 1), "daif", 1},
};

/* The value of the field with this role, or NULL. */
static const tl_value *field_of(const tl_batch *b, uint32_t i, tl_field_role role)
{
    const tl_class *c = tl_trace_class(b->trace, b->cls[i]);
    const tl_value *v = b->v + b->val[i], *end = b->v + b->val[i + 1];
    for (uint32_t k = 0; k < c->nfield && v < end; k++) {
        if (c->field[k].role == role)
            return v;
        v += v->type == TL_LIST ? 1 + v->n : 1; /* of numbers or bytes: one slot each */
    }
    return NULL;
}

static void take_general(tl_machine *m, const tl_value *list)
{
    for (uint32_t n = 0; list && n < list->n && n < 32; n++)
        a64_know(&m->registers, n, list[1 + n].as.u);
}

void tl_replay_snapshot(tl_replay *r, const tl_batch *b, uint32_t i)
{
    tl_machine *m = r->machine;
    const tl_value *flags = field_of(b, i, TL_FIELD_FLAGS_REGISTER), *vectors = field_of(b, i, TL_FIELD_VECTORS);
    take_general(m, field_of(b, i, TL_FIELD_GENERAL));
    m->registers.has_nzcv = flags != NULL;
    m->registers.nzcv = flags ? (uint32_t)flags->as.u : 0;
    for (uint32_t n = 0; vectors && n < vectors->n && n < 32; n++)
        if (vectors[1 + n].n >= TL_VECTOR_BYTES) {
            memcpy(m->vector[n], vectors[1 + n].as.p, TL_VECTOR_BYTES);
            m->vectors |= (uint32_t)1 << n;
        }
}

/* Vector registers get what was loaded; other written ones become unknown. */
static void replay_vectors(tl_replay *r)
{
    tl_machine *m = r->machine;
    a64_operands o;
    a64_operands_of(r->opcode, &o);
    m->vectors &= ~o.writes.v;
    m->vectors_written |= o.writes.v;
    m->predicates_written |= o.writes.p;
    const a64_memory *access = &o.memory;
    const size_t element = access->element;
    if (access->access != A64_READS || a64_class_of(r->opcode) != A64_LOAD || !(r->opcode >> 26 & 1) ||
        access->mode == A64_MODE_VECTOR || access->registers > 2 || element > TL_VECTOR_BYTES ||
        r->seen.nloaded != access->registers * element || (r->opcode >> 28 & 3) == 0) /* not of single lanes */
        return;
    const unsigned to[2] = {r->opcode & 31, r->opcode >> 10 & 31};
    for (unsigned k = 0; k < access->registers; k++) {
        memset(m->vector[to[k]], 0, TL_VECTOR_BYTES);
        memcpy(m->vector[to[k]], r->loaded + k * element, element);
        m->vectors |= (uint32_t)1 << to[k];
    }
}

void tl_replay_finish(tl_replay *r)
{
    if (!r->waiting)
        return;
    r->seen.loaded = r->loaded;
    if (r->seen.nloaded > sizeof r->loaded)
        r->seen.nloaded = 0;
    a64_eval(&r->machine->registers, r->pc, r->opcode, &r->seen);
    replay_vectors(r);
    if (r->has_flags) {
        r->machine->registers.has_nzcv = true;
        r->machine->registers.nzcv = r->flags;
    }
    r->waiting = false;
}

/* Sets a system register. */
static void take_system(tl_machine *m, uint32_t opcode, uint64_t value)
{
    a64_system s;
    if (!a64_system_of(opcode, &s) || (s.kind != A64_MRS && s.kind != A64_MSR))
        return;
    for (unsigned k = 0; k < TL_MACHINE_SYSTEM; k++)
        if (tl_machine_system[k].number == s.number) {
            m->system[k] = value;
            m->system_known |= (uint16_t)(1u << k);
            m->system_unknown &= (uint16_t) ~(1u << k);
        }
}

static void forget_system(tl_machine *m, const char *name)
{
    for (unsigned k = 0; k < TL_MACHINE_SYSTEM; k++)
        if (strcmp(tl_machine_system[k].name, name) == 0) {
            m->system_known &= (uint16_t) ~(1u << k);
            m->system_unknown |= (uint16_t)(1u << k);
        }
}

/* The level changes: an exception, or the return from one. */
static void change_level(tl_machine *m, unsigned from, unsigned to)
{
    for (unsigned k = 0; k < TL_MACHINE_SYSTEM; k++)
        if (tl_machine_system[k].changes == 1 || (tl_machine_system[k].changes == 2 && to == 1 && from < 1))
            forget_system(m, tl_machine_system[k].name);
}

void tl_replay_level(tl_replay *r, unsigned level)
{
    if (level == r->level)
        return;
    a64_forget(&r->machine->registers, A64_SP);
    change_level(r->machine, r->level, level);
    r->level = level;
}

static void begin(tl_replay *r, const tl_batch *b, uint32_t i)
{
    tl_replay_level(r, tl_insn_level(b->aux[i]));
    if ((tl_insn_opcode(b->aux[i]) & 0xfffff0df) == 0xd50340df) /* MSR DAIFSet and DAIFClr have no value */
        forget_system(r->machine, "daif");
    r->pc = b->key[i];
    r->opcode = tl_insn_opcode(b->aux[i]);
    r->waiting = true;
    r->seen = (a64_seen){.no_pc = !tl_insn_has_pc(b->aux[i])};
    r->has_stores = r->has_flags = r->has_general = false;
}

static int access(tl_replay *r, bool load, const tl_batch *b, uint32_t i, tl_error *e)
{
    const tl_value *bytes = field_of(b, i, TL_FIELD_VALUE);
    if (!bytes)
        return 0;
    if (!r->seen.has_address) {
        r->seen.has_address = true;
        r->seen.address = b->key[i];
    }
    if (load) {
        if (bytes->n <= sizeof r->loaded && r->seen.nloaded <= sizeof r->loaded - bytes->n)
            memcpy(r->loaded + r->seen.nloaded, bytes->as.p, bytes->n);
        r->seen.nloaded += bytes->n;
    } else {
        r->has_stores = true;
        r->store_address = b->key[i];
        r->store_size = bytes->n;
    }
    return tl_shadow_set(r->machine->memory, b->key[i], bytes->as.p, bytes->n, e);
}

/* A signal's handler begins or returns. Meanwhile the system may have written memory; the end of a handler, which is a
 * system call, brings back the vectors. */
static void switch_code(tl_replay *r, uint32_t flags)
{
    tl_machine *m = r->machine;
    a64_system called;
    r->has_general = false;
    m->registers.has_nzcv = true;
    m->registers.nzcv = flags;
    tl_shadow_clear(m->memory);
    if (!a64_system_of(r->opcode, &called) || called.kind != A64_SVC)
        return;
    m->vectors = 0;
    m->vectors_written = UINT32_MAX;
    forget_system(m, "fpcr");
    forget_system(m, "fpsr");
}

int tl_replay_event(tl_replay *r, unsigned what, const tl_batch *b, uint32_t i, tl_error *e)
{
    tl_machine *m = r->machine;
    switch (what) {
    case TL_IS_INSN:
        tl_replay_finish(r);
        begin(r, b, i);
        return 0;
    case TL_IS_LOAD:
    case TL_IS_STORE:
        return access(r, what == TL_IS_LOAD, b, i, e);
    case TL_IS_STORED:
        if (b->key[i] && r->has_stores)
            tl_shadow_forget(m->memory, r->store_address, r->store_size);
        r->seen.has_value = true;
        r->seen.value = b->key[i];
        return 0;
    case TL_IS_SYSTEM_VALUE:
        take_system(m, r->opcode, b->key[i]);
        r->seen.has_value = true;
        r->seen.value = b->key[i];
        return 0;
    case TL_IS_CALL_ARGUMENT: /* the system may write anything */
        tl_shadow_clear(m->memory);
        return 0;
    case TL_IS_CALL_RESULT:
        tl_replay_finish(r);
        tl_shadow_clear(m->memory);
        a64_know(&m->registers, 0, b->key[i]);
        return 0;
    case TL_IS_FLAGS:
        r->has_flags = true;
        r->flags = (uint32_t)b->key[i];
        if (r->has_general)
            switch_code(r, r->flags);
        return 0;
    case TL_IS_GENERAL:
        tl_replay_finish(r);
        take_general(m, field_of(b, i, TL_FIELD_GENERAL));
        r->has_general = true;
        return 0;
    default:
        return 0;
    }
}
