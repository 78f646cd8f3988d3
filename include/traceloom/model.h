/* The event model: what every format is read into and written from.
 *
 * Events come in batches of columns. What an event means is said once by its class; fields beyond the core columns are
 * slots on the batch's value tape. Nothing is allocated per event.
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
    TL_KEY_WEIGHT, /* ticks that one sample stands for, see tl_weight_ticks(), or-ed with TL_WEIGHT_...; 0 ticks: the
                      event does not count */
    TL_KEY_SINCE,  /* the tick at which what the event measures began; TL_SINCE_UNKNOWN: not known */
    TL_KEY_PAIR,   /* TL_BEGIN and TL_END: an end belongs to the latest open begin of its pair with the same key */
    TL_KEY_VALUE   /* the one value that the event tells */
} tl_key;

#define TL_SINCE_UNKNOWN UINT64_MAX

/* In a key of TL_KEY_WEIGHT. PAUSED: written while recording was paused, of what was before. CALLS: no sample, but
 * every change of the stack is known: at this event the frames behind the first TL_FIELD_KEPT were left, and the others
 * entered. */
#define TL_WEIGHT_PAUSED (UINT64_C(1) << 63)
#define TL_WEIGHT_CALLS  (UINT64_C(1) << 62)

static inline uint64_t tl_weight_ticks(uint64_t key)
{
    return key & ~(TL_WEIGHT_PAUSED | TL_WEIGHT_CALLS);
}

/* What tl_batch.aux means in a class: a second operand, for events of which there are too many for the tape. */
typedef enum tl_aux {
    TL_AUX_NONE, /* 0 */
    TL_AUX_INSN, /* TL_INSN: the opcode, and what tl_insn_level() and tl_insn_has_pc() take from it */
    TL_AUX_SIZE  /* TL_MEM: bytes that were accessed */
} tl_aux;

#define TL_INSN_NO_PC (UINT64_C(1) << 34) /* in aux of TL_AUX_INSN: the pc is not known, and the key is 0 */

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

/* What the events of a class are about, for analyses of managed runtimes and of instructions. The members that they
 * look for have a tl_field.role; the words in brackets are these. */
typedef enum tl_role {
    TL_ROLE_NONE,
    TL_ROLE_ALLOCATION,    /* objects were allocated, where the last sample of the track says: a list of items (TYPE,
                              COUNT, BYTES, IP) */
    TL_ROLE_COLLECTION,    /* TL_BEGIN (REASON, GENERATIONS) and TL_END of a garbage collection */
    TL_ROLE_COMPILATION,   /* TL_BEGIN (CODE_ID) and TL_END (CODE_ID, STATUS) of the compilation of a function */
    TL_ROLE_CODE_SEARCH,   /* the same of a search for code that was compiled before; no STATUS */
    TL_ROLE_CODE,          /* a function got code: CODE_ID, FUNCTION, MODULE, a list of pieces (SIZE) */
    TL_ROLE_FUNCTION_NAME, /* FUNCTION, NAME */
    TL_ROLE_TYPE_NAME,     /* TYPE, NAME */
    TL_ROLE_LIVE_OBJECTS,  /* what is in the heap: a list of items (TYPE, COUNT, BYTES) */
    TL_ROLE_HEAP_SIZES,    /* a list of generations (NAME, BYTES: used, RESERVED) */
    TL_ROLE_CPU,           /* processor time that was used since the tick `key`: USED, in us; < 0 is a clock that went
                              back, and counts as 0 */
    TL_ROLE_PAUSED,        /* recording was suspended ... */
    TL_ROLE_RESUMED,       /* ... until here */
    TL_ROLE_A64,           /* TL_INSN: the opcode is one of A64 */
    TL_ROLE_LOAD,          /* TL_MEM of the instruction before it (VALUE: the bytes) */
    TL_ROLE_STORE,         /* the same */
    TL_ROLE_STORED,        /* whether an exclusive store did: key 0, it did */
    TL_ROLE_SYSTEM_VALUE,  /* key: what a system register had or got */
    TL_ROLE_CALL_ARGUMENT, /* key: of a system call; the first of a row is its number */
    TL_ROLE_CALL_RESULT,   /* key: what the system call returned */
    TL_ROLE_CALL_BUFFERS,  /* of a system call: a list of items (BASE, BYTES) */
    TL_ROLE_CACHE_ADDRESS, /* key: of a maintenance instruction */
    TL_ROLE_TARGET,        /* key: where the branch before it goes */
    TL_ROLE_ORDER,         /* key: when this happened, as counted over all tracks */
    TL_ROLE_FLAGS,         /* key: the condition flags behind the instruction */
    TL_ROLE_GENERAL,       /* all general registers (GENERAL) */
    TL_ROLE_SNAPSHOT,      /* TL_REGS: all registers (GENERAL, FLAGS and others by name) before instruction number ts */
    TL_ROLE_DOMAIN,        /* an application domain was created: DOMAIN, NAME, STATUS */
    TL_ROLE_ASSEMBLY,      /* an assembly was loaded: ASSEMBLY, DOMAIN, NAME, STATUS */
    TL_ROLE_MODULE,        /* a module was loaded: MODULE, ASSEMBLY, NAME, STATUS ... */
    TL_ROLE_MODULE_OWNER,  /* ... and became part of an assembly: MODULE, ASSEMBLY */
    TL_ROLE_TYPE           /* a type was loaded: TYPE_ID, TYPE, MODULE, STATUS */
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
    TL_FIELD_CODE_ID,     /* the runtime's own id of a function: may be used again for another */
    TL_FIELD_FUNCTION,    /* number of a function */
    TL_FIELD_MODULE,
    TL_FIELD_STATUS, /* 0x80000000 and above: failed */
    TL_FIELD_SIZE,
    TL_FIELD_NAME,
    TL_FIELD_USED,
    TL_FIELD_ITEMS,   /* the list that the role speaks of */
    TL_FIELD_VALUE,   /* bytes in the order of memory */
    TL_FIELD_BASE,    /* an address in memory */
    TL_FIELD_GENERAL, /* a list of the general registers; of A64 32, the last is the stack pointer */
    TL_FIELD_FLAGS_REGISTER,
    TL_FIELD_VECTORS, /* a list of the vector registers: bytes, the lowest first */
    TL_FIELD_KEPT,    /* of a sample: so many of the outermost frames are still those of the track's sample before */
    TL_FIELD_DOMAIN,  /* the runtime's own ids */
    TL_FIELD_ASSEMBLY,
    TL_FIELD_TYPE_ID
} tl_field_role;

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
    TL_ABSENT,  /* an optional member of a struct or class that is not there */
    TL_STACK    /* a stack of calls: p is its innermost tl_frame (NULL: none), n their number. The field has three
                   members: a frame's function (its name), its number and its ip, as they are to be called */
} tl_type;

/* A frame of a stack. Frames share their callers, and are good for as long as their batch. */
typedef struct tl_frame {
    const struct tl_frame *caller; /* NULL: the outermost */
    uint64_t function;             /* its number, if TL_FRAME_FUNCTION */
    uint64_t ip;                   /* where in it, if TL_FRAME_IP: of callers the place of the call */
    const char *name;              /* of the function, or NULL; NUL-terminated, UTF-8 */
    uint32_t depth;                /* 1 is the outermost */
    uint32_t flags;                /* tl_frame_flags */
    uint32_t memo;                 /* 0; a note of the library for itself */
    uint32_t lasts;                /* 0; another one: it stays when its batch goes */
} tl_frame;

enum tl_frame_flags {
    TL_FRAME_FUNCTION = 1,
    TL_FRAME_IP = 2,
    TL_FRAME_LINE = 4, /* ip is a number of a line */
    TL_FRAME_CALL = 8  /* it was entered at an event of TL_WEIGHT_CALLS */
};

/* A value: one 16-byte slot of the tape. */
typedef struct tl_value {
    uint8_t type;  /* tl_type */
    uint8_t flags; /* of TL_HEX: digits that it was written with, 0: no matter. */
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
    TL_FIELD_OPTIONAL = 1,  /* may be TL_ABSENT */
    TL_FIELD_FIXED = 2,     /* a list, string or bytes that always has `length` elements (bytes of room) */
    TL_FIELD_FLAGS = 4,     /* mappings are of bit numbers, not of values */
    TL_FIELD_CLASH = 8,     /* both contexts have a field of this name: shown as stream.NAME and event.NAME */
    TL_FIELD_NULLABLE = 16, /* may be TL_NULL: there, but not known */
    TL_FIELD_CLOCK = 32     /* a value of the clock, which the times of events come from: some do not show it */
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
    uint8_t role;      /* tl_field_role */
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
    uint32_t ncontext;       /* how many of the first fields are not payload, see tl_scope */
    const char *level;       /* how important ("TRACE_DEBUG"), or NULL */
    int32_t level_value;     /* the number of `level` */
    const void *format_data; /* the format's own; others do not look at it */
    const char *title;       /* for people, of TL_BEGIN and TL_COUNTER-like events: "GC"; or NULL: the name */
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
    uint64_t *rank;               /* what streams are merged by in place of ts; NULL: ts. See tl_trace_is_ranked() */
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
    bool fields;     /* tape values */
    bool cpu;        /* the cpu column */
    bool packets;    /* with fields: those of TL_SCOPE_PACKET, too, and TL_FORMAT events where packets begin */
    bool late;       /* what the trace says about itself (tracks, functions, version, start) may become known only while
                        its events are read, and be complete behind the last: saves some formats a pass over the
                        input. For who reads fields, with one cursor, and can do with tracks that are added */
    bool strict;     /* fail at the first damage instead of salvaging */
    bool resync;     /* go on behind damage even where that means to guess where an event begins */
    bool companions; /* an input of several files, of which one is named: read the others, too */
    bool calls;      /* with fields: samples that tell of calls (TL_WEIGHT_CALLS) are replaced by entries and exits */
    unsigned threads; /* that may be used to open, and to decode ahead while merging; 0 means 1 */
} tl_want;

struct tl_property;

/* A sequence of events in the order of a thread, a processor, ... */
typedef struct tl_track {
    const char *name; /* "thread 4711" */
    int64_t pid, tid;
    bool has_pid, has_tid;
    bool has_range;
    bool is_cpu;                        /* a processor, not a thread: its number is tid, whether or not has_tid */
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
    bool from_zero; /* times are shown as counted from tick 0, not from the first event */
} tl_clock;

/* A function of the traced program. All strings live as long as the trace or profile; NULL where unknown. */
typedef struct tl_function {
    int64_t id;       /* the format's own number */
    uint64_t address; /* in the binary's own address space; 0 unknown */
    const char *name; /* demangled unless the caller asked otherwise */
    const char *linkage_name;
    const char *file;
    const char *module;  /* build-id of the binary in hex, or NULL */
    const char *library; /* the file that it is in, or NULL */
    uint32_t line;       /* 0 unknown */
    uint32_t flags;      /* tl_function_flags */
    uint32_t offset;     /* into its intermediate code, if TL_FUNCTION_OFFSET: of a profile by line */
    const char *renamed; /* of a profile: the name that it has later, where that is another than `name`; else NULL */
    uint64_t size;       /* bytes of its code from `address` on; 0: not known */
} tl_function;

enum tl_function_flags {
    TL_FUNCTION_HEX_ID = 1,  /* the id is shown in hexadecimal: "0x5", not "#5" */
    TL_FUNCTION_UNKNOWN = 2, /* stands for all functions of which not even the id is known: shown as "?" */
    TL_FUNCTION_OFFSET = 4   /* `offset` is known */
};

/* Where in the source a frame is. */
typedef struct tl_location {
    const char *file; /* or NULL */
    uint32_t line;    /* 0 unknown */
    bool has_offset;
    uint32_t offset; /* into the function's intermediate code, if has_offset */
} tl_location;

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
