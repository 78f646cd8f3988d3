/* The key of a run, and hashes of bytes. */
#include "base/hasher.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/endian.h"

uint64_t tl_hash_odd[3];

static uint64_t key[2];

static tl_hasher begin(const uint64_t k[2])
{
    return (tl_hasher){{k[0] ^ 0x736f6d6570736575u, k[1] ^ 0x646f72616e646f6du, k[0] ^ 0x6c7967656e657261u,
                        k[1] ^ 0x7465646279746573u}};
}

static void draw_key(void)
{
    if (getrandom(key, sizeof key, GRND_NONBLOCK) !=
        sizeof key) { /* not available: use time, process id and addresses, which are hard to guess */
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        key[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec << 16 ^ (uint64_t)getpid();
        key[1] = (uint64_t)(uintptr_t)&now ^ (uint64_t)(uintptr_t)&draw_key << 24;
    }
    for (unsigned i = 0; i < TL_COUNT(tl_hash_odd); i++) {
        tl_hasher h = begin(key);
        tl_hasher_add(&h, i);
        tl_hash_odd[i] = tl_hasher_end(h) | 1;
    }
}

tl_hasher tl_hasher_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, draw_key);
    return begin(key);
}

tl_hasher tl_hasher_stable(void)
{
    return begin((const uint64_t[2]){0, 0});
}

void tl_hasher_bytes(tl_hasher *h, const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t last = (uint64_t)n << 56;
    tl_hasher x = *h;
    for (; n >= 8; p += 8, n -= 8)
        tl_hasher_add(&x, tl_load64(p, false));
    while (n-- > 0)
        last |= (uint64_t)p[n] << 8 * n;
    tl_hasher_add(&x, last);
    *h = x;
}

void tl_hasher_text(tl_hasher *h, const char *s)
{
    const size_t n = s ? strlen(s) : 0;
    tl_hasher_add(h, s ? n : UINT64_MAX);
    tl_hasher_bytes(h, s, n);
}

uint64_t tl_hash_bytes(const void *data, size_t n)
{
    tl_hasher h = tl_hasher_begin();
    tl_hasher_bytes(&h, data, n);
    return tl_hasher_end(h);
}

uint64_t tl_hash_seed(const void *table)
{
    tl_hasher h = tl_hasher_begin();
    tl_hasher_add(&h, (uintptr_t)table);
    return tl_hasher_end(h);
}

uint64_t tl_siphash_24(const void *p, size_t n)
{
    tl_hasher h = tl_hasher_stable();
    const uint8_t *at = p;
    for (size_t i = 0; i <= n / 8; i++) {
        uint64_t word = (uint64_t)n << 56;
        if (i < n / 8)
            word = tl_load64(at + 8 * i, false);
        else
            for (size_t k = n % 8; k-- > 0;)
                word |= (uint64_t)at[8 * i + k] << 8 * k;
        h.v[3] ^= word;
        tl_hasher_round(&h);
        tl_hasher_round(&h);
        h.v[0] ^= word;
    }
    h.v[2] ^= 0xff;
    for (unsigned i = 0; i < 4; i++)
        tl_hasher_round(&h);
    return h.v[0] ^ h.v[1] ^ h.v[2] ^ h.v[3];
}
