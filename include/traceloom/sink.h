/* Writing a trace or a profile in any format. Output appears whole or not at all: it is written beside the target and
 * renamed by tl_sink_finish().
 *
 * Thread rule: a tl_sink belongs to one thread at a time. Several may be written at once, of the same trace, too,
 * unless it is read with tl_want.late or followed. */
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
    const char *version; /* of the output format, as text: "5", "1.8"; NULL: that of the input if it is the same format,
                            else the newest */
    bool overwrite;      /* replace an existing file, or an existing folder that looks like one of ours */
    unsigned level;      /* compression level; 0: the default of the suffix */
    uint64_t begin;      /* tick that becomes time 0 */
    const char *title;   /* what a picture or a profile is called; or NULL */
    uint64_t interval;   /* instructions of an interval, of formats that are made of intervals; 0: their default */
    /* Formats whose packets can be compressed and have checksums: CTF 1.1. Others fail with TL_EINVAL. */
    const char *compress; /* "gzip" or "bzip2"; NULL: packets are not compressed */
    const char *checksum; /* "crc32", "md5" or "sha1"; NULL: packets have no checksums */
} tl_write_options;

/* Something that a writer could not hold. */
typedef struct tl_drop {
    const char *what; /* "argument values", owned by the sink */
    uint64_t n;
} tl_drop;

/* Opens an output of events. path "-" is standard output; a suffix .gz or .zst compresses. Formats that are folders of
 * files can be neither. options may be NULL (all zero); *options is copied, but its strings are borrowed until close.
 * *out belongs to the caller: tl_sink_close(). The trace must outlive it.
 * Errors: TL_EEXIST, TL_EIO, TL_EINVAL (no such format), TL_EUNSUPPORTED (the format cannot be written from events, or
 * not there; or it holds none of the classes of the trace). */
int tl_sink_open(tl_sink **out, const char *path, const tl_trace *t, const tl_write_options *options, tl_error *e);
/* Whether it has to be fed in the order of time (tl_merge_next(), or tl_events_open() with `ordered`). Else stream
 * after stream is fine. */
bool tl_sink_wants_order(const tl_sink *s);
/* Writes events from .. to-1 of a batch of the trace; nothing of the batch is kept. 0; or < 0, errors: TL_EIO,
 * TL_EUNSUPPORTED (what the format can neither hold nor leave out); then only tl_sink_close() is left to do. */
int tl_sink_write(tl_sink *s, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
/* Writes n runs. 0, or errors as of tl_sink_write(). */
int tl_sink_write_runs(tl_sink *s, const tl_run *run, uint32_t n, tl_error *e);
/* Sends what was written so far to where the output goes, so that it can be seen on a pipe or a terminal; a file is not
 * there before tl_sink_finish(), and a compressor keeps some. 0; or < 0, errors: TL_EIO; TL_EUNSUPPORTED of folders. */
int tl_sink_flush(tl_sink *s, tl_error *e);
/* Completes the file or folder. 0; or < 0, errors: TL_EIO, TL_EEXIST (it came meanwhile), TL_EUNSUPPORTED (events were
 * written, and the format holds none of them), and nothing is left behind. Either way the sink still has to be closed.
 */
int tl_sink_finish(tl_sink *s, tl_error *e);
/* Bytes written so far, before compression; of a folder those of all its files, but for what is still being collected.
 */
uint64_t tl_sink_bytes(const tl_sink *s);
/* How many kinds of things could not be written. Complete after the last write. */
uint32_t tl_sink_drops(const tl_sink *s);
/* One of them. Borrowed until the next write or close; NULL past the end. */
const tl_drop *tl_sink_drop(const tl_sink *s, uint32_t index);
/* Frees the sink; without tl_sink_finish() the output is discarded. NULL is fine. */
void tl_sink_close(tl_sink *s);

/* Writes a profile to a path; path and options as of tl_sink_open(). `drops` may be NULL; else it is called once for
 * each kind of thing that was dropped, with `arg`; *d is borrowed during the call. 0; or < 0, errors: as tl_sink_open()
 * and tl_sink_write(), and nothing is left behind. */
int tl_profile_write(const tl_profile *p, const char *path, const tl_write_options *options,
                     void (*drops)(void *arg, const tl_drop *d), void *arg, tl_error *e);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
