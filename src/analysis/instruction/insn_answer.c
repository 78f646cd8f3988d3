/* Shared by the answers about instructions. */
#include "analysis/instruction/insn_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/number.h"
#include "op/symbols/code_map.h"
#include "op/symbols/demangle.h"

#define PLACE_NAME 1000u /* longest name of a function in these tables: longer ones are cut */

const char *tl_insn_place(const tl_at *at, uint64_t pc)
{
    const tl_answer *a = at->part->answer;
    const tl_code_symbol *s = a->code ? tl_code_map_find(a->code, pc, NULL) : NULL;
    tl_cell place = {.kind = TL_CELL_NULL};
    if (!s)
        return NULL;
    char *readable = a->no_demangle ? NULL : tl_demangle(s->name);
    const char *name = readable ? readable : s->name;
    const int room = (int)strnlen(name, PLACE_NAME);
    if (pc > s->from)
        tl_cell_printf(at, &place, "%.*s+0x%" PRIx64, room, name, pc - s->from);
    else
        tl_cell_printf(at, &place, "%.*s", room, name);
    free(readable);
    return place.text;
}

void tl_get_place(const tl_at *at, tl_cell *out)
{
    tl_cell_text(out, tl_insn_place(at, *(const uint64_t *)(const void *)((const char *)at->row + at->column->which)));
}

uint64_t tl_levels_without(const uint64_t insns[static TL_INSN_LEVELS])
{
    const uint64_t all = (1u << TL_INSN_LEVELS) - 1;
    uint64_t with = 0;
    for (unsigned i = 0; i < TL_INSN_LEVELS; i++)
        with |= (uint64_t)(insns[i] != 0) << i;
    return with & (with - 1) ? all & ~with : all;
}

void tl_part_of(tl_part *part, uint64_t all, const char *what)
{
    part->left_out = all - part->n;
    part->of = what;
}

void tl_say_faint(const tl_prose *p, uint64_t n, const char *text)
{
    char number[32];
    tl_output_printf(p->out, "%s%s %s%s\n", tl_style_on(p->terminal, TL_FAINT),
                     tl_human_grouped(number, sizeof number, n), text, tl_style_on(p->terminal, TL_PLAIN_TEXT));
}
