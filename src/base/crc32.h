/* CRC-32 as in gzip, PNG and Ethernet. */
#ifndef TL_BASE_CRC32_H
#define TL_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The sum of n more bytes behind those of `crc`, which is 0 at the begin. */
uint32_t tl_crc32(uint32_t crc, const void *data, size_t n);

#endif
