/* Tests of the walk over packets: which are found, reports about unusable ones, and where it continues. */
#include "ctf_walk_fixture.h"

/* ---- good files ---- */

static void packets_one_after_another(void **state)
{
    static const size_t rooms[] = {80, 81, 128, 512, 65536}; /* also ones that must grow */
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        fixture *x = start(MADE_ALL);
        const size_t a = put(x, (ctf_made_packet){.begin = 5, .end = 9, .events = 3, .padding = 100});
        const size_t b =
            put(x, (ctf_made_packet){.begin = 10, .end = 12, .sequence = 1, .discarded = 7, .instance = 4});
        const size_t c = put(x, (ctf_made_packet){.begin = 20, .end = 30, .events = 1});
        walk_with(x, rooms[i]);
        expect(x, a, 0);
        assert_int_equal(x->packet.size, b - a);
        assert_int_equal(x->packet.content, 8 * (b - a - 100));
        assert_int_equal(x->packet.first, 8 * made_header_size(parts));
        assert_true(x->packet.has_begin && x->packet.has_end && !x->packet.truncated);
        assert_int_equal(x->packet.begin, 5);
        assert_int_equal(x->packet.end, 9);
        expect(x, b, 1);
        assert_int_equal(x->packet.sequence, 1);
        assert_int_equal(x->packet.discarded, 7);
        assert_int_equal(x->packet.instance, 4);
        assert_int_equal(x->packet.discarded_bits, 64);
        expect(x, c, 2);
        expect_end(x);
        expect_problems(x, 0);
        stop(x);
    }
}

static void nothing_has_no_packets(void **state)
{
    fixture *x = start(MADE_ALL);
    walk(x);
    expect_end(x);
    stop(x);
}

static void without_sizes_the_file_is_one_packet(void **state)
{
    fixture *x = start(MADE_ALL & ~MADE_SIZES);
    put(x, (ctf_made_packet){.events = 1000});
    walk(x);
    expect(x, 0, 0);
    assert_int_equal(x->packet.size, x->bytes.n);
    assert_int_equal(x->packet.content, 8 * x->bytes.n);
    expect_end(x);
    expect_problems(x, 0);
    stop(x);
}

/* Producers that claim little-endian and write the other order, or the reverse. */
static void magic_in_either_byte_order(void **state)
{
    fixture *x = start(MADE_ALL);
    const size_t a = put(x, (ctf_made_packet){.magic = 0xc11ffcc1, .events = 1});
    const size_t b = put(x, (ctf_made_packet){.events = 1});
    walk(x);
    expect(x, a, 0);
    expect(x, b, 1);
    expect_end(x);
    expect_problems(x, 0);
    stop(x);
}

/* ---- bad headers ---- */

static void bad_magic_is_skipped_to_the_next(void **state)
{
    fixture *x = start(MADE_ALL);
    const size_t a = put(x, (ctf_made_packet){.events = 3});
    const size_t bad = put(x, (ctf_made_packet){.magic = 0xdeadbeef, .events = 30});
    const size_t c = put(x, (ctf_made_packet){.events = 2});
    walk(x);
    expect(x, a, 0);
    expect(x, c, 1);
    expect_end(x);
    expect_problems(x, 1);
    expect_problem(x, 0, "ctf.magic", bad, bad, c - bad);
    expect_text(x, 0, "packet 1, bit 0: magic number 0xdeadbeef, expected 0xc1fc1fc1");
    stop(x);
}

static void wrong_uuid_is_skipped(void **state)
{
    fixture *x = start(MADE_ALL);
    const size_t bad = put(x, (ctf_made_packet){.other_uuid = true, .events = 9});
    const size_t b = put(x, (ctf_made_packet){.events = 2});
    walk(x);
    expect(x, b, 1);
    expect_end(x);
    expect_problems(x, 1);
    expect_problem(x, 0, "ctf.uuid", bad + 4, bad, b - bad);
    expect_text(x, 0, "packet 0, bit 32: ");
    stop(x);
}

static void unknown_stream_class_is_skipped(void **state)
{
    fixture *x = start(MADE_ALL);
    const size_t a = put(x, (ctf_made_packet){.events = 1});
    const size_t bad = put(x, (ctf_made_packet){.stream = 77, .events = 9});
    const size_t c = put(x, (ctf_made_packet){.events = 2});
    walk(x);
    expect(x, a, 0);
    expect(x, c, 2);
    expect_end(x);
    expect_problem(x, 0, "ctf.stream-class", bad + 20, bad, c - bad);
    expect_text(x, 0, "stream class 77");
    stop(x);
}

static void impossible_sizes_are_skipped(void **state)
{
    static const struct {
        int64_t content, size; /* added, in bits */
        size_t at;             /* bytes from the packet */
    } cases[] = {
        {0, 4, 56},             /* no whole bytes */
        {0, -8 * 100, 56},      /* smaller than the header */
        {8 * 40, 0, 48},        /* content larger than the packet */
        {-8 * 80 - 1, 0, 48},   /* content smaller than the header */
        {0, -8 * (80 + 78), 56} /* zero */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture *x = start(MADE_ALL);
        const size_t bad =
            put(x, (ctf_made_packet){.events = 6, .content_error = cases[i].content, .size_error = cases[i].size});
        const size_t b = put(x, (ctf_made_packet){.events = 2});
        walk(x);
        expect(x, b, 1);
        expect_end(x);
        expect_problems(x, 1);
        expect_problem(x, 0, "ctf.packet-size", bad + cases[i].at, bad, b - bad);
        stop(x);
    }
}

/* A magic number in the data of events does not mislead the search: the uuid is missing. */
static void search_wants_the_uuid(void **state)
{
    fixture *x = start(MADE_ALL);
    const size_t bad = put(x, (ctf_made_packet){.magic = 1});
    for (unsigned i = 0; i < 100; i++) {
        made_u32(&x->bytes, 0xc1fc1fc1);
        made_put(&x->bytes, ctf_made_uuid, i % 15);
    }
    const size_t b = put(x, (ctf_made_packet){.events = 2});
    walk(x);
    expect(x, b, 0);
    expect_end(x);
    expect_problem(x, 0, "ctf.magic", bad, bad, b - bad);
    stop(x);
}

/* If headers have no uuid, a packet found by searching must be entirely right. */
static void search_without_uuid_wants_a_good_header(void **state)
{
    fixture *x = start(MADE_ALL & ~MADE_UUID);
    put(x, (ctf_made_packet){.magic = 1});
    put(x, (ctf_made_packet){.stream = 3, .events = 1});
    put(x, (ctf_made_packet){.content_error = 8000, .events = 1});
    const size_t d = put(x, (ctf_made_packet){.events = 2});
    walk(x);
    expect(x, d, 0);
    expect_end(x);
    expect_problems(x, 1);
    expect_problem(x, 0, "ctf.magic", 0, 0, d);
    stop(x);
}

/* The size of a bad packet is believed if it leads to a packet, even past magic numbers of others. */
static void believed_sizes_are_not_searched(void **state)
{
    fixture *x = start(MADE_ALL);
    const size_t bad = put(x, (ctf_made_packet){.content_error = 1 << 20, .padding = 500});
    uint8_t *inside = x->bytes.data + bad + 200; /* what looks like a packet, in its padding */
    memcpy(inside, x->bytes.data, 32);
    const size_t b = put(x, (ctf_made_packet){.events = 2});
    walk(x);
    expect(x, b, 1);
    expect_end(x);
    expect_problem(x, 0, "ctf.packet-size", bad + 48, bad, b - bad);
    stop(x);
}

static void without_magic_the_rest_is_lost(void **state)
{
    fixture *x = start(MADE_ALL & ~MADE_MAGIC);
    const size_t a = put(x, (ctf_made_packet){.events = 3});
    const size_t bad = put(x, (ctf_made_packet){.other_uuid = true, .events = 1, .size_error = 8});
    put(x, (ctf_made_packet){.events = 2});
    walk(x);
    expect(x, a, 0);
    expect_end(x);
    expect_problems(x, 1);
    expect_problem(x, 0, "ctf.uuid", bad, bad, x->bytes.n - bad);
    stop(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_one_after_another),
        cmocka_unit_test(nothing_has_no_packets),
        cmocka_unit_test(without_sizes_the_file_is_one_packet),
        cmocka_unit_test(magic_in_either_byte_order),
        cmocka_unit_test(bad_magic_is_skipped_to_the_next),
        cmocka_unit_test(wrong_uuid_is_skipped),
        cmocka_unit_test(unknown_stream_class_is_skipped),
        cmocka_unit_test(impossible_sizes_are_skipped),
        cmocka_unit_test(search_wants_the_uuid),
        cmocka_unit_test(search_without_uuid_wants_a_good_header),
        cmocka_unit_test(believed_sizes_are_not_searched),
        cmocka_unit_test(without_magic_the_rest_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
