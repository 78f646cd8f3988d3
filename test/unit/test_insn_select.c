/* Which instructions are selected; events that belong to them go with them. */
#include "hand_insns.h"
#include "op/insn_select.h"
#include "traceloom/events.h"

static const hand_line script[] = {
    SNAPSHOT(),
    OTHER(),
    INSN(0x100, OP_LDR),
    LOAD(1, 8),
    OTHER(),
    INSN_AT(0x104, OP_ADD, 1),
    OTHER(),
    SNAPSHOT(),
    INSN(0x108, OP_STR),
    STORE(2, 4),
    INSN_NO_PC(OP_ADD),
    OTHER(),
    INSN_AT(0x10c, OP_ADD, 3),
};
enum { LINES = sizeof script / sizeof *script };

/* Which lines of the script are selected, as text: 'x' and '.'. Asks in parts, by batches of `size` events. */
static void choose(char *out, const tl_select *select, uint32_t size, unsigned track)
{
    hand h;
    tl_cursor *c = NULL;
    const tl_batch *b;
    tl_insn_select *s = NULL;
    uint32_t line = 0;
    hand_init(&h, size);
    for (unsigned i = 0; i <= track; i++)
        HAND_ADD(&h, script);
    memset(out, '.', LINES);
    out[LINES] = 0;
    assert_int_equal(tl_insn_select_new(&s, &h.source.trace, select, 0, NULL), 0);
    assert_non_null(s);
    assert_int_equal(tl_cursor_open(&c, &h.source, track, NULL), 0);
    while (tl_cursor_next(c, &b, NULL) > 0) {
        uint32_t at = 0, until;
        while (tl_insn_select_part(s, b, &at, b->n, &until)) {
            assert_true(at < until && until <= b->n);
            memset(out + line + at, 'x', until - at);
            at = until;
        }
        line += b->n;
    }
    assert_int_equal(line, LINES);
    tl_cursor_close(c);
    tl_insn_select_free(s);
    hand_fini(&h);
}

/* The same for any batches. */
static void expect(const char *chosen, const tl_select *select, unsigned track)
{
    for (uint32_t size = 1; size <= LINES; size++) {
        char found[LINES + 1];
        choose(found, select, size, track);
        assert_string_equal(found, chosen);
    }
}

static void test_levels(void **state)
{
    expect("x.xxx..xxxxx.", &(tl_select){.levels = 1}, 0);
    expect("x....xxx.....", &(tl_select){.levels = 2}, 0);
    expect("x....xxx....x", &(tl_select){.levels = 2 | 8}, 0);
    expect("x......x.....", &(tl_select){.levels = 4}, 0);
}

static void test_pcs(void **state)
{
    expect("x.xxx..x.....", &(tl_select){.has_pc = true, .pc_from = 0x100, .pc_to = 0x104}, 0);
    expect("x....xxxxx...", &(tl_select){.has_pc = true, .pc_from = 0x104, .pc_to = 0x10c}, 0);
    /* An instruction with unknown pc is nowhere, not at 0. */
    expect("x.xxxxxxxx..x", &(tl_select){.has_pc = true, .pc_from = 0, .pc_to = UINT64_MAX}, 0);
    expect("x......xxx...", &(tl_select){.has_pc = true, .pc_from = 0x104, .pc_to = UINT64_MAX, .levels = 1}, 0);
}

static void test_times_and_threads(void **state)
{
    expect("xxxxx........", &(tl_select){.has_to = true, .time_to = 1}, 0);
    expect(".....xxx.....", &(tl_select){.has_from = true, .time_from = 1, .has_to = true, .time_to = 2}, 0);
    expect("........xxxxx", &(tl_select){.has_from = true, .time_from = 2}, 0);
    expect("........xx...", &(tl_select){.has_from = true, .time_from = 2, .has_pc = true, .pc_to = 0x10c}, 0);
    expect(".............", &(tl_select){.has_from = true, .time_from = UINT64_MAX}, 0);
    const char *const second[] = {"101"};
    expect(".............", &(tl_select){.thread = second, .nthread = 1}, 0);
    expect("xxxxxxxxxxxxx", &(tl_select){.thread = second, .nthread = 1}, 1);
}

/* Is the stream of a track selected, if the others are those of threads? */
static bool takes(const tl_track *track, const tl_select *select, tl_code fails)
{
    hand h;
    tl_insn_select *s = NULL;
    tl_error e = {0};
    hand_init(&h, 0);
    HAND_ADD(&h, script);
    HAND_ADD(&h, script);
    h.source.trace.track[0] = *track;
    assert_int_equal(tl_insn_select_new(&s, &h.source.trace, select, 0, &e), fails);
    uint64_t ts = 0, key = 0, aux = 0;
    uint32_t cls = HAND_INSN, number = 0;
    const tl_batch b = {
        .trace = &h.source.trace, .n = 1, .ts = &ts, .key = &key, .aux = &aux, .cls = &cls, .track = &number};
    const bool first = s && tl_insn_select_event(s, &b, 0);
    number = 1;
    if (s && select->ncpu)
        assert_false(tl_insn_select_event(s, &b, 0)); /* a thread */
    tl_insn_select_free(s);
    hand_fini(&h);
    return first;
}

static void test_processors(void **state)
{
    const int32_t some[] = {7, 3}, others[] = {4}, none[] = {-1};
    const char *const number[] = {"3"}, *const name[] = {"cpu 3"}, *const empty[] = {""};
    const tl_track cpu = {.name = "cpu 3", .tid = 3, .is_cpu = true},
                   alone = {.name = "3", .tid = 3, .has_tid = true, .is_cpu = true},
                   large = {.name = "cpu 4294967299", .tid = 4294967299, .is_cpu = true},
                   thread = {.name = "3", .tid = 3, .has_tid = true}, unnamed = {.name = "", .tid = 3, .is_cpu = true};
    const tl_select by_cpu = {.cpu = some, .ncpu = 2}, by_other = {.cpu = others, .ncpu = 1},
                    by_none = {.cpu = none, .ncpu = 1}, by_number = {.thread = number, .nthread = 1},
                    by_name = {.thread = name, .nthread = 1}, by_empty = {.thread = empty, .nthread = 1},
                    by_both = {.cpu = some, .ncpu = 2, .thread = name, .nthread = 1};
    assert_true(takes(&cpu, &by_cpu, 0));
    assert_true(takes(&alone, &by_cpu, 0));
    assert_false(takes(&cpu, &by_other, 0));
    assert_false(takes(&alone, &by_other, 0));
    assert_false(takes(&large, &by_cpu, 0)); /* not its number modulo 2^32 */
    assert_false(takes(&cpu, &by_none, 0));
    assert_false(takes(&thread, &by_cpu, TL_EUNSUPPORTED));
    /* As threads they are selected by name, but not by number. */
    assert_false(takes(&cpu, &by_number, TL_ENOMATCH));
    assert_false(takes(&alone, &by_number, TL_ENOMATCH));
    assert_true(takes(&thread, &by_number, 0));
    assert_true(takes(&cpu, &by_name, 0));
    assert_true(takes(&cpu, &by_both, 0));
    assert_true(takes(&unnamed, &by_empty, 0));
}

static void test_nothing_to_leave_out(void **state)
{
    hand h;
    const char *const nobody[] = {"nobody"}, *const some[] = {"x"};
    tl_insn_select *s = NULL;
    tl_error e = {0};
    hand_init(&h, 0);
    assert_int_equal(tl_insn_select_new(&s, &h.source.trace, NULL, 0, &e), 0);
    assert_null(s);
    assert_int_equal(tl_insn_select_new(&s, &h.source.trace, &(tl_select){.depth = 3, .func = some, .nfunc = 1}, 0, &e),
                     0);
    assert_null(s);
    tl_insn_select_free(s);
    assert_int_equal(tl_insn_select_new(&s, &h.source.trace, &(tl_select){.thread = nobody, .nthread = 1}, 0, &e),
                     TL_ENOMATCH);
    assert_null(s);
    /* Times count from an origin, and none exceeds the last. */
    const tl_select late = {.has_from = true, .time_from = 5};
    assert_int_equal(tl_insn_select_new(&s, &h.source.trace, &late, UINT64_MAX - 2, &e), 0);
    uint64_t ts = UINT64_MAX - 1, key = 0, aux = 0;
    uint32_t cls = HAND_INSN, track = 0;
    const tl_batch b = {
        .trace = &h.source.trace, .n = 1, .ts = &ts, .key = &key, .aux = &aux, .cls = &cls, .track = &track};
    assert_false(tl_insn_select_event(s, &b, 0));
    track = HAND_TRACKS + 1; /* of an unknown one */
    assert_false(tl_insn_select_event(s, &b, 0));
    tl_insn_select_free(s);
    hand_fini(&h);
}

/* The output of convert: the same choice, after --class and others, with the limit passed on to the reader. */
static void test_events(void **state)
{
    static const struct {
        tl_select select;
        uint32_t events;
    } part[] = {
        {{.levels = 1}, 9}, {{.levels = 1, .has_from = true, .time_from = 2}, 4}, {{.has_pc = true, .pc_to = 8}, 2}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        hand h;
        tl_events *events = NULL;
        const tl_batch *b;
        uint32_t from, to, n = 0;
        hand_init(&h, 3);
        HAND_ADD(&h, script);
        tl_source *s = &h.source;
        assert_int_equal(tl_events_open(&events, &s, 1, &part[i].select, false, NULL), 0);
        while (tl_events_next(events, &b, &from, &to, NULL) > 0)
            n += to - from;
        assert_int_equal(n, part[i].events);
        assert_int_equal(h.limit_from, part[i].select.time_from);
        tl_events_close(events);
        hand_fini(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_pcs),
        cmocka_unit_test(test_times_and_threads),
        cmocka_unit_test(test_processors),
        cmocka_unit_test(test_nothing_to_leave_out),
        cmocka_unit_test(test_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
