/* Tables of the events of some kinds. */
#include <string.h>

#include "op/scan/event_scan.h"

static const uint8_t of_instructions[] = {
    TL_EVENT_TRACE, TL_EVENT_ID,     TL_EVENT_TS,    TL_EVENT_RANK,       TL_EVENT_TRACK,     TL_EVENT_THREAD,
    TL_EVENT_PC,    TL_EVENT_OPCODE, TL_EVENT_LEVEL, TL_EVENT_CODE_CLASS, TL_EVENT_CODE_NAME, TL_EVENT_CODE_OFFSET};

static const uint8_t of_accesses[] = {TL_EVENT_TRACE,   TL_EVENT_ID,     TL_EVENT_TS,        TL_EVENT_RANK,
                                      TL_EVENT_TRACK,   TL_EVENT_THREAD, TL_EVENT_ACCESS_PC, TL_EVENT_ACCESS,
                                      TL_EVENT_ADDRESS, TL_EVENT_SIZE,   TL_EVENT_VALUE};

static const struct {
    tl_table_info info;
    uint32_t parts;
    tl_event_table table;
} tables[TL_EVENT_TABLES] = {
    {{"events", "everything that happened, stream by stream", TL_NEEDS_EVENTS},
     TL_EVENTS_PARTS,
     {.part = tl_events_part}},
    {{"instructions", "instructions that were executed", TL_NEEDS_INSNS},
     TL_COUNT(of_instructions),
     {.part = of_instructions, .kinds = 1u << TL_INSN}},
    {{"accesses", "loads and stores", TL_NEEDS_INSNS},
     TL_COUNT(of_accesses),
     {.part = of_accesses, .kinds = 1u << TL_MEM}},
};

bool tl_event_table_make(uint32_t i, tl_scan_table *out, const tl_dataset *d, tl_arena *arena)
{
    tl_column_info *column = tl_arena_alloc(arena, tables[i].parts * sizeof *column);
    uint32_t ts = TL_NO_ORDER;
    for (uint32_t k = 0; column && k < tables[i].parts; k++) {
        const uint8_t part = tables[i].table.part[k];
        column[k] = tl_event_part_column[part];
        ts = part == TL_EVENT_TS ? k : ts;
    }
    *out = (tl_scan_table){.info = tables[i].info,
                           .column = column,
                           .ncolumn = tables[i].parts,
                           .order = tl_event_scan_order(d, ts),
                           .rows = tl_event_scan_guess(d),
                           .arg = &tables[i].table,
                           .is_large = true,
                           .keeps = tl_event_scan_keeps,
                           .open = tl_event_scan_open,
                           .parts = tl_event_scan_parts};
    return column != NULL;
}
