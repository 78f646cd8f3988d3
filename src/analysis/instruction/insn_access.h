/* Which units of memory (pages, lines of a cache) an access touches. Addresses wrap at 2^64. */
#ifndef TL_ANALYSIS_INSN_ACCESS_H
#define TL_ANALYSIS_INSN_ACCESS_H

#include <stdint.h>

#include "base/compiler.h"

#define TL_INSN_BYTES 4u /* of an instruction */
/* Bytes of one access that count: a vector of registers has 1 KiB, and formats allow at most 32 KiB. Without a limit, a
 * size from a damaged file could keep a table busy for years. */
#define TL_ACCESS_MAX (UINT64_C(1) << 20)

/* How many units of 1 << shift bytes it touches: at least one. */
TL_ALWAYS_INLINE uint64_t tl_access_units(uint64_t address, uint64_t size, unsigned shift)
{
    const uint64_t within = address & ((UINT64_C(1) << shift) - 1);
    if (TL_UNLIKELY(size > TL_ACCESS_MAX))
        size = TL_ACCESS_MAX;
    return size ? ((within + size - 1) >> shift) + 1 : 1;
}

/* Number i of them. */
TL_ALWAYS_INLINE uint64_t tl_access_unit(uint64_t address, uint64_t i, unsigned shift)
{
    return ((address >> shift) + i) & (UINT64_MAX >> shift);
}

#endif
