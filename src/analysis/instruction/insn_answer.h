/* Shared by the answers about instructions. */
#ifndef TL_ANALYSIS_INSN_ANSWER_H
#define TL_ANALYSIS_INSN_ANSWER_H

#include "analysis/instruction/mix_table.h"
#include "analysis/table_kind.h"

/* "main+0x1c": the function that contains a pc, in scratch; NULL if unknown. */
const char *tl_insn_place(const tl_at *at, uint64_t pc);
/* The same as columns, for a pc that is a member of the row: to people at once, for programs the name and the rest. */
void tl_get_place(const tl_at *at, tl_cell *out);
void tl_get_symbol(const tl_at *at, tl_cell *out);
void tl_get_symbol_offset(const tl_at *at, tl_cell *out);
#define TL_SYMBOL(type, pc)                                                                                            \
    {TL_COL("function_name", NULL, TEXT, NONE, "the function that it is in; null: unknown"), .get = tl_get_symbol,     \
     .which = offsetof(type, pc), .flags = TL_LEFT_OUT},                                                               \
    {                                                                                                                  \
        TL_COL("offset", NULL, INTEGER, NONE, "bytes from the start of the function"),                                 \
            .get = tl_get_symbol_offset, .which = offsetof(type, pc), .flags = TL_LEFT_OUT                             \
    }
#define TL_PLACE(type, pc)                                                                                             \
    {                                                                                                                  \
        TL_COL(NULL, "function", TEXT, NONE, NULL), .get = tl_get_place, .which = offsetof(type, pc),                  \
                                                    .role = TL_ROLE_SUFFIX                                             \
    }

/* Bits of exception levels that get no column: those without instructions, or all if only one has some. */
uint64_t tl_levels_without(const uint64_t insns[static TL_INSN_LEVELS]);
/* A less important line: "3 without a known pc". */
void tl_say_faint(const tl_prose *p, uint64_t n, const char *text);

#endif
