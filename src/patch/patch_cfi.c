/* Follows the instructions of call frame information up to an address. Only the rule of the canonical frame address,
 * and whether there is a return address, are kept: what they say of other registers is passed over. */
#include "patch/patch_frames.h"
#include "patch/patch_reader.h"

/* DW_CFA_*: the high two bits are an instruction with an operand in the low six, or 0. */
enum {
    ADVANCE_LOC = 1,
    OFFSET = 2,
    RESTORE = 3,

    NOP = 0x00,
    SET_LOC = 0x01,
    ADVANCE_LOC1 = 0x02,
    ADVANCE_LOC2 = 0x03,
    ADVANCE_LOC4 = 0x04,
    OFFSET_EXTENDED = 0x05,
    RESTORE_EXTENDED = 0x06,
    UNDEFINED = 0x07,
    SAME_VALUE = 0x08,
    REGISTER = 0x09,
    REMEMBER_STATE = 0x0a,
    RESTORE_STATE = 0x0b,
    DEF_CFA = 0x0c,
    DEF_CFA_REGISTER = 0x0d,
    DEF_CFA_OFFSET = 0x0e,
    DEF_CFA_EXPRESSION = 0x0f,
    EXPRESSION = 0x10,
    OFFSET_EXTENDED_SF = 0x11,
    DEF_CFA_SF = 0x12,
    DEF_CFA_OFFSET_SF = 0x13,
    VAL_OFFSET = 0x14,
    VAL_OFFSET_SF = 0x15,
    VAL_EXPRESSION = 0x16,
    NEGATE_RA_STATE = 0x2d, /* AArch64; SPARC's window_save */
    ARGS_SIZE = 0x2e,
    NEGATIVE_OFFSET_EXTENDED = 0x2f
};

static bool advance(patch_cfa_walk *w, uint64_t by)
{
    uint64_t bytes;
    return !w->common && !__builtin_mul_overflow(by, w->frame.code_factor, &bytes) &&
           !__builtin_add_overflow(w->here, bytes, &w->here);
}

/* A register number, and what follows it of this many LEB128 numbers. */
static bool pass(patch_reader *r, unsigned numbers)
{
    uint64_t ignored;
    while (numbers--)
        if (!patch_read_unsigned(r, &ignored))
            return false;
    return true;
}

static bool pass_block(patch_reader *r)
{
    uint64_t size;
    if (!patch_read_unsigned(r, &size) || size > r->end - r->at)
        return false;
    r->at += size;
    return true;
}

/* A rule for another register than the canonical frame address. */
static bool other_register(patch_cfa_walk *w, patch_reader *r, uint8_t op)
{
    uint64_t reg;
    if (!patch_read_unsigned(r, &reg))
        return false;
    if (reg == w->frame.return_register)
        w->cfa.returns = op != UNDEFINED;
    switch (op) {
    case RESTORE_EXTENDED:
        if (reg == w->frame.return_register)
            w->cfa.returns = w->first.returns;
        return true;
    case UNDEFINED:
    case SAME_VALUE:
        return true;
    case EXPRESSION:
    case VAL_EXPRESSION:
        return pass_block(r);
    default: /* an offset or a register; a signed number has the form of an unsigned one */
        return pass(r, 1);
    }
}

static bool define(patch_cfa_walk *w, bool known, uint64_t reg, int64_t offset)
{
    w->cfa.known = known && reg <= UINT8_MAX;
    w->cfa.reg = (uint8_t)reg;
    w->cfa.offset = offset;
    return true;
}

/* DW_CFA_def_cfa and its relatives. An offset alone leaves an expression what it is. */
static bool definition(patch_cfa_walk *w, patch_reader *r, uint8_t op)
{
    uint64_t reg = w->cfa.reg, offset;
    int64_t factored = w->cfa.offset;
    bool known = true;
    switch (op) {
    case DEF_CFA:
        if (!patch_read_unsigned(r, &reg) || !patch_read_unsigned(r, &offset) || offset > INT32_MAX)
            return false;
        return define(w, true, reg, (int64_t)offset);
    case DEF_CFA_REGISTER:
        return patch_read_unsigned(r, &reg) && define(w, true, reg, factored);
    case DEF_CFA_OFFSET:
        return patch_read_unsigned(r, &offset) && offset <= INT32_MAX && define(w, w->cfa.known, reg, (int64_t)offset);
    case DEF_CFA_SF:
    case DEF_CFA_OFFSET_SF:
        if (op == DEF_CFA_OFFSET_SF)
            known = w->cfa.known;
        else if (!patch_read_unsigned(r, &reg))
            return false;
        return patch_read_signed(r, &factored) && !__builtin_mul_overflow(factored, w->frame.data_factor, &factored) &&
               define(w, known, reg, factored);
    default:
        w->cfa.known = false;
        return pass_block(r);
    }
}

static bool location(patch_cfa_walk *w, patch_reader *r, uint8_t op)
{
    uint64_t by;
    if (op == SET_LOC)
        return !w->common && patch_read_pointer(r, w->frame.pointers, &w->here);
    return patch_read_fixed(r, op == ADVANCE_LOC1 ? 1 : op == ADVANCE_LOC2 ? 2 : 4, &by) && advance(w, by);
}

static bool state(patch_cfa_walk *w, uint8_t op)
{
    if (op == REMEMBER_STATE) {
        if (w->nkept == PATCH_KEPT_MAX)
            return false;
        w->kept[w->nkept++] = w->cfa;
        return true;
    }
    if (w->nkept == 0)
        return false;
    w->cfa = w->kept[--w->nkept];
    return true;
}

static bool extended(patch_cfa_walk *w, patch_reader *r, uint8_t op)
{
    switch (op) {
    case NOP:
    case NEGATE_RA_STATE:
        return true;
    case SET_LOC:
    case ADVANCE_LOC1:
    case ADVANCE_LOC2:
    case ADVANCE_LOC4:
        return location(w, r, op);
    case REMEMBER_STATE:
    case RESTORE_STATE:
        return state(w, op);
    case DEF_CFA:
    case DEF_CFA_REGISTER:
    case DEF_CFA_OFFSET:
    case DEF_CFA_EXPRESSION:
    case DEF_CFA_SF:
    case DEF_CFA_OFFSET_SF:
        return definition(w, r, op);
    case ARGS_SIZE:
        return pass(r, 1);
    case OFFSET_EXTENDED:
    case RESTORE_EXTENDED:
    case UNDEFINED:
    case SAME_VALUE:
    case REGISTER:
    case EXPRESSION:
    case OFFSET_EXTENDED_SF:
    case VAL_OFFSET:
    case VAL_OFFSET_SF:
    case VAL_EXPRESSION:
    case NEGATIVE_OFFSET_EXTENDED:
        return other_register(w, r, op);
    default:
        return false;
    }
}

static bool follow(patch_cfa_walk *w, patch_reader *r)
{
    uint8_t op;
    if (w->left-- == 0 || !patch_read_byte(r, &op))
        return false;
    switch (op >> 6) {
    case ADVANCE_LOC:
        return advance(w, op & 0x3f);
    case OFFSET:
        w->cfa.returns |= (op & 0x3f) == w->frame.return_register;
        return pass(r, 1);
    case RESTORE:
        if ((op & 0x3f) == w->frame.return_register)
            w->cfa.returns = w->first.returns;
        return true;
    default:
        return extended(w, r, op);
    }
}

/* Up to where a row begins behind the address, or to the end of the rules. Malformed rules, or too many, leave the
 * canonical frame address unknown from there on. */
static void follow_to(patch_cfa_walk *w, patch_rules *rules, uint64_t address)
{
    patch_reader r;
    if (rules->begin == rules->end)
        return;
    bool good = patch_reader_begin(&r, w->image, rules->begin, rules->end - rules->begin);
    while (good && w->here <= address && r.at < r.end)
        good = follow(w, &r);
    if (good) {
        rules->begin = r.at;
        return;
    }
    w->cfa.known = false;
    w->frame.own.begin = w->frame.own.end;
}

void patch_cfa_begin(patch_cfa_walk *w, const patch_image *image, const patch_frame *frame)
{
    *w = (patch_cfa_walk){.image = image, .frame = *frame, .here = frame->begin, .left = PATCH_COMMON_ROWS_MAX};
    w->cfa.returns = w->common = true;
    follow_to(w, &w->frame.common, frame->begin);
    w->first = w->cfa;
    w->common = false;
    w->left = PATCH_ROWS_MAX;
}

patch_cfa patch_cfa_next(patch_cfa_walk *w, uint64_t address)
{
    follow_to(w, &w->frame.own, address);
    return w->cfa;
}

patch_cfa patch_cfa_at(const patch_image *image, const patch_frame *frame, uint64_t address)
{
    patch_cfa_walk w;
    patch_cfa_begin(&w, image, frame);
    return patch_cfa_next(&w, address);
}
