/* Text writers: the output does not depend on where the room ends; digits; finding bytes in words. */
#include "base/text/text_writer.h"
#include "check.h"

/* Writes some of everything, and the same into `expected`. Returns the bytes. */
static size_t scribble(tl_text_writer *tw, char *expected, size_t most)
{
    static char piece[100000];
    size_t n = 0;
    memset(piece, 'p', sizeof piece);
    for (unsigned i = 0; n + sizeof piece + 64 < most; i++) {
        size_t length = i % 50 == 49 ? sizeof piece : i * 7919 % 5000;
        piece[0] = (char)('a' + i % 26);
        tl_text_raw(tw, piece, length);
        memcpy(expected + n, piece, length);
        n += length;
        tl_text_char(tw, 'c');
        TL_TEXT_PUT(tw, "constant");
        tl_text_room(tw, TL_TEXT_ROOM);
        tw->p = tl_put_nine(tw->p, i);
        n += (size_t)snprintf(expected + n, 32, "cconstant%09u", i);
    }
    return n;
}

static void test_output(void **state)
{
    enum { MOST = 3 << 20 };
    char *expected = malloc(MOST);
    tl_output *out;
    tl_text_writer tw;
    assert_non_null(expected);
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, NULL), 0);
    tl_text_open(&tw, out);
    size_t n = scribble(&tw, expected, MOST), size;
    tl_text_close(&tw);
    tl_text_open(&tw, out); /* again, without a word */
    tl_text_close(&tw);
    assert_int_equal(tl_output_finish(out, NULL), 0);
    char *bytes = tl_output_take_memory(out, &size);
    assert_int_equal(size, n);
    assert_memory_equal(bytes, expected, n);
    free(bytes);
    free(expected);
    tl_output_close(out);
}

static void test_buffer(void **state)
{
    enum { MOST = 1 << 20 };
    char *expected = malloc(MOST);
    tl_pb b = {0};
    tl_text_writer tw;
    assert_non_null(expected);
    tl_pb_raw(&b, "before", 6);
    assert_true(tl_text_open_buffer(&tw, &b));
    size_t n = scribble(&tw, expected, MOST);
    tl_text_close(&tw);
    assert_int_equal(b.n, n + 6);
    assert_memory_equal(b.data, "before", 6);
    assert_memory_equal(b.data + 6, expected, n);
    b.failed = true;
    assert_false(tl_text_open_buffer(&tw, &b));
    free(expected);
    tl_pb_fini(&b);
}

/* A failed buffer can still be written to; it stays failed, and takes no memory. */
static void test_failed_buffer(void **state)
{
    tl_pb b = {0};
    tl_text_writer tw;
    assert_true(tl_text_open_buffer(&tw, &b));
    size_t capacity = b.capacity;
    b.failed = true;
    for (unsigned i = 0; i < 10000; i++)
        tl_text_raw(&tw, "0123456789", 10);
    tl_text_close(&tw);
    assert_true(b.failed);
    assert_int_equal(b.capacity, capacity);
    tl_pb_fini(&b);
}

static void test_digits(void **state)
{
    char text[16] = "", expected[16];
    for (uint64_t v = 0; v < 1000000000; v = v < 1100000 ? v + 1 : v + v / 1000 + 7) {
        assert_ptr_equal(tl_put_nine(text, (uint32_t)v), text + 9);
        snprintf(expected, sizeof expected, "%09u", (unsigned)v);
        assert_string_equal(text, expected);
    }
    assert_ptr_equal(tl_put_nine(text, 999999999), text + 9);
    assert_string_equal(text, "999999999");
}

static void test_words(void **state)
{
    for (unsigned at = 0; at < 8; at++)
        for (unsigned byte = 0; byte < 256; byte++)
            for (unsigned other = 0; other < 2; other++) {
                uint8_t bytes[8];
                uint64_t word;
                memset(bytes, other ? 0xff : 0x41, sizeof bytes);
                bytes[at] = (uint8_t)byte;
                memcpy(&word, bytes, sizeof word);
                assert_int_equal(tl_any_below(word, 0x20) != 0, byte < 0x20);
                assert_int_equal(tl_any_is(word, '"') != 0, byte == '"');
                assert_int_equal(tl_any_is(word, (char)0xc2) != 0, byte == 0xc2);
            }
}

static void test_padded(void **state)
{
    char text[100 + TL_TEXT_PADDING], copy[100 + TL_TEXT_PADDING];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)i;
    for (size_t n = 0; n <= 100; n++) {
        memset(copy, 0xee, sizeof copy);
        assert_ptr_equal(tl_put_padded(copy, text, n), copy + n);
        if (n > 0)
            assert_memory_equal(copy, text, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output), cmocka_unit_test(test_buffer), cmocka_unit_test(test_failed_buffer),
        cmocka_unit_test(test_digits), cmocka_unit_test(test_words),  cmocka_unit_test(test_padded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
