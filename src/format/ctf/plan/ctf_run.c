/* Running a program over the bits of a packet: the hot path of reading.
 *
 * One function, compiled twice: with and without storing values. Its state (position, next slot) is in locals; helpers
 * that may move the tape get and return the slot pointer. */
#include "format/ctf/plan/ctf_run.h"

#include <string.h>

#include "format/ctf/plan/ctf_text.h"

enum { TEXT_CHUNK = 4096 };

/* State of one activation that helpers need besides ctf_run. */
typedef struct frame {
    ctf_run *r;
    const ctf_program *p;
    uint64_t first; /* index of the first slot */
} frame;

/* Room for n slots beyond those that the program needs anyway. NULL: too many, or no memory (*status). */
static tl_value *room(const frame *f, tl_value *v, uint64_t n, ctf_run_status *status)
{
    tl_batch *b = f->r->batch;
    const uint32_t used = (uint32_t)(v - b->v);
    if (n > CTF_EVENT_SLOTS_MAX || used - f->first > CTF_EVENT_SLOTS_MAX - n) {
        *status = CTF_RUN_LARGE;
        return NULL;
    }
    const uint32_t need = (uint32_t)n + f->p->slots;
    if (b->val_capacity - used >= need)
        return v;
    const uint32_t before = b->nval;
    b->nval = used;
    tl_value *slots = tl_batch_slots(b, need);
    b->nval = before;
    if (!slots)
        *status = CTF_RUN_MEMORY;
    return slots;
}

/* n bytes in the batch's arena, or NULL. */
static char *text_room(ctf_run *r, size_t n)
{
    static char nothing[1];
    if (n == 0)
        return nothing;
    if ((size_t)(r->text_end - r->text) < n) {
        const size_t chunk = n > TEXT_CHUNK / 4 ? n : TEXT_CHUNK;
        char *text = tl_arena_alloc(r->batch->arena, chunk);
        if (!text || chunk == n)
            return text;
        r->text = text;
        r->text_end = text + chunk;
    }
    char *at = r->text;
    r->text += n;
    return at;
}

/* Puts n bytes of text into a slot as UTF-8. */
static bool put_text(ctf_run *r, tl_value *v, const uint8_t *p, size_t n, ctf_encoding e)
{
    const unsigned unit = ctf_text_unit(e);
    char *out = text_room(r, unit == 2 ? n / 2 * 3 : n);
    if (!out)
        return false;
    size_t length = n;
    if (unit == 1)
        memcpy(out, p, n);
    else
        length = ctf_text_utf8(out, p, n, e);
    *v = (tl_value){.type = TL_STRING, .n = (uint32_t)length, .as.p = out};
    return true;
}

static uint64_t reverse(uint64_t v, unsigned bits)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < bits; i++)
        out |= (v >> i & 1) << (bits - 1 - i);
    return out;
}

/* Bits at any place, not sign-extended. */
static uint64_t any_bits(const uint8_t *data, uint64_t at, unsigned bits, bool big)
{
    const uint8_t *p = data + at / 8;
    const unsigned shift = (unsigned)(at & 7);
    if (big) {
        uint64_t v = tl_load64(p, true) << shift;
        if (shift + bits > 64)
            v |= (uint64_t)p[8] >> (8 - shift);
        return v >> (64 - bits);
    }
    uint64_t v = tl_load64(p, false) >> shift;
    if (shift + bits > 64)
        v |= (uint64_t)p[8] << (64 - shift);
    return bits == 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

/* The value of a load from its raw bits. */
static uint64_t finish_value(uint64_t raw, const ctf_load *l)
{
    if (l->flags & CTF_LOAD_REVERSED)
        raw = reverse(raw, l->bits);
    if (l->flags & CTF_LOAD_SIGNED && l->bits < 64)
        raw = (uint64_t)((int64_t)(raw << (64 - l->bits)) >> (64 - l->bits));
    if (l->flags & CTF_LOAD_BOOL)
        raw = raw != 0;
    if (l->flags & CTF_LOAD_FLOAT) {
        const uint32_t bits = (uint32_t)raw;
        float narrow;
        double wide;
        memcpy(&narrow, &bits, sizeof narrow);
        wide = (double)narrow;
        memcpy(&raw, &wide, sizeof raw);
    }
    return raw;
}

TL_ALWAYS_INLINE void put_number(tl_value *v, uint64_t head, uint64_t value)
{
    memcpy(v, &head, sizeof head);
    v->as.u = value;
}

/* Which field of the run does not end before `end`? */
static uint64_t first_beyond(ctf_run *r, const ctf_program *p, const ctf_op *op, uint64_t at)
{
    for (uint32_t i = 0; i < op->n; i++) {
        const ctf_load *l = &p->load[op->a + i];
        r->bad_load = op->a + i;
        if (at > r->end || l->bits > r->end - at || l->bit > r->end - at - l->bits)
            return at + l->bit;
    }
    return r->end;
}

/* Numbers of a run with registers, floats, ... */
static tl_value *mixed_run(const frame *f, const ctf_op *op, uint64_t at, tl_value *v, bool store)
{
    const uint8_t *base = f->r->data + at / 8;
    const uint64_t byte = at & ~UINT64_C(7);
    for (uint32_t i = 0; i < op->n; i++) {
        const ctf_load *l = &f->p->load[op->a + i];
        uint64_t value = 0;
        if (l->bits && !(l->flags & ~(CTF_LOAD_BIG | CTF_LOAD_SIGNED)) && l->left != CTF_WIDE)
            value = ctf_load_int(base, l, l->flags & CTF_LOAD_BIG);
        else if (l->bits)
            value = finish_value(any_bits(f->r->data, byte + (at & 7) + l->bit, l->bits, l->flags & CTF_LOAD_BIG), l);
        if (l->reg != CTF_NO_REGISTER)
            f->r->reg[l->reg] = value;
        if (store)
            put_number(v++, l->head, value);
    }
    return v;
}

/* LEB128. */
static ctf_run_status varint(ctf_run *r, const ctf_load *l, uint64_t *at, uint64_t *value)
{
    const uint8_t *p = r->data + *at / 8, *end = r->data + r->end / 8;
    uint64_t v = 0;
    unsigned shift = 0;
    for (;; p++) {
        if (p >= end) {
            r->bad = *at;
            return CTF_RUN_SHORT;
        }
        const uint64_t bits = *p & 0x7f;
        if (shift == 63 && (l->flags & CTF_LOAD_SIGNED ? bits != 0 && bits != 0x7f : bits > 1))
            break;
        if (shift > 63)
            break;
        v |= bits << shift;
        shift += 7;
        if (!(*p & 0x80)) {
            if (l->flags & CTF_LOAD_SIGNED && shift < 64 && bits & 0x40)
                v |= UINT64_MAX << shift;
            *value = v;
            *at = (uint64_t)(p + 1 - r->data) * 8;
            r->varint_bits = shift;
            return CTF_RUN_OK;
        }
    }
    r->bad = *at;
    return CTF_RUN_VARINT;
}

/* A NUL-terminated string: its bytes in *n; advances past the NUL. */
static ctf_run_status string(ctf_run *r, ctf_encoding e, uint64_t *at, size_t *n)
{
    const uint8_t *p = r->data + *at / 8;
    const uint64_t left = *at < r->end ? (r->end - *at) / 8 : 0;
    const unsigned unit = ctf_text_unit(e);
    *n = ctf_text_length(p, (size_t)left, e);
    if (left - *n < unit) {
        r->bad = *at;
        return CTF_RUN_SHORT;
    }
    *at += 8 * ((uint64_t)*n + unit);
    return CTF_RUN_OK;
}

/* The number of elements or bytes: from the operation, or its register. False: negative. */
TL_ALWAYS_INLINE bool count_of(ctf_run *r, const ctf_op *op, uint64_t *n)
{
    *n = op->flags & CTF_OP_FROM_REGISTER ? r->reg[op->reg] : op->b;
    r->bad_value = *n;
    return !(op->flags & CTF_OP_SIGNED_COUNT) || (int64_t)*n >= 0;
}

static const ctf_choice *choose(const ctf_run *r, const ctf_program *p, const ctf_op *op)
{
    const uint64_t flip = op->n ? UINT64_C(1) << 63 : 0; /* signed order with an unsigned compare */
    const uint64_t v = r->reg[op->reg] ^ flip;
    const ctf_choice *c = p->choice + op->a, *otherwise = NULL;
    uint64_t n = op->b;
    if (n > 0 && c[n - 1].always)
        otherwise = &c[--n];
    while (n > 1) { /* the last one that does not begin after v */
        const uint64_t half = n / 2;
        c += v >= (c[half].low ^ flip) ? half : 0;
        n -= half;
    }
    return n > 0 && v >= (c->low ^ flip) && v <= (c->high ^ flip) ? c : otherwise;
}

static void set_role(ctf_run *r, const ctf_op *op, uint64_t at)
{
    const unsigned role = op->a;
    const uint64_t value = r->reg[op->reg];
    r->seen |= 1u << role;
    r->role[role] = value;
    r->role_bits[role] = (uint8_t)op->b;
    r->role_end[role] = at;
    if (1u << role == CTF_ROLE_TIMESTAMP) /* as many bits as were read */
        r->clock = ctf_clock_update(r->clock, value, op->flags & CTF_OP_VARIABLE ? r->varint_bits : (unsigned)op->b);
}

/* At the end of a run. */
TL_COLD static void pay(ctf_run *r, uint64_t empty, uint64_t at)
{
    const uint64_t paid = CTF_EMPTY_A_BIT * (at - r->at);
    r->empty = empty > paid ? empty - paid : 0;
}

typedef struct loop {
    uint64_t left;
    const ctf_op *op;
} loop;

#define FAIL(status_, bad_)                                                                                            \
    do {                                                                                                               \
        r->bad = (bad_);                                                                                               \
        r->bad_op = (uint32_t)(op - p->op);                                                                            \
        return status_;                                                                                                \
    } while (0)

TL_ALWAYS_INLINE ctf_run_status run_program(ctf_run *r, const ctf_program *p, const bool store)
{
    const frame f = {.r = r, .p = p, .first = store ? r->batch->nval : 0};
    const uint64_t end = r->end;
    uint64_t at = r->at, n = 0, empty = r->empty;
    tl_value *v = store ? r->batch->v + r->batch->nval : NULL;
    loop loops[CTF_LOOPS_MAX];
    unsigned depth = 0;
    ctf_run_status status = CTF_RUN_OK;
    for (const ctf_op *op = p->op;; op++) {
        switch ((ctf_code)op->code) {
        case CTF_OP_END:
            if (TL_UNLIKELY(empty))
                pay(r, empty, at);
            r->at = at;
            if (store)
                r->batch->nval = (uint32_t)(v - r->batch->v);
            return CTF_RUN_OK;
        case CTF_OP_ALIGN:
            at = (at + op->a - 1) & ~(uint64_t)(op->a - 1);
            break;
        case CTF_OP_UNIT:
            if ((at & (op->a - 1)) + op->b > op->a)
                at = (at + op->a - 1) & ~(uint64_t)(op->a - 1);
            break;
        case CTF_OP_SKIP:
            if (TL_UNLIKELY(at > end || op->b > end - at))
                FAIL(CTF_RUN_SHORT, at);
            at += op->b;
            break;
        case CTF_OP_RUN_LE:
        case CTF_OP_RUN_BE: {
            if (TL_UNLIKELY(at > end || op->b > end - at))
                FAIL(CTF_RUN_SHORT, first_beyond(r, p, op, at));
            if (store) {
                const uint8_t *base = r->data + at / 8;
                const ctf_load *l = p->load + op->a, *last = l + op->n;
                if (op->code == CTF_OP_RUN_LE)
                    for (; l < last; l++, v++)
                        put_number(v, l->head, ctf_load_int(base, l, false));
                else
                    for (; l < last; l++, v++)
                        put_number(v, l->head, ctf_load_int(base, l, true));
            }
            at += op->b;
            break;
        }
        case CTF_OP_RUN:
            if (TL_UNLIKELY(at > end || op->b > end - at))
                FAIL(CTF_RUN_SHORT, first_beyond(r, p, op, at));
            v = mixed_run(&f, op, at, v, store);
            at += op->b;
            break;
        case CTF_OP_BITS: {
            const ctf_load *l = p->load + op->a;
            if (TL_UNLIKELY(at > end || l->bits > end - at))
                FAIL(CTF_RUN_SHORT, at);
            const uint64_t value = finish_value(any_bits(r->data, at, l->bits, l->flags & CTF_LOAD_BIG), l);
            if (l->reg != CTF_NO_REGISTER)
                r->reg[l->reg] = value;
            if (store && !(op->flags & CTF_OP_HIDDEN))
                put_number(v++, l->head, value);
            at += l->bits;
            break;
        }
        case CTF_OP_VARINT: {
            const ctf_load *l = p->load + op->a;
            uint64_t value = 0;
            if (TL_UNLIKELY((status = varint(r, l, &at, &value)) != CTF_RUN_OK))
                FAIL(status, r->bad);
            if (l->reg != CTF_NO_REGISTER)
                r->reg[l->reg] = value;
            if (store)
                put_number(v++, l->head, value);
            break;
        }
        case CTF_OP_STRING: {
            const uint8_t *text = r->data + at / 8;
            size_t length;
            if (TL_UNLIKELY((status = string(r, (ctf_encoding)op->n, &at, &length)) != CTF_RUN_OK))
                FAIL(status, r->bad);
            if (store && !put_text(r, v++, text, length, (ctf_encoding)op->n))
                return CTF_RUN_MEMORY;
            break;
        }
        case CTF_OP_TEXT:
        case CTF_OP_BLOB: {
            if (!count_of(r, op, &n))
                FAIL(CTF_RUN_LENGTH, at);
            if (TL_UNLIKELY(at > end || n > (end - at) / 8))
                FAIL(CTF_RUN_SHORT, at);
            const uint8_t *text = r->data + at / 8;
            if (op->code == CTF_OP_TEXT) {
                if (n % ctf_text_unit((ctf_encoding)op->n))
                    FAIL(CTF_RUN_TEXT, at);
                const size_t length = ctf_text_length(text, (size_t)n, (ctf_encoding)op->n);
                if (store && !put_text(r, v++, text, length, (ctf_encoding)op->n))
                    return CTF_RUN_MEMORY;
            } else if (store) {
                char *copy = text_room(r, (size_t)n);
                if (!copy)
                    return CTF_RUN_MEMORY;
                memcpy(copy, text, (size_t)n);
                *v++ = (tl_value){.type = TL_BYTES, .n = (uint32_t)n, .as.p = copy};
            }
            at += 8 * n;
            break;
        }
        case CTF_OP_SLOT:
            if (store)
                put_number(v++, op->b, 0);
            break;
        case CTF_OP_INTS: {
            const ctf_load *l = p->load + op->a;
            if (!count_of(r, op, &n))
                FAIL(CTF_RUN_LENGTH, at);
            if (TL_UNLIKELY(at > end || n > (end - at) / l->bits))
                FAIL(CTF_RUN_SHORT, at > end ? at : at + (end - at) / l->bits * l->bits);
            if (store) {
                if (!(v = room(&f, v, n + 1, &status)))
                    FAIL(status, at);
                *v++ = (tl_value){.type = TL_LIST, .n = (uint32_t)n};
                const uint8_t *base = r->data + at / 8;
                const bool big = l->flags & CTF_LOAD_BIG;
                for (uint64_t i = 0; i < n; i++, base += l->bits / 8)
                    put_number(v++, l->head, ctf_load_int(base, l, big));
            }
            at += n * l->bits;
            break;
        }
        case CTF_OP_LOOP: {
            if (!count_of(r, op, &n))
                FAIL(CTF_RUN_LENGTH, at);
            /* Every element except an empty one takes a bit: so excess is detected in advance. */
            if (TL_UNLIKELY(at > end || (!(op->flags & CTF_OP_EMPTY_BODY) && n > end - at)))
                FAIL(CTF_RUN_SHORT, at);
            if (op->flags & CTF_OP_EMPTY_BODY) {
                if (n > CTF_EVENT_SLOTS_MAX || empty + n > CTF_EVENT_SLOTS_MAX)
                    FAIL(CTF_RUN_LARGE, at);
                empty += n;
            }
            if (store) {
                if (!(v = room(&f, v, 1, &status)))
                    FAIL(status, at);
                *v++ = (tl_value){.type = TL_LIST, .n = (uint32_t)n};
            }
            if (n == 0) {
                op = p->op + op->a;
                break;
            }
            loops[depth++] = (loop){n, op};
            goto element;
        }
        case CTF_OP_NEXT:
            if (--loops[depth - 1].left == 0) {
                depth--;
                break;
            }
            op = loops[depth - 1].op;
        element:
            /* Its own slots come from the program's: keeps as many free as before. */
            if (store && !(v = room(&f, v, 0, &status)))
                FAIL(status, at);
            break;
        case CTF_OP_CHOOSE: {
            const ctf_choice *c = choose(r, p, op);
            if (TL_UNLIKELY(!c)) {
                r->bad_value = r->reg[op->reg];
                FAIL(CTF_RUN_SELECTOR, at);
            }
            if (store && c->slot)
                *v++ = c->slot == CTF_SLOT_VARIANT
                           ? (tl_value){.type = TL_VARIANT, .variant = (uint16_t)c->option, .n = 1}
                           : (tl_value){.type = c->slot == CTF_SLOT_NULL ? TL_NULL : TL_ABSENT};
            op = p->op + c->target - 1;
            break;
        }
        case CTF_OP_JUMP:
            op = p->op + op->a - 1;
            break;
        case CTF_OP_ROLE:
            set_role(r, op, at);
            break;
        case CTF_OP_HERE:
            r->seen |= 1u << op->a;
            r->role[op->a] = at;
            break;
        case CTF_OP_FAIL:
            FAIL(CTF_RUN_ORDER, at);
        }
    }
}

ctf_run_status ctf_run_store(ctf_run *r, const ctf_program *p)
{
    return run_program(r, p, true);
}

ctf_run_status ctf_run_skip(ctf_run *r, const ctf_program *p)
{
    return run_program(r, p, false);
}
