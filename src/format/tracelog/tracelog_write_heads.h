/* Records that must precede samples if the source lacks them: begin, settings, process, threads, functions and their
 * files. */
#ifndef TL_FORMAT_TRACELOG_WRITE_HEADS_H
#define TL_FORMAT_TRACELOG_WRITE_HEADS_H

#include "format/tracelog/tracelog_write_losses.h"
#include "format/tracelog/tracelog_write_text.h"

/* The least SamplingTimeoutMs; samples of other sources are counted in it unless they have a longer one. */
#define TRACELOG_PERIOD_MS 1u

typedef struct tracelog_heads {
    tracelog_losses *losses;
    bool vs;              /* the dialect */
    const char *library;  /* of functions that name none; or NULL */
    tl_strings libraries; /* the written ones ... */
    tl_hash library_id;   /* ... by address, and their moduleIds */
    tl_pb scratch;
    bool has_pid; /* the process was written */
    int64_t pid;
} tracelog_heads;

void tracelog_heads_fini(tracelog_heads *h); /* after zeroing */

/* prf stm, if the time of day of tick `begin` is known. */
void tracelog_head_time(tl_text_writer *tw, const tl_clock *clock, uint64_t begin);
/* prf cfg. calls: all calls are there, not only samples. */
void tracelog_head_settings(tl_text_writer *tw, bool calls, uint64_t period_ms);
/* apd crf. False when memory runs out, as those below. */
bool tracelog_head_process(tl_text_writer *tw, tracelog_heads *h, int64_t pid, const char *name);
/* thr crt, and thr aos if the thread's id is known. */
void tracelog_head_thread(tl_text_writer *tw, tracelog_heads *h, uint64_t iid, const tl_track *track);
/* fun inf, preceded by mod ldf if the file is new; and fun nam if the name is known. */
bool tracelog_head_function(tl_text_writer *tw, tracelog_heads *h, uint64_t iid, const tl_function *f);
/* fun nam for a function with only a name. */
bool tracelog_head_name(tl_text_writer *tw, tracelog_heads *h, uint64_t iid, const char *name);

/* The iids of functions: their ids if these fit, so that they can be recognised; otherwise our own numbers. */
typedef struct tracelog_iids {
    uint32_t own;   /* functions with numbers of our own ... */
    uint32_t first; /* ... which begin here; ids below stay as they are */
} tracelog_iids;
#define TRACELOG_OWN_IID   0x80000000u
/* First iid if records of another log have iids already: then all are our own. */
#define TRACELOG_MIXED_IID 0x40000000u

TL_ALWAYS_INLINE uint32_t tracelog_iid_new(tracelog_iids *i, int64_t id)
{
    return i->first == TRACELOG_OWN_IID && id >= 0 && id < TRACELOG_OWN_IID ? (uint32_t)id : i->first + i->own++;
}

#endif
