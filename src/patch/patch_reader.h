/* Reads numbers from an image, never outside of the piece it was given. Each returns false at the end, and then stays
 * there. */
#ifndef TL_PATCH_READER_H
#define TL_PATCH_READER_H

#include "patch/patch_image.h"

typedef struct patch_reader {
    const patch_image *image;
    const uint8_t *bytes; /* of address `base` */
    uint64_t base, at, end;
} patch_reader;

/* Of [at, at + size), as far as its part of the image goes; false: not even one byte. */
bool patch_reader_begin(patch_reader *r, const patch_image *image, uint64_t at, uint64_t size);

bool patch_read_byte(patch_reader *r, uint8_t *out);
/* Little-endian, of 1, 2, 4 or 8 bytes. */
bool patch_read_fixed(patch_reader *r, unsigned bytes, uint64_t *out);
/* ULEB128 and SLEB128; more than ten bytes are malformed. */
bool patch_read_unsigned(patch_reader *r, uint64_t *out);
bool patch_read_signed(patch_reader *r, int64_t *out);
/* A pointer as DW_EH_PE_* says: absolute, relative to its own place or to .eh_frame_hdr; direct or indirect. False also
 * for the others, which nobody emits for x86-64 and AArch64. */
bool patch_read_pointer(patch_reader *r, uint8_t encoding, uint64_t *out);

#endif
