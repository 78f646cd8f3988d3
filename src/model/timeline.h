/* Time lines: events as slices, counters and samples of threads.
 *
 * Everything but the drawing is here: nesting of calls, pairing of begins and ends, quantities over time, counts of
 * what is left out. A format is a tl_drawing, and its writer begins with a tl_timeline.
 *
 * Calls nest in each track: an exit closes the calls above its own, exits of functions that are not open are dropped,
 * times that go back are moved forward. Tracks need not be merged by time, but the events of each must be in order. */
#ifndef TL_MODEL_TIMELINE_H
#define TL_MODEL_TIMELINE_H

#include "base/protobuf.h"
#include "model/format_impl.h"
#include "model/gauge.h"
#include "model/nest.h"
#include "model/span.h"
#include "model/stack_nodes.h"
#include "model/track_id.h"

/* Most samples to draw for one event: a hostile file would blow up the output. */
#define TL_TIMELINE_SAMPLES_MAX 1000u

/* Samples of one stack. */
typedef struct tl_timeline_samples {
    uint32_t track;
    uint32_t node;      /* of tl_timeline.stacks */
    uint64_t count;     /* at least 1: those of the event; tl_timeline_count() is how many to draw */
    uint64_t each, end; /* ns: the duration of each, the last of them up to `end` */
} tl_timeline_samples;

/* The operations of a format. `writer` begins with the tl_timeline. Times are ns since the begin of the trace. All
 * return false (or NULL) when memory runs out. */
typedef struct tl_drawing {
    const char *no_memory;                             /* the error message in that case */
    const char *open_calls, *open_spans, *deep_stacks; /* texts that report those left open at the end, or cut */
    uint32_t depth_most;                               /* of stacks */
    bool closes;                                       /* writes an exit for calls open at the end */
    bool code_first;                                   /* draws an event that names spans before these */

    /* Called before the first event of a track (started: false), and before each later one. */
    bool (*ready)(void *writer, uint32_t track, bool started);
    bool (*enter)(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns);
    bool (*exit)(void *writer, uint32_t track, uint64_t function, uint64_t ns);
    bool (*instant)(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns);
    /* *any: whether the event had a number */
    bool (*counter)(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ns, bool *any);
    /* The data to keep for a begin (a zeroed span), or for the end of the span. Valid until the next call. */
    const tl_pb *(*args)(void *writer, const tl_class *c, const tl_batch *b, uint32_t i, const tl_span *s);
    bool (*span)(void *writer, const tl_span *s, uint64_t begin, uint64_t end);
    bool (*gauge)(void *writer, const tl_gauge *g, uint64_t ns);
    bool (*samples)(void *writer, const tl_timeline_samples *s);
} tl_drawing;

/* How the events of a class are drawn. */
typedef enum tl_timeline_use {
    TL_TIMELINE_EVENT, /* by its kind */
    TL_TIMELINE_BEGIN, /* of a span */
    TL_TIMELINE_END,
    TL_TIMELINE_CODE, /* as an event, which also names spans */
    TL_TIMELINE_GAUGE,
    TL_TIMELINE_SAMPLE
} tl_timeline_use;

tl_timeline_use tl_timeline_use_of(const tl_trace *t, const tl_class *c);

typedef struct tl_timeline {
    tl_write_context context;
    const tl_drawing *drawing;
    tl_nest nest;
    tl_track_ids ids;
    tl_spans spans;
    tl_gauges gauges;
    tl_stack_nodes stacks;
    uint8_t *use;        /* [ncls] tl_timeline_use */
    bool managed;        /* has more than events: the log of a managed runtime, whose events need not be in order */
    bool samples, calls; /* the trace may have these */
    uint64_t before_begin, no_number, closed_early, open_at_end, too_many_in_one;
} tl_timeline;

/* After zeroing; fini is needed in any case. */
int tl_timeline_init(tl_timeline *t, const tl_write_context *context, const tl_drawing *drawing, tl_error *e);
void tl_timeline_fini(tl_timeline *t);
/* Draws what is open or waiting. */
int tl_timeline_finish(tl_timeline *t, tl_error *e);
/* Reports what was left out. bad_text: bytes that are not UTF-8. */
void tl_timeline_report(const tl_timeline *t, uint64_t bad_text);
int tl_timeline_no_memory(const tl_timeline *t, tl_error *e);

/* For drawings. */

/* How many of `samples` samples to draw; reports the rest. */
uint64_t tl_timeline_count(tl_timeline *t, uint64_t samples);
/* The name of the traced program: the title, or the file name of the binary or of the trace. */
const char *tl_timeline_process(const tl_timeline *t);
/* The name of a function, "#id" if it has none. */
const char *tl_timeline_function(const tl_timeline *t, uint64_t id, char buf[static 24]);
/* "GC" */
const char *tl_span_title(const tl_span *s);
/* Appends the words that are not NULL, separated by spaces. */
void tl_timeline_words(tl_pb *text, const char *const *word, size_t n);
/* Appends the name of a number of a TL_COUNTER event: the class, and the field if it has several. */
void tl_timeline_counter_name(tl_pb *text, const tl_class *c, uint32_t field);

/* The payload of an event, value by value: tl_payload p = tl_payload_of(...); while (tl_payload_next(&p)) ... */
typedef struct tl_payload {
    const tl_class *cls;
    const tl_value *v, *next, *end; /* the value with its members is v .. next - 1 */
    uint32_t field;                 /* its index in the class */
} tl_payload;

tl_payload tl_payload_of(const tl_class *c, const tl_batch *b, uint32_t i);
bool tl_payload_next(tl_payload *p);
/* The next number: an integer, a real, or a truth value. */
bool tl_payload_next_number(tl_payload *p);
/* The next value whose field a class does not have. */
bool tl_payload_next_new(tl_payload *p, const tl_class *other);

/* The path of an event */

/* ns since the begin; 0 for anything earlier. */
TL_ALWAYS_INLINE uint64_t tl_timeline_ns(const tl_timeline *t, uint64_t ts)
{
    const uint64_t begin = t->context.options->begin;
    return TL_LIKELY(ts >= begin) ? tl_scale_ns(&t->context.trace->scale, ts - begin) : 0;
}

bool tl_timeline_managed(tl_timeline *t, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts, uint64_t ns);

/* Draws an event by its kind. */
TL_ALWAYS_INLINE bool tl_timeline_plain(tl_timeline *t, const tl_drawing *d, const tl_class *c, const tl_batch *b,
                                        uint32_t i, uint64_t ns)
{
    bool any = false;
    if (c->kind != TL_COUNTER)
        return d->instant(t, c, b, i, ns);
    if (!d->counter(t, c, b, i, ns, &any))
        return false;
    t->no_number += !any;
    return true;
}

TL_ALWAYS_INLINE bool tl_timeline_exit(tl_timeline *t, const tl_drawing *d, tl_nest_track *n, uint32_t track,
                                       uint32_t calls, uint64_t ns)
{
    for (; calls > 0; calls--)
        if (!d->exit(t, track, tl_nest_pop(n), ns))
            return false;
    return true;
}

TL_ALWAYS_INLINE bool tl_timeline_event(tl_timeline *t, const tl_drawing *d, const tl_batch *b, uint32_t i)
{
    const tl_class *c = &t->context.trace->cls[b->cls[i]];
    const uint32_t track = b->track[i];
    tl_nest_track *n = tl_nest_get(&t->nest, track);
    if (TL_UNLIKELY(!n))
        return false;
    const bool function = c->key == TL_KEY_FUNCTION;
    uint32_t exits = 0;
    if (function && c->kind == TL_EXIT && (exits = tl_nest_exit(&t->nest, n, b->key[i])) == 0)
        return true;
    if (!d->ready(t, track, n->started))
        return false;
    const uint64_t ts =
        TL_LIKELY(function || !t->managed) ? tl_nest_time(&t->nest, n, b->ts[i]) : tl_nest_own_time(n, b->ts[i]);
    const uint64_t ns = tl_timeline_ns(t, ts);
    t->before_begin += ts < t->context.options->begin;
    if (exits > 0) {
        t->closed_early += exits - 1;
        return tl_timeline_exit(t, d, n, track, exits, ns);
    }
    if (function && c->kind == TL_ENTER) {
        const tl_nest_result opened = tl_nest_enter(&t->nest, n, b->key[i]);
        return opened == TL_NEST_TOO_DEEP || (opened == TL_NEST_OPENED && d->enter(t, c, b, i, ns));
    }
    if (TL_UNLIKELY(t->use[c->id] != TL_TIMELINE_EVENT))
        return tl_timeline_managed(t, c, b, i, ts, ns);
    return tl_timeline_plain(t, d, c, b, i, ns);
}

/* tl_event_writer.write; pass the drawing as a constant: then it is compiled into this loop. */
TL_ALWAYS_INLINE int tl_timeline_write(tl_timeline *t, const tl_drawing *d, const tl_batch *b, uint32_t from,
                                       uint32_t to, tl_error *e)
{
    tl_stack_nodes_run(&t->stacks, b);
    for (uint32_t i = from; i < to; i++)
        if (TL_UNLIKELY(!tl_timeline_event(t, d, b, i)))
            return tl_timeline_no_memory(t, e);
    return 0;
}

#endif
