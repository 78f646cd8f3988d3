/* The answer of `record --dry-run`: relations of objects, of reasons, and of the functions that are left out. */
#include "base/text/number.h"
#include "cli/record/info_patch.h"

#define LISTED 20u /* functions, on a terminal */

#define ROW tl_patch_object_row
static const tl_column objects[] = {
    {TL_COL("object", "object", TEXT, NONE, "the file name of the program or library"), TL_AT(TEXT, ROW, object),
     .role = TL_ROLE_NAME},
    {TL_COL("path", NULL, TEXT, NONE, "its path"), TL_AT(TEXT, ROW, path)},
    {TL_COL("functions", "functions", INTEGER, COUNT, "its functions"), TL_AT(U64, ROW, functions), .place = 1},
    {TL_COL("patched", "patched", INTEGER, COUNT, "functions whose calls would be recorded"), TL_AT(U64, ROW, patched),
     .place = 2},
    {TL_COL("left_out", "left out", INTEGER, COUNT, "the others"), TL_AT(U64, ROW, left_out), .place = 3},
    {TL_COL("late", "may end late", INTEGER, COUNT,
            "patched functions of which an end cannot be patched, or may be passed by a jump table"),
     TL_AT(U64, ROW, late), .place = 4},
    {TL_COL("ends", "ends", INTEGER, COUNT, "places where calls of patched functions end"), TL_AT(U64, ROW, ends),
     .place = 5, .drop = 2},
    {TL_COL("ends_patched", NULL, INTEGER, COUNT, "those that would be patched"), TL_AT(U64, ROW, ends_patched)},
    {TL_COL("direct", "direct", INTEGER, COUNT, "places patched by a jump in their own bytes"), TL_AT(U64, ROW, direct),
     .place = 6, .drop = 3},
    {TL_COL("punned", "punned", INTEGER, COUNT, "places whose jump shares bytes with the next instructions"),
     TL_AT(U64, ROW, punned), .place = 7, .drop = 3},
    {TL_COL("evicted", "evicted", INTEGER, COUNT, "places where the next instruction was moved first"),
     TL_AT(U64, ROW, evicted), .place = 8, .drop = 3},
    {TL_COL("several", "several", INTEGER, COUNT, "places where several instructions were moved at once"),
     TL_AT(U64, ROW, several), .place = 9, .drop = 3},
    {TL_COL("bytes", "memory", INTEGER, BYTES, "pages for jumps and moved code"), TL_AT(U64, ROW, bytes), .place = 10,
     .drop = 1},
};
#undef ROW

#define ROW tl_patch_reason_row
static const tl_column reasons[] = {
    {TL_COL("object", "object", TEXT, NONE, "the file name of the program or library"), TL_AT(TEXT, ROW, object),
     .place = 2},
    {TL_COL("reason", "why they are left out", TEXT, NONE, "why functions are left out"), TL_AT(TEXT, ROW, reason),
     .role = TL_ROLE_NAME},
    {TL_COL("functions", "functions", INTEGER, COUNT, "how many"), TL_AT(U64, ROW, functions), .place = 1},
};
#undef ROW

static void get_reason(const tl_at *at, tl_cell *out)
{
    const tl_patch_function_row *r = at->row;
    if (r->has_detail)
        tl_cell_printf(at, out, "%s: %s at 0x%llx", r->what, r->reason, (unsigned long long)r->detail);
    else
        tl_cell_printf(at, out, "%s: %s", r->what, r->reason);
}

#define ROW tl_patch_function_row
static const tl_column functions[] = {
    {TL_COL("object", "object", TEXT, NONE, "the file name of its program or library"), TL_AT(TEXT, ROW, object),
     .place = 3, .drop = 1},
    {TL_COL("name", "function", TEXT, NONE, "its name, or the object and its address"), TL_AT(TEXT, ROW, name),
     .role = TL_ROLE_NAME},
    {TL_COL("address", "address", INTEGER, HEX, "its address in the file"), TL_AT(U64, ROW, address), .place = 1},
    {TL_COL("size", "bytes", INTEGER, COUNT, "bytes of its code"), TL_AT(U64, ROW, size), .place = 2, .drop = 2},
    {TL_COL("what", NULL, TEXT, NONE, "left out, or may end late: an end cannot be patched, or may be passed"),
     TL_AT(TEXT, ROW, what)},
    {TL_COL("reason", NULL, TEXT, NONE, "why"), TL_AT(TEXT, ROW, reason)},
    {TL_COL("detail", NULL, INTEGER, HEX, "the address of what is not understood"), TL_AT(U64, ROW, detail),
     TL_ONLY_IF(ROW, has_detail)},
    {TL_COL(NULL, "why", TEXT, NONE, NULL), .get = get_reason, .place = 4},
};
#undef ROW

static void say_head(const tl_answer *a, const tl_prose *p)
{
    const tl_patch_info *info = a->table;
    for (uint32_t i = 0; i < info->nobject; i++) {
        const tl_patch_object_row *o = &info->object[i];
        char patched[32], all[32];
        tl_say_styled(p, TL_STRONG, o->object);
        tl_output_printf(p->out, ": %s of %s functions would be patched while it runs\n",
                         tl_human_grouped(patched, sizeof patched, o->patched),
                         tl_human_grouped(all, sizeof all, o->functions));
    }
}

static void add_list(const tl_patch_info *info, const tl_arguments *args, const tl_ask *ask, tl_answer *a)
{
    const bool all = args->verbose && !ask->has_top;
    tl_ask listed = *ask;
    if (!ask->for_programs && !ask->has_top && !args->verbose)
        return;
    listed.has_top = listed.has_top || all;
    TL_ADD_TOP(a, &listed, "left_out", functions, info->function, NULL, info->nfunction, LISTED, "functions", 40);
}

void tl_patch_info_answer(const tl_patch_info *info, const tl_arguments *args, const tl_ask *ask, tl_answer *a)
{
    a->table = info;
    a->head = say_head;
    if (ask->for_programs) /* the one relation of tables */
        add_list(info, args, ask, a);
    TL_ADD_ROWS(a, ask, "objects", objects, info->object, NULL, info->nobject);
    if (ask->for_programs || info->nreason)
        TL_ADD_ROWS(a, ask, "reasons", reasons, info->reason, NULL, info->nreason);
    if (!ask->for_programs)
        add_list(info, args, ask, a);
}
