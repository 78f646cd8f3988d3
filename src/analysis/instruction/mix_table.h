/* Kinds of executed instructions, by level, and widths of their memory accesses. */
#ifndef TL_ANALYSIS_MIX_TABLE_H
#define TL_ANALYSIS_MIX_TABLE_H

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "isa/a64.h"

#define TL_INSN_LEVELS 4u  /* 0 .. 3 */
#define TL_MIX_WIDTHS  17u /* of accesses: up to 1, 2, 4, ... 32 Ki, and more bytes */

/* Loads or stores. */
typedef struct tl_mix_accesses {
    uint64_t tokens, bytes;
    uint64_t width[TL_MIX_WIDTHS]; /* accesses of at most 1 << i bytes that fit no earlier one; the last: of any size */
} tl_mix_accesses;

typedef struct tl_mix {
    uint64_t insns[TL_INSN_LEVELS][A64_CLASSES];
    uint64_t without_pc;
    tl_mix_accesses load, store;
    tl_insn_classes classes; /* of the trace being read */
} tl_mix;
extern const tl_insn_table tl_mix_table;

/* A row: a class that was executed. */
typedef struct tl_mix_row {
    a64_class cls;
    uint64_t insns;
} tl_mix_row;

/* Fills row with the classes that occur, the most frequent first, ties by name; returns how many. */
unsigned tl_mix_rows(const tl_mix *m, tl_mix_row row[static A64_CLASSES]);
uint64_t tl_mix_level(const tl_mix *m, unsigned level); /* instructions */
uint64_t tl_mix_insns(const tl_mix *m);                 /* all of them */

#endif
