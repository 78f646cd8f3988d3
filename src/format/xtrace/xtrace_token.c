/* Any one token: rare or long ones, those at the end of the content, and invalid ones. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "format/xtrace/xtrace_classes.h"
#include "format/xtrace/xtrace_layout.h"
#include "format/xtrace/xtrace_read.h"
#include "format/xtrace/xtrace_tokens.h"

/* Consecutive tokens needed to continue after damage. */
#define CHAIN  8u
/* Bytes per step of a search; a chain of the longest common tokens fits into its second half. */
#define SEARCH (128u << 10)

/* A token being read. */
typedef struct token {
    uint8_t kind;
    uint32_t cls;
    uint64_t key, aux;
    const uint8_t *payload;
    uint64_t n; /* its bytes */
} token;

/* Can code be there? Addresses have at most 52 bits; the other bits are all 0 or all 1. */
static bool is_place(uint64_t pc)
{
    return (pc & 3) == 0 && (pc >> 52 == 0 || pc >> 52 == 0xfff);
}

/* Is there a chain of tokens that begins with a pc? */
static bool is_chain(const uint8_t *p, const uint8_t *end)
{
    if ((*p & XTRACE_INSN_MASK) != XTRACE_PCINST)
        return false;
    for (unsigned i = 0; i < CHAIN; i++) {
        uint64_t size;
        if (p == end)
            return i > 0; /* the content ends with it */
        if (xtrace_token_size(p, (uint64_t)(end - p), &size) || size > (uint64_t)(end - p))
            return false;
        if ((*p & XTRACE_INSN_MASK) == XTRACE_PCINST && !is_place(tl_load64(p + 1, false)))
            return false;
        p += size;
    }
    return true;
}

int xtrace_find_chain(tl_window *w, uint64_t offset, uint64_t *found, tl_error *e)
{
    for (;;) {
        size_t available;
        const uint8_t *p = tl_window_at(w, offset, SEARCH, &available, e);
        if (!p)
            return TL_EIO;
        const bool last = available < SEARCH;
        const size_t look = last ? available : SEARCH / 2;
        for (size_t i = 0; i < look; i++)
            if (is_chain(p + i, p + available)) {
                *found = offset + i;
                return 0;
            }
        offset += look;
        if (last) {
            *found = offset;
            return 0;
        }
    }
}

/* Reading cannot continue at c->offset. 1: it continues elsewhere; 0: it has ended; < 0: error. */
static int give_up(xtrace_cursor *c, const char *rule, const char *what, tl_error *e)
{
    if (c->part)
        return 0;
    const uint64_t at = c->offset, size = tl_input_size(c->insns->in);
    uint64_t next = size;
    if (c->reader->want.strict) {
        const char *name = c->insns->name;
        return tl_fail(e, TL_EDAMAGED, at, "%s%s%s: %s", name ? name : "", name ? ": " : "", rule, what);
    }
    if (c->reader->want.resync) {
        int status = xtrace_find_chain(&c->window, at + 1, &next, e);
        if (status < 0)
            return status;
    }
    const tl_damage d = {.offset = at,
                         .bytes = next > at ? next - at : 0,
                         .at = at,
                         .kind = TL_DAMAGE_FAULT | TL_DAMAGE_LOSS,
                         .rule = rule,
                         .file = c->insns->name};
    int status = tl_trace_report(c->reader->trace, e, &d, "%s", what);
    c->offset = next;
    c->no_pc = TL_INSN_NO_PC;
    return status < 0 ? status : next < size;
}

/* A slot for each of n elements after a list. */
static tl_value *list(tl_batch *b, uint32_t n, uint32_t slots)
{
    tl_value *v = tl_batch_slots(b, 1 + slots);
    if (v)
        *v = (tl_value){.type = TL_LIST, .n = n};
    return v;
}

static bool put_registers(tl_batch *b, const token *t)
{
    tl_value *v = list(b, XTRACE_REGISTERS, XTRACE_REGISTERS);
    for (uint32_t i = 0; v && i < XTRACE_REGISTERS; i++)
        v[1 + i] = (tl_value){.type = TL_HEX, .as.u = tl_load64(t->payload + 8 * i, false)};
    return v;
}

static bool put_buffers(tl_batch *b, const token *t)
{
    const uint32_t n = (uint32_t)((t->n - 8) / XTRACE_VEC_ENTRY);
    tl_value *v = list(b, n, 3 * n);
    for (uint32_t i = 0; v && i < n; i++) {
        const uint8_t *p = t->payload + 8 + (size_t)i * XTRACE_VEC_ENTRY;
        v[1 + 3 * i] = (tl_value){.type = TL_STRUCT, .n = 2};
        v[2 + 3 * i] = (tl_value){.type = TL_HEX, .as.u = tl_load64(p, false)};
        v[3 + 3 * i] = (tl_value){.type = TL_U64, .as.u = tl_load64(p + 8, false)};
    }
    return v;
}

static bool put_insn(tl_batch *b, const token *t)
{
    tl_value *v = tl_batch_slots(b, 3);
    if (!v)
        return false;
    v[0] = (tl_value){.type = tl_insn_has_pc(t->aux) ? TL_HEX : TL_NULL, .as.u = t->key};
    v[1] = (tl_value){.type = TL_HEX, .as.u = tl_insn_opcode(t->aux)};
    v[2] = (tl_value){.type = TL_U64, .as.u = tl_insn_level(t->aux)};
    return true;
}

static bool put_access(tl_batch *b, const token *t)
{
    const uint32_t size = (uint32_t)t->aux;
    uint8_t *copy = tl_arena_alloc(b->arena, size);
    tl_value *v = tl_batch_slots(b, 3);
    if (!copy || !v)
        return false;
    memcpy(copy, t->payload + 8, size);
    v[0] = (tl_value){.type = TL_HEX, .as.u = t->key};
    v[1] = (tl_value){.type = TL_U64, .as.u = size};
    v[2] = (tl_value){.type = TL_BYTES, .n = size, .as.p = copy};
    return true;
}

static bool put_values(tl_batch *b, const token *t)
{
    switch (t->cls) {
    case XTRACE_CLASS_INSN:
        return put_insn(b, t);
    case XTRACE_CLASS_LOAD:
    case XTRACE_CLASS_STORE:
        return put_access(b, t);
    case XTRACE_CLASS_ALL_GPR:
        return put_registers(b, t);
    case XTRACE_CLASS_VEC:
        return put_buffers(b, t);
    default:
        break;
    }
    tl_value *v = tl_batch_slots(b, 1);
    if (v)
        *v = (tl_value){.type = t->cls == XTRACE_CLASS_TIME ? TL_U64 : TL_HEX, .as.u = t->key};
    return v;
}

/* Determines the event of a token, with key and aux; moves the cursor's state past it. */
static void understand(xtrace_cursor *c, token *t)
{
    const unsigned kind = t->kind, insn = kind & XTRACE_INSN_MASK;
    t->key = t->n >= 8 ? tl_load64(t->payload, false) : 0;
    t->aux = 0;
    if (insn == XTRACE_INST || insn == XTRACE_PCINST) {
        t->cls = XTRACE_CLASS_INSN;
        if (insn == XTRACE_PCINST) {
            c->pc = t->key;
            c->no_pc = 0;
        } else {
            c->pc += 4;
        }
        t->key = c->no_pc ? 0 : c->pc;
        t->aux = tl_load32(t->payload + t->n - 4, false) | (uint64_t)(kind >> XTRACE_LEVEL_SHIFT) << 32 | c->no_pc;
        c->count++;
    } else if ((kind & XTRACE_CLASS_MASK) == XTRACE_MEM) {
        t->cls = kind & XTRACE_MEM_STORE ? XTRACE_CLASS_STORE : XTRACE_CLASS_LOAD;
        t->aux = t->n - 8;
    } else if (kind == XTRACE_TIME) {
        t->cls = XTRACE_CLASS_TIME;
        c->rank = t->key > c->rank ? t->key : c->rank;
    } else if (kind == XTRACE_ALLGPR) {
        t->cls = XTRACE_CLASS_ALL_GPR;
        t->key = 0;
    } else if (kind == XTRACE_FLAGS) {
        t->cls = XTRACE_CLASS_FLAGS;
    } else if (kind == XTRACE_VEC) {
        t->cls = XTRACE_CLASS_VEC;
        t->key = 0;
    } else {
        t->cls = xtrace_value_class[kind >> 3];
    }
}

static int put_event(xtrace_cursor *c, tl_batch *b, token *t, tl_error *e)
{
    understand(c, t);
    if (!b) {
        c->tally->by_class[t->cls]++;
        c->tally->by_track[c->insns->track]++;
        return 1;
    }
    const uint32_t i = b->n;
    b->ts[i] = c->count ? c->count - 1 : 0;
    b->key[i] = t->key;
    b->aux[i] = t->aux;
    b->cls[i] = t->cls;
    if (b->rank)
        b->rank[i] = c->rank;
    if (b->val) {
        b->val[i] = b->nval;
        if (!put_values(b, t))
            return tl_fail(e, TL_ENOMEM, c->offset, "no memory for the values of a token");
        b->val[i + 1] = b->nval;
    }
    b->n++;
    return 1;
}

/* A payload larger than the window. */
static int put_long(xtrace_cursor *c, tl_batch *b, token *t, tl_error *e)
{
    uint8_t *copy = malloc((size_t)t->n);
    size_t got = 0;
    if (!copy)
        return tl_fail(e, TL_ENOMEM, c->offset, "no memory for a token of %" PRIu64 " bytes", t->n);
    int status = tl_input_read(c->insns->in, c->offset + 1, copy, (size_t)t->n, &got, e);
    if (status >= 0 && got < t->n)
        status = tl_fail(e, TL_EIO, c->offset, "the file became shorter while it was read");
    if (status >= 0) {
        t->payload = copy;
        status = put_event(c, b, t, e);
    }
    free(copy);
    return status;
}

int xtrace_token(xtrace_cursor *c, tl_batch *b, tl_error *e)
{
    size_t available;
    const uint8_t *p = tl_window_at(&c->window, c->offset, XTRACE_VEC_HEAD, &available, e);
    if (!p)
        return TL_EIO;
    if (available == 0)
        return 0;
    uint64_t size, left = tl_input_size(c->insns->in);
    left = left > c->offset ? left - c->offset : available;
    const xtrace_fault fault = xtrace_token_size(p, left, &size);
    if (fault) {
        char what[160];
        return give_up(c, xtrace_fault_rule(fault), xtrace_fault_text(fault, p, left, what, sizeof what), e);
    }
    token t = {.kind = *p, .n = size - 1};
    int status;
    if (size > c->window.capacity) {
        status = put_long(c, b, &t, e);
    } else {
        p = tl_window_at(&c->window, c->offset, (size_t)size, &available, e);
        if (!p)
            return TL_EIO;
        if (available < size) /* fewer bytes than it had: compressed content turned out to be damaged */
            return give_up(c, "xtrace.truncated", "the payload is truncated", e);
        t.payload = p + 1;
        status = put_event(c, b, &t, e);
    }
    c->offset += size;
    return status;
}
