/* Converts events to tokens. An instruction has its pc if it begins a block, otherwise it follows the one before: this
 * is the only way to write a stream, so that reading and writing preserves the bytes. */
#include "format/xtrace/xtrace_encode.h"

#include <stdlib.h>
#include <string.h>

#include "format/xtrace/xtrace_layout.h"
#include "isa/a64.h"
#include "model/field_text.h"

/* After a place where the output could be cut but was not, the next offer comes after that many bytes. */
#define OFFER_AGAIN (64u << 10)

/* The magic number of the bytes about frames: see docs/format/xtrace.md. */

/* The slot of the first field with a role, if only plain values precede it. */
static bool find_slot(const tl_class *c, tl_field_role role, tl_type type, uint32_t *slot)
{
    for (uint32_t i = 0; i < c->nfield; i++) {
        const tl_field *f = &c->field[i];
        if (f->role == (uint8_t)role && f->type == type) {
            *slot = i;
            return true;
        }
        if (f->type == TL_LIST || f->type == TL_STRUCT || f->type == TL_VARIANT)
            return false;
    }
    return false;
}

/* Is the field in slot `slot` a list of pairs of address and length? */
static bool has_buffers(const tl_class *c, uint32_t slot)
{
    const tl_field *f = &c->field[slot];
    const tl_field *pair = f->nmember == 1 ? f->member : NULL;
    return pair && pair->type == TL_STRUCT && pair->nmember == 2 && pair->member[0].role == TL_FIELD_BASE &&
           pair->member[1].role == TL_FIELD_BYTES;
}

static xtrace_how value_how(const tl_class *c, unsigned token)
{
    return (xtrace_how){.action = c->key == TL_KEY_VALUE ? XTRACE_PUT_VALUE : XTRACE_NOTHING, .token = (uint8_t)token};
}

xtrace_how xtrace_how_of(const tl_class *c)
{
    xtrace_how how = {.action = XTRACE_NOTHING};
    switch (c->role) {
    case TL_ROLE_A64:
        if (c->kind == TL_INSN && c->aux == TL_AUX_INSN)
            how.action = XTRACE_PUT_INSN;
        return how;
    case TL_ROLE_LOAD:
    case TL_ROLE_STORE:
        if (c->kind == TL_MEM && find_slot(c, TL_FIELD_VALUE, TL_BYTES, &how.slot))
            how.action = XTRACE_PUT_MEM;
        how.token = XTRACE_MEM | (c->role == TL_ROLE_STORE ? XTRACE_MEM_STORE : 0);
        return how;
    case TL_ROLE_GENERAL:
        if (find_slot(c, TL_FIELD_GENERAL, TL_LIST, &how.slot))
            how.action = XTRACE_PUT_REGISTERS;
        return how;
    case TL_ROLE_CALL_BUFFERS:
        if (find_slot(c, TL_FIELD_ITEMS, TL_LIST, &how.slot) && has_buffers(c, how.slot))
            how.action = XTRACE_PUT_BUFFERS;
        return how;
    case TL_ROLE_SNAPSHOT:
        how.action = XTRACE_PUT_SNAPSHOT;
        return how;
    case TL_ROLE_STORED:
        return value_how(c, XTRACE_STXR);
    case TL_ROLE_SYSTEM_VALUE:
        return value_how(c, XTRACE_MRS);
    case TL_ROLE_CALL_ARGUMENT:
        return value_how(c, XTRACE_SVC_ARG);
    case TL_ROLE_CALL_RESULT:
        return value_how(c, XTRACE_SVC_RET);
    case TL_ROLE_CACHE_ADDRESS:
        return value_how(c, XTRACE_DC);
    case TL_ROLE_TARGET:
        return value_how(c, XTRACE_TARGET);
    case TL_ROLE_FLAGS:
        return value_how(c, XTRACE_FLAGS);
    case TL_ROLE_ORDER:
        return value_how(c, XTRACE_TIME);
    default:
        return how;
    }
}

xtrace_how *xtrace_hows(const tl_trace *t)
{
    xtrace_how *how = calloc((size_t)t->ncls + 1, sizeof *how);
    for (uint32_t i = 0; how && i < t->ncls; i++)
        how[i] = xtrace_how_of(&t->cls[i]);
    return how;
}

bool xtrace_is_writable(const tl_trace *t, const xtrace_how *how)
{
    for (uint32_t i = 0; i < t->ncls; i++)
        if (how[i].action == XTRACE_PUT_INSN || how[i].action == XTRACE_PUT_SNAPSHOT)
            return true;
    return false;
}

void xtrace_encoder_init(xtrace_encoder *x, tl_output *out, const xtrace_how *how)
{
    *x = (xtrace_encoder){.out = out, .how = how, .offer = TL_OUTPUT_FRAME};
}

void xtrace_encoder_fini(xtrace_encoder *x)
{
    xtrace_index_fini(&x->index);
}

static void put(xtrace_encoder *x, const void *data, size_t n)
{
    tl_text_raw(&x->tw, data, n);
    x->offset += n;
}

/* The next instruction has a pc: a reader could begin here. */
static int offer_cut(xtrace_encoder *x, uint64_t pc, tl_error *e)
{
    tl_text_close(&x->tw);
    const bool cut = tl_output_cut(x->out);
    tl_text_open(&x->tw, x->out);
    x->offer = x->offset + (cut ? TL_OUTPUT_FRAME : OFFER_AGAIN);
    if (!cut)
        return 0;
    return xtrace_index_add(&x->index, &(xtrace_frame){x->offset, x->insns, x->user_insns, pc, true}, e);
}

static int put_insn(xtrace_encoder *x, uint64_t pc, uint64_t aux, tl_error *e)
{
    const uint32_t op = tl_insn_opcode(aux);
    const unsigned level = tl_insn_level(aux);
    const bool has_pc = tl_insn_has_pc(aux), says_pc = has_pc && (!x->has_pc || x->ends_block || pc != x->pc + 4);
    int r = 0;
    if (x->index.n == 0)
        r = xtrace_index_add(&x->index, &(xtrace_frame){.pc = pc, .has_pc = has_pc && x->offset == 0}, e);
    if (r == 0 && says_pc && x->offset >= x->offer)
        r = offer_cut(x, pc, e);
    if (r < 0)
        return r;
    tl_text_room(&x->tw, XTRACE_PCINST_SIZE);
    uint8_t *p = (uint8_t *)x->tw.p;
    const size_t n = says_pc ? XTRACE_PCINST_SIZE : XTRACE_INST_SIZE;
    p[0] = (uint8_t)((says_pc ? XTRACE_PCINST : XTRACE_INST) | level << XTRACE_LEVEL_SHIFT);
    if (says_pc)
        tl_store64(p + 1, pc, false);
    tl_store32(p + n - 4, op, false);
    x->tw.p += n;
    x->offset += n;
    x->lost_pc += x->has_pc && !has_pc;
    x->insns++;
    x->user_insns += level == 0;
    x->pc = pc;
    x->has_pc = has_pc;
    /* Only two groups of the encoding end blocks. */
    x->ends_block = (op & 0x1c000000) == 0x14000000 && a64_ends_block(a64_class_of(op));
    return 0;
}

/* A token for each power of two; nearly all accesses need one. */
static void put_mem(xtrace_encoder *x, unsigned token, uint64_t address, const tl_value *v)
{
    const uint8_t *data = v->as.p;
    uint32_t left = v->type == TL_BYTES ? v->n : 0;
    x->lost_value += left == 0;
    while (left > 0) {
        const unsigned most = (unsigned)(31 - __builtin_clz(left)), k = most < 15 ? most : 15;
        const uint32_t n = (uint32_t)1 << k;
        tl_text_room(&x->tw, XTRACE_MEM_HEAD);
        uint8_t *p = (uint8_t *)x->tw.p;
        p[0] = (uint8_t)(token | k << XTRACE_MEM_SIZE_SHIFT);
        tl_store64(p + 1, address, false);
        x->tw.p += XTRACE_MEM_HEAD;
        x->offset += XTRACE_MEM_HEAD;
        put(x, data, n);
        data += n;
        address += n;
        left -= n;
    }
}

static void put_value(xtrace_encoder *x, unsigned token, uint64_t value)
{
    uint8_t bytes[XTRACE_VALUE_SIZE];
    bytes[0] = (uint8_t)token;
    tl_store64(bytes + 1, value, false);
    put(x, bytes, sizeof bytes);
    x->has_time = x->has_time || token == XTRACE_TIME;
}

static void put_registers(xtrace_encoder *x, const tl_value *v, const tl_value *end)
{
    uint8_t bytes[XTRACE_ALLGPR_SIZE];
    if (v->type != TL_LIST || v->n != XTRACE_REGISTERS || (size_t)(end - v) <= XTRACE_REGISTERS) {
        x->lost_value++;
        return;
    }
    bytes[0] = XTRACE_ALLGPR;
    for (uint32_t i = 0; i < XTRACE_REGISTERS; i++)
        tl_store64(bytes + 1 + 8 * (size_t)i, v[1 + i].as.u, false);
    put(x, bytes, sizeof bytes);
}

static void put_buffers(xtrace_encoder *x, const tl_value *v, const tl_value *end)
{
    if (v->type != TL_LIST || (size_t)(end - v) < 1 + 3 * (uint64_t)v->n) {
        x->lost_value++;
        return;
    }
    put_value(x, XTRACE_VEC, v->n);
    for (const tl_value *pair = v + 1, *stop = pair + 3 * (size_t)v->n; pair < stop; pair += 3) {
        uint8_t bytes[XTRACE_VEC_ENTRY];
        tl_store64(bytes, pair[1].as.u, false);
        tl_store64(bytes + 8, pair[2].as.u, false);
        put(x, bytes, sizeof bytes);
    }
}

static int put_event(xtrace_encoder *x, const tl_batch *b, uint32_t i, tl_error *e)
{
    const xtrace_how *how = &x->how[b->cls[i]];
    switch ((xtrace_action)how->action) {
    case XTRACE_PUT_INSN:
        return put_insn(x, b->key[i], b->aux[i], e);
    case XTRACE_PUT_VALUE:
        put_value(x, how->token, b->key[i]);
        return 0;
    case XTRACE_NOTHING:
    case XTRACE_PUT_SNAPSHOT:
        return 0;
    default:
        break;
    }
    const tl_value *v = b->v + b->val[i] + how->slot, *end = b->v + b->val[i + 1];
    if (v >= end)
        x->lost_value++;
    else if (how->action == XTRACE_PUT_MEM)
        put_mem(x, how->token, b->key[i], v);
    else if (how->action == XTRACE_PUT_REGISTERS)
        put_registers(x, v, end);
    else
        put_buffers(x, v, end);
    return 0;
}

int xtrace_encode(xtrace_encoder *x, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e)
{
    int r = 0;
    tl_text_open(&x->tw, x->out);
    for (uint32_t i = from; r == 0 && i < to; i++)
        r = put_event(x, b, i, e);
    tl_text_close(&x->tw);
    return r;
}

int xtrace_encode_index(xtrace_encoder *x, tl_error *e)
{
    uint8_t *bytes;
    size_t n;
    if (x->index.n < 2)
        return 0;
    const int r = xtrace_index_encode(&x->index, &bytes, &n, e);
    if (r == 0)
        tl_output_note_frame(x->out, XTRACE_INDEX_FRAME_MAGIC, bytes, n);
    free(bytes);
    return r;
}
