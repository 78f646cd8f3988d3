/* Tests of the walk over packets: where files end, wrong sizes, and hostile files. */
#include "ctf_walk_fixture.h"

/* ---- ends ---- */

static void zeros_behind_the_last_packet(void **state)
{
    for (size_t n = 1; n < 700; n += 53) {
        for (unsigned with = 0; with < 2; with++) {
            fixture *x = start(with ? MADE_ALL : MADE_ALL & ~(MADE_MAGIC | MADE_UUID));
            put(x, (ctf_made_packet){.events = 3});
            const size_t at = x->bytes.n;
            made_zeros(&x->bytes, n);
            walk(x);
            expect(x, 0, 0);
            expect_end(x);
            expect_problems(x, 1);
            const bool header = n < made_header_size(parts) && (n < 4 || !with); /* too short to tell */
            if (header)
                expect_problem(x, 0, "ctf.truncated", x->bytes.n, at, n);
            else
                expect_problem(x, 0, "ctf.padding", at, at, n);
            stop(x);
        }
    }
}

static void garbage_behind_the_last_packet(void **state)
{
    fixture *x = start(MADE_ALL);
    put(x, (ctf_made_packet){.events = 3});
    const size_t at = x->bytes.n;
    made_zeros(&x->bytes, 300);
    made_put(&x->bytes, "x", 1);
    walk(x);
    expect(x, 0, 0);
    expect_end(x);
    expect_problem(x, 0, "ctf.magic", at, at, 301);
    stop(x);
}

/* Cut anywhere, the file still gives the rest of its last packet. */
static void cut_files(void **state)
{
    fixture *whole = start(MADE_ALL);
    put(whole, (ctf_made_packet){.events = 1});
    const size_t last = put(whole, (ctf_made_packet){.events = 10, .padding = 20}), n = whole->bytes.n;
    for (size_t cut = last + 1; cut < n; cut++) {
        fixture *x = start(MADE_ALL);
        made_put(&x->bytes, whole->bytes.data, cut);
        walk(x);
        expect(x, 0, 0);
        if (cut - last < made_header_size(parts)) {
            expect_end(x);
            expect_problem(x, 0, "ctf.truncated", cut, last, cut - last);
            expect_text(x, 0, "inside the packet's header");
        } else {
            expect(x, last, 1);
            assert_true(x->packet.truncated);
            assert_int_equal(x->packet.size, cut - last);
            assert_int_equal(x->packet.content, 8 * (cut < n - 20 ? cut - last : n - 20 - last));
            expect_end(x);
            expect_problem(x, 0, "ctf.truncated", cut, cut, 0);
        }
        expect_problems(x, 1);
        stop(x);
    }
    walk(whole);
    stop(whole);
}

/* A size beyond the end of a file in which more packets follow is wrong, and no sign of a cut. */
static void sizes_that_lie(void **state)
{
    for (unsigned whole = 0; whole < 2; whole++) {
        fixture *x = start(MADE_ALL);
        const size_t a =
            put(x, (ctf_made_packet){.events = 3, .size_error = 1 << 20, .content_error = whole ? 0 : 1 << 19});
        const size_t b = put(x, (ctf_made_packet){.events = 2});
        walk(x);
        if (whole) {
            expect(x, a, 0);
            assert_int_equal(x->packet.size, b - a);
            assert_int_equal(x->packet.content, 8 * (b - a));
            assert_false(x->packet.truncated);
        }
        expect(x, b, 1);
        expect_end(x);
        expect_problems(x, 1);
        expect_problem(x, 0, "ctf.packet-size", a + 56, a, whole ? 0 : b - a);
        stop(x);
    }
}

/* ---- limits ---- */

static uint64_t random_state = 88172645463325252u;

static uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* Whatever the bytes, the walk ends, packets do not overlap, and losses and packets add up to the whole file. */
static void damaged_anyhow_it_adds_up(void **state)
{
    static const unsigned with[] = {MADE_ALL, MADE_ALL & ~MADE_UUID, MADE_ALL & ~MADE_MAGIC,
                                    MADE_ALL & ~(MADE_MAGIC | MADE_UUID | MADE_STREAM)};
    for (unsigned round = 0; round < 4000; round++) {
        fixture *x = start(with[round % 4]);
        for (unsigned i = 0; i < 6; i++)
            put(x, (ctf_made_packet){.events = (unsigned)(random_u64() % 5), .padding = (unsigned)(random_u64() % 40)});
        for (unsigned i = (unsigned)(random_u64() % 4); i > 0; i--)
            x->bytes.data[random_u64() % x->bytes.n] ^= (uint8_t)(1u << random_u64() % 8);
        if (random_u64() % 4 == 0)
            x->bytes.n -= (size_t)(random_u64() % x->bytes.n);
        walk_with(x, 80 + (size_t)(random_u64() % 400));
        uint64_t sum = 0, at = 0;
        tl_error e;
        int status;
        while ((status = ctf_walk_next(&x->walk, &x->packet, &e)) > 0) {
            assert_true(x->packet.offset >= at && x->packet.size > 0);
            assert_true(x->packet.first <= x->packet.content && x->packet.content <= 8 * x->packet.size);
            at = x->packet.offset + x->packet.size;
            sum += x->packet.size;
        }
        assert_int_equal(status, 0);
        for (uint32_t i = 0; i < tl_trace_damages(&x->trace); i++)
            sum += tl_trace_damage(&x->trace, i)->bytes;
        assert_int_equal(sum, x->bytes.n);
        stop(x);
    }
}

/* No problem is reported twice, and none without a list. */
static void reports_only_if_asked(void **state)
{
    fixture *x = start(MADE_ALL);
    put(x, (ctf_made_packet){.magic = 5, .events = 3});
    put(x, (ctf_made_packet){.events = 3});
    walk(x);
    x->walk.report = NULL;
    while (ctf_walk_next(&x->walk, &x->packet, NULL) > 0)
        ;
    expect_problems(x, 0);
    for (unsigned i = 0; i < 3; i++) {
        rewind_walk(x);
        walk(x);
        while (ctf_walk_next(&x->walk, &x->packet, NULL) > 0)
            ;
        expect_problems(x, 1);
    }
    stop(x);
}

/* A file of nothing but magic numbers and uuids, each a candidate, takes only linear time. */
static void hostile_files_end(void **state)
{
    fixture *x = start(MADE_ALL & ~MADE_SIZES);
    parts = MADE_MAGIC | MADE_UUID | MADE_STREAM;
    for (unsigned i = 0; i < 40000; i++)
        put(x, (ctf_made_packet){.stream = 9});
    walk(x);
    expect_end(x);
    assert_int_equal(tl_trace_damage_count(&x->trace), 40000);
    assert_int_equal(tl_trace_damages(&x->trace), TL_DAMAGE_KEPT);
    assert_true(x->walk.work < 16 * x->bytes.n + (64u << 20));
    stop(x);
}

/* Many adjacent headers that claim to be very long: each would have to be read to its end. */
static void long_headers_are_given_up(void **state)
{
    enum { PACKETS = 1 << 17, STEP = 32 };
    fixture *x = start_with(&(ctf_made){.parts = MADE_MAGIC | MADE_UUID, .context = "u32 n; u8 filling[n];"});
    for (unsigned i = 0; i < PACKETS; i++) {
        put(x, (ctf_made_packet){0});
        made_u32(&x->bytes, 0x7fffffff);
        made_zeros(&x->bytes, STEP - 24);
    }
    walk(x);
    expect_end(x);
    const uint64_t found = tl_trace_damage_count(&x->trace);
    assert_true(found > 10 && found < 1000);
    const tl_damage *last = tl_trace_damage(&x->trace, (uint32_t)found - 1);
    assert_int_equal(last->offset + last->bytes, x->bytes.n);
    assert_string_equal(last->rule, "ctf.header");
    stop(x);
}

/* A packet whose context has n bytes without meaning. */
static size_t put_filled(fixture *x, uint32_t n)
{
    const size_t begin = x->bytes.n;
    const uint64_t bits = 8 * (4 + 4 + (uint64_t)n + 16);
    made_u32(&x->bytes, 0xc1fc1fc1);
    made_u32(&x->bytes, n);
    made_zeros(&x->bytes, n);
    made_u64(&x->bytes, bits);
    made_u64(&x->bytes, bits);
    return begin;
}

/* A search for packets looks only at the first 4,096 bytes of a possible header. */
static void long_headers_are_not_found_by_searching(void **state)
{
    for (unsigned more = 0; more < 2; more++) {
        fixture *x = start_with(&(ctf_made){.parts = MADE_MAGIC | MADE_SIZES, .context = "u32 n; u8 filling[n];"});
        made_zeros(&x->bytes, 100);
        made_put(&x->bytes, "x", 1);
        const size_t first = put_filled(x, 4096 - 4 - 4 - 16 + more), second = put_filled(x, 10);
        walk(x);
        expect(x, more ? second : first, 0);
        if (!more)
            expect(x, second, 1);
        expect_end(x);
        expect_problem(x, 0, "ctf.magic", 0, 0, more ? second : first);
        stop(x);
    }
}

static void a_file_that_shrank_is_an_error(void **state)
{
    fixture *x = start(MADE_ALL);
    put(x, (ctf_made_packet){.events = 3, .padding = 1000});
    walk(x);
    x->file.size += 10000;
    tl_error e = {0};
    expect(x, 0, 0);
    assert_int_equal(ctf_walk_next(&x->walk, &x->packet, &e), TL_EIO);
    assert_contains(e.message, "stream: the file changed");
    stop(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_behind_the_last_packet),
        cmocka_unit_test(garbage_behind_the_last_packet),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(sizes_that_lie),
        cmocka_unit_test(damaged_anyhow_it_adds_up),
        cmocka_unit_test(reports_only_if_asked),
        cmocka_unit_test(hostile_files_end),
        cmocka_unit_test(long_headers_are_given_up),
        cmocka_unit_test(long_headers_are_not_found_by_searching),
        cmocka_unit_test(a_file_that_shrank_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
