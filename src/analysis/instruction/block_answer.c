/* The relation `blocks`: the basic blocks in which most instructions were executed. */
#include <stdlib.h>

#include "analysis/instruction/block_table.h"
#include "analysis/instruction/insn_answer.h"
#include "base/text/number.h"

#define BLOCK_ROWS 20u /* on a terminal */

static uint64_t insns_of(const tl_insn_block *block)
{
    return block->executions * block->length;
}

static void get_insns(const tl_at *at, tl_cell *out)
{
    tl_cell_u64(out, insns_of(at->row));
}

static void get_share(const tl_at *at, tl_cell *out)
{
    tl_cell_share(out, (double)insns_of(at->row), (double)((const tl_blocks *)at->table)->insns);
}

static const tl_column blocks[] = {
    {TL_COL("start", "block", INTEGER, HEX, "address of the first instruction"), TL_AT(U64, tl_insn_block, start),
     .role = TL_ROLE_NAME},
    {TL_COL(NULL, "instructions", INTEGER, COUNT, NULL), .get = get_insns},
    {TL_COL(NULL, "share", REAL, SHARE, NULL), .get = get_share, .flags = TL_WITH_BAR, .drop = 3},
    {TL_COL("length", NULL, INTEGER, COUNT, "instructions in the block"), "instructions",
     TL_AT(U64, tl_insn_block, length)},
    {TL_COL("executions", "executions", INTEGER, COUNT, "times the block was executed"),
     TL_AT(U64, tl_insn_block, executions)},
    {TL_COL(NULL, "length", INTEGER, COUNT, NULL), TL_AT(U64, tl_insn_block, length), .drop = 1},
    TL_SYMBOL(tl_insn_block, start),
    TL_PLACE(tl_insn_block, start),
};

static const tl_column without_pc[] = {
    {TL_COL("without_pc", NULL, INTEGER, COUNT, "instructions whose block is not known"),
     TL_AT(U64, tl_blocks, without_pc)},
};

/* How many of the first blocks have `part` of all instructions. */
static uint32_t blocks_of(const tl_insn_block *block, uint32_t n, double part, uint64_t insns)
{
    uint32_t i = 0;
    for (double sum = 0; i < n && sum < part * (double)insns; i++)
        sum += (double)insns_of(&block[i]);
    return i;
}

static void head(const tl_answer *a, const tl_prose *p)
{
    const tl_blocks *b = a->table;
    const tl_insn_block *block = a->detail;
    const uint32_t n = b->map.n;
    const uint64_t known = b->insns - b->without_pc;
    uint64_t executions = 0;
    char text[32];
    for (uint32_t i = 0; i < n; i++)
        executions += block[i].executions;
    tl_say_subject(a, p);
    tl_say_count(p, n, "block", "blocks");
    tl_output_puts(p->out, ", executed ");
    tl_say_count(p, executions, "time: ", "times: ");
    tl_say_count(p, known, "instruction", "instructions");
    if (executions)
        tl_output_printf(p->out, ", %.1f each time", (double)known / (double)executions);
    tl_output_puts(p->out, "\n");
    if (n > 1) {
        tl_output_puts(p->out, "half of them are in ");
        tl_say_count(p, blocks_of(block, n, 0.5, known), "block", "blocks");
        tl_output_printf(p->out, ", 90 %% in %s\n",
                         tl_human_grouped(text, sizeof text, blocks_of(block, n, 0.9, known)));
    }
    if (b->without_pc)
        tl_say_faint(p, b->without_pc, "without a known pc in none");
}

static int answer(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const tl_blocks *b = table;
    tl_insn_block *block = tl_blocks_rows(b);
    (void)e;
    tl_answer_own(a, block);
    a->unit = "instructions";
    a->head = head;
    a->detail = block;
    TL_ADD_TOP(a, ask, "blocks", blocks, block, NULL, b->map.n, BLOCK_ROWS, "blocks", 18);
    if (ask->for_programs)
        TL_ADD_FACTS(a, ask, without_pc, b);
    return 0;
}

const tl_table_kind tl_table_block = {.info = {"block", "basic blocks that were executed most", TL_NEEDS_INSNS},
                                      .sql = "blocks",
                                      .what = "instructions",
                                      .tab = "code",
                                      .pass = &tl_blocks_table,
                                      TL_EMPTY_IF_0(tl_blocks, insns),
                                      .answer = answer,
                                      TL_TABLE_COLUMNS(blocks)};
