/* Snapshots of all registers (.xsnapshot.bin), little-endian: maybe a header, then records of one size.
 *
 *     header, 24 bytes (or 19, without the padding; or 32; or none at all)
 *          0  u32 tag   4  u32 sync   8  u64 version   16  u8 split   17  u8 stream   18  u8 memory order   19  padding
 *
 *     record: V = vector length / 8, P = V / 8 rounded up to 16
 *          0  u64 number of the stream's file   8  u64 offset in it
 *         16  u64 user instructions before     24  u64 instructions before
 *         32  32 u64: X0 .. X30, SP           288  32 of V: Z0 .. Z31
 *     288 + 32 V  16 of P: P0 .. P15, V / 8 bytes of them count   then P: FFR, the same
 *     then V * V: ZA    then 11 u64: FPCR .. DAIF    then u64 vector length in bits
 *
 * Nothing says how large the header is, nor the vectors: the size of the file and the ends of the records do. Of all
 * sizes of headers and vectors the first that fits exactly is taken: whole records, each with its vector length at its
 * end. If there is none, then the one with the most such ends, if these are more than half of its records. Files of
 * many records are sampled. */
#ifndef TL_XTRACE_SNAPSHOT_H
#define TL_XTRACE_SNAPSHOT_H

#include "base/io/input.h"
#include "model/batch.h"
#include "model/trace_impl.h"

enum {
    XTRACE_SNAPSHOT_FILE = 0, /* offsets in a record */
    XTRACE_SNAPSHOT_OFFSET = 8,
    XTRACE_SNAPSHOT_USER = 16,
    XTRACE_SNAPSHOT_INSNS = 24,
    XTRACE_SNAPSHOT_X = 32,
    XTRACE_SNAPSHOT_Z = 288,
    XTRACE_SNAPSHOT_TAIL = 8 /* before its end: the vector length */
};

enum { XTRACE_STREAM_OF_CPU = 1 }; /* the header's "stream", of a processor */

#define XTRACE_VL_STEP 128u
#define XTRACE_VL_MOST 2048u

typedef struct xtrace_snapshots {
    tl_input *in;
    tl_trace *trace;  /* where to report damage; NULL: nowhere */
    const char *file; /* its name in a folder, or NULL */
    bool strict;      /* damage is an error, see xtrace_snapshots_strict() */
    uint32_t header_size;
    bool has_layout; /* false: no layout fits, so there are no records */
    uint32_t vl;     /* bits of a vector; 0: unknown, there are no records */
    uint64_t record_size;
    uint64_t first;   /* offset of the first record */
    uint64_t records; /* complete ones, perhaps damaged */
    bool has_range;   /* ... and the counts of the first and the last good record: */
    uint64_t first_insns, last_insns;
    bool has_header; /* its contents: */
    uint32_t tag, sync;
    uint64_t version;
    uint8_t split, stream, memory_order;
} xtrace_snapshots;

/* A record's claims about its place. */
typedef struct xtrace_entry {
    uint64_t number; /* of the record */
    uint64_t file, offset;
    uint64_t user_insns, insns; /* executed before */
    uint64_t vl;                /* its final number */
    bool good;                  /* equals the vector length of the file */
} xtrace_entry;

/* Bytes of a record with vectors of `vl` bits. */
uint64_t xtrace_snapshot_size(uint32_t vl);
/* Finds the layout; reports damage: a file without a layout, a truncated record. Reads a bounded number of places in a
 * valid file. `file` lives as long as *s, or is NULL. Nothing has to be closed. */
int xtrace_snapshots_open(xtrace_snapshots *s, tl_input *in, tl_trace *t, const char *file, tl_error *e);
/* From here on damage is an error, including what open reported. */
int xtrace_snapshots_strict(xtrace_snapshots *s, tl_error *e);
/* The version of the trace, and the members that `info` shows for a file of snapshots alone. */
int xtrace_snapshots_describe(const xtrace_snapshots *s, tl_trace *t, tl_error *e);

/* One record, which is below s->records. */
int xtrace_snapshots_entry(const xtrace_snapshots *s, uint64_t number, xtrace_entry *out, tl_error *e);
/* The first good record from `number` on: 1; 0: none, *out is unchanged. */
int xtrace_snapshots_next(const xtrace_snapshots *s, uint64_t number, xtrace_entry *out, tl_error *e);
/* The last good record with at most this many instructions before it: 1, and *number; or 0. If the counts are not in
 * order, some record with at most so many. */
int xtrace_snapshots_find(const xtrace_snapshots *s, uint64_t insns, uint64_t *number, tl_error *e);

/* Adds events of class `cls` for the good records from *at on, up to the first with a count >= to (exclusive), without
 * those with a count < from; *at: where to go on. Ends early, with at least one event, when the batch is full or uses
 * enough memory. */
int xtrace_snapshots_batch(const xtrace_snapshots *s, uint64_t *at, uint64_t from, uint64_t to, tl_batch *b,
                           uint32_t cls, uint32_t track, tl_error *e);
/* Reports that a record ends in another vector length. */
int xtrace_snapshots_tell_vl(const xtrace_snapshots *s, uint64_t number, uint64_t vl, tl_error *e);
/* A record's bytes, s->record_size of them. */
int xtrace_snapshots_read(const xtrace_snapshots *s, uint64_t number, uint8_t *record, tl_error *e);

/* kind TL_REGS, role TL_ROLE_SNAPSHOT. */
extern const tl_class xtrace_snapshot_class;

#endif
