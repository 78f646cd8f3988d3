/* Encodings of Parquet: numbers as differences, numbers of few bits in runs, bits. */
#ifndef TL_BASE_PARQUET_ENCODE_H
#define TL_BASE_PARQUET_ENCODE_H

#include "base/protobuf.h"

/* Bits that the largest of these numbers needs. */
static inline unsigned tl_bits_of(uint64_t v)
{
    return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

/* Adds DELTA_BINARY_PACKED of n numbers. */
void tl_parquet_put_deltas(tl_pb *out, const uint64_t *v, uint32_t n);
/* Adds runs (RLE) and packed groups of numbers of `width` bits (1 .. 32), without their length. */
void tl_parquet_put_runs(tl_pb *out, const uint32_t *v, uint32_t n, unsigned width);
/* The same for bits, the lowest of a byte first. */
void tl_parquet_put_bit_runs(tl_pb *out, const uint8_t *bits, uint32_t n);

#endif
