/* The result of scanning the packets of each file, and its form in the cache. */
#ifndef TL_FORMAT_CTF_INDEX_H
#define TL_FORMAT_CTF_INDEX_H

#include "format/ctf/read/ctf_losses.h"
#include "format/ctf/read/ctf_reader.h"

/* Points of all files of a trace together, roughly: with them, finding the first packet to read takes less than a
 * thousandth of the trace. Small files have a few each. */
#define CTF_POINTS_MAX   65536u
#define CTF_POINTS_LEAST 2u

/* A stream class in a file, and the time that its packets cover. */
typedef struct ctf_span {
    uint32_t stream;
    bool has_range;
    uint64_t begin, end; /* ticks */
} ctf_span;

typedef struct ctf_scan {
    uint64_t packets;
    ctf_span *span; /* by stream class, after the scan */
    uint32_t nspan, span_capacity;
    struct ctf_point *point;
    uint32_t npoint, point_capacity;
    bool regresses, has_begin;
    bool closed;     /* the last packet has an end */
    bool one_stream; /* all packets have the same stream class and instance, ... */
    bool has_instance;
    uint64_t instance; /* ... this one, if they have it */
    int32_t cpu;       /* the processor of all packets; -1 */
    ctf_losses losses;
} ctf_scan;

/* The whole index; `scan` has one entry per file. */
typedef struct ctf_index {
    ctf_scan *scan;
    uint32_t n;
    uint64_t packets, lost_events, lost_packets;
} ctf_index;

/* Finds the streams: reader->stream, and the chains of files. TL_ENOMEM. */
int ctf_files_join(ctf_reader *r, const ctf_index *index, tl_error *e);

void ctf_index_fini(ctf_index *x);
/* Most points of a file of `size` bytes of `total`. */
uint32_t ctf_index_share(uint64_t size, uint64_t total);

/* Serialised, to be freed; NULL when memory runs out. */
void *ctf_index_pack(const ctf_index *x, const ctf_reader *r, size_t *n);
/* From any bytes; false if they cannot be the index of this trace, or memory runs out: then *x is empty. */
bool ctf_index_unpack(ctf_index *x, const ctf_reader *r, const void *data, size_t n);

#endif
