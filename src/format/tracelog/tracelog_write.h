/* The writer of TraceLogs: members of its tl_event_writer.
 *
 * Two dialects, chosen by tl_write_options.version: "doc" and "vs". Events of TraceLogs are written as their original
 * lines; calls and samples of other sources as threads, functions and sam str lines. */
#ifndef TL_FORMAT_TRACELOG_WRITE_H
#define TL_FORMAT_TRACELOG_WRITE_H

#include "format/tracelog/tracelog_write_calls.h"
#include "format/tracelog/tracelog_write_heads.h"
#include "format/tracelog/tracelog_write_stack.h"

/* How the events of a class are written. */
enum tracelog_action {
    /* Smaller values: the record of this number. */
    TRACELOG_WRITE_CALL = TRACELOG_RECORDS,
    TRACELOG_WRITE_SAMPLE,
    TRACELOG_WRITE_NOTHING
};

/* How a reader of the lines so far interprets a sample. */
typedef struct tracelog_pace {
    uint64_t period_ms;              /* SamplingTimeoutMs */
    bool instrumented, no_execution; /* CollectionMethod Instrumentation; ExecutionTraceEnabled F */
} tracelog_pace;

typedef struct tracelog_writer {
    tl_write_context context;
    bool vs;         /* the dialect */
    bool own;        /* all events are of a TraceLog */
    bool by_address; /* the ids of unknown functions are addresses */
    uint64_t base;   /* tick that is 0 ms */
    uint8_t *action; /* [ncls] */
    tracelog_pace pace;
    uint64_t log_period_ms; /* SamplingTimeoutMs of the copied log */
    bool told_sampling;     /* the lines have AllocationSampling, if the trace has it */
    uint8_t pointer_digits; /* 8 or 16: the width of the source's latest pointer */
    tracelog_threads threads;
    tl_hash named; /* iids of functions whose names were written */
    tracelog_heads heads;
    tracelog_calls calls;
    tracelog_losses losses;
} tracelog_writer;

/* `ordered` and `unsorted` of the format: events of other sources must come by time, those of TraceLogs in the order of
 * the log. */
int tracelog_create(void *writer, const tl_write_context *context, tl_error *e);
tl_accept tracelog_accept(void *writer, const tl_class *c);
int tracelog_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
int tracelog_finish(void *writer, tl_error *e);
void tracelog_discard(void *writer);

int tracelog_write_profile(const tl_write_context *context, const tl_profile *p, tl_error *e);

/* The dialect to write: true for "vs". TL_EINVAL. */
int tracelog_write_dialect(const tl_write_context *context, bool *vs, tl_error *e);

#endif
