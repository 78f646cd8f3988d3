/* Where the records of each thread are in an XRay basic log: found on opening, read by cursors. */
#ifndef TL_FORMAT_BASIC_INDEX_H
#define TL_FORMAT_BASIC_INDEX_H

#include "base/endian.h"
#include "base/io/input.h"
#include "format/xray/basic_layout.h"
#include "model/format_impl.h"

enum { BASIC_WINDOW = 128 << 10 };

/* Consecutive records of one thread, including arguments and records of unknown type between them. 16 bytes. */
typedef struct basic_run {
    uint64_t offset;
    uint32_t records;
    uint32_t track;
} basic_run;

/* Some records of one thread, in any number of runs: those from `offset` up to the thread's next block. Begins with a
 * call, so that no argument is separated from its entry. 32 bytes. */
typedef struct basic_block {
    uint64_t offset;
    uint64_t least, most; /* smallest and largest time of its calls */
    uint32_t next;        /* of the same thread, or BASIC_NO_BLOCK */
} basic_block;

enum { BASIC_BLOCK_RECORDS = 1024 }; /* a block ends before the first call after these */
#define BASIC_NO_BLOCK UINT32_MAX

typedef struct basic_reader {
    tl_input *in;
    tl_trace *trace;
    uint64_t *progress;
    bool big;
    unsigned version;
    uint64_t size;
    basic_run *run; /* after opening: by track, each track's in file order */
    size_t nrun, capacity;
    size_t *first;      /* [tracks + 1] */
    basic_block *block; /* in file order */
    uint32_t nblock, block_capacity;
    uint32_t *first_block; /* [tracks] */
    uint32_t first_capacity;
} basic_reader;

/* The state of a thread for an argument record: whose entry expects one. */
typedef struct basic_last {
    int32_t function;
    bool waits;
} basic_last;

/* Of the function record at p. */
TL_ALWAYS_INLINE basic_last basic_last_of(const uint8_t *p, bool big)
{
    return (basic_last){(int32_t)tl_load32(p + BASIC_FUNCTION_ID, big), p[BASIC_FUNCTION_KIND] == BASIC_ENTER_ARGS};
}

/* Does the argument record at p, of the same thread, belong to the record before it? It can have only one. */
TL_ALWAYS_INLINE bool basic_take_argument(basic_last *last, const uint8_t *p, bool big)
{
    const bool fits = last->waits && (int32_t)tl_load32(p + BASIC_ARGUMENT_ID, big) == last->function;
    last->waits = false;
    return fits;
}

/* Reads the file after its header: adds threads, the range of times, losses and damage to the trace, and blocks, and
 * runs in file order, to the reader. */
int basic_index_scan(basic_reader *r, tl_trace *t, tl_error *e);
/* Groups the runs by track, and sets `first`. */
int basic_index_group(basic_reader *r, uint32_t tracks, tl_error *e);

#endif
