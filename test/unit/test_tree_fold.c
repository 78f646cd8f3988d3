/* The tree for people: recursion is one row with the numbers of all levels, added up here path by path. */
#include "random_profile.h"

#include "analysis/function/profile_answer.h"

#define ROWS_MAX 400 /* more than any profile of this test has */
#define ROW_SIZE 160

/* A row as text: "fib x3 calls total self max". */
typedef struct rows {
    char text[ROWS_MAX][ROW_SIZE];
    size_t n;
} rows;

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The value under a title, "-" for none. */
static void shown(const tl_part *part, uint64_t row, const char *title, char *buf, size_t size)
{
    tl_cell cell;
    for (uint32_t i = 0; i < part->ncolumn; i++)
        if (part->column[i].info.title && strcmp(part->column[i].info.title, title) == 0) {
            tl_part_cell(part, row, i, &cell);
            if (cell.kind == TL_CELL_UINT)
                snprintf(buf, size, "%llu", (unsigned long long)cell.u64);
            else
                snprintf(buf, size, "%s", cell.kind == TL_CELL_TEXT ? cell.text : "-");
            return;
        }
    snprintf(buf, size, "-"); /* this profile lacks the column */
}

/* The rows of the table, sorted. */
static rows *answered(const tl_profile *p, bool no_fold, bool keep_order)
{
    rows *r = calloc(1, sizeof *r);
    tl_profile_table table = {.profile = p};
    tl_answer answer = {0};
    tl_error e = {0};
    const tl_ask ask = {.no_fold = no_fold, .width = 100};
    must(tl_profile_answer(&tl_table_tree, &table, &ask, "x", &answer, &e), &e);
    const tl_part *part = answer.first;
    for (uint64_t i = 0; i < part->n; i++) {
        char c[5][ROW_SIZE / 2];
        static const char *const title[] = {"call tree", "calls", "total", "self", "max"};
        for (size_t k = 0; k < TL_COUNT(title); k++)
            shown(part, i, title[k], c[k], sizeof c[k]);
        assert_true(r->n < ROWS_MAX);
        snprintf(r->text[r->n++], ROW_SIZE, "%.40s %.20s %.20s %.20s %.20s", c[0], c[1], c[2], c[3], c[4]);
    }
    assert_false(answer.failed);
    tl_answer_fini(&answer);
    if (!keep_order)
        qsort(r->text, r->n, sizeof r->text[0], by_text);
    return r;
}

/* The path of a place, functions and threads by number, each followed by a blank; repeated functions once if `folded`.
 * Returns how many levels its last function has. */
static unsigned path_of(const tl_profile *p, uint32_t place, bool folded, char path[static ROW_SIZE])
{
    uint32_t chain[64], n = 0;
    unsigned levels = 1;
    size_t used = 0;
    for (uint32_t at = place; at; at = p->place[at].parent)
        chain[n++] = at;
    path[0] = 0;
    while (n-- > 0) {
        const tl_place *at = &p->place[chain[n]];
        const bool again = at->function != TL_NO_FUNCTION && p->place[at->parent].function == at->function;
        levels = again ? levels + 1 : 1;
        if (!again || !folded)
            used += (size_t)snprintf(path + used, ROW_SIZE - used, "%d/%d ", (int)at->function, (int)at->track);
    }
    return levels;
}

/* Time in and below a place, by definition. */
static uint64_t time_below(const tl_profile *p, uint32_t place)
{
    uint64_t below = 0;
    for (uint32_t i = place + 1; i < p->nplace; i++)
        below += p->place[i].parent == place ? time_below(p, i) : 0;
    return below > p->stat[place].total ? below : p->stat[place].total;
}

/* The expected table: places with the same folded path are one row. */
static rows *expected(const tl_profile *p)
{
    rows *r = calloc(1, sizeof *r);
    for (uint32_t i = 1; i < p->nplace; i++) {
        char path[ROW_SIZE], other[ROW_SIZE], before[ROW_SIZE] = "", label[24], times[24] = "";
        char calls_text[24] = "-", self_text[24] = "-", max_text[24] = "-";
        uint64_t calls = 0, self = 0, total = 0, max = 0;
        unsigned levels = 0;
        bool is_first = true, any = false;
        path_of(p, i, true, path);
        for (uint32_t k = 1; k < p->nplace; k++) {
            const unsigned level = path_of(p, k, true, other);
            any = any || (p->stat[k].calls && strncmp(path, other, strlen(path)) == 0); /* it, or a place below it */
            if (strcmp(path, other) != 0)
                continue;
            is_first = is_first && k >= i;
            levels = level > levels ? level : levels;
            calls += p->stat[k].calls;
            self += p->stat[k].self;
            total += level == 1 ? time_below(p, k) : 0;
            max = p->stat[k].max > max ? p->stat[k].max : max;
        }
        if (!is_first || (!any && total == 0))
            continue;
        const tl_place *at = &p->place[i];
        if (at->function == TL_NO_FUNCTION)
            snprintf(before, sizeof before, "%s", p->track[at->track].name);
        else
            snprintf(before, sizeof before, "%s", tl_function_label(&p->function[at->function], label));
        if (levels > 1)
            snprintf(times, sizeof times, " x%u", levels);
        if (calls) {
            snprintf(calls_text, sizeof calls_text, "%llu", (unsigned long long)calls);
            snprintf(self_text, sizeof self_text, "%llu", (unsigned long long)tl_profile_time(p, self));
        }
        if (calls && p->has_histogram)
            snprintf(max_text, sizeof max_text, "%llu", (unsigned long long)tl_profile_time(p, max));
        snprintf(r->text[r->n++], ROW_SIZE, "%.30s%.9s %s %llu %s %s", before, times, calls_text,
                 (unsigned long long)tl_profile_time(p, total), self_text, max_text);
    }
    qsort(r->text, r->n, sizeof r->text[0], by_text);
    return r;
}

static void assert_rows(const rows *a, const rows *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++)
        assert_string_equal(a->text[i], b->text[i]);
    assert_int_equal(a->n, b->n);
}

static void test_random_profiles(void **state)
{
    uint64_t seed = 22;
    size_t folded = 0;
    for (int i = 0; i < 60; i++) {
        tl_profile *p = fixture_random_profile(&seed, i & 1, i & 2);
        for (uint32_t k = p->nplace; k-- > 1;) /* chains: each place is called by its own function, twice or not */
            for (uint64_t n = fixture_random(&seed) % 3, at = k; n > 0 && p->place[k].function != TL_NO_FUNCTION; n--) {
                at = tl_profile_child(p, (uint32_t)at, p->place[k].function);
                fixture_random_calls(p, (uint32_t)at, &seed);
            }
        rows *have = answered(p, false, false), *want = expected(p), *all = answered(p, true, false);
        assert_rows(have, want);
        folded += all->n - have->n;
        free(have);
        free(want);
        free(all);
        tl_profile_free(p);
    }
    assert_true(folded > 100);
}

/* f calls itself and g; the second level calls g, too, and h, which calls f again: that is another row. */
static void test_numbers_are_as_computed_by_hand(void **state)
{
    tl_profile *p = fixture_new();
    fixture_call(p, fixture_place(p, 0, "f"), 200, 60, true);
    fixture_call(p, fixture_place(p, 0, "fg"), 20, 20, true);
    fixture_call(p, fixture_place(p, 0, "ff"), 120, 40, false);
    fixture_call(p, fixture_place(p, 0, "ffg"), 10, 10, true);
    fixture_call(p, fixture_place(p, 0, "ffg"), 4, 4, true);
    fixture_call(p, fixture_place(p, 0, "ffh"), 66, 6, true);
    fixture_call(p, fixture_place(p, 0, "ffhf"), 60, 50, false);
    fixture_call(p, fixture_place(p, 0, "ffhff"), 10, 10, false);
    rows *r = answered(p, false, true);
    /* Depth first, larger ones first; in ns, which are two ticks each. */
    static const char *const text[] = {"f x2 2 100 50 100", "h 1 33 3 33", "f x2 2 30 30 30", "g 3 17 17 10"};
    assert_int_equal(r->n, TL_COUNT(text));
    for (size_t i = 0; i < r->n; i++)
        assert_string_equal(r->text[i], text[i]);
    free(r);
    tl_profile_free(p);
}

/* The outermost call never ended: its time is that of the levels below. */
static void test_open_calls(void **state)
{
    tl_profile *p = fixture_new();
    fixture_call(p, fixture_place(p, 0, "ff"), 80, 20, true);
    fixture_call(p, fixture_place(p, 0, "ffg"), 60, 60, true);
    rows *r = answered(p, false, true);
    assert_int_equal(r->n, 2);
    assert_string_equal(r->text[0], "f x2 1 40 10 40");
    assert_string_equal(r->text[1], "g 1 30 30 30");
    free(r);
    tl_profile_free(p);
}

/* In samples: one with the function twice in its stack counts once. */
static void test_samples_count_once(void **state)
{
    tl_profile *p = fixture_new();
    tl_error e = {0};
    must(tl_profile_make_sampled(p, tl_sample_weight, TL_SAMPLE_WEIGHTS, &e), &e);
    static const char *const stack[] = {"f", "ff", "fff", "ffg", "fffg"};
    for (size_t i = 0; i < TL_COUNT(stack); i++)
        tl_profile_weigh(p, fixture_place(p, 0, stack[i]), TL_WEIGHT_SAMPLES, 1 + i); /* 1 + 2 + 3 and 4 + 5 */
    must(tl_profile_choose_weight(p, "samples", &e), &e);
    tl_profile *folded = NULL;
    must(tl_profile_join(&folded, NULL, p, TL_JOIN_RECURSION, &e), &e);
    assert_int_equal(folded->nplace, 3);
    assert_int_equal(folded->stat[1].total, 15);
    assert_int_equal(folded->stat[1].self, 6);
    assert_int_equal(folded->stat[2].total, 9);
    tl_profile_free(folded);
    tl_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_profiles),
        cmocka_unit_test(test_numbers_are_as_computed_by_hand),
        cmocka_unit_test(test_open_calls),
        cmocka_unit_test(test_samples_count_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
