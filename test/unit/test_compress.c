/* Tests of base/io/output.h: compressed output. */
#include "base/io/input.h"
#include "check.h"
#include "input_inside.h"
#include "output_check.h"

/* Skips a test if this build lacks the compression. */
static void skip_without(tl_compression c)
{
    tl_output *o = NULL;
    if (tl_output_open_memory(&o, c, NULL) == TL_EUNSUPPORTED)
        skip_because("this build lacks the library for that compression");
    tl_output_close(o);
}

static char *compress(const char *data, size_t n, tl_compression c, size_t *compressed)
{
    tl_output *o;
    tl_error e;
    must(tl_output_open_memory(&o, c, &e), &e);
    assert_false(tl_output_can_patch(o));
    for (size_t at = 0; at < n; at += 777)
        tl_output_write(o, data + at, n - at < 777 ? n - at : 777);
    assert_int_equal(tl_output_patch(o, 0, "x", 1, NULL), TL_EUNSUPPORTED);
    assert_int_equal(tl_output_bytes(o), n);
    assert_int_equal(tl_output_finish(o, NULL), 0);
    char *p = tl_output_take_memory(o, compressed);
    tl_output_close(o);
    return p;
}

static void check_compression(tl_compression c, const char *name)
{
    static const size_t size[] = {0, 1, 776, 262143, 262144, 262145, 3000000};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        size_t n = size[i], packed, again_n;
        char *data = pattern(n), *z = compress(data, n, c, &packed), *again = compress(data, n, c, &again_n);
        /* The same content gives the same bytes. */
        assert_int_equal(packed, again_n);
        assert_memory_equal(z, again, packed);
        assert_true(n < 1000 || packed < n);

        scratch_write("packed", z, packed);
        tl_input *in;
        assert_int_equal(tl_input_open(&in, "packed", NULL), 0);
        assert_string_equal(input_compression(in), name);
        assert_null(tl_input_damage(in, NULL));
        assert_int_equal(tl_input_size(in), n);
        char *got = malloc(n + 1);
        size_t got_n;
        assert_int_equal(tl_input_read(in, 0, got, n, &got_n, NULL), 0);
        assert_int_equal(got_n, n);
        assert_memory_equal(got, data, n);
        tl_input_close(in);
        free(got);
        free(again);
        free(z);
        free(data);
    }
}

static void test_gzip(void **state)
{
    skip_without(TL_GZIP);
    check_compression(TL_GZIP, "gzip");
}

static void test_gzip_header_is_bare(void **state)
{
    skip_without(TL_GZIP);
    size_t n;
    char *z = compress("hello", 5, TL_GZIP, &n);
    /* No flags (no name), time 0, unknown system. */
    assert_memory_equal(z, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);
    free(z);
}

static void test_zstd(void **state)
{
    skip_without(TL_ZSTD);
    check_compression(TL_ZSTD, "zstd");
}

static void test_compression_levels(void **state)
{
    static const tl_compression kind[] = {TL_GZIP, TL_ZSTD};
    char *data = pattern(300000);
    for (int i = 0; i < 2; i++) {
        tl_output *o = NULL;
        tl_error e;
        struct stat low, high;
        int r = tl_output_open(&o, "low", true, kind[i], 1, &e);
        if (r == TL_EUNSUPPORTED) {
            assert_contains(e.message, "low: this build has no");
            continue;
        }
        assert_int_equal(r, 0);
        tl_output_write(o, data, 300000);
        assert_int_equal(tl_output_finish(o, NULL), 0);
        tl_output_close(o);
        assert_int_equal(tl_output_open(&o, "high", true, kind[i], 9, &e), 0);
        tl_output_write(o, data, 300000);
        assert_int_equal(tl_output_finish(o, NULL), 0);
        tl_output_close(o);
        assert_int_equal(stat("low", &low), 0);
        assert_int_equal(stat("high", &high), 0);
        assert_true(high.st_size < low.st_size);

        o = NULL;
        assert_int_equal(tl_output_open(&o, "bad", false, kind[i], 1000, &e), TL_EINVAL);
        assert_contains(e.message, "bad: compression level 1000, expected 1 to ");
        assert_null(o);
        assert_int_equal(access("bad", F_OK), -1);
    }
    free(data);
}

static void test_compressed_output_to_a_full_device(void **state)
{
    static const tl_compression kind[] = {TL_GZIP, TL_ZSTD};
    char *data = pattern(3000000);
    for (int i = 0; i < 2; i++) {
        tl_output *o;
        tl_error e;
        if (tl_output_open(&o, "/dev/full", false, kind[i], 0, NULL) == TL_EUNSUPPORTED)
            continue;
        tl_output_write(o, data, 3000000);
        assert_int_equal(tl_output_finish(o, &e), TL_EIO);
        assert_int_equal(e.sys_errno, ENOSPC);
        tl_output_close(o);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gzip, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_gzip_header_is_bare, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_zstd, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_compression_levels, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_compressed_output_to_a_full_device, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
