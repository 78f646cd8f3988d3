/* Calls and samples of other sources as sam str lines. */
#ifndef TL_FORMAT_TRACELOG_WRITE_CALLS_H
#define TL_FORMAT_TRACELOG_WRITE_CALLS_H

#include "base/pair_map.h"
#include "format/tracelog/tracelog_write_heads.h"
#include "model/event_thread.h"
#include "model/nest.h"

struct tracelog_writer;

/* The relevant fields of a class: indices, or TL_NO_FIELD. */
typedef struct tracelog_fields {
    tl_thread_fields thread;
    uint32_t count, stack; /* of a sample */
} tracelog_fields;

typedef struct tracelog_caller {
    bool begun;
    uint64_t counted_ms; /* its time is written up to here */
    uint64_t rest_ns;    /* of samples whose period is not a whole ms: the time not written yet */
} tracelog_caller;

typedef struct tracelog_calls {
    tracelog_fields *fields; /* [ncls] */
    tl_pair_map named;       /* pid and tid of threads that events name */
    tl_hash index;           /* track, or number of a named thread -> index of `thread`, and in `nest` */
    tracelog_caller *thread;
    uint32_t n, capacity;
    uint32_t first_iid; /* of the threads */
    tl_nest nest;
    tl_hash iid; /* function id -> iid */
    tracelog_iids iids;
} tracelog_calls;

bool tracelog_calls_init(struct tracelog_writer *w, bool mixed);
void tracelog_calls_fini(tracelog_calls *c);

/* Is it an entry, exit or sample that this can write? */
bool tracelog_is_call(const tl_class *c);
bool tracelog_is_sample(const tl_class *c);

/* False when memory runs out. */
bool tracelog_put_call(tl_text_writer *tw, struct tracelog_writer *w, const tl_batch *b, uint32_t i);
bool tracelog_put_foreign_sample(tl_text_writer *tw, struct tracelog_writer *w, const tl_batch *b, uint32_t i);

/* Writes a line up to its frames: the stack of a thread was `size` frames deep, and `kept` of them remain. */
void tracelog_put_line(tl_text_writer *tw, uint64_t iid, uint64_t ms, uint64_t count, uint32_t kept, uint32_t size);
/* Writes lines with any number of samples of the current stack. */
void tracelog_put_count(tl_text_writer *tw, uint64_t iid, uint64_t ms, uint64_t count, uint32_t depth);

#endif
