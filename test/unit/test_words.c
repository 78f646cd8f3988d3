/* Tests of base/text/words.h. */
#include "base/text/words.h"

#include "check.h"

static void test_places_of_words(void **state)
{
    assert_int_equal(tl_word_place("a", "a bc d"), 0);
    assert_int_equal(tl_word_place("bc", "a bc d"), 1);
    assert_int_equal(tl_word_place("d", "a bc d"), 2);
    assert_int_equal(tl_word_place("b", "a bc d"), -1);
    assert_int_equal(tl_word_place("", ""), -1);
}

static void test_lists_are_cut_where_the_buffer_ends(void **state)
{
    char buf[12] = "", guard[12];
    size_t at = 0;
    memset(guard, 0x5a, sizeof guard);
    tl_words_add(buf, 10, &at, ", ", "one");
    assert_string_equal(buf, "one");
    tl_words_add(buf, 10, &at, ", ", "two");
    assert_string_equal(buf, "one, two");
    buf[10] = buf[11] = 0x5a;
    for (int i = 0; i < 3; i++) {
        tl_words_add(buf, 10, &at, ", ", "three");
        assert_string_equal(buf, "one, two,");
        assert_memory_equal(buf + 10, guard, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_of_words),
        cmocka_unit_test(test_lists_are_cut_where_the_buffer_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
