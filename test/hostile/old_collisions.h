/* Names that collided in every table while the hash had no key: h = mix(h ^ word) * G for each eight bytes, from a
 * known start. A pair of words (a, b) leads to the state mix(mix(h ^ a) * G ^ b) * G, so any `a` has a `b` that leads
 * to a given state, and one `a` in 65,536 has a `b` of letters. Three pairs of 64, 32 and 32 choices are 65,536 names
 * of 48 letters, digits and '_', all of one hash. */
#ifndef TEST_OLD_COLLISIONS_H
#define TEST_OLD_COLLISIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/endian.h"

enum { OLD_NAMES = 65536, OLD_NAME_BYTES = 48 };

#define OLD_FACTOR UINT64_C(0x9e3779b97f4a7c15)

static uint64_t old_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* The former hash, of whole words. */
static uint64_t old_hash(const void *text, size_t n)
{
    uint64_t h = old_mix(n + OLD_FACTOR);
    for (size_t i = 0; i + 8 <= n; i += 8)
        h = old_mix(h ^ tl_load64((const unsigned char *)text + i, false)) * OLD_FACTOR;
    return old_mix(h);
}

/* Eight letters that hold 48 bits of the number; the first one is not a digit. */
static uint64_t old_word(uint64_t number)
{
    static const char letter[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_";
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++, number >>= i == 1 ? 5 : 6)
        word |= (uint64_t)(unsigned char)letter[number & (i == 0 ? 31 : 63)] << 8 * i;
    return word;
}

static bool old_is_text(uint64_t word)
{
    for (; word; word >>= 8) {
        const unsigned char c = word & 0xff, lower = c | 32;
        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '_')
            return false;
    }
    return true;
}

/* The first `n` pairs of words that lead from one state to another, which it returns. */
static uint64_t old_pairs(uint64_t from, uint64_t (*pair)[2], unsigned n)
{
    const uint64_t to = old_mix(from ^ old_word(0)) * OLD_FACTOR ^ old_word(12345);
    unsigned found = 0;
    for (uint64_t i = 0; found < n; i++) {
        const uint64_t a = old_word(i * 2654435761u), b = old_mix(from ^ a) * OLD_FACTOR ^ to;
        if (b >> 56 && old_is_text(b)) {
            pair[found][0] = a;
            pair[found++][1] = b;
        }
    }
    return old_mix(to) * OLD_FACTOR;
}

/* Makes as many names as asked for, from number `first` on, each terminated. */
static void old_collisions(char (*name)[OLD_NAME_BYTES + 1], unsigned n)
{
    uint64_t pair[3][64][2];
    uint64_t state = old_mix(OLD_NAME_BYTES + OLD_FACTOR);
    state = old_pairs(state, pair[0], 64);
    state = old_pairs(state, pair[1], 32);
    old_pairs(state, pair[2], 32);
    for (unsigned i = 0; i < n; i++) {
        const unsigned choice[3] = {i & 63, i >> 6 & 31, i >> 11 & 31};
        for (unsigned k = 0; k < 6; k++)
            tl_store64(name[i] + 8 * k, pair[k / 2][choice[k / 2]][k % 2], false);
        name[i][OLD_NAME_BYTES] = '\0';
    }
}

#endif
