/* Tests of base/protobuf.h, against bytes written by hand. */
#include "base/protobuf.h"
#include "check.h"

static void check(tl_pb *b, const char *expected, size_t n)
{
    assert_false(b->failed);
    assert_int_equal(b->n, n);
    assert_memory_equal(b->data, expected, n);
    tl_pb_clear(b);
}

#define CHECK(b, bytes) check(b, bytes, sizeof(bytes) - 1)

static void test_varint(void **state)
{
    tl_pb b = {0};
    tl_pb_varint(&b, 0);
    CHECK(&b, "\x00");
    tl_pb_varint(&b, 127);
    CHECK(&b, "\x7f");
    tl_pb_varint(&b, 128);
    CHECK(&b, "\x80\x01");
    tl_pb_varint(&b, 300);
    CHECK(&b, "\xac\x02");
    tl_pb_varint(&b, 16384);
    CHECK(&b, "\x80\x80\x01");
    tl_pb_varint(&b, UINT64_MAX);
    CHECK(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    tl_pb_fini(&b);
}

static void test_text(void **state)
{
    tl_pb b = {0};
    tl_pb_text(&b, "");
    CHECK(&b, "");
    tl_pb_text(&b, "of ");
    tl_pb_text_u64(&b, UINT64_MAX);
    tl_pb_text(&b, ": ");
    tl_pb_text_i64(&b, INT64_MIN);
    CHECK(&b, "of 18446744073709551615: -9223372036854775808");
    tl_pb_fini(&b);
}

static void test_fields(void **state)
{
    tl_pb b = {0};
    tl_pb_u64(&b, 1, 150);
    CHECK(&b, "\x08\x96\x01");
    tl_pb_u64(&b, 16, 1);
    CHECK(&b, "\x80\x01\x01");
    tl_pb_u64(&b, 3, 0);
    CHECK(&b, "\x18\x00");
    tl_pb_u64(&b, 2, (uint64_t)-2);
    CHECK(&b, "\x10\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    tl_pb_fixed64(&b, 1, 0x0102030405060708u);
    CHECK(&b, "\x09\x08\x07\x06\x05\x04\x03\x02\x01");
    tl_pb_string(&b, 2, "testing");
    CHECK(&b, "\x12\x07testing");
    tl_pb_string(&b, 2, "");
    CHECK(&b, "\x12\x00");
    tl_pb_bytes(&b, 2, "\0\xff", 2);
    CHECK(&b, "\x12\x02\0\xff");
    tl_pb_bytes(&b, 2, NULL, 0);
    CHECK(&b, "\x12\x00");
    tl_pb_raw(&b, "raw", 3);
    CHECK(&b, "raw");
    tl_pb_fini(&b);
}

static void test_packed(void **state)
{
    tl_pb b = {0};
    static const uint64_t v[] = {3, 270, 86942};
    tl_pb_packed(&b, 4, v, 3);
    CHECK(&b, "\x22\x06\x03\x8e\x02\x9e\xa7\x05");
    tl_pb_packed(&b, 4, NULL, 0);
    check(&b, "", 0);
    tl_pb_fini(&b);
}

static void test_packed_longer_than_one_length_byte(void **state)
{
    tl_pb b = {0};
    static uint64_t v[20000];
    for (size_t i = 0; i < 20000; i++)
        v[i] = i % 100;
    tl_pb_packed(&b, 1, v, 20000);
    assert_int_equal(b.n, 1 + 3 + 20000);
    assert_memory_equal(b.data, "\x0a\xa0\x9c\x01\x00\x01\x02", 7);
    assert_int_equal(b.data[b.n - 1], 99);
    tl_pb_fini(&b);
}

static void test_nested(void **state)
{
    tl_pb b = {0};
    tl_pb_u64(&b, 1, 5);
    size_t outer = tl_pb_begin(&b, 3);
    tl_pb_u64(&b, 1, 150);
    size_t inner = tl_pb_begin(&b, 2);
    tl_pb_end(&b, inner);
    tl_pb_end(&b, outer);
    tl_pb_u64(&b, 4, 1);
    CHECK(&b, "\x08\x05\x1a\x05\x08\x96\x01\x12\x00\x20\x01");
    tl_pb_fini(&b);
}

/* Lengths around those that need one more byte, nested twice. */
static void test_nested_lengths(void **state)
{
    static const size_t length[] = {0,     1,     100,   126,   127,    128,     129,
                                    16382, 16383, 16384, 16385, 100000, 2097151, 2097152};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        tl_pb b = {0}, expected = {0};
        size_t n = length[i];
        char *content = malloc(n + 1);
        for (size_t k = 0; k < n; k++)
            content[k] = (char)(k * 31 + i);

        size_t outer = tl_pb_begin(&b, 1);
        size_t inner = tl_pb_begin(&b, 2);
        tl_pb_raw(&b, content, n);
        tl_pb_end(&b, inner);
        tl_pb_u64(&b, 7, 7);
        tl_pb_end(&b, outer);
        tl_pb_u64(&b, 8, 8);
        assert_false(b.failed);

        tl_pb middle = {0};
        tl_pb_bytes(&middle, 2, content, n);
        tl_pb_u64(&middle, 7, 7);
        tl_pb_bytes(&expected, 1, middle.data, middle.n);
        tl_pb_u64(&expected, 8, 8);
        assert_int_equal(b.n, expected.n);
        assert_memory_equal(b.data, expected.data, b.n);
        tl_pb_fini(&b);
        tl_pb_fini(&middle);
        tl_pb_fini(&expected);
        free(content);
    }
}

static void test_clear_keeps_the_memory(void **state)
{
    tl_pb b = {0};
    for (int i = 0; i < 1000; i++)
        tl_pb_u64(&b, 1, 1);
    size_t capacity = b.capacity;
    uint8_t *data = b.data;
    tl_pb_clear(&b);
    assert_int_equal(b.n, 0);
    for (int i = 0; i < 1000; i++)
        tl_pb_u64(&b, 1, 1);
    assert_ptr_equal(b.data, data);
    assert_int_equal(b.capacity, capacity);
    tl_pb_fini(&b);
    assert_null(b.data);
    tl_pb_fini(&b);
}

static void test_failure_is_kept(void **state)
{
    tl_pb b = {0};
    tl_pb_u64(&b, 1, 1);
    size_t at = tl_pb_begin(&b, 2);
    size_t before = b.n;
    /* More than is possible: refused before any byte is read. */
    tl_pb_raw(&b, "", SIZE_MAX / 2);
    assert_true(b.failed);
    tl_pb_u64(&b, 1, 1);
    tl_pb_string(&b, 1, "text");
    tl_pb_end(&b, at);
    assert_int_equal(b.n, before);
    tl_pb_clear(&b);
    assert_false(b.failed);
    tl_pb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_varint),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_packed_longer_than_one_length_byte),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_nested_lengths),
        cmocka_unit_test(test_clear_keeps_the_memory),
        cmocka_unit_test(test_failure_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
