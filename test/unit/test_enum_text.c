/* Labels of values: all that match, each once, in order; whatever the ranges are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
    (void)state;
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
    (void)state;
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
    expect_labels(&t, other, 0, ""); /* unsigned, 2^63 .. 2^63 - 1 is no range */
    tl_enum_texts_fini(&t);
}

static void test_flags(void **state)
{
    (void)state;
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
    (void)state;
    static const tl_mapping chosen[] = {{NULL, 1, 2}}, label[] = {{"x", 1, 2}};
    assert_false(tl_enum_has_labels(&(tl_field){.type = TL_U64}));
    assert_false(tl_enum_has_labels(&(tl_field){.type = TL_U64, .mapping = chosen, .nmapping = 1}));
    assert_false(tl_enum_has_labels(&(tl_field){.type = TL_STRUCT, .mapping = label, .nmapping = 1}));
    assert_true(tl_enum_has_labels(&(tl_field){.type = TL_I64, .mapping = label, .nmapping = 1}));
}

/* More text than is kept: it is forgotten and made again, and is right. */
static void test_much_text(void **state)
{
    (void)state;
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
    assert_true(made > N); /* else the bound was not reached */
    tl_enum_texts_fini(&t);
    free(m);
    free(name);
}

static void lead(void *arg, const tl_field *f, tl_pb *text)
{
    (void)arg;
    tl_field_put_name(f, text);
}

/* Types that share members: all of them together would be 2^64. */
static void test_shared_members(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),          cmocka_unit_test(test_signed),    cmocka_unit_test(test_flags),
        cmocka_unit_test(test_what_has_labels), cmocka_unit_test(test_much_text), cmocka_unit_test(test_shared_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
