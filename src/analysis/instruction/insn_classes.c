/* Classifies the classes of a trace for tables of instructions. */
#include "analysis/instruction/insn_classes.h"

static tl_insn_what what_state_is(tl_role role)
{
    switch (role) {
    case TL_ROLE_TARGET:
        return TL_IS_TARGET;
    case TL_ROLE_STORED:
        return TL_IS_STORED;
    case TL_ROLE_SYSTEM_VALUE:
        return TL_IS_SYSTEM_VALUE;
    case TL_ROLE_CACHE_ADDRESS:
        return TL_IS_CACHE_ADDRESS;
    case TL_ROLE_CALL_ARGUMENT:
        return TL_IS_CALL_ARGUMENT;
    case TL_ROLE_CALL_RESULT:
        return TL_IS_CALL_RESULT;
    case TL_ROLE_CALL_BUFFERS:
        return TL_IS_CALL_BUFFERS;
    case TL_ROLE_ORDER:
        return TL_IS_ORDER;
    case TL_ROLE_FLAGS:
        return TL_IS_FLAGS;
    default:
        return TL_IS_OTHER;
    }
}

static tl_insn_what what_is(const tl_class *c)
{
    switch (c->kind) {
    case TL_INSN: /* another instruction set would have another role */
        return c->role == TL_ROLE_A64 && c->aux == TL_AUX_INSN ? TL_IS_INSN : TL_IS_OTHER;
    case TL_MEM:
        if (c->aux != TL_AUX_SIZE)
            return TL_IS_OTHER;
        return c->role == TL_ROLE_LOAD ? TL_IS_LOAD : c->role == TL_ROLE_STORE ? TL_IS_STORE : TL_IS_OTHER;
    case TL_STATE:
        return what_state_is(c->role);
    case TL_REGS:
        return c->role == TL_ROLE_GENERAL ? TL_IS_GENERAL : c->role == TL_ROLE_SNAPSHOT ? TL_IS_SNAPSHOT : TL_IS_OTHER;
    default:
        return TL_IS_OTHER;
    }
}

bool tl_insn_classes_find(tl_insn_classes *c, const tl_trace *t)
{
    const uint32_t n = tl_trace_classes(t);
    *c = (tl_insn_classes){.insn = UINT32_MAX};
    if (n > TL_INSN_CLASSES)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        c->what[i] = (uint8_t)what_is(tl_trace_class(t, i));
        if (c->what[i] != TL_IS_INSN)
            continue;
        c->insn = i;
        c->insns++;
    }
    return c->insns > 0;
}
