/* Tests of the SimPoint writer: lines and intervals, numbers of blocks, several threads, and what it cannot hold. */
#include <inttypes.h>

#include "base/pair_map.h"
#include "hand_insns.h"
#include "isa/a64_block.h"
#include "scratch.h"
#include "traceloom/sink.h"

/* Writes all streams of h to t.bb; *e gets the reason of a failure, and `drops` what it could not hold. */
static int write_all(hand *h, uint64_t interval, char *drops, size_t size, tl_error *e)
{
    const tl_write_options options = {.interval = interval, .overwrite = true};
    tl_sink *sink = NULL;
    int status = tl_sink_open(&sink, "t.bb", &h->source.trace, &options, e);
    for (uint32_t i = 0; status >= 0 && i < h->nstream; i++) {
        tl_cursor *c = NULL;
        const tl_batch *b;
        assert_int_equal(tl_cursor_open(&c, &h->source, i, NULL), 0);
        while (status >= 0 && (status = tl_cursor_next(c, &b, e)) > 0)
            status = tl_sink_write(sink, b, 0, b->n, e);
        tl_cursor_close(c);
    }
    if (status >= 0)
        status = tl_sink_finish(sink, e);
    *drops = 0;
    for (uint32_t i = 0; sink && i < tl_sink_drops(sink); i++)
        snprintf(drops + strlen(drops), size - strlen(drops), "%s %" PRIu64 ";", tl_sink_drop(sink, i)->what,
                 tl_sink_drop(sink, i)->n);
    tl_sink_close(sink);
    return status;
}

static void check_file(const char *expected)
{
    size_t n;
    char *got = scratch_read("t.bb", &n);
    assert_non_null(got);
    if (n != strlen(expected) || memcmp(got, expected, n) != 0)
        fail_msg("expected\n%s\nfound\n%.*s", expected, (int)n, got);
    free(got);
}

/* Blocks: 1 is 0x1000 of 2, 2 is 0x2000 of 3, 3 is 0x2004 of 2. */
static const hand_line few[] = {INSN_NO_PC(OP_ADD),
                                INSN(0x1000, OP_ADD),
                                LOAD(0x8000, 8),
                                INSN(0x1004, OP_B),
                                INSN(0x2000, OP_ADD),
                                INSN(0x2004, OP_ADD),
                                INSN(0x2008, OP_RET),
                                INSN(0x1000, OP_ADD),
                                INSN(0x1004, OP_B),
                                INSN(0x2004, OP_ADD),
                                OTHER(),
                                INSN(0x2008, OP_RET),
                                INSN_NO_PC(OP_ADD),
                                INSN(0x1000, OP_ADD),
                                INSN(0x1004, OP_B)};

static void test_intervals(void **state)
{
    static const struct {
        uint64_t interval;
        const char *text;
    } cases[] = {{0, "T:1:6 :2:3 :3:2 \n"},
                 {100, "T:1:6 :2:3 :3:2 \n"},
                 {11, "T:1:6 :2:3 :3:2 \n"},
                 {10, "T:1:6 :2:3 :3:2 \n"},
                 {9, "T:1:4 :2:3 :3:2 \nT:1:2 \n"},
                 {4, "T:1:2 :2:3 \nT:1:2 :3:2 \nT:1:2 \n"},
                 {1, "T:1:2 \nT:2:3 \nT:1:2 \nT:3:2 \nT:1:2 \n"}};
    for (uint32_t batch = 1; batch < 16; batch++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char drops[200];
            tl_error e = {0};
            hand h;
            hand_init(&h, batch);
            HAND_ADD(&h, few);
            must(write_all(&h, cases[i].interval, drops, sizeof drops, &e), &e);
            check_file(cases[i].text);
            assert_string_equal(drops, "instructions without a known pc 2;events that are not instructions 2;");
            hand_fini(&h);
        }
}

static void test_nothing_to_write(void **state)
{
    static const hand_line none[] = {SNAPSHOT()}, unknown[] = {INSN_NO_PC(OP_ADD)};
    char drops[200];
    tl_error e = {0};
    hand h;
    hand_init(&h, 0);
    HAND_ADD(&h, none);
    HAND_ADD(&h, unknown);
    assert_int_equal(write_all(&h, 1, drops, sizeof drops, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "no instructions of A64 to write whose pc is known");
    assert_int_equal(scratch_files(0), 0);
    h.source.trace.cls[HAND_INSN].role = TL_ROLE_NONE;
    assert_int_equal(write_all(&h, 1, drops, sizeof drops, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "no instructions of A64");
    assert_int_equal(scratch_files(0), 0);
    hand_fini(&h);
}

/* A vector belongs to one thread. */
static void test_several_threads(void **state)
{
    static const hand_line none[] = {SNAPSHOT(), OTHER()};
    char drops[200];
    tl_error e = {0};
    hand h;
    hand_init(&h, 0);
    HAND_ADD(&h, none);
    HAND_ADD(&h, few);
    assert_int_equal(write_all(&h, 10, drops, sizeof drops, &e), 0);
    check_file("T:1:6 :2:3 :3:2 \n");
    remove("t.bb");
    HAND_ADD(&h, few);
    assert_int_equal(write_all(&h, 10, drops, sizeof drops, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "\"t1\" and \"t2\"");
    assert_contains(e.message, "-t");
    assert_int_equal(scratch_files(0), 0);
    hand_fini(&h);
}

/* All sums of a long run, for any interval. */
static void test_sums(void **state)
{
    enum { LINES = 20000, BLOCKS = 2000 };
    hand_line *line = hand_wander(LINES, 9);
    uint64_t expected[BLOCKS] = {0};
    for (uint64_t interval = 7; interval < 100000; interval *= 31) {
        uint64_t sum[BLOCKS] = {0}, all = 0;
        char drops[200];
        tl_error e = {0};
        size_t n;
        hand h;
        hand_init(&h, 0);
        hand_add(&h, line, LINES);
        assert_int_equal(write_all(&h, interval, drops, sizeof drops, &e), 0);
        hand_fini(&h);
        char *text = scratch_read("t.bb", &n);
        assert_non_null(text);
        for (char *p = text; *p; p++) {
            uint64_t last = 0, in_line = 0;
            assert_int_equal(*p++, 'T');
            while (*p == ':') {
                const uint64_t id = strtoull(p + 1, &p, 10);
                assert_int_equal(*p, ':');
                const uint64_t insns = strtoull(p + 1, &p, 10);
                assert_int_equal(*p++, ' ');
                assert_true(id > last && id < BLOCKS && insns > 0);
                last = id;
                sum[id] += insns;
                in_line += insns;
            }
            assert_int_equal(*p, '\n');
            assert_true(in_line >= interval || !p[1]);
            all += in_line;
        }
        free(text);
        assert_true(all > LINES / 3);
        if (interval == 7)
            memcpy(expected, sum, sizeof sum);
        assert_memory_equal(expected, sum, sizeof sum);
    }
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_intervals, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_nothing_to_write, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_several_threads, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_sums, scratch_enter, scratch_leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
