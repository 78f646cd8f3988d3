/* The event model: what every format is read into and written from.
 *
 * Events come in batches of columns. An event's class says what it means; fields beyond the core columns are slots on
 * the batch's value tape. Nothing is allocated per event.
 * Thread rule: all of these are plain data, which any thread may read as long as it is borrowed. */
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

/* The kind of an event: analyses find their data by it, never by a format's name. */
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
    TL_FORMAT,  /* only an exact round trip needs it; not counted as an event, skipped by general sinks */
    TL_BEGIN,   /* something that takes time begins (a collection, a compilation); tl_class.pair is the class of its end
                 */
    TL_END      /* it ends */
} tl_kind;

/* What tl_batch.key means in a class. */
typedef enum tl_key {
    TL_KEY_NONE,
    TL_KEY_FUNCTION,
    TL_KEY_PC,
    TL_KEY_ADDRESS,
    TL_KEY_STACK,
    TL_KEY_WEIGHT, /* ticks that a sample stands for, see tl_weight_ticks(), or-ed with TL_WEIGHT_...; 0: it does not
                      count */
    TL_KEY_SINCE,  /* the tick at which the measured interval began, or TL_SINCE_UNKNOWN */
    TL_KEY_PAIR,   /* TL_BEGIN and TL_END: an end closes the latest open begin of its pair with the same key */
    TL_KEY_VALUE   /* the event's only value */
} tl_key;

#define TL_SINCE_UNKNOWN UINT64_MAX

/* Flags in a key of TL_KEY_WEIGHT. PAUSED: written while recording was paused, about the time before. CALLS: not a
 * sample: every change of the stack is known. At this event the frames after the first TL_FIELD_KEPT were left, and the
 * others entered. */
#define TL_WEIGHT_PAUSED (UINT64_C(1) << 63)
#define TL_WEIGHT_CALLS  (UINT64_C(1) << 62)

static inline uint64_t tl_weight_ticks(uint64_t key)
{
    return key & ~(TL_WEIGHT_PAUSED | TL_WEIGHT_CALLS);
}

/* What tl_batch.aux means in a class: a second operand, for events that are too many for the tape. */
typedef enum tl_aux {
    TL_AUX_NONE, /* 0 */
    TL_AUX_INSN, /* TL_INSN: the opcode; tl_insn_level() and tl_insn_has_pc() read the other bits */
    TL_AUX_SIZE  /* TL_MEM: bytes that were accessed */
} tl_aux;

#define TL_INSN_NO_PC (UINT64_C(1) << 34) /* in aux of TL_AUX_INSN: the pc is unknown, and the key is 0 */

static inline uint32_t tl_insn_opcode(uint64_t aux)
{
    return (uint32_t)aux;
}

/* The privilege at which the instruction ran: 0 for programs, 1 and above for the system. */
static inline unsigned tl_insn_level(uint64_t aux)
{
    return (unsigned)(aux >> 32) & 3;
}

static inline bool tl_insn_has_pc(uint64_t aux)
{
    return !(aux & TL_INSN_NO_PC);
}

/* What the events of a class are about, for analyses of managed runtimes, of instructions and of threads. These look
 * for members by their tl_field.role, given here in capitals. */
typedef enum tl_role {
    TL_ROLE_NONE,
    TL_ROLE_ALLOCATION,    /* objects were allocated, at the stack of the track's last sample: a list of items (TYPE,
                              COUNT, BYTES, IP) */
    TL_ROLE_COLLECTION,    /* TL_BEGIN (REASON, GENERATIONS) and TL_END of a garbage collection */
    TL_ROLE_COMPILATION,   /* TL_BEGIN (CODE_ID) and TL_END (CODE_ID, STATUS) of the compilation of a function */
    TL_ROLE_CODE_SEARCH,   /* the same for a search for precompiled code; no STATUS */
    TL_ROLE_CODE,          /* a function got code: CODE_ID, FUNCTION, MODULE, a list of pieces (SIZE) */
    TL_ROLE_FUNCTION_NAME, /* FUNCTION, NAME */
    TL_ROLE_TYPE_NAME,     /* TYPE, NAME */
    TL_ROLE_LIVE_OBJECTS,  /* the contents of the heap: a list of items (TYPE, COUNT, BYTES) */
    TL_ROLE_HEAP_SIZES,    /* a list of generations (NAME, BYTES: used, RESERVED) */
    TL_ROLE_CPU, /* processor time used since the tick `key`: USED, in us; a negative value (the clock went back) counts
                    as 0 */
    TL_ROLE_PAUSED,        /* recording was suspended ... */
    TL_ROLE_RESUMED,       /* ... until here */
    TL_ROLE_A64,           /* TL_INSN: the opcode is one of A64 */
    TL_ROLE_LOAD,          /* TL_MEM of the instruction before it (VALUE: the bytes) */
    TL_ROLE_STORE,         /* the same */
    TL_ROLE_STORED,        /* result of an exclusive store; key 0: it stored */
    TL_ROLE_SYSTEM_VALUE,  /* key: the old or new value of a system register */
    TL_ROLE_CALL_ARGUMENT, /* key: an argument of a system call; the first of several is the call's number */
    TL_ROLE_CALL_RESULT,   /* key: the system call's result */
    TL_ROLE_CALL_BUFFERS,  /* of a system call: a list of items (BASE, BYTES) */
    TL_ROLE_CACHE_ADDRESS, /* key: the address of a cache maintenance instruction */
    TL_ROLE_TARGET,        /* key: the target of the branch before it */
    TL_ROLE_ORDER,         /* key: when this happened, counted over all tracks */
    TL_ROLE_FLAGS,         /* key: the condition flags after the instruction */
    TL_ROLE_GENERAL,       /* all general registers (GENERAL) */
    TL_ROLE_SNAPSHOT,      /* TL_REGS: all registers (GENERAL, FLAGS and others by name) before instruction number ts */
    TL_ROLE_DOMAIN,        /* an application domain was created: DOMAIN, NAME, STATUS */
    TL_ROLE_ASSEMBLY,      /* an assembly was loaded: ASSEMBLY, DOMAIN, NAME, STATUS */
    TL_ROLE_MODULE,        /* a module was loaded: MODULE, ASSEMBLY, NAME, STATUS ... */
    TL_ROLE_MODULE_OWNER,  /* ... and became part of an assembly: MODULE, ASSEMBLY */
    TL_ROLE_TYPE,          /* a type was loaded: TYPE_ID, TYPE, MODULE, STATUS */
    TL_ROLE_SWITCH, /* a processor left a thread for another: THREAD, NAME and STATE of the first, NEXT, NEXT_NAME */
    TL_ROLE_WAKE    /* a blocked thread can run: THREAD, NAME */
} tl_role;

/* What a field is, for analyses; see tl_role. */
typedef enum tl_field_role {
    TL_FIELD_PLAIN,
    TL_FIELD_COUNT, /* of a sample: how many */
    TL_FIELD_BYTES,
    TL_FIELD_RESERVED,
    TL_FIELD_TYPE, /* number of a type (class) of objects */
    TL_FIELD_IP,   /* an address in the code */
    TL_FIELD_STACK,
    TL_FIELD_REASON,
    TL_FIELD_GENERATIONS, /* a letter for each, 't' if it is collected */
    TL_FIELD_CODE_ID,     /* the runtime's own id of a function, which may be reused for another */
    TL_FIELD_FUNCTION,    /* number of a function */
    TL_FIELD_MODULE,
    TL_FIELD_STATUS, /* 0x80000000 and above: failed */
    TL_FIELD_SIZE,
    TL_FIELD_NAME,
    TL_FIELD_USED,
    TL_FIELD_ITEMS,   /* the list that tl_role mentions */
    TL_FIELD_VALUE,   /* bytes in memory order */
    TL_FIELD_BASE,    /* an address in memory */
    TL_FIELD_GENERAL, /* a list of the general registers; A64 has 32, the last is the stack pointer */
    TL_FIELD_FLAGS_REGISTER,
    TL_FIELD_VECTORS, /* a list of the vector registers: bytes, the lowest first */
    TL_FIELD_KEPT,    /* of a sample: how many of the outermost frames are still those of the track's previous sample */
    TL_FIELD_DOMAIN,  /* the runtime's own ids */
    TL_FIELD_ASSEMBLY,
    TL_FIELD_TYPE_ID,
    TL_FIELD_THREAD, /* number of a thread of the system; 0: a processor without work */
    TL_FIELD_STATE,  /* what the thread waits for, as the system's kernel has it; 0 in the lowest eight bits: it could
                        run */
    TL_FIELD_NEXT,   /* number of the thread that follows */
    TL_FIELD_NEXT_NAME
} tl_field_role;

typedef enum tl_type {
    TL_NULL,
    TL_BOOL,
    TL_U64,
    TL_I64,
    TL_F64,
    TL_HEX,     /* u64 to be shown in hexadecimal: address, opcode, register */
    TL_STRING,  /* n bytes at p, text, not NUL-terminated */
    TL_BYTES,   /* n bytes at p */
    TL_LIST,    /* followed by n values (nested ones own their slots) */
    TL_STRUCT,  /* like TL_LIST; the field says the member names */
    TL_VARIANT, /* followed by one value (n is 1), of the field's member number `variant` */
    TL_ABSENT,  /* an optional member of a struct or class that is not there */
    TL_STACK /* a stack of calls: p is its innermost tl_frame (NULL: empty), n the number of frames. The field's three
                members name a frame's function, its number and its ip */
} tl_type;

/* A frame of a stack. Frames share their callers, and are valid as long as their batch. */
typedef struct tl_frame {
    const struct tl_frame *caller; /* NULL: the outermost */
    uint64_t function;             /* its number, if TL_FRAME_FUNCTION */
    uint64_t ip;                   /* address in it, if TL_FRAME_IP; in a caller, that of the call */
    const char *name;              /* of the function, or NULL; NUL-terminated, UTF-8 */
    uint32_t depth;                /* 1 is the outermost */
    uint32_t flags;                /* tl_frame_flags */
    uint32_t memo;                 /* 0; for the library's own use */
    uint32_t lasts;                /* 0; for the library: the frame outlives its batch */
} tl_frame;

enum tl_frame_flags {
    TL_FRAME_FUNCTION = 1,
    TL_FRAME_IP = 2,
    TL_FRAME_LINE = 4, /* ip is a line number */
    TL_FRAME_CALL = 8  /* it was entered at an event of TL_WEIGHT_CALLS */
};

/* A value: one 16-byte slot of the tape. */
typedef struct tl_value {
    uint8_t type;  /* tl_type */
    uint8_t flags; /* of TL_HEX: digits it was written with; 0: unspecified */
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

/* The part of an event that a field belongs to. Fields of a class are in this order; contexts come before the
 * payload. */
typedef enum tl_scope {
    TL_SCOPE_PACKET, /* shared by many events; only on the tape with tl_want.packets */
    TL_SCOPE_STREAM, /* context that all classes of a stream have */
    TL_SCOPE_EVENT,  /* context of this class */
    TL_SCOPE_PAYLOAD
} tl_scope;

enum tl_field_flags {
    TL_FIELD_OPTIONAL = 1,  /* may be TL_ABSENT */
    TL_FIELD_FIXED = 2,     /* a list, string or bytes that always has `length` elements (bytes of room) */
    TL_FIELD_FLAGS = 4,     /* mappings are for bit numbers, not values */
    TL_FIELD_CLASH = 8,     /* both contexts have a field of this name: shown as stream.NAME and event.NAME */
    TL_FIELD_NULLABLE = 16, /* may be TL_NULL: present, but unknown */
    TL_FIELD_CLOCK = 32     /* the clock value that the event's time was taken from: some outputs hide it */
};

/* A member of a class, struct, list (member[0] describes every element) or variant (a member for each option). */
typedef struct tl_field {
    const char *name;
    tl_type type;
    const struct tl_field *member; /* or NULL */
    uint32_t nmember;
    /* What else writers may need; all zero is fine. */
    uint8_t bits;      /* width of a number on disk; 0: 64 */
    uint8_t base;      /* 2, 8, 10, 16: the base to show it in; 0: 10 */
    uint8_t context;   /* TL_SCOPE_PAYLOAD - its tl_scope, so that 0 is payload; see tl_field_scope() */
    uint8_t flags;     /* tl_field_flags */
    uint8_t role;      /* tl_field_role */
    uint32_t length;   /* see TL_FIELD_FIXED */
    uint32_t governor; /* 1 + index of the sibling that holds the length of this list or string, or chooses the option
                          or the presence; 0: none */
    const tl_mapping *mapping; /* labels of an integer; for an option of a variant, or an optional member: the values of
                                  the governor that choose it */
    uint32_t nmapping;
} tl_field;

static inline tl_scope tl_field_scope(const tl_field *f)
{
    return (tl_scope)(TL_SCOPE_PAYLOAD - f->context);
}

enum tl_class_flags {
    TL_CLASS_KEY_IS_FIELD = 1, /* one of the fields has the key's value too: writers of fields do not repeat it */
    TL_CLASS_TIMELESS = 2      /* its events have no time: tl_batch.ts only keeps them in order */
};

/* A class of events. Its fields are on the tape in this order, one value each. */
typedef struct tl_class {
    uint32_t id; /* index in the trace's class list */
    tl_kind kind;
    tl_key key;
    bool by_address;  /* the key is the address of a function in memory, unless the list of functions says more */
    const char *name; /* "xray.enter" */
    const tl_field *field;
    uint32_t nfield;
    uint32_t ncontext;       /* how many of the first fields are not payload, see tl_scope */
    const char *level;       /* severity ("TRACE_DEBUG"), or NULL */
    int32_t level_value;     /* the number of `level` */
    const void *format_data; /* private to the format */
    const char *title;       /* for people, of TL_BEGIN and counters: "GC"; NULL: the name */
    uint32_t pair;           /* of TL_BEGIN and TL_END: id of the other class */
    tl_role role;
    tl_aux aux;
    uint8_t flags;  /* tl_class_flags */
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
    uint64_t *aux;                /* second operand, see tl_class.aux; NULL if no class of the trace has one */
    uint64_t *rank;               /* what streams are merged by in place of ts, or NULL; see tl_trace_is_ranked() */
    uint32_t *cls;                /* tl_class.id */
    uint32_t *track;              /* tl_track index */
    int32_t *cpu;                 /* -1: unknown. Only filled if tl_want.cpu */
    uint32_t *val;                /* event i owns slots val[i] .. val[i+1]-1. Only filled if tl_want.fields */
    tl_value *v;                  /* the tape; its strings and bytes are all in `arena` */
    uint32_t capacity;            /* events that it can hold, at most TL_BATCH_MAX */
    uint32_t val_capacity;
    struct tl_arena *arena;
    uint32_t stream; /* of the source */
    uint64_t first;  /* event i has number first + i in its stream, from 0; with tl_cursor_limit(), of those returned */
} tl_batch;

/* Events from .. to-1 of a batch, at least one. */
typedef struct tl_run {
    const tl_batch *batch;
    uint32_t from, to;
} tl_run;

/* What the caller will look at; readers skip the rest. */
typedef struct tl_want {
    bool fields;  /* tape values */
    bool cpu;     /* the cpu column */
    bool packets; /* with fields: also those of TL_SCOPE_PACKET, and TL_FORMAT events where packets begin */
    bool late;   /* what the trace says about itself (tracks, functions, version, start) may become known only while its
                    events are read, and is complete after the last: saves some formats a pass over the input. For callers
                    that read fields, with one cursor, and accept tracks that are added */
    bool strict; /* fail at the first damage instead of salvaging */
    bool resync; /* go on after damage even if that means guessing where an event begins */
    bool companions;  /* one file of several was named: read the others too */
    bool calls;       /* with fields: replace samples that are calls (TL_WEIGHT_CALLS) by entries and exits */
    unsigned threads; /* threads to open with, and to decode ahead with while merging; 0 means 1 */
} tl_want;

struct tl_property;

/* A sequence of events in the order of a thread, a processor, ... */
typedef struct tl_track {
    const char *name; /* "thread 4711" */
    int64_t pid, tid;
    bool has_pid, has_tid;
    bool has_range;
    bool is_cpu;         /* a processor, not a thread: tid is its number, even without has_tid */
    uint64_t begin, end; /* ticks, if has_range: the time that the track covers, even where it has no events */
    const struct tl_property
        *property; /* what this part of a joined trace says about itself; NULL: what the trace says */
    uint32_t nproperty;
} tl_track;

/* Ticks to time. hz 0: the frequency is not known, and the unit stays ticks. */
typedef struct tl_clock {
    const char *name;
    uint64_t hz;
    int64_t utc_offset_ns; /* UTC of tick 0 in ns since 1970, if has_utc */
    bool has_utc;
    bool from_zero; /* show times counted from tick 0, not from the first event */
} tl_clock;

/* A function of the traced program. All strings live as long as the trace or profile; NULL where unknown. */
typedef struct tl_function {
    int64_t id;       /* the number that the format gives it */
    uint64_t address; /* in the binary's own address space; 0: unknown */
    const char *name; /* demangled unless the caller asked otherwise */
    const char *linkage_name;
    const char *file;
    const char *module;  /* build-id of the binary in hex, or NULL */
    const char *library; /* the library's file, or NULL */
    uint32_t line;       /* 0 unknown */
    uint32_t flags;      /* tl_function_flags */
    uint32_t offset;     /* into its intermediate code, if TL_FUNCTION_OFFSET: in profiles by line */
    const char *renamed; /* in profiles: its later name, if different from `name`; else NULL */
    uint64_t size;       /* bytes of its code from `address` on; 0: unknown */
} tl_function;

enum tl_function_flags {
    TL_FUNCTION_HEX_ID = 1,  /* the id is shown in hexadecimal: "0x5", not "#5" */
    TL_FUNCTION_UNKNOWN = 2, /* stands for all functions without a known id: shown as "?" */
    TL_FUNCTION_OFFSET = 4   /* `offset` is known */
};

/* Where in the source a frame is. */
typedef struct tl_location {
    const char *file; /* or NULL */
    uint32_t line;    /* 0 unknown */
    bool has_offset;
    uint32_t offset; /* into the function's intermediate code, if has_offset */
} tl_location;

/* An entry is a fault of the input, bytes that were given up, both, or neither (a note: not a fault, but it limits the
 * answer). */
enum tl_damage_kinds { TL_DAMAGE_NOTE = 0, TL_DAMAGE_FAULT = 1, TL_DAMAGE_LOSS = 2 };

/* A damaged place of the input. Offsets are in bytes, after decompression. */
typedef struct tl_damage {
    uint64_t offset;  /* where the bytes that were given up begin */
    uint64_t bytes;   /* how many bytes were given up */
    uint64_t at;      /* where the fault is */
    unsigned kind;    /* tl_damage_kinds, or-ed */
    const char *rule; /* "fdr.unknown-kind"; static storage */
    const char *what; /* what was found and what was expected; owned by the trace */
    const char *file; /* which file, if the trace is a folder; else NULL */
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
