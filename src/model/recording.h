/* What our own recorder says about a recording: its notes, lines of text in the files it writes.
 *
 * docs/format/recording.md has the grammar. A format that finds notes hands their text over as it is, and the
 * trace then knows its clock, program, functions and losses, whatever the format:
 *
 *   status = tl_recording_begin(t, e);                         the trace has a recording now, and owns it
 *   status = tl_recording_add(t, text, n, offset, e);          any number of times, in the order of the file
 *   status = tl_recording_finish(t, TL_RECORDING_LIVE, e);     fills the trace; before the first event is handed out
 *
 * Mistakes in the notes become damage of the trace; a negative return is only TL_ENOMEM. */
#ifndef TL_MODEL_RECORDING_H
#define TL_MODEL_RECORDING_H

#include "model/patched.h"

/* Limits on kept lines; more is damage (note.too-many). A recording of a program with 100,000 functions and 1,000
 * threads has 8 MiB of notes. */
#define TL_RECORDING_BYTES_MAX     (64u << 20) /* of text */
#define TL_RECORDING_FUNCTIONS_MAX (1u << 20)  /* with a line of their own */
#define TL_RECORDING_FRAMES_MAX    (1u << 21)  /* without: patched ones. A web browser has a million */
#define TL_RECORDING_OBJECTS_MAX   1024u
#define TL_RECORDING_EVENTS_MAX    4096u      /* kinds of instants and counters */
#define TL_RECORDING_FIELDS_MAX    64u        /* of each of these */
#define TL_RECORDING_THREADS_MAX   (1u << 16) /* with a name */
#define TL_RECORDING_OPTIONS_MAX   256u
#define TL_RECORDING_LINE_MAX      16384u /* bytes of a line; the recorder writes 1,024 */

/* A program or shared object. Functions base + 1 .. base + count have sleds, in the order of its map, or are patched:
 * then notes have their addresses. */
typedef struct tl_recording_object {
    uint32_t id, base, count;
    uint64_t bias;
    const char *build_id; /* hex, or NULL */
    const char *path;     /* or NULL */
    bool is_patched, has_counts;
    tl_patched counts; /* without its path */
} tl_recording_object;

/* A line with addresses of patched functions: of `first` and its successors. The text has the addresses. */
typedef struct tl_recording_frames {
    uint32_t object, first, count; /* object: its id */
    size_t at, bytes;              /* the value in the text */
} tl_recording_frames;

/* A function with a line of its own. */
typedef struct tl_recording_function {
    uint32_t id;
    uint32_t object;  /* id of the object that contains `address`; 0: only a name */
    uint64_t address; /* in the object's file */
    const char *name; /* or NULL */
} tl_recording_function;

/* An instant or a counter placed by hand. Its payload is its fields in order: TL_I64, TL_U64 and TL_F64 take 8 bytes,
 * TL_STRING a length (u32) and its bytes; little-endian. */
typedef struct tl_recording_event {
    uint32_t id;
    tl_kind kind; /* TL_INSTANT or TL_COUNTER */
    const char *name;
    const tl_field *field;
    uint32_t nfield;
} tl_recording_event;

/* Strings belong to the trace. */
typedef struct tl_recording {
    char *text; /* all lines as they were added, for writers of the trace */
    size_t n, capacity;
    tl_recording_object *object;
    uint32_t nobject, object_capacity;
    tl_recording_function *function;
    uint32_t nfunction, function_capacity;
    tl_recording_frames *frames;
    uint32_t nframes, frames_capacity;
    uint32_t nframed; /* functions in all of them */
    tl_recording_event *event;
    uint32_t nevent, event_capacity;
    struct tl_recording_option {
        const char *name, *text;
    } * option;
    uint32_t noption, option_capacity;
    const char **thread; /* names for people: "worker 4712" */
    uint32_t nthread, thread_capacity;
    tl_hash object_at, function_at, event_at, thread_at; /* id -> index */
    uint16_t by_base[TL_RECORDING_OBJECTS_MAX];          /* indices of objects: those without a range first */
    bool has_process, has_clock, has_lost, ended, full;
    struct {
        uint64_t pid, parent, start;
        bool has_parent, has_start;
        const char *exe;
    } process;
    struct {
        const char *name;
        uint64_t hz, ticks, unix_ns;
        uint64_t begin;  /* ticks of the first clock line: the begin of the recording */
        bool has_moment; /* ticks and unix_ns are known */
    } clock;
    struct {
        uint64_t late, depth, memory, disk, exits, threads;
    } lost;
    struct {
        uint64_t reused, overwritten, complete; /* slots and events; from the tick `complete` on nothing is missing */
    } ring;
} tl_recording;

/* t->recording, empty. */
int tl_recording_begin(tl_trace *t, tl_error *e);
/* Adds whole lines, the last one with or without its line feed. `offset`: where the text is in the input, for
 * damage. */
int tl_recording_add(tl_trace *t, const char *text, size_t n, uint64_t offset, tl_error *e);

/* How the input was left: DONE, as it says itself; or LIVE, so that only an "end" line shows that it is complete. */
typedef enum tl_recording_state { TL_RECORDING_DONE, TL_RECORDING_LIVE } tl_recording_state;

/* Fills the trace: clock (if a line has it), exe and build-id, functions by name or address, lost events, and the
 * header that `info` shows. Functions with a name are complete; op/symbols/object_symbols.c finds the others in the
 * files of the objects. */
int tl_recording_finish(tl_trace *t, tl_recording_state state, tl_error *e);

/* The name of a thread for people ("worker 4712"), or NULL if the notes have none. Lives as long as the trace. */
const char *tl_recording_thread(const tl_trace *t, int64_t tid);
/* The object of an id, or NULL. */
const tl_recording_object *tl_recording_object_of(const tl_recording *r, uint32_t id);
/* The object of a function, by its range or by its line; NULL: unknown, or it is only a name. */
const tl_recording_object *tl_recording_home(const tl_recording *r, int64_t function);
/* The object of the traced program itself, or NULL. */
const tl_recording_object *tl_recording_program(const tl_recording *r);
/* The event with a number, or NULL. */
const tl_recording_event *tl_recording_event_of(const tl_recording *r, uint32_t id);

void tl_recording_free(tl_recording *r); /* by tl_trace_fini() */

#endif
