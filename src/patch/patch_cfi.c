/* Follows the instructions of call frame information up to an address. Only the rule of the canonical frame address,
 * and whether there is a return address, are kept: what they say of other registers is passed over. */
#include "patch/patch_frames.h"
#include "patch/patch_reader.h"

#define KEPT_MAX 16 /* rules that DW_CFA_remember_state may keep: compilers emit one */

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

typedef struct follower {
    const patch_frame *frame;
    uint64_t address, here;               /* until; of the row */
    patch_cfa cfa, kept[KEPT_MAX], first; /* first: behind the common rules */
    unsigned nkept, left;                 /* left: instructions that are still followed */
} follower;

static bool advance(follower *f, uint64_t by)
{
    uint64_t bytes;
    return !__builtin_mul_overflow(by, f->frame->code_factor, &bytes) &&
           !__builtin_add_overflow(f->here, bytes, &f->here);
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
static bool other_register(follower *f, patch_reader *r, uint8_t op)
{
    uint64_t reg;
    if (!patch_read_unsigned(r, &reg))
        return false;
    if (reg == f->frame->return_register)
        f->cfa.returns = op != UNDEFINED;
    switch (op) {
    case RESTORE_EXTENDED:
        if (reg == f->frame->return_register)
            f->cfa.returns = f->first.returns;
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

static bool define(follower *f, uint64_t reg, int64_t offset)
{
    f->cfa.known = reg <= UINT8_MAX;
    f->cfa.reg = (uint8_t)reg;
    f->cfa.offset = offset;
    return true;
}

/* DW_CFA_def_cfa and its relatives. */
static bool definition(follower *f, patch_reader *r, uint8_t op)
{
    uint64_t reg = f->cfa.reg, offset;
    int64_t factored = f->cfa.offset;
    switch (op) {
    case DEF_CFA:
        if (!patch_read_unsigned(r, &reg) || !patch_read_unsigned(r, &offset) || offset > INT32_MAX)
            return false;
        return define(f, reg, (int64_t)offset);
    case DEF_CFA_REGISTER:
        return patch_read_unsigned(r, &reg) && define(f, reg, factored);
    case DEF_CFA_OFFSET:
        return patch_read_unsigned(r, &offset) && offset <= INT32_MAX && define(f, reg, (int64_t)offset);
    case DEF_CFA_SF:
        if (!patch_read_unsigned(r, &reg))
            return false;
        // fall through
    case DEF_CFA_OFFSET_SF:
        return patch_read_signed(r, &factored) && !__builtin_mul_overflow(factored, f->frame->data_factor, &factored) &&
               define(f, reg, factored);
    default:
        f->cfa.known = false;
        return pass_block(r);
    }
}

static bool location(follower *f, patch_reader *r, uint8_t op)
{
    uint64_t by;
    if (op == SET_LOC)
        return patch_read_pointer(r, f->frame->pointers, &f->here);
    return patch_read_fixed(r, op == ADVANCE_LOC1 ? 1 : op == ADVANCE_LOC2 ? 2 : 4, &by) && advance(f, by);
}

static bool state(follower *f, uint8_t op)
{
    if (op == REMEMBER_STATE) {
        if (f->nkept == KEPT_MAX)
            return false;
        f->kept[f->nkept++] = f->cfa;
        return true;
    }
    if (f->nkept == 0)
        return false;
    f->cfa = f->kept[--f->nkept];
    return true;
}

static bool extended(follower *f, patch_reader *r, uint8_t op)
{
    switch (op) {
    case NOP:
    case NEGATE_RA_STATE:
        return true;
    case SET_LOC:
    case ADVANCE_LOC1:
    case ADVANCE_LOC2:
    case ADVANCE_LOC4:
        return location(f, r, op);
    case REMEMBER_STATE:
    case RESTORE_STATE:
        return state(f, op);
    case DEF_CFA:
    case DEF_CFA_REGISTER:
    case DEF_CFA_OFFSET:
    case DEF_CFA_EXPRESSION:
    case DEF_CFA_SF:
    case DEF_CFA_OFFSET_SF:
        return definition(f, r, op);
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
        return other_register(f, r, op);
    default:
        return false;
    }
}

/* False: malformed, or too long. Ends where a row begins behind the address. */
static bool follow(follower *f, const patch_image *image, patch_rules rules)
{
    patch_reader r;
    uint8_t op;
    if (rules.begin == rules.end)
        return true;
    if (!patch_reader_begin(&r, image, rules.begin, rules.end - rules.begin))
        return false;
    while (f->here <= f->address && patch_read_byte(&r, &op)) {
        const patch_cfa before = f->cfa;
        bool good;
        if (f->left-- == 0)
            return false;
        switch (op >> 6) {
        case ADVANCE_LOC:
            good = advance(f, op & 0x3f);
            break;
        case OFFSET:
            good = pass(&r, 1);
            f->cfa.returns |= (op & 0x3f) == f->frame->return_register;
            break;
        case RESTORE:
            good = true;
            if ((op & 0x3f) == f->frame->return_register)
                f->cfa.returns = f->first.returns;
            break;
        default:
            good = extended(f, &r, op);
            break;
        }
        if (!good)
            return false;
        if (f->here > f->address)
            f->cfa = before;
    }
    return true;
}

patch_cfa patch_cfa_at(const patch_image *image, const patch_frame *frame, uint64_t address)
{
    follower f = {.frame = frame, .address = address, .here = frame->begin, .left = PATCH_ROWS_MAX};
    f.cfa.returns = true;
    if (!follow(&f, image, frame->common))
        return (patch_cfa){.known = false};
    f.first = f.cfa;
    if (!follow(&f, image, frame->own))
        f.cfa.known = false;
    return f.cfa;
}
