/* Writing a trace or a profile in any format. Output appears whole or not at all: it is written beside the target and
 * renamed by tl_sink_finish(). */
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
} tl_write_options;

/* Something that a writer could not hold. */
typedef struct tl_drop {
    const char *what; /* "argument values", owned by the sink */
    uint64_t n;
} tl_drop;

/* Opens an output of events. path "-" is standard output; a suffix .gz or .zst compresses. Formats that are folders of
 * files can be neither.
 * Errors: TL_EEXIST, TL_EIO, TL_EINVAL (no such format), TL_EUNSUPPORTED (the format cannot be written from events, or
 * not there). */
int tl_sink_open(tl_sink **out, const char *path, const tl_trace *t, const tl_write_options *options, tl_error *e);
bool tl_sink_wants_order(const tl_sink *s); /* feed it by tl_merge_next(), else stream after stream is fine */
/* Writes events from .. to-1 of a batch. */
int tl_sink_write(tl_sink *s, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
/* Writes n runs. */
int tl_sink_write_runs(tl_sink *s, const tl_run *run, uint32_t n, tl_error *e);
/* Sends what was written so far to where the output goes, so that it can be seen on a pipe or a terminal; a file is not
 * there before tl_sink_finish(), and a compressor keeps some. Not for folders: TL_EUNSUPPORTED. */
int tl_sink_flush(tl_sink *s, tl_error *e);
/* Completes the file or folder. On failure nothing is left behind. Either way the sink still has to be closed. */
int tl_sink_finish(tl_sink *s, tl_error *e);
/* Bytes written so far, before compression; of a folder those of all its files, but for what is still being collected.
 */
uint64_t tl_sink_bytes(const tl_sink *s);
/* What could not be written, after the last write. */
uint32_t tl_sink_drops(const tl_sink *s);
const tl_drop *tl_sink_drop(const tl_sink *s, uint32_t index);
void tl_sink_close(tl_sink *s); /* without tl_sink_finish(): the output is discarded */

/* Writes a profile to a path; the format as above. `drops` may be NULL; else called once for each thing dropped. */
int tl_profile_write(const tl_profile *p, const char *path, const tl_write_options *options,
                     void (*drops)(void *arg, const tl_drop *d), void *arg, tl_error *e);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
