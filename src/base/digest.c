/* Digests: MD5, SHA-1 and CRC-32. The first two mix blocks of 64 bytes; the last one ends with the length in bits.
 */
#include "base/digest.h"

#include <string.h>

#include "base/crc32.h"
#include "base/endian.h"

enum { LENGTH = 8 /* bytes of the length in the last block */ };

static uint32_t rotate(uint32_t v, unsigned n)
{
    return v << n | v >> (32 - n);
}

/* RFC 1321, 3.4. The constants are |sin(i + 1)| * 2^32. */
static void mix_md5(uint32_t state[5], const uint8_t *block)
{
    static const uint32_t constant[64] = {
        0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
        0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
        0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
        0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
        0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
        0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
        0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
        0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
    static const uint8_t turn[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    static const uint8_t step[4] = {1, 5, 3, 7}, first[4] = {0, 1, 5, 0}; /* which word of the block is next */
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned i = 0; i < 64; i++) {
        const unsigned round = i / 16, word = (first[round] + step[round] * i) % 16;
        const uint32_t f = round == 0   ? (b & c) | (~b & d)
                           : round == 1 ? (b & d) | (c & ~d)
                           : round == 2 ? b ^ c ^ d
                                        : c ^ (b | ~d);
        const uint32_t sum = a + f + constant[i] + tl_load32(block + 4 * word, false);
        a = d;
        d = c;
        c = b;
        b += rotate(sum, turn[round][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

/* RFC 3174, 6.1. */
static void mix_sha1(uint32_t state[5], const uint8_t *block)
{
    static const uint32_t constant[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t word[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (unsigned i = 0; i < 16; i++)
        word[i] = tl_load32(block + 4 * (size_t)i, true);
    for (unsigned i = 16; i < 80; i++)
        word[i] = rotate(word[i - 3] ^ word[i - 8] ^ word[i - 14] ^ word[i - 16], 1);
    for (unsigned i = 0; i < 80; i++) {
        const unsigned round = i / 20;
        const uint32_t f = round == 0 ? (b & c) | (~b & d) : round == 2 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
        const uint32_t sum = rotate(a, 5) + f + e + word[i] + constant[round];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = sum;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

static void mix(tl_digest *d, const uint8_t *block)
{
    if (d->kind == TL_DIGEST_MD5)
        mix_md5(d->state, block);
    else
        mix_sha1(d->state, block);
}

void tl_digest_begin(tl_digest *d, tl_digest_kind kind)
{
    *d = (tl_digest){.kind = kind};
    if (kind != TL_DIGEST_CRC32)
        memcpy(d->state, (const uint32_t[5]){0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0},
               sizeof d->state);
}

void tl_digest_add(tl_digest *d, const void *data, size_t n)
{
    const uint8_t *p = data;
    if (d->kind == TL_DIGEST_CRC32) {
        d->state[0] = tl_crc32(d->state[0], data, n);
        return;
    }
    while (n > 0) {
        const size_t at = (size_t)(d->n % TL_DIGEST_BLOCK), room = TL_DIGEST_BLOCK - at, part = n < room ? n : room;
        memcpy(d->block + at, p, part);
        d->n += part;
        p += part;
        n -= part;
        if (part == room)
            mix(d, d->block);
    }
}

void tl_digest_end(tl_digest *d, uint8_t out[TL_DIGEST_MOST])
{
    static const uint8_t padding[TL_DIGEST_BLOCK] = {0x80};
    const bool big = d->kind != TL_DIGEST_MD5;
    const unsigned words = d->kind == TL_DIGEST_CRC32 ? 1 : d->kind == TL_DIGEST_MD5 ? 4 : 5;
    if (d->kind != TL_DIGEST_CRC32) {
        uint8_t bits[LENGTH];
        tl_store64(bits, 8 * d->n, big);
        const size_t at = (size_t)(d->n % TL_DIGEST_BLOCK);
        tl_digest_add(d, padding, 1 + (2 * TL_DIGEST_BLOCK - LENGTH - 1 - at) % TL_DIGEST_BLOCK);
        tl_digest_add(d, bits, LENGTH);
    }
    memset(out, 0, TL_DIGEST_MOST);
    for (unsigned i = 0; i < words; i++)
        tl_store32(out + 4 * (size_t)i, d->state[i], big);
}
