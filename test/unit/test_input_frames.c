/* Tests of content that is decompressed on reading: which content is, and that it is unchanged. */
#include "check.h"
#include "lazy_fixture.h"

#include "base/io/folder.h"
#include "base/io/input_frames.h"
#include "base/io/output.h"
#include "input_inside.h"

enum { NOTE = 0x184d2a57 };

static void check_frames(tl_input *in, uint32_t n, size_t step, size_t size)
{
    assert_int_equal(tl_input_frames(in), n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(input_frame_begin(in, i), (uint64_t)i * step);
    assert_int_equal(input_frame_begin(in, n), size);
    assert_string_equal(input_compression(in), "zstd");
}

static void check_content(const packed *f, uint32_t n, size_t step, const char *data, size_t size)
{
    tl_input *in = open_packed_file(f);
    check_frames(in, n, step, size);
    check_reads(in, data, size);
    assert_null(tl_input_damage(in, NULL));
    tl_input_close(in);
    check_same(f->p, f->n, 12345);
}

/* Frames below, at and above the size that a decoder keeps; with and without checksums; one and many. */
static void test_frames_of_any_size(void **state)
{
    static const size_t step[] = {100, 4096, 100000, MIB, 4 * MIB, 5 * MIB + 77, 9 * MIB};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        const size_t size = step[i] < MIB ? step[i] * 20 - 13 : 9 * MIB;
        char *data = content_of(size);
        packed f = packed_frames(data, size, step[i], i % 2 ? WITH_SUM : 0);
        check_content(&f, (uint32_t)((size + step[i] - 1) / step[i]), step[i], data, size);
        free(f.p);
        free(data);
    }
}

/* Content of stored blocks only, or of one repeated byte. */
static void test_other_blocks(void **state)
{
    enum { N = 3 * MIB };
    char *data = pattern(N);
    packed f = packed_frames(data, N, N, WITH_SUM);
    check_content(&f, 1, N, data, N);
    free(f.p);
    memset(data, 'x', N);
    f = packed_frames(data, N, MIB, 0);
    check_content(&f, 3, MIB, data, N);
    free(f.p);
    free(data);
}

static void test_empty_frames(void **state)
{
    for (int sum = 0; sum < 2; sum++) {
        packed f = {0};
        packed_frame(&f, "", 0, sum);
        packed_frame(&f, "abc", 3, sum);
        packed_frame(&f, "", 0, sum);
        packed_frame(&f, "def", 3, sum);
        packed_frame(&f, "", 0, sum);
        tl_input *in = open_packed_file(&f);
        assert_int_equal(tl_input_frames(in), 5);
        check_reads(in, "abcdef", 6);
        tl_input_close(in);
        if (sum) { /* it is not read, but its checksum counts */
            f.p[f.n - 1] ^= 1;
            check_same(f.p, f.n, 4);
        }
        free(f.p);
    }
}

/* Content of unknown size is spooled; and so is what is not zstd. */
static void test_unknown_sizes_are_spooled(void **state)
{
    enum { N = 300000 };
    char *data = content_of(N);
    packed f = packed_frames(data, N, N, 0);
    packed_frame(&f, data, N, WITHOUT_SIZE);
    tl_input *in = open_packed_file(&f);
    assert_int_equal(tl_input_frames(in), 0);
    assert_int_equal(tl_input_size(in), 2 * N);
    assert_int_equal(tl_input_settle(in, NULL), 0);
    tl_input_close(in);
    free(f.p);

    scratch_write("plain", data, N);
    in = open_lazy("plain");
    assert_int_equal(tl_input_frames(in), 0);
    void *note;
    size_t n;
    assert_int_equal(tl_input_note(in, NOTE, &note, &n, NULL), 0);
    check_reads(in, data, N);
    assert_int_equal(tl_input_settle(in, NULL), 0);
    check_reads(in, data, N);
    tl_input_close(in);
    free(data);
}

static void test_skippable_frames_and_notes(void **state)
{
    packed f = {0};
    packed_note(&f, 0x184d2a50, "in front", 8);
    packed_frame(&f, "abc", 3, WITH_SUM);
    packed_note(&f, NOTE, "a note", 6);
    packed_note(&f, NOTE, "another", 7);
    packed_note(&f, 0x184d2a5f, NULL, 0);
    packed_frame(&f, "def", 3, 0);
    packed_note(&f, 0x184d2a51, "behind", 6);
    tl_input *in = open_packed_file(&f);
    assert_int_equal(tl_input_frames(in), 2);
    check_reads(in, "abcdef", 6);
    void *note = NULL;
    size_t n = 0;
    assert_int_equal(tl_input_note(in, NOTE, &note, &n, NULL), 1);
    assert_int_equal(n, 6);
    assert_memory_equal(note, "a note", 6);
    free(note);
    assert_int_equal(tl_input_note(in, 0x184d2a5f, &note, &n, NULL), 1);
    assert_int_equal(n, 0);
    free(note);
    assert_int_equal(tl_input_note(in, 0x184d2a52, &note, &n, NULL), 0);
    tl_input_close(in);
    check_same(f.p, f.n, 2);
    free(f.p);
}

/* A frame of one byte that asks for a window of 2^n bytes. */
static void windows_have_a_limit(void **state)
{
#ifndef TL_HAVE_ZSTD
    skip_because("this build has no libzstd");
#endif
    for (unsigned n = 27; n <= 28; n++) {
        const uint8_t frame[] = {0x28, 0xb5,       0x2f, 0xfd, 0x80, (uint8_t)((n - 10) << 3), 1, 0, 0,
                                 0,    1 << 3 | 1, 0,    0,    'x'};
        tl_input *in = NULL;
        scratch_write("packed", frame, sizeof frame);
        const int status = tl_input_open_lazy(&in, "packed", NULL);
        assert_int_equal(status < 0 ? 0 : tl_input_frames(in), n == 27);
        if (n == 27)
            check_reads(in, "x", 1);
        tl_input_close(in);
    }
}

/* One too long to hold, and more of them than are remembered. */
/* Content of more frames is kept as a whole. */
static void test_frames_have_a_limit(void **state)
{
    enum { LIMIT = 1 << 20 };
    packed one = {0}, f = {0};
    packed_frame(&f, "abc", 3, 0);
    packed_frame(&one, "", 0, 0);
    for (unsigned i = 1; i < LIMIT; i++)
        packed_add(&f, one.p, one.n);
    for (unsigned more = 0; more < 2; more++) {
        tl_input *in = open_packed_file(&f);
        assert_int_equal(tl_input_frames(in), more ? 0 : LIMIT);
        check_reads(in, "abc", 3);
        tl_input_close(in);
        packed_add(&f, one.p, one.n);
    }
    free(one.p);
    free(f.p);
}

static void test_notes_have_limits(void **state)
{
    enum { LONG = TL_NOTE_BYTES_MAX + 1 };
    packed f = {0};
    void *note = NULL;
    size_t n = 0;
    char *zeros = calloc(1, LONG);
    packed_frame(&f, "abc", 3, 0);
    packed_note(&f, NOTE, zeros, LONG);
    for (unsigned i = 0; i < TL_NOTES_MAX; i++)
        packed_note(&f, i + 2 < TL_NOTES_MAX ? 0x184d2a50 : 0x184d2a51 + i % 2, "x", 1);
    tl_input *in = open_packed_file(&f);
    check_reads(in, "abc", 3);
    assert_int_equal(tl_input_note(in, NOTE, &note, &n, NULL), 0);
    assert_int_equal(tl_input_note(in, 0x184d2a51, &note, &n, NULL), 1);
    free(note);
    assert_int_equal(tl_input_note(in, 0x184d2a52, &note, &n, NULL), 0);
    tl_input_close(in);
    free(zeros);
    free(f.p);
}

/* The table at the end: frames need not say their size then. sum: 4 bytes more for each. */
static void add_table(packed *f, const tl_seek_frame *frame, uint32_t n, bool sum)
{
    uint8_t table[1000] = {0}, *p = table;
    for (uint32_t i = 0; i < n; i++, p += sum ? 12 : 8) {
        tl_store32(p, frame[i].packed, false);
        tl_store32(p + 4, frame[i].content, false);
    }
    tl_store32(p, n, false);
    p[4] = sum ? 0x80 : 0;
    tl_store32(p + 5, TL_SEEK_TABLE_FOOTER_MAGIC, false);
    packed_note(f, TL_SEEK_TABLE_MAGIC, table, (uint32_t)(p + 9 - table));
}

static void test_seek_table(void **state)
{
    enum { STEP = 150000, N = 3 * STEP };
    char *data = content_of(N);
    for (int sum = 0; sum < 2; sum++) {
        packed f = {0};
        tl_seek_frame frame[4];
        for (uint32_t i = 0; i < 3; i++) {
            const size_t before = f.n;
            packed_frame(&f, data + (size_t)i * STEP, STEP, WITHOUT_SIZE | WITH_SUM);
            frame[i] = (tl_seek_frame){(uint32_t)(f.n - before), STEP};
        }
        packed_note(&f, NOTE, "index", 5);
        frame[3] = (tl_seek_frame){13, 0};
        add_table(&f, frame, 4, sum);
        check_content(&f, 3, STEP, data, N);
        tl_input *in = open_packed_file(&f);
        void *note = NULL;
        size_t n = 0;
        assert_int_equal(tl_input_note(in, NOTE, &note, &n, NULL), 1);
        assert_int_equal(n, 5);
        free(note);
        tl_input_close(in);
        f.p[frame[0].packed + frame[1].packed / 2] ^= 0x40; /* damage: detected, and located */
        check_same(f.p, f.n, 77777);
        free(f.p);
    }
    free(data);
}

/* Whatever a wrong table says, the content is the same. */
static void test_seek_table_that_lies(void **state)
{
    enum { STEP = 60000, N = 3 * STEP };
    char *data = content_of(N);
    for (int lie = 0; lie < 12; lie++) {
        packed f = {0};
        tl_seek_frame frame[3];
        for (uint32_t i = 0; i < 3; i++) {
            const size_t before = f.n;
            packed_frame(&f, data + (size_t)i * STEP, STEP, lie % 2 ? 0 : WITHOUT_SIZE);
            frame[i] = (tl_seek_frame){(uint32_t)(f.n - before), STEP};
        }
        uint32_t n = 3;
        switch (lie / 2) {
        case 0: /* a frame hides in another */
            frame[0].packed += frame[1].packed;
            frame[1] = frame[2];
            n = 2;
            break;
        case 1:
            frame[1].content++;
            break;
        case 2:
            frame[2].content--;
            break;
        case 3:
            frame[0].packed--;
            break;
        case 4: /* sizes add up, offsets are wrong */
            frame[0].packed--;
            frame[1].packed++;
            break;
        default:
            frame[1].content = 0;
            break;
        }
        add_table(&f, frame, n, false);
        check_same(f.p, f.n, 50000);
        free(f.p);
    }
    free(data);
}

/* This program's own output can be read this way. */
static void test_own_output(void **state)
{
    enum { N = 3 * MIB };
    tl_output *o;
    tl_error e;
    char *data = content_of(N);
    if (tl_output_open(&o, "out.zst", false, TL_ZSTD, 0, &e) == TL_EUNSUPPORTED)
        skip_because("this build has no libzstd");
    for (size_t at = 0; at < N; at += MIB) {
        tl_output_write(o, data + at, MIB);
        tl_output_cut(o);
    }
    tl_output_note_frame(o, NOTE, "index", 5);
    assert_int_equal(tl_output_finish(o, NULL), 0);
    tl_output_close(o);
    tl_input *in = open_lazy("out.zst");
    check_frames(in, 3, MIB, N);
    check_reads(in, data, N);
    tl_input_close(in);
    free(data);
}

static void test_memory_and_folders(void **state)
{
    enum { N = 200000 };
    char *data = content_of(N);
    packed f = packed_frames(data, N, N / 2, 0);
    tl_input *in;
    assert_int_equal(tl_input_open_lazy_memory(&in, f.p, f.n, "name", NULL), 0);
    check_frames(in, 2, N / 2, N);
    check_reads(in, data, N);
    assert_int_equal(tl_input_settle(in, NULL), 0);
    check_reads(in, data, N);
    tl_input_close(in);
    assert_int_equal(tl_input_open_lazy_memory(&in, f.p, f.n / 3, "cut", NULL), 0);
    assert_non_null(tl_input_damage(in, NULL));
    tl_input_close(in);
    assert_int_equal(tl_input_open_lazy_memory(&in, data, N, "plain", NULL), 0);
    check_reads(in, data, N);
    tl_input_close(in);

    tl_folder *folder;
    assert_int_equal(mkdir("d", 0700), 0);
    scratch_write("d/packed", f.p, f.n);
    assert_int_equal(tl_folder_open(&folder, "d", NULL), 0);
    assert_int_equal(tl_folder_input_lazy(folder, 0, &in, NULL), 0);
    assert_string_equal(tl_input_path(in), "d/packed");
    check_frames(in, 2, N / 2, N);
    check_reads(in, data, N);
    tl_input_close(in);
    tl_folder_close(folder);
    assert_int_equal(unlink("d/packed"), 0);
    free(f.p);
    free(data);
}

/* Another process has read some of standard input. */
static void test_standard_input(void **state)
{
    packed f = {0};
    packed_add(&f, "xyz", 3);
    packed_frame(&f, "abcdef", 6, WITH_SUM);
    scratch_write("in", f.p, f.n);
    char buf[4];
    int saved = dup(STDIN_FILENO), fd = open("in", O_RDONLY);
    dup2(fd, STDIN_FILENO);
    const bool taken = read(STDIN_FILENO, buf, 3) == 3;
    tl_input *in = NULL;
    const int r = tl_input_open_lazy(&in, "-", NULL);
    if (r == 0)
        check_reads(in, "abcdef", 6);
    const uint32_t frames = r == 0 ? tl_input_frames(in) : 0;
    tl_input_close(in);
    const bool still_open = fcntl(STDIN_FILENO, F_GETFL) >= 0;
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(fd);
    assert_true(taken && still_open);
    assert_int_equal(frames, 1);
    free(f.p);
}

static void test_no_descriptor_is_left(void **state)
{
    const int before = dup(0);
    close(before);
    packed f = {0};
    packed_frame(&f, "abcdef", 6, 0);
    scratch_write("packed", f.p, f.n);
    scratch_write("cut", f.p, f.n - 1);
    scratch_write("plain", "plain", 5);
    static const char *const name[] = {"packed", "cut", "plain", ".", "missing", "packed"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        tl_input *in = NULL;
        tl_input_open_lazy(&in, name[i], NULL);
        if (i == 0) { /* and child programs do not get it */
            const int flags = fcntl(before, F_GETFD);
            assert_true(flags >= 0 && (flags & FD_CLOEXEC));
        }
        if (i == 5)
            assert_int_equal(tl_input_settle(in, NULL), 0);
        tl_input_close(in);
        const int after = dup(0);
        close(after);
        assert_int_equal(after, before);
    }
    free(f.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_frames_of_any_size, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_other_blocks, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_empty_frames, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_unknown_sizes_are_spooled, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_skippable_frames_and_notes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(windows_have_a_limit, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_frames_have_a_limit, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_notes_have_limits, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_seek_table, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_seek_table_that_lies, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_own_output, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_memory_and_folders, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_standard_input, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_no_descriptor_is_left, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
