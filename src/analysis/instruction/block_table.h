/* Basic blocks and how often each was executed. A block's start and number of instructions identify it: one cut short
 * by an interrupt, or entered in its middle, is another block. */
#ifndef TL_ANALYSIS_BLOCK_TABLE_H
#define TL_ANALYSIS_BLOCK_TABLE_H

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "base/pair_map.h"
#include "isa/a64_block.h"

#define TL_BLOCKS_MAX (1u << 24) /* distinct ones; more is TL_ENOMEM: such a table is useless */

#define TL_BLOCKS_RECENT 1024u

typedef struct tl_blocks {
    tl_pair_map map;      /* start and length -> index */
    uint64_t *executions; /* by index */
    uint32_t capacity;    /* of executions */
    uint64_t without_pc;  /* instructions of unknown blocks */
    uint64_t insns;       /* all of them */

    /* State of reading. */
    tl_insn_classes classes;
    a64_cutter cutter;
    uint64_t start, length; /* the open block; length 0: none */
    bool has_pc;
    uint32_t recent[TL_BLOCKS_RECENT]; /* recent blocks, by some of their bits: faster than the map */
} tl_blocks;
extern const tl_insn_table tl_blocks_table;

/* A row of the table. */
typedef struct tl_insn_block {
    uint64_t start, length, executions;
} tl_insn_block;

/* All blocks, most instructions first, ties by start and length; the caller frees them. NULL when memory runs out.
 * Their number is b->map.n. */
tl_insn_block *tl_blocks_rows(const tl_blocks *b);

#endif
