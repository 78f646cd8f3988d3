/* Event classes of the model from those of a schema. */
#ifndef TL_FORMAT_CTF_FIELDS_H
#define TL_FORMAT_CTF_FIELDS_H

#include "format/ctf/plan/ctf_plan.h"

/* First fields of TL_FORMAT events "packet", in this order. */
enum ctf_packet_field {
    CTF_PACKET_BEGIN,
    CTF_PACKET_END,
    CTF_PACKET_DISCARDED,
    CTF_PACKET_SEQUENCE,
    CTF_PACKET_FIELDS
};

/* The class of those events. tl_value.n of the two counters is their number of bits. */
extern const tl_class ctf_packet_class;

/* Builds the tl_class of an event class, and its key field, if any: *key is that member of the payload, or NULL.
 * Memory: l->arena. */
int ctf_fields_class(const ctf_class_list *l, const ctf_stream_class *sc, const ctf_event_class *ec, tl_class *out,
                     const ctf_member **key, tl_error *e);
/* A length or selector that our own writer made up: hidden, so that reading gives what was written. */
bool ctf_fields_made(const ctf_member *m);
#define CTF_WRAPPED "wrapped"
/* An optional field, or a variant of an empty struct and the field (1.8), that our writer made from a nullable one:
 * shown as null if absent. */
bool ctf_fields_nullable(const ctf_type *t);
/* A struct that it made up around a single field, to have room for these: only that field (the last) is shown. */
bool ctf_fields_wraps(const ctf_type *t);
/* Whether a member of a packet context is a field of events (and not about the packet itself). */
bool ctf_fields_shown(const ctf_member *m);

#endif
