/* What `report --by page, reuse, cache, syscall` prints, as JSON and as text. */
#include "answer_fixture.h"
#include "hand_insns.h"

static const hand_line script[] = {INSN(0x400000, OP_LDR),
                                   LOAD(0x7ffc, 8),
                                   INSN(0x400004, OP_STR),
                                   STORE(0x8000, 8),
                                   INSN_NO_PC(OP_STR),
                                   STORE(0x9000, 16),
                                   INSN(0x400ffe, OP_LDR),
                                   LOAD(0x7ff8, 4),
                                   INSN(0x400008, OP_SVC),
                                   ARGUMENT(63),
                                   ARGUMENT(0),
                                   ARGUMENT(0x9000),
                                   ARGUMENT(16),
                                   RESULT(UINT64_C(0) - 11),
                                   INSN(0x40000c, OP_SVC),
                                   ARGUMENT(63),
                                   RESULT(16),
                                   INSN(0x400010, OP_SVC),
                                   ARGUMENT(999)};

/* The output of a table for the script; free(). `width`: of a window. */
static char *make(const tl_table_kind *kind, const tl_table_options *o, tl_ask ask, unsigned width, const tl_view *view)
{
    hand h;
    ask.tty = true;
    ask.width = width;
    hand_init(&h, 0);
    HAND_ADD(&h, script);
    char *text = answer_with(kind, o, &h.source, &ask, view);
    hand_fini(&h);
    return text;
}

static void check_json(const tl_table_kind *kind, tl_table_options o, tl_ask ask, const char *json)
{
    answer_check_json(make(kind, &o, ask, 0, &tl_view_json), json);
}

static void check_text(const tl_table_kind *kind, tl_table_options o, unsigned width, const char *expected)
{
    char *text = make(kind, &o, (tl_ask){0}, width, &tl_view_table);
    assert_string_equal(text, expected);
    free(text);
}

static void json_of_pages(void **state)
{
    check_json(&tl_table_page, (tl_table_options){0}, (tl_ask){0},
               "\"unit\":\"accesses\",\"page_size\":4096,\"pages\":["
               "{\"page\":\"0x7000\",\"code\":0,\"loads\":2,\"stores\":0},"
               "{\"page\":\"0x8000\",\"code\":0,\"loads\":1,\"stores\":1},"
               "{\"page\":\"0x9000\",\"code\":0,\"loads\":0,\"stores\":1},"
               "{\"page\":\"0x400000\",\"code\":6,\"loads\":0,\"stores\":0},"
               "{\"page\":\"0x401000\",\"code\":1,\"loads\":0,\"stores\":0}]}");
    check_json(&tl_table_page, (tl_table_options){.interval = 5}, (tl_ask){.has_top = true, .top = 1},
               "\"unit\":\"accesses\",\"page_size\":4096,\"pages\":["
               "{\"page\":\"0x400000\",\"code\":6,\"loads\":0,\"stores\":0}],\"working_set\":["
               "{\"track\":\"t0\",\"from\":0,\"to\":5,\"code_pages\":2,\"data_pages\":3,\"new_pages\":5},"
               "{\"track\":\"t0\",\"from\":5,\"to\":7,\"code_pages\":1,\"data_pages\":0,\"new_pages\":0}]}");
}

static void text_of_pages(void **state)
{
    check_text(&tl_table_page, (tl_table_options){.interval = 5}, 60,
               ANSWER_SUBJECT "\n"
                              "5 pages of 4.0 KiB (20.0 KiB): 2 with code, 3 with data\n"
                              "touched 7 times by code, 3 by loads, 2 by stores\n\n"
                              "touches   share  code  loads  stores  use  page\n"
                              "      6  50.0 %     6      0       0  --x  0x400000\n"
                              "      2  16.7 %     0      2       0  r--  0x7000\n"
                              "      2  16.7 %     0      1       1  rw-  0x8000\n"
                              "      1   8.3 %     0      0       1  -w-  0x9000\n"
                              "      1   8.3 %     1      0       0  --x  0x401000\n\n"
                              "    size  touches   share  stores  use  region\n"
                              " 8.0 KiB        7  58.3 %       0  --x  0x400000-0x401fff\n"
                              "12.0 KiB        5  41.7 %       2  rw-  0x7000-0x9fff\n\n"
                              "working set in intervals of 5 instructions: at most 20.0 KiB\n"
                              "code  data  new    in use                        from\n"
                              "   2     3    5  20.0 KiB  ####################  0\n"
                              "   1     0    0   4.0 KiB  ####                  5\n");
}

static void json_of_reuse(void **state)
{
    check_json(&tl_table_reuse, (tl_table_options){0}, (tl_ask){0},
               "\"unit\":\"accesses\",\"line_size\":64,\"sampled\":null,\"accesses\":5,\"lines\":3,\"cold\":3,"
               "\"distances\":[{\"from\":0,\"to\":0,\"accesses\":1},{\"from\":1,\"to\":1,\"accesses\":0},"
               "{\"from\":2,\"to\":3,\"accesses\":1}]}");
    check_json(&tl_table_reuse, (tl_table_options){.line_size = 4096, .sample = UINT64_C(1) << 32}, (tl_ask){0},
               "\"unit\":\"accesses\",\"line_size\":4096,\"sampled\":4294967296,\"accesses\":5,\"lines\":0,\"cold\":0,"
               "\"distances\":[]}");
}

static void text_of_reuse(void **state)
{
    check_text(&tl_table_reuse, (tl_table_options){0}, 80,
               ANSWER_SUBJECT "\n"
                              "5 accesses to 3 lines of 64 B (192 B)\n\n"
                              "accesses   share                        other lines since then\n"
                              "       1  20.0 %  ####                  0\n"
                              "       0   0.0 %                        1\n"
                              "       1  20.0 %  ####                  2 - 3\n"
                              "       3  60.0 %  ############          first use\n\n"
                              "misses   ratio                        fully associative LRU cache\n"
                              "     3  60.0 %  ############          1.0 KiB  16 lines\n");
}

static void json_of_caches(void **state)
{
    char *text = make(&tl_table_cache, &(tl_table_options){.cache = "l2=0,l2tlb=0"}, (tl_ask){0}, 0, &tl_view_json);
    static const char head[] =
        "{\"schema\":1,\"unit\":\"accesses\",\"instructions\":7,\"levels\":["
        "{\"name\":\"L1I\",\"size\":65536,\"ways\":4,\"line_size\":64,\"accesses\":6,\"lookups\":7,\"misses\":3,"
        "\"writebacks\":0,\"code\":{\"accesses\":6,\"lookups\":7,\"misses\":3},\"load\":{\"accesses\":0,"
        "\"lookups\":0,\"misses\":0},\"store\":{\"accesses\":0,\"lookups\":0,\"misses\":0}},{\"name\":\"L1D\",";
    static const char tail[] = "\"misses_by_pc\":[{\"pc\":\"0x400000\",\"loads\":2,\"stores\":0,\"l2\":0}],"
                               "\"misses_without_pc\":{\"loads\":0,\"stores\":1,\"l2\":0}}\n";
    assert_memory_equal(text, head, sizeof head - 1);
    assert_true(strlen(text) > sizeof tail);
    assert_string_equal(text + strlen(text) - (sizeof tail - 1), tail);
    assert_contains(text, "{\"name\":\"DTLB\",\"entries\":48,\"ways\":48,\"page_size\":4096,");
    assert_lacks(text, "L2\"");
    free(text);
}

static void text_of_caches(void **state)
{
    char *text = make(&tl_table_cache, &(tl_table_options){.cache = "l2tlb=0"}, (tl_ask){0}, 80, &tl_view_table);
    static const char head[] = ANSWER_SUBJECT "\n"
                                              "7 instructions, 2 loads, 2 stores\n"
                                              "l1i=64K:4:64,l1d=64K:4:64,l2=512K:8:64,itlb=48,dtlb=48,l2tlb=0\n\n"
                                              "lookups  misses    ratio";
    assert_memory_equal(text, head, sizeof head - 1);
    assert_contains(text, "\n      5       3   60.0 %  ###########            428.57        0  L1D\n");
    assert_contains(text, "instructions that miss L1D\n");
    assert_contains(text, "  0x400000\n");
    assert_contains(text, "of L2");
    free(text);
    text = make(&tl_table_cache, &(tl_table_options){.cache = "l2=0"}, (tl_ask){0}, 80, &tl_view_table);
    assert_lacks(text, "of L2");
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 80);
    free(text);
}

static void calls(void **state)
{
    check_json(&tl_table_syscall, (tl_table_options){0}, (tl_ask){0},
               "\"unit\":\"calls\",\"syscalls\":[{\"number\":63,\"name\":\"read\",\"count\":2,\"errors\":1},"
               "{\"number\":999,\"name\":null,\"count\":1,\"errors\":0}]}");
    check_text(&tl_table_syscall, (tl_table_options){0}, 80,
               ANSWER_SUBJECT "\n"
                              "3 system calls of 2 kinds, 1 failed\n\n"
                              "calls   share                        errors  system call\n"
                              "    2  66.7 %  #############              1  read  63\n"
                              "    1  33.3 %  #######                    -  number 999\n");
}

/* The script of this test has no fields, and its source gives none: the targets of pointers are unknown. */
static void lists_of_calls(void **state)
{
    assert_true(tl_table_syscall.calls_pass->fields && !tl_table_syscall.pass->fields);
    check_json(&tl_table_syscall, (tl_table_options){.calls = true}, (tl_ask){.has_top = true, .top = 2},
               "\"unit\":\"calls\",\"syscalls\":[{\"number\":63,\"name\":\"read\",\"count\":2,\"errors\":1},"
               "{\"number\":999,\"name\":null,\"count\":1,\"errors\":0}],\"calls\":["
               "{\"ts\":4,\"track\":\"t0\",\"number\":63,\"name\":\"read\",\"arguments\":[\"0x0\",\"0x9000\",\"0x10\"],"
               "\"result\":\"0xfffffffffffffff5\",\"line\":\"read(0, 0x9000, 16) = -1 EAGAIN (Resource temporarily "
               "unavailable)\"},{\"ts\":5,\"track\":\"t0\",\"number\":63,\"name\":\"read\",\"arguments\":[],"
               "\"result\":\"0x10\",\"line\":\"read() = 16\"}]}");
    check_text(&tl_table_syscall, (tl_table_options){.calls = true}, 80,
               ANSWER_SUBJECT "\n"
                              "3 system calls of 2 kinds, 1 failed\n\n"
                              "calls   share                        errors  system call\n"
                              "    2  66.7 %  #############              1  read  63\n"
                              "    1  33.3 %  #######                    -  number 999\n\n"
                              "4  t0  read(0, 0x9000, 16) = -1 EAGAIN (Resource temporarily unavailable)\n"
                              "5  t0  read() = 16\n"
                              "6  t0  syscall_0x3e7() = ?\n");
}

static void options_that_make_no_sense(void **state)
{
    char message[TL_TABLE_MESSAGE] = "";
    char options[256];
    assert_true(sizeof options >= tl_table_reuse.options_size);
    assert_true(sizeof options >= tl_table_cache.options_size);
    assert_false(tl_table_reuse.set(options, &(tl_table_options){.sample = 100}, message));
    assert_contains(message, "sample 100: expected a power of two");
    assert_false(tl_table_reuse.set(options, &(tl_table_options){.sample = UINT64_C(1) << 33}, message));
    assert_false(tl_table_cache.set(options, &(tl_table_options){.cache = "l4=1"}, message));
    assert_memory_equal(message, "cache l4=1: ", 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_of_pages), cmocka_unit_test(text_of_pages),  cmocka_unit_test(json_of_reuse),
        cmocka_unit_test(text_of_reuse), cmocka_unit_test(json_of_caches), cmocka_unit_test(text_of_caches),
        cmocka_unit_test(calls),         cmocka_unit_test(lists_of_calls), cmocka_unit_test(options_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
