/* Executes one instruction after another: its effect on registers and flags. */
#include "isa/a64_eval.h"

#include "base/endian.h"
#include "isa/a64_system.h"

/* MRS and MSR of NZCV, without the register. */
#define MRS_NZCV 0xd53b4200u
#define MSR_NZCV 0xd51b4200u

/* Derives the base register from an observed address. */
static void learn_base(a64_state *s, const a64_memory *m, const a64_seen *seen)
{
    uint64_t offset = 0;
    if (!seen->has_address || m->base > A64_BASE_SP || m->base_vector || m->index_vector || m->imm_vectors ||
        s->known >> m->base & 1 || m->atomic == A64_COPY || m->atomic == A64_FILL || m->guarded)
        return;
    if (m->mode == A64_MODE_REGISTER) {
        if (m->index == A64_NO_REG)
            offset = 0;
        else if (!(s->known >> m->index & 1))
            return;
        else if (m->extend == A64_UXTW)
            offset = (s->x[m->index] & UINT32_MAX) << m->shift;
        else if (m->extend == A64_SXTW)
            offset = (uint64_t)(int64_t)(int32_t)(uint32_t)s->x[m->index] << m->shift;
        else
            offset = s->x[m->index] << m->shift;
    } else if (m->mode != A64_MODE_POST) {
        offset = (uint64_t)(int64_t)m->imm;
    }
    a64_know(s, m->base, seen->address - offset);
}

void a64_learn(a64_state *s, uint32_t op, const uint64_t *address, const uint64_t *target)
{
    const bool branches = (op & 0xff9ffc1f) == 0xd61f0000 && (op >> 5 & 31) != 31; /* BR, BLR, RET */
    a64_operands o;
    a64_operands_of(op, &o);
    if (branches && target)
        a64_know(s, op >> 5 & 31, *target);
    if (!address || o.memory.access == A64_NO_ACCESS || o.memory.access == A64_PREFETCHES ||
        o.memory.base > A64_BASE_SP || o.memory.base_vector || o.memory.base == o.memory.index)
        return;
    const a64_state before = *s;
    a64_forget(s, (uint32_t)1 << o.memory.base);
    learn_base(s, &o.memory, &(a64_seen){.has_address = true, .address = *address});
    if (!(s->known >> o.memory.base & 1))
        *s = before;
}

/* The base register after an access that changes it. */
static void write_back(a64_state *s, const a64_memory *m, const a64_state *before)
{
    if ((m->mode != A64_MODE_PRE && m->mode != A64_MODE_POST) || m->base > A64_BASE_SP || m->base_vector ||
        m->imm_vectors)
        return;
    uint64_t by = (uint64_t)(int64_t)m->imm;
    bool known = before->known >> m->base & 1;
    if (m->mode == A64_MODE_POST && m->index != A64_NO_REG) {
        known = known && before->known >> m->index & 1;
        by = before->x[m->index];
    }
    if (known)
        a64_know(s, m->base, before->x[m->base] + by);
}

static uint64_t load(const uint8_t *p, unsigned size)
{
    return size == 1 ? *p : size == 2 ? tl_load16(p, false) : size == 4 ? tl_load32(p, false) : tl_load64(p, false);
}

/* Is the value of a load sign-extended? *to: to how many bits. */
static bool is_signed_load(uint32_t op, unsigned *to)
{
    const unsigned row = op >> 28 & 3, opc = op >> 22 & 3;
    *to = 64;
    if (row == 2) /* pairs: LDPSW */
        return op >> 30 == 1;
    if (row == 1 && !(op >> 24 & 1)) /* literal: LDRSW */
        return op >> 30 == 2;
    *to = opc == 3 ? 32 : 64;
    return (row == 3 || row == 1) && opc >= 2;
}

/* The registers that an access loads, in order. Returns how many; 0: not general registers, or unknown. */
static unsigned loaded_registers(uint32_t op, const a64_memory *m, unsigned to[2])
{
    if ((op >> 26 & 1) || m->registers == 0 || m->registers > 2 || m->element == 0 || m->element > 8 || m->tags)
        return 0;
    if (m->atomic == A64_CAS) {
        to[0] = op >> 16 & 31;
        to[1] = to[0] + 1;
        if (m->registers == 2 && to[0] % 2) /* CASP needs an even register */
            return 0;
    } else if (m->atomic == A64_COPY || m->atomic == A64_FILL) {
        return 0;
    } else {
        to[0] = op & 31;
        to[1] = op >> 10 & 31;
    }
    return m->registers;
}

static void take_loaded(a64_state *s, uint32_t op, const a64_memory *m, const a64_seen *seen)
{
    unsigned to[2], width = 64;
    const unsigned n = loaded_registers(op, m, to);
    if ((m->access != A64_READS && m->access != A64_READS_WRITES) || n == 0 || seen->nloaded != (size_t)n * m->element)
        return;
    const bool is_signed = m->atomic == A64_NOT_ATOMIC && !m->exclusive && is_signed_load(op, &width);
    for (unsigned i = 0; i < n; i++) {
        uint64_t v = load(seen->loaded + (size_t)i * m->element, m->element);
        if (is_signed && m->element < 8) {
            const uint64_t sign = UINT64_C(1) << (8 * m->element - 1);
            v = ((v ^ sign) - sign) & (width == 32 ? UINT32_MAX : UINT64_MAX);
        }
        if (to[i] != 31)
            a64_know(s, to[i], v);
    }
}

/* Takes a value that was observed for system instructions and exclusive stores. */
static void take_value(a64_state *s, uint32_t op, const a64_memory *m, const a64_seen *seen)
{
    if (!seen->has_value)
        return;
    if ((op >> 20) == 0xd53) { /* MRS */
        if ((op & 31) != 31)
            a64_know(s, op & 31, seen->value);
        if ((op & ~31u) == MRS_NZCV) {
            s->nzcv = (uint32_t)seen->value;
            s->has_nzcv = true;
        }
    } else if ((op & ~31u) == MSR_NZCV) {
        s->nzcv = (uint32_t)seen->value;
        s->has_nzcv = true;
    } else if (m->access == A64_WRITES && m->exclusive && (op >> 16 & 31) != 31) {
        a64_know(s, op >> 16 & 31, seen->value);
    }
}

/* Does register 31 mean SP as the destination of an integer instruction? */
static bool writes_sp(const a64_operands *o)
{
    return o->writes.x & A64_SP;
}

void a64_eval(a64_state *s, uint64_t pc, uint32_t op, const a64_seen *seen)
{
    a64_operands o;
    a64_operands_of(op, &o);
    if (o.memory.access != A64_NO_ACCESS && o.memory.access != A64_PREFETCHES)
        learn_base(s, &o.memory, seen);
    const a64_class cls = a64_class_of(op);
    const a64_state before = *s;
    const bool is_adr = (op & 0x1f000000) == 0x10000000;
    const a64_result r = cls == A64_INT && !(is_adr && seen->no_pc) ? a64_eval_integer(s, pc, op) : (a64_result){0};
    a64_forget(s, o.writes.x);
    if (o.writes.p & A64_NZCV) {
        s->has_nzcv = r.flags_known;
        s->nzcv = r.nzcv;
    }
    const unsigned d = op & 31;
    if (r.known && (o.writes.x & ((uint32_t)1 << d)) && (d != 31 || writes_sp(&o)))
        a64_know(s, d, r.value);
    if (a64_is_call(cls) && !seen->no_pc)
        a64_know(s, 30, pc + 4);
    if (o.memory.access != A64_NO_ACCESS && o.memory.access != A64_PREFETCHES)
        write_back(s, &o.memory, &before);
    take_loaded(s, op, &o.memory, seen);
    take_value(s, op, &o.memory, seen);
}
