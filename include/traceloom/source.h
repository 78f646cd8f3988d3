/* Reading a trace of any format, found by content.
 *
 * A source is a set of streams; each is an ordered sequence of batches (a thread's events, a processor's). Streams are
 * independent: several may be read at once from several threads, one cursor each.
 * A stream may have several cursors at once, and a source several tl_merge and tl_events: each gives the events that it
 * would give alone, with stacks of its own. Only tl_source_next(), tl_want.late and tl_open_options.follow are for one
 * reading.
 * Thread rule: different sources are independent. Of one source, cursors may be opened, read and closed by several
 * threads at once; each cursor belongs to one thread at a time. Any thread may call tl_source_trace(),
 * tl_source_is_profile() and tl_source_streams(). Everything else that takes a tl_source or a tl_merge is for one
 * thread at a time, while no other thread has a cursor. With tl_open_options.follow, one thread does everything. */
#ifndef TRACELOOM_SOURCE_H
#define TRACELOOM_SOURCE_H

#include <traceloom/error.h>
#include <traceloom/model.h>
#include <traceloom/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tl_source tl_source;
typedef struct tl_cursor tl_cursor;
typedef struct tl_merge tl_merge;
struct tl_profile;

/* The file of a shared library, whose function ids begin with the number `object`. */
typedef struct tl_object_file {
    uint32_t object; /* 1 to 255; 0 is the program: tl_open_options.exe */
    const char *path;
} tl_object_file;

typedef struct tl_open_options {
    const char *from; /* format name, or NULL: by content */
    const char *exe;  /* binary for function ids and symbols, or NULL; ignored by formats that have no use for it */
    const tl_object_file *object; /* [nobject] read while opening, not kept; ignored as exe is. TL_EINVAL for a number
                                     that the format cannot have */
    size_t nobject;
    bool no_names; /* open no file that the trace names. Otherwise the binaries that our recordings and LTTng's function
                      traces name are read, if they are unchanged */
    bool no_demangle; /* keep linkage names */
    bool no_lines;    /* do not look up files and lines (the slow part of symbols) */
    tl_want want;     /* what will be read */
    bool follow; /* the input is still being written: at its end wait for more. Events then come in the order of the
                    input, tracks may be added while reading, and a batch without events means that nothing new is there
                    yet. TL_EUNSUPPORTED if the format cannot */
    uint64_t *progress; /* bytes read so far, added to atomically until the source is closed; or NULL */
} tl_open_options;

/* Opens a trace: a path, or "-" for standard input; plain, .gz, .zst or .bz2. A folder may be one trace. options may be
 * NULL (all zero), and are copied.
 * On success *out belongs to the caller (tl_source_close). Damage is not a failure unless want.strict; see
 * tl_trace_damages(). Errors: TL_EIO, TL_EFORMAT (unrecognised, or matches two formats), TL_EDAMAGED (in the header or
 * metadata, which all else depends on), TL_EUNSUPPORTED, TL_EINVAL (no such format), TL_ENOMEM. */
int tl_source_open(tl_source **out, const char *path, const tl_open_options *options, tl_error *e);
/* The same for a trace in memory, errors too. The bytes are borrowed until close; `name` is what messages call it. */
int tl_source_open_memory(tl_source **out, const void *data, size_t size, const char *name,
                          const tl_open_options *options, tl_error *e);
/* Frees the source with its trace. Close everything that reads it first. NULL is fine. */
void tl_source_close(tl_source *s);

/* What is known of the trace so far. Borrowed until close, never NULL. */
const tl_trace *tl_source_trace(const tl_source *s);
/* Whether the file holds a profile, not events: then it has no streams, see tl_profile_from_source(). */
bool tl_source_is_profile(const tl_source *s);
/* How many streams there are; 0 for a profile, and if nothing was recorded. */
uint32_t tl_source_streams(const tl_source *s);

/* Opens a cursor on stream number `stream`, at its begin. *out belongs to the caller; close it before the source.
 * Errors: TL_EINVAL (no such stream), TL_EIO. */
int tl_cursor_open(tl_cursor **out, tl_source *s, uint32_t stream, tl_error *e);
/* 1: *batch is the next batch (borrowed until the next call); 0: end; < 0: error: TL_EIO, TL_EDAMAGED (only with
 * want.strict). Without it, damage is skipped and noted in the trace. */
int tl_cursor_next(tl_cursor *c, const tl_batch **batch, tl_error *e);
/* Only events at ticks from <= t < to are wanted from now on. This is a hint: readers skip what they cheaply can, and
 * other events may still come. Call before the first tl_cursor_next(). 0; or < 0, errors: as that. */
int tl_cursor_limit(tl_cursor *c, uint64_t from, uint64_t to, tl_error *e);
/* Ends reading, at any batch. NULL is fine. */
void tl_cursor_close(tl_cursor *c);

/* All events, one stream after another, not ordered by time between streams. They can be read only once. Returns, and
 * lends *batch, as tl_cursor_next().
 * With tl_want.threads > 1 this and tl_merge_next() may decode ahead on other threads, with the same results. */
int tl_source_next(tl_source *s, const tl_batch **batch, tl_error *e);

/* All streams merged by time. Each stream keeps its own order, even where it goes back in time. Costs more than
 * tl_source_next(), the more often streams alternate.
 * Formats whose only stream is the input in its own order are sorted by time (stably) within a window of some 65,000
 * events; one that comes later than that is handed out at once, counted (tl_trace_out_of_order()) and mentioned in a
 * note. With tl_open_options.follow nothing is sorted, and a run without events means that nothing new is there yet.
 * *out belongs to the caller; close it before the source. Errors: as tl_cursor_open() and tl_cursor_next(). */
int tl_merge_open(tl_merge **out, tl_source *s, tl_error *e);
/* 1: events from .. to-1 of *batch (borrowed until the next call) come next; 0: end; < 0: error, as of tl_cursor_next()
 * and tl_cursor_open(). */
int tl_merge_next(tl_merge *m, const tl_batch **batch, uint32_t *from, uint32_t *to, tl_error *e);
/* The same, many runs at a time, which costs less where streams alternate. 1: *n runs at *run come next, borrowed until
 * the next call; 0: end; < 0: error. */
int tl_merge_runs(tl_merge *m, const tl_run **run, uint32_t *n, tl_error *e);
/* Ends reading, at any run. NULL is fine. */
void tl_merge_close(tl_merge *m);

/* Looks for events that contradict each other by the rules of the format, which reading does not. Adds what it finds to
 * the damage of the trace (contradictions are not failures), with up to `threads` threads. No cursor may be open. 0; or
 * < 0, errors: as tl_source_open(). */
int tl_source_check(tl_source *s, unsigned threads, tl_error *e);

/* Counts of a whole trace: what `traceloom info` shows. */
typedef struct tl_count {
    uint64_t events;                  /* all classes but TL_FORMAT */
    uint64_t *by_class;               /* [tl_trace_classes()] */
    uint64_t *by_track, *begin, *end; /* [tl_trace_tracks()]: events; smallest and largest tick of them and of
                                         tl_track.begin and end, 0 if unknown */
    uint64_t first, last;             /* smallest and largest of all, including tl_trace_range(); 0 if unknown */
} tl_count;

/* Reads everything once, with up to `threads` threads; 0 means 1. The arrays belong to the caller: tl_count_free().
 * 0; or < 0, errors: as tl_cursor_next(). */
int tl_source_count(tl_source *s, unsigned threads, tl_count *out, tl_error *e);
/* Frees the arrays of *c, which is not NULL, and zeroes it. */
void tl_count_free(tl_count *c);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
