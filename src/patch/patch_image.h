/* An object as the planner sees it: pieces of memory and the addresses that they have in the process, or would have.
 *
 * The planner reads nothing else, and writes nothing at all: so a file that is mapped piece by piece is planned as a
 * loaded object is. From anywhere; no function of libc. */
#ifndef TL_PATCH_IMAGE_H
#define TL_PATCH_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATCH_PARTS_MAX 16

typedef struct patch_part {
    uint64_t address, size;
    const uint8_t *bytes; /* `size` of them, readable as long as the image is used */
    bool code;            /* executable */
} patch_part;

typedef struct patch_image {
    patch_part part[PATCH_PARTS_MAX];
    unsigned parts;
    uint64_t frame_header; /* address of .eh_frame_hdr; 0: there is none */
} patch_image;

/* The part that holds all of [address, address + size); NULL: none. */
const patch_part *patch_part_of(const patch_image *image, uint64_t address, uint64_t size);

#endif
