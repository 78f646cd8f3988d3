/* Internals of plans, for the files that run them: ctf_plan.c, ctf_header.c and ctf_cursor.c. */
#ifndef TL_FORMAT_CTF_PLAN_IMPL_H
#define TL_FORMAT_CTF_PLAN_IMPL_H

#include "base/hash.h"
#include "format/ctf/plan/ctf_plan.h"
#include "format/ctf/plan/ctf_run.h"
#include "format/ctf/plan/ctf_scope.h"

/* An event header of the usual shape, decoded without a program: numbers at fixed places, and optionally one id that
 * announces a longer form. */
typedef struct ctf_short_header {
    bool usable, has_id, has_time, has_extension;
    bool is_uniform; /* it has an id and a time, and all numbers have one byte order */
    uint32_t align;
    ctf_load id, time;
    uint32_t bits, time_bits;
    uint64_t escape; /* the id that announces the extension */
    ctf_load long_id, long_time;
    bool has_long_id, has_long_time;
    uint32_t long_bits, long_time_bits; /* bits including the short form */
} ctf_short_header;

/* One event class. */
typedef struct ctf_event_plan {
    uint64_t id;
    uint32_t cls; /* tl_class.id */
    uint16_t key; /* register of tl_batch.key, or CTF_NO_REGISTER */
    uint16_t nclear;
    bool moves_clock;      /* a field after the header moves the clock, for the next events */
    const uint16_t *clear; /* registers that may keep an old value */
    const uint32_t *store_number, *skip_number;
    ctf_program store, skip; /* stream context, event context and payload */
} ctf_event_plan;

/* How to skip an event that is nothing but a fixed number of bits; and how to read it. */
typedef struct ctf_quick {
    uint64_t bits;  /* CTF_NOT_QUICK, more than any packet has: it is not that simple */
    uint32_t bytes; /* the same in bytes, if whole */
    uint32_t cls;
    const ctf_load *load; /* all values, if they are plain little-endian integers; else NULL */
    uint32_t nload;
} ctf_quick;

#define CTF_NOT_QUICK UINT64_MAX

/* One stream class. */
typedef struct ctf_stream_plan {
    ctf_program packet_context; /* loads, for roles and registers */
    ctf_program shown_context;  /* stores its shown fields */
    ctf_program header;
    const uint32_t *context_number, *shown_number, *header_number;
    ctf_short_header short_header;
    uint32_t header_align; /* bits; 1 without a header */
    bool has_payload_size;
    ctf_program context_only; /* with has_payload_size: the stream context of an unknown event */
    const uint32_t *only_number;
    uint32_t mod, res; /* end of the packet context, modulo mod */
    ctf_event_plan *event;
    uint32_t nevent;
    uint32_t shown;         /* slots of shown_context's values, 0: none */
    const uint32_t *dense;  /* [ndense] index of the event class of each id, CTF_NO_NODE: none */
    const ctf_quick *quick; /* [ndense] */
    bool whole_bytes; /* headers and all quickly skippable events are whole bytes; the id is the low bits of one */
    uint32_t ndense;
    tl_hash by_id; /* of the ids above */
} ctf_stream_plan;

/* Everything for a schema in one byte order. */
typedef struct ctf_plan_set {
    ctf_program packet_header;
    const uint32_t *header_number;
    uint32_t header_mod, header_res;
    ctf_stream_plan *stream; /* [schema.nstream] */
    uint32_t registers;
} ctf_plan_set;

struct ctf_plans {
    const ctf_schema *schema;
    tl_arena arena;
    ctf_plan_set set[2]; /* little, big; equal for schemas with explicit byte orders */
    bool has_big;        /* set[1] differs: the dialect of 2010 */
    uint32_t align;      /* bytes: the largest alignment of all fields, at least 1 */
    uint32_t packet_cls; /* tl_class.id of packets, if wanted */
};

/* The set for a packet. */
static inline const ctf_plan_set *ctf_plans_set(const ctf_plans *p, bool big)
{
    return &p->set[p->has_big && big];
}

/* Registers that a run needs. */
static inline uint32_t ctf_plans_registers(const ctf_plans *p)
{
    return p->set[0].registers > p->set[1].registers ? p->set[0].registers : p->set[1].registers;
}

/* The event class of an id, or NULL. */
static inline const ctf_event_plan *ctf_event_plan_of(const ctf_stream_plan *s, uint64_t id)
{
    uint32_t index = id < s->ndense ? s->dense[id] : tl_hash_get(&s->by_id, id);
    return index == CTF_NO_NODE ? NULL : &s->event[index];
}

/* Whether the header has the usual shape; fills *h. native: the byte order of CTF_NATIVE. */
void ctf_short_header_find(ctf_short_header *h, const ctf_type *header, ctf_order native);

/* Runs packet header and context with r->data at the begin of a packet: sets registers and roles, leaves r->at after
 * them. Returns as ctf_packet_header(). */
ctf_header_status ctf_packet_header_run(const ctf_plans *p, ctf_run *r, ctf_packet *packet, uint64_t *bad_bit,
                                        char what[160]);

#endif
