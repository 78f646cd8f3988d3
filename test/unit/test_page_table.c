/* The table of pages: accesses across the edge of pages and of memory, intervals, regions; and independence from which
 * thread reads which stream. */
#include "analysis/instruction/page_table.h"

#include "hand_insns.h"

static const tl_page *page_of(const tl_pages *p, uint64_t address)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->page[i].number == address >> TL_PAGE_SHIFT)
            return &p->page[i];
    fail_msg("no page of 0x%llx", (unsigned long long)address);
    return NULL;
}

static void check(const tl_pages *p, uint64_t address, uint64_t code, uint64_t loads, uint64_t stores)
{
    const tl_page *page = page_of(p, address);
    assert_int_equal(page->code, code);
    assert_int_equal(page->loads, loads);
    assert_int_equal(page->stores, stores);
}

static void counts_each_page_once(void **state)
{
    static const hand_line line[] = {
        INSN_NO_PC(OP_LDR),
        LOAD(0x5ffc, 4), /* just fits */
        INSN(0x1000, OP_LDR),
        LOAD(0x5ffc, 8), /* two pages */
        INSN(0x1004, OP_STR),
        STORE(0x5010, 32768), /* nine pages */
        OTHER(),
        INSN(0x1ffe, OP_NOP),                       /* an instruction over the edge */
        STORE(0x6000, 4096),                        /* a whole page, and no more */
        LOAD(0x7000, 0),                            /* nothing, at a place */
        INSN(UINT64_C(0xfffffffffffffffe), OP_LDR), /* memory wraps around at its end */
        LOAD(UINT64_C(0xfffffffffffffff8), 16),
    };
    for (uint32_t batch = 0; batch < 4; batch++) {
        hand h;
        tl_pages p;
        hand_init(&h, batch);
        HAND_ADD(&h, line);
        hand_pass(&h, &p, &tl_page_table, NULL, 1);
        assert_int_equal(p.n, 1 + 1 + 9 + 2);
        check(&p, 0x1000, 3, 0, 0);
        check(&p, 0x2000, 1, 0, 0);
        check(&p, 0x5000, 0, 2, 1);
        check(&p, 0x6000, 0, 1, 2);
        check(&p, 0x7000, 0, 1, 1);
        check(&p, 0xd000, 0, 0, 1);
        check(&p, UINT64_C(0xfffffffffffff000), 1, 1, 0);
        check(&p, 0, 1, 1, 0);
        assert_int_equal(p.nintervals, 0);
        tl_page_table.fini(&p);
        hand_fini(&h);
    }
}

/* A size from a damaged file. */
static void size_is_limited(void **state)
{
    static const hand_line line[] = {LOAD(0x1000, UINT64_MAX), STORE(0x1fff, UINT64_C(1) << 40)};
    hand h;
    tl_pages p;
    hand_init(&h, 0);
    HAND_ADD(&h, line);
    hand_pass(&h, &p, &tl_page_table, NULL, 1);
    assert_int_equal(p.n, 257);
    check(&p, 0x1000, 0, 1, 1);
    tl_page_table.fini(&p);
    hand_fini(&h);
}

static void check_interval(const tl_pages *p, const uint32_t *index, uint32_t i, const char *track, uint64_t from,
                           uint64_t to, uint64_t code, uint64_t data, uint64_t fresh)
{
    assert_true(i < p->nintervals);
    const tl_page_interval *interval = &p->interval[index[i]];
    assert_string_equal(interval->track, track);
    assert_int_equal(interval->from, from);
    assert_int_equal(interval->to, to);
    assert_int_equal(interval->code_pages, code);
    assert_int_equal(interval->data_pages, data);
    assert_int_equal(interval->new_pages, fresh);
}

static void working_set(void **state)
{
    static const hand_line one[] = {LOAD(0x9000, 1), /* before the first instruction: belongs to the first interval */
                                    INSN(0x1000, OP_LDR), LOAD(0x1800, 4), /* a page of code and of data: new once */
                                    INSN(0x1004, OP_LDR), LOAD(0x9000, 4),   INSN(0x1008, OP_STR),
                                    STORE(0x9100, 4), /* the second interval: all known */
                                    INSN(0x100c, OP_STR), STORE(0xaff8, 16), INSN(0x2000, OP_NOP)};
    static const hand_line two[] = {INSN(0x1000, OP_NOP), INSN(0x1004, OP_STR), STORE(0x9000, 1)};
    const tl_page_options options = {.interval = 2};
    for (unsigned threads = 1; threads <= 2; threads++) {
        hand h;
        tl_pages p;
        hand_init(&h, 0);
        HAND_ADD(&h, one);
        HAND_ADD(&h, two);
        hand_pass(&h, &p, &tl_page_table, &options, threads);
        uint32_t *index = tl_pages_sort_intervals(&p);
        assert_non_null(index);
        assert_int_equal(p.nintervals, 4);
        check_interval(&p, index, 0, "t0", 0, 2, 1, 2, 2);
        check_interval(&p, index, 1, "t0", 2, 4, 1, 3, 2);
        check_interval(&p, index, 2, "t0", 4, 5, 1, 0, 1);
        check_interval(&p, index, 3, "t1", 0, 2, 1, 1, 2); /* new to this track */
        free(index);
        check(&p, 0x1000, 6, 1, 0);
        tl_page_table.fini(&p);
        hand_fini(&h);
    }
}

static void regions(void **state)
{
    static const hand_line line[] = {LOAD(0x3000, 1), LOAD(0x1000, 1), STORE(0x2000, 1), INSN(0x5000, OP_NOP),
                                     LOAD(UINT64_C(0xfffffffffffffff8), 16)};
    hand h;
    tl_pages p;
    uint32_t n = 0;
    hand_init(&h, 0);
    HAND_ADD(&h, line);
    hand_pass(&h, &p, &tl_page_table, NULL, 1);
    tl_page_region *r = tl_pages_regions(&p, &n);
    assert_non_null(r);
    assert_int_equal(n, 3); /* 0 .. 0x3fff, 0x5000, the last page */
    assert_int_equal(r[0].first, 0);
    assert_int_equal(r[0].pages, 4);
    assert_int_equal(r[0].loads, 3);
    assert_int_equal(r[0].stores, 1);
    assert_int_equal(r[1].code, 1);
    assert_int_equal(r[2].first, UINT64_MAX >> TL_PAGE_SHIFT);
    tl_page_regions_by_use(r, n);
    assert_int_equal(r[0].first, 0);
    assert_int_equal(r[1].first, 5);
    free(r);
    uint32_t *index = tl_pages_sort(&p, true);
    assert_non_null(index);
    assert_int_equal(p.page[index[0]].number, 0); /* all the same: by address */
    free(index);
    tl_page_table.fini(&p);
    hand_fini(&h);
}

/* Against counting page by page, for any number of threads. */
static void agrees_with_a_simple_count(void **state)
{
    enum { LINES = 20000, PAGES = 16 };
    uint64_t count[PAGES][3] = {{0}};
    hand_line *line[3];
    for (uint32_t s = 0; s < 3; s++) {
        line[s] = hand_wander(LINES, 5 + s);
        for (uint32_t i = 0; i < LINES; i++) {
            const hand_line *l = &line[s][i];
            const int column = l->cls == HAND_INSN ? 0 : l->cls == HAND_LOAD ? 1 : l->cls == HAND_STORE ? 2 : -1;
            if (column < 0 || (column == 0 && l->aux & TL_INSN_NO_PC))
                continue;
            const uint64_t last = l->key + (column ? l->aux : 4) - 1;
            for (uint64_t page = l->key >> 12; page <= last >> 12; page++) {
                assert_true(page < PAGES);
                count[page][column]++;
            }
        }
    }
    for (unsigned threads = 1; threads <= 3; threads++) {
        const tl_page_options options = {.interval = threads == 2 ? 100 : 0};
        hand h;
        tl_pages p;
        uint64_t sum = 0;
        hand_init(&h, 100);
        for (uint32_t s = 0; s < 3; s++)
            hand_add(&h, line[s], LINES);
        hand_pass(&h, &p, &tl_page_table, &options, threads);
        for (uint32_t i = 0; i < p.n; i++) {
            assert_true(p.page[i].number < PAGES);
            const uint64_t *c = count[p.page[i].number];
            assert_int_equal(p.page[i].code, c[0]);
            assert_int_equal(p.page[i].loads, c[1]);
            assert_int_equal(p.page[i].stores, c[2]);
            sum += c[0] + c[1] + c[2];
        }
        for (uint32_t i = 0; i < PAGES; i++)
            for (unsigned k = 0; k < 3; k++)
                sum -= count[i][k];
        assert_int_equal(sum, 0);
        tl_page_table.fini(&p);
        hand_fini(&h);
    }
    for (uint32_t s = 0; s < 3; s++)
        free(line[s]);
}

static void too_many_intervals(void **state)
{
    enum { LINES = 2 * TL_PAGE_INTERVALS_MAX / 1024 };
    hand h;
    tl_pages p;
    tl_error e = {0};
    const tl_page_options options = {.interval = 1};
    uint64_t ts[1024], key[1024], aux[1024];
    uint32_t cls[1024], track[1024];
    hand_init(&h, 0);
    memset(&p, 0, sizeof p);
    assert_int_equal(tl_page_table.init(&p, &options, &e), 0);
    assert_int_equal(tl_page_table.begin(&p, &h.source.trace, &e), 0);
    tl_batch b = {.trace = &h.source.trace, .ts = ts, .key = key, .aux = aux, .cls = cls, .track = track, .n = 1024};
    int status = 0;
    uint64_t time = 0;
    for (uint32_t i = 0; i < LINES && status == 0; i++) {
        for (uint32_t k = 0; k < 1024; k++) {
            ts[k] = time++;
            key[k] = 0x1000;
            aux[k] = OP_NOP;
            cls[k] = HAND_INSN;
            track[k] = 0;
        }
        status = tl_page_table.events(&p, &b, 0, 1024, false, &e);
    }
    assert_int_equal(status, TL_ENOMEM);
    assert_contains(e.message, "longer");
    assert_int_equal(p.nintervals, TL_PAGE_INTERVALS_MAX);
    tl_page_table.fini(&p);
    hand_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_each_page_once),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(working_set),
        cmocka_unit_test(regions),
        cmocka_unit_test(agrees_with_a_simple_count),
        cmocka_unit_test(too_many_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
