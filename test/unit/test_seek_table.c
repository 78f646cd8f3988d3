/* Tests of zstd output cut into frames, and of the table after them. */
#include "check.h"
#include "output_check.h"

#include "base/endian.h"
#include "base/io/input.h"
#include "base/io/seek_table.h"
#include "input_inside.h"

enum { NOTE_MAGIC = 0x184d2a5b, MIB = 1 << 20 };

static bool has_zstd(void)
{
    tl_output *o = NULL;
    const int r = tl_output_open_memory(&o, TL_ZSTD, NULL);
    tl_output_close(o);
    return r == 0;
}

/* Writes n bytes in pieces of `step` and offers a cut after each; notes where frames begin. */
static uint32_t write_cut(tl_output *o, const char *data, size_t n, size_t step, uint64_t *begin, uint32_t most)
{
    uint32_t frames = 1;
    begin[0] = 0;
    for (size_t at = 0; at < n; at += step) {
        tl_output_write(o, data + at, n - at < step ? n - at : step);
        if (tl_output_cut(o)) {
            assert_true(frames < most);
            begin[frames++] = tl_output_bytes(o);
        }
    }
    return frames;
}

static void check_reads_back(const char *path, const char *data, size_t n)
{
    tl_input *in;
    size_t got_n;
    char *got = malloc(n + 1);
    assert_int_equal(tl_input_open(&in, path, NULL), 0);
    assert_string_equal(input_compression(in), "zstd");
    assert_null(tl_input_damage(in, NULL));
    assert_int_equal(tl_input_size(in), n);
    assert_int_equal(tl_input_read(in, 0, got, n, &got_n, NULL), 0);
    assert_int_equal(got_n, n);
    assert_memory_equal(got, data, n);
    tl_input_close(in);
    free(got);
}

/* Frame i of the table begins at the sum of the sizes before it, and has the right content. */
static void check_frame(const uint8_t *file, size_t at, size_t packed, const char *content, size_t n)
{
    scratch_write("frame", file + at, packed);
    check_reads_back("frame", content, n);
}

static void test_frames_and_their_table(void **state)
{
    if (!has_zstd())
        skip_because("this build has no libzstd");
    const size_t n = 5 * MIB + 12345;
    char *data = pattern(n);
    uint64_t begin[8];
    tl_output *o;
    assert_int_equal(tl_output_open(&o, "out.zst", false, TL_ZSTD, 0, NULL), 0);
    const uint32_t frames = write_cut(o, data, n, 300000, begin, 8);
    assert_int_equal(frames, 5); /* each cut at the first offer after 1 MiB: 4 * 300000 */
    assert_int_equal(begin[1], 1200000);
    tl_output_note_frame(o, NOTE_MAGIC, "what stands there", 17);
    check_finish(o);
    check_reads_back("out.zst", data, n);

    size_t size;
    uint8_t *file = (uint8_t *)scratch_read("out.zst", &size);
    const uint8_t *end = file + size, *footer = end - TL_SEEK_TABLE_FOOTER;
    assert_int_equal(tl_load32(footer + 5, false), 0x8f92eab1);
    assert_int_equal(footer[4], 0);
    assert_int_equal(tl_load32(footer, false), frames + 1); /* and the note */
    const uint8_t *entry = footer - (size_t)(frames + 1) * 8;
    assert_int_equal(tl_load32(entry - 8, false), 0x184d2a5e);
    assert_int_equal(tl_load32(entry - 4, false), end - entry);
    size_t at = 0;
    for (uint32_t i = 0; i < frames; i++, entry += 8) {
        const size_t packed = tl_load32(entry, false), content = tl_load32(entry + 4, false);
        assert_int_equal(content, (i + 1 < frames ? begin[i + 1] : n) - begin[i]);
        check_frame(file, at, packed, data + begin[i], content);
        at += packed;
    }
    assert_int_equal(tl_load32(file + at, false), NOTE_MAGIC);
    assert_int_equal(tl_load32(file + at + 4, false), 17);
    assert_memory_equal(file + at + 8, "what stands there", 17);
    assert_int_equal(tl_load32(entry, false), 25);
    assert_int_equal(tl_load32(entry + 4, false), 0);
    assert_int_equal(tl_load32(file + at + 25, false), 0x184d2a5e); /* sizes add up to where the table begins */
    free(file);
    free(data);
}

static void test_nothing_behind_the_last_cut(void **state)
{
    if (!has_zstd())
        skip_because("this build has no libzstd");
    char *data = pattern(2 * MIB);
    uint64_t begin[4];
    tl_output *o;
    assert_int_equal(tl_output_open(&o, "out.zst", false, TL_ZSTD, 0, NULL), 0);
    assert_int_equal(write_cut(o, data, 2 * MIB, MIB, begin, 4), 3);
    assert_false(tl_output_cut(o));
    check_finish(o);
    check_reads_back("out.zst", data, 2 * MIB);
    size_t size;
    uint8_t *file = (uint8_t *)scratch_read("out.zst", &size);
    assert_int_equal(tl_load32(file + size - 9, false), 2); /* no empty frame */
    free(file);
    free(data);
}

/* Without a cut there is one frame, and no table. */
static void test_without_a_cut(void **state)
{
    if (!has_zstd())
        skip_because("this build has no libzstd");
    char *data = pattern(MIB);
    for (int with = 0; with < 2; with++) {
        tl_output *o;
        assert_int_equal(tl_output_open(&o, with ? "with" : "without", false, TL_ZSTD, 0, NULL), 0);
        tl_output_write(o, data, MIB - 1);
        if (with) {
            assert_false(tl_output_cut(o));
            tl_output_note_frame(o, NOTE_MAGIC, "unseen", 6);
        }
        check_finish(o);
    }
    size_t n;
    char *without = scratch_read("without", &n);
    check_content("with", without, n);
    free(without);
    free(data);
}

/* Cuts change nothing in formats without frames. */
static void test_other_outputs(void **state)
{
    static const tl_compression kind[] = {TL_PLAIN, TL_GZIP};
    char *data = pattern(3 * MIB);
    for (int i = 0; i < 2; i++) {
        tl_output *o;
        uint64_t begin[2];
        if (tl_output_open(&o, "out", true, kind[i], 0, NULL) == TL_EUNSUPPORTED)
            continue;
        assert_int_equal(write_cut(o, data, 3 * MIB, MIB, begin, 2), 1);
        tl_output_note_frame(o, NOTE_MAGIC, "unseen", 6);
        check_finish(o);
        tl_input *in;
        assert_int_equal(tl_input_open(&in, "out", NULL), 0);
        assert_null(tl_input_damage(in, NULL));
        assert_int_equal(tl_input_size(in), 3 * MIB);
        tl_input_close(in);
    }
    free(data);
}

static void test_full_device(void **state)
{
    if (!has_zstd())
        skip_because("this build has no libzstd");
    char *data = pattern(3 * MIB);
    uint64_t begin[4];
    tl_output *o;
    tl_error e;
    assert_int_equal(tl_output_open(&o, "/dev/full", false, TL_ZSTD, 0, NULL), 0);
    assert_int_equal(write_cut(o, data, 3 * MIB, MIB, begin, 4), 1); /* the first one fails, and with it all */
    assert_int_equal(tl_output_finish(o, &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOSPC);
    tl_output_close(o);
    free(data);
}

/* With the usual command. */
static void test_zstd_reads_it(void **state)
{
    if (!has_zstd() || system("zstd --version >/dev/null 2>&1") != 0)
        skip_because("needs libzstd and the command zstd");
    char *data = pattern(3 * MIB);
    uint64_t begin[8];
    tl_output *o;
    assert_int_equal(tl_output_open(&o, "out.zst", false, TL_ZSTD, 1, NULL), 0);
    assert_int_equal(write_cut(o, data, 3 * MIB, 100000, begin, 8), 3);
    tl_output_note_frame(o, NOTE_MAGIC, data, 100);
    check_finish(o);
    assert_int_equal(system("zstd -q -t out.zst"), 0);
    assert_int_equal(system("zstd -q -d out.zst -o plain"), 0);
    check_content("plain", data, 3 * MIB);
    free(data);
}

static void test_large_frames_break_the_table(void **state)
{
    tl_seek_table t = {0};
    assert_true(tl_seek_table_add(&t, UINT32_MAX, UINT32_MAX));
    assert_false(t.broken);
    assert_true(tl_seek_table_add(&t, 1, (uint64_t)UINT32_MAX + 1));
    assert_true(t.broken);
    assert_true(tl_seek_table_add(&t, 1, 1)); /* and so it stays */
    assert_true(t.broken);
    assert_int_equal(t.n, 1);
    tl_seek_table_fini(&t);
    assert_true(tl_seek_table_add(&t, (uint64_t)UINT32_MAX + 1, 1));
    assert_true(t.broken);
    tl_seek_table_fini(&t);
}

/* No reader takes a table of more frames than this. */
static void test_frames_have_a_limit(void **state)
{
    tl_seek_table t = {.n = TL_SEEK_TABLE_MOST};
    assert_true(tl_seek_table_add(&t, 1, 1));
    assert_true(t.broken);
    assert_int_equal(t.n, TL_SEEK_TABLE_MOST);
    tl_seek_table_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_frames_and_their_table, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_nothing_behind_the_last_cut, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_without_a_cut, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_other_outputs, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_full_device, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_zstd_reads_it, scratch_enter, scratch_leave),
        cmocka_unit_test(test_large_frames_break_the_table),
        cmocka_unit_test(test_frames_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
