/* Emits operations: alignment that is known in advance, runs of numbers, and sorted choices. */
#include <string.h>

#include "base/grow.h"
#include "format/ctf/plan/ctf_compile.h"
#include "model/enum_ranges.h"

/* A dummy for what does not fit into memory; the failure is reported at the end. */
static ctf_op *nowhere(void)
{
    static _Thread_local ctf_op op;
    return &op;
}

static ctf_op *append(ctf_builder *b, ctf_code code)
{
    if (!TL_GROW(b->op, b->nop, 1, b->op_capacity) || !TL_GROW(b->op_member, b->nop, 1, b->op_member_capacity)) {
        b->no_memory = true;
        return nowhere();
    }
    b->op_member[b->nop] = b->member;
    b->op[b->nop] = (ctf_op){.code = (uint8_t)code, .reg = CTF_NO_REGISTER};
    return &b->op[b->nop++];
}

void ctf_emit_flush(ctf_builder *b)
{
    const uint32_t loads = b->nload - b->run_load;
    if (b->run_bits || loads) {
        ctf_op *op = append(b, loads ? CTF_OP_RUN : CTF_OP_SKIP);
        op->a = b->run_load;
        op->n = loads;
        op->b = b->run_bits;
    }
    b->run_bits = 0;
    b->run_load = b->nload;
}

ctf_op *ctf_emit(ctf_builder *b, ctf_code code)
{
    ctf_emit_flush(b);
    return append(b, code);
}

/* Begins a run here, unless one has begun. */
static void begin_run(ctf_builder *b)
{
    if (b->run_bits == 0 && b->nload == b->run_load)
        b->run_shift = b->res & 7;
}

void ctf_emit_advance(ctf_builder *b, uint64_t bits)
{
    begin_run(b);
    b->run_bits += bits;
    b->res = (uint32_t)((b->res + bits) & (b->mod - 1));
}

void ctf_emit_align(ctf_builder *b, uint32_t align)
{
    if (align <= 1)
        return;
    if (b->mod >= align) {
        const uint32_t pad = (0 - b->res) & (align - 1);
        if (pad)
            ctf_emit_advance(b, pad);
        return;
    }
    ctf_emit(b, CTF_OP_ALIGN)->a = align;
    b->mod = align;
    b->res = 0;
}

uint32_t ctf_emit_load(ctf_builder *b, const ctf_load *l, uint32_t number)
{
    if (!TL_GROW(b->load, b->nload, 1, b->load_capacity) ||
        !TL_GROW(b->load_number, b->nload, 1, b->load_number_capacity) ||
        !TL_GROW(b->load_member, b->nload, 1, b->load_member_capacity)) {
        b->no_memory = true;
        return 0;
    }
    b->load[b->nload] = *l;
    b->load_member[b->nload] = b->member;
    b->load_number[b->nload] = number;
    return b->nload++;
}

static uint64_t head_of(tl_type type, uint32_t n)
{
    const tl_value v = {.type = (uint8_t)type, .n = n};
    uint64_t head;
    memcpy(&head, &v, sizeof head);
    return head;
}

void ctf_emit_slot(ctf_builder *b, tl_type type, uint32_t n)
{
    if (b->mode != CTF_STORE)
        return;
    b->slots++;
    if (b->mod < 8) {
        ctf_emit(b, CTF_OP_SLOT)->b = head_of(type, n);
        return;
    }
    begin_run(b);
    const uint64_t bit = b->run_shift + b->run_bits;
    if (bit / 8 > UINT32_MAX) {
        ctf_emit(b, CTF_OP_SLOT)->b = head_of(type, n);
        return;
    }
    ctf_load l = {.head = head_of(type, n), .reg = CTF_NO_REGISTER, .left = 63, .right = 63};
    l.offset = (uint32_t)(bit / 8);
    l.bit = (uint32_t)b->run_bits;
    ctf_emit_load(b, &l, CTF_NO_NODE);
}

ctf_load ctf_load_of(const ctf_builder *b, const ctf_type *t)
{
    tl_type type = t->is_signed ? TL_I64 : TL_U64;
    ctf_load l = {.reg = CTF_NO_REGISTER, .bits = (uint8_t)t->bits};
    const ctf_order order = t->order == CTF_NATIVE ? b->native : (ctf_order)t->order;
    if (order == CTF_BE)
        l.flags |= CTF_LOAD_BIG;
    if (t->reversed)
        l.flags |= CTF_LOAD_REVERSED;
    if (t->is_signed)
        l.flags |= CTF_LOAD_SIGNED;
    if (t->kind == CTF_FLOAT) {
        type = TL_F64;
        l.flags &= (uint8_t)~CTF_LOAD_SIGNED;
        if (t->bits == 32)
            l.flags |= CTF_LOAD_FLOAT;
    } else if (t->kind == CTF_BOOL) {
        type = TL_BOOL;
        l.flags &= (uint8_t)~CTF_LOAD_SIGNED;
        l.flags |= CTF_LOAD_BOOL;
    }
    l.head = head_of(type, 0);
    return l;
}

void ctf_emit_number(ctf_builder *b, const ctf_type *t, uint32_t number, bool hidden)
{
    ctf_load l = ctf_load_of(b, t);
    const int big = (l.flags & CTF_LOAD_BIG) != 0;
    const bool wanted = b->mode == CTF_LOAD || (b->mode == CTF_STORE && (!hidden || b->hide_number)) ||
                        (number != CTF_NO_NODE && number < b->scopes->noccurrence &&
                         b->scopes->occurrence[number].reg != CTF_NO_REGISTER);
    if (b->mode == CTF_STORE && !hidden)
        b->slots++;
    if (b->mod >= 8 && b->res & 7 && b->last_big >= 0 && b->last_big != big)
        ctf_emit(b, CTF_OP_FAIL);
    b->last_big = big;
    if (b->mod < 8 || (hidden && b->mode == CTF_STORE && wanted)) {
        ctf_emit_flush(b);
        if (b->mod < 8 || wanted) {
            const uint32_t index = ctf_emit_load(b, &l, number);
            b->run_load = b->nload;
            ctf_op *op = append(b, CTF_OP_BITS);
            op->a = index;
            op->flags = hidden || b->mode != CTF_STORE ? CTF_OP_HIDDEN : 0;
        }
        b->res = (b->res + t->bits) & (b->mod - 1);
        return;
    }
    begin_run(b);
    const uint64_t bit = b->run_shift + b->run_bits;
    if (wanted && bit / 8 <= UINT32_MAX - 16) {
        const unsigned shift = (unsigned)(bit & 7);
        l.offset = (uint32_t)(bit / 8);
        l.bit = (uint32_t)b->run_bits;
        l.right = (uint8_t)(64 - t->bits);
        l.left = (uint8_t)(shift + t->bits > 64 ? CTF_WIDE : big ? shift : 64 - shift - t->bits);
        ctf_emit_load(b, &l, number);
    }
    ctf_emit_advance(b, t->bits);
}

ctf_choice *ctf_emit_choice(ctf_builder *b)
{
    static _Thread_local ctf_choice none;
    if (!TL_GROW(b->choice, b->nchoice, 1, b->choice_capacity)) {
        b->no_memory = true;
        return &none;
    }
    b->choice[b->nchoice] = (ctf_choice){0};
    return &b->choice[b->nchoice++];
}

/* The ranges of choices as an enumeration with one label, where the first mapping that contains a value counts. */
static bool cut_choices(tl_enum_ranges *r, tl_arena *a, const ctf_choice *from, uint32_t n, uint64_t bias)
{
    tl_mapping *m = tl_arena_alloc(a, n * sizeof *m);
    uint32_t *group = tl_arena_zalloc(a, n * sizeof *group);
    for (uint32_t i = 0; m && i < n; i++)
        m[i] = (tl_mapping){.low = from[i].low, .high = from[i].high};
    return m && group && tl_enum_ranges_make(r, a, m, group, n, bias, UINT64_MAX);
}

/* Usually they are: then there is nothing to do. */
static bool are_ordered(const ctf_choice *c, uint32_t n, uint64_t bias)
{
    for (uint32_t i = 0; i < n; i++)
        if ((c[i].low ^ bias) > (c[i].high ^ bias) || (i > 0 && (c[i].low ^ bias) <= (c[i - 1].high ^ bias)))
            return false;
    return true;
}

void ctf_emit_order_choices(ctf_builder *b, uint32_t first, bool is_signed)
{
    const uint32_t n = b->nchoice - first;
    const uint64_t bias = is_signed ? UINT64_C(1) << 63 : 0;
    if (b->no_memory || are_ordered(b->choice + first, n, bias))
        return;
    tl_arena a = {0};
    tl_enum_ranges r;
    ctf_choice *from = tl_arena_alloc(&a, n * sizeof *from);
    if (from)
        memcpy(from, b->choice + first, n * sizeof *from);
    if (!from || !cut_choices(&r, &a, from, n, bias)) {
        b->no_memory = true;
        tl_arena_fini(&a);
        return;
    }
    b->nchoice = first;
    for (uint32_t i = 0; i < r.n; i++) {
        ctf_choice *c = ctf_emit_choice(b);
        *c = from[r.range[i].mapping];
        c->low = r.range[i].low ^ bias;
        c->high = r.range[i].high ^ bias;
    }
    tl_arena_fini(&a);
}

void ctf_program_settle(ctf_program *p, const uint32_t *load_number, const ctf_scopes *s)
{
    ctf_load *load = (ctf_load *)(uintptr_t)p->load;
    for (uint32_t i = 0; i < p->nload; i++)
        if (load_number[i] != CTF_NO_NODE)
            load[i].reg = s->occurrence[load_number[i]].reg;
    ctf_op *op = (ctf_op *)(uintptr_t)p->op;
    for (uint32_t i = 0; i < p->nop; i++) {
        if (op[i].code != CTF_OP_RUN)
            continue;
        bool plain = true;
        int big = -1;
        for (uint32_t k = op[i].a; plain && k < op[i].a + op[i].n; k++) {
            const ctf_load *l = &load[k];
            plain = l->reg == CTF_NO_REGISTER && l->left != CTF_WIDE && !(l->flags & ~(CTF_LOAD_BIG | CTF_LOAD_SIGNED));
            const int this_big = (l->flags & CTF_LOAD_BIG) != 0;
            plain = plain && (l->bits == 0 || big < 0 || big == this_big);
            if (l->bits)
                big = this_big;
        }
        if (plain)
            op[i].code = (uint8_t)(big == 1 ? CTF_OP_RUN_BE : CTF_OP_RUN_LE);
    }
}
