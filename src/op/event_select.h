/* Selects single events of one source: the filter of tl_events. */
#ifndef TL_OP_EVENT_SELECT_H
#define TL_OP_EVENT_SELECT_H

#include "op/source_impl.h"
#include "traceloom/profile.h"

typedef struct tl_event_select tl_event_select;

/* `select` is borrowed. begin is the tick that its times count from; if that is before tick 0, `early` is how long
 * before. */
int tl_event_select_new(tl_event_select **out, tl_source *s, const tl_select *select, uint64_t begin, uint64_t early,
                        tl_error *e);
/* Whether it needs fields: functions of samples, or threads named by events, are selected. */
bool tl_event_select_fields(const tl_event_select *f);
/* TL_EUNSUPPORTED if it selects by depth or duration and no source has calls, or by function and none has functions. */
int tl_event_select_can_apply(tl_source *const *s, uint32_t n, const tl_select *select, tl_error *e);
/* Whether threads are selected by names in events (model/event_thread.h): only the end shows which patterns match
 * nothing. */
bool tl_event_select_says_thread(const tl_event_select *f);
/* The time range outside of which no event is selected or matters: ticks [*from, *to). False if all events have to be
 * examined. */
bool tl_event_select_limit(const tl_event_select *f, uint64_t *from, uint64_t *to);
/* The next run of selected events in [*at, to): sets *at and *end, and *next, where the search continues; false if
 * there is none. Every event (within the limit, if any) must be passed exactly once and in its track's order. */
bool tl_event_select_run(tl_event_select *f, const tl_batch *b, uint32_t *at, uint32_t to, uint32_t *end,
                         uint32_t *next);
/* At the end: settles the globs of functions, and of threads if events name them (TL_ENOMATCH, see tl_select.matched).
 */
int tl_event_select_check(const tl_event_select *f, tl_error *e);
void tl_event_select_free(tl_event_select *f);

#endif
