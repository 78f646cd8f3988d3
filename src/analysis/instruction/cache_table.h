/* Hits and misses of simulated caches, and the instructions whose data was not there.
 *
 * Every stream has caches of its own, which are empty when it begins; the numbers are added up. Instructions whose pc
 * is not known do not look at the caches of instructions.
 *
 * Memory: 8 bytes for each line of the caches and a worker; up to 128 bytes for each pc that missed, at most
 * TL_CACHE_PCS_MAX. */
#ifndef TL_ANALYSIS_CACHE_TABLE_H
#define TL_ANALYSIS_CACHE_TABLE_H

#include "analysis/instruction/cache_sim.h"
#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "base/hash.h"

#define TL_CACHE_PCS_MAX (1u << 24) /* 64 MiB of code that all misses: more is TL_ENOMEM */

/* Lookups in L1D that missed, by the instruction that did them. */
typedef struct tl_cache_pc {
    uint64_t pc;
    uint64_t loads, stores;
    uint64_t l2; /* of both: those that L2 missed, too */
} tl_cache_pc;

typedef struct tl_caches {
    tl_cache_setup setup;
    tl_cache_sim sim;
    uint64_t instructions; /* also those without a pc */
    tl_cache_pc *pc;
    uint32_t npc, capacity;
    tl_hash index;
    tl_cache_pc without_pc; /* misses of instructions whose pc is not known */
    uint64_t now;           /* pc of the instruction that is executed, if has_pc */
    bool has_pc;
    tl_insn_classes classes;
} tl_caches;

/* Options: a tl_cache_setup, or NULL for tl_cache_default. */
extern const tl_insn_table tl_cache_table;

/* Indexes of the pcs, with most misses first; to be freed. NULL when memory runs out. */
uint32_t *tl_caches_sort(const tl_caches *c);

#endif
