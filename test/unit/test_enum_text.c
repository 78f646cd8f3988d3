/* Labels of values: all that match, each once, in order, for any ranges. */
#include "check.h"
#include "model/enum_ranges.h"
#include "model/field_text.h"

static unsigned made; /* how often a text was made */

static void make(void *arg, const char *const *label, uint32_t n, tl_pb *text)
{
    (void)arg;
    made++;
    for (uint32_t i = 0; i < n; i++) {
        tl_pb_raw(text, "|", i > 0);
        tl_pb_raw(text, label[i], strlen(label[i]));
    }
}

static void expect_labels(tl_enum_texts *t, tl_enum_text *e, uint64_t value, const char *text)
{
    tl_label label = tl_enum_label(t, e, value);
    assert_non_null(label.p);
    assert_int_equal(label.n, strlen(text));
    assert_memory_equal(label.p, text, label.n);
}

static void test_ranges(void **state)
{
    static const tl_mapping m[] = {
        {"A", 0, 3}, {"B", 2, 5}, {"A", 5, 5}, {"empty", 9, 8}, {"top", UINT64_MAX - 1, UINT64_MAX}, {"A", 2, 2}};
    const tl_field f = {.name = "f", .type = TL_U64, .mapping = m, .nmapping = 6};
    tl_enum_texts t = {0};
    tl_enum_texts_init(&t, make, NULL);
    assert_true(tl_enum_has_labels(&f));
    tl_enum_text *e = tl_enum_texts_get(&t, &f);
    assert_non_null(e);
    assert_ptr_equal(tl_enum_texts_get(&t, &f), e); /* the same for all fields of the type */
    made = 0;
    for (unsigned again = 0; again < 3; again++) {
        static const struct {
            uint64_t value;
            const char *text;
        } c[] = {{0, "A"},
                 {1, "A"},
                 {2, "A|B"},
                 {3, "A|B"},
                 {4, "B"},
                 {5, "B|A"},
                 {6, ""},
                 {8, ""},
                 {9, ""},
                 {UINT64_MAX - 2, ""},
                 {UINT64_MAX - 1, "top"},
                 {UINT64_MAX, "top"}};
        for (size_t i = 0; i < sizeof c / sizeof *c; i++)
            expect_labels(&t, e, c[i].value, c[i].text);
    }
    assert_in_range(made, 1, 8); /* once for each piece of the number line */
    tl_enum_texts_fini(&t);
}

static void test_signed(void **state)
{
    static const tl_mapping m[] = {{"low", (uint64_t)INT64_MIN, (uint64_t)-10},
                                   {"all", (uint64_t)INT64_MIN, INT64_MAX},
                                   {"near", (uint64_t)-1, 1}};
    const tl_field f = {.name = "f", .type = TL_I64, .mapping = m, .nmapping = 3};
    const tl_field same = {.name = "f", .type = TL_U64, .mapping = m, .nmapping = 3};
    tl_enum_texts t = {0};
    tl_enum_texts_init(&t, make, NULL);
    tl_enum_text *e = tl_enum_texts_get(&t, &f), *other = tl_enum_texts_get(&t, &same);
    assert_non_null(e);
    assert_non_null(other);
    assert_ptr_not_equal(e, other);
    expect_labels(&t, e, (uint64_t)INT64_MIN, "low|all");
    expect_labels(&t, e, (uint64_t)-10, "low|all");
    expect_labels(&t, e, (uint64_t)-9, "all");
    expect_labels(&t, e, (uint64_t)-1, "all|near");
    expect_labels(&t, e, 0, "all|near");
    expect_labels(&t, e, 2, "all");
    expect_labels(&t, e, INT64_MAX, "all");
    expect_labels(&t, other, (uint64_t)INT64_MIN, "low");
    expect_labels(&t, other, 0, ""); /* unsigned, 2^63 .. 2^63 - 1 is not a range */
    tl_enum_texts_fini(&t);
}

static void test_flags(void **state)
{
    static const tl_mapping m[] = {{"A", 0, 0},     {"B", 1, 3},      {"A", 5, 5},  {"all", 0, UINT64_MAX},
                                   {"top", 63, 63}, {"none", 64, 70}, {"odd", 4, 2}};
    const tl_field f = {.name = "f", .type = TL_U64, .flags = TL_FIELD_FLAGS, .mapping = m, .nmapping = 7};
    tl_enum_texts t = {0};
    tl_enum_texts_init(&t, make, NULL);
    tl_enum_text *e = tl_enum_texts_get(&t, &f);
    assert_non_null(e);
    expect_labels(&t, e, 0, "");
    expect_labels(&t, e, 1, "A|all");
    expect_labels(&t, e, 0x21, "A|all");
    expect_labels(&t, e, 8, "B|all");
    expect_labels(&t, e, 0x10, "all");
    expect_labels(&t, e, (uint64_t)1 << 63, "all|top");
    made = 0;
    expect_labels(&t, e, (uint64_t)1 << 63, "all|top");
    assert_int_equal(made, 0);
    tl_enum_texts_fini(&t);
}

static void test_what_has_labels(void **state)
{
    static const tl_mapping chosen[] = {{NULL, 1, 2}}, label[] = {{"x", 1, 2}};
    assert_false(tl_enum_has_labels(&(tl_field){.type = TL_U64}));
    assert_false(tl_enum_has_labels(&(tl_field){.type = TL_U64, .mapping = chosen, .nmapping = 1}));
    assert_false(tl_enum_has_labels(&(tl_field){.type = TL_STRUCT, .mapping = label, .nmapping = 1}));
    assert_true(tl_enum_has_labels(&(tl_field){.type = TL_I64, .mapping = label, .nmapping = 1}));
}

/* More text than is kept: it is forgotten and made again, correctly. */
static void test_much_text(void **state)
{
    enum { N = 400, LENGTH = 1000 };
    tl_mapping *m = calloc(N, sizeof *m);
    char *name = malloc((size_t)N * (LENGTH + 1));
    assert_true(m && name);
    for (uint32_t i = 0; i < N; i++) {
        char *s = name + (size_t)i * (LENGTH + 1);
        memset(s, 'x', LENGTH);
        snprintf(s, LENGTH, "%u", (unsigned)i);
        s[strlen(s)] = '-';
        s[LENGTH] = 0;
        m[i] = (tl_mapping){s, i, N}; /* value i has i + 1 labels */
    }
    const tl_field f = {.name = "f", .type = TL_U64, .mapping = m, .nmapping = N};
    tl_enum_texts t = {0};
    tl_enum_texts_init(&t, make, NULL);
    tl_enum_text *e = tl_enum_texts_get(&t, &f);
    assert_non_null(e);
    made = 0;
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N; i++) {
            tl_label label = tl_enum_label(&t, e, i);
            assert_int_equal(label.n, (i + 1) * LENGTH + i);
            assert_memory_equal(label.p + label.n - LENGTH, m[i].label, LENGTH);
            assert_in_range(t.text.total, 1, 2 * TL_ENUM_BYTES_MAX);
        }
    assert_true(made > N); /* otherwise the limit was not reached */
    tl_enum_texts_fini(&t);
    free(m);
    free(name);
}

static void lead(void *arg, const tl_field *f, tl_pb *text)
{
    (void)arg;
    tl_field_put_name(f, text);
}

/* Types that share members: all together would be 2^64. */
static void test_shared_members(void **state)
{
    enum { LEVELS = 64 };
    static tl_field level[LEVELS][2];
    for (unsigned i = 0; i < LEVELS; i++)
        for (unsigned k = 0; k < 2; k++)
            level[i][k] = (tl_field){.name = k ? "b" : "a",
                                     .type = i + 1 < LEVELS ? TL_STRUCT : TL_U64,
                                     .member = i + 1 < LEVELS ? level[i + 1] : NULL,
                                     .nmember = i + 1 < LEVELS ? 2 : 0};
    const tl_class c = {.name = "c", .field = level[0], .nfield = 2};
    tl_field_texts t = {0};
    assert_true(tl_field_texts_init(&t, 1, lead, make, NULL));
    const tl_class_text *text = tl_field_texts_get(&t, &c);
    assert_non_null(text);
    assert_ptr_equal(tl_field_texts_get(&t, &c), text);
    const tl_field_text *f = &text->field[1];
    for (unsigned i = 0; i + 1 < LEVELS; i++) {
        assert_int_equal(f->nlead, 1);
        assert_int_equal(f->lead[0], i == 0 ? 'b' : 'a');
        assert_int_equal(f->nmember, 2);
        f = &f->member[0];
    }
    assert_in_range(t.arena.total, 1, 100000);
    tl_field_texts_fini(&t);
}

/* The labels of a value by definition: examines all mappings. */
static void slow_labels(const tl_mapping *m, uint32_t n, bool is_flags, uint64_t value, char *text)
{
    const char *seen[64];
    uint32_t nseen = 0;
    *text = '\0';
    for (uint32_t i = 0; i < n; i++) {
        bool known = false, match = !is_flags && m[i].low <= value && value <= m[i].high;
        for (uint64_t bit = m[i].low; is_flags && bit <= m[i].high && bit < 64; bit++)
            match |= value >> bit & 1;
        for (uint32_t k = 0; k < nseen; k++)
            known |= strcmp(seen[k], m[i].label) == 0;
        if (!match || known)
            continue;
        text += sprintf(text, "%s%s", nseen ? "|" : "", m[i].label);
        seen[nseen++] = m[i].label;
    }
}

/* Random mappings with few labels: overlapping, nested, and unsorted. */
static void test_any_ranges(void **state)
{
    static const char *const label[] = {"A", "B", "C", "D", "E", "F"};
    uint64_t random = 1;
    for (unsigned round = 0; round < 200; round++) {
        tl_mapping m[24];
        const uint32_t n = 1 + round % 24;
        const bool is_flags = round & 1;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t r[3];
            for (unsigned k = 0; k < 3; k++)
                r[k] = (random = random * UINT64_C(6364136223846793005) + 1442695040888963407) >> 40;
            m[i] = (tl_mapping){label[r[0] % 6], r[1] % 70, r[1] % 70 + r[2] % 20};
            m[i].high = r[2] % 17 == 0 ? UINT64_MAX : r[2] % 13 == 0 ? 0 : m[i].high;
        }
        const tl_field f = {
            .name = "f", .type = TL_U64, .mapping = m, .nmapping = n, .flags = is_flags ? TL_FIELD_FLAGS : 0};
        tl_enum_texts t = {0};
        tl_enum_texts_init(&t, make, NULL);
        tl_enum_text *e = tl_enum_texts_get(&t, &f);
        assert_non_null(e);
        for (uint64_t v = 0; v < 100; v++) {
            char text[64];
            const uint64_t value = is_flags ? v * v * UINT64_C(0x9e3779b97f4a7c15) : v == 99 ? UINT64_MAX : v;
            slow_labels(m, n, is_flags, value, text);
            expect_labels(&t, e, value, text);
        }
        tl_enum_texts_fini(&t);
    }
}

static void count_found(void *arg, uint32_t mapping)
{
    (void)mapping;
    ++*(uint32_t *)arg;
}

/* With any number of ranges and overlaps, a value costs as many steps as it has labels. */
static void test_steps(void **state)
{
    enum { N = 1 << 15, STEPS_A_RANGE = 40 };
    tl_mapping *m = calloc(N, sizeof *m);
    uint32_t *group = calloc(N, sizeof *group);
    assert_true(m && group);
    for (unsigned shape = 0; shape < 4; shape++) {
        for (uint32_t i = 0; i < N; i++) {
            m[i] = shape == 0   ? (tl_mapping){"L", i, i}                       /* one after the other */
                   : shape == 1 ? (tl_mapping){"L", N - i, N + i}               /* nested, the smallest first */
                   : shape == 2 ? (tl_mapping){"L", i, 2 * N - i}               /* ... and the largest first */
                                : (tl_mapping){"L", 2 * i, i ? 2 * i : 4u * N}; /* one contains all others */
            group[i] = shape == 0 || shape == 3 ? i : 0;
        }
        tl_arena a = {0};
        tl_enum_ranges r;
        assert_true(tl_enum_ranges_make(&r, &a, m, group, N, 0, UINT64_MAX));
        assert_in_range(r.n, 1, 2 * N);
        for (uint64_t value = 0; value < 4 * N; value += 5) {
            uint32_t found = 0;
            const uint32_t steps = tl_enum_ranges_find(&r, value, count_found, &found);
            assert_in_range(found, 0, shape == 3 ? 2 : 1);
            assert_in_range(steps, 1, STEPS_A_RANGE * (found + 1));
        }
        tl_arena_fini(&a);
    }
    free(m);
    free(group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),    cmocka_unit_test(test_signed),
        cmocka_unit_test(test_flags),     cmocka_unit_test(test_any_ranges),
        cmocka_unit_test(test_steps),     cmocka_unit_test(test_what_has_labels),
        cmocka_unit_test(test_much_text), cmocka_unit_test(test_shared_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
