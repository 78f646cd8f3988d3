/* Tests of base/io/input.h: compressed content, whole and damaged. */
#include <stdbool.h>

#include "base/io/output.h"
#include "check.h"
#include "input_check.h"
#include "input_inside.h"
#include "thorough.h"

/* "hello, trace\n", compressed by the usual tools. */
static const uint8_t hello_gz[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xcb,
                                   0x48, 0xcd, 0xc9, 0xc9, 0xd7, 0x51, 0x28, 0x29, 0x4a, 0x4c, 0x4e,
                                   0xe5, 0x02, 0x00, 0xc3, 0xdb, 0x2b, 0xba, 0x0d, 0x00, 0x00, 0x00};
static const uint8_t hello_zst[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x69, 0x00, 0x00, 0x68, 0x65, 0x6c, 0x6c,
                                    0x6f, 0x2c, 0x20, 0x74, 0x72, 0x61, 0x63, 0x65, 0x0a, 0x0a, 0x50, 0x66, 0x68};
static const uint8_t hello_bz2[] = {0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x9c, 0xaa, 0x10, 0xb4,
                                    0x00, 0x00, 0x03, 0xd1, 0x80, 0x00, 0x10, 0x40, 0x04, 0x2a, 0x44, 0x94, 0x00, 0x20,
                                    0x00, 0x22, 0x00, 0x62, 0x08, 0x06, 0x9a, 0x68, 0xca, 0x2b, 0x41, 0x01, 0x37, 0x77,
                                    0x8b, 0xb9, 0x22, 0x9c, 0x28, 0x48, 0x4e, 0x55, 0x08, 0x5a, 0x00};
/* The line "0123456789" this many times, in blocks of 100 kB. */
#define LINES     30000u
#define BLOCK     99981u
#define THIRD_END 192u
static const uint8_t lines_bz2[] = {
    0x42, 0x5a, 0x68, 0x31, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xfc, 0x90, 0x42, 0x3c, 0x00, 0x23, 0x81, 0x48, 0x00,
    0x00, 0x10, 0x7f, 0xe0, 0x20, 0x00, 0x90, 0x20, 0x1a, 0x69, 0xa0, 0x29, 0x50, 0x8d, 0x0d, 0x39, 0x01, 0x50, 0xc4,
    0x05, 0x43, 0x5a, 0x40, 0xa8, 0x62, 0x02, 0xa1, 0xd4, 0x05, 0x43, 0xb8, 0x0a, 0x86, 0xe0, 0x2a, 0x1e, 0x40, 0x54,
    0x3d, 0x80, 0xa8, 0x7d, 0x01, 0x50, 0xe4, 0x05, 0x43, 0xf3, 0x14, 0x15, 0x92, 0x65, 0x35, 0x9b, 0x17, 0x6d, 0x9a,
    0xc0, 0x04, 0x70, 0x24, 0x80, 0x00, 0x01, 0x07, 0xfe, 0x02, 0x00, 0x09, 0x02, 0x01, 0xa6, 0x9a, 0x02, 0x95, 0x09,
    0xa0, 0xd3, 0x90, 0x15, 0x0c, 0x40, 0x54, 0x33, 0x01, 0x50, 0xd4, 0x05, 0x43, 0x7b, 0x40, 0xa8, 0x62, 0x02, 0xa1,
    0xdc, 0x05, 0x43, 0xc8, 0x0a, 0x87, 0xb0, 0x15, 0x0f, 0xa0, 0x2a, 0x1c, 0x80, 0xa8, 0x7e, 0x62, 0x82, 0xb2, 0x4c,
    0xa6, 0xb2, 0xe1, 0x2e, 0x8d, 0xd2, 0x00, 0xd5, 0x06, 0x90, 0x00, 0x00, 0x20, 0xff, 0xc0, 0x40, 0x01, 0x20, 0x40,
    0x34, 0xd3, 0x40, 0x52, 0xa1, 0x0d, 0x1a, 0x72, 0x02, 0xa1, 0x88, 0x0a, 0x86, 0x60, 0x2a, 0x1a, 0x80, 0xa8, 0x75,
    0x01, 0x50, 0xee, 0x02, 0xa1, 0xbd, 0xa0, 0x54, 0x31, 0x01, 0x50, 0xf6, 0x02, 0xa1, 0xf4, 0x05, 0x43, 0x90, 0x15,
    0x0f, 0xcc, 0x50, 0x56, 0x49, 0x94, 0xd6, 0x7c, 0x4f, 0x89, 0xcd, 0x00, 0x09, 0x56, 0xb2, 0x00, 0x00, 0x04, 0x1f,
    0xf8, 0x08, 0x00, 0x1c, 0x10, 0x0d, 0x34, 0xd0, 0x14, 0xaa, 0x34, 0xd1, 0xa6, 0x6e, 0x52, 0x49, 0xd1, 0x49, 0x27,
    0x65, 0x24, 0x98, 0x29, 0x24, 0xf0, 0xa4, 0x93, 0x25, 0x24, 0x9e, 0x94, 0x92, 0x67, 0xe2, 0x92, 0x4d, 0x4a, 0x49,
    0x3f, 0x94, 0x92, 0x6e, 0x52, 0x49, 0xc1, 0x77, 0x24, 0x53, 0x85, 0x09, 0x03, 0x14, 0x9d, 0xdb, 0x30};

static const struct codec {
    const char *name;
    const uint8_t *hello;
    size_t n;
} codec[] = {
    {"gzip", hello_gz, sizeof hello_gz},
    {"zstd", hello_zst, sizeof hello_zst},
    {"bzip2", hello_bz2, sizeof hello_bz2},
};

enum { GZIP, ZSTD, BZIP2, CODECS };

#define HELLO   "hello, trace\n"
#define HELLO_N (sizeof HELLO - 1)

/* Is support for it in this build? */
static bool has(int c)
{
    static const bool here[CODECS] = {
#ifdef TL_HAVE_ZLIB
        [GZIP] = true,
#endif
#ifdef TL_HAVE_ZSTD
        [ZSTD] = true,
#endif
#ifdef TL_HAVE_BZIP2
        [BZIP2] = true,
#endif
    };
    return here[c];
}

static void test_compressed_file_and_pipe(void **state)
{
    for (int c = 0; c < CODECS; c++) {
        tl_input *in;
        tl_error e;
        scratch_write("packed", codec[c].hello, codec[c].n);
        int r = tl_input_open(&in, "packed", &e);
        if (!has(c)) {
            assert_int_equal(r, TL_EUNSUPPORTED);
            char expected[100];
            snprintf(expected, sizeof expected, "packed: is compressed by %s, but this build has no %s support",
                     codec[c].name, codec[c].name);
            assert_string_equal(e.message, expected);
            continue;
        }
        assert_int_equal(r, 0);
        assert_string_equal(input_compression(in), codec[c].name);
        assert_null(tl_input_damage(in, NULL));
        check_reads(in, HELLO, HELLO_N);
        tl_input_close(in);

        in = open_pipe(codec[c].hello, codec[c].n);
        assert_string_equal(input_compression(in), codec[c].name);
        check_reads(in, HELLO, HELLO_N);
        tl_input_close(in);
    }
}

/* Several compressed parts are one content. */
static void test_concatenated(void **state)
{
    const size_t parts = 20000 / one_in(5);
    for (int c = 0; c < CODECS; c++) {
        if (!has(c))
            continue;
        char *packed = malloc(parts * codec[c].n), *expected = malloc(parts * HELLO_N);
        for (size_t i = 0; i < parts; i++) {
            memcpy(packed + i * codec[c].n, codec[c].hello, codec[c].n);
            memcpy(expected + i * HELLO_N, HELLO, HELLO_N);
        }
        scratch_write("packed", packed, parts * codec[c].n);
        tl_input *in = open_input("packed");
        assert_null(tl_input_damage(in, NULL));
        check_reads(in, expected, parts * HELLO_N);
        tl_input_close(in);
        free(packed);
        free(expected);
    }
}

static void test_zstd_skippable_frames(void **state)
{
    if (!has(ZSTD))
        skip_because("this build has no libzstd");
    uint8_t packed[200] = {0x5a, 0x2a, 0x4d, 0x18, 7, 0, 0, 0, 's', 'k', 'i', 'p', 'p', 'e', 'd'};
    size_t n = 15;
    memcpy(packed + n, hello_zst, sizeof hello_zst);
    n += sizeof hello_zst;
    memcpy(packed + n, packed, 15);
    n += 15;
    memcpy(packed + n, hello_zst, sizeof hello_zst);
    n += sizeof hello_zst;
    scratch_write("packed", packed, n);
    tl_input *in = open_input("packed");
    assert_null(tl_input_damage(in, NULL));
    check_reads(in, HELLO HELLO, 2 * HELLO_N);
    tl_input_close(in);
}

static void test_gzip_padding(void **state)
{
    if (!has(GZIP))
        skip_because("this build has no zlib");
    uint8_t packed[sizeof hello_gz + 500] = {0};
    memcpy(packed, hello_gz, sizeof hello_gz);
    scratch_write("packed", packed, sizeof packed);
    tl_input *in = open_input("packed");
    assert_null(tl_input_damage(in, NULL));
    check_reads(in, HELLO, HELLO_N);
    tl_input_close(in);
}

/* Content that only begins like compressed content is plain. */
static void test_almost_compressed(void **state)
{
    static const char *const text[] = {
        "BZh",          "BZh9 is not a bzip2 file",  "BZh01AY&SY", "\x1f\x8b", "\x1f\x8b\x07xxxxxxx",
        "\x28\xb5\x2f", "\x5a\x2a\x4d\x19xxxxxxxxxx"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        scratch_write("a", text[i], strlen(text[i]));
        tl_input *in = open_input("a");
        assert_null(input_compression(in));
        check_reads(in, text[i], strlen(text[i]));
        tl_input_close(in);
    }
}

/* Damage: the beginning is there, and the message names the problem. */
static void check_damage(const void *packed, size_t n, const char *expected, size_t expected_n, const char *what)
{
    scratch_write("packed", packed, n);
    tl_input *in = open_input("packed");
    uint64_t offset = UINT64_MAX;
    const char *message = tl_input_damage(in, &offset);
    size_t got_n;
    char *got = content(in, &got_n);
    assert_non_null(message);
    assert_contains(message, what);
    assert_int_equal(offset, got_n);
    assert_true(got_n <= expected_n);
    assert_memory_equal(got, expected, got_n);
    free(got);
    tl_input_close(in);
}

static void test_cut_off_anywhere(void **state)
{
    for (int c = 0; c < CODECS; c++) {
        if (!has(c))
            continue;
        char what[40];
        snprintf(what, sizeof what, "%s data ends early", codec[c].name);
        for (size_t n = 10; n < codec[c].n; n++)
            check_damage(codec[c].hello, n, HELLO, HELLO_N, what);
    }
}

static void test_something_else_follows(void **state)
{
    for (int c = 0; c < CODECS; c++) {
        if (!has(c))
            continue;
        char packed[200], what[80];
        memcpy(packed, codec[c].hello, codec[c].n);
        memcpy(packed + codec[c].n, "garbage garbage", 15);
        snprintf(what, sizeof what, "data that is not %s follows", codec[c].name);
        check_damage(packed, codec[c].n + 15, HELLO, HELLO_N, what);
        tl_input *in = open_input("packed");
        assert_int_equal(tl_input_size(in), HELLO_N);
        tl_input_close(in);
    }
}

/* Every byte of each file changed in turn: no crash, and no undetected damage where a checksum covers it. */
static void test_any_byte_changed(void **state)
{
    for (int c = 0; c < CODECS; c++) {
        if (!has(c))
            continue;
        for (size_t i = 0; i < codec[c].n * 8; i++) {
            uint8_t packed[100];
            memcpy(packed, codec[c].hello, codec[c].n);
            packed[i / 8] ^= (uint8_t)(1u << i % 8);
            scratch_write("packed", packed, codec[c].n);
            tl_input *in = NULL;
            tl_error e;
            if (tl_input_open(&in, "packed", &e) < 0) {
                assert_true(e.code == TL_EUNSUPPORTED || e.code == TL_ENOMEM);
                continue;
            }
            if (input_compression(in) && !tl_input_damage(in, NULL))
                assert_int_equal(tl_input_size(in), HELLO_N);
            tl_input_close(in);
        }
    }
}

static char *compress(const char *data, size_t n, tl_compression c, size_t *packed)
{
    tl_output *o;
    assert_int_equal(tl_output_open_memory(&o, c, NULL), 0);
    tl_output_write(o, data, n);
    assert_int_equal(tl_output_finish(o, NULL), 0);
    char *p = tl_output_take_memory(o, packed);
    tl_output_close(o);
    return p;
}

/* Most content before the damage is kept: at most two blocks of 128 KiB are lost. */
static void check_large_damage(int c, tl_compression compression)
{
    enum { N = 3000000, BLOCKS = 2 << 17 };
    size_t n;
    char *data = pattern(N), *packed = compress(data, N, compression, &n);
    char early[40], damaged[40];
    snprintf(early, sizeof early, "%s data ends early", codec[c].name);
    snprintf(damaged, sizeof damaged, "%s data is damaged: ", codec[c].name);
    for (int quarter = 1; quarter < 4; quarter++) {
        size_t at = n * (size_t)quarter / 4;
        check_damage(packed, at, data, N, early);
        tl_input *in = open_input("packed");
        assert_true(tl_input_size(in) + BLOCKS > (uint64_t)N * (uint64_t)quarter / 4);
        tl_input_close(in);
    }
    /* Random data is stored unchanged: put a hole where the next block begins. */
    memset(packed + n / 2, 0xff, n / 4);
    scratch_write("packed", packed, n);
    tl_input *in = open_input("packed");
    assert_contains(tl_input_damage(in, NULL), damaged);
    size_t got_n;
    char *got = content(in, &got_n);
    assert_true(got_n + BLOCKS > N / 2);
    assert_memory_equal(got, data, N / 2 - BLOCKS);
    free(got);
    tl_input_close(in);
    free(packed);
    free(data);
}

static void test_large_gzip_damage(void **state)
{
    if (!has(GZIP))
        skip_because("this build has no zlib");
    check_large_damage(GZIP, TL_GZIP);
}

static void test_large_zstd_damage(void **state)
{
    if (!has(ZSTD))
        skip_because("this build has no libzstd");
    check_large_damage(ZSTD, TL_ZSTD);
}

/* Four blocks; cut in the third, so that two are there, and right after it. */
static void test_large_bzip2_damage(void **state)
{
    if (!has(BZIP2))
        skip_because("this build has no libbz2");
    char *expected = malloc(LINES * 11 + 1);
    for (size_t i = 0; i < LINES; i++)
        memcpy(expected + i * 11, "0123456789\n", 11);
    scratch_write("packed", lines_bz2, sizeof lines_bz2);
    tl_input *in = open_input("packed");
    assert_null(tl_input_damage(in, NULL));
    check_reads(in, expected, LINES * 11);
    tl_input_close(in);

    check_damage(lines_bz2, sizeof lines_bz2 * 5 / 8, expected, LINES * 11, "bzip2 data ends early");
    in = open_input("packed");
    assert_int_equal(tl_input_size(in), 2 * BLOCK);
    tl_input_close(in);

    /* Three blocks are more than the decompressor's buffer: all of it comes, though the input ends before. */
    check_damage(lines_bz2, THIRD_END, expected, LINES * 11, "bzip2 data ends early");
    in = open_input("packed");
    assert_int_equal(tl_input_size(in), 3 * BLOCK);
    tl_input_close(in);
    free(expected);
}

/* Compressed content beyond the limit of memory, from a pipe. */
static void check_large_content(tl_compression c)
{
    enum { N = TL_INPUT_MEMORY + 3000001 };
    size_t n;
    char *data = pattern(N / 16 + 1), *all = malloc(N);
    for (size_t i = 0; i < N; i++) /* content that is quickly compressed */
        all[i] = data[i / 16];
    char *packed = compress(all, N, c, &n);
    tl_error e;
    tl_input *in = NULL;
    if (c == TL_GZIP) { /* zstd files are decompressed when they are read */
        setenv("TMPDIR", "./missing", 1);
        scratch_write("packed", packed, n);
        assert_int_equal(tl_input_open(&in, "packed", &e), TL_EIO);
        assert_contains(e.message, "cannot make a temporary file");
        unsetenv("TMPDIR");
    }
    in = open_pipe(packed, n);
    assert_null(tl_input_damage(in, NULL));
    check_reads(in, all, N);
    tl_input_close(in);
    free(packed);
    free(all);
    free(data);
}

static void test_large_gzip_pipe(void **state)
{
    if (!has(GZIP))
        skip_because("this build has no zlib");
    check_large_content(TL_GZIP);
}

static void test_large_zstd_pipe(void **state)
{
    if (!has(ZSTD))
        skip_because("this build has no libzstd");
    check_large_content(TL_ZSTD);
}

/* Opening and closing leaves no open descriptor, in success or failure. */
static void test_no_descriptor_is_left(void **state)
{
    int before = dup(0);
    close(before);
    scratch_write("plain", "plain", 5);
    scratch_write("packed", hello_gz, sizeof hello_gz);
    scratch_write("cut", hello_gz, 20);
    static const char *const name[] = {"plain", "packed", "cut", ".", "missing"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        tl_input *in = NULL;
        tl_input_open(&in, name[i], NULL);
        if (in && i == 0) { /* and child programs do not get it */
            int flags = fcntl(before, F_GETFD);
            assert_true(flags >= 0 && (flags & FD_CLOEXEC));
        }
        tl_input_close(in);
        int after = dup(0);
        close(after);
        assert_int_equal(after, before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_compressed_file_and_pipe, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_concatenated, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_zstd_skippable_frames, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_gzip_padding, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_almost_compressed, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_cut_off_anywhere, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_something_else_follows, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_any_byte_changed, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_gzip_damage, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_zstd_damage, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_bzip2_damage, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_gzip_pipe, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_zstd_pipe, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_no_descriptor_is_left, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
