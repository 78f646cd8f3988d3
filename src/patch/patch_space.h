/* Memory that jumps of patched code may lead to: pages that nothing else uses, within reach of the code.
 *
 * The planner asks for pages by address, because the bytes of an instruction decide where its jump can go. Whoever
 * implements this knows what is mapped: the recorder maps pages for good (src/rt/patch), a dry run only pretends. */
#ifndef TL_PATCH_SPACE_H
#define TL_PATCH_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATCH_PAGE 4096

typedef struct patch_space {
    /* Takes [address, address + size), whole pages. NULL: something is there, or it must stay free (below 64 KiB, above
     * the end of the heap, ...), or no more mappings are allowed. Else where its bytes are written, which are zero:
     * in the process, the address itself. Memory is used only where something is stored. */
    uint8_t *(*take)(struct patch_space *space, uint64_t address, uint64_t size);
    /* Gives back what was taken, in the same or smaller pieces. Nothing has been executed there. */
    void (*give)(struct patch_space *space, uint64_t address, uint64_t size);
    /* A free range of `size` bytes, whole pages, within [low, high], as near to `near` as is easy; 0: none. It is not
     * taken. */
    uint64_t (*find)(struct patch_space *space, uint64_t low, uint64_t high, uint64_t near, uint64_t size);
} patch_space;

#endif
