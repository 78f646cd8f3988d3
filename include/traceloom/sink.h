/* Writing a trace or a profile in any format. Output appears whole or not at all: it is written beside the target and
 * renamed by tl_sink_finish().
 *
 * Thread rule: a tl_sink belongs to one thread at a time. Several may be written at once, even from the same trace,
 * unless it is followed or read with tl_want.late. */
#ifndef TRACELOOM_SINK_H
#define TRACELOOM_SINK_H

#include <traceloom/error.h>
#include <traceloom/model.h>
#include <traceloom/profile.h>
#include <traceloom/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tl_sink tl_sink;

typedef struct tl_write_options {
    const char *to;      /* format name, or NULL: by the suffix of the path */
    const char *version; /* of the output format, as text: "5", "1.8"; NULL: the input's if it has the same format, else
                            the newest */
    bool overwrite;      /* replace an existing file, or an existing folder that looks like one of ours */
    unsigned level;      /* compression level; 0: the default of the suffix */
    uint64_t begin;      /* tick that becomes time 0 */
    const char *title;   /* title of a picture or name of a profile; or NULL */
    uint64_t interval;   /* instructions per interval, for formats made of intervals; 0: their default */
    /* Formats whose packets can be compressed and have checksums: CTF 1.1. Others fail with TL_EINVAL. */
    const char *compress; /* "gzip" or "bzip2"; NULL: packets are not compressed */
    const char *checksum; /* "crc32", "md5" or "sha1"; NULL: packets have no checksums */
    /* CSV: each field of this class of the trace has a column, and events of other classes are left out. NULL: events
     * of all classes, with their fields in one column. Other formats ignore it. */
    const tl_class *columns;
    /* Times in text: "relative" (since the begin, as with NULL), "delta" (since the event before), "wall" (time of day,
     * UTC) or "date" (with the date); the babeltrace style has "wall" (NULL) and "date". TL_EINVAL for others,
     * TL_EUNSUPPORTED if the trace's clock does not know the time of day. Formats that are not text ignore it. */
    const char *clock;
} tl_write_options;

/* Something that a writer could not hold. */
typedef struct tl_drop {
    const char *what; /* "argument values", owned by the sink */
    uint64_t n;
} tl_drop;

/* Opens an output of events. path "-" is standard output; a suffix .gz or .zst compresses. A format that is a folder
 * allows neither. options may be NULL (all zero); *options is copied, but its strings are borrowed until close. *out
 * belongs to the caller: tl_sink_close(). The trace must outlive it.
 * Errors: TL_EEXIST, TL_EIO, TL_EINVAL (no such format), TL_EUNSUPPORTED (the format cannot be written from events, or
 * not to this path, or holds none of the trace's classes). */
int tl_sink_open(tl_sink **out, const char *path, const tl_trace *t, const tl_write_options *options, tl_error *e);
/* Whether it needs events ordered by time (tl_merge_next(), or tl_events_open() with `ordered`). Otherwise they may
 * come stream after stream. */
bool tl_sink_wants_order(const tl_sink *s);
/* Writes events from .. to-1 of a batch of the trace; nothing of the batch is kept. 0; or < 0, errors: TL_EIO,
 * TL_EUNSUPPORTED (something the format can neither hold nor leave out); after one, only tl_sink_close() may follow. */
int tl_sink_write(tl_sink *s, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
/* Writes n runs. 0, or errors as of tl_sink_write(). */
int tl_sink_write_runs(tl_sink *s, const tl_run *run, uint32_t n, tl_error *e);
/* Sends what was written so far to a pipe or a terminal, except what a compressor still holds; a file appears only in
 * tl_sink_finish(). 0; or < 0, errors: TL_EIO; TL_EUNSUPPORTED for folders. */
int tl_sink_flush(tl_sink *s, tl_error *e);
/* Completes the file or folder. 0; or < 0, errors: TL_EIO, TL_EEXIST (something created it meanwhile), TL_EUNSUPPORTED
 * (the format holds none of the events written), and nothing is left behind. Either way the sink must still be
 * closed. */
int tl_sink_finish(tl_sink *s, tl_error *e);
/* Bytes written so far, before compression; for a folder, of all its files, except what is still buffered. */
uint64_t tl_sink_bytes(const tl_sink *s);
/* How many kinds of things could not be written. Complete after the last write. */
uint32_t tl_sink_drops(const tl_sink *s);
/* One of them. Borrowed until the next write or close; NULL past the end. */
const tl_drop *tl_sink_drop(const tl_sink *s, uint32_t index);
/* Frees the sink; without tl_sink_finish() the output is discarded. NULL is fine. */
void tl_sink_close(tl_sink *s);

/* Writes a profile to a path; path and options as of tl_sink_open(). Calls `drops`, unless NULL, with `arg` for each
 * kind of thing that was dropped; *d is borrowed during the call. 0; or < 0, errors: as tl_sink_open() and
 * tl_sink_write(), and nothing is left behind. */
int tl_profile_write(const tl_profile *p, const char *path, const tl_write_options *options,
                     void (*drops)(void *arg, const tl_drop *d), void *arg, tl_error *e);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
