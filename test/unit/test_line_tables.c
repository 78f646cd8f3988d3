/* The tables spans, counters and slices: their rows, what terms leave, and more than is kept. */
#include <inttypes.h>

#include "op/scan/line_tables.h"
#include "runtime_fixture.h"

enum { TEXT = 1 << 20, WORDS = 8 };

static uint32_t column_of(const tl_scan_table *t, const char *name, size_t n)
{
    for (uint32_t i = 0; i < t->ncolumn; i++)
        if (strlen(t->column[i].name) == n && memcmp(t->column[i].name, name, n) == 0)
            return i;
    fail_msg("no column %s", name);
    return 0;
}

static size_t put_cell(char *to, size_t room, const tl_block_column *c, uint32_t row)
{
    if (c->is_null[row])
        return (size_t)snprintf(to, room, "-");
    if (c->text)
        return (size_t)snprintf(to, room, "%s", c->text[row]);
    return (size_t)(c->real ? snprintf(to, room, "%g", c->real[row]) : snprintf(to, room, "%" PRId64, c->i64[row]));
}

/* The rows of a table, with these columns, as lines of words; terms may be NULL. */
static const char *rows_of(const tl_scan_table *t, const tl_dataset *d, const char *columns, const tl_term *term,
                           uint32_t nterm)
{
    static char text[TEXT];
    size_t n = 0;
    uint32_t at[WORDS], words = 0;
    uint8_t used[32] = {0};
    for (const char *p = columns; *p; p += strspn(p, " ")) {
        const size_t length = strcspn(p, " ");
        at[words] = column_of(t, p, length);
        used[at[words++]] = 1;
        p += length;
    }
    const tl_scan_ask ask = {.used = used, .term = term, .nterm = nterm};
    tl_scan *s;
    tl_block b;
    tl_error e = {0};
    int status;
    must(tl_scan_open(&s, t, d, &ask, &e), &e);
    while ((status = tl_scan_next(s, &b, &e)) > 0) {
        assert_in_range(b.rows, 1, TL_BLOCK_ROWS);
        for (uint32_t row = 0; row < b.rows; row++)
            for (uint32_t i = 0; i < words && n < TEXT - 100; i++) {
                n += put_cell(text + n, TEXT - n, &b.column[at[i]], row);
                n += (size_t)snprintf(text + n, TEXT - n, i + 1 == words ? "\n" : " ");
            }
    }
    must(status, &e);
    tl_scan_close(s);
    text[n] = '\0';
    return text;
}

typedef struct tables {
    tl_source *source;
    tl_dataset d;
    tl_scan_table spans, counters, calls, slices;
    tl_slices of;
} tables;

/* Tables of the events that were added; `calls` is a second table of spans. */
static void tables_init(tables *t)
{
    *t = (tables){.source = rt_source()};
    t->d = (tl_dataset){.source = &t->source, .n = 1};
    tl_spans_table(&t->spans, &t->d);
    tl_spans_table(&t->calls, &t->d);
    tl_counters_table(&t->counters, &t->d);
    t->of = (tl_slices){{&t->calls, &t->spans}};
    tl_slices_table(&t->slices, &t->of);
}

static void tables_fini(tables *t)
{
    tl_source_close(t->source);
}

/* A collection from 10 to 20, in it a compilation of what is named later, and a search that never ends. */
static void add_three(void)
{
    rt_reset();
    rt_add(RT_GC, RT_ONE, 10, 0, RT_S("low"), RT_S("0"));
    rt_add(RT_JIT, RT_ONE, 12, 7, RT_H(7));
    rt_add(RT_JIT_END, RT_ONE, 15, 7, RT_H(7), RT_H(1));
    rt_bare(RT_GC_END, RT_TWO, 20, 0);
    rt_add(RT_CODE, RT_PROCESS, 21, 0, RT_L(0), RT_H(3), RT_H(7));
    rt_add(RT_SEARCH, RT_TWO, 22, 9, RT_H(9));
    rt_bare(RT_GC_END, RT_ONE, 30, 0); /* of none */
}

static void spans_are_in_the_order_of_their_ends(void **state)
{
    tables t;
    add_three();
    for (rt.batch = 0; rt.batch < 3; rt.batch++) {
        tables_init(&t);
        assert_string_equal(rows_of(&t.spans, &t.d, "trace id ts dur end_ts track_id thread class_id", NULL, 0),
                            "1 1 12000000 3000000 15000000 1 thread 0x1 3\n"
                            "1 0 10000000 10000000 20000000 1 thread 0x1 1\n"
                            "1 5 22000000 - - 2 thread 0x2 5\n");
        assert_string_equal(
            rows_of(&t.spans, &t.d, "name role function_id function_name utc fields end_fields", NULL, 0),
            "jit compilation 3 #3 - {\"code\":\"0x7\"} {\"code\":\"0x7\",\"status\":\"0x1\"}\n"
            "gc collection - - - {\"reason\":\"low\",\"generations\":\"0\"} {}\n"
            "search code search - - - {\"code\":\"0x9\"} -\n");
        tables_fini(&t);
    }
}

static void terms_leave_out_spans(void **state)
{
    static const tl_cell gc = {.kind = TL_CELL_TEXT, .text = "gc"}, two = {.kind = TL_CELL_TEXT, .text = "thread 0x2"},
                         code = {.kind = TL_CELL_TEXT, .text = "code search"},
                         ten = {.kind = TL_CELL_INT, .i64 = 10000000}, twenty = {.kind = TL_CELL_INT, .i64 = 20000000},
                         three = {.kind = TL_CELL_INT, .i64 = 3};
    static const struct {
        const char *column;
        tl_term_op op;
        const tl_cell *value;
        const char *names;
    } cases[] = {{"name", TL_TERM_IS, &gc, "gc\n"},          {"thread", TL_TERM_IS, &two, "search\n"},
                 {"role", TL_TERM_IS, &code, "search\n"},    {"ts", TL_TERM_AT_MOST, &ten, "gc\n"},
                 {"ts", TL_TERM_ABOVE, &twenty, "search\n"}, {"class_id", TL_TERM_IS, &three, "jit\n"},
                 {"track_id", TL_TERM_IS, &three, ""}};
    tables t;
    add_three();
    tables_init(&t);
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        const uint32_t column = column_of(&t.spans, cases[i].column, strlen(cases[i].column));
        const tl_term term = {.column = column, .op = cases[i].op, .value = cases[i].value, .n = 1};
        assert_string_equal(rows_of(&t.spans, &t.d, "name", &term, 1), cases[i].names);
        assert_true(t.spans.keeps(&t.spans, column, cases[i].op) < 1);
    }
    tables_fini(&t);
}

/* What is not selected is not there, neither as a begin nor as an end. */
static void selections_leave_out_events(void **state)
{
    static const char *const thread[] = {"thread 0x1"};
    const tl_select select = {.thread = thread, .nthread = 1, .has_to = true, .time_to = 16};
    tables t;
    add_three();
    for (rt.batch = 0; rt.batch < 3; rt.batch++) {
        tables_init(&t);
        t.d.select = &select;
        assert_string_equal(rows_of(&t.spans, &t.d, "name dur", NULL, 0), "jit 3000000\ngc -\n");
        tables_fini(&t);
    }
}

/* Slices are the rows of both of their tables; terms about what only one has are left to whoever asked. */
static void slices_are_calls_and_spans(void **state)
{
    static const tl_cell call = {.kind = TL_CELL_TEXT, .text = "call"}, gc = {.kind = TL_CELL_TEXT, .text = "gc"},
                         one = {.kind = TL_CELL_INT, .i64 = 1};
    tables t;
    add_three();
    tables_init(&t);
    assert_string_equal(rows_of(&t.slices, &t.d, "id ts name parent_id depth category", NULL, 0),
                        "1 12000000 jit - - call\n0 10000000 gc - - call\n5 22000000 search - - call\n"
                        "1 12000000 jit - - span\n0 10000000 gc - - span\n5 22000000 search - - span\n");
    tl_term term[] = {{.column = column_of(&t.slices, "category", 8), .op = TL_TERM_IS, .value = &call, .n = 1},
                      {.column = column_of(&t.slices, "name", 4), .op = TL_TERM_IS, .value = &gc, .n = 1},
                      {.column = column_of(&t.slices, "depth", 5), .op = TL_TERM_IS, .value = &one, .n = 1}};
    assert_string_equal(rows_of(&t.slices, &t.d, "name category", term, 3), "gc call\n");
    assert_string_equal(rows_of(&t.slices, &t.d, "name category", term + 1, 2), "gc call\ngc span\n");
    tables_fini(&t);
}

/* Begins for which there is no room have rows, without an end. */
static void begins_beyond_the_limit_have_rows(void **state)
{
    enum { BEGINS = 300, PAIRED = 256 };
    tables t;
    rt_reset();
    for (uint64_t i = 0; i < BEGINS; i++)
        rt_add(RT_GC, RT_ONE, i, i, RT_NONE, RT_NONE);
    for (uint64_t i = 0; i < BEGINS; i++)
        rt_bare(RT_GC_END, RT_ONE, BEGINS + i, i);
    tables_init(&t);
    unsigned n = 0, ended = 0;
    for (const char *p = rows_of(&t.spans, &t.d, "id dur", NULL, 0); *p; p = strchr(p, '\n') + 1) {
        unsigned id, dur;
        const int words = sscanf(p, "%u %u", &id, &dur);
        assert_int_equal(words == 2, id < PAIRED);
        if (words == 2)
            assert_int_equal(dur, BEGINS * 1000000);
        ended += words == 2;
        n++;
    }
    assert_int_equal(n, BEGINS);
    assert_int_equal(ended, PAIRED);
    tables_fini(&t);
}

/* More spans are left open at the end than a block has rows. */
static void open_spans_take_several_blocks(void **state)
{
    tables t;
    rt_reset();
    for (uint32_t i = 0; i < 3 * 250 * RT_TRACKS; i++)
        rt_add(RT_GC + 2 * (i % 3), i / 3 % RT_TRACKS, i, i, RT_NONE, RT_NONE);
    tables_init(&t);
    unsigned n = 0, seen[3 * 250 * RT_TRACKS] = {0};
    for (const char *p = rows_of(&t.spans, &t.d, "id ts dur", NULL, 0); *p; p = strchr(p, '\n') + 1) {
        unsigned id, ts, dur;
        assert_int_equal(sscanf(p, "%u %u %u", &id, &ts, &dur), 2);
        assert_true(id < TL_COUNT(seen) && !seen[id]++);
        n++;
    }
    assert_int_equal(n, TL_COUNT(seen));
    assert_true(n > TL_BLOCK_ROWS);
    tables_fini(&t);
}

static void text_of_open_spans_is_limited(void **state)
{
    enum { LONG = 1 << 16, OPEN = 200, MORE = TL_SPAN_TEXT_MAX / LONG };
    static char reason[LONG + 1];
    tables t;
    memset(reason, 'x', LONG);
    rt_reset();
    for (uint64_t i = 0; i < OPEN; i++)
        rt_add(RT_GC, RT_ONE, i, i, RT_S(reason), RT_NONE);
    for (uint64_t i = 0; i < OPEN; i++)
        rt_bare(RT_GC_END, RT_ONE, OPEN + i, i);
    rt_add(RT_GC, RT_ONE, 2 * OPEN, 1, RT_S(reason), RT_NONE); /* there is room again */
    tables_init(&t);
    const uint32_t fields = column_of(&t.spans, "fields", 6), id = column_of(&t.spans, "id", 2);
    uint8_t used[32] = {[0] = 0};
    used[fields] = used[id] = 1;
    const tl_scan_ask ask = {.used = used};
    tl_scan *s;
    tl_block b;
    tl_error e = {0};
    unsigned n = 0;
    must(tl_scan_open(&s, &t.spans, &t.d, &ask, &e), &e);
    while (tl_scan_next(s, &b, &e) > 0)
        for (uint32_t i = 0; i < b.rows; i++, n++) {
            const bool has_room = b.column[id].i64[i] < MORE - 1 || b.column[id].i64[i] == 2 * OPEN;
            assert_int_equal(b.column[fields].is_null[i], !has_room);
        }
    assert_int_equal(n, OPEN + 1);
    tl_scan_close(s);
    tables_fini(&t);
}

static void counters_of_a_runtime(void **state)
{
    static const tl_cell cpu = {.kind = TL_CELL_TEXT, .text = "CPU"}, ts = {.kind = TL_CELL_INT, .i64 = 45000000};
    tables t;
    rt_reset();
    rt_add(RT_CPU, RT_ONE, 10, TL_SINCE_UNKNOWN, RT_U(1));
    rt_add(RT_CPU, RT_ONE, 20, 10, RT_U(2500));
    rt_add(RT_ALLOC, RT_ONE, 25, 10, RT_U(0), RT_L(2), RT_OBJECT(RT_H(1), 2, 16, RT_NONE),
           RT_OBJECT(RT_H(2), 1, 8, RT_NONE));
    rt_add(RT_LIVE, RT_PROCESS, 30, 0, RT_L(1), RT_OBJECT(RT_H(1), 2, 16, RT_NONE));
    rt_add(RT_SIZES, RT_PROCESS, 40, 0, RT_L(1), RT_ST(3), RT_S("GEN0"), RT_U(5), RT_U(6));
    rt_add(RT_ALLOC, RT_TWO, 50, 10, RT_U(0), RT_L(1), RT_OBJECT(RT_H(1), 1, 8, RT_NONE));
    tables_init(&t);
    assert_int_equal(t.counters.order, TL_NO_ORDER);
    assert_string_equal(rows_of(&t.counters, &t.d, "trace ts track_id thread name unit value", NULL, 0),
                        "1 10000000 1 thread 0x1 CPU % 25\n"
                        "1 25000000 1 thread 0x1 allocated bytes 24\n"
                        "1 30000000 0 process live bytes 16\n"
                        "1 30000000 0 process live objects count 2\n"
                        "1 40000000 0 process heap GEN0 bytes 5\n"
                        "1 40000000 0 process heap GEN0 reserved bytes 6\n"
                        "1 50000000 2 thread 0x2 allocated bytes 32\n"
                        "1 20000000 1 thread 0x1 CPU % 0\n");
    const tl_term name = {.column = column_of(&t.counters, "name", 4), .op = TL_TERM_IS, .value = &cpu, .n = 1},
                  late = {.column = column_of(&t.counters, "ts", 2), .op = TL_TERM_ABOVE, .value = &ts, .n = 1};
    assert_string_equal(rows_of(&t.counters, &t.d, "name value", &name, 1), "CPU 25\nCPU 0\n");
    assert_string_equal(rows_of(&t.counters, &t.d, "name value", &late, 1), "allocated 32\n");
    tables_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_in_the_order_of_their_ends), cmocka_unit_test(terms_leave_out_spans),
        cmocka_unit_test(selections_leave_out_events),          cmocka_unit_test(slices_are_calls_and_spans),
        cmocka_unit_test(begins_beyond_the_limit_have_rows),    cmocka_unit_test(open_spans_take_several_blocks),
        cmocka_unit_test(text_of_open_spans_is_limited),        cmocka_unit_test(counters_of_a_runtime)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
