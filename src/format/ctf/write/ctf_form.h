/* Forms: how values of the tape are written to a file. */
#ifndef TL_FORMAT_CTF_FORM_H
#define TL_FORMAT_CTF_FORM_H

#include "base/arena.h"
#include "base/grow.h"
#include "base/hash.h"
#include "format/ctf/ctf_schema.h"
#include "model/stack_frames.h"
#include "traceloom/model.h"

typedef enum ctf_form_kind {
    CTF_FORM_INT,      /* little-endian in as many bytes as `bits` need */
    CTF_FORM_FLOAT,    /* 32 or 64 bits */
    CTF_FORM_STRING,   /* ends with a NUL */
    CTF_FORM_TEXT,     /* a fixed number of bytes, filled up with NULs */
    CTF_FORM_BLOB,     /* a fixed number of bytes */
    CTF_FORM_STRUCT,   /* parts */
    CTF_FORM_LIST,     /* a number of part[0] */
    CTF_FORM_VARIANT,  /* one of the parts */
    CTF_FORM_OPTIONAL, /* part[0] or nothing */
    CTF_FORM_NOTHING   /* no bytes, a struct without members: no value of this field is known */
} ctf_form_kind;

/* Where the number of bytes or elements, or the selector, is. */
typedef enum ctf_counted {
    CTF_COUNTED_FIXED, /* always `length` */
    CTF_COUNTED_PART,  /* in `by`, which precedes */
    CTF_COUNTED_INLINE /* directly before; 2010. A variant is then a struct of lists of 0 or 1 elements */
} ctf_counted;

typedef enum ctf_part_source {
    CTF_PART_TAPE,   /* the next value of the tape */
    CTF_PART_PASSED, /* the same, but not written */
    CTF_PART_MADE,   /* a length or selector that the source lacks; filled in once known */
    CTF_PART_KEY     /* tl_batch.key */
} ctf_part_source;

typedef struct ctf_form ctf_form;

typedef struct ctf_part {
    const char *name; /* as in the metadata; unique among its neighbours */
    const ctf_form *form;
    uint8_t source;
    uint8_t scope;             /* tl_scope, of parts of contexts and payloads */
    bool payload_size;         /* 2010: the bytes of the payload, filled in at the end */
    uint32_t place;            /* 1 + index of its remembered place in the packet; 0: not remembered */
    const tl_mapping *chooser; /* of an option of a variant: values of the selector, in order */
    uint32_t nchooser;
} ctf_part;

struct ctf_form {
    uint8_t kind;
    uint8_t counted;
    uint8_t bits, bytes; /* numbers */
    uint8_t base;        /* 2, 8, 10, 16 */
    bool is_signed, is_bool, is_flags;
    bool untyped;    /* elements of a list without a description: integers are expected */
    bool is_null;    /* missing values are null, not absent */
    bool wraps;      /* a struct around a single value, for what must precede it */
    bool elsewhere;  /* `by` is in another scope */
    bool loose;      /* a list whose elements need no alignment, because they may have no bits */
    uint32_t length; /* bytes of texts and blobs, elements of lists, values of structs */
    ctf_part *by;
    ctf_part *part;
    uint32_t npart;
    const tl_mapping *mapping; /* labels of numbers */
    uint32_t nmapping;
};

/* Contexts common to several classes: these can share a stream class. */
typedef struct ctf_shape {
    const ctf_form *packet, *stream; /* structs */
    const ctf_form *cpu;             /* for the processor number that we write: has base and labels of the source's */
    bool loses_packet;               /* 2010: the packet context has content */
    bool has_packet;                 /* something of the packet context is written */
    bool shows_stream;               /* the context exists even if empty */
    bool timeless;                   /* events have no time */
    uint32_t nfield;                 /* fields in both */
    ctf_part **of;                   /* [nfield] their parts */
    const tl_class *first;
    uint64_t hash;
    uint32_t nclass;
} ctf_shape;

typedef struct ctf_forms {
    ctf_dialect dialect;
    tl_arena arena;
    ctf_shape *shape;
    uint32_t nshape, capacity;
    tl_hash shapes;   /* hash -> the first shape that has it */
    uint32_t places;  /* used so far */
    bool timed;       /* 1.8: events without a time get time 0, because others have one */
    uint64_t labels;  /* sets of labels that the dialect cannot hold */
    uint64_t unknown; /* fields whose values cannot be written */
} ctf_forms;

void ctf_forms_fini(ctf_forms *f);
/* The shape of a class, made if needed. UINT32_MAX without memory. */
uint32_t ctf_forms_shape(ctf_forms *f, const tl_class *c);
/* The forms of the rest of a class. has_key: its key is written as first member "id" of the payload. The event's own
 * context is part of the payload in 2010, and in 1.8 if it has members of variable size: babeltrace2 2.0.4 aborts on a
 * length or selector inside such a context. False without memory. */
bool ctf_forms_class(ctf_forms *f, const ctf_shape *shape, const tl_class *c, bool has_key, const ctf_form **context,
                     const ctf_form **payload);
/* Hashes everything about a field. */
void ctf_hash_field(tl_hasher *h, const tl_field *f);
/* Letters, digits and '_', and not a word of TSDL. */
bool ctf_is_identifier(const char *s);

/* A growing number of bytes. */
typedef struct ctf_room {
    uint8_t *data;
    size_t n, capacity;
} ctf_room;

/* Bytes that are always available after the content: numbers are stored eight bytes at a time. */
#define CTF_ROOM_SLACK 16u

/* Makes room for n more bytes and the slack. False without memory. */
TL_ALWAYS_INLINE bool ctf_room_grow(ctf_room *r, size_t n)
{
    return n < SIZE_MAX / 2 && TL_GROW(r->data, r->n, n + CTF_ROOM_SLACK, r->capacity);
}

/* Bytes of a stack: frames share their names in memory, but not in a file, and readers have a limit. */
#define CTF_WRITE_STACK (32u << 20)

/* Writing values: ctf_write_event.c. */
typedef struct ctf_put {
    ctf_room *room;
    size_t *place;       /* [forms.places] */
    size_t size_at;      /* 2010: of payload_size; 0: none */
    const tl_value *end; /* of the values of the event */
    uint64_t key;
    uint8_t tail; /* bits of the last byte that belong to no field */
    bool misfit;  /* the values do not match their class: the event cannot be written */
    bool large;   /* ... or take more bytes than readers accept */
    bool no_memory;
    tl_stack_frames frames;
    /* Lost values. */
    uint64_t narrow, nulls, others, cuts, unknown;
} ctf_put;

/* Writes the values of a struct; returns the value after them. */
const tl_value *ctf_put_struct(ctf_put *p, const ctf_form *f, const tl_value *v);
/* Writes a struct of zeros; sets misfit if that would be endless. */
void ctf_put_zeros(ctf_put *p, const ctf_form *f);
/* The value after one and its content. */
const tl_value *ctf_value_behind(const tl_value *v, const tl_value *end);

#endif
