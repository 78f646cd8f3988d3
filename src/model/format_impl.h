/* The interface every format implements: one static tl_format, listed in src/formats.c, with a struct for each role
 * that it has.
 *
 * Private state (reader, cursor, writer) is allocated, zeroed and freed by the core; a format only states its size. It
 * leaves the members for actions that it lacks NULL. */
#ifndef TL_MODEL_FORMAT_IMPL_H
#define TL_MODEL_FORMAT_IMPL_H

#include "base/elf/elf_file.h"
#include "base/io/folder.h"
#include "base/io/input.h"
#include "base/io/output.h"
#include "base/io/output_folder.h"
#include "model/batch.h"
#include "model/profile_impl.h"
#include "model/trace_impl.h"
#include "traceloom/error.h"
#include "traceloom/format.h"
#include "traceloom/sink.h"

/* What a probe sees: the beginning of the content. */
#define TL_PROBE_SIZE 4096u
typedef struct tl_probe {
    const uint8_t *head;
    size_t size;      /* bytes in head */
    uint64_t total;   /* bytes of the whole content */
    const char *path; /* the input's name, or NULL: for formats whose content has no signature */
} tl_probe;

/* Counts of things a writer could not hold, by text. */
typedef struct tl_drops {
    tl_drop *drop; /* what: static strings or class names */
    uint32_t n, capacity;
} tl_drops;
/* Adds n to the entry of `what` (a string that lives as long as the sink). Memory failure is ignored. */
void tl_drops_add(tl_drops *d, const char *what, uint64_t n);

/* What a writer is given. */
typedef struct tl_write_context {
    const char *path;         /* the output as named by the user, "-" for stdout; only while the writer is created */
    tl_output *out;           /* NULL for formats that write folders */
    tl_output_folder *folder; /* only for those */
    const tl_trace *trace;    /* of the events */
    bool is_part;             /* one of several outputs: may end up without events */
    tl_drops *drops;
    const tl_write_options *options;
} tl_write_context;

/* Destination of counts: borrowed arrays, by class and by track. */
typedef struct tl_tally {
    uint64_t *by_class;
    uint64_t *by_track, *begin, *end; /* events, and the smallest and largest tick */
} tl_tally;

typedef enum tl_accept {
    TL_ACCEPT_DROP, /* cannot be written: the sink counts the events as dropped and does not pass them on */
    TL_ACCEPT_KEEP,
    TL_ACCEPT_IGNORE /* not written, but no loss (TL_FORMAT classes) */
} tl_accept;

/* tl_event_writer.accept of writers that hold everything: all but TL_FORMAT classes. */
tl_accept tl_accept_events(void *writer, const tl_class *c);

/* What a time range can save, see stream_limit. */
enum tl_skips {
    TL_SKIPS_BEFORE = 1, /* what precedes it is not read */
    TL_SKIPS_AFTER = 2   /* reading ends after it */
};

typedef struct tl_reader {
    bool may_be_empty; /* an empty input whose path has one of the suffixes is of this format */
    bool unsorted;     /* one stream, in the order of the input: events may be earlier than preceding ones */
    bool forward;      /* reads its input from front to back, or in scattered pieces of some MiB: compressed content is
                          decompressed on reading; see tl_input_settle() */
    bool quick;        /* decoding its events takes less time than handing them to another thread: nothing is decoded
                          ahead, except by its own cursors */
    bool follows;      /* has one stream, and can read an input that is still being written: see tl_open_options,
                          tl_input_follows() and tl_input_wait() */
    unsigned event_bytes; /* of the input, for each event: about, rather less than more; 0: 16 */
    size_t size, cursor_size;
    int (*probe)(const tl_probe *p); /* bits of evidence, 0: not mine; pure */
    /* Reads what it takes to know classes, tracks, clock, streams and damage. */
    int (*open)(void *reader, tl_input *in, tl_trace *t, const tl_want *want, uint64_t *progress, tl_error *e);
    /* The same two for a trace that is a folder of files. The folder outlives the reader. */
    int (*probe_folder)(const tl_folder *f);
    int (*open_folder)(void *reader, const tl_folder *f, tl_trace *t, const tl_want *want, uint64_t *progress,
                       tl_error *e);
    uint32_t (*streams)(void *reader);
    /* Roughly how much work a stream is, in bytes: threads get heavy ones first. May be NULL. */
    uint64_t (*stream_weight)(void *reader, uint32_t stream);
    /* On failure, frees what it took: stream_close is only called for open streams. */
    int (*stream_open)(void *reader, uint32_t stream, void *cursor, tl_error *e);
    /* From here on only events at ticks from <= t < to are wanted: leaves out others where that is cheap, and where
     * what comes later does not depend on them. Leaving out later events only at the end of the stream keeps the order
     * of a merge. Before the first stream_next. May be NULL; otherwise `skips` says what it saves. */
    unsigned skips; /* tl_skips */
    int (*stream_limit)(void *cursor, uint64_t from, uint64_t to, tl_error *e);
    /* Fills an empty batch, with values and processors if it has room for them, as all batches of this cursor have or
     * have not: 1 with at least one event, 0 at the end, < 0 error. Allocates nothing once warm. The batch
     * may differ each time, and earlier ones may still be in use: values on the tape borrow only from their batch's
     * arena. */
    int (*stream_next)(void *cursor, tl_batch *b, tl_error *e);
    /* From here on, events may be added to *t and left out of the batches, for callers that only count. Before the
     * first stream_next. May be NULL. */
    void (*stream_tally)(void *cursor, tl_tally *t);
    /* For unsorted formats: a tick that no later event precedes, which limits how much is read ahead to sort events.
     * May be NULL: unknown. */
    uint64_t (*stream_floor)(const void *cursor);
    void (*stream_close)(void *cursor);
    /* Adds the functions (id and address) of a binary to the trace. object: 0 is the traced binary, others are object
     * numbers in function ids. */
    int (*functions)(void *reader, tl_elf *elf, uint32_t object, tl_trace *t, tl_error *e);
    /* The source location of a frame of a sample; false if unknown. Strings live as long as the trace. Any thread. */
    bool (*locate)(void *reader, const tl_frame *frame, tl_location *out);
    /* What tl_source_check() looks for beyond the damage that reading finds, to be added to the trace. Opens no cursors
     * while others are open. May be NULL. */
    int (*check)(void *reader, unsigned threads, tl_error *e);
    /* A file that holds a profile: fills p, which has the trace's clock. */
    int (*profile)(void *reader, tl_profile *p, tl_error *e);
    void (*close)(void *reader);
} tl_reader;

typedef struct tl_event_writer {
    const char *holds;        /* the events it can write, in words ("calls of functions"); NULL: all */
    tl_want wants;            /* fields, cpu, packets and calls: what it reads */
    bool ordered;             /* needs the streams merged by time; see tl_format_wants_order() */
    bool track_order;         /* the same if a track's events may be in several streams: tl_trace.shared_tracks */
    bool time_order;          /* the same if events of a stream may go back in time: tl_trace.unsorted */
    bool numbers;             /* uses ids of events (tl_event_id()): of no stream the first events are left out */
    bool names;               /* uses names of functions: worth a pass over the events of traces that do not know them
                                 before */
    bool folder;              /* the output is a folder */
    const char *folder_files; /* glob that matches the names of all files in it, or NULL: see tl_output_folder_open() */
    bool growing;             /* unfinished output is useful at any time, and tracks may be added after create */
    bool interval;            /* uses tl_write_options.interval */
    bool clock;               /* uses tl_write_options.clock */
    bool seals;               /* uses tl_write_options.compress and checksum */
    bool slices;              /* the output holds instructions and the registers before them: part of a trace that
                                 begins with a snapshot */
    size_t size;
    int (*create)(void *writer, const tl_write_context *context, tl_error *e);
    tl_accept (*accept)(void *writer, const tl_class *c);
    /* Writes events from .. to-1, all of kept classes. */
    int (*write)(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
    /* For a folder: bytes written so far. */
    uint64_t (*written)(const void *writer);
    int (*finish)(void *writer, tl_error *e);
    void (*discard)(void *writer); /* frees; called in every case */
} tl_event_writer;

typedef struct tl_profile_writer {
    bool flat;       /* needs no tree */
    bool per_thread; /* wants one tree per thread */
    bool lines;      /* wants functions split by line: of samples */
    bool compressed; /* the output is always gzip, whatever the suffix */
    int (*write)(const tl_write_context *context, const tl_profile *p, tl_error *e); /* context->trace is NULL */
} tl_profile_writer;

/* Without a role, its pointer is NULL. */
typedef struct tl_format {
    const char *name, *summary, *suffixes;
    const tl_reader *reader;
    const tl_event_writer *event_writer;
    const tl_profile_writer *profile_writer;
} tl_format;

/* src/formats.c: NULL-terminated. */
extern const tl_format *const tl_format_list[];
const tl_format *tl_format_by_name(const char *name);
/* The format whose suffix ends the path, before any compression suffix, among those that can do `can` (TL_CAN_*); NULL
 * if there is none. */
const tl_format *tl_format_by_suffix(const char *path, unsigned can);
/* The same among formats of events that may be empty (may_be_empty). */
const tl_format *tl_format_of_empty(const char *path);
/* Whether the event writer needs this trace's events merged by time: a format that is read `unsorted` keeps the order
 * of its own traces. */
bool tl_format_wants_order(const tl_format *f, const tl_trace *t);

#endif
