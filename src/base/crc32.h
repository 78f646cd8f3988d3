/* CRC-32 as in gzip, PNG and Ethernet. */
#ifndef TL_BASE_CRC32_H
#define TL_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Extends the sum `crc` (0 at the start) by n more bytes. */
uint32_t tl_crc32(uint32_t crc, const void *data, size_t n);

#endif
