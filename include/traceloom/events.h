/* The events of one or several traces as one sequence: selected, and ordered by time on request.
 *
 * Thread rule: a tl_events belongs to one thread at a time, and so do its sources while it is open: only that thread
 * may read them, with other tl_events, tl_merge and cursors, too. It may decode ahead on threads of its own
 * (tl_want.threads), with the same results. */
#ifndef TRACELOOM_EVENTS_H
#define TRACELOOM_EVENTS_H

#include <traceloom/error.h>
#include <traceloom/model.h>
#include <traceloom/profile.h>
#include <traceloom/source.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tl_events tl_events;

/* Opens the events of n sources (n >= 1). *out belongs to the caller: tl_events_close(). The sources stay the caller's;
 * they, `select` and all that it points to must outlive it. `select` may be NULL: all events. Else
 *   time, thread, cpu and class choose each event on its own;
 *   function globs choose entries and exits, and samples by the functions of their stacks: one of `func` must match,
 * none of `not_func` may; all other events are kept;
 *   depth and min_ticks choose the entries and exits of calls. They need a first pass over the trace and one bit per
 * event. Exits without entry are kept; a call that never ends passes any min_ticks.
 * A thread pattern also matches the thread in an event's context (LTTng's vtid or tid).
 * Several sources of one clock (same name and time of day, frequencies that differ by at most one part in 1000) keep
 * their times, and those of `select` count from the earliest begin. Sources of different clocks are ordered by the time
 * of day; times are ns then.
 * Errors: as tl_source_open(); TL_ENOMATCH for a thread or class pattern that matches nothing in any source (where
 * contexts say threads, only tl_events_next() can tell: at the end); TL_EUNSUPPORTED if `select` has function globs and
 * no source has functions, or depth or min_ticks and no source has calls; and for several sources if one of them is
 * followed, if only some clocks have a frequency, or if clocks differ and not all know the time of day. */
int tl_events_open(tl_events **out, tl_source *const *s, uint32_t n, const tl_select *select, bool ordered,
                   tl_error *e);
/* Ends reading, at any event. NULL is fine. */
void tl_events_close(tl_events *v);

/* The trace that the batches belong to: that of the only source, or a joined one, whose format is "several" if the
 * formats differ. Borrowed until close, never NULL. */
const tl_trace *tl_events_trace(const tl_events *v);
/* The tick that is time 0: the begin of the earliest source, or tick 0 where the clock says so (tl_clock.from_zero). */
uint64_t tl_events_begin(const tl_events *v);

/* 1: events from .. to-1 of *batch (borrowed until the next call) come next; 0: end; < 0: error, as of
 * tl_cursor_next(). At the end, a function glob that matched nothing in any source is TL_ENOMATCH. When following, a
 * run without events means that nothing new is there yet. */
int tl_events_next(tl_events *v, const tl_batch **batch, uint32_t *from, uint32_t *to, tl_error *e);

/* The same, many runs at a time, which costs less where streams alternate. 1: *n runs at *run come next, borrowed until
 * the next call; 0: end; < 0: error. */
int tl_events_runs(tl_events *v, const tl_run **run, uint32_t *n, tl_error *e);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
