/* The inside of the writer of Chrome trace events: what chrome_write.c and chrome_runtime.c share. */
#ifndef TL_FORMAT_CHROME_WRITER_H
#define TL_FORMAT_CHROME_WRITER_H

#include "model/format_impl.h"
#include "model/gauge.h"
#include "model/label.h"
#include "model/nest.h"
#include "model/span.h"
#include "model/stack_nodes.h"
#include "model/track_id.h"
#include "model/value_json.h"

/* Deepest stack that is written: of deeper ones the outermost frames. */
#define CHROME_DEPTH_MAX 4096u

/* What becomes of the events of a class. */
typedef enum chrome_use {
    CHROME_EVENT, /* B, E, C or i */
    CHROME_BEGIN, /* of a span */
    CHROME_END,
    CHROME_CODE, /* i, and it names spans */
    CHROME_GAUGE,
    CHROME_SAMPLE
} chrome_use;

typedef struct chrome_writer {
    tl_write_context context;
    tl_labels function; /* "name":"fib" */
    tl_labels cls;      /* "name":"xray.custom" */
    tl_labels track;    /* ,"pid":7,"tid":8,"ts": */
    tl_nest nest;
    tl_hash named_pid; /* processes whose name was written */
    tl_json_fields fields;
    tl_pb args, line;
    bool any; /* an event stands before: a comma is due */
    uint64_t closed_early, open_at_end, before_begin, no_number;

    /* chrome_runtime.c */
    tl_track_ids ids;
    uint8_t *use;       /* [ncls] chrome_use */
    bool managed;       /* some are not CHROME_EVENT: the log of a managed runtime, whose events need not be in order */
    bool samples_first; /* there are samples and no calls */
    tl_spans spans;
    tl_gauges gauges;
    tl_stack_nodes stacks;
    struct chrome_profile *profile; /* [nprofile] by track */
    uint32_t nprofile;
    tl_hash told;                            /* track << 32 | node -> 1: the profile of the track knows the node */
    uint64_t apart;                          /* spans that overlap others */
    uint64_t too_many_in_one, too_many_told; /* samples */
} chrome_writer;

/* Fills w->args; NULL if there are none. */
const tl_pb *chrome_args(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i);

/* Of a zeroed part of the writer; false when memory runs out. */
bool chrome_runtime_init(chrome_writer *w);
void chrome_runtime_fini(chrome_writer *w);
/* An event that is not only a CHROME_EVENT, at a time in ticks. */
bool chrome_runtime_event(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts);
bool chrome_runtime_finish(chrome_writer *w);
void chrome_runtime_report(const chrome_writer *w);

/* Writing an event in w->line: {"ph":"X" ... } */
tl_pb *chrome_begin_event(chrome_writer *w, char ph);
bool chrome_end_event(chrome_writer *w);
/* ,"pid":7,"tid":8,"ts":0.123 */
bool chrome_put_place(chrome_writer *w, uint32_t track, uint64_t ns);
void chrome_put_text(chrome_writer *w, const char *s); /* "..." */
void chrome_put(tl_pb *out, const char *s);
void chrome_put_u64(tl_pb *out, uint64_t v);
void chrome_put_id(tl_pb *out, uint64_t v); /* "0x1f" */
uint64_t chrome_to_ns(const chrome_writer *w, uint64_t ts);

/* chrome_samples.c */
bool chrome_add_sample(chrome_writer *w, const tl_class *c, const tl_batch *b, uint32_t i, uint64_t ts);
/* The last sample of a thread (below w->nprofile) ends. */
bool chrome_end_profile(chrome_writer *w, uint32_t track);

#endif
