/* Values of the tape as bytes of a file, by their forms.
 *
 * A value that does not fit its field is approximated and counted. If that would make the rest of the packet unreadable
 * (a list whose length differs from the field before it), the event is given up: misfit. */
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "format/ctf/write/ctf_form.h"

/* The longest text or blob whose length the value does not confirm. */
#define FILL_MAX  (64u << 20)
/* Most numbers, elements and bytes of zeros in a struct without values. */
#define ZEROS_MAX (1u << 20)

enum { BIG = false };

/* Where to put n more bytes; NULL without memory. */
TL_ALWAYS_INLINE uint8_t *reserve(ctf_put *p, size_t n)
{
    ctf_room *r = p->room;
    if (ctf_room_grow(r, n))
        return r->data + r->n;
    p->no_memory = true;
    return NULL;
}

static void put_bytes(ctf_put *p, const void *data, size_t n)
{
    uint8_t *to = reserve(p, n);
    if (!to)
        return;
    if (n > 0)
        memcpy(to, data, n);
    p->room->n += n;
    p->tail = 0; /* even without elements: they would begin at a whole byte */
}

static void put_fill(ctf_put *p, size_t n)
{
    uint8_t *to = reserve(p, n);
    if (!to)
        return;
    memset(to, 0, n);
    p->room->n += n;
    p->tail = 0;
}

TL_ALWAYS_INLINE void put_number(ctf_put *p, const ctf_form *f, uint64_t v)
{
    uint8_t *to = reserve(p, 8);
    if (TL_UNLIKELY(!to))
        return;
    tl_store64(to, v, BIG); /* the slack absorbs the excess */
    p->room->n += f->bytes;
    p->tail = (uint8_t)(-(unsigned)f->bits & 7);
}

const tl_value *ctf_value_behind(const tl_value *v, const tl_value *end)
{
    for (uint64_t pending = 1; pending > 0 && v < end; v++) {
        pending--;
        if (v->type == TL_LIST || v->type == TL_STRUCT || v->type == TL_VARIANT)
            pending += v->n;
    }
    return v;
}

/* --- numbers --- */

static uint64_t mask_of(const ctf_form *f)
{
    return f->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;
}

/* Whether a value fits the width of its field. */
TL_ALWAYS_INLINE bool fits(const ctf_form *f, uint64_t v, bool negative)
{
    if (!f->is_signed)
        return !negative && (v & ~mask_of(f)) == 0;
    const uint64_t half = mask_of(f) >> 1;
    return negative ? ~v <= half : v <= half;
}

/* The bits of a number. */
static uint64_t number_of(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    bool negative = false;
    uint64_t bits = v->as.u;
    switch ((tl_type)v->type) {
    case TL_U64:
    case TL_HEX:
        break;
    case TL_BOOL:
        bits = bits != 0;
        break;
    case TL_I64:
        negative = v->as.i < 0;
        break;
    case TL_NULL:
    case TL_ABSENT:
        p->nulls++;
        return 0;
    default:
        p->others++;
        return 0;
    }
    if (TL_UNLIKELY(!fits(f, bits, negative)))
        p->narrow++;
    return bits & mask_of(f);
}

static const tl_value *put_int(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    put_number(p, f, number_of(p, f, v));
    return v->type < TL_LIST || v->type == TL_ABSENT ? v + 1 : ctf_value_behind(v, p->end);
}

static const tl_value *put_float(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    double d = 0;
    uint64_t bits;
    if (v->type == TL_F64)
        d = v->as.f;
    else if (v->type == TL_NULL || v->type == TL_ABSENT)
        p->nulls++;
    else
        p->others++;
    if (f->bits == 32) {
        const float narrow = (float)d;
        uint32_t half;
        if (d == d && (double)narrow != d)
            p->narrow++;
        memcpy(&half, &narrow, sizeof half);
        bits = half;
    } else {
        memcpy(&bits, &d, sizeof bits);
    }
    put_number(p, f, bits);
    return ctf_value_behind(v, p->end);
}

/* --- lengths and selectors --- */

TL_ALWAYS_INLINE size_t place_of(const ctf_put *p, const ctf_part *part)
{
    return p->place[part->place - 1];
}

static uint64_t number_at(const ctf_put *p, const ctf_part *part)
{
    const uint64_t v = tl_load64(p->room->data + place_of(p, part), BIG) & mask_of(part->form);
    const unsigned above = 64u - part->form->bits;
    return part->form->is_signed ? (uint64_t)((int64_t)(v << above) >> above) : v;
}

/* Fills in our own length or selector. */
static void settle(ctf_put *p, const ctf_part *part, uint64_t v)
{
    uint8_t bytes[8];
    tl_store64(bytes, v, BIG);
    memcpy(p->room->data + place_of(p, part), bytes, part->form->bytes);
}

/* Writes the number of bytes or elements, or checks the one already written. */
static void put_count(ctf_put *p, const ctf_form *f, uint32_t n)
{
    if (f->counted == CTF_COUNTED_FIXED) {
        p->misfit = p->misfit || n != f->length;
    } else if (f->counted == CTF_COUNTED_INLINE) {
        uint8_t bytes[4];
        tl_store32(bytes, n, BIG);
        put_bytes(p, bytes, sizeof bytes);
    } else if (f->by->source == CTF_PART_MADE) {
        settle(p, f->by, n);
    } else {
        p->misfit = p->misfit || number_at(p, f->by) != n;
    }
}

/* --- text and bytes --- */

static const tl_value *put_string(ctf_put *p, const tl_value *v)
{
    size_t n = 0;
    if (v->type == TL_STRING && v->n > 0) {
        const void *nul = memchr(v->as.p, 0, v->n);
        n = nul ? (size_t)((const char *)nul - (const char *)v->as.p) : v->n;
        p->cuts += n < v->n;
        put_bytes(p, v->as.p, n);
    } else if (v->type != TL_STRING) {
        *(v->type == TL_NULL || v->type == TL_ABSENT ? &p->nulls : &p->others) += 1;
    }
    put_fill(p, 1);
    return ctf_value_behind(v, p->end);
}

/* Text and bytes with a length. */
static const tl_value *put_sized(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    const bool is_data = v->type == TL_STRING || v->type == TL_BYTES;
    const size_t n = is_data ? v->n : 0;
    uint64_t length = n;
    if (!is_data)
        *(v->type == TL_NULL || v->type == TL_ABSENT ? &p->nulls : &p->others) += 1;
    if (f->counted == CTF_COUNTED_FIXED)
        length = f->length;
    else if (f->counted == CTF_COUNTED_PART && f->by->source != CTF_PART_MADE)
        length = number_at(p, f->by);
    else
        put_count(p, f, (uint32_t)n);
    if (length > FILL_MAX && length > n) {
        p->misfit = true;
        return v;
    }
    if (n > length)
        p->cuts++;
    const size_t taken = n > length ? (size_t)length : n;
    put_bytes(p, is_data ? v->as.p : NULL, taken);
    put_fill(p, (size_t)length - taken);
    return ctf_value_behind(v, p->end);
}

/* --- compounds --- */

static const tl_value *put_value(ctf_put *p, const ctf_form *f, const tl_value *v);

static tl_value frame_number(bool known, uint64_t v)
{
    return known ? (tl_value){.type = TL_HEX, .as.u = v} : (tl_value){.type = TL_NULL};
}

/* A stack as a list of structs: frame by frame through a tape of its own. */
static TL_NOINLINE const tl_value *put_stack(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    const tl_value *end = p->end;
    const size_t before = p->room->n;
    if (!tl_stack_frames_set(&p->frames, v)) {
        p->no_memory = true;
        return v + 1;
    }
    p->tail = 0;
    put_count(p, f, p->frames.n);
    for (uint32_t i = p->frames.n; i-- > 0 && !p->misfit && !p->no_memory;) {
        const tl_frame *frame = p->frames.frame[i];
        tl_value value[1 + TL_FRAME_MEMBERS] = {{.type = TL_STRUCT, .n = TL_FRAME_MEMBERS},
                                                {.type = TL_NULL},
                                                frame_number(frame->flags & TL_FRAME_FUNCTION, frame->function),
                                                frame_number(frame->flags & TL_FRAME_IP, frame->ip)};
        if (frame->name)
            value[1] = (tl_value){.type = TL_STRING, .n = (uint32_t)strlen(frame->name), .as.p = frame->name};
        p->end = value + TL_COUNT(value);
        put_value(p, f->part[0].form, value);
        p->large = p->room->n - before > CTF_WRITE_STACK;
        p->misfit = p->misfit || p->large;
    }
    p->end = end;
    return v + 1;
}

static const tl_value *put_list(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    const ctf_form *element = f->part[0].form;
    uint32_t n = 0;
    if (TL_UNLIKELY(v->type == TL_STACK))
        return put_stack(p, f, v);
    if (!f->loose)
        p->tail = 0;
    if (v->type == TL_LIST)
        n = v->n;
    else
        *(v->type == TL_NULL || v->type == TL_ABSENT ? &p->nulls : &p->others) += 1;
    put_count(p, f, n);
    if (v->type != TL_LIST)
        return ctf_value_behind(v, p->end);
    v++;
    if (element->kind == CTF_FORM_INT)
        for (; n > 0 && v < p->end; n--)
            v = put_int(p, element, v);
    for (; n > 0 && v < p->end && !p->misfit && !p->no_memory; n--)
        v = put_value(p, element, v);
    p->misfit = p->misfit || n > 0;
    return v;
}

/* Does this value of the selector choose the option? */
static bool chooses(const ctf_part *option, uint64_t v, bool is_signed)
{
    const uint64_t bias = is_signed ? UINT64_C(1) << 63 : 0;
    const tl_mapping *m = option->chooser;
    for (uint32_t n = option->nchooser; n > 0;) {
        const uint32_t middle = n / 2;
        if ((v ^ bias) < (m[middle].low ^ bias)) {
            n = middle;
        } else if ((v ^ bias) <= (m[middle].high ^ bias)) {
            return true;
        } else {
            m += middle + 1;
            n -= middle + 1;
        }
    }
    return false;
}

static const tl_value *put_variant(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    if (v->type != TL_VARIANT || v->variant >= f->npart || v->n != 1) {
        p->misfit = true;
        return v;
    }
    const uint32_t chosen = v->variant;
    if (f->counted == CTF_COUNTED_INLINE) { /* 2010: a list of 0 or 1 elements for each option */
        for (uint32_t i = 0; i < f->npart; i++) {
            put_bytes(p, i == chosen ? "\1" : "", 1);
            if (i == chosen)
                v = put_value(p, f->part[i].form, v + 1);
        }
        return v;
    }
    const ctf_part *option = &f->part[chosen];
    if (f->by->source == CTF_PART_MADE)
        settle(p, f->by, chosen);
    else if (!chooses(option, number_at(p, f->by), f->by->form->is_signed))
        p->misfit = true;
    return put_value(p, option->form, v + 1);
}

static const tl_value *put_optional(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    const bool there = v->type != TL_ABSENT && !(f->is_null && v->type == TL_NULL);
    if (f->counted == CTF_COUNTED_INLINE)
        put_bytes(p, there ? "\1" : "", 1);
    else if (f->by->source == CTF_PART_MADE)
        settle(p, f->by, there);
    else if ((number_at(p, f->by) != 0) != there)
        p->misfit = true;
    return there ? put_value(p, f->part[0].form, v) : v + 1;
}

static void begin_part(ctf_put *p, const ctf_part *part)
{
    if (part->place)
        p->place[part->place - 1] = p->room->n;
}

/* A part that does not come from the tape, or is not written unchanged. */
static const tl_value *put_other_part(ctf_put *p, const ctf_part *part, const tl_value *v)
{
    switch ((ctf_part_source)part->source) {
    case CTF_PART_MADE:
        begin_part(p, part);
        put_number(p, part->form, 0);
        break;
    case CTF_PART_KEY:
        put_number(p, part->form, p->key);
        break;
    case CTF_PART_PASSED:
        return ctf_value_behind(v, p->end);
    case CTF_PART_TAPE: /* payload_size */
        p->size_at = p->room->n;
        put_number(p, part->form, 0);
        return ctf_value_behind(v, p->end);
    }
    return v;
}

const tl_value *ctf_put_struct(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    for (uint32_t i = 0; i < f->npart && !p->misfit && !p->no_memory; i++) {
        const ctf_part *part = &f->part[i];
        if (TL_UNLIKELY(part->source != CTF_PART_TAPE || part->payload_size)) {
            v = put_other_part(p, part, v);
            continue;
        }
        begin_part(p, part);
        v = put_value(p, part->form, v);
    }
    return v;
}

static const tl_value *put_value(ctf_put *p, const ctf_form *f, const tl_value *v)
{
    if (TL_UNLIKELY(v >= p->end)) {
        p->misfit = true;
        return p->end;
    }
    switch ((ctf_form_kind)f->kind) {
    case CTF_FORM_INT:
        return put_int(p, f, v);
    case CTF_FORM_FLOAT:
        return put_float(p, f, v);
    case CTF_FORM_STRING:
        return put_string(p, v);
    case CTF_FORM_TEXT:
    case CTF_FORM_BLOB:
        return put_sized(p, f, v);
    case CTF_FORM_STRUCT:
        if (f->wraps)
            return ctf_put_struct(p, f, v);
        if (v->type == TL_STRUCT && v->n == f->length)
            return ctf_put_struct(p, f, v + 1);
        p->misfit = true;
        return v;
    case CTF_FORM_LIST:
        return put_list(p, f, v);
    case CTF_FORM_VARIANT:
        return put_variant(p, f, v);
    case CTF_FORM_OPTIONAL:
        return put_optional(p, f, v);
    case CTF_FORM_NOTHING:
        p->unknown += v->type != TL_NULL && v->type != TL_ABSENT;
        break;
    }
    return ctf_value_behind(v, p->end);
}

/* --- zeros --- */

static void put_zero(ctf_put *p, const ctf_form *f, uint32_t *budget);

static void put_zero_parts(ctf_put *p, const ctf_form *f, uint32_t *budget)
{
    for (uint32_t i = 0; i < f->npart && !p->misfit; i++)
        if (f->part[i].source != CTF_PART_PASSED) {
            begin_part(p, &f->part[i]);
            put_zero(p, f->part[i].form, budget);
        }
}

/* Lengths of 0, absent optionals, and first options. */
static void put_zero(ctf_put *p, const ctf_form *f, uint32_t *budget)
{
    const uint32_t fixed = f->counted == CTF_COUNTED_FIXED && f->kind != CTF_FORM_STRUCT ? f->length : 0;
    if (*budget <= fixed) {
        p->misfit = true;
        return;
    }
    *budget -= fixed + 1;
    switch ((ctf_form_kind)f->kind) {
    case CTF_FORM_INT:
    case CTF_FORM_FLOAT:
        put_number(p, f, 0);
        break;
    case CTF_FORM_STRING:
        put_fill(p, 1);
        break;
    case CTF_FORM_TEXT:
    case CTF_FORM_BLOB:
        put_fill(p, f->counted == CTF_COUNTED_INLINE ? 4 : fixed);
        break;
    case CTF_FORM_STRUCT:
        put_zero_parts(p, f, budget);
        break;
    case CTF_FORM_LIST:
        put_fill(p, f->counted == CTF_COUNTED_INLINE ? 4 : 0);
        for (uint32_t i = 0; i < fixed && !p->misfit; i++)
            put_zero(p, f->part[0].form, budget);
        break;
    case CTF_FORM_VARIANT:
        if (f->counted == CTF_COUNTED_INLINE || !chooses(&f->part[0], 0, f->by->form->is_signed))
            p->misfit = true;
        else
            put_zero(p, f->part[0].form, budget);
        break;
    case CTF_FORM_OPTIONAL:
        put_fill(p, f->counted == CTF_COUNTED_INLINE ? 1 : 0);
        break;
    case CTF_FORM_NOTHING:
        break;
    }
}

void ctf_put_zeros(ctf_put *p, const ctf_form *f)
{
    uint32_t budget = ZEROS_MAX;
    put_zero_parts(p, f, &budget);
}
