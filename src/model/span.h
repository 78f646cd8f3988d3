/* Spans: a begin and its end (TL_BEGIN, TL_END), put together for time lines.
 *
 * An end belongs to the latest open begin of its pair with the same key, on whatever track. Writers are handed a span
 * once it has ended, in the order of the ends; one that waits to learn which function it is about may hold up those
 * behind it for a while. Times are ticks. */
#ifndef TL_MODEL_SPAN_H
#define TL_MODEL_SPAN_H

#include "base/pair_map.h"
#include "model/trace_impl.h"

/* Spans that are open or wait at a time; further begins are left out. Real programs have a few for each thread; a log
 * that lost its ends would grow without end. */
#define TL_SPANS_MAX      16384u
/* Ended spans that wait for the name of their function. Runtimes tell it right after the end. */
#define TL_SPANS_WAIT_MAX 256u
/* Spans of one class and track at the same time. */
#define TL_SPAN_LANES_MAX 256u
/* Bytes of what a writer keeps with a span. */
#define TL_SPAN_ARGS_MAX  1024u

/* What is said of those that are not as they should be. */
#define TL_DROP_NO_BEGIN   "ends whose begin is not there"
#define TL_DROP_MANY_SPANS "begins beyond 256 of a thread or 16384 at a time, and their ends"
#define TL_DROP_LONG_ARGS  "begins and ends of a span whose fields take over 1024 bytes (written without them)"

typedef struct tl_span {
    const tl_class *cls; /* of its begin */
    uint32_t track;      /* where it began */
    uint32_t lane;       /* spans of the same class, track and lane follow each other, also as they are handed out */
    uint64_t begin, end;
    bool ended;    /* false: the trace ended first; `end` is the last time then */
    bool nests;    /* those of a track that nest and were handed out nest in each other; of the same begin, the outer
                      one comes first */
    bool has_code; /* it is about a function: */
    bool has_function;
    uint64_t code; /* the runtime's id */
    int64_t function;
    uint8_t *args; /* what the writer keeps with it */
    uint32_t nargs;
} tl_span;

/* False: memory ran out. */
typedef bool tl_span_write(void *arg, const tl_span *s);

typedef struct tl_spans {
    const tl_trace *trace;
    tl_span_write *write;
    void *arg;
    struct tl_span_slot *slot;
    uint32_t nslot, free;       /* free: the first of those not in use */
    uint32_t used;              /* slots in use */
    uint32_t first, last, wait; /* ended, not handed out: `wait` of them */
    uint64_t serial;
    tl_hash part;          /* tl_track.property -> number of that part of the trace */
    tl_pair_table by_key;  /* part and class, key -> 1 + the latest open span; 0: none is open now */
    tl_pair_table by_code; /* part, code -> 1 + the latest span that waits to learn its function; 0: none waits now */
    tl_hash lane;          /* track and class -> index in lanes */
    struct tl_span_lanes *lanes;
    uint32_t nlanes, lanes_capacity;
    struct tl_span_track *track;
    uint32_t ntrack;
    uint64_t no_begin, too_many, too_long, open_at_end;
} tl_spans;

void tl_spans_init(tl_spans *s, const tl_trace *t, tl_span_write *write, void *arg); /* of zeroed memory */
void tl_spans_fini(tl_spans *s);

/* A begin. *span: to put the writer's bytes with (tl_span_keep()), valid until the next call; NULL: left out. False
 * when memory runs out. */
bool tl_spans_begin(tl_spans *s, const tl_batch *b, uint32_t i, uint64_t ts, tl_span **span);
/* An end. *span: that it ended, to be followed by tl_spans_flush(); NULL: none was open. */
bool tl_spans_end(tl_spans *s, const tl_batch *b, uint32_t i, uint64_t ts, tl_span **span);
/* A function got code (TL_ROLE_CODE): the name of spans that began before and did not know their function. */
bool tl_spans_code(tl_spans *s, const tl_batch *b, uint32_t i);
/* Hands out what can be. */
bool tl_spans_flush(tl_spans *s);
/* The trace is over at `end`: hands out everything. */
bool tl_spans_finish(tl_spans *s, uint64_t end);

/* Adds bytes to what a span keeps, or none of them if it would be more than TL_SPAN_ARGS_MAX: `too_long` counts these.
 */
bool tl_span_keep(tl_spans *s, tl_span *span, const void *bytes, size_t n);

/* The function that it is about, or its id, for people; NULL: about none. */
const char *tl_span_label(const tl_span *s, const tl_trace *t, char buf[static 24]);

/* The value of the first field of a role of event i, or NULL; *field (may be NULL) describes it. */
const tl_value *tl_role_value(const tl_batch *b, uint32_t i, const tl_class *c, tl_field_role role,
                              const tl_field **field);

#endif
