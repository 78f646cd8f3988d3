/* A second look at a finished plan, with the decoder alone: every change is a jump, the jump leads to a block in our
 * pages, and the block leads back to code, but not into the middle of a change. */
#include "patch/patch_place.h"

enum {
    LONGEST = 15 /* bytes of an instruction */,
    STEPS = 64
}; /* instructions of a block, with the jumps that lead to it */

typedef struct checker {
    const patch_code *code;
    const patch_plan *plan;
} checker;

/* The last change that begins at or before an address; NULL: none. */
static const patch_change *change_before(const patch_code *code, uint64_t at)
{
    uint32_t low = 0, high = code->changes;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (code->change[middle].address <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &code->change[low - 1] : NULL;
}

static const patch_region *region_of(const patch_code *code, uint64_t at)
{
    uint32_t low = 0, high = code->regions;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (code->region[middle].address <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low && at - code->region[low - 1].address < code->region[low - 1].size ? &code->region[low - 1] : NULL;
}

/* The bytes at an address as they will be; returns how many. In our pages, a run may go on in the next region. */
static uint32_t bytes_at(const checker *c, uint64_t at, uint8_t out[LONGEST])
{
    const patch_part *part = patch_part_of(c->plan->image, at, 1);
    uint32_t n = 0;
    if (!part) {
        for (const patch_region *r; n < LONGEST && (r = region_of(c->code, at + n)); n++)
            out[n] = r->bytes[at + n - r->address];
        return n;
    }
    for (const uint64_t end = part->address + part->size; n < LONGEST && at + n < end; n++)
        out[n] = part->bytes[at + n - part->address];
    const patch_change *b = change_before(c->code, at);
    if (!b)
        b = c->code->change;
    for (const patch_change *end = c->code->change + c->code->changes; b < end && b->address < at + n; b++)
        for (uint32_t i = 0; i < b->size; i++)
            if (b->address + i - at < n)
                out[b->address + i - at] = b->now[i];
    return n;
}

static bool decode_slowly(const checker *c, uint64_t at, patch_insn *insn)
{
    uint8_t bytes[LONGEST];
    return c->plan->machine->decode(bytes, bytes_at(c, at, bytes), at, insn);
}

/* An instruction of a block. Most lie in one region. */
static bool decode_block(const checker *c, const patch_region *r, uint64_t at, patch_insn *insn)
{
    if (r->address + r->size - at < LONGEST)
        return decode_slowly(c, at, insn);
    return c->plan->machine->decode(r->bytes + (at - r->address), LONGEST, at, insn);
}

/* May control go on there? In code: not in the middle of a change. */
static bool is_place(const checker *c, uint64_t at)
{
    const patch_change *b = change_before(c->code, at);
    if (region_of(c->code, at))
        return true;
    const patch_part *part = patch_part_of(c->plan->image, at, 1);
    return part && part->code && !(b && at != b->address && at - b->address < b->size);
}

/* Follows a block from its first instruction to the jump that leaves it. */
static bool check_block(const checker *c, const patch_region *r, uint64_t at)
{
    for (unsigned step = 0; step < STEPS; step++) {
        patch_insn insn;
        if (at - r->address >= r->size)
            r = region_of(c->code, at);
        if (!r || !decode_block(c, r, at, &insn))
            return false;
        switch (insn.kind) {
        case PATCH_INSN_JUMP:
            if (!is_place(c, insn.target))
                return false;
            if (!region_of(c->code, insn.target))
                return true;
            at = insn.target;
            continue;
        case PATCH_INSN_COND:
            if (!is_place(c, insn.target))
                return false;
            break;
        case PATCH_INSN_INDIRECT: /* to a stub, or a far block, or where the program says */
        case PATCH_INSN_RETURN:
            return true;
        case PATCH_INSN_STOP: /* of the program: an instruction that was moved */
        default:
            break;
        }
        at += insn.length;
    }
    return false;
}

/* The jump that a change is leads to a block, or over another one to it. */
static bool check_change(const checker *c, const patch_change *change)
{
    uint64_t at = change->address;
    for (unsigned hops = 0; hops < 2; hops++) {
        patch_insn insn;
        if (!decode_slowly(c, at, &insn) || insn.kind != PATCH_INSN_JUMP || insn.length < change->size)
            return false;
        at = insn.target;
        const patch_region *r = region_of(c->code, at);
        if (r)
            return check_block(c, r, at);
        change = change_before(c->code, at);
        if (!change || change->address != at || change->live > 0)
            return false;
    }
    return false;
}

bool patch_check(const patch_code *code, const patch_plan *plan, uint64_t *where)
{
    const checker c = {code, plan};
    for (uint32_t i = 0; i < code->changes; i++) {
        const patch_change *b = &code->change[i];
        *where = b->address;
        if ((i > 0 && b[-1].address + b[-1].size > b->address) || !check_change(&c, b))
            return false;
    }
    return true;
}
