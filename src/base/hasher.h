/* Hashes for tables whose keys come from a file: SipHash-1-3 (Aumasson and Bernstein) with a random key for each run.
 * The author of a file does not know the key, and cannot choose names or numbers that collide in a table. */
#ifndef TL_BASE_HASHER_H
#define TL_BASE_HASHER_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/wide.h"

/* What was added so far. */
typedef struct tl_hasher {
    uint64_t v[4];
} tl_hasher;

/* With the key of this run: for tables. */
tl_hasher tl_hasher_begin(void);
/* Without a key, the same in every run and on every host: for output, never for tables. */
tl_hasher tl_hasher_stable(void);

TL_ALWAYS_INLINE uint64_t tl_hasher_turn(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

TL_ALWAYS_INLINE void tl_hasher_round(tl_hasher *h)
{
    uint64_t a = h->v[0] + h->v[1], b = tl_hasher_turn(h->v[1], 13) ^ a;
    uint64_t c = h->v[2] + h->v[3], d = tl_hasher_turn(h->v[3], 16) ^ c;
    a = tl_hasher_turn(a, 32) + d;
    c += b;
    h->v[0] = a;
    h->v[1] = tl_hasher_turn(b, 17) ^ c;
    h->v[2] = tl_hasher_turn(c, 32);
    h->v[3] = tl_hasher_turn(d, 21) ^ a;
}

TL_ALWAYS_INLINE void tl_hasher_add(tl_hasher *h, uint64_t number)
{
    h->v[3] ^= number;
    tl_hasher_round(h);
    h->v[0] ^= number;
}

/* Adds bytes. When adding several byte strings, add their lengths, too. */
void tl_hasher_bytes(tl_hasher *h, const void *p, size_t n);
/* Adds the length of a NUL-terminated text, and the text; NULL differs from every text. */
void tl_hasher_text(tl_hasher *h, const char *s);

TL_ALWAYS_INLINE uint64_t tl_hasher_end(tl_hasher h)
{
    h.v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        tl_hasher_round(&h);
    return h.v[0] ^ h.v[1] ^ h.v[2] ^ h.v[3];
}

/* SipHash-2-4 of bytes with a key of zeros: what servers of ClickHouse call sipHash64(). For output, never for tables.
 */
uint64_t tl_siphash_24(const void *p, size_t n);
/* SipHash-1-3 of bytes with the key of this run. */
uint64_t tl_hash_bytes(const void *p, size_t n);

/* --- numbers --- */

/* Odd numbers derived from the key; 0 before the first tl_hash_seed() or tl_hasher_begin(). */
__attribute__((visibility("hidden"))) extern uint64_t tl_hash_odd[3];

/* The seed of a table of numbers. Call before tl_hash_spread(): it draws the key. */
uint64_t tl_hash_seed(const void *table);

/* The place of a number in a table: the bits from 32 up. Every event needs it, and SipHash takes about twice as long,
 * so this is two products with secret factors. One is enough against chosen keys (multiply-shift hashing is universal),
 * but sequences of keys stay sequences and some factors crowd them into few places. The second product, of the folded
 * halves of the first, spreads them. */
TL_ALWAYS_INLINE uint64_t tl_hash_spread(uint64_t key, uint64_t seed)
{
    const tl_wide product = tl_multiply(key ^ seed, tl_hash_odd[0]);
    return (product.low ^ product.high) * tl_hash_odd[1];
}

TL_ALWAYS_INLINE uint32_t tl_hash_place(uint64_t key, uint64_t seed)
{
    return (uint32_t)(tl_hash_spread(key, seed) >> 32);
}

#endif
