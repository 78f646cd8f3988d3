/* Objects that live after a collection, counted by class while the world is stopped: no lock is taken then, and no
 * memory allocated. */
#ifndef TL_MANAGED_HEAP_H
#define TL_MANAGED_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Begins a count. False: the last one is too fresh, or still being written. */
bool managed_heap_begin(void);
bool managed_heap_counting(void); /* begun, and not put yet */
/* Counts an object. A class that `may_go` (NULL: none may) is counted without its name, since it may be gone when that
 * is asked for. */
void managed_heap_add(const void *class, uint64_t bytes, bool (*may_go)(const void *class));
/* After the stop, on the thread that counted: makes each class known by `know`, and its line a fact. */
void managed_heap_put(void (*know)(const void *class));

#endif
