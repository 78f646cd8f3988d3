/* A pass over all events of function traces whose functions are addresses: finds the functions, which binaries were
 * loaded where, and which threads ran. */
#ifndef TL_OP_DISCOVER_H
#define TL_OP_DISCOVER_H

#include "op/source_impl.h"

/* Whether entries or exits have functions whose addresses only the events have. */
bool tl_discover_wanted(const tl_trace *t);

/* Reads all events once, and adds functions (id: the address) and a track for each thread that only contexts name. Then
 * names the functions from the binary at the address if it is there and its build-id, if known, is the recorded one
 * (unless tl_open_options.no_names; only regular files are opened);
 * s->exe, if not NULL, replaces the binary of the same file name, or the first one. Does nothing the second time. */
int tl_discover(tl_source *s, tl_error *e);
/* The same if matching calls needs it: tl_discover_wanted(), or entries or exits name their thread by a context field
 * (model/event_thread.h). */
int tl_discover_calls(tl_source *s, tl_error *e);

void tl_discovery_free(struct tl_discovery *d); /* NULL is fine */

/* Batches with a track for each thread, to match calls. */
typedef struct tl_thread_view tl_thread_view;
int tl_thread_view_new(tl_thread_view **out, tl_source *s, tl_error *e); /* after tl_discover() */
/* Entries and exits from .. to-1 of a batch, as events of their threads. Borrowed until the next call. */
const tl_batch *tl_thread_view_batch(tl_thread_view *v, const tl_batch *b, uint32_t from, uint32_t to);
/* Ids of the events of that batch: those of the batch that they come from. */
const uint64_t *tl_thread_view_ids(const tl_thread_view *v);
void tl_thread_view_free(tl_thread_view *v);

#endif
