/* Which mappings of an enumeration a value matches.
 *
 * Metadata may have hundreds of thousands of labels, and a trace as many values: finding each takes about as many steps
 * as it has labels, however their ranges overlap. */
#ifndef TL_MODEL_ENUM_RANGES_H
#define TL_MODEL_ENUM_RANGES_H

#include "base/arena.h"
#include "traceloom/model.h"

/* Values (or bits) whose label comes from the same mapping, the first with this label that contains them. So ranges of
 * one label do not overlap. */
typedef struct tl_enum_range {
    uint64_t low, high; /* biased, inclusive */
    uint64_t most;      /* the highest `high` in the part of the array with this middle */
    uint32_t mapping;
} tl_enum_range;

typedef struct tl_enum_ranges {
    tl_enum_range *range; /* [n], by low */
    uint32_t n;
} tl_enum_ranges;

/* group: for each mapping the index of the first one with the same label. bias: XORed with values so that they sort as
 * unsigned. No value exceeds `highest`. False when memory runs out. */
bool tl_enum_ranges_make(tl_enum_ranges *r, tl_arena *a, const tl_mapping *mapping, const uint32_t *group, uint32_t n,
                         uint64_t bias, uint64_t highest);
/* Calls found() for each range that contains the (biased) value. Returns how many ranges it examined. */
uint32_t tl_enum_ranges_find(const tl_enum_ranges *r, uint64_t value, void (*found)(void *arg, uint32_t mapping),
                             void *arg);

#endif
