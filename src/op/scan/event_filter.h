/* Which events of one source the terms of a scan leave: decided once for each class and track. */
#ifndef TL_OP_EVENT_FILTER_H
#define TL_OP_EVENT_FILTER_H

#include "model/event_parts.h"
#include "op/scan/scan.h"

typedef struct tl_event_filter {
    bool has_time;
    uint64_t from, to; /* ticks [from, to): all events that can matter are inside */
    uint8_t *cls;      /* [ncls] 1: taken; NULL: all */
    uint8_t *track;    /* [ntrack] the same */
    uint32_t ntrack;
    bool has_function;
    int64_t *function; /* [nfunction] ids, ascending */
    uint32_t nfunction;
} tl_event_filter;

/* part: the meaning of each column. After zeroing; fini is needed in
 * any case. begin: the tick that times count from. only: the classes of the table, or NULL; kinds: 1 << tl_kind of each
 * that it has, or 0. */
int tl_event_filter_init(tl_event_filter *f, const tl_trace *t, uint64_t begin, const tl_scan_ask *ask,
                         const uint8_t *part, const uint8_t *only, uint32_t kinds, tl_error *e);
void tl_event_filter_fini(tl_event_filter *f);

/* Is event i of a batch left? */
bool tl_event_filter_takes(const tl_event_filter *f, const tl_batch *b, uint32_t i);
/* The events of a run that are left, at most 1024: their indices; how many. */
uint32_t tl_event_filter_pick(const tl_event_filter *f, const tl_run *run, uint32_t at[static TL_BATCH_MAX]);

/* Narrows the time of a selection, whose ticks count from `begin`. */
void tl_event_filter_limit(const tl_event_filter *f, uint64_t begin, tl_select *select);

/* Which part of the events a term leaves, about. */
double tl_event_filter_keeps(tl_event_part part, tl_term_op op);

#endif
