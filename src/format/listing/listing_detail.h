/* Details after an instruction, or between instructions, beyond addresses: bytes, registers, buffers. */
#ifndef TL_LISTING_DETAIL_H
#define TL_LISTING_DETAIL_H

#include "base/text/text_writer.h"
#include "model/format_impl.h"

/* "0x", and enough digits for `size` bytes */
char *listing_put_padded_hex(char *p, uint64_t v, unsigned size);
/* "nZCv"; in hexadecimal if other bits are set. At most 20 bytes. */
char *listing_put_flags(char *p, uint64_t flags);
/* The bytes of an access, preceded by a space: a number for sizes of registers, else in memory order. */
void listing_put_bytes(tl_text_writer *tw, const tl_class *c, const tl_batch *b, uint32_t i);
/* " buffers [0x4000 12 bytes] ..." */
void listing_put_buffers(tl_text_writer *tw, const tl_class *c, const tl_batch *b, uint32_t i);
/* Lines of registers. Returns how many fields could not be shown. */
uint32_t listing_put_registers(tl_text_writer *tw, const tl_class *c, const tl_batch *b, uint32_t i);

#endif
