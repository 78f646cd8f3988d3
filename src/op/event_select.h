/* Chooses events of one source one by one: the filter behind tl_events. */
#ifndef TL_OP_EVENT_SELECT_H
#define TL_OP_EVENT_SELECT_H

#include "op/source_impl.h"
#include "traceloom/profile.h"

typedef struct tl_event_select tl_event_select;

/* `select` is borrowed. begin is the tick that its times count from, or, if that is before tick 0, `early` is how long
 * before. Asks the source for fields where functions of samples or threads that events name are selected. */
int tl_event_select_new(tl_event_select **out, tl_source *s, const tl_select *select, uint64_t begin, uint64_t early,
                        tl_error *e);
/* TL_EUNSUPPORTED if it selects by depth or duration and no source has calls, or by function and none has functions. */
int tl_event_select_can_apply(tl_source *const *s, uint32_t n, const tl_select *select, tl_error *e);
/* Whether threads are chosen by what events name (model/event_thread.h): which patterns match none is known at the end.
 */
bool tl_event_select_says_thread(const tl_event_select *f);
/* The time outside of which no event can be chosen, nor matters in any other way: ticks [*from, *to). False if all have
 * to be looked at. */
bool tl_event_select_limit(const tl_event_select *f, uint64_t *from, uint64_t *to);
/* The next run of chosen events in [*at, to): sets *at and *end, and *next to where the search goes on; false if there
 * is none. Every event (within the limit, if there is one) must be passed exactly once and in its track's order. */
bool tl_event_select_run(tl_event_select *f, const tl_batch *b, uint32_t *at, uint32_t to, uint32_t *end,
                         uint32_t *next);
/* At the end: settles the globs of functions, and of threads if events name them (TL_ENOMATCH, see tl_select.matched).
 */
int tl_event_select_check(const tl_event_select *f, tl_error *e);
void tl_event_select_free(tl_event_select *f);

#endif
