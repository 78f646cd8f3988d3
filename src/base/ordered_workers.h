/* A relay: numbered pieces of work are made by several threads in any order, and taken by one thread in theirs.
 *
 * There are a few slots for pieces; piece i is made in slot i modulo their number. The taking thread makes pieces, too,
 * whenever it would have to wait, so all works without any worker. Thread rule: next and close by one thread. */
#ifndef TL_BASE_RELAY_H
#define TL_BASE_RELAY_H

#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_relay tl_relay;

#define TL_RELAY_SLOTS_MAX 64u

/* Makes piece `number` in a slot: 1: done; 0: there is no such piece nor a later one; < 0: an error, which the slot
 * holds for whoever takes it. Called by several threads at once, for different slots. */
typedef int (*tl_relay_make)(void *arg, unsigned slot, uint64_t number);

/* slots: 1 .. TL_RELAY_SLOTS_MAX. Fewer workers are used if threads cannot be made. Errors: TL_ENOMEM. */
int tl_relay_open(tl_relay **out, unsigned workers, unsigned slots, tl_relay_make make, void *arg, tl_error *e);
/* Gives back the slot that was taken before, and takes the next: what make() returned for it. After 0 or < 0 the same
 * is returned again. */
int tl_relay_next(tl_relay *r, unsigned *slot);
void tl_relay_close(tl_relay *r); /* NULL is fine; waits for pieces being made */

#endif
