/* Tables of the schema on servers. */
#include "query/server/server_table.h"

#include <string.h>

#include "base/compiler.h"
#include "base/hash.h"
#include "query/session_rows.h"

/* Those that are not usual are large, or are simulations that take long. */
static const tl_server_table tables[] = {
    {"traces", true},          {"tracks", true},         {"functions", true},      {"classes", true},
    {"properties", true},      {"places", true},         {"function_stats", true}, {"stack_stats", false},
    {"caller_stats", true},    {"callee_stats", true},   {"thread_stats", true},   {"line_stats", false},
    {"module_stats", false},   {"class_stats", true},    {"calls", true},          {"events", true},
    {"spans", true},           {"counters", true},       {"samples", true},        {"allocations", true},
    {"collections", true},     {"compilations", true},   {"cpu_usage", true},      {"pauses", true},
    {"syscalls", true},        {"losses", true},         {"damage", true},         {"compiled_functions", false},
    {"allocated_types", true}, {"heap_snapshots", true}, {"cpu_stats", true},      {"domains", false},
    {"assemblies", false},     {"modules", false},       {"types", false},         {"blocks", true},
    {"insn_mix", true},        {"branches", false},      {"pages", false},         {"syscall_stats", true},
    {"thread_insns", true},    {"instructions", false},  {"accesses", false},      {"cache_misses", false},
    {"snapshots", false},      {"profile", true}};

const tl_server_table *tl_server_table_at(uint32_t i)
{
    return i < TL_COUNT(tables) ? &tables[i] : NULL;
}

uint32_t tl_server_table_find(const tl_query *q, const char *name)
{
    for (uint32_t i = 0; i < tl_query_tables(q); i++)
        if (!tl_table_is_of_class(q, i) && strcmp(tl_query_table(q, i)->name, name) == 0)
            return i;
    return UINT32_MAX;
}

static bool has(const tl_column_info *column, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(column[i].name, name) == 0)
            return true;
    return false;
}

bool tl_server_keeps(const tl_query *q, uint32_t table, const tl_column_info *column, uint32_t ncolumn, uint32_t i)
{
    if (i >= ncolumn - tl_table_arguments(q, table) || strcmp(column[i].name, "trace") == 0)
        return false;
    return strcmp(column[i].name, "path") != 0 || strcmp(tl_query_table(q, table)->name, "places") == 0 ||
           !has(column, ncolumn, "place_id");
}

bool tl_server_sums(const tl_query *q, uint32_t table, const tl_column_info *column)
{
    return strcmp(tl_query_table(q, table)->name, "traces") != 0 ||
           (strcmp(column->name, "path") != 0 && strcmp(column->name, "exe") != 0);
}

tl_native_type tl_server_type(const tl_column_info *c)
{
    return c->type == TL_INTEGER ? TL_NATIVE_MAYBE_INT64
           : c->type == TL_REAL  ? TL_NATIVE_MAYBE_FLOAT64
                                 : TL_NATIVE_MAYBE_TEXT;
}

uint64_t tl_server_factor(uint32_t i)
{
    return tl_hash_mix(UINT64_C(0x9e3779b97f4a7c15) * (2 * (uint64_t)i + 1)) | 1;
}

uint64_t tl_server_null(uint32_t i)
{
    return tl_hash_mix(UINT64_C(0x9e3779b97f4a7c15) * (2 * (uint64_t)i + 2)) | 1;
}

void tl_server_put_literal(tl_pb *sql, const char *text, size_t n)
{
    tl_pb_text(sql, "'");
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\0') {
            tl_pb_text(sql, "\\0");
        } else {
            if (text[i] == '\'' || text[i] == '\\')
                tl_pb_text(sql, "\\");
            tl_pb_raw(sql, &text[i], 1);
        }
    tl_pb_text(sql, "'");
}

/* Only names of ours are written so: they need no quotes inside. */
void tl_server_put_name(tl_pb *sql, const char *name)
{
    tl_pb_text(sql, "`");
    tl_pb_text(sql, name);
    tl_pb_text(sql, "`");
}

void tl_server_put_sum(tl_pb *sql, tl_query *q, uint32_t table)
{
    static const char *const text[] = {[TL_INTEGER] = "toUInt64(ifNull(%,0))",
                                       [TL_REAL] = "reinterpretAsUInt64(reinterpretAsString(ifNull(%,toFloat64(0))))",
                                       [TL_TEXT] = "sipHash64(ifNull(%,''))"};
    uint32_t n;
    const tl_column_info *c = tl_query_table_columns(q, table, &n);
    tl_pb_text(sql, "sum(intHash64(seq*");
    tl_pb_text_u64(sql, tl_server_factor(UINT32_MAX));
    for (uint32_t i = 0; i < n; i++) {
        if (!tl_server_keeps(q, table, c, n, i) || !tl_server_sums(q, table, &c[i]))
            continue;
        const char *value = text[c[i].type], *hole = strchr(value, '%');
        tl_pb_text(sql, "+");
        tl_pb_raw(sql, value, (size_t)(hole - value));
        tl_server_put_name(sql, c[i].name);
        tl_pb_text(sql, hole + 1);
        tl_pb_text(sql, "*");
        tl_pb_text_u64(sql, tl_server_factor(i));
        tl_pb_text(sql, "+isNull(");
        tl_server_put_name(sql, c[i].name);
        tl_pb_text(sql, ")*");
        tl_pb_text_u64(sql, tl_server_null(i));
    }
    tl_pb_text(sql, "))");
}
