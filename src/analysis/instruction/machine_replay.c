/* Replays the events of one track: registers by what instructions do to them, memory by what was loaded and stored. */
#include <string.h>

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/machine_state.h"

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

/* Vector registers get what was loaded into them; others that are written become unknown. */
static void replay_vectors(tl_replay *r)
{
    tl_machine *m = r->machine;
    a64_operands o;
    a64_operands_of(r->opcode, &o);
    m->vectors &= ~o.writes.v;
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

static void begin(tl_replay *r, const tl_batch *b, uint32_t i)
{
    const unsigned level = tl_insn_level(b->aux[i]);
    if (level != r->level) /* each level has a stack pointer of its own */
        a64_forget(&r->machine->registers, A64_SP);
    r->pc = b->key[i];
    r->opcode = tl_insn_opcode(b->aux[i]);
    r->level = level;
    r->waiting = true;
    r->seen = (a64_seen){.no_pc = !tl_insn_has_pc(b->aux[i])};
    r->has_stores = r->has_flags = false;
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
        r->seen.has_value = true;
        r->seen.value = b->key[i];
        return 0;
    case TL_IS_CALL_ARGUMENT: /* the system may write what it likes */
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
        return 0;
    case TL_IS_GENERAL:
        tl_replay_finish(r);
        take_general(m, field_of(b, i, TL_FIELD_GENERAL));
        return 0;
    default:
        return 0;
    }
}
