/* Fuzz target: traces of any format, through every table of SQL.
 *
 * All tables of one input take some 50 ms, most of which is what is done again for each statement. So a run reads a few
 * tables, which depend on the content: with each change of an input other ones follow, in another order. The replay of
 * the seeds reads all of them. */
#include "fuzz_query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const statements[] = {
    "SELECT * FROM events ORDER BY ts LIMIT 50",
    "SELECT name, count(*), min(ts), max(utc) FROM events WHERE ts > 5 GROUP BY name",
    "SELECT count(*) FROM events WHERE thread GLOB '*1*' AND function_id IN (1, 2, 3) OR cpu = 0",
    "SELECT count(*) FROM cache_levels('l1d=128:1:64'), reuse(16, 2), page_intervals(100)",
    "SELECT max(f.column_name), l.label FROM fields AS f JOIN enum_labels AS l USING (class_id)",
    "SELECT p.path, s.name FROM places AS p, stack(p.trace, p.place_id) AS s LIMIT 50",
    "SELECT what, n FROM losses",
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

/* One of the statements, or every row of a table, up to a limit. */
static void run(tl_query *q, uint32_t i)
{
    char text[1024];
    if (i < STATEMENTS) {
        fuzz_query_text(q, statements[i]);
        return;
    }
    const int n = snprintf(text, sizeof text, "SELECT * FROM \"%s\"", tl_query_table(q, i - STATEMENTS)->name);
    if (n > 0 && (size_t)n < sizeof text)
        fuzz_query_text(q, text);
}

#ifdef TL_FUZZING
static void run_some(tl_query *q, uint32_t all, const uint8_t *data, size_t size)
{
    enum { TIMES = 3 };
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    for (int i = 0; i < TIMES; i++) {
        hash = hash * 6364136223846793005u + 1442695040888963407u;
        run(q, (uint32_t)((hash >> 32) * all >> 32));
    }
}
#else
static void run_some(tl_query *q, uint32_t all, const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    for (uint32_t i = 0; i < all; i++)
        run(q, i);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_source *source = fuzz_open(data, size, NULL, false);
    tl_query *q = source ? fuzz_query_open(&source) : NULL;
    if (q)
        run_some(q, STATEMENTS + tl_query_tables(q), data, size);
    tl_query_close(q);
    tl_source_close(source);
    return 0;
}
