/* Tests of analysis/instruction/predictor.h: the list, and each model against a naive one. */
#include "analysis/instruction/predictor.h"

#include "hand_insns.h"

static void test_list(void **state)
{
    static const struct {
        const char *list, *name[4];
    } good[] = {{"bimodal", {"bimodal:12"}},
                {"gshare", {"gshare:12:12"}},
                {"gshare:14", {"gshare:14:14"}},
                {"gshare:14:0", {"gshare:14:0"}},
                {"ras,btb", {"ras:16", "btb:9"}},
                {"bimodal:1,gshare:24:32,ras:65536,btb:20", {"bimodal:1", "gshare:24:32", "ras:65536", "btb:20"}}};
    static const char *const bad[] = {
        "",          ",",          "bimodal,",       "bimodal:",     "bimodal:0",    "bimodal:25",
        "bimodal:x", "bimodal:1x", "bimodal:1:1",    "gshare:12:",   "gshare:12:33", "gshare:12:1:1",
        "ras:0",     "ras:65537",  "btb:21",         "bimoda",       "bimodals",     "Bimodal",
        "ras ",      "gshare::1",  "ras:4294967297", "gshare:1,,ras"};
    tl_predictor_list list;
    char message[200];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(tl_predictor_parse(&list, good[i].list, message, sizeof message));
        for (unsigned k = 0; k < 4; k++)
            if (good[i].name[k])
                assert_string_equal(list.model[k].name, good[i].name[k]);
            else
                assert_true(k >= list.n);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(message, 0, sizeof message);
        if (tl_predictor_parse(&list, bad[i], message, sizeof message))
            fail_msg("\"%s\" was taken", bad[i]);
        assert_contains(message, "predictor");
    }
    assert_false(tl_predictor_parse(&list, "ras:0,btb", message, sizeof message));
    assert_string_equal(message, "predictor ras:0: expected ras[:ENTRIES], from 1 to 65536");
    assert_false(tl_predictor_parse(&list, "gshare:25", message, sizeof message));
    assert_string_equal(message, "predictor gshare:25: expected gshare[:BITS], from 1 to 24, and :HISTORY behind it, "
                                 "from 0 to 32");
    assert_true(tl_predictor_parse(&list, "ras,ras,ras,ras,ras,ras,ras,ras", message, sizeof message));
    assert_int_equal(list.n, TL_PREDICTORS);
    assert_false(tl_predictor_parse(&list, "ras,ras,ras,ras,ras,ras,ras,ras,ras", message, sizeof message));
}

static void make(tl_predictor *p, const char *text)
{
    tl_predictor_list list;
    char message[200];
    assert_true(tl_predictor_parse(&list, text, message, sizeof message));
    assert_int_equal(tl_predictor_init(p, &list.model[0], NULL), 0);
}

/* A loop of four: wrong at first and at each end. */
static void test_bimodal_by_hand(void **state)
{
    tl_predictor p;
    make(&p, "bimodal:4");
    static const bool taken[] = {true, true, true, false, true, true, true, false},
                      wrong[] = {true, false, false, true, false, false, false, true};
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(tl_predictor_step(&p, 0x1000, A64_COND, taken[i], 0x1000), wrong[i]);
    assert_int_equal(p.branches, 8);
    assert_int_equal(p.misses, 3);
    /* The same counter 16 instructions later, but not at the next one. */
    assert_false(tl_predictor_step(&p, 0x1040, A64_COND, true, 0));
    assert_true(tl_predictor_step(&p, 0x1004, A64_COND, true, 0));
    /* Other branches are ignored. */
    assert_false(tl_predictor_step(&p, 0x1000, A64_JUMP, true, 0));
    assert_false(tl_predictor_step(&p, 0x1000, A64_RETURN, true, 0));
    assert_int_equal(p.branches, 10);
    tl_predictor_forget(&p);
    assert_true(tl_predictor_step(&p, 0x1000, A64_COND, true, 0));
    assert_int_equal(p.branches, 11);
    tl_predictor_fini(&p);
}

/* History learns alternation, and pc never does. */
static void test_history_learns(void **state)
{
    tl_predictor by_pc, by_history;
    make(&by_pc, "bimodal:8");
    make(&by_history, "gshare:8");
    for (unsigned i = 0; i < 1000; i++) {
        tl_predictor_step(&by_pc, 0x1000, A64_COND, i % 2, 0);
        tl_predictor_step(&by_history, 0x1000, A64_COND, i % 2, 0);
    }
    assert_true(by_pc.misses >= 500);
    assert_true(by_history.misses < 20);
    tl_predictor_fini(&by_pc);
    tl_predictor_fini(&by_history);
}

static void test_returns(void **state)
{
    tl_predictor p;
    make(&p, "ras:2");
    assert_true(tl_predictor_step(&p, 0x2000, A64_RETURN, true, 0x1004)); /* of no call */
    tl_predictor_step(&p, 0x1000, A64_CALL, true, 0x2000);
    assert_false(tl_predictor_step(&p, 0x2000, A64_RETURN, true, 0x1004));
    tl_predictor_step(&p, 0x1000, A64_CALL, true, 0x2000);
    tl_predictor_step(&p, 0x2000, A64_INDIRECT_CALL, true, 0x3000);
    tl_predictor_step(&p, 0x3000, A64_CALL, true, 0x4000); /* the first is forgotten */
    assert_false(tl_predictor_step(&p, 0x4000, A64_RETURN, true, 0x3004));
    assert_false(tl_predictor_step(&p, 0x3000, A64_RETURN, true, 0x2004));
    assert_true(tl_predictor_step(&p, 0x2000, A64_RETURN, true, 0x1004));
    tl_predictor_step(&p, 0x1000, A64_CALL, true, 0x2000);
    assert_true(tl_predictor_step(&p, 0x2000, A64_RETURN, true, 0x1008)); /* elsewhere */
    assert_int_equal(p.branches, 6);
    assert_int_equal(p.misses, 3);
    tl_predictor_fini(&p);
}

static void test_last_target(void **state)
{
    tl_predictor p;
    make(&p, "btb:3");
    assert_true(tl_predictor_step(&p, 0x1000, A64_INDIRECT, true, 0x2000));
    assert_false(tl_predictor_step(&p, 0x1000, A64_INDIRECT, true, 0x2000));
    assert_true(tl_predictor_step(&p, 0x1000, A64_INDIRECT, true, 0x3000));
    assert_true(tl_predictor_step(&p, 0x1020, A64_INDIRECT_CALL, true, 0x3000)); /* has the same entry */
    assert_true(tl_predictor_step(&p, 0x1000, A64_INDIRECT, true, 0x3000));
    assert_false(tl_predictor_step(&p, 0x1000, A64_RETURN, true, 0x4000));
    assert_int_equal(p.branches, 5);
    /* No pc means an empty entry. */
    assert_true(tl_predictor_step(&p, UINT64_MAX, A64_INDIRECT, true, 0x4000));
    tl_predictor_fini(&p);
}

/* The models once more, from their description in docs/instructions.md, without tables or rings. */
typedef struct naive {
    uint64_t key[40000], value[40000];
    unsigned n;
    bool past[40000];
    unsigned npast;
} naive;

static uint64_t *naive_at(naive *m, uint64_t key, uint64_t fresh)
{
    unsigned i = 0;
    while (i < m->n && m->key[i] != key)
        i++;
    if (i == m->n) {
        m->key[m->n] = key;
        m->value[m->n++] = fresh;
    }
    return &m->value[i];
}

static bool naive_direction(naive *m, uint64_t pc, bool taken, unsigned bits, unsigned history)
{
    uint64_t past = 0;
    for (unsigned i = 0; i < history && i < m->npast; i++)
        past += m->past[m->npast - 1 - i] ? UINT64_C(1) << i : 0;
    uint64_t *counter = naive_at(m, ((pc / 4) ^ past) % (UINT64_C(1) << bits), 1);
    const bool wrong = (*counter / 2 == 1) != taken;
    if (taken)
        *counter = *counter == 3 ? 3 : *counter + 1;
    else
        *counter = *counter == 0 ? 0 : *counter - 1;
    m->past[m->npast++] = taken;
    return wrong;
}

/* `value` holds open calls; only the last ones, `known`, are remembered. */
static bool naive_return(naive *m, uint64_t target, unsigned *known)
{
    if (*known == 0)
        return true;
    --*known;
    return m->value[--m->n] != target;
}

static void test_as_the_naive_models(void **state)
{
    static const struct {
        const char *name;
        unsigned bits, history;
    } model[] = {{"bimodal:6", 6, 0}, {"gshare:7:3", 7, 3}, {"gshare:5:12", 5, 12}};
    enum { STEPS = 20000 };
    naive *m = malloc(sizeof *m);
    assert_non_null(m);
    for (unsigned k = 0; k < sizeof model / sizeof *model; k++) {
        tl_predictor p;
        uint32_t x = k + 1;
        make(&p, model[k].name);
        memset(m, 0, sizeof *m);
        for (unsigned i = 0; i < STEPS; i++) {
            const uint64_t pc = 0x1000 + 4 * (uint64_t)hand_random(&x, 300);
            const bool taken = hand_random(&x, 10) < (uint32_t)(pc / 4 % 11);
            assert_int_equal(tl_predictor_step(&p, pc, A64_COND, taken, 0),
                             naive_direction(m, pc, taken, model[k].bits, model[k].history));
        }
        assert_true(p.misses > 1000 && p.misses < STEPS);
        tl_predictor_fini(&p);
    }
    for (unsigned entries = 1; entries < 10; entries += 4) {
        tl_predictor p;
        uint32_t x = entries;
        unsigned known = 0;
        char name[16];
        snprintf(name, sizeof name, "ras:%u", entries);
        make(&p, name);
        memset(m, 0, sizeof *m);
        for (unsigned i = 0; i < STEPS; i++) {
            const uint64_t pc = 4 * (uint64_t)hand_random(&x, 100);
            if (hand_random(&x, 2)) {
                tl_predictor_step(&p, pc, A64_CALL, true, 0);
                m->value[m->n++] = pc + 4;
                known = known < entries ? known + 1 : entries;
            } else {
                const uint64_t target = m->n && hand_random(&x, 9) ? m->value[m->n - 1] : 1;
                assert_int_equal(tl_predictor_step(&p, pc, A64_RETURN, true, target), naive_return(m, target, &known));
            }
        }
        tl_predictor_fini(&p);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),           cmocka_unit_test(test_bimodal_by_hand),
        cmocka_unit_test(test_history_learns), cmocka_unit_test(test_returns),
        cmocka_unit_test(test_last_target),    cmocka_unit_test(test_as_the_naive_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
