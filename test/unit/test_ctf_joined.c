/* Tests of streams in several files: which files are one stream, the name of its track, and reading in order of
 * time. */
#include "ctf_source.h"
#include "format/ctf/read/ctf_index.h"

#include <inttypes.h>

/* A file of one packet. */
typedef struct made_part {
    const char *name;
    uint64_t instance, begin, end, sequence, discarded;
    uint32_t stream;
    int32_t cpu; /* only without instances */
} made_part;

static const unsigned no_instance = MADE_TIMES | MADE_SIZES | MADE_COUNTERS;

static tl_source *open_parts(ctf_bytes *folder, const ctf_made *how, const made_part *p, size_t n)
{
    const tl_open_options options = {.want = {.fields = true, .cpu = true}};
    made_unit(folder, "", how);
    for (size_t i = 0; i < n; i++) {
        ctf_bytes data = {0};
        ctf_made_packet packet = {.stream = p[i].stream,
                                  .instance = p[i].instance,
                                  .begin = p[i].begin,
                                  .end = p[i].end,
                                  .sequence = p[i].sequence,
                                  .discarded = p[i].discarded,
                                  .events = 2};
        if (how->context) {
            made_u32(&data, (uint32_t)p[i].cpu);
            packet.content_error = packet.size_error = 32;
        }
        made_packet(&data, how->parts, packet);
        made_file(folder, p[i].name, &data);
    }
    return open_made(folder, &options);
}

/* The names of all tracks, in their order. */
static void expect_tracks(const ctf_made *how, const made_part *p, size_t n, const char *expected)
{
    ctf_bytes folder = {0};
    char names[400] = "";
    tl_source *s = open_parts(&folder, how, p, n);
    for (uint32_t i = 0; i < s->trace.ntrack; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "", s->trace.track[i].name);
    assert_string_equal(names, expected);
    assert_int_equal(tl_source_streams(s), s->trace.ntrack);
    assert_int_equal(read_all(s), 2 * n);
    close_made(s, &folder);
}

static const ctf_made usual = {.parts = MADE_ALL, .streams = 2};

/* Reused numbers of files: the last ones in time come first. */
static const made_part wrapped[] = {
    {.name = "s_0_0", .instance = 3, .begin = 50, .end = 55, .sequence = 9, .discarded = 7},
    {.name = "s_0_1", .instance = 3, .begin = 10, .end = 19, .sequence = 4, .discarded = 2},
    {.name = "s_0_2", .instance = 3, .begin = 19, .end = 44, .sequence = 5, .discarded = 2}};

static void one_stream_of_three_files(void **state)
{
    ctf_bytes folder = {0};
    tl_source *s = open_parts(&folder, &usual, wrapped, 3);
    static const uint64_t times[] = {10, 11, 19, 20, 50, 51};
    const tl_batch *b;
    tl_error e;
    assert_int_equal(tl_source_streams(s), 1);
    assert_int_equal(s->trace.ntrack, 1);
    assert_string_equal(s->trace.track[0].name, "0/s_0");
    assert_true(s->trace.track[0].has_range);
    assert_int_equal(s->trace.track[0].begin, 10);
    assert_int_equal(s->trace.track[0].end, 55);
    assert_int_equal(s->trace.lost_packets, 3); /* between the second and the third */
    assert_int_equal(s->trace.lost_events, 5);
    size_t n = 0;
    while (tl_source_next(s, &b, &e) > 0)
        for (uint32_t i = 0; i < b->n; i++, n++) {
            assert_true(n < 6);
            assert_int_equal(b->ts[i], times[n]);
            assert_int_equal(b->track[i], 0);
        }
    assert_int_equal(n, 6);
    assert_int_equal(tl_trace_out_of_order(&s->trace), 0);
    close_made(s, &folder);
}

static void parts_of_the_time(void **state)
{
    for (uint64_t from = 0; from < 60; from++)
        for (uint64_t to = from; to < 62; to++) {
            ctf_bytes folder = {0};
            tl_source *s = open_parts(&folder, &usual, wrapped, 3);
            tl_cursor *c;
            tl_error e;
            static const uint64_t times[] = {10, 11, 19, 20, 50, 51};
            unsigned expected = 0, got = 0;
            for (size_t i = 0; i < 6; i++)
                expected += times[i] >= from && times[i] < to;
            const tl_batch *b;
            assert_int_equal(tl_cursor_open(&c, s, 0, &e), 0);
            assert_int_equal(tl_cursor_limit(c, from, to, &e), 0);
            while (tl_cursor_next(c, &b, &e) > 0)
                for (uint32_t i = 0; i < b->n; i++)
                    got += b->ts[i] >= from && b->ts[i] < to;
            if (got != expected)
                fail_msg("%u events from %" PRIu64 " to %" PRIu64 ", not %u", got, from, to, expected);
            tl_cursor_close(c);
            close_made(s, &folder);
        }
}

static void names(void **state)
{
    static const made_part others[] = {{.name = "b", .instance = 3, .begin = 1, .end = 2, .sequence = 0},
                                       {.name = "a", .instance = 3, .begin = 3, .end = 4, .sequence = 1}};
    static const made_part digits[] = {{.name = "c_10", .instance = 3, .begin = 1, .end = 2, .sequence = 0},
                                       {.name = "c_2", .instance = 3, .begin = 3, .end = 4, .sequence = 1}};
    static const made_part bare[] = {{.name = "_1", .instance = 3, .begin = 1, .end = 2, .sequence = 0},
                                     {.name = "_2", .instance = 3, .begin = 3, .end = 4, .sequence = 1}};
    static const made_part stems[] = {{.name = "c_1", .instance = 3, .begin = 1, .end = 2, .sequence = 0},
                                      {.name = "d_2", .instance = 3, .begin = 3, .end = 4, .sequence = 1}};
    expect_tracks(&usual, others, 2, "0/b"); /* of the first in time */
    expect_tracks(&usual, digits, 2, "0/c");
    expect_tracks(&usual, bare, 2, "0/_1");
    expect_tracks(&usual, stems, 2, "0/c_1");
}

static void what_stays_apart(void **state)
{
    made_part p[3];
    memcpy(p, wrapped, sizeof p);
    p[0].instance = 4;
    expect_tracks(&usual, p, 3, "0/s_0_0 0/s_0");
    memcpy(p, wrapped, sizeof p);
    p[0].stream = 1;
    expect_tracks(&usual, p, 3, "1/s_0_0 0/s_0");
    memcpy(p, wrapped, sizeof p);
    p[1].end = 20; /* continues after the next one begins: then none is believed */
    expect_tracks(&usual, p, 3, "0/s_0_0 0/s_0_1 0/s_0_2");
    memcpy(p, wrapped, sizeof p);
    p[2].end = 0; /* its end is unknown ... */
    expect_tracks(&usual, p, 3, "0/s_0_0 0/s_0_1 0/s_0_2");
    memcpy(p, wrapped, sizeof p);
    p[0].end = 0; /* ... which does not matter for the last one */
    expect_tracks(&usual, p, 3, "0/s_0");
}

/* Packets of two streams in one file. */
static void mixed_files(void **state)
{
    for (int i = 0; i < 3; i++) {
        ctf_bytes folder = {0}, data = {0};
        made_unit(&folder, "", &usual);
        made_packet(&data, MADE_ALL, (ctf_made_packet){.instance = 3, .begin = 1, .end = 2, .sequence = 1});
        made_packet(&data, MADE_ALL,
                    (ctf_made_packet){
                        .instance = 3 + (i == 0), .stream = i == 1, .begin = i == 2 ? 0 : 3, .end = 4, .sequence = 2});
        made_file(&folder, "s_0", &data);
        made_packet(&data, MADE_ALL, (ctf_made_packet){.instance = 3, .begin = 5, .end = 6, .sequence = 3});
        made_file(&folder, "s_1", &data);
        tl_source *s = open_made(&folder, NULL);
        assert_int_equal(tl_source_streams(s), 2);
        assert_int_equal(s->trace.ntrack, i == 1 ? 3 : 2);
        close_made(s, &folder);
    }
}

/* Without the number of the stream, names and processors must identify it. */
static void without_instances(void **state)
{
    static const ctf_made how = {.parts = no_instance, .context = "u32 cpu_id;"};
    static const made_part p[] = {{.name = "c_1_0", .cpu = 1, .begin = 1, .end = 2, .sequence = 4, .discarded = 3},
                                  {.name = "c_1_1", .cpu = 1, .begin = 3, .end = 4, .sequence = 6, .discarded = 5},
                                  {.name = "c_2_0", .cpu = 2, .begin = 5, .end = 6, .sequence = 9, .discarded = 9}};
    ctf_bytes folder = {0};
    tl_source *s = open_parts(&folder, &how, p, 3);
    assert_int_equal(s->trace.lost_packets, 1);
    assert_int_equal(s->trace.lost_events, 2);
    close_made(s, &folder);
    expect_tracks(&how, p, 3, "0/c_1 0/c_2_0");
    made_part q[2];
    memcpy(q, p, sizeof q);
    q[1].cpu = 2;
    expect_tracks(&how, q, 2, "0/c_1_0 0/c_1_1");
    memcpy(q, p, sizeof q);
    q[0].name = "c_0";
    q[1].name = "c_1"; /* these numbers may be those of processors */
    expect_tracks(&how, q, 2, "0/c_0 0/c_1");
    memcpy(q, p, sizeof q);
    q[1].name = "d_1_1";
    expect_tracks(&how, q, 2, "0/c_1_0 0/d_1_1");
    static const ctf_made no_cpu = {.parts = no_instance};
    expect_tracks(&no_cpu, p, 2, "0/c_1_0 0/c_1_1");
}

/* Different folders are different tracks: their paths distinguish them. */
static void other_folders(void **state)
{
    ctf_bytes folder = {0}, data = {0};
    for (unsigned i = 0; i < 2; i++) {
        made_unit(&folder, i ? "2" : "1", &usual);
        made_packet(&data, MADE_ALL, (ctf_made_packet){.instance = 3, .begin = 5 * i, .end = 5 * i + 1, .sequence = i});
        made_file(&folder, i ? "2/s_1" : "1/s_0", &data);
    }
    tl_source *s = open_made(&folder, NULL);
    assert_int_equal(tl_source_streams(s), 2);
    assert_int_equal(s->trace.ntrack, 2);
    close_made(s, &folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stream_of_three_files),
        cmocka_unit_test(parts_of_the_time),
        cmocka_unit_test(names),
        cmocka_unit_test(what_stays_apart),
        cmocka_unit_test(mixed_files),
        cmocka_unit_test(without_instances),
        cmocka_unit_test(other_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
