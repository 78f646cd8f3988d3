/* The event model: what every format is read into and written from.
 *
 * Events come in batches of columns. What an event means is said once by its class; fields beyond the core columns are
 * slots on the batch's value tape. Nothing is allocated per event. */
#ifndef TRACELOOM_MODEL_H
#define TRACELOOM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tl_trace;
struct tl_arena;

/* What kind of thing an event is; analyses find their data by this, never by a format's name. */
typedef enum tl_kind {
    TL_ENTER,   /* a function begins; key: function id */
    TL_EXIT,    /* a function ends; key: function id */
    TL_INSTANT, /* something happened */
    TL_COUNTER, /* a quantity has a new value */
    TL_SAMPLE,  /* a stack was sampled */
    TL_INSN,    /* an instruction was executed; key: pc */
    TL_MEM,     /* memory was accessed; key: address */
    TL_REGS,    /* registers were dumped */
    TL_STATE,   /* other machine state */
    TL_LOSS,    /* the trace itself lost something here */
    TL_FORMAT   /* only an exact round trip needs it; not counted as an event, skipped by general sinks */
} tl_kind;

/* What tl_batch.key means in a class. */
typedef enum tl_key { TL_KEY_NONE, TL_KEY_FUNCTION, TL_KEY_PC, TL_KEY_ADDRESS, TL_KEY_STACK } tl_key;

typedef enum tl_type {
    TL_NULL,
    TL_BOOL,
    TL_U64,
    TL_I64,
    TL_F64,
    TL_HEX,     /* u64 that people read in hexadecimal: address, opcode, register */
    TL_STRING,  /* n bytes at p, text, not NUL-terminated */
    TL_BYTES,   /* n bytes at p */
    TL_LIST,    /* followed by n values (nested ones own their slots) */
    TL_STRUCT,  /* like TL_LIST; the field says the member names */
    TL_VARIANT, /* followed by one value (n is 1), of the field's member number `variant` */
    TL_ABSENT   /* an optional member of a struct or class that is not there */
} tl_type;

/* A value: one 16-byte slot of the tape. */
typedef struct tl_value {
    uint8_t type; /* tl_type */
    uint8_t flags;
    uint16_t variant;
    uint32_t n; /* bytes of a string, elements of a list */
    union {
        uint64_t u;
        int64_t i;
        double f;
        const void *p;
    } as;
} tl_value;

/* A label for the values low .. high of an integer; both are int64_t stored as uint64_t where the field is TL_I64. */
typedef struct tl_mapping {
    const char *label;
    uint64_t low, high;
} tl_mapping;

/* Which part of an event a field stands in. Fields of a class are in this order; contexts come before the payload. */
typedef enum tl_scope {
    TL_SCOPE_PACKET, /* said once for many events; only on the tape with tl_want.packets */
    TL_SCOPE_STREAM, /* context that all classes of a stream have */
    TL_SCOPE_EVENT,  /* context of this class */
    TL_SCOPE_PAYLOAD
} tl_scope;

enum tl_field_flags {
    TL_FIELD_OPTIONAL = 1, /* may be TL_ABSENT */
    TL_FIELD_FIXED = 2,    /* a list, string or bytes that always has `length` elements (bytes of room) */
    TL_FIELD_FLAGS = 4,    /* mappings are of bit numbers, not of values */
    TL_FIELD_CLASH = 8     /* both contexts have a field of this name: shown as stream.NAME and event.NAME */
};

/* A member of a class, struct, list (member[0] describes every element) or variant (a member for each option). */
typedef struct tl_field {
    const char *name;
    tl_type type;
    const struct tl_field *member; /* or NULL */
    uint32_t nmember;
    /* What else writers may want to know; all zero is fine. */
    uint8_t bits;      /* width of a number on disk; 0: 64 */
    uint8_t base;      /* 2, 8, 10, 16: how people like to read it; 0: 10 */
    uint8_t context;   /* TL_SCOPE_PAYLOAD - its tl_scope, so that 0 is payload; see tl_field_scope() */
    uint8_t flags;     /* tl_field_flags */
    uint32_t length;   /* see TL_FIELD_FIXED */
    uint32_t governor; /* 1 + index of the sibling that holds the length of this list or string, or chooses the option
                          or the presence; 0: there is none */
    const tl_mapping *mapping; /* labels of an integer; of an option of a variant, and of an optional member: the values
                                  of the governor that choose it */
    uint32_t nmapping;
} tl_field;

static inline tl_scope tl_field_scope(const tl_field *f)
{
    return (tl_scope)(TL_SCOPE_PAYLOAD - f->context);
}

enum tl_class_flags {
    TL_CLASS_KEY_IS_FIELD = 1, /* the key is the value of one of the fields, too: writers of fields do not repeat it */
    TL_CLASS_TIMELESS = 2      /* its events have no time: tl_batch.ts only keeps them in order */
};

/* A class of events. Fields stand on the tape in this order, one value each. */
typedef struct tl_class {
    uint32_t id; /* index in the trace's class list */
    tl_kind kind;
    tl_key key;
    bool by_address;  /* the key is the address of a function in memory, where no list of functions says more */
    const char *name; /* "xray.enter" */
    const tl_field *field;
    uint32_t nfield;
    uint32_t ncontext;       /* how many of the first fields are no payload, see tl_scope */
    const char *level;       /* how important ("TRACE_DEBUG"), or NULL */
    int32_t level_value;     /* the number of `level` */
    const void *format_data; /* the format's own; others do not look at it */
    uint8_t flags;           /* tl_class_flags */
    uint8_t scopes; /* 1 << tl_scope of each part that its events have, even one without fields; 0: those with */
} tl_class;

/* Most events in one batch. Core columns of one batch then fit a 32 KiB first-level cache. */
#define TL_BATCH_MAX 1024u

/* A batch of events of one stream. Belongs to the cursor that filled it; valid until the next tl_cursor_next(). */
typedef struct tl_batch {
    const struct tl_trace *trace; /* resolves every id below */
    uint32_t n;                   /* events */
    uint32_t nval;                /* slots used on the tape */
    uint64_t *ts;                 /* ticks of the trace's clock */
    uint64_t *key;                /* main operand, see tl_class.key; function ids are int64_t stored as uint64_t */
    uint32_t *cls;                /* tl_class.id */
    uint32_t *track;              /* tl_track index */
    int32_t *cpu;                 /* -1: not known. Only filled if tl_want.cpu */
    uint32_t *val;                /* event i owns slots val[i] .. val[i+1]-1. Only filled if tl_want.fields */
    tl_value *v;                  /* the tape; strings and bytes borrow from `arena`, and from nothing else */
    uint32_t capacity;            /* most events that it can hold, at most TL_BATCH_MAX */
    uint32_t val_capacity;
    struct tl_arena *arena;
} tl_batch;

/* Events from .. to-1 of a batch, at least one. */
typedef struct tl_run {
    const tl_batch *batch;
    uint32_t from, to;
} tl_run;

/* What the caller is going to look at; readers skip the rest. */
typedef struct tl_want {
    bool fields;      /* tape values */
    bool cpu;         /* the cpu column */
    bool packets;     /* with fields: those of TL_SCOPE_PACKET, too, and TL_FORMAT events where packets begin */
    bool strict;      /* fail at the first damage instead of salvaging */
    unsigned threads; /* that may be used to open, and to decode ahead while merging; 0 means 1 */
} tl_want;

struct tl_property;

/* A sequence of events in the order of a thread, a processor, ... */
typedef struct tl_track {
    const char *name; /* "thread 4711" */
    int64_t pid, tid;
    bool has_pid, has_tid;
    bool has_range;
    uint64_t begin, end;                /* ticks, if has_range: the time that the track covers, even without events */
    const struct tl_property *property; /* of a trace that is several in one: what the part that the track belongs to
                                           says about itself; NULL: what the trace says */
    uint32_t nproperty;
} tl_track;

/* Ticks to time. hz 0: the frequency is not known, and the unit stays ticks. */
typedef struct tl_clock {
    const char *name;
    uint64_t hz;
    int64_t utc_offset_ns; /* UTC of tick 0 in ns since 1970, if has_utc */
    bool has_utc;
} tl_clock;

/* A function of the traced program. All strings live as long as the trace or profile; NULL where unknown. */
typedef struct tl_function {
    int64_t id;       /* the format's own number */
    uint64_t address; /* in the binary's own address space; 0 unknown */
    const char *name; /* demangled unless the caller asked otherwise */
    const char *linkage_name;
    const char *file;
    const char *module; /* build-id of the binary in hex, or NULL */
    uint32_t line;      /* 0 unknown */
} tl_function;

/* What kinds of damage an entry is: a fault of the input, bytes that were given up, or neither (a note: no fault, but
 * it limits the answer). */
enum tl_damage_kinds { TL_DAMAGE_NOTE = 0, TL_DAMAGE_FAULT = 1, TL_DAMAGE_LOSS = 2 };

/* A damaged place of the input. Offsets are in bytes, after decompression. */
typedef struct tl_damage {
    uint64_t offset;  /* where the bytes that were given up begin */
    uint64_t bytes;   /* how many bytes were given up */
    uint64_t at;      /* where the fault is */
    unsigned kind;    /* tl_damage_kinds, or-ed */
    const char *rule; /* "fdr.unknown-kind"; static storage */
    const char *what; /* what was found and what was expected; owned by the trace */
    const char *file; /* of a trace that is a folder: which of its files; else NULL */
} tl_damage;

/* Something the trace says about itself: the host, the tracer. */
typedef struct tl_property {
    const char *name;
    const char *text; /* or NULL: `number` */
    int64_t number;
} tl_property;

#ifdef __cplusplus
}
#endif
#endif
