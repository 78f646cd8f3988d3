/* Begins without an end so far: an end closes the latest open begin of its pair with the same key.
 * Memory: 8 bytes for each open begin, and a few for each distinct key. */
#ifndef TL_ANALYSIS_OPEN_BEGINS_H
#define TL_ANALYSIS_OPEN_BEGINS_H

#include "base/hash.h"
#include "traceloom/error.h"

typedef struct tl_begins {
    tl_hash *latest; /* by class: key -> 1 + entry, 0: none open */
    uint32_t nclass;
    struct tl_begin {
        uint32_t before; /* 1 + the previous open one, or the next free one */
        uint32_t value;
    } * entry;
    uint32_t n, capacity, free;
} tl_begins;

int tl_begins_init(tl_begins *b, uint32_t classes, tl_error *e);
/* `cls` is the class of the begin; value is the caller's. Errors: TL_ENOMEM. */
int tl_begins_add(tl_begins *b, uint32_t cls, uint64_t key, uint32_t value, tl_error *e);
/* Removes the latest; false if none is open. */
bool tl_begins_take(tl_begins *b, uint32_t cls, uint64_t key, uint32_t *value);
void tl_begins_fini(tl_begins *b); /* also of a zeroed one */

#endif
