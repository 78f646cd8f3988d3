/* Forms: how values of the tape stand in a file that we write. */
#ifndef TL_FORMAT_CTF_FORM_H
#define TL_FORMAT_CTF_FORM_H

#include "base/arena.h"
#include "base/hash.h"
#include "format/ctf/ctf_schema.h"
#include "model/stack_frames.h"
#include "traceloom/model.h"

typedef enum ctf_form_kind {
    CTF_FORM_INT,      /* little-endian in as many bytes as `bits` need */
    CTF_FORM_FLOAT,    /* 32 or 64 bits */
    CTF_FORM_STRING,   /* ends with a NUL */
    CTF_FORM_TEXT,     /* so many bytes, filled up with NULs */
    CTF_FORM_BLOB,     /* so many bytes */
    CTF_FORM_STRUCT,   /* parts */
    CTF_FORM_LIST,     /* so many times part[0] */
    CTF_FORM_VARIANT,  /* one of the parts */
    CTF_FORM_OPTIONAL, /* part[0] or nothing */
    CTF_FORM_NOTHING   /* no bytes at all, a struct without members: no value is known of this field */
} ctf_form_kind;

/* Where the number of bytes or elements is, or what selects. */
typedef enum ctf_counted {
    CTF_COUNTED_FIXED, /* `length` of all */
    CTF_COUNTED_PART,  /* in `by`, which stands before */
    CTF_COUNTED_INLINE /* directly before; 2010. A variant is a struct of lists of 0 or 1 elements there */
} ctf_counted;

typedef enum ctf_part_source {
    CTF_PART_TAPE,   /* the next value of the tape */
    CTF_PART_PASSED, /* that, too, but it is not written */
    CTF_PART_MADE,   /* a length or selector that the source does not have; written when that is known */
    CTF_PART_KEY     /* tl_batch.key */
} ctf_part_source;

typedef struct ctf_form ctf_form;

typedef struct ctf_part {
    const char *name; /* as it stands in the metadata; unique among its neighbours */
    const ctf_form *form;
    uint8_t source;
    uint8_t scope;             /* tl_scope, of parts of contexts and payloads */
    bool payload_size;         /* 2010: the bytes of the payload, filled in at the end */
    uint32_t place;            /* 1 + where its place in the packet is remembered; 0: nowhere */
    const tl_mapping *chooser; /* of an option of a variant: values of the selector, in order */
    uint32_t nchooser;
} ctf_part;

struct ctf_form {
    uint8_t kind;
    uint8_t counted;
    uint8_t bits, bytes; /* numbers */
    uint8_t base;        /* 2, 8, 10, 16 */
    bool is_signed, is_bool, is_flags;
    bool untyped;    /* elements of a list that says nothing of them: whole numbers are expected */
    bool is_null;    /* what is not there is null, not absent */
    bool wraps;      /* a struct around a single value, for what has to stand before it */
    bool elsewhere;  /* `by` stands in another scope */
    bool loose;      /* a list of elements that need not be aligned, because they may have no bits */
    uint32_t length; /* bytes of texts and blobs, elements of lists, values of structs */
    ctf_part *by;
    ctf_part *part;
    uint32_t npart;
    const tl_mapping *mapping; /* labels of numbers */
    uint32_t nmapping;
};

/* The contexts that some classes have in common: they can stand in one stream class. */
typedef struct ctf_shape {
    const ctf_form *packet, *stream; /* structs */
    const ctf_form *cpu; /* of the processor number that we write ourselves: base and labels are those of the source */
    bool loses_packet;   /* 2010: there is something in the packet context */
    bool has_packet;     /* anything of the packet context is written */
    bool shows_stream;   /* the context is there even if it is empty */
    bool timeless;       /* events have no time */
    uint32_t nfield;     /* fields of both */
    ctf_part **of;       /* [nfield] their parts */
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
    bool timed;       /* 1.8: events without a time get time 0, because others have a time */
    uint64_t labels;  /* sets of labels that the dialect cannot hold */
    uint64_t unknown; /* fields of which no value can be written */
} ctf_forms;

void ctf_forms_fini(ctf_forms *f);
/* The shape of a class, new or not. UINT32_MAX without memory. */
uint32_t ctf_forms_shape(ctf_forms *f, const tl_class *c);
/* The forms of the rest of a class. has_key: its key is written as first member "id" of the payload. The event's own
 * context is part of the payload in 2010, and in 1.8 if it has members of no fixed size: babeltrace2 2.0.4 aborts where
 * a length or selector is needed inside of such a context. False without memory. */
bool ctf_forms_class(ctf_forms *f, const ctf_shape *shape, const tl_class *c, bool has_key, const ctf_form **context,
                     const ctf_form **payload);
/* Adds everything that a field says. */
void ctf_hash_field(tl_hasher *h, const tl_field *f);
/* Letters, digits and '_', and not one of the words of TSDL. */
bool ctf_is_identifier(const char *s);

/* A growing number of bytes. */
typedef struct ctf_room {
    uint8_t *data;
    size_t n, capacity;
} ctf_room;

/* Behind what is written there are always so many bytes more: numbers are stored eight bytes at a time. */
#define CTF_ROOM_SLACK 16u

/* Makes room for n more bytes and the slack. False without memory. */
bool ctf_room_grow(ctf_room *r, size_t n);

/* Bytes of a stack: frames share their names in memory, but not in a file, and readers have a limit. */
#define CTF_WRITE_STACK (32u << 20)

/* Writing values: ctf_write_event.c. */
typedef struct ctf_put {
    ctf_room *room;
    size_t *place;       /* [forms.places] */
    size_t size_at;      /* 2010: of payload_size; 0: there is none */
    const tl_value *end; /* of the values of the event */
    uint64_t key;
    uint8_t tail; /* bits of the last byte that belong to no field */
    bool misfit;  /* the values are not as their class says: the event cannot be written */
    bool large;   /* ... or take more bytes than readers would take */
    bool no_memory;
    tl_stack_frames frames;
    /* What was lost, in values. */
    uint64_t narrow, nulls, others, cuts, unknown;
} ctf_put;

/* Writes the values of a struct; returns the value behind them. */
const tl_value *ctf_put_struct(ctf_put *p, const ctf_form *f, const tl_value *v);
/* Writes a struct of zeros; sets misfit if that would be endless. */
void ctf_put_zeros(ctf_put *p, const ctf_form *f);
/* The value behind one and all that is in it. */
const tl_value *ctf_value_behind(const tl_value *v, const tl_value *end);

#endif
