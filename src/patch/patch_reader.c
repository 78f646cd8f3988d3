/* Numbers of DWARF. */
#include "patch/patch_reader.h"

/* DW_EH_PE_*: the low four bits say the size, the others what is added. */
#define FORMAT         0x0f
#define BASE           0x70
#define BASE_ABSOLUTE  0x00
#define BASE_HERE      0x10
#define BASE_DATA      0x30
#define INDIRECT       0x80
#define FORMAT_ULEB128 0x01
#define FORMAT_SLEB128 0x09

const patch_part *patch_part_of(const patch_image *image, uint64_t address, uint64_t size)
{
    for (unsigned i = 0; i < image->parts; i++) {
        const patch_part *p = &image->part[i];
        if (address >= p->address && size <= p->size && address - p->address <= p->size - size)
            return p;
    }
    return NULL;
}

bool patch_reader_begin(patch_reader *r, const patch_image *image, uint64_t at, uint64_t size)
{
    const patch_part *part = patch_part_of(image, at, 1);
    if (!part || size == 0)
        return false;
    const uint64_t left = part->size - (at - part->address);
    *r = (patch_reader){image, part->bytes, part->address, at, at + (size < left ? size : left)};
    return true;
}

bool patch_read_fixed(patch_reader *r, unsigned bytes, uint64_t *out)
{
    if (r->end - r->at < bytes)
        return false;
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)r->bytes[r->at - r->base + i] << 8 * i;
    r->at += bytes;
    *out = v;
    return true;
}

bool patch_read_byte(patch_reader *r, uint8_t *out)
{
    uint64_t v;
    if (!patch_read_fixed(r, 1, &v))
        return false;
    *out = (uint8_t)v;
    return true;
}

/* The groups of seven bits of a number; *bits is how many there were. */
static bool leb128(patch_reader *r, uint64_t *out, unsigned *bits)
{
    uint64_t v = 0;
    uint8_t b;
    unsigned shift = 0;
    do {
        if (shift >= 70 || !patch_read_byte(r, &b))
            return false;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
    } while (b & 0x80);
    *out = v;
    *bits = shift;
    return true;
}

bool patch_read_unsigned(patch_reader *r, uint64_t *out)
{
    unsigned bits;
    return leb128(r, out, &bits);
}

bool patch_read_signed(patch_reader *r, int64_t *out)
{
    uint64_t v;
    unsigned bits;
    if (!leb128(r, &v, &bits))
        return false;
    if (bits < 64 && v >> (bits - 1) & 1)
        v |= ~(uint64_t)0 << bits;
    *out = (int64_t)v;
    return true;
}

/* The number itself, without what is added to it. */
static bool pointer_format(patch_reader *r, uint8_t format, uint64_t *out)
{
    int64_t s;
    uint64_t v;
    switch (format) {
    case FORMAT_ULEB128:
        return patch_read_unsigned(r, out);
    case FORMAT_SLEB128:
        if (!patch_read_signed(r, &s))
            return false;
        *out = (uint64_t)s;
        return true;
    case 0x02: /* udata2, udata4 */
    case 0x03:
        return patch_read_fixed(r, 1U << (format - 1), out);
    case 0x00: /* absptr, udata8, sdata8 */
    case 0x04:
    case 0x0c:
        return patch_read_fixed(r, 8, out);
    case 0x0a: /* sdata2 */
        if (!patch_read_fixed(r, 2, &v))
            return false;
        *out = (uint64_t)(int64_t)(int16_t)v;
        return true;
    case 0x0b: /* sdata4 */
        if (!patch_read_fixed(r, 4, &v))
            return false;
        *out = (uint64_t)(int64_t)(int32_t)v;
        return true;
    default:
        return false;
    }
}

bool patch_read_pointer(patch_reader *r, uint8_t encoding, uint64_t *out)
{
    const uint64_t here = r->at;
    uint64_t v;
    patch_reader there;
    if (!pointer_format(r, encoding & FORMAT, &v))
        return false;
    switch (encoding & BASE) {
    case BASE_ABSOLUTE:
        break;
    case BASE_HERE:
        if (v)
            v += here;
        break;
    case BASE_DATA:
        v += r->image->frame_header;
        break;
    default:
        return false;
    }
    if (encoding & INDIRECT && (!patch_reader_begin(&there, r->image, v, 8) || !patch_read_fixed(&there, 8, &v)))
        return false;
    *out = v;
    return true;
}
