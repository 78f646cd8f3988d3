/* Calls from instructions: every instruction is in exactly one function, and each call where it belongs. */
#include "op/insn_calls.h"

#include "analysis/instruction/mix_table.h"
#include "code_fixture.h"
#include "hand_insns.h"
#include "model/profile_impl.h"
#include "scratch.h"

enum { TEXT_SIZE = 8192 };

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every place as a line: "main>f self total calls", sorted; then the unmatched ones. */
static void dump(const tl_profile *p, char *out)
{
    char *line[64], path[1024];
    uint32_t n = 0;
    for (uint32_t i = 1; i < p->nplace; i++) {
        tl_stat s;
        char label[24];
        path[0] = 0;
        for (uint32_t at = i; at; at = tl_profile_parent(p, at)) {
            const uint32_t function = tl_profile_function(p, at);
            const char *name = function == UINT32_MAX ? p->track[p->place[at].track].name
                                                      : tl_function_label(tl_profile_get_function(p, function), label);
            const size_t length = strlen(name) + 1, rest = strlen(path) + 1;
            assert_true(length + rest <= sizeof path);
            memmove(path + length, path, rest);
            memcpy(path, name, length - 1);
            path[length - 1] = rest > 1 ? '>' : 0;
        }
        tl_profile_stat(p, i, &s);
        if (!s.calls)
            continue;
        assert_true(n < 64);
        line[n] = malloc(1200);
        assert_non_null(line[n]);
        snprintf(line[n++], 1200, "%s %llu %llu %llu\n", path, (unsigned long long)s.self, (unsigned long long)s.total,
                 (unsigned long long)s.calls);
    }
    qsort(line, n, sizeof *line, by_text);
    *out = 0;
    for (uint32_t i = 0; i < n; i++) {
        assert_true(strlen(out) + strlen(line[i]) < TEXT_SIZE - 64);
        strcat(out, line[i]);
        free(line[i]);
    }
    if (p->unmatched_exits || p->unmatched_open)
        sprintf(out + strlen(out), "exits %llu open %llu\n", (unsigned long long)p->unmatched_exits,
                (unsigned long long)p->unmatched_open);
}

static uint64_t all_self(const tl_profile *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->nplace; i++)
        n += p->stat[i].self;
    return n;
}

static tl_profile *profile_of(hand *h, const tl_profile_options *options)
{
    tl_profile *p = NULL;
    tl_error e = {0};
    must(tl_profile_from_source(&p, &h->source, options, &e), &e);
    assert_string_equal(tl_profile_unit(p), "instructions");
    return p;
}

/* The profile of one stream, with the functions of a binary or without. */
static void expect_of(const hand_line *line, uint32_t n, const char *binary, const tl_select *select, const char *text)
{
    for (uint32_t batch = 0; batch < 4; batch++) {
        hand h;
        char found[TEXT_SIZE];
        hand_init(&h, batch);
        hand_add(&h, line, n);
        if (binary)
            assert_int_equal(tl_code_map_open(&h.source.code, binary, NULL), 0);
        tl_profile *p = profile_of(&h, &(tl_profile_options){.threads = 1, .select = select});
        dump(p, found);
        assert_string_equal(found, text);
        tl_profile_free(p);
        tl_code_map_close(h.source.code);
        hand_fini(&h);
    }
}

#define EXPECT(script, text)                  expect_of(script, sizeof(script) / sizeof *(script), NULL, NULL, text)
#define EXPECT_NAMED(script, text)            expect_of(script, sizeof(script) / sizeof *(script), "binary", NULL, text)
#define EXPECT_SELECTED(script, select, text) expect_of(script, sizeof(script) / sizeof *(script), NULL, select, text)

static void test_calls(void **state)
{
    static const hand_line one[] = {SNAPSHOT(),          OTHER(),           INSN(0x100, OP_ADD), INSN(0x104, OP_BL),
                                    INSN(0x200, OP_LDR), LOAD(1, 8),        INSN(0x204, OP_RET), OTHER(),
                                    INSN(0x108, OP_BLR), INSN(0x200, OP_B), INSN(0x900, OP_RET), INSN(0x10c, OP_ADD)};
    EXPECT(one, "[entry 0x100] 4 8 1\n"
                "[entry 0x100]>0x200 4 4 2\n");
    /* Fixes the place only. */
    static const hand_line next[] = {INSN(0x100, OP_BL), INSN(0x104, OP_ADD), INSN(0x108, OP_ADD)};
    EXPECT(next, "[entry 0x100] 3 3 1\n");
    static const hand_line again[] = {INSN(0x100, OP_BL),  INSN(0x200, OP_BL),  INSN(0x200, OP_BL), INSN(0x200, OP_RET),
                                      INSN(0x204, OP_RET), INSN(0x204, OP_RET), INSN(0x104, OP_ADD)};
    EXPECT(again, "[entry 0x100] 2 7 1\n"
                  "[entry 0x100]>0x200 2 5 1\n"
                  "[entry 0x100]>0x200>0x200 2 3 1\n"
                  "[entry 0x100]>0x200>0x200>0x200 1 1 1\n");
}

static void test_ends(void **state)
{
    static const hand_line open[] = {INSN(0x100, OP_BL), INSN(0x200, OP_BLR), INSN(0x300, OP_BL)};
    EXPECT(open, "[entry 0x100] 1 3 1\n"
                 "[entry 0x100]>0x200 1 2 1\n"
                 "[entry 0x100]>0x200>0x300 1 1 1\n"
                 "exits 0 open 2\n");
    /* Past two functions that never return. */
    static const hand_line jump[] = {INSN(0x100, OP_BL), INSN(0x200, OP_BL), INSN(0x300, OP_BL), INSN(0x400, OP_RET),
                                     INSN(0x104, OP_ADD)};
    EXPECT(jump, "[entry 0x100] 2 5 1\n"
                 "[entry 0x100]>0x200 1 3 1\n"
                 "[entry 0x100]>0x200>0x300 1 2 1\n"
                 "[entry 0x100]>0x200>0x300>0x400 1 1 1\n"
                 "exits 0 open 2\n");
    /* Out of the first function, into its caller; and to a place without a call. */
    static const hand_line out[] = {INSN(0x100, OP_ADD), INSN(0x104, OP_RET), INSN(0x800, OP_BL), INSN(0x900, OP_RET),
                                    INSN(0x808, OP_RET)};
    EXPECT(out, "[entry 0x100] 2 2 1\n"
                "[entry 0x800] 1 3 1\n"
                "[entry 0x800]>0x900 2 2 1\n"
                "exits 2 open 1\n");
    static const hand_line nothing[] = {SNAPSHOT(), OTHER()};
    EXPECT(nothing, "");
}

static void test_levels(void **state)
{
    static const hand_line call[] = {INSN(0x100, OP_SVC), INSN_AT(0x8000, OP_BL, 1), INSN_AT(0x9000, OP_RET, 1),
                                     INSN_AT(0x8004, OP_ERET, 1), INSN(0x104, OP_ADD)};
    EXPECT(call, "[entry 0x100] 2 5 1\n"
                 "[entry 0x100]>[el1] 2 3 1\n"
                 "[entry 0x100]>[el1]>0x9000 1 1 1\n");
    /* An interrupt between a call and its callee calls from the same address; it does not return. */
    static const hand_line between[] = {INSN(0x100, OP_BL),         INSN_AT(0x100, OP_BL, 1), INSN_AT(0x200, OP_ADD, 1),
                                        INSN_AT(0x204, OP_ERET, 1), INSN(0x200, OP_ADD),      INSN(0x204, OP_RET),
                                        INSN(0x104, OP_ADD)};
    EXPECT(between, "[entry 0x100] 2 7 1\n"
                    "[entry 0x100]>0x200 2 2 1\n"
                    "[entry 0x100]>[el1] 1 3 1\n"
                    "[entry 0x100]>[el1]>0x200 2 2 1\n"
                    "exits 0 open 1\n");
    /* A return does not leave its level. */
    static const hand_line caught[] = {INSN(0x100, OP_BL),         INSN(0x200, OP_SVC), INSN_AT(0x8000, OP_RET, 1),
                                       INSN_AT(0x104, OP_ERET, 1), INSN(0x204, OP_RET), INSN(0x104, OP_ADD)};
    EXPECT(caught, "[entry 0x100] 2 6 1\n"
                   "[entry 0x100]>0x200 2 4 1\n"
                   "[entry 0x100]>0x200>[el1] 2 2 1\n"
                   "exits 1 open 0\n");
    static const hand_line over[] = {INSN_AT(0x100, OP_ADD, 1), INSN_AT(0x200, OP_ADD, 2), INSN_AT(0x300, OP_ADD, 3),
                                     INSN_AT(0x104, OP_ADD, 1), INSN_AT(0x400, OP_ADD, 0), INSN_AT(0x500, OP_ADD, 3),
                                     INSN_AT(0x600, OP_ADD, 2), INSN_AT(0x404, OP_ADD, 0)};
    EXPECT(over, "[entry 0x100] 2 4 1\n"
                 "[entry 0x100]>[el2] 1 2 1\n"
                 "[entry 0x100]>[el2]>[el3] 1 1 1\n"
                 "[entry 0x400] 2 4 1\n"
                 "[entry 0x400]>[el2] 1 1 1\n"
                 "[entry 0x400]>[el3] 1 1 1\n");
}

/* A return inside a level, to an address with the same hash as one that the level below called from. */
static void test_levels_do_not_meet(void **state)
{
    for (uint64_t base = 1; base < 4; base++) {
        const uint64_t pc = 0x104 ^ base * UINT64_C(0x9e3779b97f4a7c15);
        const hand_line line[] = {INSN(0x100, OP_BL),      INSN(0x200, OP_SVC), INSN_AT(0x8000, OP_RET, 1),
                                  INSN_AT(pc, OP_ERET, 1), INSN(0x204, OP_RET), INSN(0x104, OP_ADD)};
        EXPECT(line, "[entry 0x100] 2 6 1\n"
                     "[entry 0x100]>0x200 2 4 1\n"
                     "[entry 0x100]>0x200>[el1] 2 2 1\n"
                     "exits 1 open 0\n");
    }
}

static void test_unknown_pcs(void **state)
{
    static const hand_line late[] = {INSN_NO_PC(OP_BL),  INSN_NO_PC(OP_RET),  INSN(0x100, OP_BL), INSN(0x200, OP_ADD),
                                     INSN_NO_PC(OP_RET), INSN(0x208, OP_RET), INSN(0x104, OP_ADD)};
    EXPECT(late, "? 2 2 1\n"
                 "[entry 0x100] 2 5 1\n"
                 "[entry 0x100]>0x200 3 3 1\n");
}

static void test_selections(void **state)
{
    static const hand_line line[] = {INSN(0x100, OP_BL),          INSN(0x200, OP_SVC), INSN_AT(0x8000, OP_ADD, 1),
                                     INSN_AT(0x8004, OP_ERET, 1), INSN(0x204, OP_BL),  INSN(0x300, OP_RET),
                                     INSN(0x208, OP_RET),         INSN(0x104, OP_ADD)};
    const char *const glob[] = {"0x200"}, *const none[] = {"0x999"}, *const other[] = {"t1"};
    EXPECT_SELECTED(line, (&(tl_select){.levels = 2}),
                    "[entry 0x100] 0 2 1\n"
                    "[entry 0x100]>0x200 0 2 1\n"
                    "[entry 0x100]>0x200>[el1] 2 2 1\n");
    EXPECT_SELECTED(line, (&(tl_select){.has_pc = true, .pc_from = 0x204, .pc_to = 0x208}),
                    "[entry 0x100] 0 1 1\n"
                    "[entry 0x100]>0x200 1 1 1\n");
    /* Only the selected time is followed. */
    EXPECT_SELECTED(line, (&(tl_select){.has_from = true, .time_from = 1, .has_to = true, .time_to = 6}),
                    "[entry 0x200] 2 5 1\n"
                    "[entry 0x200]>0x300 1 1 1\n"
                    "[entry 0x200]>[el1] 2 2 1\n"
                    "exits 0 open 1\n");
    EXPECT_SELECTED(line, (&(tl_select){.func = glob, .nfunc = 1}), "[entry 0x100]>0x200 3 6 1\n");
    EXPECT_SELECTED(line, (&(tl_select){.depth = 1}), "[entry 0x100] 2 8 1\n");
    EXPECT_SELECTED(line, (&(tl_select){.min_ticks = 3}),
                    "[entry 0x100] 2 8 1\n"
                    "[entry 0x100]>0x200 3 6 1\n");
    EXPECT_SELECTED(line, (&(tl_select){.thread = other, .nthread = 1}), "");
    hand h;
    tl_profile *p = NULL;
    tl_error e = {0};
    hand_init(&h, 0);
    HAND_ADD(&h, line);
    const tl_select wrong[] = {{.func = none, .nfunc = 1},
                               {.thread = none, .nthread = 1},
                               {.cls = none, .ncls = 1},
                               {.cpu = (const int32_t[]){1}, .ncpu = 1}};
    for (int i = 0; i < 4; i++)
        assert_int_equal(tl_profile_from_source(&p, &h.source, &(tl_profile_options){.select = &wrong[i]}, &e),
                         i < 2 ? TL_ENOMATCH : TL_EUNSUPPORTED);
    h.fails = 1;
    assert_int_equal(tl_profile_from_source(&p, &h.source, NULL, &e), TL_EIO);
    assert_null(p);
    hand_fini(&h);
}

static const code_symbol symbols[] = {CODE_FUNC("main", 0x1000, 0x40), CODE_FUNC("f", 0x1040, 0x40),
                                      CODE_FUNC("g", 0x1080, 0x40), CODE_FUNC("h", 0x1100, 0x40)};

static void test_names(void **state)
{
    code_write("binary", symbols, 4);
    /* f, called in its middle, jumps within itself, then to g, which returns to main. */
    static const hand_line tail[] = {INSN(0x1010, OP_BL),  INSN(0x1048, OP_B), INSN(0x1040, OP_BR),
                                     INSN(0x1080, OP_RET), INSN(0x1014, OP_B), INSN(0x1000, OP_ADD)};
    EXPECT_NAMED(tail, "main 3 6 1\n"
                       "main>f 2 2 1\n"
                       "main>g 1 1 1\n");
    /* A branch not taken, at the end of a function; jumps into the middle of others are no calls. */
    static const hand_line stays[] = {INSN(0x103c, OP_CBZ), INSN(0x1040, OP_B), INSN(0x1084, OP_ADD),
                                      INSN(0x1088, OP_CBZ), INSN(0x1100, OP_ADD)};
    EXPECT_NAMED(stays, "h 1 1 1\n"
                        "main 4 4 1\n");
    /* A stub that no symbol names. */
    static const hand_line stub[] = {INSN(0x1000, OP_BL), INSN(0x5000, OP_ADD), INSN(0x5004, OP_BR),
                                     INSN(0x1040, OP_RET), INSN(0x1004, OP_ADD)};
    EXPECT_NAMED(stub, "main 2 5 1\n"
                       "main>0x5000 2 2 1\n"
                       "main>f 1 1 1\n");
    /* Returns from earlier calls: in the same function, in another, and with none open. */
    static const hand_line back[] = {INSN(0x1000, OP_RET), INSN(0x1010, OP_RET), INSN(0x1090, OP_RET),
                                     INSN(0x7000, OP_ADD)};
    EXPECT_NAMED(back, "[entry 0x7000] 1 1 1\n"
                       "g 1 1 1\n"
                       "main 2 2 1\n"
                       "exits 3 open 0\n");
    /* A level's frame stays below what it jumps to. */
    static const hand_line level[] = {INSN(0x1000, OP_SVC), INSN_AT(0x7000, OP_B, 1), INSN_AT(0x1080, OP_B, 1),
                                      INSN_AT(0x1100, OP_ERET, 1), INSN(0x1004, OP_ADD)};
    EXPECT_NAMED(level, "main 2 5 1\n"
                        "main>[el1] 1 3 1\n"
                        "main>[el1]>g 1 1 1\n"
                        "main>[el1]>h 1 1 1\n");
}

/* The number of instructions, from the table of kinds. */
static uint64_t count_insns(hand *h, const tl_select *select)
{
    tl_mix mix = {0};
    tl_error e = {0};
    assert_int_equal(tl_insn_pass(&mix, &tl_mix_table, NULL, true, &h->source, select, 1, &e), 0);
    const uint64_t n = tl_mix_insns(&mix);
    tl_mix_table.fini(&mix);
    return n;
}

static bool same_numbers(const tl_profile *a, const tl_profile *b)
{
    bool same = a->nplace == b->nplace && a->unmatched_exits == b->unmatched_exits &&
                a->unmatched_open == b->unmatched_open && all_self(a) == all_self(b);
    uint32_t *left = calloc(a->nplace, sizeof *left), *right = calloc(b->nplace, sizeof *right);
    assert_true(left && right);
    assert_int_equal(tl_profile_canonical_order(a, left, NULL), 0);
    assert_int_equal(tl_profile_canonical_order(b, right, NULL), 0);
    for (uint32_t i = 0; same && i < a->nplace; i++) {
        const tl_place_stat *x = &a->stat[left[i]], *y = &b->stat[right[i]];
        same = x->calls == y->calls && x->self == y->self && x->total == y->total && x->outer == y->outer;
    }
    free(left);
    free(right);
    return same;
}

/* Whatever the path, no instruction is lost or counted twice. */
static void test_every_instruction_once(void **state)
{
    static const tl_select selects[] = {{.levels = 0},
                                        {.levels = 2},
                                        {.has_pc = true, .pc_from = 0x1200, .pc_to = 0x1500},
                                        {.has_from = true, .time_from = 3000, .has_to = true, .time_to = 9000}};
    code_write("binary", symbols, 4);
    hand_line *line[3];
    for (uint32_t i = 0; i < 3; i++)
        line[i] = hand_wander(12000 + i, 7 + i);
    for (uint32_t k = 0; k < 8; k++) {
        const tl_select *select = &selects[k / 2];
        hand h;
        tl_profile *first = NULL;
        hand_init(&h, 0);
        for (uint32_t i = 0; i < 3; i++)
            hand_add(&h, line[i], 12000 + i);
        if (k % 2)
            assert_int_equal(tl_code_map_open(&h.source.code, "binary", NULL), 0);
        const uint64_t n = count_insns(&h, select);
        assert_true(n > 100);
        for (uint32_t run = 0; run < 5; run++) {
            h.batch = run == 3 ? 7 : 0;
            const tl_profile_options o = {
                .threads = 1 + run % 3, .flat = run == 4, .per_thread = run == 4, .select = select};
            tl_profile *p = profile_of(&h, &o);
            assert_int_equal(all_self(p), n);
            assert_true(run == 4 || !first || same_numbers(first, p));
            if (first)
                tl_profile_free(p);
            else
                first = p;
        }
        tl_profile_free(first);
        tl_code_map_close(h.source.code);
        hand_fini(&h);
    }
    for (uint32_t i = 0; i < 3; i++)
        free(line[i]);
}

/* Endless calls: their depth is limited, but everything counts. */
static void test_too_deep(void **state)
{
    enum { CALLS = (1 << 20) + 100, LINES = CALLS + 200 };
    hand_line *line = malloc(LINES * sizeof *line);
    hand h;
    assert_non_null(line);
    for (uint32_t i = 0; i < LINES; i++)
        line[i] = i < CALLS ? (hand_line)INSN(0x100, OP_BL) : (hand_line)INSN(i == CALLS ? 0x100 : 0x104, OP_RET);
    hand_init(&h, 0);
    hand_add(&h, line, LINES);
    tl_profile *p = profile_of(&h, &(tl_profile_options){.flat = true, .threads = 1});
    assert_int_equal(all_self(p), LINES);
    assert_int_equal(p->unmatched_exits, 0);
    assert_int_equal(p->unmatched_open, CALLS - 199 + 117); /* and those not followed */
    tl_profile_free(p);
    hand_fini(&h);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_levels_do_not_meet),
        cmocka_unit_test(test_unknown_pcs),
        cmocka_unit_test(test_selections),
        cmocka_unit_test_setup_teardown(test_names, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_every_instruction_once, scratch_enter, scratch_leave),
        cmocka_unit_test(test_too_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
