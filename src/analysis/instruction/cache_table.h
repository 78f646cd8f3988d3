/* Hits and misses of simulated caches, and the instructions with misses.
 *
 * Every stream has caches of its own, initially empty; the numbers are added up. Instructions with an unknown pc do not
 * use the instruction caches.
 *
 * Memory: 8 bytes for each line of the caches, per worker; up to 128 bytes for each pc with misses, at most
 * TL_CACHE_PCS_MAX. */
#ifndef TL_ANALYSIS_CACHE_TABLE_H
#define TL_ANALYSIS_CACHE_TABLE_H

#include "analysis/instruction/cache_sim.h"
#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "base/hash.h"

#define TL_CACHE_PCS_MAX (1u << 24) /* 64 MiB of code in which everything misses: more is TL_ENOMEM */

/* L1D misses, by instruction. */
typedef struct tl_cache_pc {
    uint64_t pc;
    uint64_t loads, stores;
    uint64_t l2; /* of both: those that L2 missed, too */
} tl_cache_pc;

typedef struct tl_caches {
    tl_cache_setup setup;
    tl_cache_sim sim;
    uint64_t instructions; /* including those without a pc */
    tl_cache_pc *pc;
    uint32_t npc, capacity;
    tl_hash index;
    tl_cache_pc without_pc; /* misses of instructions without a known pc */
    uint64_t now;           /* pc of the current instruction, if has_pc */
    bool has_pc;
    tl_insn_classes classes;
} tl_caches;

/* Options: a tl_cache_setup, or NULL for tl_cache_default. */
extern const tl_insn_table tl_cache_table;

/* Indexes of the pcs, most misses first; the caller frees them. NULL when memory runs out. */
uint32_t *tl_caches_sort(const tl_caches *c);

#endif
