/* An open recording: its files, and the cursors that read them. */
#ifndef TL_XTRACE_READ_H
#define TL_XTRACE_READ_H

#include "base/io/window.h"
#include "format/xtrace/xtrace_name.h"
#include "format/xtrace/xtrace_snapshot.h"
#include "format/xtrace/xtrace_tokens.h"
#include "model/format_impl.h"

#define XTRACE_NONE UINT32_MAX

typedef struct xtrace_file {
    tl_input *in;
    bool own;          /* we close the input */
    const char *name;  /* in its folder; NULL: the only one */
    xtrace_name parts; /* of its name */
    bool says_cpu;     /* in a folder: a processor, which its events have */
    uint32_t track;
    uint32_t partner;           /* the other file of the pair, or XTRACE_NONE */
    bool empty;                 /* a stream without a single event */
    xtrace_snapshots snapshots; /* for files of that kind */
} xtrace_file;

/* What a cursor reads: a file, or both files of a pair. */
typedef struct xtrace_stream {
    uint32_t insns, snapshots; /* files, or XTRACE_NONE */
} xtrace_stream;

typedef struct xtrace_reader {
    tl_trace *trace;
    tl_want want;
    uint64_t *progress;
    xtrace_file *file;
    uint32_t n;
    bool is_folder;
    xtrace_stream *stream;
    uint32_t nstream;
} xtrace_reader;

/* A place where reading a stream may begin. */
typedef struct xtrace_place {
    uint64_t offset; /* of a token */
    uint64_t count;  /* instructions before it */
    uint64_t pc;     /* of the instruction before it, if ... */
    uint64_t rank;   /* the latest TIME before it, if ... */
    bool has_pc, has_rank;
} xtrace_place;

typedef struct xtrace_ahead xtrace_ahead;

/* The state of reading a stream, token by token. */
typedef struct xtrace_cursor {
    xtrace_reader *reader;
    uint32_t stream;
    xtrace_file *insns, *snapshots; /* or NULL */
    xtrace_ahead *ahead;            /* reads for it, or NULL */
    bool part;                      /* reads a part for another: ends at damage without a report */
    uint64_t end;                   /* offset where it ends */
    tl_window window;
    uint64_t offset; /* of the next token */
    uint64_t count;  /* instructions before it */
    uint64_t pc;     /* of the instruction before it ... */
    uint64_t no_pc;  /* ... unless TL_INSN_NO_PC, not 0 */
    uint64_t rank;
    uint64_t from, to; /* wanted instructions */
    uint64_t due;      /* how many instructions precede the next snapshot; UINT64_MAX: none left */
    uint64_t record;   /* its number */
    uint64_t told;     /* bytes reported to progress */
    bool first;        /* nothing was read yet */
    bool ended;
    tl_tally *tally; /* NULL: events go into batches */
    tl_tally tally_store;
} xtrace_cursor;

/* The kind of a content, by its path and its first bytes: xtrace_probe.c. */
#define XTRACE_BY_NAME 100 /* bits of evidence */
int xtrace_probe(const tl_probe *p);
bool xtrace_looks_like_snapshots(const uint8_t *head, size_t size, uint64_t total);

/* Opens the other file of the path's pair: xtrace_partner.c. 1: *out belongs to the caller; 0: does not exist; < 0: it
 * cannot be read. */
int xtrace_partner_open(tl_input **out, const char *path, tl_error *e);

/* The processor for events of the file; -1: none. */
static inline int32_t xtrace_file_cpu(const xtrace_file *f)
{
    return f->says_cpu && f->parts.number <= INT32_MAX ? (int32_t)f->parts.number : -1;
}

/* Cursors: xtrace_stream.c. */
int xtrace_cursor_open(void *reader, uint32_t stream, void *cursor, tl_error *e);
/* The same, for a part of the stream. */
int xtrace_cursor_open_part(xtrace_reader *r, uint32_t stream, xtrace_cursor *c, tl_error *e);
int xtrace_cursor_limit(void *cursor, uint64_t from, uint64_t to, tl_error *e);
void xtrace_cursor_tally(void *cursor, tl_tally *t);
int xtrace_cursor_next(void *cursor, tl_batch *b, tl_error *e);
void xtrace_cursor_close(void *cursor);

/* The slow parts of reading, xtrace_token.c: adds any token at c->offset, of any length, to the batch (NULL: to the
 * tally). 1: done; 0: the stream ends here; < 0: error. Reports damage. */
int xtrace_token(xtrace_cursor *c, tl_batch *b, tl_error *e);

/* The next place from `offset` on where reading can continue after damage (--resync), or the end of the content. The
 * window needs 128 KiB. */
int xtrace_find_chain(tl_window *w, uint64_t offset, uint64_t *found, tl_error *e);

/* Seeking, xtrace_seek.c: the nearest place from which every event from instruction number `count` on has its pc,
 * verified by reading towards it; the begin of the stream if nothing better is known. */
int xtrace_seek(const xtrace_cursor *c, uint64_t count, xtrace_place *out, tl_error *e);

#endif
