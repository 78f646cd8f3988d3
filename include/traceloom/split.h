/* Writing events to several outputs: a new one after some time or some bytes, or one for each track.
 *
 * Thread rule: a tl_split belongs to one thread at a time, like a tl_sink. */
#ifndef TRACELOOM_SPLIT_H
#define TRACELOOM_SPLIT_H

#include <traceloom/sink.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum tl_split_by {
    TL_SPLIT_TIME,  /* every `each` ticks, from tl_write_options.begin; parts without events are left out */
    TL_SPLIT_BYTES, /* when a part has at least `each` bytes, before compression */
    TL_SPLIT_TRACK  /* `each` is not used */
} tl_split_by;

/* Most parts open at the same time, which matters for TL_SPLIT_TRACK. */
#define TL_SPLIT_OPEN_MAX  256u
/* Most parts of all. */
#define TL_SPLIT_PARTS_MAX 100000u

typedef struct tl_split tl_split;

/* Part 7 of "dir/out.jsonl.zst" becomes "dir/out-007.jsonl.zst"; TL_SPLIT_TIME counts the pieces of time,
 * TL_SPLIT_TRACK the tracks, from 1. `path` may not be "-". Nothing is created before the first event. options: as for
 * tl_sink_open(); their strings and the trace must outlive it. *out belongs to the caller: tl_split_close(). Errors:
 * TL_EINVAL (standard output, or `each` of 0 where it is used). */
int tl_split_open(tl_split **out, const char *path, const tl_trace *t, const tl_write_options *options, tl_split_by by,
                  uint64_t each, tl_error *e);
/* Whether events must be merged by time: they must when parts depend on time or size, whatever the format wants. */
bool tl_split_wants_order(const tl_split *s, bool format_wants_order);
/* Writes n runs. 0; or < 0, errors: as tl_sink_open() and tl_sink_write(); TL_EUNSUPPORTED beyond the limits above. */
int tl_split_write_runs(tl_split *s, const tl_run *run, uint32_t n, tl_error *e);
/* Completes all parts. 0; or < 0, errors: as tl_sink_finish(). The parts that were completed before then remain. */
int tl_split_finish(tl_split *s, tl_error *e);
/* How many parts were begun so far. */
uint32_t tl_split_parts(const tl_split *s);
/* The path of a part, in the order in which they were begun. Borrowed until close; NULL past the end. */
const char *tl_split_part(const tl_split *s, uint32_t index);
/* How many kinds of things could not be written in any part, after tl_split_finish(). */
uint32_t tl_split_drops(const tl_split *s);
/* One of them. Borrowed until close; NULL past the end. */
const tl_drop *tl_split_drop(const tl_split *s, uint32_t index);
/* Frees it; without tl_split_finish() the parts that are open are discarded. NULL is fine. */
void tl_split_close(tl_split *s);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
