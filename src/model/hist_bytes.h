/* Histograms as bytes: the list of used buckets of docs/format/profile.md, in varints, which .tlp files have, too; and
 * durations that stand alone, in values of tables: calls, sum, min, max - min, then the list; without calls one byte,
 * 0. Equal durations are equal bytes. */
#ifndef TL_MODEL_HIST_BYTES_H
#define TL_MODEL_HIST_BYTES_H

#include <stddef.h>

#include "base/protobuf.h"
#include "base/varint.h"
#include "model/histogram.h"
#include "traceloom/error.h"

/* Durations of calls. A zeroed one has none. */
typedef struct tl_durations {
    uint64_t calls, sum; /* each at most UINT64_MAX: larger ones stay there */
    uint64_t min, max;   /* 0 without calls */
    tl_hist hist;        /* `calls` in all, from the bucket of min to that of max */
} tl_durations;

/* Adds a call, or all of another one, which may be the same. False, with nothing changed, when memory runs out. */
bool tl_durations_add(tl_durations *d, uint64_t ticks);
bool tl_durations_merge(tl_durations *into, const tl_durations *from);
/* As tl_hist_percentile(). */
uint64_t tl_durations_percentile(const tl_durations *d, unsigned permille);
void tl_durations_fini(tl_durations *d);

/* Appends the bytes; to->failed if memory runs out. */
void tl_hist_encode(tl_pb *to, const tl_durations *d);
/* The durations of exactly these bytes, into an empty *d: tl_durations_fini(). Errors: TL_EDAMAGED, with the offset in
 * the bytes; TL_ENOMEM. */
int tl_hist_decode(tl_durations *d, const uint8_t *bytes, size_t n, tl_error *e);

/* The list alone. min, max and calls are known, and say all if min and max are in one bucket: then it is empty. */
void tl_hist_put_buckets(tl_pb *to, const tl_hist *h, uint64_t min, uint64_t max);

/* What is wrong with a list. */
typedef struct tl_hist_fault {
    const uint8_t *at;
    const char *number; /* a malformed number of this; or NULL: `text` */
    tl_varint_fault why;
    char text[120];
} tl_hist_fault;

/* Reads the list into an empty histogram, and moves *at behind it. scratch: room for one for each two bytes and one
 * more, at most [TL_HIST_BUCKETS]. 1; 0 and *fault, if it is malformed; or TL_ENOMEM. */
int tl_hist_get_buckets(tl_hist *h, uint64_t min, uint64_t max, uint64_t calls, const uint8_t **at, const uint8_t *end,
                        tl_hist_pair *scratch, tl_hist_fault *fault);

#endif
