/* Compiling a type tree to a program.
 *
 * The remainder of the bit position modulo a power of two is known. As long as that suffices for the alignment of the
 * next field, padding is constant and fields belong to one run; otherwise an operation aligns at run time. */
#include "format/ctf/plan/ctf_compile.h"
#include "base/grow.h"
#include "format/ctf/ctf_schema.h"
#include "format/ctf/plan/ctf_fields.h"
#include "format/ctf/plan/ctf_text.h"

#include <stdlib.h>
#include <string.h>

enum { UNROLLED_MAX = 16 };             /* elements of a fixed array that become single loads */
#define CHOICES_MAX (1u << 21)          /* ranges that choose options, in all programs together: 32 bytes each */
#define LENGTH_MAX  (UINT64_C(1) << 56) /* elements or bytes: far above every file, and 64 times it fits 64 bits */

static int field(ctf_builder *b, const ctf_type *t, uint32_t node, bool conditional, tl_error *e);

void ctf_builder_start(ctf_builder *b, ctf_mode mode, uint32_t mod, uint32_t res)
{
    b->mode = mode;
    b->mod = mod;
    b->res = res & (mod - 1);
    b->nop = b->nload = b->nchoice = 0;
    b->run_bits = 0;
    b->run_load = 0;
    b->last_big = -1;
    b->slots = b->depth = b->loops = 0;
    b->moves_clock = false;
}

void ctf_builder_fini(ctf_builder *b)
{
    free(b->op);
    free(b->load);
    free(b->load_number);
    free(b->op_member);
    free(b->load_member);
    free(b->choice);
    *b = (ctf_builder){0};
}

/* The position after either of two paths. */
static void merge_positions(ctf_builder *b, uint32_t mod, uint32_t res)
{
    if (mod < b->mod)
        b->mod = mod;
    while (b->mod > 1 && ((res ^ b->res) & (b->mod - 1)))
        b->mod /= 2;
    b->res &= b->mod - 1;
}

static void put_role(ctf_builder *b, const ctf_type *t, uint32_t number)
{
    if (number == CTF_NO_NODE || number >= b->scopes->noccurrence)
        return;
    ctf_occurrence *o = &b->scopes->occurrence[number];
    if (o->reg == CTF_NO_REGISTER) {
        if (b->scopes->registers == CTF_NO_REGISTER)
            return;
        o->reg = (uint16_t)b->scopes->registers++;
    }
    b->moves_clock = b->moves_clock || t->roles & b->roles & CTF_ROLE_TIMESTAMP;
    for (uint32_t roles = t->roles & b->roles; roles; roles &= roles - 1) {
        ctf_op *op = ctf_emit(b, CTF_OP_ROLE);
        op->reg = o->reg;
        op->a = (uint32_t)__builtin_ctz(roles);
        op->b = t->bits;
        op->flags = t->kind == CTF_VARINT ? CTF_OP_VARIABLE : 0;
    }
}

static void number(ctf_builder *b, const ctf_type *t, uint32_t node, bool conditional, bool hidden)
{
    const uint32_t index = ctf_scopes_number(b->scopes, node, conditional, b->replay);
    ctf_emit_align(b, t->align);
    if (t->unit) {
        if (b->mod >= t->unit) {
            if ((b->res & (t->unit - 1)) + t->bits > t->unit)
                ctf_emit_align(b, t->unit);
        } else {
            ctf_op *op = ctf_emit(b, CTF_OP_UNIT);
            op->a = t->unit;
            op->b = t->bits;
            b->mod = 1;
            b->res = 0;
        }
    }
    ctf_emit_number(b, t, index, hidden);
    if (t->roles & b->roles)
        put_role(b, t, index);
}

static void varint(ctf_builder *b, const ctf_type *t, uint32_t node, bool conditional)
{
    const uint32_t index = ctf_scopes_number(b->scopes, node, conditional, b->replay);
    ctf_emit_align(b, t->align > 8 ? t->align : 8);
    const ctf_load l = ctf_load_of(b, t);
    ctf_emit_flush(b);
    const uint32_t load = ctf_emit_load(b, &l, index);
    b->run_load = b->nload;
    ctf_emit(b, CTF_OP_VARINT)->a = load;
    b->slots += b->mode == CTF_STORE;
    b->mod = 8;
    b->res = 0;
    if (t->roles & b->roles)
        put_role(b, t, index);
}

/* The register of a length or selector. */
static int locate(ctf_builder *b, const ctf_type *t, uint32_t node, uint16_t *reg, const ctf_type **type, tl_error *e)
{
    if (!t->location)
        return tl_fail(e, TL_EDAMAGED, t->position, "a length or selector without a location");
    return ctf_scopes_find(b->scopes, t->location, node, reg, type, e);
}

/* Sets the count of an operation. */
static int count(ctf_builder *b, const ctf_type *t, uint32_t node, uint32_t op, tl_error *e)
{
    if (b->no_memory)
        return 0;
    if (!t->dynamic) {
        b->op[op].b = t->length;
        return 0;
    }
    uint16_t reg;
    const ctf_type *length;
    int status = locate(b, t, node, &reg, &length, e);
    if (status < 0)
        return status;
    if (length->kind == CTF_BOOL)
        return tl_fail(e, TL_EDAMAGED, t->location->position, "a length must be an integer, found a boolean");
    b->op[op].reg = reg;
    b->op[op].flags |= (uint8_t)(CTF_OP_FROM_REGISTER | (length->is_signed ? CTF_OP_SIGNED_COUNT : 0));
    return 0;
}

static int text(ctf_builder *b, const ctf_type *t, uint32_t node, tl_error *e)
{
    if (t->length > LENGTH_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, t->position, "a length of %llu bytes", (unsigned long long)t->length);
    ctf_emit_align(b, t->align > 8 ? t->align : 8);
    if (t->roles & CTF_ROLE_UUID && b->mode == CTF_LOAD)
        ctf_emit(b, CTF_OP_HERE)->a = (uint32_t)__builtin_ctz(CTF_ROLE_UUID);
    if (b->mode == CTF_SKIP && t->kind != CTF_STRING && !t->dynamic && ctf_text_unit((ctf_encoding)t->encoding) == 1) {
        ctf_emit_advance(b, 8 * t->length);
        return 0;
    }
    ctf_op *op = ctf_emit(b, t->kind == CTF_STRING ? CTF_OP_STRING : t->kind == CTF_TEXT ? CTF_OP_TEXT : CTF_OP_BLOB);
    op->n = t->encoding;
    b->slots += b->mode == CTF_STORE;
    b->last_big = -1;
    const bool fixed = t->kind != CTF_STRING && !t->dynamic;
    if (!fixed)
        b->mod = b->res & 7 ? 1 : 8;
    b->res = fixed ? (uint32_t)((b->res + 8 * (t->length & (CTF_ALIGN_MAX - 1))) & (b->mod - 1)) : 0;
    return t->kind == CTF_STRING ? 0 : count(b, t, node, b->nop - 1, e);
}

/* Whether elements are contiguous plain integers of whole bytes. */
static bool is_packed(const ctf_type *t)
{
    return t->kind == CTF_INT && t->bits % 8 == 0 && t->bits % t->align == 0 && !t->unit && !t->reversed && !t->roles;
}

static int packed_array(ctf_builder *b, const ctf_type *t, uint32_t node, uint32_t length_op, tl_error *e)
{
    const ctf_type *element = t->member[0].type;
    if (b->mod < 8 || b->res & 7)
        ctf_emit_align(b, 8);
    if (b->mode == CTF_SKIP && !t->dynamic && length_op == CTF_NO_NODE) {
        (void)ctf_scopes_number(b->scopes, CTF_NO_NODE, true, b->replay);
        ctf_emit_advance(b, element->bits * t->length);
        b->last_big = -1;
        return 0;
    }
    ctf_load l = ctf_load_of(b, element);
    const bool big = l.flags & CTF_LOAD_BIG;
    l.right = (uint8_t)(64 - element->bits);
    l.left = (uint8_t)(big ? 0 : 64 - element->bits);
    ctf_emit_flush(b);
    const uint32_t load = ctf_emit_load(b, &l, CTF_NO_NODE);
    b->run_load = b->nload;
    ctf_op *op = ctf_emit(b, CTF_OP_INTS);
    op->a = load;
    const uint32_t index = b->nop - 1;
    b->slots += b->mode == CTF_STORE;
    /* Elements have no node, but a place in the order of numbers. */
    (void)ctf_scopes_number(b->scopes, CTF_NO_NODE, true, b->replay);
    b->last_big = -1;
    b->mod = element->bits & (0 - element->bits);
    if (b->mod > CTF_ALIGN_MAX || b->mod < 8)
        b->mod = 8;
    if (b->mod > element->align)
        b->mod = element->align < 8 ? 8 : element->align;
    b->res = 0;
    if (length_op != CTF_NO_NODE) {
        if (!b->no_memory) {
            b->op[index].reg = b->op[length_op].reg;
            b->op[index].flags = b->op[length_op].flags;
        }
        return 0;
    }
    return count(b, t, node, index, e);
}

static int loop(ctf_builder *b, const ctf_type *t, uint32_t node, uint32_t length_op, tl_error *e)
{
    const ctf_type *element = t->member[0].type;
    const uint32_t align = ctf_type_start(element);
    if (++b->loops > CTF_LOOPS_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, t->position, "more than %u arrays in arrays", CTF_LOOPS_MAX);
    (void)ctf_emit(b, CTF_OP_LOOP);
    const uint32_t begin = b->nop - 1;
    int status = 0;
    if (length_op == CTF_NO_NODE) {
        status = count(b, t, node, begin, e);
    } else if (!b->no_memory) {
        b->op[begin].reg = b->op[length_op].reg;
        b->op[begin].flags = b->op[length_op].flags;
    }
    if (!b->no_memory && ctf_type_may_be_empty(element))
        b->op[begin].flags |= CTF_OP_EMPTY_BODY;
    b->slots += b->mode == CTF_STORE;
    /* True at the begin of every element, not only the first. */
    const bool whole = b->mod >= 8 && (b->res & 7) == 0 && ctf_type_is_bytewise(element);
    b->mod = whole ? 8 : 1;
    b->res = 0;
    b->last_big = -1;
    const uint32_t inside = ctf_scopes_add(b->scopes, node, NULL, NULL, element, true);
    if (status == 0)
        ctf_emit_align(b, align);
    if (status == 0)
        status = field(b, element, inside, true, e);
    (void)ctf_emit(b, CTF_OP_NEXT);
    if (!b->no_memory)
        b->op[begin].a = b->nop - 1;
    if (inside != CTF_NO_NODE)
        b->scopes->node[inside].closed = true;
    b->mod = whole ? 8 : 1;
    b->res = 0;
    b->last_big = -1;
    b->loops--;
    return status;
}

static int array(ctf_builder *b, const ctf_type *t, uint32_t node, tl_error *e)
{
    const ctf_type *element = t->member[0].type;
    uint32_t length_op = CTF_NO_NODE;
    if (t->length > LENGTH_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, t->position, "a length of %llu elements", (unsigned long long)t->length);
    if (t->inline_length) {
        const uint32_t index = ctf_scopes_number(b->scopes, CTF_NO_NODE, false, b->replay);
        if (index < b->scopes->noccurrence && b->scopes->occurrence[index].reg == CTF_NO_REGISTER) {
            if (b->scopes->registers == CTF_NO_REGISTER)
                return tl_fail(e, TL_EUNSUPPORTED, t->position, "more than %u sequences", CTF_NO_REGISTER);
            b->scopes->occurrence[index].reg = (uint16_t)b->scopes->registers++;
        }
        ctf_emit_align(b, t->inline_length->align);
        ctf_emit_number(b, t->inline_length, index, true);
        /* An operation that only contains the place of the count, which becomes the array's. */
        ctf_op *op = ctf_emit(b, CTF_OP_SKIP);
        op->reg = index < b->scopes->noccurrence ? b->scopes->occurrence[index].reg : CTF_NO_REGISTER;
        length_op = b->nop - 1;
        if (!b->no_memory)
            op->flags = (uint8_t)(CTF_OP_FROM_REGISTER | (t->inline_length->is_signed ? CTF_OP_SIGNED_COUNT : 0));
    }
    const uint32_t align = ctf_type_start(element);
    if (!t->inline_length)
        ctf_emit_align(b, t->align);
    ctf_emit_align(b, align);
    const bool fixed = !t->dynamic && !t->inline_length;
    if (is_packed(element) && (b->mod < 8 ? align >= 8 : (b->res & 7) == 0)) {
        if (!fixed || t->length > UNROLLED_MAX)
            return packed_array(b, t, node, length_op, e);
        ctf_emit_slot(b, TL_LIST, (uint32_t)t->length);
        for (uint32_t i = 0; i < t->length; i++)
            number(b, element, CTF_NO_NODE, true, false);
        return 0;
    }
    return loop(b, t, node, length_op, e);
}

/* The choices between options. nothing: the one that means null, or UINT32_MAX. */
static void emit_choices(ctf_builder *b, const ctf_type *t, uint32_t nothing, bool nullable, bool is_signed)
{
    const bool optional = t->kind == CTF_OPTIONAL;
    const ctf_choice truth = {.low = 1, .high = UINT64_MAX};
    const uint32_t first = b->nchoice;
    for (uint32_t i = 0; i < t->nmember; i++) {
        const uint32_t slot = i == nothing ? CTF_SLOT_NULL : optional || nullable ? CTF_SLOT_NONE : CTF_SLOT_VARIANT;
        for (uint32_t k = 0; k < t->member[i].nrange; k++)
            *ctf_emit_choice(b) = (ctf_choice){
                .low = t->member[i].range[k].low, .high = t->member[i].range[k].high, .slot = slot, .option = i};
        if (optional && t->member[i].nrange == 0)
            *ctf_emit_choice(b) = truth;
    }
    ctf_emit_order_choices(b, first, is_signed);
    const uint32_t otherwise = nullable ? CTF_SLOT_NULL : CTF_SLOT_ABSENT;
    if (optional)
        *ctf_emit_choice(b) = (ctf_choice){.slot = otherwise, .always = true, .option = 1};
}

/* A type that is used often has its choices at each use. False: too many. */
static bool count_choices(ctf_builder *b, const ctf_type *t)
{
    for (uint32_t i = 0; i < t->nmember; i++)
        b->all_choices += (uint64_t)t->member[i].nrange + 1;
    return b->all_choices <= CHOICES_MAX;
}

/* The options of a variant, or the content of an optional. */
static int choice(ctf_builder *b, const ctf_type *t, uint32_t node, tl_error *e)
{
    uint16_t reg;
    const ctf_type *selector;
    const bool optional = t->kind == CTF_OPTIONAL, nullable = ctf_fields_nullable(t);
    const uint32_t nothing = nullable && !optional ? 0 : UINT32_MAX; /* the option that means null */
    int status = locate(b, t, node, &reg, &selector, e);
    if (status < 0)
        return status;
    if (selector->kind == CTF_BOOL && !optional)
        return tl_fail(e, TL_EDAMAGED, t->location->position,
                       "the selector of a variant must be an integer, found a boolean");
    if (optional && selector->kind != CTF_BOOL && t->member[0].nrange == 0)
        return tl_fail(e, TL_EDAMAGED, t->position,
                       "an optional with an integer as selector needs ranges that choose it");
    if (!count_choices(b, t))
        return tl_fail(e, TL_EUNSUPPORTED, t->position, "types that are too intricate: more than %u choices of options",
                       CHOICES_MAX);
    const uint32_t first = b->nchoice;
    const bool is_signed = selector->is_signed && selector->kind != CTF_BOOL;
    emit_choices(b, t, nothing, nullable, is_signed);
    const uint32_t last = b->nchoice;
    ctf_op *op = ctf_emit(b, CTF_OP_CHOOSE);
    op->reg = reg;
    op->a = first;
    op->b = last - first;
    op->n = is_signed;
    b->slots += b->mode == CTF_STORE;
    const uint32_t mod = b->mod, res = b->res;
    uint32_t *jump = tl_alloc(2 * (t->nmember + 1), sizeof *jump);
    if (!jump)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a variant");
    uint32_t *const begin = jump + t->nmember + 1, end_mod = 0, end_res = 0;
    if (optional || nullable) {
        end_mod = mod;
        end_res = res;
    }
    for (uint32_t i = nothing + 1; status == 0 && i < t->nmember; i++) {
        const ctf_member *m = &t->member[i];
        begin[i] = b->nop;
        b->mod = mod;
        b->res = res;
        b->last_big = -1;
        const uint32_t inside = ctf_scopes_add(b->scopes, node, m->name, m->raw, m->type, true);
        status = field(b, m->type, inside, true, e);
        (void)ctf_emit(b, CTF_OP_JUMP);
        jump[i] = b->nop - 1;
        if (end_mod)
            merge_positions(b, end_mod, end_res);
        end_mod = b->mod;
        end_res = b->res;
    }
    for (uint32_t i = nothing + 1; status == 0 && !b->no_memory && i < t->nmember; i++)
        b->op[jump[i]].a = b->nop;
    for (uint32_t k = first; status == 0 && !b->no_memory && k < last; k++)
        b->choice[k].target = b->choice[k].slot >= CTF_SLOT_ABSENT ? b->nop : begin[b->choice[k].option];
    free(jump);
    b->mod = end_mod ? end_mod : 1;
    b->res = end_mod ? end_res : 0;
    b->last_big = -1;
    return status;
}

static int structure(ctf_builder *b, const ctf_type *t, uint32_t node, bool conditional, bool is_root, tl_error *e)
{
    ctf_emit_align(b, ctf_type_alignment(t));
    uint32_t shown = 0;
    for (uint32_t i = 0; i < t->nmember; i++)
        shown += !ctf_fields_made(&t->member[i]);
    if (!is_root && !ctf_fields_wraps(t))
        ctf_emit_slot(b, TL_STRUCT, shown);
    for (uint32_t i = 0; i < t->nmember; i++) {
        const ctf_member *m = &t->member[i];
        const uint32_t child = ctf_scopes_add(b->scopes, node, m->name, m->raw, m->type, false);
        b->member = m;
        const uint32_t role = m->type->roles & ~(uint32_t)CTF_ROLE_CPU;
        if (b->mode == CTF_STORE &&
            (ctf_fields_made(m) || (is_root && b->hide_roles && role && m->type->kind <= CTF_BITMAP))) {
            b->hide_number = ctf_fields_made(m);
            number(b, m->type, child, conditional, true);
            b->hide_number = false;
            continue;
        }
        int status = field(b, m->type, child, conditional, e);
        if (status < 0)
            return status;
    }
    return 0;
}

static int field(ctf_builder *b, const ctf_type *t, uint32_t node, bool conditional, tl_error *e)
{
    if (b->depth == CTF_DEPTH_MAX)
        return tl_fail(e, TL_EUNSUPPORTED, t->position, "types in types deeper than %u", CTF_DEPTH_MAX);
    b->depth++;
    int status = 0;
    switch ((ctf_kind)t->kind) {
    case CTF_INT:
    case CTF_BOOL:
    case CTF_BITMAP:
    case CTF_FLOAT:
        number(b, t, node, conditional, false);
        break;
    case CTF_VARINT:
        varint(b, t, node, conditional);
        break;
    case CTF_STRING:
    case CTF_TEXT:
    case CTF_BLOB:
        status = text(b, t, node, e);
        break;
    case CTF_STRUCT:
        status = structure(b, t, node, conditional, false, e);
        break;
    case CTF_ARRAY:
        status = array(b, t, node, e);
        break;
    case CTF_VARIANT:
    case CTF_OPTIONAL:
        status = choice(b, t, node, e);
        break;
    }
    b->depth--;
    return status;
}

int ctf_builder_root(ctf_builder *b, ctf_origin scope, const ctf_type *type, tl_error *e)
{
    b->scopes->root[scope] = CTF_NO_NODE;
    /* Roles of a packet context were handled when its packet was opened. */
    b->roles = scope >= CTF_FROM_STREAM_CONTEXT ? b->event_roles : b->mode == CTF_STORE ? 0 : UINT32_MAX;
    if (!type)
        return 0;
    const uint32_t root = ctf_scopes_add(b->scopes, CTF_NO_NODE, NULL, NULL, type, false);
    b->scopes->root[scope] = root;
    int status = root == CTF_NO_NODE ? 0 : structure(b, type, root, false, true, e);
    b->member = NULL;
    if (status == 0 && scope == CTF_FROM_STREAM_CONTEXT && ctf_type_has_role(type, CTF_ROLE_PAYLOAD_SIZE))
        ctf_emit(b, CTF_OP_HERE)->a = CTF_CONTEXT_END;
    return status;
}

int ctf_builder_end(ctf_builder *b, ctf_program *out, const uint32_t **load_number, tl_error *e)
{
    (void)ctf_emit(b, CTF_OP_END);
    *out = (ctf_program){.nop = b->nop, .nload = b->nload, .slots = b->slots};
    ctf_op *op = tl_arena_alloc(b->arena, b->nop * sizeof *op);
    ctf_load *load = tl_arena_alloc(b->arena, (b->nload + 1) * sizeof *load);
    uint32_t *of = tl_arena_alloc(b->arena, (b->nload + 1) * sizeof *of);
    ctf_choice *c = tl_arena_alloc(b->arena, (b->nchoice + 1) * sizeof *c);
    const ctf_member **op_member = tl_arena_alloc(b->arena, b->nop * sizeof *op_member);
    const ctf_member **load_member = tl_arena_alloc(b->arena, (b->nload + 1) * sizeof *load_member);
    if (!op || !load || !of || !c || !op_member || !load_member || b->no_memory || b->scopes->no_memory)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the types of events");
    memcpy(op, b->op, b->nop * sizeof *op);
    memcpy(op_member, b->op_member, b->nop * sizeof *op_member);
    if (b->nload) {
        memcpy(load_member, b->load_member, b->nload * sizeof *load_member);
        memcpy(load, b->load, b->nload * sizeof *load);
        memcpy(of, b->load_number, b->nload * sizeof *of);
    }
    if (b->nchoice)
        memcpy(c, b->choice, b->nchoice * sizeof *c);
    out->op = op;
    out->op_member = op_member;
    out->load_member = load_member;
    out->load = load;
    out->choice = c;
    *load_number = of;
    out->is_fixed = b->nop == 1 || (b->nop == 2 && op[0].code == CTF_OP_SKIP);
    out->bits = b->nop == 2 ? op[0].b : 0;
    return 0;
}
