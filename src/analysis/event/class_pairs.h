/* Classes whose names say that one begins what the other ends, and how long it takes: `x_begin` and `x_end`,
 * `x:start` and `x:stop`, `syscall_entry_read` and `syscall_exit_read`.
 *
 * An end belongs to the latest open begin of the same pair in the same thread: the thread that the event's context
 * names (LTTng's vtid or tid), else the event's track (of LTTng: the processor). Memory does not grow with the trace:
 * beyond TL_PAIRS_OPEN_MAX open begins the oldest is given up, and counts as one without end. */
#ifndef TL_ANALYSIS_CLASS_PAIRS_H
#define TL_ANALYSIS_CLASS_PAIRS_H

#include "model/histogram.h"
#include "traceloom/error.h"

#define TL_PAIRS_OPEN_MAX 65536u
#define TL_PAIR_NAME_MORE 8u

typedef struct tl_class_pair {
    const char *name;        /* what both names have in common: "syscall_read" */
    const char *begin, *end; /* names of the classes */
    uint64_t pairs, no_end, no_begin;
    bool any;
    uint64_t total, shortest, longest, p50, p90, p99; /* ticks until tl_class_pairs_finish(), which the caller scales */
    tl_hist duration;
} tl_class_pair;

typedef struct tl_class_pairs {
    tl_class_pair *pair;
    uint32_t n;
    struct tl_open_begins *open; /* NULL: there were none so far */
} tl_class_pairs;

/* Writes the name of the class that ends what `begin` begins, number `way` of the possible ones, from 0, and what the
 * names have in common; both have room for strlen(begin) + TL_PAIR_NAME_MORE bytes. False: there are no more. */
bool tl_class_pair_names(const char *begin, unsigned way, char *end, char *name);

/* A begin or an end of a pair, in the order of time. Errors: TL_ENOMEM. */
int tl_class_pairs_begin(tl_class_pairs *p, uint32_t pair, uint64_t thread, uint64_t ts, tl_error *e);
int tl_class_pairs_end(tl_class_pairs *p, uint32_t pair, uint64_t thread, uint64_t ts, tl_error *e);
/* Everything was read: counts open begins, and finds percentiles. */
void tl_class_pairs_finish(tl_class_pairs *p);
void tl_class_pairs_fini(tl_class_pairs *p);

#endif
