/* Tests of content that is decompressed on reading: damage, threads, and costs. */
#include "check.h"
#include "lazy_fixture.h"
#include "thorough.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/io/input_lazy.h"

/* Three small frames, everything allowed between them, and a checksum. */
static packed small_file(void)
{
    char *data = content_of(700);
    packed f = {0};
    packed_frame(&f, data, 300, WITH_SUM);
    packed_note(&f, 0x184d2a53, "skip", 4);
    packed_frame(&f, "", 0, WITH_SUM);
    packed_frame(&f, data + 300, 20, 0);
    packed_frame(&f, data + 320, 380, WITH_SUM);
    free(data);
    return f;
}

static void test_cut_off_anywhere(void **state)
{
    packed f = small_file();
    for (size_t n = 0; n <= f.n; n++)
        check_same(f.p, n, 128);
    free(f.p);
}

static void test_any_bit_changed(void **state)
{
    packed f = small_file();
    for (size_t i = 0; i < f.n * 8; i += one_in(7)) {
        f.p[i / 8] ^= (uint8_t)(1u << i % 8);
        check_same(f.p, f.n, 128);
        f.p[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    free(f.p);
}

static void test_something_else_follows(void **state)
{
    packed f = small_file();
    packed_add(&f, "garbage garbage", 15);
    check_same(f.p, f.n, 100);
    free(f.p);
}

/* The size of the content in the header of the frame that begins here: 4 bytes. */
static uint8_t *size_of_frame(uint8_t *frame)
{
    assert_int_equal(frame[4] >> 6, 2);
    return frame + 5 + !(frame[4] >> 5 & 1);
}

/* Content shorter or longer than the frame's size, by little and by much; more content follows. */
static void test_sizes_that_lie(void **state)
{
    enum { N = 400000 };
    static const int by[] = {-399999, -130000, -1000, -1, 1, 999, 5000, 130000, 1 << 30, INT32_MAX};
    char *data = content_of(N);
    for (int follow = 0; follow < 2; follow++)
        for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
            packed f = packed_frames(data, N, N, i % 2 ? WITH_SUM : 0);
            uint8_t *size = size_of_frame(f.p);
            tl_store32(size, tl_load32(size, false) + (uint32_t)by[i], false);
            if (follow)
                packed_frame(&f, data, N, 0);
            check_same(f.p, f.n, 65536);
            free(f.p);
        }
    free(data);
}

/* Absurd sizes, alone and in sum. */
static void test_hostile_sizes(void **state)
{
    static const uint64_t size[] = {UINT64_MAX, (uint64_t)1 << 63, INT64_MAX, (uint64_t)1 << 40, (uint64_t)1 << 31};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        /* A window of 128 KiB, 8 bytes of size, one block of one stored byte. */
        uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x38, 0, 0, 0, 0, 0, 0, 0, 0, 0x09, 0, 0, 'x'};
        packed f = {0};
        tl_store64(frame + 6, size[i], false);
        for (int n = 0; n < 3; n++) {
            packed_add(&f, frame, sizeof frame);
            check_same(f.p, f.n, 100);
        }
        free(f.p);
    }
    /* The table has it, and the frames do not. */
    packed f = {0};
    uint8_t table[8 * 8 + 9] = {0};
    for (int i = 0; i < 8; i++) {
        const size_t before = f.n;
        packed_frame(&f, "abc", 3, WITHOUT_SIZE);
        tl_store32(table + i * 8, (uint32_t)(f.n - before), false);
        tl_store32(table + i * 8 + 4, UINT32_MAX, false);
    }
    tl_store32(table + 64, 8, false);
    tl_store32(table + 69, TL_SEEK_TABLE_FOOTER_MAGIC, false);
    packed_note(&f, TL_SEEK_TABLE_MAGIC, table, sizeof table);
    check_same(f.p, f.n, 100);
    free(f.p);
}

/* Does reading give the same as decompressing everything at once? Then `in` is too large to keep. */
static void check_bomb(const packed *f)
{
#ifdef TL_HAVE_ZSTD
    tl_input *in = NULL;
    tl_error e;
    scratch_write("packed", f->p, f->n);
    setenv("TMPDIR", ".", 1);
    assert_int_equal(tl_input_open_lazy(&in, "packed", &e), TL_ENOMEM);
    unsetenv("TMPDIR");
    assert_contains(e.message, "decompresses to more than 4096 times its size");
    assert_null(in);
#else
    (void)f;
    skip_because("this build has no libzstd");
#endif
}

static void test_bombs(void **state)
{
    enum { BLOCKS = 8300 }; /* of 128 KiB, all the same byte: more than 1 GiB */
    const uint8_t header[] = {0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x38}, block[] = {0x02, 0, 0x10, 'x'};
    uint8_t size[4];
    packed f = {0};
    packed_add(&f, header, sizeof header);
    tl_store32(size, (uint32_t)BLOCKS << 17, false);
    packed_add(&f, size, 4);
    for (int i = 0; i < BLOCKS; i++)
        packed_add(&f, block, 4);
    f.p[f.n - 4] |= 1; /* the last one */
    check_bomb(&f);
    free(f.p);
}

/* A window larger than decompressors allow. */
static void test_large_window(void **state)
{
    packed f = {0};
    const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x90, 1, 0, 0, 0, 0x09, 0, 0, 'x'};
    packed_add(&f, frame, sizeof frame);
    check_same(f.p, f.n, 100);
    free(f.p);
}

/* Breaks a block of the frame that begins here in a way that only decompression shows. */
static void spoil(uint8_t *frame, unsigned block)
{
    uint8_t *p = size_of_frame(frame) + 4;
    for (; block > 0; block--)
        p += 3 + ((p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16) >> 3);
    assert_int_equal(p[0] >> 1 & 3, 2);
    memset(p + 3, 0xff, 8);
}

/* A read at the begin touches only the begin, so later damage is still unknown. Once it is found, from any place, all
 * is as if everything had been decompressed at once. */
static void test_damage_is_found_when_it_is_met(void **state)
{
    enum { STEP = 500000, N = 4 * STEP };
    char *data = content_of(N), buf[4096];
    for (int single = 0; single < 2; single++) {
        packed f = packed_frames(data, single ? N : 2 * STEP, single ? N : STEP, WITH_SUM);
        if (single) {
            spoil(f.p, 9);
        } else {
            const size_t third = f.n;
            packed_frame(&f, data + 2 * STEP, STEP, 0);
            const size_t fourth = f.n;
            packed_frame(&f, data + 3 * STEP, STEP, 0);
            spoil(f.p + third, 2);
            spoil(f.p + fourth, 0); /* once more: this one is found first */
        }
        scratch_write("packed", f.p, f.n);
        tl_input *all = open_input("packed"), *in = open_lazy("packed");
        size_t got;
        uint64_t expected = 0, at = 0;
        assert_non_null(tl_input_damage(all, &expected));
        assert_true(expected < N);
        assert_int_equal(tl_input_read(in, 0, buf, sizeof buf, &got, NULL), 0);
        assert_int_equal(got, sizeof buf);
        assert_null(tl_input_damage(in, NULL));
        assert_int_equal(tl_input_size(in), N);
        assert_int_equal(tl_input_read(in, N - 1, buf, sizeof buf, &got, NULL), 0);
        assert_int_equal(got, 0);
        assert_string_equal(tl_input_damage(in, &at), tl_input_damage(all, NULL));
        assert_int_equal(at, expected);
        char *there = content(all, &got);
        check_reads(in, there, (size_t)expected);
        assert_int_equal(tl_input_settle(in, NULL), 0);
        assert_string_equal(tl_input_damage(in, &at), tl_input_damage(all, NULL));
        assert_int_equal(at, expected);
        check_reads(in, there, (size_t)expected);
        free(there);
        tl_input_close(all);
        tl_input_close(in);
        free(f.p);
    }
    free(data);
}

static void test_file_that_shrinks(void **state)
{
    enum { STEP = 400000, N = 3 * STEP };
    char *data = content_of(N), *buf = malloc(N);
    packed f = packed_frames(data, N, STEP, WITH_SUM);
    tl_input *in = open_packed_file(&f);
    assert_int_equal(truncate("packed", (off_t)(f.n / 2)), 0);
    const size_t n = read_through(in, buf, N, 100000);
    assert_true(n >= STEP && n < 2 * STEP);
    assert_memory_equal(buf, data, n);
    uint64_t at = 0;
    assert_string_equal(tl_input_damage(in, &at), "zstd data ends early");
    assert_int_equal(at, n);
    assert_int_equal(tl_input_size(in), n);
    tl_input_close(in);
    free(f.p);
    free(buf);
    free(data);
}

/* Reading back in a frame that is not kept decompresses it again, but not for ever. */
static void test_reading_back_is_spooled_in_the_end(void **state)
{
    enum { N = 48 * MIB };
    char *data = content_of(N), buf[100];
    size_t got;
    tl_error e;
    packed f = packed_frames(data, N, N, 0);
    tl_input *in = open_packed_file(&f);
    setenv("TMPDIR", "./missing", 1);
    int r = 0, i = 0;
    for (; i < 100 && r == 0; i++)
        r = tl_input_read(in, (uint64_t)(N - 1000 - i * 29 % 48 * MIB), buf, sizeof buf, &got, &e);
    assert_in_range(i, 3, 99); /* 64 MiB more than there are */
    assert_int_equal(r, TL_EIO);
    assert_string_equal(e.message, "cannot make a temporary file in ./missing: No such file or directory");
    setenv("TMPDIR", ".", 1);
    check_reads(in, data, N);
    assert_int_equal(tl_input_frames(in), 1);
    unsetenv("TMPDIR");
    tl_input_close(in);
    free(f.p);
    free(data);
}

static void test_settling_may_fail(void **state)
{
    enum { N = TL_INPUT_MEMORY + MIB };
    char *data = content_of(N);
    tl_error e;
    packed f = packed_frames(data, N, MIB, 0);
    tl_input *in = open_packed_file(&f);
    setenv("TMPDIR", "./missing", 1);
    assert_int_equal(tl_input_settle(in, &e), TL_EIO);
    assert_int_equal(e.sys_errno, ENOENT);
    assert_int_equal(tl_input_frames(in), 17);
    check_reads(in, data, N);
    unsetenv("TMPDIR");
    assert_int_equal(tl_input_settle(in, &e), 0);
    assert_int_equal(tl_input_frames(in), 0);
    check_reads(in, data, N);
    tl_input_close(in);
    free(f.p);
    free(data);
}

/* Nothing of it is kept but the decoders' memory: neither in memory nor in a file. */
static void test_front_to_back_in_little_memory(void **state)
{
    enum { N = 96 * MIB, STEP = 250000 };
    char *data = calloc(1, N), *buf = malloc(STEP);
    assert_true(data && buf);
    for (size_t i = 0; i < N; i += 4096)
        memset(data + i, (int)(i >> 16), 256 + (i >> 12) % 1000);
    packed f = packed_frames(data, N, N, WITH_SUM);
    scratch_write("packed", f.p, f.n);
    free(f.p);
    setenv("TMPDIR", "./missing", 1);
    tl_input *in = open_lazy("packed");
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    size_t got = 1;
    uint64_t at = 0;
    for (; got > 0; at += got) {
        assert_int_equal(tl_input_read(in, at, buf, STEP, &got, NULL), 0);
        assert_memory_equal(buf, data + at, got);
    }
    getrusage(RUSAGE_SELF, &after);
    unsetenv("TMPDIR");
    assert_int_equal(at, N);
    assert_true(after.ru_maxrss - before.ru_maxrss < 32 * KIB);
    tl_input_close(in);
    free(buf);
    free(data);
}

typedef struct reading {
    tl_input *in;
    const char *data;
    size_t n, step;
    unsigned seed, wrong;
    pthread_t thread;
} reading;

static void *reading_main(void *arg)
{
    reading *r = arg;
    char *buf = malloc(70000);
    uint32_t x = r->seed;
    for (size_t i = 0; i < 300; i++) {
        x = x * 1664525 + 1013904223;
        const size_t at = r->step ? (r->seed * r->n / 8 + i * r->step) % r->n : (size_t)(x >> 1) % r->n,
                     want = x % 70000, there = r->n - at < want ? r->n - at : want;
        size_t got = 0;
        if (tl_input_read(r->in, at, buf, want, &got, NULL) < 0 || got != there ||
            memcmp(buf, r->data + at, there) != 0)
            r->wrong++;
    }
    free(buf);
    return NULL;
}

static void read_with_threads(const packed *f, const char *data, size_t n, size_t step)
{
    enum { THREADS = 12 }; /* more than there are decoders */
    reading r[THREADS];
    tl_input *in = open_packed_file(f);
    for (unsigned i = 0; i < THREADS; i++) {
        r[i] = (reading){.in = in, .data = data, .n = n, .step = step, .seed = i};
        assert_int_equal(pthread_create(&r[i].thread, NULL, reading_main, &r[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(r[i].thread, NULL);
        assert_int_equal(r[i].wrong, 0);
    }
    assert_null(tl_input_damage(in, NULL));
    tl_input_close(in);
}

static void test_threads_read_at_once(void **state)
{
    enum { N = 12 * MIB };
    char *data = content_of(N);
    static const size_t frame[] = {100000, MIB, 5 * MIB, N};
    for (size_t i = 0; i < sizeof frame / sizeof *frame; i++) {
        packed f = packed_frames(data, N, frame[i], WITH_SUM);
        read_with_threads(&f, data, N, i < 2 ? 0 : 50000);
        free(f.p);
    }
    free(data);
}

/* Random reads in one large frame: decompressed again and again, until it is spooled while others read. */
static void test_threads_make_it_spool(void **state)
{
    enum { N = 48 * MIB };
    char *data = content_of(N);
    packed f = packed_frames(data, N, N, 0);
    setenv("TMPDIR", ".", 1);
    read_with_threads(&f, data, N, 0);
    unsetenv("TMPDIR");
    free(f.p);
    free(data);
}

/* Several threads find the same damage. */
static void *meeting_main(void *arg)
{
    reading *r = arg;
    char *buf = malloc(r->n);
    size_t at = 0, got = 1;
    for (; got > 0 && !r->wrong; at += got)
        r->wrong = tl_input_read(r->in, at, buf, 30000 + r->seed * 5000, &got, NULL) < 0 ||
                   memcmp(buf, r->data + at, got) != 0;
    r->n = at;
    free(buf);
    return NULL;
}

static void test_threads_meet_damage(void **state)
{
    enum { STEP = 700000, N = 5 * STEP, THREADS = 4 };
    char *data = content_of(N);
    packed f = packed_frames(data, 2 * STEP, STEP, WITH_SUM), g = packed_frames(data + 2 * STEP, 3 * STEP, STEP, 0);
    spoil(g.p, 3);
    packed_add(&f, g.p, g.n);
    free(g.p);
    tl_input *in = open_packed_file(&f), *all = open_input("packed");
    const size_t size = (size_t)tl_input_size(all);
    assert_in_range(size, 2 * STEP, 3 * STEP - 1);
    assert_int_equal(tl_input_size(in), N);
    tl_input_close(all);
    reading r[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        r[i] = (reading){.in = in, .data = data, .n = N, .seed = i};
        assert_int_equal(pthread_create(&r[i].thread, NULL, meeting_main, &r[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(r[i].thread, NULL);
        assert_int_equal(r[i].wrong, 0);
        assert_int_equal(r[i].n, size);
    }
    assert_non_null(tl_input_damage(in, NULL));
    assert_int_equal(tl_input_size(in), size);
    tl_input_close(in);
    free(f.p);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cut_off_anywhere, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_any_bit_changed, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_something_else_follows, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_sizes_that_lie, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_hostile_sizes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_bombs, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_window, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_damage_is_found_when_it_is_met, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_file_that_shrinks, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_reading_back_is_spooled_in_the_end, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_settling_may_fail, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_front_to_back_in_little_memory, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_threads_read_at_once, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_threads_make_it_spool, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_threads_meet_damage, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
