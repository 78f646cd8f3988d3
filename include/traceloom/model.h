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
    TL_HEX,    /* u64 that people read in hexadecimal: address, opcode, register */
    TL_STRING, /* n bytes at p, text, not NUL-terminated */
    TL_BYTES,  /* n bytes at p */
    TL_LIST,   /* followed by n values (nested ones own their slots) */
    TL_STRUCT  /* like TL_LIST; the field says the member names */
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

typedef struct tl_field {
    const char *name;
    tl_type type;
    const struct tl_field *member; /* members of a TL_STRUCT, or NULL */
    uint32_t nmember;
} tl_field;

/* A class of events. Fields stand on the tape in this order, one value each. */
typedef struct tl_class {
    uint32_t id; /* index in the trace's class list */
    tl_kind kind;
    tl_key key;
    const char *name; /* "xray.enter" */
    const tl_field *field;
    uint32_t nfield;
    const void *format_data; /* the format's own; others do not look at it */
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
    tl_value *v;                  /* the tape; strings and bytes borrow from `arena`, until the next batch */
    uint32_t capacity;            /* most events that it can hold, at most TL_BATCH_MAX */
    uint32_t val_capacity;
    struct tl_arena *arena;
} tl_batch;

/* What the caller is going to look at; readers skip the rest. */
typedef struct tl_want {
    bool fields;      /* tape values */
    bool cpu;         /* the cpu column */
    bool strict;      /* fail at the first damage instead of salvaging */
    unsigned threads; /* threads the reader may use while opening; 0 means 1 */
} tl_want;

/* A sequence of events in the order of a thread, a processor, ... */
typedef struct tl_track {
    const char *name; /* "thread 4711" */
    int64_t pid, tid;
    bool has_pid, has_tid;
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

/* A damaged place of the input, or (as a note) one that limits the answer without being a fault. */
typedef struct tl_damage {
    uint64_t offset;  /* byte offset after decompression */
    uint64_t bytes;   /* how many bytes were given up */
    const char *rule; /* "fdr.unknown-kind"; static storage */
    const char *what; /* what was found and what was expected; owned by the trace */
} tl_damage;

#ifdef __cplusplus
}
#endif
#endif
