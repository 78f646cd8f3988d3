/* Encodings of Parquet.
 *
 *   DELTA_BINARY_PACKED   varints: numbers of a block (2048), parts of a block (8), numbers in all; the first number,
 *                         zigzag. Then blocks: the least difference, zigzag; for each part of 256 how many bits its
 *                         numbers have (a byte); the differences less the least, packed
 *   RLE                   varint: twice the length of a run, then its number in whole bytes; or twice the number of
 *                         groups of eight and 1, then those, packed
 *
 * Packed numbers begin at the lowest bit of the first byte. */
#include "base/columnar/parquet_encode.h"

#include <string.h>

#include "base/columnar/thrift_write.h"
#include "base/compiler.h"
#include "base/endian.h"
#include "base/grow.h"

/* Long parts: numbers of one width repeat where values do, and compression finds that. */
enum { BLOCK = 2048, PARTS = 8, PART = BLOCK / PARTS, GROUP = 8, RUN_LEAST = 8 };

/* Room for n more bytes at the end, or NULL. */
static uint8_t *room(tl_pb *out, size_t n)
{
    if (out->failed || !TL_GROW(out->data, out->n, n, out->capacity)) {
        out->failed = true;
        return NULL;
    }
    return out->data + out->n;
}

/* Packs PART numbers of `width` bits into 32 * width bytes. */
static uint8_t *pack_part(uint8_t *p, const uint64_t *v, unsigned width)
{
    uint64_t waiting = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < PART; i++) {
        waiting |= v[i] << n;
        n += width;
        if (n >= 64) {
            tl_store64(p, waiting, false);
            p += 8;
            n -= 64;
            waiting = n ? v[i] >> (width - n) : 0;
        }
    }
    return p; /* nothing is left of 256 numbers */
}

static void put_block(tl_pb *out, const uint64_t *v, unsigned n)
{
    uint64_t difference[BLOCK];
    int64_t least = INT64_MAX;
    for (unsigned i = 0; i < n; i++) {
        difference[i] = v[i + 1] - v[i];
        least = (int64_t)difference[i] < least ? (int64_t)difference[i] : least;
    }
    for (unsigned i = 0; i < n; i++)
        difference[i] -= (uint64_t)least;
    memset(difference + n, 0, (BLOCK - n) * sizeof *difference);
    tl_pb_varint(out, tl_zigzag(least));
    uint8_t *width = room(out, PARTS + BLOCK * sizeof *difference), *p = width + PARTS;
    if (!width)
        return;
    for (unsigned part = 0; part < PARTS; part++) {
        const uint64_t *d = difference + part * PART;
        uint64_t any = 0;
        for (unsigned i = 0; i < PART; i++)
            any |= d[i];
        width[part] = (uint8_t)tl_bits_of(any);
        if (part * PART < n && any)
            p = pack_part(p, d, width[part]);
    }
    out->n += (size_t)(p - width);
}

void tl_parquet_put_deltas(tl_pb *out, const uint64_t *v, uint32_t n)
{
    tl_pb_varint(out, BLOCK);
    tl_pb_varint(out, PARTS);
    tl_pb_varint(out, n);
    tl_pb_varint(out, tl_zigzag(n ? (int64_t)v[0] : 0));
    for (uint32_t i = 1; i < n; i += BLOCK)
        put_block(out, v + i - 1, n - i < BLOCK ? n - i : BLOCK);
}

/* Packs groups; numbers behind the last are 0. */
static void put_groups(tl_pb *out, const uint32_t *v, uint32_t n, unsigned width)
{
    const uint32_t groups = (n + GROUP - 1) / GROUP;
    uint64_t waiting = 0;
    unsigned bits = 0;
    tl_pb_varint(out, (uint64_t)groups << 1 | 1);
    uint8_t *p = room(out, (size_t)groups * width + 8);
    if (!p)
        return;
    for (uint32_t i = 0; i < groups * GROUP; i++) {
        waiting |= (uint64_t)(i < n ? v[i] : 0) << bits;
        bits += width;
        if (bits >= 32) {
            tl_store32(p, (uint32_t)waiting, false);
            p += 4;
            waiting >>= 32;
            bits -= 32;
        }
    }
    tl_store32(p, (uint32_t)waiting, false);
    out->n += (size_t)groups * width;
}

static uint32_t run_at(const uint32_t *v, uint32_t i, uint32_t n)
{
    uint32_t end = i + 1;
    while (end < n && v[end] == v[i])
        end++;
    return end - i;
}

void tl_parquet_put_runs(tl_pb *out, const uint32_t *v, uint32_t n, unsigned width)
{
    for (uint32_t i = 0; i < n;) {
        const uint32_t run = run_at(v, i, n);
        if (run >= RUN_LEAST) {
            uint8_t number[4];
            tl_pb_varint(out, (uint64_t)run << 1);
            tl_store32(number, v[i], false);
            tl_pb_raw(out, number, (width + 7) / 8);
            i += run;
            continue;
        }
        uint32_t end = i;
        do /* groups until one begins a run */
            end = n - end < GROUP ? n : end + GROUP;
        while (end < n && run_at(v, end, end + RUN_LEAST < n ? end + RUN_LEAST : n) < RUN_LEAST);
        put_groups(out, v + i, end - i, width);
        i = end;
    }
}

void tl_parquet_put_bit_runs(tl_pb *out, const uint8_t *bits, uint32_t n)
{
    const uint32_t bytes = (n + 7) / 8;
    for (uint32_t i = 0; i < bytes;) {
        uint32_t end = i;
        const uint8_t first = bits[i];
        if (first == 0 || first == 0xff) { /* in the last byte, bits behind the end are 0 */
            while (end < bytes && bits[end] == first)
                end++;
            const uint32_t run = end * 8 < n ? (end - i) * 8 : n - i * 8;
            const uint8_t bit = first & 1;
            tl_pb_varint(out, (uint64_t)run << 1);
            tl_pb_raw(out, &bit, 1);
        } else {
            while (end < bytes && bits[end] != 0 && bits[end] != 0xff)
                end++;
            tl_pb_varint(out, (uint64_t)(end - i) << 1 | 1);
            tl_pb_raw(out, bits + i, end - i);
        }
        i = end;
    }
}
