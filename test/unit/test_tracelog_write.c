/* Writing TraceLogs: every record in both dialects, old logs in new words, parts of logs, and unsuitable values. */
#include "tracelog_write_fixture.h"
#include "writer_fixture.h"

/* A line of each record, from the specification. */
#define COMMON                                                                                                         \
    "prf stm 2018-06-25 07:24:28.049 +09:00\n"                                                                         \
    "prf cfg SamplingTimeoutMs 7\n"                                                                                    \
    "prf cfg Odd  two words \n"                                                                                        \
    "prf tps 1250\n"                                                                                                   \
    "prf trs 2300\n"                                                                                                   \
    "prc cpu 10 9500\n"                                                                                                \
    "thr crt 0x00007FA6D6B31BC0 0x00000000\n"                                                                          \
    "thr crt ? ?\n"                                                                                                    \
    "thr aos 0x00000000 5483\n"                                                                                        \
    "thr aos 0x00000004 5490\n"                                                                                        \
    "thr cpu 0x00000000 20 800\n"                                                                                      \
    "thr cpu ? 20 800\n"                                                                                               \
    "mod ldf 0x00007F56B6E24020 0x00007F56B6ED0000 0x0000000010478560 0x80070002 \"/a b/Work.exe\"\n"                  \
    "mod ata 0x00007F56B6E24020 ?\n"                                                                                   \
    "asm ldf 0x0000000010478560 0x000000001046E280 0x00007F56B6E24020 0x00000000 \"Work\"\n"                           \
    "cls ldf 0x00007F56B6E2C798 0x00000001 0x00007F56B6E24020 0x02000057 0x00000000\n"                                 \
    "cls nam 0x00000001 \"A \"b\" c\"\n"                                                                               \
    "fun inf 0x0000000E 0x00007F1DF26CFD88 ? 0x00007F1DF26CDB58 0x06000003 0x00007F1DF26228E0:0x42 "                   \
    "0x00007F1DF2622ABC:0xff 0xfffffffe:0x0:0xd 0x7:0x13:0x1b\n"                                                       \
    "fun inf 0x0000000F 0x00007F1DF26CFD90 0x00007F1DF26CFE18 0x00007F1DF26CDB58 0x06000004\n"                         \
    "fun nam 0x0000000E \"Work:Fib \" \"x\" \"System.Int32\" \"(int)\"\n"                                              \
    "gch alt 309 0x1:10:240 0xabc:3:72\n"                                                                              \
    "gch alt 310\n"                                                                                                    \
    "gch gen 309 LOH:1:2 GEN2:100:200 GEN1:3:4 GEN0:5:6\n"                                                             \
    "sam str 0x00000000 5 1 0:0 0x1 0x2:0x00007F66683F7E88\n"                                                          \
    "sam str 0x00000000 6 1 2:2:0x00007F66683F7E90\n"                                                                  \
    "sam str 0x00000000 7 4294967295 2:2:? 0xe\n"                                                                      \
    "sam str ? 8 0 0:0 ? ?:0x00007F66683F7E88\n"                                                                       \
    "sam mem 0x00000000 7 0x5:1:24 0x6:2:48:0x00007F66683F7E88 ?:1:2\n"                                                \
    "sam mem ? 9\n"

#define OF_DIALECT(pid, again, zero, four)                                                                             \
    "apd crf 0x000000001046E280 " pid " 0x00000000 \"DefaultDomain\"\n"                                                \
    "thr dst 0x00000004" again "\n"                                                                                    \
    "jit cms " zero " 13 0x00007F56B78BEAF8\n"                                                                         \
    "jit cmf " zero " 15 0x00007F56B78BEAF8 0x8000FFFF\n"                                                              \
    "jit css " four " 16 0x00007F56B78B54B0\n"                                                                         \
    "jit csf " four " 17 ?\n"                                                                                          \
    "gch gcs " four " 309 ? tttf\n"                                                                                    \
    "gch gcs ? 310 induced tfff\n"                                                                                     \
    "gch gcf " four " 393\n"
#define OF_DOC OF_DIALECT("5256", "", "0x00000000", "0x00000004")
#define OF_VS  OF_DIALECT("0x1488", " 0x00000004", "5483", "5490")

static void test_every_record(void **state)
{
    assert_copy(COMMON OF_DOC, "doc", COMMON OF_DOC);
    assert_copy(COMMON OF_VS, "vs", COMMON OF_VS);
    assert_copy(COMMON OF_DOC, "vs", COMMON OF_VS);
    assert_copy(COMMON OF_VS, "doc", COMMON OF_DOC);
}

static void test_own_dialect_is_kept(void **state)
{
    assert_copy(OF_DOC, NULL, OF_DOC);
    assert_copy("thr aos 0x00000000 5483\n"
                "thr aos 0x00000004 5490\n" OF_VS,
                NULL,
                "thr aos 0x00000000 5483\n"
                "thr aos 0x00000004 5490\n" OF_VS);
    assert_copy("", NULL, "");
}

static void test_other_versions_are_refused(void **state)
{
    static const char *const wrong[] = {"old", "saved", "5", "", "DOC"};
    for (size_t i = 0; i < TL_COUNT(wrong); i++) {
        fixture f;
        log_init(&f);
        f.options.version = wrong[i];
        assert_int_equal(fixture_create(&f, &tracelog_door), TL_EINVAL);
        fixture_fini(&f);
    }
}

/* A number of the system without a thr aos has no iid; a thread with an unknown number keeps its iid. */
static void test_threads_that_the_dialect_cannot_name(void **state)
{
    assert_copy("gch gcf 77 393\n", "doc", "gch gcf 77 393\n");
    assert_copy("gch gcf 0x00000009 393\n", "vs", "gch gcf 0x00000009 393\n");
    /* The latest number counts. */
    assert_copy("thr aos 0x00000001 10\ngch gcf 0x00000001 1\nthr aos 0x00000001 11\ngch gcf 0x00000001 2\n", "vs",
                "thr aos 0x00000001 10\ngch gcf 10 1\nthr aos 0x00000001 11\ngch gcf 11 2\n");
}

static void test_old_logs_in_new_words(void **state)
{
    fixture f;
    log_copy(&f,
             "fun cmf 0x00007F15D434F4E8 0x00000003 0x00007F07FBE68800 0x00007F12B532EB28 0x06000001 0x00000000 "
             "0x00007F1746CFB230:0x7f5 0x0:0x1:0x2\n"
             "fun csf 0x00007F15D434F4E8 0x00000004 ? 0x00007F12B532EB28 0x06000001\n"
             "str sam 0x00000001 5 ? 0:0 0x3:00007F1746CFB231\n"
             "str sam 0x00000001 6 4 1:1:00007F1746CFB232\n"
             "sam mem 0x00000001 6 0x1:1:24:00007F1746CFB233\n",
             NULL, NULL);
    assert_string_equal((const char *)f.bytes,
                        "fun inf 0x00000003 0x00007F15D434F4E8 0x00007F07FBE68800 0x00007F12B532EB28 0x06000001 "
                        "0x00007F1746CFB230:0x7f5 0x0:0x1:0x2\n"
                        "fun inf 0x00000004 0x00007F15D434F4E8 ? 0x00007F12B532EB28 0x06000001\n"
                        "sam str 0x00000001 5 0 0:0 0x3:0x00007F1746CFB231\n"
                        "sam str 0x00000001 6 4 1:1:0x00007F1746CFB232\n"
                        "sam mem 0x00000001 6 0x1:1:24:0x00007F1746CFB233\n");
    assert_int_equal(fixture_dropped(&f, "statuses"), 1);
    fixture_fini(&f);
}

static void test_saved_sessions_keep_their_lines(void **state)
{
    static const char log[] = "fil src 0x00000001 \"/src/Main.cs\"\n"
                              "lin src 0x0000000A 0x00000001 0x00000003 10 9 10 40\n"
                              "sam str 0x00000001 5 1 0:0 0x3:0xa 0x4:0x0\n"
                              "sam mem 0x00000001 5 0x1:1:24:0xa\n";
    assert_copy(log, NULL, log);
}

/* Programs of 32 bits have pointers of eight digits; call points are as wide as the pointers before them. */
static void test_width_of_pointers(void **state)
{
    static const char log[] = "mod ata 0x7F56B6E0 0x00001234\n"
                              "sam str 0x00000001 5 1 0:0 0x3:0x0000ABCD\n"
                              "sam mem 0x00000001 5 0x1:1:24:0x0000ABCE\n"
                              "fun inf 0x00000003 0x00000001 0x00000002 0x00000003 0x06000001 0x00ABCDEF:0x1\n";
    assert_copy(log, NULL, log);
}

/* Numbers keep their digits, whatever they are. */
static void test_digits_are_kept(void **state)
{
    static const char log[] = "thr crt 0x7FA6D6B31BC0 0x0\n"
                              "thr dst 0x0001\n"
                              "cls ldf 0x1 0x000000001 0x0 0x2 0x0\n"
                              "gch alt 5 0x001:1:2\n";
    assert_copy(log, NULL, log);
    assert_copy("cls nam 0x000000000000000000001 \"A\"\n", NULL, "cls nam 0x00000001 \"A\"\n");
}

/* ---- parts of logs */

static bool no_settings(const tl_batch *b, uint32_t i)
{
    return b->cls[i] == tracelog_sam_str || b->cls[i] == tracelog_sam_mem;
}

static void test_part_says_what_it_lost(void **state)
{
    fixture f;
    log_copy(&f,
             "prf cfg SamplingTimeoutMs 3\n"
             "fun nam 0x00000001 \"A:M\" \"int\" \"()\"\n"
             "sam str 0x00000001 5 0 0:0 0x1\n"
             "sam str 0x00000001 6 1 1:1 0x1 0x2\n"
             "prf tps 7\n"
             "sam str 0x00000001 8 0 3:3\n"
             "sam mem 0x00000001 8 0x1:1:2\n"
             "sam str 0x00000001 9 2 3:3\n"
             "prf trs 10\n"
             "prf cfg SamplingTimeoutMs none\n"
             "sam str 0x00000001 11 2 1:3\n",
             NULL, no_settings);
    assert_string_equal((const char *)f.bytes, "fun nam 0x00000001 \"A:M\" \"\" \"\"\n"
                                               "sam str 0x00000001 5 0 0:0 0x1\n"
                                               "prf cfg SamplingTimeoutMs 3\n"
                                               "sam str 0x00000001 6 1 1:1 0x1 0x2\n"
                                               "sam str 0x00000001 8 0 3:3\n"
                                               "sam mem 0x00000001 8 0x1:1:2\n"
                                               "sam str 0x00000001 9 2 3:3\n"
                                               "prf cfg SamplingTimeoutMs 10\n"
                                               "sam str 0x00000001 11 2 1:3\n");
    fixture_fini(&f);
}

static bool first_and_last(const tl_batch *b, uint32_t i)
{
    return b->ts[i] < 6 || b->ts[i] > 7;
}

/* The omitted line changed the stack: the next one is written as the difference from the known one. */
static void test_part_of_the_samples(void **state)
{
    fixture f;
    log_copy(&f,
             "sam str 0x00000001 5 1 0:0 0x1 0x2:0x00007F0000000001 0x3\n"
             "sam str 0x00000001 6 1 1:3 0x2:0x00007F0000000002 0x4\n"
             "sam str 0x00000001 7 1 3:3 0x5\n"
             "sam str 0x00000001 8 1 4:4 0x6\n",
             NULL, first_and_last);
    assert_string_equal((const char *)f.bytes, "sam str 0x00000001 5 1 0:0 0x1 0x2:0x00007F0000000001 0x3\n"
                                               "sam str 0x00000001 8 1 2:3:0x00007F0000000002 0x4 0x5 0x6\n");
    fixture_fini(&f);
}

/* ---- values that do not fit */

static const tl_value odd_values[] = {
    {.type = TL_NULL},
    {.type = TL_BOOL, .as.u = 1},
    {.type = TL_U64, .as.u = UINT64_MAX},
    {.type = TL_I64, .as.i = -1},
    {.type = TL_F64, .as.f = 1.5},
    {.type = TL_HEX, .flags = 255, .as.u = UINT64_MAX},
    {.type = TL_STRING, .n = 3, .as.p = "a\nb"},
    {.type = TL_BYTES, .n = 1, .as.p = "a"},
    {.type = TL_LIST, .n = 0},
    {.type = TL_LIST, .n = UINT32_MAX},
    {.type = TL_STRUCT, .n = UINT32_MAX},
    {.type = TL_STRUCT, .n = 0},
    {.type = TL_VARIANT, .n = 1},
    {.type = TL_ABSENT},
    {.type = TL_STACK},
};

/* Whatever values an event has, it is one line. */
static void test_odd_values(void **state)
{
    uint32_t random = 1;
    for (int vs = 0; vs < 2; vs++) {
        fixture f;
        log_init(&f);
        f.options.version = vs ? "vs" : "doc";
        assert_int_equal(fixture_create(&f, &tracelog_door), 0);
        uint32_t events = 0;
        for (uint32_t record = 0; record < TRACELOG_RECORDS; record++)
            for (uint32_t n = 0; n < 120; n++) {
                tl_value v[12];
                for (size_t k = 0; k < TL_COUNT(v); k++) {
                    random = random * 1664525 + 1013904223;
                    v[k] = odd_values[(random >> 16) % TL_COUNT(odd_values)];
                }
                fixture_event(&f, record, n % 3, 0, n, 0, v, n % 13);
                events++;
            }
        fixture_finish(&f);
        uint32_t lines = 0;
        for (size_t i = 0; i < f.size; i++)
            lines += f.bytes[i] == '\n';
        assert_in_range(lines, events, events + 20); /* and prf cfg before samples of weight 0 */
        assert_true(fixture_dropped(&f, "values that do not fit") > 0);
        assert_true(fixture_dropped(&f, "line breaks") > 0);
        fixture_fini(&f);
    }
}

/* Each unsuitable value is counted, once for its line; a missing one is not. */
static void test_odd_values_are_counted(void **state)
{
    static const tl_value id = {.type = TL_HEX, .as.u = 1}, number = {.type = TL_U64, .as.u = 5},
                          none = {.type = TL_NULL}, text = {.type = TL_STRING, .n = 1, .as.p = "a"},
                          stack = {.type = TL_STACK};
    const struct {
        tl_value v[5];
        uint64_t odd;
    } sample[] = {{{id, number, number, number, stack}, 0},   {{none, number, none, number, stack}, 0},
                  {{text, number, number, number, stack}, 1}, {{id, number, text, number, stack}, 1},
                  {{id, number, number, number, number}, 1},  {{text, number, text, number, text}, 1},
                  {{id, number, number, text, stack}, 0}};
    for (size_t i = 0; i < TL_COUNT(sample); i++) {
        fixture f;
        log_init(&f);
        assert_int_equal(fixture_create(&f, &tracelog_door), 0);
        fixture_event(&f, tracelog_sam_str, 1, 0, 9, 10, sample[i].v, 5);
        fixture_finish(&f);
        assert_int_equal(fixture_dropped(&f, "values that do not fit"), sample[i].odd);
        fixture_fini(&f);
    }
}

/* Pieces of code: address and size, or three numbers of a map from offsets. */
static void test_odd_members_are_counted(void **state)
{
    static const tl_value id = {.type = TL_HEX, .as.u = 1}, number = {.type = TL_U64, .as.u = 5},
                          text = {.type = TL_STRING, .n = 1, .as.p = "a"}, one = {.type = TL_LIST, .n = 1},
                          none = {.type = TL_LIST}, pair = {.type = TL_STRUCT, .n = 2};
    const struct {
        tl_value v[10];
        uint64_t odd;
    } code[] = {{{id, id, id, id, id, one, pair, number, number, none}, 0},
                {{id, id, id, id, id, one, pair, text, number, none}, 1},
                {{id, id, id, id, id, one, pair, text, text, none}, 2}};
    for (size_t i = 0; i < TL_COUNT(code); i++) {
        fixture f;
        log_init(&f);
        assert_int_equal(fixture_create(&f, &tracelog_door), 0);
        fixture_event(&f, tracelog_fun_inf, 1, 0, 9, 10, code[i].v, 10);
        fixture_finish(&f);
        assert_int_equal(fixture_dropped(&f, "values that do not fit"), code[i].odd);
        fixture_fini(&f);
    }
}

/* Values that are missing are unknown or 0. */
static void test_missing_values(void **state)
{
    fixture f;
    log_init(&f);
    assert_int_equal(fixture_create(&f, &tracelog_door), 0);
    fixture_event(&f, tracelog_cls_ldf, 0, 0, 0, 0, NULL, 0);
    fixture_event(&f, tracelog_cls_nam, 0, 0, 0, 0, NULL, 0);
    fixture_event(&f, tracelog_thr_cpu, 1, 0, 9, 0, NULL, 0);
    fixture_event(&f, tracelog_gch_gcs, 1, 0, 9, 0, NULL, 0);
    fixture_event(&f, tracelog_fun_inf, 0, 0, 0, 0, NULL, 0);
    fixture_event(&f, tracelog_sam_str, 1, 0, 9, 10, NULL, 0);
    fixture_expect(&f, "cls ldf ? ? ? 0x00000000 0x00000000\n"
                       "cls nam ? \"\"\n"
                       "thr cpu ? 9 0\n"
                       "gch gcs ? 9  \n"
                       "fun inf ? ? ? ? 0x00000000\n"
                       "sam str ? 9 0 0:0\n");
}

/* A writer of events never accepts what it cannot hold. */
static void test_other_classes_are_dropped(void **state)
{
    fixture f;
    fixture_init(&f);
    assert_int_equal(fixture_create(&f, &tracelog_door), 0);
    static const tl_accept expected[CLASSES] = {
        [ENTER] = TL_ACCEPT_KEEP,     [EXIT] = TL_ACCEPT_KEEP,       [TAIL_EXIT] = TL_ACCEPT_KEEP,
        [FRAMING] = TL_ACCEPT_IGNORE, [ENTER_ARGS] = TL_ACCEPT_KEEP,
    };
    for (uint32_t i = 0; i < CLASSES; i++)
        assert_int_equal(tracelog_accept(f.writer, &f.trace.cls[i]), expected[i]);
    fixture_fini(&f);
}

/* Other sources must come by time, a log in its own order. */
static void test_order(void **state)
{
    tl_trace own = {.format = "tracelog"}, other = {.format = "xray-fdr"}, unknown = {0};
    tl_reader reader = {.unsorted = true};
    tl_event_writer writer = {.ordered = true};
    const tl_format f = {.name = "tracelog", .reader = &reader, .event_writer = &writer},
                    writes_only = {.name = "tracelog", .event_writer = &writer};
    assert_false(tl_format_wants_order(&f, &own));
    assert_true(tl_format_wants_order(&f, &other));
    assert_true(tl_format_wants_order(&f, &unknown));
    assert_true(tl_format_wants_order(&writes_only, &own));
    reader.unsorted = false;
    assert_true(tl_format_wants_order(&f, &own));
    writer.ordered = false;
    assert_false(tl_format_wants_order(&f, &other));
    /* Only a track's own order of a track with events in several streams needs that order. */
    other.shared_tracks = true;
    assert_false(tl_format_wants_order(&f, &other));
    writer.track_order = true;
    assert_true(tl_format_wants_order(&f, &other));
    assert_false(tl_format_wants_order(&f, &own));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_record),
        cmocka_unit_test(test_own_dialect_is_kept),
        cmocka_unit_test(test_other_versions_are_refused),
        cmocka_unit_test(test_threads_that_the_dialect_cannot_name),
        cmocka_unit_test(test_old_logs_in_new_words),
        cmocka_unit_test(test_saved_sessions_keep_their_lines),
        cmocka_unit_test(test_width_of_pointers),
        cmocka_unit_test(test_digits_are_kept),
        cmocka_unit_test(test_part_says_what_it_lost),
        cmocka_unit_test(test_part_of_the_samples),
        cmocka_unit_test(test_odd_values),
        cmocka_unit_test(test_odd_values_are_counted),
        cmocka_unit_test(test_odd_members_are_counted),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_other_classes_are_dropped),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
