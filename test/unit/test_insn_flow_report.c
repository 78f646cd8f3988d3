/* What `report --by mix, block, branch, thread` of instructions prints, as JSON and as text. */
#include "analysis/instruction/predictor.h"
#include "answer_fixture.h"
#include "hand_insns.h"

#include "analysis/instruction/predictor.h"

/* A loop of two, a call with two targets, and a system call between. */
static const hand_line script[] = {INSN_NO_PC(OP_ADD),     INSN(0x1000, OP_LDR), LOAD(0x8000, 8),
                                   INSN(0x1004, OP_BCOND), INSN(0x1000, OP_LDR), LOAD(0x8008, 8),
                                   INSN(0x1004, OP_BCOND), INSN(0x1008, OP_BLR), INSN(0x2000, OP_STR),
                                   STORE(0x9000, 4),       INSN(0x2004, OP_RET), INSN(0x100c, OP_SVC),
                                   ARGUMENT(64),           ARGUMENT(1),          INSN_AT(0x8000, OP_ERET, 1),
                                   INSN(0x1008, OP_BLR),   INSN(0x3000, OP_RET)};

/* The output of a table for `threads` streams with the script; free(). */
static char *make(const tl_table_kind *kind, const tl_table_options *o, const tl_ask *ask, unsigned threads,
                  const tl_view *view)
{
    hand h;
    hand_init(&h, 0);
    for (unsigned i = 0; i < threads; i++)
        HAND_ADD(&h, script);
    char *text = answer_with(kind, o, &h.source, ask, view);
    hand_fini(&h);
    return text;
}

/* `json`: all but its begin. */
static void check(const tl_table_kind *kind, const tl_table_options *o, tl_ask ask, unsigned threads, const char *json,
                  const char *const *lines)
{
    char *got = make(kind, o, &ask, threads, &tl_view_json);
    answer_check_json(got, json);
    ask.width = 100;
    got = make(kind, o, &ask, threads, &tl_view_table);
    for (; *lines; lines++)
        assert_contains(got, *lines);
    free(got);
    ask.tty = true;
    for (ask.width = 20; ask.width < 130; ask.width += 7) { /* columns are left out if there is no room */
        got = make(kind, o, &ask, threads, &tl_view_table);
        assert_memory_equal(got, ANSWER_SUBJECT, strlen(ANSWER_SUBJECT));
        free(got);
    }
}

static void test_mix(void **state)
{
    const tl_table_options o = {0};
    check(&tl_table_mix, &o, (tl_ask){0}, 1,
          "\"unit\":\"instructions\",\"instructions\":12,\"levels\":{\"el0\":11,\"el1\":1,\"el2\":0,\"el3\":0},\"clas"
          "ses\":[{\"name\":\"branch.cond\",\"instructions\":2},{\"name\":\"branch.indirect_call\",\"instructions"
          "\":2},{\"name\":\"branch.return\",\"instructions\":2},{\"name\":\"exception\",\"instructions\":2},{\"nam"
          "e\":\"load\",\"instructions\":2},{\"name\":\"int\",\"instructions\":1},{\"name\":\"store\",\"instructions\""
          ":1}],\"loads\":{\"tokens\":2,\"bytes\":16},\"stores\":{\"tokens\":1,\"bytes\":4}}",
          (const char *const[]){
              "12 instructions: 91.7 % at EL0, 8.3 % at EL1; one in 2.0 is a branch\n1 without a known pc\n",
              "           2  16.7 %  ###                     1    1  exception  SVC, HVC",
              "2 loads of 16 B, 0.17 for each instruction\n1 store of 4 B, 0.08",
              "    2  100.0 %       0    0.0 %  #############         8\n", NULL});
    check(&tl_table_mix, &o, (tl_ask){.has_top = true, .top = 1}, 2,
          "\"unit\":\"instructions\",\"instructions\":24,\"levels\":{\"el0\":22,\"el1\":2,\"el2\":0,\"el3\":0},\"clas"
          "ses\":[{\"name\":\"branch.cond\",\"instructions\":4}],\"loads\":{\"tokens\":4,\"bytes\":32},\"stores\":{\""
          "tokens\":2,\"bytes\":8}}",
          (const char *const[]){"           4  16.7 %  ###                     4    0  branch.cond  B.cond, CBZ, CBNZ, "
                                "TBZ, TBNZ\n\n4 loads",
                                NULL});
}

static void test_block(void **state)
{
    const tl_table_options o = {0};
    check(&tl_table_block, &o, (tl_ask){0}, 1,
          "\"unit\":\"instructions\",\"blocks\":[{\"start\":\"0x1000\",\"instructions\":2,\"executions\":2},{\"star"
          "t\":\"0x1008\",\"instructions\":1,\"executions\":2},{\"start\":\"0x2000\",\"instructions\":2,\"execution"
          "s\":1},{\"start\":\"0x100c\",\"instructions\":1,\"executions\":1},{\"start\":\"0x3000\",\"instructions\":"
          "1,\"executions\":1},{\"start\":\"0x8000\",\"instructions\":1,\"executions\":1}],\"without_pc\":1}",
          (const char *const[]){"6 blocks, executed 8 times: 11 instructions, 1.4 each time\nhalf of them are in 2 "
                                "blocks, 90 % in 5\n1 without a known pc in none\n",
                                "           4  33.3 %  #######                        2       2  0x1000\n",
                                "           1   8.3 %  ##                             1       1  0x8000\n", NULL});
}

static void test_branch(void **state)
{
    const tl_table_options o = {0}, predicted = {.predictor = "bimodal:4,ras,btb"};
    check(&tl_table_branch, &o, (tl_ask){0}, 1,
          "\"unit\":\"instructions\",\"branches\":[{\"pc\":\"0x1004\",\"kind\":\"branch.cond\",\"taken\":1,\"not_take"
          "n\":1},{\"pc\":\"0x1008\",\"kind\":\"branch.indirect_call\",\"taken\":2,\"not_taken\":0},{\"pc\":\"0x2004\""
          ",\"kind\":\"branch.return\",\"taken\":1,\"not_taken\":0}]}",
          (const char *const[]){
              "5 branches at 3 places, one in 2.4 instructions\n1 more: it is not known where it went\n",
              "       2  40.0 %  ########               50.0 %       1  cond\n",
              "       2  40.0 %  100.0 %  ########              0x1008  indirect_call, 2 targets, 0x2000 in 50.0 %\n",
              "0x2004  return, to 0x100c\n", NULL});
    check(&tl_table_branch, &predicted, (tl_ask){0}, 1,
          "\"unit\":\"instructions\",\"branches\":[{\"pc\":\"0x1004\",\"kind\":\"branch.cond\",\"taken\":1,\"not_take"
          "n\":1,\"misses\":[2,null,null]},{\"pc\":\"0x1008\",\"kind\":\"branch.indirect_call\",\"taken\":2,\"not_ta"
          "ken\":0,\"misses\":[null,null,2]},{\"pc\":\"0x2004\",\"kind\":\"branch.return\",\"taken\":1,\"not_taken\":"
          "0,\"misses\":[null,0,null]}],\"predictors\":[{\"name\":\"bimodal:4\",\"branches\":2,\"misses\":2},{\"name\":"
          "\"ras:16\",\"branches\":1,\"misses\":0},{\"name\":\"btb:9\",\"branches\":2,\"misses\":2}],\"instructions\":1"
          "2}",
          (const char *const[]){
              "        1      0    0.0 %                                        0.000  ras:16  returns, by a stack of "
              "calls\n",
              "       2  40.0 %   50.0 %  ########                      2       -      -  0x1004  cond\n", NULL});
}

static void test_thread(void **state)
{
    const tl_table_options o = {0};
    check(
        &tl_table_thread_insns, &o, (tl_ask){0}, 2,
        "\"unit\":\"instructions\",\"threads\":[{\"name\":\"t0\",\"tid\":100,\"instructions\":12,\"levels\":{\"el0\""
        ":11,\"el1\":1,\"el2\":0,\"el3\":0},\"loads\":{\"tokens\":2,\"bytes\":16},\"stores\":{\"tokens\":1,\"bytes\":"
        "4},\"branches\":6,\"syscalls\":1},{\"name\":\"t1\",\"tid\":101,\"instructions\":12,\"levels\":{\"el0\":11,"
        "\"el1\":1,\"el2\":0,\"el3\":0},\"loads\":{\"tokens\":2,\"bytes\":16},\"stores\":{\"tokens\":1,\"bytes\":4},\""
        "branches\":6,\"syscalls\":1}]}",
        (const char *const[]){"2 threads, 24 instructions\n",
                              "          12  50.0 %  ##########             11    1      2  16 B       1      4 B      "
                              "   6         1  t1  tid 101\n",
                              NULL});
}

static void test_wrong_predictor(void **state)
{
    const tl_table_options o = {.predictor = "bimodal,oracle:3"};
    tl_predictor_list list;
    char message[TL_TABLE_MESSAGE] = "";
    assert_false(tl_table_branch.set(&list, &o, message));
    assert_string_equal(message, "predictor oracle:3: expected bimodal[:BITS], gshare[:BITS[:HISTORY]], "
                                 "ras[:ENTRIES] or btb[:BITS]");
}

/* A column for each predictor; and the rows of the first relation only. */
static void test_csv(void **state)
{
    const tl_table_options o = {.predictor = "bimodal:4,ras,btb"};
    char *got = make(&tl_table_branch, &o, &(tl_ask){0}, 1, &tl_view_csv);
    assert_string_equal(got,
                        "pc,kind,taken,not_taken,misses_bimodal_4,misses_ras_16,misses_btb_9,function_name,offset\r\n"
                        "0x1004,branch.cond,1,1,2,,,,\r\n"
                        "0x1008,branch.indirect_call,2,0,,,2,,\r\n"
                        "0x2004,branch.return,1,0,,0,,,\r\n");
    free(got);
    got = make(&tl_table_block, &o, &(tl_ask){.has_top = true, .top = 1}, 1, &tl_view_csv);
    assert_string_equal(got, "start,length,executions,function_name,offset\r\n0x1000,2,2,,\r\n");
    free(got);
    got = make(&tl_table_thread_insns, &o, &(tl_ask){0}, 1, &tl_view_csv);
    assert_string_equal(got, "thread,tid,cpu,instructions,el0,el1,el2,el3,loads,load_bytes,stores,store_bytes,branches,"
                             "syscalls\r\nt0,100,,12,11,1,0,0,2,16,1,4,6,1\r\n");
    free(got);
}

/* For a source without streams, programs get all members, and the command tells people that there is nothing. */
static void test_nothing(void **state)
{
    static const char *const json[] = {
        "\"unit\":\"instructions\",\"instructions\":0,\"levels\":{\"el0\":0,\"el1\":0,\"el2\":0,\"el3\":0},\"classes\":"
        "[],\"loads\":{\"tokens\":0,\"bytes\":0},\"stores\":{\"tokens\":0,\"bytes\":0}}",
        "\"unit\":\"instructions\",\"blocks\":[],\"without_pc\":0}",
        "\"unit\":\"instructions\",\"branches\":[]}",
        "\"unit\":\"accesses\",\"page_size\":4096,\"pages\":[]}",
        "\"unit\":\"accesses\",\"line_size\":64,\"sampled\":null,\"accesses\":0,\"lines\":0,\"cold\":0,\"distances\":[]"
        "}",
        NULL, /* caches have a size */
        "\"unit\":\"calls\",\"syscalls\":[]}",
        "\"unit\":\"instructions\",\"threads\":[]}"};
    size_t n, k = 0;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    for (size_t i = 0; i < n; i++) {
        if (!kind[i]->pass)
            continue;
        char *got = make(kind[i], &(tl_table_options){0}, &(tl_ask){0}, 0, &tl_view_json);
        if (json[k])
            answer_check_json(got, json[k]);
        else
            free(got);
        k++;
        tl_table_run run;
        tl_error e = {0};
        hand h;
        hand_init(&h, 0);
        assert_int_equal(tl_table_run_init(&run, kind[i], &(tl_table_options){0}, &e), 0);
        assert_int_equal(tl_table_run_add(&run, &h.source, NULL, 1, &e), 0);
        assert_true(tl_table_run_is_empty(&run));
        HAND_ADD(&h, script);
        assert_int_equal(tl_table_run_add(&run, &h.source, NULL, 1, &e), 0);
        assert_false(tl_table_run_is_empty(&run));
        tl_table_run_fini(&run);
        hand_fini(&h);
    }
    assert_int_equal(k, TL_COUNT(json));
    answer_check_json(make(&tl_table_page, &(tl_table_options){.interval = 5}, &(tl_ask){0}, 0, &tl_view_json),
                      "\"unit\":\"accesses\",\"page_size\":4096,\"pages\":[],\"working_set\":[]}");
}

/* A table name that tables of profiles have, too, means this table for traces of instructions only. */
static void test_find(void **state)
{
    tl_trace other;
    hand h;
    hand_init(&h, 0);
    tl_trace_init(&other);
    assert_ptr_equal(tl_table_find("thread", NULL), &tl_table_thread);
    assert_ptr_equal(tl_table_find("thread", &other), &tl_table_thread);
    assert_ptr_equal(tl_table_find("thread", &h.source.trace), &tl_table_thread_insns);
    assert_ptr_equal(tl_table_find("mix", NULL), &tl_table_mix);
    assert_ptr_equal(tl_table_find("gc", &h.source.trace), &tl_table_gc);
    assert_ptr_equal(tl_table_find("func", &h.source.trace), &tl_table_func);
    tl_trace_fini(&other);
    hand_fini(&h);
}

/* Traces with different units of time are rows of one relation: each has its own unit. */
static void check_traces(tl_source *const both[2])
{
    const tl_rows_options chosen = {.select = &(tl_select){.has_from = true}};
    tl_rows *rows;
    tl_block b;
    tl_error e = {0};
    must(tl_rows_open(&rows, "trace", both, 2, NULL, &e), &e);
    must(tl_rows_next(rows, &b, &e), &e);
    assert_int_equal(b.rows, 2);
    for (uint32_t i = 0; i < tl_rows_columns(rows); i++) {
        const char *name = tl_rows_column(rows, i)->name;
        const tl_block_column *c = &b.column[i];
        if (strcmp(name, "trace") == 0)
            assert_true(c->i64[0] == 1 && c->i64[1] == 2);
        else if (strcmp(name, "events") == 0)
            assert_true(c->i64[0] > 0 && c->i64[1] == 0);
        else if (strcmp(name, "unit") == 0)
            assert_true(strcmp(c->text[0], "instructions") == 0 && strcmp(c->text[1], "ns") == 0);
    }
    tl_rows_close(rows);
    assert_int_equal(tl_rows_open(&rows, "track", both, 2, NULL, &e), TL_EINVAL); /* its times do not fit together */
    assert_int_equal(tl_rows_open(&rows, "trace", both, 1, &chosen, &e), TL_EINVAL);
    assert_contains(e.message, "nothing of them can be selected");
}

/* Users of the library get the same rows, and may add up traces, too. */
static void test_rows(void **state)
{
    hand h, more;
    tl_source *const both[] = {&h.source, &more.source};
    tl_rows *rows;
    tl_block b;
    tl_error e = {0};
    hand_init(&h, 0);
    hand_init(&more, 0);
    HAND_ADD(&h, script);
    HAND_ADD(&more, script);
    must(tl_rows_open(&rows, "thread", both, 2, NULL, &e), &e);
    assert_string_equal(tl_rows_unit(rows), "instructions");
    assert_int_equal(tl_rows_columns(rows), 14);
    assert_int_equal(tl_rows_next(rows, &b, &e), 1);
    assert_int_equal(b.rows, 1);
    for (uint32_t i = 0; i < tl_rows_columns(rows); i++) {
        static const int64_t expected[] = {0, 100, 0, 24, 22, 2, 0, 0, 4, 32, 2, 8, 12, 2};
        const tl_column_info *c = tl_rows_column(rows, i);
        assert_int_equal(b.column[i].is_null[0], strcmp(c->name, "cpu") == 0);
        if (c->type == TL_TEXT)
            assert_string_equal(b.column[i].text[0], "t0");
        else
            assert_int_equal(b.column[i].i64[0], expected[i]);
    }
    assert_int_equal(tl_rows_next(rows, &b, &e), 0);
    tl_rows_close(rows);
    tl_trace_set_clock(&more.source.trace, "ns", 1000000000); /* a trace of another kind adds nothing */
    more.nstream = 0;
    must(tl_rows_open(&rows, "thread", both, 2, NULL, &e), &e);
    assert_int_equal(tl_rows_count(rows), 1);
    tl_rows_close(rows);
    h.source.trace.path = more.source.trace.path = "dir/t";
    check_traces(both);
    hand_fini(&h);
    hand_fini(&more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mix),
                                       cmocka_unit_test(test_block),
                                       cmocka_unit_test(test_branch),
                                       cmocka_unit_test(test_thread),
                                       cmocka_unit_test(test_wrong_predictor),
                                       cmocka_unit_test(test_csv),
                                       cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_find),
                                       cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
