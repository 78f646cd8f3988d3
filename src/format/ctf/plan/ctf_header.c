/* Packet headers, and event headers of the usual shapes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/plan/ctf_compile.h"
#include "format/ctf/plan/ctf_plan_impl.h"

#define REGISTERS_ON_STACK 256u

/* ---- event headers ---- */

/* Numbers of a struct at fixed places. */
typedef struct shape {
    ctf_builder b; /* only for its position and byte order */
    uint32_t align, bits;
    bool has_id, has_time;
    ctf_load id, time;
    uint32_t time_bits;
} shape;

/* Adds the members of a struct, up to `n`; false if the shape is unusual. */
static bool add_members(shape *s, const ctf_type *t, uint32_t n)
{
    const uint32_t align = ctf_type_alignment(t);
    if (align > s->align)
        return false;
    s->bits = (s->bits + align - 1) & ~(align - 1);
    for (uint32_t i = 0; i < n; i++) {
        const ctf_type *m = t->member[i].type;
        if (m->kind == CTF_STRUCT) {
            if (!add_members(s, m, m->nmember))
                return false;
            continue;
        }
        if (m->kind != CTF_INT || m->align > s->align || m->unit || m->reversed)
            return false;
        s->bits = (s->bits + m->align - 1) & ~(m->align - 1);
        ctf_load l = ctf_load_of(&s->b, m);
        const unsigned shift = s->bits & 7;
        if (shift + m->bits > 64 || s->bits > CTF_ALIGN_MAX)
            return false;
        l.offset = s->bits / 8;
        l.right = (uint8_t)(64 - m->bits);
        l.left = (uint8_t)(l.flags & CTF_LOAD_BIG ? shift : 64 - shift - m->bits);
        l.flags &= CTF_LOAD_BIG; /* roles are unsigned */
        s->bits += m->bits;
        if (m->roles & CTF_ROLE_EVENT_CLASS) {
            s->has_id = true;
            s->id = l;
        }
        if (m->roles & CTF_ROLE_TIMESTAMP) {
            s->has_time = true;
            s->time = l;
            s->time_bits = m->bits;
        }
    }
    return true;
}

/* The only id that chooses an option; false if there are several. */
static bool single_value(const ctf_member *option, uint64_t *value)
{
    *value = option->nrange == 1 ? option->range[0].low : 0;
    return option->nrange == 1 && option->range[0].low == option->range[0].high;
}

/* Whether all ids except the escape, which is the largest, choose the option. */
static bool takes_all_others(const ctf_member *option, uint64_t escape)
{
    return option->nrange == 1 && option->range[0].low == 0 && option->range[0].high == escape - 1;
}

static bool find_extension(ctf_short_header *h, shape *s, const ctf_type *header)
{
    const ctf_type *v = header->member[header->nmember - 1].type;
    if (v->kind != CTF_VARIANT || v->nmember != 2 || !s->has_id || !v->location || v->location->n == 0 ||
        v->member[0].type->kind != CTF_STRUCT || v->member[1].type->kind != CTF_STRUCT)
        return false;
    /* The selector must be the id: the only number with that name. */
    const ctf_member *selector = NULL;
    for (uint32_t i = 0; i + 1 < header->nmember; i++)
        if (v->location->path[v->location->n - 1] &&
            ctf_same_name(v->location->path[v->location->n - 1], header->member[i].name, header->member[i].raw))
            selector = &header->member[i];
    if (!selector || !(selector->type->roles & CTF_ROLE_EVENT_CLASS) || selector->type->is_signed)
        return false;
    const bool first_is_long = single_value(&v->member[0], &h->escape);
    if (!first_is_long && !single_value(&v->member[1], &h->escape))
        return false;
    const ctf_member *longer = &v->member[first_is_long ? 0 : 1], *shorter = &v->member[first_is_long ? 1 : 0];
    const uint64_t all = selector->type->bits == 64 ? UINT64_MAX : (UINT64_C(1) << selector->type->bits) - 1;
    if (h->escape != all || !takes_all_others(shorter, h->escape))
        return false;
    shape l = *s;
    l.has_id = l.has_time = false;
    if (!add_members(s, shorter->type, shorter->type->nmember) || !add_members(&l, longer->type, longer->type->nmember))
        return false;
    h->has_extension = true;
    h->long_id = l.id;
    h->long_time = l.time;
    h->has_long_id = l.has_id;
    h->has_long_time = l.has_time;
    h->long_time_bits = l.time_bits;
    h->long_bits = l.bits;
    return true;
}

void ctf_short_header_find(ctf_short_header *h, const ctf_type *header, ctf_order native)
{
    shape s = {.align = ctf_type_alignment(header)};
    s.b.native = native;
    if (header->nmember == 0 || s.align < 8)
        return;
    const bool variant = header->member[header->nmember - 1].type->kind == CTF_VARIANT;
    if (!add_members(&s, header, header->nmember - variant) || (variant && !find_extension(h, &s, header)))
        return;
    h->align = s.align;
    h->has_id = s.has_id;
    h->id = s.id;
    h->has_time = s.has_time;
    h->time = s.time;
    h->time_bits = s.time_bits;
    h->bits = s.bits;
    h->usable = true;
    const uint8_t order = h->id.flags & CTF_LOAD_BIG;
    h->is_uniform = h->has_id && h->has_time && (h->time.flags & CTF_LOAD_BIG) == order &&
                    (!h->has_long_id || (h->long_id.flags & CTF_LOAD_BIG) == order) &&
                    (!h->has_long_time || (h->long_time.flags & CTF_LOAD_BIG) == order);
}

/* ---- packet headers ---- */

static bool has(const ctf_run *r, uint32_t role)
{
    return r->seen & role;
}

static uint64_t value(const ctf_run *r, uint32_t role)
{
    return r->role[ctf_role_number(role)];
}

/* First bit of the field with a role. */
static uint64_t place(const ctf_run *r, uint32_t role)
{
    const unsigned i = ctf_role_number(role);
    return r->role_end[i] >= r->role_bits[i] ? r->role_end[i] - r->role_bits[i] : 0;
}

static ctf_header_status broken(const ctf_run *r, ctf_run_status status, uint64_t *bad_bit, char what[160])
{
    *bad_bit = r->bad;
    switch (status) {
    case CTF_RUN_SHORT:
        snprintf(what, 160, "a field of the packet header leaves the packet");
        return CTF_HEADER_MORE;
    case CTF_RUN_SELECTOR:
        snprintf(what, 160, "no option of a variant is chosen by %" PRIu64, r->bad_value);
        break;
    case CTF_RUN_ORDER:
        snprintf(what, 160, "the byte order changes inside a byte");
        break;
    default:
        snprintf(what, 160, "a field of the packet header cannot be decoded");
    }
    return CTF_HEADER_FIELD;
}

static ctf_header_status check_identity(const ctf_plans *p, const ctf_run *r, ctf_packet *packet, uint64_t *bad_bit,
                                        char what[160])
{
    const ctf_schema *s = p->schema;
    if (has(r, CTF_ROLE_MAGIC) && value(r, CTF_ROLE_MAGIC) != (uint32_t)CTF_MAGIC_PACKET &&
        value(r, CTF_ROLE_MAGIC) != __builtin_bswap32((uint32_t)CTF_MAGIC_PACKET)) { /* wrong byte order */
        *bad_bit = place(r, CTF_ROLE_MAGIC);
        snprintf(what, 160, "magic number 0x%" PRIx64 ", expected 0x%" PRIx32, value(r, CTF_ROLE_MAGIC),
                 (uint32_t)CTF_MAGIC_PACKET);
        return CTF_HEADER_MAGIC;
    }
    packet->foreign_uuid =
        has(r, CTF_ROLE_UUID) && s->has_uuid && memcmp(r->data + value(r, CTF_ROLE_UUID) / 8, s->uuid, 16) != 0;
    if (packet->foreign_uuid && s->dialect == CTF_2) {
        *bad_bit = value(r, CTF_ROLE_UUID);
        snprintf(what, 160, "its uuid is not that of the metadata");
        return CTF_HEADER_UUID;
    }
    packet->stream = CTF_NO_NODE;
    for (uint32_t i = 0; i < s->nstream && packet->stream == CTF_NO_NODE; i++)
        if (has(r, CTF_ROLE_STREAM_CLASS) ? s->stream[i]->id == value(r, CTF_ROLE_STREAM_CLASS)
                                          : s->nstream == 1 || s->stream[i]->id == 0)
            packet->stream = i;
    if (packet->stream == CTF_NO_NODE) {
        *bad_bit = has(r, CTF_ROLE_STREAM_CLASS) ? place(r, CTF_ROLE_STREAM_CLASS) : 0;
        snprintf(what, 160, "stream class %" PRIu64 " is not in the metadata", value(r, CTF_ROLE_STREAM_CLASS));
        return CTF_HEADER_STREAM;
    }
    return CTF_HEADER_OK;
}

static void take_roles(const ctf_run *r, ctf_packet *p)
{
    p->has_begin = has(r, CTF_ROLE_TIMESTAMP);
    p->begin = p->has_begin ? r->clock : 0; /* from one or more fields, each with a part of it */
    p->has_end = has(r, CTF_ROLE_PACKET_END);
    p->end = p->has_end ? value(r, CTF_ROLE_PACKET_END) : 0;
    p->has_discarded = has(r, CTF_ROLE_DISCARDED);
    p->discarded = p->has_discarded ? value(r, CTF_ROLE_DISCARDED) : 0;
    p->discarded_bits = r->role_bits[ctf_role_number(CTF_ROLE_DISCARDED)];
    p->has_sequence = has(r, CTF_ROLE_SEQUENCE);
    p->sequence = p->has_sequence ? value(r, CTF_ROLE_SEQUENCE) : 0;
    p->sequence_bits = r->role_bits[ctf_role_number(CTF_ROLE_SEQUENCE)];
    p->has_instance = has(r, CTF_ROLE_STREAM);
    p->instance = p->has_instance ? value(r, CTF_ROLE_STREAM) : 0;
    const uint64_t cpu = has(r, CTF_ROLE_CPU) ? value(r, CTF_ROLE_CPU) : UINT64_MAX;
    p->cpu = cpu <= INT32_MAX ? (int32_t)cpu : -1;
    p->first = r->at;
}

/* packet_size and content_size, in bits. */
static ctf_header_status check_sizes(const ctf_run *r, ctf_packet *p, uint64_t *bad_bit, char what[160])
{
    const bool has_size = has(r, CTF_ROLE_PACKET_SIZE), has_content = has(r, CTF_ROLE_CONTENT_SIZE);
    const uint64_t size = has_size ? value(r, CTF_ROLE_PACKET_SIZE) : UINT64_MAX;
    const uint64_t content = has_content ? value(r, CTF_ROLE_CONTENT_SIZE) : UINT64_MAX;
    /* If only the content size is known, the packet has only content. */
    p->content = has_content ? content : size;
    p->size = has_size ? size / 8 : has_content ? content / 8 + (content % 8 != 0) : UINT64_MAX;
    if (has_size && (size % 8 || size < p->first || size == 0)) {
        *bad_bit = place(r, CTF_ROLE_PACKET_SIZE);
        snprintf(what, 160,
                 "packet_size %" PRIu64 " bits; expected whole bytes and at least the header's %" PRIu64 " bits", size,
                 p->first);
        return CTF_HEADER_SIZES;
    }
    if (has_content && (content < p->first || content > size)) {
        *bad_bit = place(r, CTF_ROLE_CONTENT_SIZE);
        snprintf(what, 160, "content_size %" PRIu64 " bits; expected at least the header's %" PRIu64 "%s", content,
                 p->first, content > size ? " and no more than packet_size" : "");
        return CTF_HEADER_SIZES;
    }
    if (!has_size && has_content && content % 8) {
        *bad_bit = place(r, CTF_ROLE_CONTENT_SIZE);
        snprintf(what, 160, "content_size %" PRIu64 " bits; expected whole bytes where it is the packet's size, too",
                 content);
        return CTF_HEADER_SIZES;
    }
    return CTF_HEADER_OK;
}

ctf_header_status ctf_packet_header_run(const ctf_plans *p, ctf_run *r, ctf_packet *packet, uint64_t *bad_bit,
                                        char what[160])
{
    const ctf_plan_set *set = &p->set[0];
    r->seen = 0;
    memset(r->role_bits, 0, sizeof r->role_bits);
    ctf_run_status status = ctf_run_skip(r, &set->packet_header);
    if (status != CTF_RUN_OK)
        return broken(r, status, bad_bit, what);
    ctf_header_status bad = check_identity(p, r, packet, bad_bit, what);
    if (bad != CTF_HEADER_OK)
        return bad;
    packet->context = r->at;
    status = ctf_run_skip(r, &set->stream[packet->stream].packet_context);
    if (status != CTF_RUN_OK)
        return broken(r, status, bad_bit, what);
    take_roles(r, packet);
    return check_sizes(r, packet, bad_bit, what);
}

ctf_header_status ctf_packet_header(const ctf_plans *p, const uint8_t *data, size_t n, ctf_packet *packet,
                                    uint64_t *bad_bit, char what[160])
{
    uint64_t on_stack[REGISTERS_ON_STACK], *reg = on_stack;
    const uint32_t registers = ctf_plans_registers(p);
    if (registers > REGISTERS_ON_STACK)
        reg = tl_alloc(registers, sizeof *reg);
    if (!reg) {
        *bad_bit = 0;
        snprintf(what, 160, "no memory to look at a packet header");
        return CTF_HEADER_FIELD;
    }
    memset(reg, 0, registers * sizeof *reg);
    ctf_run r = {.data = data, .end = 8 * (uint64_t)n, .reg = reg};
    ctf_header_status status = ctf_packet_header_run(p, &r, packet, bad_bit, what);
    if (reg != on_stack)
        free(reg);
    return status;
}
