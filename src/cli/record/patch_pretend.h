/* Memory around code that is only planned: which pages would be free in a process, and bytes for those that are taken.
 *
 * The rules are those of the recorder (rt/patch/rt_patch_space.h): chunks of 1 MiB, of which there is a largest number;
 * nothing next to the heap. Where things lie is what Linux does without randomization. */
#ifndef TL_CLI_PATCH_PRETEND_H
#define TL_CLI_PATCH_PRETEND_H

#include "patch/patch_space.h"

typedef struct tl_pretended {
    patch_space space; /* first: what the planner calls */
    struct pretended_part **part;
    uint64_t low, high; /* nothing is free below and above */
    uint32_t chunks;
} tl_pretended;

/* Of a process whose program begins at this address. False: no memory. */
bool tl_pretend_begin(tl_pretended *p, uint64_t program);
/* Something else is there. False: no memory. */
bool tl_pretend_use(tl_pretended *p, uint64_t from, uint64_t to);
void tl_pretend_end(tl_pretended *p);

#endif
