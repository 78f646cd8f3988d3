/* The index of an FDR log: each thread's buffers, which of their bytes are good, and the damage.
 *
 * Building it reads the whole file once and handles all damage: cursors then read only ranges of complete, known
 * records. */
#ifndef TL_FORMAT_FDR_INDEX_H
#define TL_FORMAT_FDR_INDEX_H

#include "base/io/input.h"
#include "format/xray/xray_classes.h"

/* Good records of one buffer: from its first NewCPUId record to the end of the last whole record; 64 bytes. */
typedef struct fdr_buffer {
    uint64_t begin, end;
    uint64_t tsc;         /* of that NewCPUId */
    uint64_t least, most; /* smallest and largest time of its events; without events least > most */
    int64_t wall_seconds;
    int32_t wall_microseconds;
    int32_t pid, tid; /* as in the file, until tracks are known */
    uint32_t track : 29, has_wall : 1, has_pid : 1;
    uint32_t overwritten : 1; /* the records after its events overwrite the payloads */
} fdr_buffer;

#define FDR_BAD_SLOT "buffer size %" PRIu64 ", which cannot hold a buffer; expected %d or more"

typedef struct fdr_index {
    bool big;
    bool marked, live; /* by our own recorder (FDR_HEADER_MARK); still being written, or left so */
    unsigned version;
    uint64_t hz;
    uint64_t slot;      /* bytes of a version 1 slot, as the first header says */
    uint64_t size;      /* of the file */
    fdr_buffer *buffer; /* after fdr_index_build: by track, each track's in order of execution */
    size_t nbuffer;
    uint32_t *first; /* [tracks + 1]: buffers of track i are first[i] .. first[i+1]-1 */
} fdr_index;

/* Reads the file; adds threads, damage, the range of times, and the notes of a marked file to the trace. The members
 * before `buffer` are set by the caller. */
int fdr_index_build(fdr_index *x, tl_input *in, tl_trace *t, unsigned threads, tl_error *e);
void fdr_index_fini(fdr_index *x);

#endif
