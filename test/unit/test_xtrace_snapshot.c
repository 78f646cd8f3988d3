/* Tests of format/xtrace/xtrace_snapshot.h: finding layouts, damaged files, and records as events. */
#include "snapshot_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#include "scratch.h"

static void open_made(xtrace_snapshots *s, const made_snapshots *m, size_t total, tl_input **in, tl_trace *t)
{
    tl_trace_init(t);
    assert_int_equal(tl_input_open_memory(in, m->data, total, "made", NULL), 0);
    assert_int_equal(xtrace_snapshots_open(s, *in, t, NULL, NULL), 0);
}

static void close_made(tl_input *in, tl_trace *t, made_snapshots *m)
{
    tl_input_close(in);
    tl_trace_fini(t);
    free(m->data);
}

static void test_all_layouts(void **state)
{
    static const uint32_t headers[] = {0, 19, 24, 32};
    for (size_t h = 0; h < TL_COUNT(headers); h++)
        for (uint32_t vl = 128; vl <= 2048; vl += 128)
            for (size_t n = 1; n < 4; n++) {
                made_snapshots m = make_snapshots(headers[h], vl, n);
                xtrace_snapshots s;
                tl_input *in;
                tl_trace t;
                open_made(&s, &m, m.total, &in, &t);
                assert_true(s.has_layout);
                assert_int_equal(s.header_size, headers[h]);
                assert_int_equal(s.vl, vl);
                assert_int_equal(s.records, n);
                assert_int_equal(s.first, headers[h]);
                assert_int_equal(s.has_header, headers[h] > 0);
                assert_true(s.has_range);
                assert_int_equal(s.first_insns, 0);
                assert_int_equal(s.last_insns, 10 * (n - 1));
                assert_int_equal(tl_trace_damages(&t), 0);
                close_made(in, &t, &m);
            }
    assert_int_equal(xtrace_snapshot_size(128), 1424); /* from the specification */
    assert_int_equal(xtrace_snapshot_size(256), 2704);
    assert_int_equal(xtrace_snapshot_size(512), 6800);
    assert_int_equal(xtrace_snapshot_size(2048), 74656);
}

static void test_header_is_shown(void **state)
{
    made_snapshots m = make_snapshots(24, 128, 1);
    tl_store32(m.data, 0xabcd, false);
    tl_store32(m.data + 4, 7, false);
    tl_store64(m.data + 8, 12, false);
    m.data[16] = 1;
    m.data[17] = 2;
    m.data[18] = 3;
    xtrace_snapshots s;
    tl_input *in;
    tl_trace t;
    const tl_field *field;
    uint32_t n;
    open_made(&s, &m, m.total, &in, &t);
    assert_null(tl_trace_header(&t, &field, &n));
    assert_int_equal(n, 0);
    assert_int_equal(xtrace_snapshots_describe(&s, &t, NULL), 0);
    assert_string_equal(tl_trace_version(&t), "12");
    const tl_value *v = tl_trace_header(&t, &field, &n);
    static const uint64_t expected[] = {24, 0xabcd, 7, 12, 1, 2, 3};
    assert_int_equal(n, 2);
    assert_string_equal(field[0].name, "header");
    assert_int_equal(v[0].type, TL_STRUCT);
    assert_int_equal(v[0].n, TL_COUNT(expected));
    for (size_t i = 0; i < TL_COUNT(expected); i++)
        assert_int_equal(v[1 + i].as.u, expected[i]);
    assert_string_equal(field[1].name, "vl");
    assert_int_equal(v[8].as.u, 128);
    close_made(in, &t, &m);
}

static void test_no_records(void **state)
{
    static const size_t sizes[] = {0, 19, 24, 32};
    for (size_t i = 0; i < TL_COUNT(sizes); i++) {
        made_snapshots m = make_snapshots(sizes[i], 128, 0);
        xtrace_snapshots s;
        tl_input *in;
        tl_trace t;
        const tl_field *field;
        uint32_t n;
        open_made(&s, &m, m.total, &in, &t);
        assert_true(s.has_layout);
        assert_int_equal(s.vl, 0);
        assert_int_equal(s.records, 0);
        assert_false(s.has_range);
        assert_int_equal(tl_trace_damages(&t), 0);
        assert_int_equal(xtrace_snapshots_describe(&s, &t, NULL), 0);
        const tl_value *v = tl_trace_header(&t, &field, &n);
        assert_int_equal(v[0].type, sizes[i] ? TL_STRUCT : TL_NULL);
        assert_int_equal(v[sizes[i] ? 8 : 1].type, TL_NULL);
        close_made(in, &t, &m);
    }
}

static void test_damage(void **state)
{
    made_snapshots m = make_snapshots(24, 128, 5);
    xtrace_snapshots s;
    tl_input *in;
    tl_trace t;
    open_made(&s, &m, m.total - 700, &in, &t); /* cut */
    assert_int_equal(s.records, 4);
    EXPECT_TOLD(&t, {24 + 4 * 1424, "xtrace.snapshot-truncated"});
    assert_int_equal(tl_trace_damage(&t, 0)->bytes, 724);
    tl_error e = {0};
    assert_int_equal(xtrace_snapshots_strict(&s, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, 24 + 4 * 1424);
    tl_input_close(in);
    tl_trace_fini(&t);

    open_made(&s, &m, 24 + 900, &in, &t); /* not one whole record */
    assert_false(s.has_layout);
    assert_int_equal(s.records, 0);
    EXPECT_TOLD(&t, {0, "xtrace.snapshot-size"});
    assert_int_equal(tl_trace_damage(&t, 0)->bytes, 924);
    tl_input_close(in);
    tl_trace_fini(&t);

    made_snapshots long_vectors = make_snapshots(24, 2048 + 128, 1); /* longer than vectors may be */
    open_made(&s, &long_vectors, long_vectors.total, &in, &t);
    EXPECT_TOLD(&t, {0, "xtrace.snapshot-size"});
    close_made(in, &t, &long_vectors);

    tl_store64(made_record(&m, 2) + 1416, 256, false); /* of another length: two of five, then three */
    tl_store64(made_record(&m, 4) + 1416, 256, false);
    open_made(&s, &m, m.total, &in, &t);
    assert_int_equal(s.vl, 128);
    assert_int_equal(s.last_insns, 30);
    tl_input_close(in);
    tl_trace_fini(&t);
    tl_store64(made_record(&m, 0) + 1416, 0, false);
    open_made(&s, &m, m.total, &in, &t);
    EXPECT_TOLD(&t, {0, "xtrace.snapshot-size"});
    close_made(in, &t, &m);
}

/* One record that fits exactly; a shorter one with trailing bytes would fit, too. */
static void test_one_whole_record(void **state)
{
    for (size_t n = 1; n < 3; n++) {
        made_snapshots m = make_snapshots(24, 256, n);
        xtrace_snapshots s;
        tl_input *in;
        tl_trace t;
        for (size_t at = 1416; at + 8 <= n * m.size; at += 1424)
            tl_store64(m.data + 24 + at, 128, false);
        for (size_t i = 0; i < n; i++)
            tl_store64(made_record(&m, i) + m.size - XTRACE_SNAPSHOT_TAIL, 256, false);
        open_made(&s, &m, m.total, &in, &t);
        assert_int_equal(s.vl, 256);
        assert_int_equal(s.records, n);
        assert_int_equal(tl_trace_damages(&t), 0);
        close_made(in, &t, &m);
    }
}

/* Unreadable files are not taken for files of another layout. */
static void test_reading_fails(void **state)
{
    made_snapshots m = make_snapshots(24, 128, 5);
    for (size_t cut = 0; cut <= 700; cut += 700) { /* whole, and with a record that is cut */
        tl_input *in;
        tl_error e = {0};
        tl_trace t;
        xtrace_snapshots s;
        tl_trace_init(&t);
        scratch_write("shots", m.data, m.total - cut);
        const int fd = open("shots", O_RDONLY), folder = open(".", O_RDONLY | O_DIRECTORY);
        assert_true(fd >= 0 && folder >= 0);
        assert_int_equal(tl_input_open_file(&in, fd, "shots", NULL), 0);
        assert_int_equal(dup2(folder, fd), fd);
        close(folder);
        assert_int_equal(xtrace_snapshots_open(&s, in, &t, NULL, &e), TL_EIO);
        assert_int_equal(tl_trace_damages(&t), 0);
        tl_input_close(in);
        tl_trace_fini(&t);
    }
    free(m.data);
}

/* More records than are examined one by one. */
static void test_many_records(void **state)
{
    enum { N = 9000 };
    made_snapshots m = make_snapshots(19, 128, N);
    xtrace_snapshots s;
    tl_input *in;
    tl_trace t;
    uint64_t number = 99;
    open_made(&s, &m, m.total, &in, &t);
    assert_int_equal(s.records, N);
    for (uint64_t insns = 0; insns < 10 * N; insns += 77) {
        assert_int_equal(xtrace_snapshots_find(&s, insns, &number, NULL), 1);
        assert_int_equal(number, insns / 10);
    }
    assert_int_equal(xtrace_snapshots_find(&s, UINT64_MAX, &number, NULL), 1);
    assert_int_equal(number, N - 1);
    tl_input_close(in);
    tl_trace_fini(&t);
    for (size_t i = 0; i < N; i += 3) /* every third is damaged, and one is cut */
        made_record(&m, i)[1416] ^= 1;
    open_made(&s, &m, m.total - 1, &in, &t);
    assert_int_equal(s.records, N - 1);
    assert_int_equal(s.first_insns, 10);
    for (uint64_t insns = 10; insns < 10 * (N - 1); insns += 77) {
        assert_int_equal(xtrace_snapshots_find(&s, insns, &number, NULL), 1);
        const uint64_t at = insns / 10;
        assert_int_equal(number, at % 3 == 0 ? at - 1 : at);
    }
    assert_int_equal(xtrace_snapshots_find(&s, 9, &number, NULL), 0);
    tl_input_close(in);
    tl_trace_fini(&t);
    for (size_t i = 0; i < N; i += 2) /* more than half */
        tl_store64(made_record(&m, i) + 1416, 1, false);
    open_made(&s, &m, m.total, &in, &t);
    assert_false(s.has_layout);
    close_made(in, &t, &m);
}

static void expect_bytes(const tl_value *v, const uint8_t *bytes, uint32_t n)
{
    assert_int_equal(v->type, TL_BYTES);
    assert_int_equal(v->n, n);
    assert_memory_equal(v->as.p, bytes, n);
}

static void test_a_record_as_values(void **state)
{
    made_snapshots m = make_snapshots(0, 256, 3);
    uint8_t *const r = made_record(&m, 1);
    for (size_t i = 32; i < m.size - 8; i++)
        r[i] = (uint8_t)(i * 7);
    xtrace_snapshots s;
    tl_input *in;
    tl_trace t;
    open_made(&s, &m, m.total, &in, &t);
    tl_batch b = {0};
    const tl_want want = {.fields = true, .cpu = true};
    assert_int_equal(tl_batch_init(&b, &t, &want, 16, NULL), 0);
    uint64_t at = 1;
    assert_int_equal(xtrace_snapshots_batch(&s, &at, 0, UINT64_MAX, &b, 5, 3, NULL), 0);
    assert_int_equal(at, 3);
    assert_int_equal(b.n, 2);
    assert_int_equal(b.ts[0], 10);
    assert_int_equal(b.ts[1], 20);
    assert_int_equal(b.cls[1], 5);
    assert_int_equal(b.track[1], 3);
    assert_int_equal(b.cpu[1], -1);
    const tl_value *v = b.v + b.val[0];
    assert_ptr_equal(b.v + b.val[1], v + 101);
    assert_int_equal(v[1].as.u, 100);
    assert_int_equal(v[4].n, 32);
    for (unsigned i = 0; i < 32; i++) {
        assert_int_equal(v[5 + i].type, TL_HEX);
        assert_true(v[5 + i].as.u == tl_load64(r + 32 + 8 * i, false));
        expect_bytes(&v[38 + i], r + 288 + (size_t)32 * i, 32);
    }
    for (unsigned i = 0; i < 16; i++)
        expect_bytes(&v[71 + i], r + 1312 + (size_t)16 * i, 4);
    expect_bytes(&v[87], r + 1568, 4);
    expect_bytes(&v[88], r + 1584, 1024);
    for (unsigned i = 0; i < 11; i++)
        assert_true(v[89 + i].as.u == tl_load64(r + 2608 + 8 * i, false));
    assert_int_equal(v[100].as.u, 256);
    assert_int_equal(xtrace_snapshot_class.nfield, 21);
    tl_batch_fini(&b);
    close_made(in, &t, &m);
}

static void test_limits_of_batches(void **state)
{
    made_snapshots m = make_snapshots(24, 2048, 30);
    tl_store64(made_record(&m, 4) + m.size - 8, 128, false);
    xtrace_snapshots s;
    tl_input *in;
    tl_trace t;
    open_made(&s, &m, m.total, &in, &t);
    tl_batch b = {0}, plain = {0};
    assert_int_equal(tl_batch_init(&plain, &t, &(tl_want){0}, 8, NULL), 0);
    uint64_t at = 0;
    assert_int_equal(xtrace_snapshots_batch(&s, &at, 30, 60, &plain, 0, 0, NULL), 0);
    assert_int_equal(at, 6);
    assert_int_equal(plain.n, 2); /* 30 and 50: damage between them is reported once */
    assert_int_equal(plain.ts[1], 50);
    at = 0;
    assert_int_equal(xtrace_snapshots_batch(&s, &at, 0, UINT64_MAX, &plain, 0, 0, NULL), 0);
    assert_int_equal(plain.n, 8); /* full */
    EXPECT_TOLD(&t, {24 + 4 * 74656, "xtrace.snapshot-vl"});
    assert_int_equal(tl_trace_damage(&t, 0)->bytes, 74656);

    uint32_t events = 0, batches = 0;
    assert_int_equal(tl_batch_init(&b, &t, &(tl_want){.fields = true}, 1024, NULL), 0);
    for (at = 0; at < s.records; batches++) {
        tl_batch_clear(&b);
        assert_int_equal(xtrace_snapshots_batch(&s, &at, 0, UINT64_MAX, &b, 0, 0, NULL), 0);
        assert_true(b.n > 0 && b.n <= 15); /* 1 MiB */
        events += b.n;
    }
    assert_int_equal(events, 29);
    assert_int_equal(batches, 2);

    tl_error e = {0};
    assert_int_equal(xtrace_snapshots_strict(&s, &e), 0); /* all fits */
    at = 4;
    tl_batch_clear(&b);
    assert_int_equal(xtrace_snapshots_batch(&s, &at, 0, UINT64_MAX, &b, 0, 0, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, 24 + 4 * 74656);
    tl_batch_fini(&b);
    tl_batch_fini(&plain);
    close_made(in, &t, &m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_layouts),
        cmocka_unit_test(test_header_is_shown),
        cmocka_unit_test(test_no_records),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_many_records),
        cmocka_unit_test(test_a_record_as_values),
        cmocka_unit_test(test_limits_of_batches),
        cmocka_unit_test(test_one_whole_record),
        cmocka_unit_test_setup_teardown(test_reading_fails, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
