/* Spans: a begin and its end (TL_BEGIN, TL_END), paired for time lines.
 *
 * An end closes the latest open begin of its pair with the same key, on any track. Writers get a span once it has
 * ended, in the order of the ends; one that waits for the name of its function may delay later ones for a while. Times
 * are ticks. */
#ifndef TL_MODEL_SPAN_H
#define TL_MODEL_SPAN_H

#include "base/pair_map.h"
#include "model/trace_impl.h"

/* Most spans that are open or waiting; further begins are left out. Real programs have a few per thread; a log that
 * lost its ends would grow without end. */
#define TL_SPANS_MAX      16384u
/* Most ended spans that wait for the name of their function. Runtimes write it right after the end. */
#define TL_SPANS_WAIT_MAX 256u
/* Spans of one class and track at the same time. */
#define TL_SPAN_LANES_MAX 256u
/* Bytes that a writer keeps with a span. */
#define TL_SPAN_ARGS_MAX  1024u

/* Texts for those that are left out. */
#define TL_DROP_NO_BEGIN   "ends whose begin is not there"
#define TL_DROP_MANY_SPANS "begins beyond 256 of a thread or 16384 at a time, and their ends"
#define TL_DROP_LONG_ARGS  "begins and ends of a span whose fields take over 1024 bytes (written without them)"

typedef struct tl_span {
    const tl_class *cls; /* of its begin */
    uint32_t track;      /* where it began */
    uint32_t lane;       /* spans of the same class, track and lane do not overlap, and are written in order */
    uint64_t begin, end;
    bool ended;    /* false: the trace ended first; `end` is the last time then */
    bool nests;    /* nesting spans of a track are nested in the order written; with the same begin, the outer one comes
                      first */
    bool has_code; /* it is about a function: */
    bool has_function;
    uint64_t code; /* the runtime's id */
    int64_t function;
    uint8_t *args; /* the writer's own data */
    uint32_t nargs;
} tl_span;

/* False: memory ran out. */
typedef bool tl_span_write(void *arg, const tl_span *s);

typedef struct tl_spans {
    const tl_trace *trace;
    tl_span_write *write;
    void *arg;
    struct tl_span_slot *slot;
    uint32_t nslot, free;       /* free: the first unused one */
    uint32_t used;              /* slots in use */
    uint32_t first, last, wait; /* ended, not written yet: `wait` of them */
    uint64_t serial;
    tl_hash part;          /* tl_track.property -> number of that part of the trace */
    tl_pair_table by_key;  /* part and class, key -> 1 + the latest open span; 0: none */
    tl_pair_table by_code; /* part, code -> 1 + the latest span that waits for its function; 0: none */
    tl_hash lane;          /* track and class -> index in lanes */
    struct tl_span_lanes *lanes;
    uint32_t nlanes, lanes_capacity;
    struct tl_span_track *track;
    uint32_t ntrack;
    uint64_t no_begin, too_many, too_long, open_at_end;
} tl_spans;

void tl_spans_init(tl_spans *s, const tl_trace *t, tl_span_write *write, void *arg); /* after zeroing */
void tl_spans_fini(tl_spans *s);

/* Adds a begin. *span: for the writer's bytes (tl_span_keep()), valid until the next call; NULL: left out. False when
 * memory runs out. */
bool tl_spans_begin(tl_spans *s, const tl_batch *b, uint32_t i, uint64_t ts, tl_span **span);
/* Adds an end. *span: the one that ended; call tl_spans_flush() next; NULL: none was open. */
bool tl_spans_end(tl_spans *s, const tl_batch *b, uint32_t i, uint64_t ts, tl_span **span);
/* A function got code (TL_ROLE_CODE): names earlier spans that do not know their function. */
bool tl_spans_code(tl_spans *s, const tl_batch *b, uint32_t i);
/* Writes the spans that are ready. */
bool tl_spans_flush(tl_spans *s);
/* The trace ends at `end`: writes everything. */
bool tl_spans_finish(tl_spans *s, uint64_t end);

/* Adds bytes to a span's data, or none if that would exceed TL_SPAN_ARGS_MAX, which `too_long` counts. */
bool tl_span_keep(tl_spans *s, tl_span *span, const void *bytes, size_t n);

/* The span's function, or its id, for people; NULL: none. */
const char *tl_span_label(const tl_span *s, const tl_trace *t, char buf[static 24]);

/* The value of the first field with a role of event i, or NULL; *field (may be NULL) describes it. */
const tl_value *tl_role_value(const tl_batch *b, uint32_t i, const tl_class *c, tl_field_role role,
                              const tl_field **field);

#endif
