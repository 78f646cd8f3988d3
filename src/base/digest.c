/* Digests: MD5, SHA-1, SHA-256 and CRC-32. All but the last mix blocks of 64 bytes; the last block ends with the length
 * in bits. */
#include "base/digest.h"

#include <string.h>

#include "base/compiler.h"
#include "base/crc32.h"
#include "base/endian.h"

enum { LENGTH = 8 /* bytes of the length in the last block */ };

static uint32_t rotate(uint32_t v, unsigned n)
{
    return v << n | v >> (32 - n);
}

/* RFC 1321, 3.4. The constants are |sin(i + 1)| * 2^32. */
static void mix_md5(uint32_t *state, const uint8_t *block)
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
static void mix_sha1(uint32_t *state, const uint8_t *block)
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

TL_ALWAYS_INLINE void step_sha256(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g,
                                  uint32_t *h, uint32_t added)
{
    const uint32_t t = *h + (rotate(e, 26) ^ rotate(e, 21) ^ rotate(e, 7)) + (g ^ (e & (f ^ g))) + added;
    *d += t;
    *h = t + (rotate(a, 30) ^ rotate(a, 19) ^ rotate(a, 10)) + ((a & b) | (c & (a | b)));
}

/* RFC 6234, 6.2. The constants are the fractions of the cube roots of the first primes. */
static void mix_sha256(uint32_t *state, const uint8_t *block)
{
    static const uint32_t constant[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    uint32_t word[64], a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (unsigned i = 0; i < 16; i++)
        word[i] = tl_load32(block + 4 * (size_t)i, true);
    for (unsigned i = 16; i < 64; i++) {
        const uint32_t x = word[i - 15], y = word[i - 2];
        word[i] = word[i - 16] + (rotate(x, 25) ^ rotate(x, 14) ^ x >> 3) + word[i - 7] +
                  (rotate(y, 15) ^ rotate(y, 13) ^ y >> 10);
    }
    /* Eight at a time: the names of the variables move on, and not their values. */
    for (unsigned i = 0; i < 64; i += 8) {
        step_sha256(a, b, c, &d, e, f, g, &h, constant[i] + word[i]);
        step_sha256(h, a, b, &c, d, e, f, &g, constant[i + 1] + word[i + 1]);
        step_sha256(g, h, a, &b, c, d, e, &f, constant[i + 2] + word[i + 2]);
        step_sha256(f, g, h, &a, b, c, d, &e, constant[i + 3] + word[i + 3]);
        step_sha256(e, f, g, &h, a, b, c, &d, constant[i + 4] + word[i + 4]);
        step_sha256(d, e, f, &g, h, a, b, &c, constant[i + 5] + word[i + 5]);
        step_sha256(c, d, e, &f, g, h, a, &b, constant[i + 6] + word[i + 6]);
        step_sha256(b, c, d, &e, f, g, h, &a, constant[i + 7] + word[i + 7]);
    }
    const uint32_t sum[8] = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < 8; i++)
        state[i] += sum[i];
}

static void mix(tl_digest *d, const uint8_t *block)
{
    if (d->kind == TL_DIGEST_MD5)
        mix_md5(d->state, block);
    else if (d->kind == TL_DIGEST_SHA1)
        mix_sha1(d->state, block);
    else
        mix_sha256(d->state, block);
}

void tl_digest_begin(tl_digest *d, tl_digest_kind kind)
{
    *d = (tl_digest){.kind = kind};
    static const uint32_t old[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    static const uint32_t sha256[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    if (kind == TL_DIGEST_SHA256)
        memcpy(d->state, sha256, sizeof sha256);
    else if (kind != TL_DIGEST_CRC32)
        memcpy(d->state, old, sizeof old);
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
        if (part == TL_DIGEST_BLOCK) {
            mix(d, p);
        } else {
            memcpy(d->block + at, p, part);
            if (part == room)
                mix(d, d->block);
        }
        d->n += part;
        p += part;
        n -= part;
    }
}

void tl_digest_end(tl_digest *d, uint8_t out[TL_DIGEST_MOST])
{
    static const uint8_t padding[TL_DIGEST_BLOCK] = {0x80};
    const bool big = d->kind != TL_DIGEST_MD5;
    static const uint8_t length[] = {
        [TL_DIGEST_CRC32] = 1, [TL_DIGEST_MD5] = 4, [TL_DIGEST_SHA1] = 5, [TL_DIGEST_SHA256] = 8};
    const unsigned words = length[d->kind];
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
