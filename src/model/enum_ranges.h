/* Which mappings of an enumeration a value matches.
 *
 * Metadata may have hundreds of thousands of labels, and a trace as many values: each is found in about as many steps
 * as it has labels, however their ranges overlap. */
#ifndef TL_MODEL_ENUM_RANGES_H
#define TL_MODEL_ENUM_RANGES_H

#include "base/arena.h"
#include "traceloom/model.h"

/* Values (or bits) that have a label from one and the same mapping, the first of those with this label that hold them.
 * So ranges of one label do not overlap. */
typedef struct tl_enum_range {
    uint64_t low, high; /* biased, both included */
    uint64_t most;      /* the highest high in the part of the array of which this is the middle */
    uint32_t mapping;
} tl_enum_range;

typedef struct tl_enum_ranges {
    tl_enum_range *range; /* [n], by low */
    uint32_t n;
} tl_enum_ranges;

/* group: of each mapping the index of the first one with the same label. bias is added to values by exclusive or, so
 * that their order is that of unsigned numbers. No value is higher than `highest`. False when memory runs out. */
bool tl_enum_ranges_make(tl_enum_ranges *r, tl_arena *a, const tl_mapping *mapping, const uint32_t *group, uint32_t n,
                         uint64_t bias, uint64_t highest);
/* Calls found() for each range that holds the value (biased). Returns how many ranges were looked at. */
uint32_t tl_enum_ranges_find(const tl_enum_ranges *r, uint64_t value, void (*found)(void *arg, uint32_t mapping),
                             void *arg);

#endif
