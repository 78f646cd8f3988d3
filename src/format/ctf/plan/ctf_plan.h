/* Plans: a schema compiled to straight programs that read packet headers and events.
 *
 * One plan for each stream class (packet header + context, event header, stream context) and one for each event class;
 * each in two forms: one that puts values on the tape, and one that only skips. */
#ifndef TL_FORMAT_CTF_PLAN_H
#define TL_FORMAT_CTF_PLAN_H

#include "format/ctf/ctf_schema.h"
#include "model/batch.h"
#include "model/trace_impl.h"

/* The properties of a packet, from its header and context. */
typedef struct ctf_packet {
    uint64_t offset;  /* bytes in the file */
    uint64_t number;  /* 0, 1, ... in the file, counting skipped ones */
    uint64_t size;    /* bytes, including padding; of a truncated one: those that exist */
    uint64_t content; /* bits of data, including the header; of a truncated one: those that exist */
    uint64_t context; /* bit where the packet context begins, before its alignment */
    uint64_t first;   /* bit where the first event header begins, before its alignment */
    uint32_t stream;  /* index of the stream class in the schema */
    int32_t cpu;      /* -1: unknown */
    bool has_begin, has_end, has_discarded, has_sequence, has_instance;
    bool truncated;    /* the file ends inside */
    bool foreign_uuid; /* 1.8: the uuid differs from the metadata's; read anyway, since other readers do not compare */
    bool big;          /* native byte order, 2010 */
    uint8_t discarded_bits, sequence_bits;            /* widths of the two counters */
    uint8_t compression, encryption, checksum_scheme; /* 2010 */
    uint64_t begin, end;                              /* clock values */
    uint64_t discarded, sequence, instance;
    uint32_t checksum; /* 2010 */
} ctf_packet;

typedef struct ctf_plans ctf_plans;

/* Event classes of all schemas of a trace, for its tl_class list. */
typedef struct ctf_class_list {
    tl_class *cls; /* free() */
    uint32_t n, capacity;
    tl_arena *arena; /* for fields and names: lives as long as the trace */
    bool packets;    /* tl_want.packets: include fields of packet contexts, and the class of packets first */
} ctf_class_list;

/* Compiles a schema, and appends its event classes to `classes`. The schema must outlive the plans. Errors:
 * TL_EDAMAGED (a location that leads nowhere, with e->offset in the metadata text and "..." in the message),
 * TL_ENOMEM. */
int ctf_plans_new(ctf_plans **out, const ctf_schema *s, ctf_class_list *classes, tl_error *e);
void ctf_plans_free(ctf_plans *p);

/* Values that later fields refer to, one set per reading thread. */
typedef struct ctf_registers ctf_registers;

/* Result of parsing a packet header. */
typedef enum ctf_header_status {
    CTF_HEADER_OK,
    CTF_HEADER_MORE,   /* `n` bytes are not enough: try again with more, unless there are none */
    CTF_HEADER_MAGIC,  /* the magic number is wrong */
    CTF_HEADER_UUID,   /* the uuid is not that of the trace */
    CTF_HEADER_STREAM, /* no stream class has this id (in *bad) */
    CTF_HEADER_SIZES,  /* content_size or packet_size is impossible: smaller than the header, content > packet, or not
                          whole bytes */
    CTF_HEADER_FIELD,  /* a field cannot be decoded: a bad selector, a change of byte order inside a byte */
} ctf_header_status;

/* Reads the header and context of a packet (1.8 and 2) that begins at `data`, with n bytes available. Fills *p
 * except offset, number and truncated; size and content are the packet's claims, UINT64_MAX if missing. *bad_bit: bit
 * offset of the wrong field (packet-relative); what: a message for the user. */
ctf_header_status ctf_packet_header(const ctf_plans *p, const uint8_t *data, size_t n, ctf_packet *packet,
                                    uint64_t *bad_bit, char what[160]);

#endif
