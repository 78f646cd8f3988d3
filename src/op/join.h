/* Joins the traces of several sources into one: one list of classes, tracks and functions, one clock. */
#ifndef TL_OP_JOIN_H
#define TL_OP_JOIN_H

#include "op/source_impl.h"

typedef struct tl_join tl_join;

/* begin[i] is the tick of source i that its times count from, UINT64_MAX if it has none. *time_zero: the earliest of
 * them on the joined clock. TL_EUNSUPPORTED if a source is followed, if only some clocks have a frequency, or if clocks
 * differ and not all know the time of day. */
int tl_join_new(tl_join **out, tl_source *const *s, uint32_t n, const uint64_t *begin, uint64_t *time_zero,
                tl_error *e);
void tl_join_free(tl_join *j);
const tl_trace *tl_join_trace(const tl_join *j);

/* The tick of source i that is time 0; 0 if that is before it: then how many ticks before. */
uint64_t tl_join_begin(const tl_join *j, uint32_t i);
uint64_t tl_join_early(const tl_join *j, uint32_t i);
/* A tick of source i on the joined clock. */
uint64_t tl_join_time(const tl_join *j, uint32_t i, uint64_t ts);
/* Events from .. to-1 of a batch of source i, in joined ids and times, as events 0 .. of a batch that is valid until
 * the next call. Tape values are shared with the source's batch. */
const tl_batch *tl_join_batch(tl_join *j, uint32_t i, const tl_batch *b, uint32_t from, uint32_t to);

#endif
