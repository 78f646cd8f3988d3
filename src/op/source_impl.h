/* Internals of a source and its cursors, for the rest of op. */
#ifndef TL_OP_SOURCE_IMPL_H
#define TL_OP_SOURCE_IMPL_H

#include <stdatomic.h>

#include "model/format_impl.h"
#include "traceloom/events.h"
#include "traceloom/source.h"

/* Reads all streams together; see op/stream_reader.h. */
struct tl_stream_reader;
/* The result of a pass over all events; see op/symbols/discover.h. */
struct tl_discovery;
/* Which function contains an address; see op/symbols/code_map.h. */
struct tl_code_map;
/* What was open now and then; see op/checkpoints.h. */
struct tl_checkpoints;

struct tl_source {
    tl_trace trace;
    tl_input *in;      /* NULL: the trace is a folder */
    tl_folder *folder; /* NULL: it is a file */
    const tl_format *format;
    const tl_reader *reader; /* of the format */
    void *state;             /* of the reader */
    tl_want want;
    bool follow;                            /* as in tl_open_options */
    bool numbers;                           /* as in tl_event_writer */
    struct tl_stream_reader *stream_reader; /* of tl_source_next() */
    struct tl_discovery *discovery;
    struct tl_code_map *code;           /* of the traced binary, if there are instructions; or NULL */
    struct tl_checkpoints *checkpoints; /* or NULL: not kept */
    bool whole;                         /* they are not used */
    const char *exe;                    /* as in tl_open_options, for tl_discover() */
    bool no_names, no_demangle, no_lines;
    enum {
        TL_TOLD_UNKNOWN,
        TL_TOLD_NONE,
        TL_TOLD_SOME
    } told_calls;            /* whether stacks tell calls: tl_call_scan_prepare() */
    uint32_t stream;         /* the stream that it reads next */
    atomic_uint holders;     /* besides the caller: sessions with streams of rows */
    bool (*stop)(void *arg); /* asked before each batch, by any thread: end reading with TL_ELIMIT? NULL: never */
    void *stop_arg;
};

struct tl_cursor {
    tl_source *source;
    void *state;
    tl_batch batch;
    uint32_t stream;
    uint64_t events; /* so far */
};

/* A time range, for readers that can leave out the rest: ticks [from, to), if `set`. */
typedef struct tl_limit {
    bool set;
    uint64_t from, to;
} tl_limit;

/* One more who closes it. */
void tl_source_hold(tl_source *s);

/* The trace's name in messages. */
const char *tl_source_name(const tl_source *s);

/* As tl_source_open() for a folder packed into one block, see tl_folder_open_memory(): for tests and fuzzing. */
int tl_source_open_folder_memory(tl_source **out, const void *data, size_t size, const char *name,
                                 const tl_open_options *options, tl_error *e);

/* Stream numbers, heaviest first, so that threads end at about the same time. The caller frees them; NULL when memory
 * runs out. */
uint32_t *tl_source_by_weight(tl_source *s);
/* Is most of the work in one stream? Then decoding it on another thread is better. */
bool tl_source_is_one_stream(const tl_source *s);

/* What the events of a time range can cost less than all (tl_skips), 0: nothing. An event may be anywhere in an input
 * without an index, so this is no promise. */
unsigned tl_source_skips(const tl_source *s);

/* As tl_cursor_open() for part of what a stream has, and, if the limit is set, tl_cursor_limit(). Of *want only
 * `fields` and `cpu` are used, and `threads` where several streams are read: all else is that of the source, which
 * decided on opening what its classes are. Cursors with different wants may be open at once. want NULL: the source's;
 * limit NULL: everything. */
int tl_cursor_open_want(tl_cursor **out, tl_source *s, uint32_t stream, const tl_want *want, const tl_limit *limit,
                        tl_error *e);
/* The source's want, but with or without fields. */
tl_want tl_source_want(const tl_source *s, bool fields);
/* As tl_cursor_next(), into a batch of the caller, which may differ each time. */
int tl_cursor_fill(tl_cursor *c, tl_batch *b, tl_error *e);

/* As tl_source_count(), but without reading: no events, and only known times. */
int tl_count_known(const tl_trace *t, tl_count *out, tl_error *e);

/* As tl_merge_open() for a want and a time range, as of tl_cursor_open_want(). */
int tl_merge_open_want(tl_merge **out, tl_source *s, const tl_want *want, const tl_limit *limit, tl_error *e);
/* As tl_events_open() for a want: fields are also read if the selection needs them. */
int tl_events_open_want(tl_events **out, tl_source *const *s, uint32_t n, const tl_select *select, bool ordered,
                        const tl_want *want, tl_error *e);
/* The same of the streams first .. first+n-1 of a source, one after another; other threads may read others. */
int tl_events_open_part(tl_events **out, tl_source *s, uint32_t first, uint32_t n, const tl_select *select,
                        const tl_want *want, tl_error *e);

#endif
