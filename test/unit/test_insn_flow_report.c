/* What `report --by mix, block, branch, thread` of instructions prints, as JSON and as text. */
#include "hand_insns.h"

#include "analysis/instruction/predictor.h"
#include "cli/report/report_insn.h"

/* A loop of two, a call with two targets, and something of the system in between. */
static const hand_line script[] = {INSN_NO_PC(OP_ADD),     INSN(0x1000, OP_LDR), LOAD(0x8000, 8),
                                   INSN(0x1004, OP_BCOND), INSN(0x1000, OP_LDR), LOAD(0x8008, 8),
                                   INSN(0x1004, OP_BCOND), INSN(0x1008, OP_BLR), INSN(0x2000, OP_STR),
                                   STORE(0x9000, 4),       INSN(0x2004, OP_RET), INSN(0x100c, OP_SVC),
                                   ARGUMENT(64),           ARGUMENT(1),          INSN_AT(0x8000, OP_ERET, 1),
                                   INSN(0x1008, OP_BLR),   INSN(0x3000, OP_RET)};

/* The output of a view, to be freed. `threads`: streams that have the script. */
static char *make(const tl_insn_view *view, const tl_arguments *a, unsigned width, unsigned threads, bool json)
{
    const tl_cli cli = {.args = a, .out = {.tty = width != 0, .width = width ? width : 100}};
    tl_insn_report r = {.cli = &cli, .terminal = &cli.out, .subject = "made.bin: made"};
    tl_error e = {0};
    tl_output *out = NULL;
    tl_json j;
    size_t n = 0;
    char message[TL_USAGE_SIZE] = "";
    void *table = calloc(1, view->how->size), *options = calloc(1, view->options_size + 1);
    hand h;
    assert_true(table && options);
    assert_true(view->empty(table));
    if (view->options && !view->options(options, a, message))
        fail_msg("%s", message);
    hand_init(&h, 0);
    for (unsigned i = 0; i < threads; i++)
        HAND_ADD(&h, script);
    hand_pass(&h, table, view->how, view->options ? options : NULL, threads);
    assert_false(view->empty(table));
    r.table = table;
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
    tl_json_init(&j, out);
    if (json)
        tl_json_object(&j);
    assert_int_equal(json ? view->json(&r, &j, &e) : view->text(&r, out, &e), 0);
    if (json)
        tl_json_object_end(&j);
    assert_int_equal(tl_output_finish(out, &e), 0);
    char *bytes = tl_output_take_memory(out, &n), *text = calloc(1, n + 1);
    assert_non_null(text);
    memcpy(text, bytes, n);
    free(bytes);
    tl_output_close(out);
    view->how->fini(table);
    free(table);
    free(options);
    hand_fini(&h);
    return text;
}

static void check(const tl_insn_view *view, const tl_arguments *a, unsigned threads, const char *json,
                  const char *const *lines)
{
    tl_arguments with_json = *a;
    with_json.json = true;
    char *got = make(view, &with_json, 0, threads, true);
    assert_string_equal(got, json);
    free(got);
    got = make(view, a, 0, threads, false);
    for (; *lines; lines++)
        if (!strstr(got, *lines))
            fail_msg("no \"%s\" in\n%s", *lines, got);
    free(got);
    for (unsigned width = 20; width < 130; width += 7) { /* columns go where there is no room */
        got = make(view, a, width, threads, false);
        assert_contains(got, "made.bin");
        free(got);
    }
}

static void test_mix(void **state)
{
    const tl_arguments a = {.by = TL_REPORT_MIX}, top = {.by = TL_REPORT_MIX, .has_top = true, .top = 1};
    check(&tl_insn_view_mix, &a, 1,
          "{\"unit\":\"instructions\",\"instructions\":12,\"levels\":{\"el0\":11,\"el1\":1,\"el2\":0,\"el3\":0},\"clas"
          "ses\":[{\"name\":\"branch.cond\",\"instructions\":2},{\"name\":\"branch.indirect_call\",\"instructions"
          "\":2},{\"name\":\"branch.return\",\"instructions\":2},{\"name\":\"exception\",\"instructions\":2},{\"nam"
          "e\":\"load\",\"instructions\":2},{\"name\":\"int\",\"instructions\":1},{\"name\":\"store\",\"instructions\""
          ":1}],\"loads\":{\"tokens\":2,\"bytes\":16},\"stores\":{\"tokens\":1,\"bytes\":4}}",
          (const char *const[]){
              "12 instructions: 91.7 % at EL0, 8.3 % at EL1; one in 2.0 is a branch\n1 without a known pc\n",
              "           2  16.7 %  ###                     1    1  exception  SVC, HVC",
              "2 loads of 16 B, 0.17 for each instruction\n1 store of 4 B, 0.08",
              "    2  100.0 %       0    0.0 %  #############         8\n", NULL});
    check(&tl_insn_view_mix, &top, 2,
          "{\"unit\":\"instructions\",\"instructions\":24,\"levels\":{\"el0\":22,\"el1\":2,\"el2\":0,\"el3\":0},\"clas"
          "ses\":[{\"name\":\"branch.cond\",\"instructions\":4}],\"loads\":{\"tokens\":4,\"bytes\":32},\"stores\":{\""
          "tokens\":2,\"bytes\":8}}",
          (const char *const[]){"           4  16.7 %  ###                     4    0  branch.cond  B.cond, CBZ, CBNZ, "
                                "TBZ, TBNZ\n\n4 loads",
                                NULL});
}

static void test_block(void **state)
{
    const tl_arguments a = {.by = TL_REPORT_BLOCK};
    check(&tl_insn_view_block, &a, 1,
          "{\"unit\":\"instructions\",\"blocks\":[{\"start\":\"0x1000\",\"instructions\":2,\"executions\":2},{\"star"
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
    const tl_arguments a = {.by = TL_REPORT_BRANCH},
                       predicted = {.by = TL_REPORT_BRANCH, .predictor = "bimodal:4,ras,btb"};
    check(&tl_insn_view_branch, &a, 1,
          "{\"unit\":\"instructions\",\"branches\":[{\"pc\":\"0x1004\",\"kind\":\"branch.cond\",\"taken\":1,\"not_take"
          "n\":1},{\"pc\":\"0x1008\",\"kind\":\"branch.indirect_call\",\"taken\":2,\"not_taken\":0},{\"pc\":\"0x2004\""
          ",\"kind\":\"branch.return\",\"taken\":1,\"not_taken\":0}]}",
          (const char *const[]){
              "5 branches at 3 places, one in 2.4 instructions\n1 more: it is not known where it went\n",
              "       2  40.0 %  ########               50.0 %       1  cond\n",
              "       2  40.0 %  100.0 %  ########              0x1008  indirect_call, 2 targets, 0x2000 in 50.0 %\n",
              "0x2004  return, to 0x100c\n", NULL});
    check(&tl_insn_view_branch, &predicted, 1,
          "{\"unit\":\"instructions\",\"branches\":[{\"pc\":\"0x1004\",\"kind\":\"branch.cond\",\"taken\":1,\"not_take"
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
    const tl_arguments a = {.by = TL_REPORT_THREAD};
    check(
        &tl_insn_view_thread, &a, 2,
        "{\"unit\":\"instructions\",\"threads\":[{\"name\":\"t0\",\"tid\":100,\"instructions\":12,\"levels\":{\"el0\""
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
    const tl_arguments a = {.by = TL_REPORT_BRANCH, .predictor = "bimodal,oracle:3"};
    tl_predictor_list list;
    char message[TL_USAGE_SIZE] = "";
    assert_false(tl_insn_view_branch.options(&list, &a, message));
    assert_string_equal(message, "--predictor oracle:3: expected bimodal[:BITS], gshare[:BITS[:HISTORY]], "
                                 "ras[:ENTRIES] or btb[:BITS]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mix), cmocka_unit_test(test_block),
                                       cmocka_unit_test(test_branch), cmocka_unit_test(test_thread),
                                       cmocka_unit_test(test_wrong_predictor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
