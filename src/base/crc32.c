/* CRC-32: that of zlib where there is one, which knows the processor's instructions; else a table, four bits at a time.
 */
#include "base/crc32.h"

#ifdef TL_HAVE_ZLIB
#include <zlib.h>

#define PIECE ((size_t)1 << 30) /* zlib counts in an int */

uint32_t tl_crc32(uint32_t crc, const void *data, size_t n)
{
    const unsigned char *p = data;
    uLong sum = crc;
    for (size_t piece; n > 0; p += piece, n -= piece) {
        piece = n < PIECE ? n : PIECE;
        sum = crc32(sum, p, (uInt)piece);
    }
    return (uint32_t)sum;
}
#else
static const uint32_t crc_of_nibble[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t tl_crc32(uint32_t crc, const void *data, size_t n)
{
    const unsigned char *p = data;
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ crc_of_nibble[crc & 15];
        crc = crc >> 4 ^ crc_of_nibble[crc & 15];
    }
    return ~crc;
}
#endif
