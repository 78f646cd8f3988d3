/* Snapshots as events, and their header as members of the trace. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "format/xtrace/xtrace_layout.h"
#include "format/xtrace/xtrace_snapshot.h"

/* Memory after which a batch takes no more records: with the longest vectors, each needs 73 KiB. */
#define BATCH_BYTES (1u << 20)

enum { PREDICATES = 16, PREDICATE_STEP = 16 /* a multiple of this many bytes */ };

#define COUNT(n)                                                                                                       \
    {                                                                                                                  \
        .name = (n), .type = TL_U64                                                                                    \
    }
#define REGISTER(n)                                                                                                    \
    {                                                                                                                  \
        .name = (n), .type = TL_HEX, .base = 16                                                                        \
    }

static const tl_field general = {.type = TL_HEX, .base = 16};
static const tl_field bytes = {.type = TL_BYTES};
static const tl_field snapshot_fields[] = {
    COUNT("file"),
    COUNT("offset"),
    COUNT("user_insns"),
    COUNT("insns"),
    {.name = "x",
     .type = TL_LIST,
     .member = &general,
     .nmember = 1,
     .flags = TL_FIELD_FIXED,
     .length = XTRACE_REGISTERS,
     .role = TL_FIELD_GENERAL},
    {.name = "z",
     .type = TL_LIST,
     .member = &bytes,
     .nmember = 1,
     .flags = TL_FIELD_FIXED,
     .length = XTRACE_REGISTERS,
     .role = TL_FIELD_VECTORS},
    {.name = "p", .type = TL_LIST, .member = &bytes, .nmember = 1, .flags = TL_FIELD_FIXED, .length = PREDICATES},
    {.name = "ffr", .type = TL_BYTES},
    {.name = "za", .type = TL_BYTES},
    REGISTER("fpcr"),
    REGISTER("fpsr"),
    {.name = "nzcv", .type = TL_HEX, .base = 16, .role = TL_FIELD_FLAGS_REGISTER},
    REGISTER("tpidr_el0"),
    REGISTER("tpidrro_el0"),
    REGISTER("ttbr0_el1"),
    REGISTER("elr_el1"),
    REGISTER("spsr_el1"),
    REGISTER("esr_el1"),
    REGISTER("tpidr_el1"),
    REGISTER("daif"),
    COUNT("vl"),
};

enum { COUNTS = 4, SYSTEM_REGISTERS = 11 };

/* Slots of an event: lists have one of their own. */
enum { SLOTS = COUNTS + 2 * (1 + XTRACE_REGISTERS) + 1 + PREDICATES + 2 + SYSTEM_REGISTERS + 1 };

const tl_class xtrace_snapshot_class = {.kind = TL_REGS,
                                        .name = "snapshot",
                                        .field = snapshot_fields,
                                        .nfield = TL_COUNT(snapshot_fields),
                                        .role = TL_ROLE_SNAPSHOT};

static tl_value *put_numbers(tl_value *v, tl_type type, const uint8_t *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        *v++ = (tl_value){.type = (uint8_t)type, .as.u = tl_load64(p + 8 * i, false)};
    return v;
}

static tl_value *put_list(tl_value *v, uint32_t n)
{
    *v = (tl_value){.type = TL_LIST, .n = n};
    return v + 1;
}

/* n times `size` bytes, `step` bytes apart. */
static tl_value *put_bytes(tl_value *v, const uint8_t *p, uint32_t n, uint32_t size, uint32_t step)
{
    for (uint32_t i = 0; i < n; i++)
        *v++ = (tl_value){.type = TL_BYTES, .n = size, .as.p = p + (size_t)i * step};
    return v;
}

/* A complete record. */
static void put_record(tl_value *v, const uint8_t *p, uint32_t vl)
{
    const uint32_t vector = vl / 8, predicate = vl / 64;
    const uint32_t step = (predicate + PREDICATE_STEP - 1) / PREDICATE_STEP * PREDICATE_STEP;
    v = put_numbers(v, TL_U64, p, COUNTS);
    v = put_numbers(put_list(v, XTRACE_REGISTERS), TL_HEX, p + XTRACE_SNAPSHOT_X, XTRACE_REGISTERS);
    p += XTRACE_SNAPSHOT_Z;
    v = put_bytes(put_list(v, XTRACE_REGISTERS), p, XTRACE_REGISTERS, vector, vector);
    p += XTRACE_REGISTERS * vector;
    v = put_bytes(put_list(v, PREDICATES), p, PREDICATES, predicate, step);
    p += PREDICATES * step;
    v = put_bytes(v, p, 1, predicate, 0);
    p += step;
    v = put_bytes(v, p, 1, vector * vector, 0);
    p += (size_t)vector * vector;
    v = put_numbers(v, TL_HEX, p, SYSTEM_REGISTERS);
    put_numbers(v, TL_U64, p + 8 * SYSTEM_REGISTERS, 1);
}

/* Puts the values of a record onto the tape; the bytes stay where they were read. */
static int put_values(const xtrace_snapshots *s, uint64_t number, tl_batch *b, tl_error *e)
{
    uint8_t *const record = tl_arena_alloc(b->arena, (size_t)s->record_size);
    b->val[b->n] = b->nval;
    tl_value *const v = record ? tl_batch_slots(b, SLOTS) : NULL;
    if (!v)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a snapshot of %" PRIu64 " bytes", s->record_size);
    int status = xtrace_snapshots_read(s, number, record, e);
    if (status < 0)
        return status;
    put_record(v, record, s->vl);
    b->val[b->n + 1] = b->nval;
    return 0;
}

static int put_event(const xtrace_snapshots *s, const xtrace_entry *entry, tl_batch *b, uint32_t cls, uint32_t track,
                     tl_error *e)
{
    int status = b->val ? put_values(s, entry->number, b, e) : 0;
    if (status < 0)
        return status;
    b->ts[b->n] = entry->insns;
    b->key[b->n] = 0;
    if (b->aux)
        b->aux[b->n] = 0;
    b->cls[b->n] = cls;
    b->track[b->n] = track;
    if (b->cpu)
        b->cpu[b->n] = -1;
    b->n++;
    return 0;
}

int xtrace_snapshots_batch(const xtrace_snapshots *s, uint64_t *at, uint64_t from, uint64_t to, tl_batch *b,
                           uint32_t cls, uint32_t track, tl_error *e)
{
    uint64_t memory = 0;
    for (; *at < s->records && b->n < b->capacity && memory < BATCH_BYTES; (*at)++) {
        xtrace_entry entry;
        int status = xtrace_snapshots_entry(s, *at, &entry, e);
        if (status >= 0 && !entry.good) {
            status = xtrace_snapshots_tell_vl(s, *at, entry.vl, e);
        } else if (status >= 0 && entry.insns >= to) {
            return 0;
        } else if (status >= 0 && entry.insns >= from) {
            status = put_event(s, &entry, b, cls, track, e);
            memory += b->val ? s->record_size : 0;
        }
        if (status < 0)
            return status;
    }
    return 0;
}

static const tl_field header_members[] = {COUNT("size"),  REGISTER("tag"), COUNT("sync"),        COUNT("version"),
                                          COUNT("split"), COUNT("stream"), COUNT("memory_order")};
static const tl_field about_fields[] = {{.name = "header",
                                         .type = TL_STRUCT,
                                         .member = header_members,
                                         .nmember = TL_COUNT(header_members),
                                         .flags = TL_FIELD_NULLABLE},
                                        {.name = "vl", .type = TL_U64, .flags = TL_FIELD_NULLABLE}};

int xtrace_snapshots_describe(const xtrace_snapshots *s, tl_trace *t, tl_error *e)
{
    const uint64_t said[] = {s->header_size, s->tag, s->sync, s->version, s->split, s->stream, s->memory_order};
    tl_value v[1 + TL_COUNT(said) + 1];
    uint32_t n = 0;
    v[n++] = s->has_header ? (tl_value){.type = TL_STRUCT, .n = TL_COUNT(said)} : (tl_value){.type = TL_NULL};
    for (uint32_t i = 0; s->has_header && i < TL_COUNT(said); i++)
        v[n++] = (tl_value){.type = (uint8_t)header_members[i].type, .as.u = said[i]};
    v[n++] = (tl_value){.type = s->vl ? TL_U64 : TL_NULL, .as.u = s->vl};
    if (s->has_header) {
        char version[24];
        snprintf(version, sizeof version, "%" PRIu64, s->version);
        t->version = tl_trace_intern(t, version);
        if (!t->version)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the version of the trace");
    }
    return tl_trace_set_header(t, about_fields, TL_COUNT(about_fields), v, n, e);
}
