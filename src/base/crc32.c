/* CRC-32: zlib's if available, which uses the processor's instructions.
 *
 * Otherwise short inputs go four bits at a time through a table of 16 numbers; for long ones it pays to make larger
 * tables, which take eight bytes at once. They are on the stack: threads share nothing. */
#include "base/crc32.h"

#include "base/endian.h"

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
enum { STEP = 8, TABLES_PAY = 4096 /* bytes: making the tables costs as much as 1300 of them */ };

static const uint32_t crc_of_nibble[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

/* A byte that was already added to the register. */
static uint32_t shift_byte(uint32_t crc)
{
    crc = crc >> 4 ^ crc_of_nibble[crc & 15];
    return crc >> 4 ^ crc_of_nibble[crc & 15];
}

/* table[k][b]: the effect of byte b on the register after k more bytes. */
static void make_tables(uint32_t table[STEP][256])
{
    for (uint32_t b = 0; b < 256; b++)
        table[0][b] = shift_byte(b);
    for (unsigned k = 1; k < STEP; k++)
        for (uint32_t b = 0; b < 256; b++)
            table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
}

/* n is a multiple of STEP. */
static uint32_t shift_many(uint32_t crc, const uint8_t *p, size_t n)
{
    uint32_t table[STEP][256];
    make_tables(table);
    for (const uint8_t *end = p + n; p < end; p += STEP) {
        const uint32_t a = tl_load32(p, false) ^ crc, b = tl_load32(p + 4, false);
        crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^
              table[3][b & 255] ^ table[2][b >> 8 & 255] ^ table[1][b >> 16 & 255] ^ table[0][b >> 24];
    }
    return crc;
}

uint32_t tl_crc32(uint32_t crc, const void *data, size_t n)
{
    const uint8_t *p = data;
    const size_t many = n < TABLES_PAY ? 0 : n / STEP * STEP;
    crc = ~crc;
    if (many)
        crc = shift_many(crc, p, many);
    for (size_t i = many; i < n; i++)
        crc = shift_byte(crc ^ p[i]);
    return ~crc;
}
#endif
