/* Fuzz target: traces of any format, through every table of SQL. */
#include "fuzz_query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sql[] = "SELECT * FROM events ORDER BY ts LIMIT 50;"
                          "SELECT name, count(*), min(ts), max(utc) FROM events WHERE ts > 5 GROUP BY name;"
                          "SELECT count(*) FROM events WHERE thread GLOB '*1*' AND function_id IN (1, 2, 3) OR cpu = 0;"
                          "SELECT count(*) FROM cache_levels('l1d=128:1:64'), reuse(16, 2), page_intervals(100);"
                          "SELECT max(f.column_name), l.label FROM fields AS f JOIN enum_labels AS l USING (class_id);"
                          "SELECT p.path, s.name FROM places AS p, stack(p.trace, p.place_id) AS s LIMIT 50;"
                          "SELECT what, n FROM losses";

/* Every row of each table, up to a limit. */
static void read_tables(tl_query *q)
{
    enum { TABLES = 70 };
    for (uint32_t i = 0; i < tl_query_tables(q) && i < TABLES; i++) {
        char text[1024];
        const int n = snprintf(text, sizeof text, "SELECT * FROM \"%s\"", tl_query_table(q, i)->name);
        if (n > 0 && (size_t)n < sizeof text)
            fuzz_query_text(q, text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_source *source = fuzz_open(data, size, NULL, false);
    tl_query *q = source ? fuzz_query_open(&source) : NULL;
    if (q) {
        fuzz_query_text(q, sql);
        read_tables(q);
    }
    tl_query_close(q);
    tl_source_close(source);
    return 0;
}
