/* Shared by the answers about instructions. */
#include "analysis/instruction/insn_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/number.h"
#include "op/symbols/code_map.h"
#include "op/symbols/demangle.h"

#define PLACE_NAME 1000u /* longest name of a function in these tables: longer ones are cut */

static const tl_code_symbol *symbol_at(const tl_at *at, uint64_t pc)
{
    const struct tl_code_map *code = at->part->answer->code;
    return code ? tl_code_map_find(code, pc, NULL) : NULL;
}

/* "main+0x1c", or "main" alone, in scratch. */
static const char *name_of(const tl_at *at, const tl_code_symbol *s, uint64_t offset)
{
    tl_cell place = {.kind = TL_CELL_NULL};
    char *readable = at->part->answer->no_demangle ? NULL : tl_demangle(s->name);
    const char *name = readable ? readable : s->name;
    const int room = (int)strnlen(name, PLACE_NAME);
    if (offset)
        tl_cell_printf(at, &place, "%.*s+0x%" PRIx64, room, name, offset);
    else
        tl_cell_printf(at, &place, "%.*s", room, name);
    free(readable);
    return place.text;
}

const char *tl_insn_place(const tl_at *at, uint64_t pc)
{
    const tl_code_symbol *s = symbol_at(at, pc);
    return s ? name_of(at, s, pc - s->from) : NULL;
}

static uint64_t pc_at(const tl_at *at)
{
    return *(const uint64_t *)(const void *)((const char *)at->row + at->column->which);
}

void tl_get_place(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, tl_insn_place(at, pc_at(at)));
}

void tl_get_symbol(const tl_at *at, tl_cell *out)
{
    const tl_code_symbol *s = symbol_at(at, pc_at(at));
    tl_cell_text(out, s ? name_of(at, s, 0) : NULL);
}

void tl_get_symbol_offset(const tl_at *at, tl_cell *out)
{
    const tl_code_symbol *s = symbol_at(at, pc_at(at));
    if (s)
        tl_cell_u64(out, pc_at(at) - s->from);
}

uint64_t tl_levels_without(const uint64_t insns[static TL_INSN_LEVELS])
{
    const uint64_t all = (1u << TL_INSN_LEVELS) - 1;
    uint64_t with = 0;
    for (unsigned i = 0; i < TL_INSN_LEVELS; i++)
        with |= (uint64_t)(insns[i] != 0) << i;
    return with & (with - 1) ? all & ~with : all;
}

void tl_say_faint(const tl_prose *p, uint64_t n, const char *text)
{
    char number[32];
    tl_output_printf(p->out, "%s%s %s%s\n", tl_style_on(p->terminal, TL_FAINT),
                     tl_human_grouped(number, sizeof number, n), text, tl_style_on(p->terminal, TL_PLAIN_TEXT));
}
