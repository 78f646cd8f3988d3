/* Writes snapshots: the header of their file, and their records. */
#include <string.h>

#include "base/endian.h"
#include "format/xtrace/xtrace_encode.h"
#include "format/xtrace/xtrace_layout.h"
#include "format/xtrace/xtrace_snapshot.h"

enum { COUNTS = 4, PREDICATES = 16, SYSTEM_REGISTERS = 11, HEADER_VALUES = 7 };

/* Values of a snapshot: see xtrace_snapshot_class. Lists have a slot of their own. */
enum {
    SLOT_X = COUNTS,
    SLOT_Z = SLOT_X + 1 + XTRACE_REGISTERS,
    SLOT_P = SLOT_Z + 1 + XTRACE_REGISTERS,
    SLOT_FFR = SLOT_P + 1 + PREDICATES,
    SLOT_ZA,
    SLOT_SYSTEM,
    SLOT_VL = SLOT_SYSTEM + SYSTEM_REGISTERS,
    SLOTS
};

void xtrace_encode_header(const xtrace_header *h, uint8_t out[XTRACE_HEADER_SIZE])
{
    memset(out, 0, XTRACE_HEADER_SIZE);
    tl_store32(out, h->tag, false);
    tl_store32(out + 4, h->sync, false);
    tl_store64(out + 8, h->version, false);
    out[16] = h->split;
    out[17] = h->stream;
    out[18] = h->memory_order;
}

xtrace_header xtrace_header_of(const tl_trace *t)
{
    const xtrace_header ours = {.tag = XTRACE_HEADER_TAG, .version = XTRACE_HEADER_VERSION};
    const tl_field *field;
    uint32_t n;
    const tl_value *v = tl_trace_header(t, &field, &n);
    if (!v || n == 0 || strcmp(field[0].name, "header") != 0 || v->type != TL_STRUCT || v->n != HEADER_VALUES)
        return ours;
    v++; /* the first member is its size, which is constant here */
    return (xtrace_header){.tag = (uint32_t)v[1].as.u,
                           .sync = (uint32_t)v[2].as.u,
                           .version = v[3].as.u,
                           .split = (uint8_t)v[4].as.u,
                           .stream = (uint8_t)v[5].as.u,
                           .memory_order = (uint8_t)v[6].as.u};
}

static uint32_t predicate_step(uint32_t vl)
{
    return (vl / 64 + 15) / 16 * 16;
}

size_t xtrace_record_size(uint32_t vl)
{
    const size_t vector = vl / 8;
    return XTRACE_SNAPSHOT_Z + XTRACE_REGISTERS * vector + (PREDICATES + 1) * (size_t)predicate_step(vl) +
           vector * vector + 8 * (SYSTEM_REGISTERS + 1);
}

/* Are these n values, after the slot of their list, of one type, and bytes of one size? */
static bool is_row(const tl_value *v, uint32_t n, tl_type type, uint32_t size)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i].type != (uint8_t)type || (type == TL_BYTES && v[i].n != size))
            return false;
    return true;
}

static bool is_list(const tl_value *v, uint32_t n, tl_type type, uint32_t size)
{
    return v->type == TL_LIST && v->n == n && is_row(v + 1, n, type, size);
}

uint32_t xtrace_record_vl(const tl_value *v, const tl_value *end)
{
    if (end - v < SLOTS || v[SLOT_VL].type != TL_U64)
        return 0;
    const uint64_t said = v[SLOT_VL].as.u;
    if (said == 0 || said > XTRACE_VL_MOST || said % XTRACE_VL_STEP != 0)
        return 0;
    const uint32_t vl = (uint32_t)said, vector = vl / 8, predicate = vl / 64;
    const bool fits =
        is_row(v, COUNTS, TL_U64, 0) && is_list(v + SLOT_X, XTRACE_REGISTERS, TL_HEX, 0) &&
        is_list(v + SLOT_Z, XTRACE_REGISTERS, TL_BYTES, vector) &&
        is_list(v + SLOT_P, PREDICATES, TL_BYTES, predicate) && is_row(v + SLOT_FFR, 1, TL_BYTES, predicate) &&
        is_row(v + SLOT_ZA, 1, TL_BYTES, vector * vector) && is_row(v + SLOT_SYSTEM, SYSTEM_REGISTERS, TL_HEX, 0);
    return fits ? vl : 0;
}

static uint8_t *put_numbers(uint8_t *p, const tl_value *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, p += 8)
        tl_store64(p, v[i].as.u, false);
    return p;
}

static uint8_t *put_bytes(uint8_t *p, const tl_value *v, uint32_t n, uint32_t step)
{
    for (uint32_t i = 0; i < n; i++, p += step) {
        memcpy(p, v[i].as.p, v[i].n);
        memset(p + v[i].n, 0, step - v[i].n);
    }
    return p;
}

void xtrace_encode_record(const tl_value *v, uint32_t vl, uint8_t *out)
{
    const uint32_t step = predicate_step(vl), vector = vl / 8;
    uint8_t *p = put_numbers(out, v, COUNTS);
    p = put_numbers(p, v + SLOT_X + 1, XTRACE_REGISTERS);
    p = put_bytes(p, v + SLOT_Z + 1, XTRACE_REGISTERS, vector);
    p = put_bytes(p, v + SLOT_P + 1, PREDICATES, step);
    p = put_bytes(p, v + SLOT_FFR, 1, step);
    p = put_bytes(p, v + SLOT_ZA, 1, vector * vector);
    p = put_numbers(p, v + SLOT_SYSTEM, SYSTEM_REGISTERS);
    put_numbers(p, v + SLOT_VL, 1);
}
