/* The relations `lines` and `modules`: sums of a profile whose functions are grouped by location. */
#include <inttypes.h>

#include "analysis/function/profile_answer.h"

/* "Program.cs:42", "IL_0007", or null */
static void get_place(const tl_at *at, tl_cell *out)
{
    const tl_function *f = tl_row_function(at);
    tl_get_source(at, out);
    if (out->kind == TL_CELL_NULL && f->flags & TL_FUNCTION_OFFSET)
        tl_cell_printf(at, out, "IL_%04" PRIx32, f->offset);
}

/* If the location is unknown, the name of the function. */
static void get_place_or_name(const tl_at *at, tl_cell *out)
{
    get_place(at, out);
    if (out->kind == TL_CELL_NULL)
        tl_get_function(at, out);
}

static void get_name_behind(const tl_at *at, tl_cell *out)
{
    get_place(at, out);
    if (out->kind == TL_CELL_NULL)
        return;
    *out = (tl_cell){.kind = TL_CELL_NULL};
    tl_get_function(at, out);
}

static void get_offset(const tl_at *at, tl_cell *out)
{
    const tl_function *f = tl_row_function(at);
    if (f->flags & TL_FUNCTION_OFFSET)
        tl_cell_u64(out, f->offset);
}

static void get_module(const tl_at *at, tl_cell *out)
{
    const char *name = tl_row_function(at)->name;
    tl_cell_text(out, name || !at->part->for_people ? name : "(unknown)");
}

#define SUMS                                                                                                           \
    TL_CALLS(4, 2), TL_TICKS("total", stat.total, 3, 1, "time there and in what was called from there"),               \
        TL_TICKS("self", stat.self, 1, 0, "time there alone"),                                                         \
    {                                                                                                                  \
        TL_COL(NULL, "share", REAL, SHARE, NULL), TL_AT(U64, tl_row, stat.self), .flags = TL_WITH_BAR, .place = 2      \
    }

static const tl_column lines[] = {
    {TL_COL("function", NULL, TEXT, NONE, "the function that the line is in"), .get = tl_get_function},
    {TL_COL("function_id", NULL, INTEGER, NONE, "its number"), "id", .get = tl_get_function_id},
    {TL_COL("file", NULL, TEXT, NONE, "the source file"), .get = tl_get_file},
    {TL_COL("line", NULL, INTEGER, NONE, "the line in it"), .get = tl_get_line},
    {TL_COL("il_offset", NULL, INTEGER, NONE, "the offset in the function's intermediate code"), .get = get_offset},
    SUMS,
    {TL_COL(NULL, "line", TEXT, NONE, NULL), .get = get_place_or_name, .role = TL_ROLE_NAME},
    {TL_COL(NULL, "function", TEXT, NONE, NULL), .get = get_name_behind, .role = TL_ROLE_SUFFIX},
};

static const tl_column modules[] = {
    {TL_COL("module", "module", TEXT, NONE, "the library or program; null: not known"), .get = get_module,
     .role = TL_ROLE_NAME},
    SUMS,
};

static int answer(tl_profile_table *t, const tl_ask *ask, const char *key, const tl_column *column, size_t ncolumn,
                  tl_answer *a, tl_error *e)
{
    tl_table rows = {0};
    const int status = tl_function_rows(&rows, t->profile, e);
    if (status < 0)
        return status;
    for (uint32_t i = 0; i < rows.n; i++)
        a->whole += (double)rows.row[i].stat.self;
    tl_profile_sort(&rows, t->profile, ask, TL_BY_SELF);
    const tl_column *c = tl_profile_columns(a, column, ncolumn, &rows);
    tl_profile_add(a, ask, key, c, (uint32_t)ncolumn, &rows, key, 28);
    return 0;
}

static int answer_lines(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    const int status = answer(table, ask, "lines", lines, TL_COUNT(lines), a, e);
    if (status == 0)
        tl_profile_add_samples(a, ask);
    return status;
}

static int answer_modules(void *table, const tl_ask *ask, tl_answer *a, tl_error *e)
{
    ((tl_profile_table *)table)->of_modules = true;
    return answer(table, ask, "modules", modules, TL_COUNT(modules), a, e);
}

const tl_table_kind tl_table_line = {.info = {"line", "lines of the source", TL_NEEDS_SAMPLES},
                                     .sql = "line_stats",
                                     .sorts = "self total calls name",
                                     .profile = TL_PROFILE_LINES,
                                     .answer = answer_lines,
                                     TL_TABLE_COLUMNS(lines)};
const tl_table_kind tl_table_module = {.info = {"module", "libraries and programs", TL_NEEDS_STACKS},
                                       .sql = "module_stats",
                                       .sorts = "self total calls name",
                                       .profile = TL_PROFILE_TREE | TL_PROFILE_MODULES,
                                       .answer = answer_modules,
                                       TL_TABLE_COLUMNS(modules)};
