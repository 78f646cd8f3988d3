/* Tests of base/columnar/native_block.h: the bytes of a block, by hand. */
#include "base/columnar/native_block.h"
#include "check.h"

static void bytes_of_a_block(void **state)
{
    tl_native_block b = {0};
    static const uint8_t second[2] = {0, 1};
    static const char *const text[2] = {"xyz", NULL};
    static const uint32_t length[2] = {3, 0};
    /* With memory of nothing, of the same columns, of others, and after all of it was given back. */
    for (unsigned turn = 0; turn < 4; turn++) {
        tl_native_restart(&b, turn == 3 ? 0 : SIZE_MAX);
        if (turn == 2) {
            assert_true(tl_native_add(&b, "other", TL_NATIVE_TEXT));
            tl_native_put_text(&b, 0, text, length, second, 2);
            tl_native_restart(&b, SIZE_MAX);
        }
        assert_true(tl_native_add(&b, "a", TL_NATIVE_UINT32));
        assert_true(tl_native_add(&b, "b", TL_NATIVE_MAYBE_INT64));
        assert_true(tl_native_add(&b, "c", TL_NATIVE_MAYBE_TEXT));
        assert_true(tl_native_add(&b, "d", TL_NATIVE_MAYBE_FLOAT64));
        assert_true(tl_native_add(&b, "e", TL_NATIVE_UINT64));
        tl_native_put_same(&b, 0, 0x01020304, 2);
        tl_native_put_int(&b, 1, (const int64_t[2]){-2, 0}, second, 2);
        tl_native_put_text(&b, 2, text, length, second, 2);
        tl_native_put_real(&b, 3, (const double[2]){1.0, 0}, second, 2);
        tl_native_put_count(&b, 4, 255, 2);
        assert_int_equal(tl_native_end(&b, 2, NULL), 0);
    }
    static const char expected[] = "\005\002"
                                   "\001a\006UInt32\4\3\2\1\4\3\2\1"
                                   "\001b\017Nullable(Int64)\0\1\xfe\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0"
                                   "\001c\020Nullable(String)\0\1\003xyz\0"
                                   "\001d\021Nullable(Float64)\0\1\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\0"
                                   "\001e\006UInt64\xff\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0";
    assert_int_equal(tl_native_size(&b), sizeof expected - 1);
    /* In pieces of every size. */
    for (size_t piece = 1; piece < sizeof expected; piece++) {
        char got[sizeof expected] = {0};
        size_t at = 0, n;
        while ((n = tl_native_read(&b, at, got + at, piece < sizeof got - at ? piece : sizeof got - at)) > 0)
            at += n;
        assert_int_equal(at, sizeof expected - 1);
        assert_memory_equal(got, expected, at);
    }
    tl_native_fini(&b);
}

static void size_of_text(void **state)
{
    assert_int_equal(tl_native_text_size(0), 1);
    assert_int_equal(tl_native_text_size(127), 128);
    assert_int_equal(tl_native_text_size(128), 130);
    assert_int_equal(tl_native_text_size(16383), 16385);
    assert_int_equal(tl_native_text_size(16384), 16387);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_of_a_block), cmocka_unit_test(size_of_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
