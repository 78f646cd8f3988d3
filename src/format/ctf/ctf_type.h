/* Types of fields: one tree for all three metadata languages.
 *
 * It follows the model of CTF 2: a field's role, not its name, is its meaning; an enumeration is an integer with
 * mappings. A tree is immutable once its front end has built it, lives in the arena of its schema, and may share
 * subtrees. Sizes and alignments are in bits; every alignment is a power of two from 1 to CTF_ALIGN_MAX. */
#ifndef TL_FORMAT_CTF_TYPE_H
#define TL_FORMAT_CTF_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "traceloom/model.h"

#define CTF_ALIGN_MAX 524288u /* bits: 64 KiB, far above every page size; windows into packets begin there */
#define CTF_DEPTH_MAX 64u     /* nesting of types: each level costs stack while metadata and plans are made */

typedef enum ctf_kind {
    CTF_INT,      /* `bits` 1..64; with mappings: an enumeration */
    CTF_BOOL,     /* the same, 0 is false */
    CTF_BITMAP,   /* the same, mappings are of bit numbers (0: least significant) */
    CTF_VARINT,   /* LEB128, at most 64 bits of value */
    CTF_FLOAT,    /* IEEE 754, `bits` 32 or 64 */
    CTF_STRING,   /* ends with a NUL code unit of its encoding */
    CTF_TEXT,     /* `length` bytes of text, ended early by a NUL code unit */
    CTF_BLOB,     /* `length` bytes */
    CTF_STRUCT,   /* members in order */
    CTF_ARRAY,    /* `length` times member[0].type; aligned like its element even if empty */
    CTF_VARIANT,  /* one of the members: the first whose ranges contain the selector */
    CTF_OPTIONAL, /* member[0].type, present if its ranges contain the selector */
} ctf_kind;

typedef enum ctf_order {
    CTF_LE,
    CTF_BE,
    CTF_NATIVE /* as in the packet's magic number; only in the dialect of 2010 */
} ctf_order;

typedef enum ctf_encoding { CTF_NO_TEXT, CTF_UTF8, CTF_UTF16LE, CTF_UTF16BE, CTF_UTF32LE, CTF_UTF32BE } ctf_encoding;

/* The purpose of a field. A type may have several. */
enum ctf_role {
    CTF_ROLE_MAGIC = 1u << 0,
    CTF_ROLE_UUID = 1u << 1,          /* a blob of 16 bytes */
    CTF_ROLE_STREAM_CLASS = 1u << 2,  /* id of the stream class */
    CTF_ROLE_STREAM = 1u << 3,        /* id of the stream */
    CTF_ROLE_PACKET_SIZE = 1u << 4,   /* bits, including header and padding */
    CTF_ROLE_CONTENT_SIZE = 1u << 5,  /* bits, including the header but not padding */
    CTF_ROLE_SEQUENCE = 1u << 6,      /* number of the packet */
    CTF_ROLE_DISCARDED = 1u << 7,     /* snapshot of the counter of discarded events */
    CTF_ROLE_TIMESTAMP = 1u << 8,     /* of the default clock, which it updates */
    CTF_ROLE_PACKET_END = 1u << 9,    /* time of the packet's end */
    CTF_ROLE_EVENT_CLASS = 1u << 10,  /* id of the event class */
    CTF_ROLE_CPU = 1u << 11,          /* processor (a field named cpu_id in a packet context) */
    CTF_ROLE_PAYLOAD_SIZE = 1u << 12, /* bytes of the payload with the padding before it; only 2010 */
};
/* Roles only count where they belong: the first four in packet headers, the next six in packet contexts, the event
 * class and the timestamp in event headers (a timestamp in a packet context is the packet's begin). */

/* The root from which an earlier field, a length or selector, is found. */
typedef enum ctf_origin {
    CTF_FROM_PACKET_HEADER,
    CTF_FROM_PACKET_CONTEXT,
    CTF_FROM_EVENT_HEADER,
    CTF_FROM_STREAM_CONTEXT, /* context of all events of the stream */
    CTF_FROM_EVENT_CONTEXT,
    CTF_FROM_PAYLOAD,
    CTF_FROM_HERE,  /* the struct that immediately contains the field */
    CTF_FROM_SCOPES /* TSDL: the innermost enclosing struct that has the first name before the field; then the roots of
                       earlier scopes, the nearest first */
} ctf_origin;

typedef struct ctf_location {
    ctf_origin origin;
    uint32_t n;
    const char *const *path; /* member names; NULL: up to the parent struct (only CTF_FROM_HERE) */
    uint64_t position;       /* in the metadata text, for messages */
} ctf_location;

typedef struct ctf_range {
    uint64_t low, high; /* int64_t stored as uint64_t where the selector is signed */
} ctf_range;

typedef struct ctf_type ctf_type;

typedef struct ctf_member {
    const char *name; /* for output; NULL: an option without a name */
    const char *raw;  /* as in the metadata; TSDL drops one leading '_' for `name` */
    const ctf_type *type;
    const ctf_range *range; /* for an option, or the content of an optional; none: the selector is a boolean */
    uint32_t nrange;
} ctf_member;

struct ctf_type {
    uint8_t kind;  /* ctf_kind */
    uint8_t order; /* ctf_order: of bytes */
    bool reversed; /* bits are not in the natural order of `order` (least significant first for CTF_LE): the field is in
                      the usual place with its bits reversed */
    bool is_signed;
    uint8_t base;     /* 2, 8, 10, 16: preferred for display; 0: 10 */
    uint8_t encoding; /* ctf_encoding: of text; CTF_UTF8 for an 8-bit integer that is a character */
    bool dynamic;     /* text, blob, array: the length is at `location`, or is `inline_length` */
    uint32_t bits;    /* numbers: 1..64 */
    uint32_t align;   /* own alignment; for a struct at least the largest of its members */
    uint32_t unit;    /* gcc bit-field: starts at the next multiple of this if it would cross one; 0: none */
    uint32_t roles;   /* ctf_role, or-ed */
    uint64_t length;  /* not dynamic: of text and blobs in bytes, of arrays in elements */
    const ctf_location *location;  /* of the length or the selector */
    const ctf_type *inline_length; /* 2010: an integer before the elements; or NULL */
    const ctf_member *member;
    uint32_t nmember;
    const tl_mapping *mapping; /* labels; live as long as the trace */
    uint32_t nmapping;
    uint64_t position; /* in the metadata text, for messages */
};

#endif
