/* Values from the tape: the bytes of accesses, registers, buffers of system calls. */
#include "format/listing/listing_detail.h"

#include "base/text/number.h"
#include "model/field_text.h"

enum {
    INDENT = 11, /* registers begin about where the pc does */
    IN_A_ROW = 4,
    NAME_WIDTH = 4,
    STEP = 32 /* bytes between two checks of room */
};

static const char digits[] = "0123456789abcdef";

char *listing_put_padded_hex(char *p, uint64_t v, unsigned size)
{
    *p++ = '0';
    *p++ = 'x';
    for (unsigned shift = 8 * size; shift > 0;) {
        shift -= 4;
        *p++ = digits[v >> shift & 15];
    }
    return p;
}

char *listing_put_flags(char *p, uint64_t flags)
{
    if (flags & ~UINT64_C(0xf0000000)) {
        memcpy(p, "0x", 2);
        return tl_put_hex(p + 2, flags);
    }
    for (unsigned i = 0; i < 4; i++)
        *p++ = (flags >> (31 - i) & 1 ? "NZCV" : "nzcv")[i];
    return p;
}

void listing_put_bytes(tl_text_writer *tw, const tl_class *c, const tl_batch *b, uint32_t i)
{
    const tl_value *end, *v = tl_value_of_role(c, b, i, TL_FIELD_VALUE, &end);
    if (!v || v->type != TL_BYTES || v->n == 0)
        return;
    const uint8_t *bytes = v->as.p;
    const bool number = v->n <= 16 && (v->n & (v->n - 1)) == 0;
    if (number)
        TL_TEXT_PUT(tw, " 0x");
    else
        TL_TEXT_PUT(tw, " ");
    for (uint32_t k = 0; k < v->n; k++) {
        if (k % STEP == 0)
            tl_text_room(tw, 2 * STEP);
        const uint8_t byte = bytes[number ? v->n - 1 - k : k];
        *tw->p++ = digits[byte >> 4];
        *tw->p++ = digits[byte & 15];
    }
}

static void put_number(tl_text_writer *tw, uint64_t v, bool hex)
{
    tl_text_room(tw, 24);
    if (hex) {
        TL_TEXT_COPY(tw, "0x");
        tw->p = tl_put_hex(tw->p, v);
    } else {
        tw->p = tl_put_u64(tw->p, v);
    }
}

/* The member of a struct with a role, of a value that begins at v. */
static uint64_t member(const tl_field *f, const tl_value *v, const tl_value *end, tl_field_role role)
{
    const tl_value *m = v + 1;
    for (uint32_t k = 0; v->type == TL_STRUCT && k < v->n && k < f->nmember && m < end; k++, m = tl_value_skip(m, end))
        if (f->member[k].role == (uint8_t)role)
            return m->as.u;
    return 0;
}

void listing_put_buffers(tl_text_writer *tw, const tl_class *c, const tl_batch *b, uint32_t i)
{
    const tl_value *end, *v = tl_value_of_role(c, b, i, TL_FIELD_ITEMS, &end);
    const tl_field *f = NULL;
    for (uint32_t k = 0; k < c->nfield; k++)
        if (c->field[k].role == TL_FIELD_ITEMS && c->field[k].nmember == 1)
            f = c->field[k].member;
    if (!v || !f || v->type != TL_LIST)
        return;
    const uint32_t n = v->n;
    TL_TEXT_PUT(tw, " buffers");
    v++;
    for (uint32_t k = 0; k < n && v < end; k++, v = tl_value_skip(v, end)) {
        TL_TEXT_PUT(tw, " [");
        put_number(tw, member(f, v, end, TL_FIELD_BASE), true);
        tl_text_char(tw, ' ');
        const uint64_t bytes = member(f, v, end, TL_FIELD_BYTES);
        put_number(tw, bytes, false);
        if (bytes == 1)
            TL_TEXT_PUT(tw, " byte]");
        else
            TL_TEXT_PUT(tw, " bytes]");
    }
}

static void start_row(tl_text_writer *tw)
{
    tl_text_room(tw, INDENT + 1);
    *tw->p++ = '\n';
    memset(tw->p, ' ', INDENT);
    tw->p += INDENT;
}

/* x0 to x30 and sp, four a row */
static void put_general(tl_text_writer *tw, const tl_value *v, const tl_value *end)
{
    const uint32_t n = v->n;
    for (uint32_t k = 0; k < n && v + 1 + k < end; k++) {
        char name[8] = "x", *p = k == 31 ? memcpy(name, "sp", 2), name + 2 : tl_put_u64(name + 1, k);
        if (k % IN_A_ROW == 0)
            start_row(tw);
        else
            TL_TEXT_PUT(tw, "  ");
        tl_text_room(tw, 64);
        memset(p, ' ', (size_t)(name + sizeof name - p));
        memcpy(tw->p, name, NAME_WIDTH);
        tw->p = listing_put_padded_hex(tw->p + NAME_WIDTH, v[1 + k].as.u, 8);
    }
}

uint32_t listing_put_registers(tl_text_writer *tw, const tl_class *c, const tl_batch *b, uint32_t i)
{
    const tl_value *v = b->v + b->val[i], *const end = b->v + b->val[i + 1];
    uint32_t left_out = 0, in_row = 0;
    for (uint32_t f = 0; f < c->nfield && v < end; f++, v = tl_value_skip(v, end)) {
        const tl_field *field = &c->field[f];
        if (field->role == TL_FIELD_GENERAL && v->type == TL_LIST) {
            put_general(tw, v, end);
            in_row = 0;
            continue;
        }
        if (v->type != TL_HEX && v->type != TL_U64) {
            left_out++;
            continue;
        }
        if (in_row++ % IN_A_ROW == 0)
            start_row(tw);
        else
            TL_TEXT_PUT(tw, "  ");
        tl_text_raw(tw, field->name, strlen(field->name));
        tl_text_char(tw, ' ');
        if (field->role == TL_FIELD_FLAGS_REGISTER) {
            tl_text_room(tw, 24);
            tw->p = listing_put_flags(tw->p, v->as.u);
        } else {
            put_number(tw, v->as.u, v->type == TL_HEX);
        }
    }
    return left_out;
}
