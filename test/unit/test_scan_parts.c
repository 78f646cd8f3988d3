/* Parts of tables of events, read at the same time by several threads: together they have the rows of the table. */
#include "base/grow.h"
#include "base/pool.h"
#include "hand_insns.h"
#include "op/scan/event_scan.h"

enum { STREAMS = 4, LINES = 20000, MOST = 8, EVENTS = 0, INSTRUCTIONS = 1, ACCESSES = 2 };

/* Sums of cells that tell rows, their columns and their order from each other. */
typedef struct read {
    tl_scan *scan;
    uint64_t rows, sum;
} read;

static void add_block(read *r, const tl_scan_table *t, const tl_block *b)
{
    for (uint32_t row = 0; row < b->rows; row++, r->rows++) {
        uint64_t hash = 0;
        for (uint32_t i = 0; i < t->ncolumn; i++) {
            const tl_block_column *c = &b->column[i];
            if (!c->is_null)
                continue;
            uint64_t cell = c->is_null[row] ? 7 : c->i64 ? (uint64_t)c->i64[row] : 0;
            for (const char *p = c->text && !c->is_null[row] ? c->text[row] : ""; *p; p++)
                cell = cell * 31 + (uint8_t)*p;
            hash = (hash ^ cell) * 0x9e3779b97f4a7c15u + i;
        }
        r->sum += hash ^ hash >> 29;
    }
}

static const tl_scan_table *reads_of;

static int read_all(void *arg, unsigned worker, uint32_t i)
{
    read *r = (read *)arg + i;
    tl_block b;
    int status;
    (void)worker;
    while ((status = tl_scan_next(r->scan, &b, NULL)) > 0)
        add_block(r, reads_of, &b);
    return status;
}

/* Columns that the source by hand has. */
static void choose_columns(const tl_scan_table *t, uint8_t used[static TL_EVENT_PARTS])
{
    static const char *const lacking[] = {"fields", "context", "value", "cpu"};
    for (uint32_t i = 0; i < t->ncolumn; i++) {
        used[i] = true;
        for (size_t k = 0; k < sizeof lacking / sizeof *lacking; k++)
            used[i] = used[i] && strcmp(t->column[i].name, lacking[k]) != 0;
    }
}

static uint64_t check_parts(const tl_scan_table *t, const tl_dataset *d, uint32_t expected, bool alone)
{
    tl_scan_part part[MOST] = {{0}};
    uint8_t used[TL_EVENT_PARTS] = {0};
    read whole = {0}, one[MOST] = {{0}}, all = {0};
    tl_error e = {0};
    choose_columns(t, used);
    tl_scan_ask ask = {.used = used};
    reads_of = t;
    must(tl_scan_open(&whole.scan, t, d, &ask, &e), &e);
    assert_int_equal(read_all(&whole, 0, 0), 0);
    tl_scan_close(whole.scan);
    assert_true(whole.rows > 0);
    const uint32_t n = t->parts(t, d, NULL, 0);
    assert_int_equal(n, expected);
    assert_int_equal(t->parts(t, d, part, MOST), n);
    for (uint32_t i = 0; i < n; i++) {
        ask.part = &part[i];
        ask.alone = alone;
        must(tl_scan_open(&one[i].scan, t, d, &ask, &e), &e);
    }
    assert_int_equal(tl_parallel(3, n, read_all, one), 0);
    for (uint32_t i = 0; i < n; i++) {
        tl_scan_close(one[i].scan);
        assert_in_range(one[i].rows, 1, whole.rows - 1);
        all.rows += one[i].rows;
        all.sum += one[i].sum;
    }
    if (n > 0) {
        assert_int_equal(all.rows, whole.rows);
        assert_int_equal(all.sum, whole.sum);
    }
    return whole.rows;
}

static void test_streams_are_parts(void **state)
{
    hand h[2];
    tl_source *source[2];
    tl_arena arena = {0};
    tl_scan_table table[TL_EVENT_TABLES];
    hand_line *line[STREAMS];
    for (uint32_t i = 0; i < 2; i++) {
        hand_init(&h[i], 0);
        h[i].source.want.threads = 2;
        h[i].source.trace.bytes = UINT64_C(1) << 30; /* large enough to decode ahead */
        source[i] = &h[i].source;
    }
    for (uint32_t i = 0; i < STREAMS; i++) {
        line[i] = hand_wander(LINES + i, i + 1);
        hand_add(&h[i % 2], line[i], LINES + i);
    }
    tl_select select = {0};
    const tl_dataset d = {.source = source, .n = 2, .select = &select};
    for (uint32_t i = 0; i < TL_EVENT_TABLES; i++)
        assert_true(tl_event_table_make(i, &table[i], &d, &arena));
    for (unsigned alone = 0; alone < 2; alone++) {
        const uint64_t all = check_parts(&table[EVENTS], &d, STREAMS, alone);
        assert_int_equal(all, STREAMS * LINES + 0 + 1 + 2 + 3);
        assert_in_range(check_parts(&table[INSTRUCTIONS], &d, STREAMS, alone), 1, all - 1);
        check_parts(&table[ACCESSES], &d, 0, alone); /* their instruction may be in another stream */
    }
    select = (tl_select){.has_from = true, .time_from = 100, .has_to = true, .time_to = 5000};
    assert_in_range(check_parts(&table[EVENTS], &d, STREAMS, true), STREAMS, STREAMS * LINES / 2);
    static const char *const thread[] = {"t1"};
    select = (tl_select){.thread = thread, .nthread = 1};
    check_parts(&table[EVENTS], &d, 0, true);
    select = (tl_select){.levels = 1};
    check_parts(&table[INSTRUCTIONS], &d, 0, true);
    select = (tl_select){0};
    h[1].source.trace.clock.from_zero = false; /* its begin is only known when it was read */
    check_parts(&table[EVENTS], &d, 0, true);
    tl_arena_fini(&arena);
    for (uint32_t i = 0; i < STREAMS; i++)
        free(line[i]);
    for (uint32_t i = 0; i < 2; i++)
        hand_fini(&h[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_are_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
