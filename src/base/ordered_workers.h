/* Ordered workers: numbered pieces of work are made by several threads in any order, and taken by one thread in theirs.
 *
 * There are a few slots for pieces; piece i is made in slot i modulo their number. The taking thread makes pieces, too,
 * whenever it would have to wait, so it also works without workers. Thread rule: next and close by one thread. */
#ifndef TL_BASE_ORDERED_WORKERS_H
#define TL_BASE_ORDERED_WORKERS_H

#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_ordered_workers tl_ordered_workers;

#define TL_ORDERED_SLOTS_MAX 64u

/* Makes piece `number` in a slot. 1: done; 0: neither it nor any later one exists; < 0: an error, which the slot holds
 * for the taker. Called by several threads at once, for different slots. */
typedef int (*tl_ordered_make)(void *arg, unsigned slot, uint64_t number);

/* slots: 1 .. TL_ORDERED_SLOTS_MAX. Fewer workers are used if threads cannot be made. Errors: TL_ENOMEM. */
int tl_ordered_open(tl_ordered_workers **out, unsigned workers, unsigned slots, tl_ordered_make make, void *arg,
                    tl_error *e);
/* Gives back the previous slot, and takes the next: returns what make() returned for it. After 0 or < 0, returns the
 * same again. */
int tl_ordered_next(tl_ordered_workers *r, unsigned *slot);
void tl_ordered_close(tl_ordered_workers *r); /* NULL is fine; waits for pieces in the making */

#endif
