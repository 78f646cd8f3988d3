/* Tests of the index of packets: points and their promises, reading a part of the time, and the index as bytes. */
#include "ctf_source.h"
#include "format/ctf/read/ctf_index.h"

#include <inttypes.h>

static uint64_t random_state = 88172645463325252u;

static uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static uint64_t below(uint64_t n)
{
    return random_u64() % n;
}

static const ctf_reader *reader_of(const tl_source *s)
{
    return s->state;
}

/* A file of n packets: 10 ticks long, 2 events each, one after another. */
static void put_packets(ctf_bytes *folder, const char *name, unsigned parts, unsigned n)
{
    ctf_bytes data = {0};
    for (unsigned i = 0; i < n; i++)
        made_packet(&data, parts, (ctf_made_packet){.begin = 10 * i, .end = 10 * i + 9, .sequence = i, .events = 2});
    made_file(folder, name, &data);
}

static void shares_are_bounded(void **state)
{
    assert_int_equal(ctf_index_share(100, 100), 100);
    assert_int_equal(ctf_index_share(0, 0), CTF_POINTS_LEAST);
    assert_int_equal(ctf_index_share(UINT64_MAX, UINT64_MAX), CTF_POINTS_MAX - 1);
    static const uint64_t totals[] = {1, 65535, 65536, 1 << 20, UINT64_C(1) << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        for (uint64_t parts = 1; parts < 100000; parts = 3 * parts + 1) {
            const uint64_t share = ctf_index_share(totals[i] / parts, totals[i]);
            assert_true(share >= CTF_POINTS_LEAST);
            assert_true(share == CTF_POINTS_LEAST || share * parts <= CTF_POINTS_MAX);
        }
}

static void every_packet_of_a_small_file_is_a_point(void **state)
{
    ctf_bytes folder = {0};
    made_unit(&folder, "", &(ctf_made){.parts = MADE_ALL});
    put_packets(&folder, "s", MADE_ALL, 50);
    tl_source *s = open_made(&folder, NULL);
    const ctf_file *f = &reader_of(s)->file[0];
    assert_true(f->has_begin && !f->regresses);
    assert_int_equal(f->npoint, 50);
    for (uint32_t i = 0; i < 50; i++) {
        assert_int_equal(f->point[i].number, i);
        assert_int_equal(f->point[i].offset, 106 * i);
        assert_int_equal(f->point[i].latest, 10 * i); /* not before its own begin */
    }
    close_made(s, &folder);
}

/* Many packets of one file beside a large one: evenly spaced ones are kept. */
static void points_are_thinned_out(void **state)
{
    ctf_bytes folder = {0}, data = {0};
    made_unit(&folder, "", &(ctf_made){.parts = MADE_ALL});
    made_packet(&data, MADE_ALL, (ctf_made_packet){.padding = 40 << 20});
    made_file(&folder, "large", &data);
    put_packets(&folder, "s", MADE_ALL, 400);
    tl_source *s = open_made(&folder, NULL);
    const ctf_file *f = &reader_of(s)->file[1];
    const uint32_t share = ctf_index_share(f->size, f->size + reader_of(s)->file[0].size);
    assert_true(f->npoint <= share && 2 * f->npoint >= share);
    const uint64_t every = f->point[1].number;
    for (uint32_t i = 0; i < f->npoint; i++) {
        assert_int_equal(f->point[i].number, i * every);
        assert_int_equal(f->point[i].offset, 106 * i * every);
    }
    assert_true((f->npoint + 1) * every >= 400);
    close_made(s, &folder);
}

static void without_times_there_are_no_points(void **state)
{
    const unsigned parts = MADE_ALL & ~MADE_TIMES;
    ctf_bytes folder = {0};
    made_unit(&folder, "", &(ctf_made){.parts = parts});
    put_packets(&folder, "s", parts, 50);
    tl_source *s = open_made(&folder, NULL);
    assert_false(reader_of(s)->file[0].has_begin);
    assert_int_equal(reader_of(s)->file[0].npoint, 0);
    close_made(s, &folder);
}

static void packets_that_go_back_are_known(void **state)
{
    static const struct {
        uint64_t begin[2], end[2];
        bool regresses;
    } cases[] = {{{0, 10}, {9, 20}, false}, {{0, 10}, {10, 20}, false}, {{0, 10}, {11, 20}, true},
                 {{10, 5}, {20, 30}, true}, {{10, 10}, {0, 0}, false},  {{10, 9}, {0, 0}, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ctf_bytes folder = {0}, data = {0};
        made_unit(&folder, "", &(ctf_made){.parts = MADE_ALL});
        for (unsigned k = 0; k < 2; k++)
            made_packet(&data, MADE_ALL, (ctf_made_packet){.begin = cases[i].begin[k], .end = cases[i].end[k]});
        made_file(&folder, "s", &data);
        tl_source *s = open_made(&folder, NULL);
        assert_true(reader_of(s)->file[0].regresses == cases[i].regresses);
        close_made(s, &folder);
    }
}

/* ---- reading a part ---- */

/* A file that no tracer would write: streams that overlap, ends that are missing or wrong. */
static void put_random(ctf_bytes *folder, unsigned parts, unsigned streams)
{
    ctf_bytes data = {0};
    uint64_t now = 0;
    for (unsigned i = 0; i < 60; i++) {
        const unsigned events = (unsigned)below(6);
        ctf_made_packet p = {.stream = (uint32_t)below(streams), .begin = now, .events = events};
        p.end = below(5) == 0 ? 0 : now + events + below(20);
        made_packet(&data, parts, p);
        /* A packet without an end lasts until the next one of its stream begins. */
        now += below(8) == 0 && p.end > 0 && !(parts & MADE_BEGIN_ONLY) ? below(4) : events + below(30);
    }
    made_file(folder, "s", &data);
}

/* Each point is a packet, and no earlier packet has an event later than the point says. */
static void check_points(tl_source *s)
{
    const ctf_file *f = &reader_of(s)->file[0];
    tl_input *in = NULL;
    tl_window window;
    ctf_packet p;
    uint32_t next = 0;
    uint64_t latest = 0;
    assert_int_equal(tl_folder_input(f->folder, f->index, &in, NULL), 0);
    assert_int_equal(tl_window_init(&window, in, 4096, NULL), 0);
    ctf_walk walk = {.file = f, .window = &window};
    while (ctf_walk_next(&walk, &p, NULL) > 0) {
        if (next < f->npoint && f->point[next].offset == p.offset) {
            assert_int_equal(f->point[next].number, p.number);
            assert_true(f->point[next].latest >= latest);
            next++;
        }
        const uint64_t event = p.begin + (p.content - p.first) / 104;
        if (event > p.begin && event - 1 > latest)
            latest = event - 1;
    }
    assert_int_equal(next, f->npoint);
    tl_window_fini(&window);
    tl_input_close(in);
}

/* Sum over the events of a part. */
static uint64_t sum_of(tl_source *s, uint64_t from, uint64_t to, bool limit)
{
    tl_cursor *c = NULL;
    const tl_batch *b;
    uint64_t sum = 0;
    assert_int_equal(tl_cursor_open(&c, s, 0, NULL), 0);
    if (limit)
        assert_int_equal(tl_cursor_limit(c, from, to, NULL), 0);
    while (tl_cursor_next(c, &b, NULL) > 0)
        for (uint32_t i = 0; i < b->n; i++)
            if (b->ts[i] >= from && b->ts[i] < to)
                sum += (b->ts[i] + 1) * (b->track[i] + 1);
    tl_cursor_close(c);
    return sum;
}

static void parts_are_as_in_the_whole(void **state)
{
    for (unsigned round = 0; round < rounds(200); round++) {
        const unsigned streams = 1 + round % 3;
        const unsigned parts = round % 4 == 3 ? MADE_ALL | MADE_BEGIN_ONLY : MADE_ALL;
        ctf_bytes folder = {0};
        made_unit(&folder, "", &(ctf_made){.parts = parts, .streams = streams});
        put_random(&folder, parts, streams);
        tl_source *s = open_made(&folder, NULL);
        assert_int_equal(s->trace.ndamage, 0);
        check_points(s);
        for (unsigned i = 0; i < 20; i++) {
            const uint64_t from = below(1000), to = from + below(300);
            assert_int_equal(sum_of(s, from, to, true), sum_of(s, from, to, false));
        }
        close_made(s, &folder);
    }
}

/* A packet of another stream may begin before one of unknown end is over. */
static void packets_without_end_are_not_passed_over(void **state)
{
    for (uint64_t begin = 0; begin < 2; begin++) {
        ctf_bytes folder = {0}, data = {0};
        made_unit(&folder, "", &(ctf_made){.parts = MADE_ALL, .streams = 2});
        made_packet(&data, MADE_ALL, (ctf_made_packet){.begin = begin, .end = 0, .events = 100});
        for (uint64_t i = 1; i < 20; i++)
            made_packet(&data, MADE_ALL, (ctf_made_packet){.stream = 1, .begin = 10 * i, .end = 10 * i + 5});
        made_file(&folder, "s", &data);
        tl_source *s = open_made(&folder, NULL);
        assert_true(reader_of(s)->file[0].npoint > 10);
        assert_int_equal(sum_of(s, 90, 95, true), sum_of(s, 90, 95, false));
        assert_true(sum_of(s, 90, 95, true) > 0);
        close_made(s, &folder);
    }
}

/* ---- as bytes ---- */

static void *packed(const tl_source *s, size_t *n, ctf_index *x)
{
    const ctf_reader *r = reader_of(s);
    static ctf_span span[2] = {{0, true, 5, 9}, {1, false, 0, 0}};
    *x = (ctf_index){.n = r->nfile, .packets = 7, .lost_events = 8, .lost_packets = UINT64_MAX};
    x->scan = calloc(r->nfile, sizeof *x->scan);
    for (uint32_t i = 0; i < r->nfile; i++)
        x->scan[i] = (ctf_scan){.packets = i,
                                .span = span,
                                .nspan = 2,
                                .point = r->file[i].point,
                                .npoint = r->file[i].npoint,
                                .regresses = i % 2,
                                .has_begin = i < 1,
                                .closed = i < 1,
                                .one_stream = i % 2,
                                .has_instance = i < 1,
                                .instance = UINT64_MAX - i,
                                .cpu = i ? 77 : -1};
    void *data = ctf_index_pack(x, r, n);
    assert_non_null(data);
    return data;
}

static tl_source *open_two(ctf_bytes *folder)
{
    made_unit(folder, "", &(ctf_made){.parts = MADE_ALL, .streams = 2});
    put_packets(folder, "a", MADE_ALL, 5);
    put_packets(folder, "b", MADE_ALL, 3);
    return open_made(folder, NULL);
}

static void bytes_hold_all(void **state)
{
    ctf_bytes folder = {0};
    tl_source *s = open_two(&folder);
    ctf_index x, y;
    size_t n;
    void *data = packed(s, &n, &x);
    assert_true(ctf_index_unpack(&y, reader_of(s), data, n));
    assert_int_equal(y.n, 2);
    assert_int_equal(y.packets, 7);
    assert_int_equal(y.lost_events, 8);
    assert_true(y.lost_packets == UINT64_MAX);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(y.scan[i].packets, i);
        assert_int_equal(y.scan[i].regresses, i % 2);
        assert_int_equal(y.scan[i].has_begin, i < 1);
        assert_int_equal(y.scan[i].closed, i < 1);
        assert_int_equal(y.scan[i].one_stream, i % 2);
        assert_int_equal(y.scan[i].has_instance, i < 1);
        assert_true(y.scan[i].instance == UINT64_MAX - i);
        assert_int_equal(y.scan[i].cpu, i ? 77 : -1);
        assert_int_equal(y.scan[i].nspan, 2);
        assert_int_equal(y.scan[i].span[0].end, 9);
        assert_true(y.scan[i].span[0].has_range && !y.scan[i].span[1].has_range);
        assert_int_equal(y.scan[i].npoint, x.scan[i].npoint);
        assert_memory_equal(y.scan[i].point, x.scan[i].point, x.scan[i].npoint * sizeof(ctf_point));
    }
    ctf_index_fini(&y);
    free(x.scan);
    free(data);
    close_made(s, &folder);
}

static void other_bytes_are_refused(void **state)
{
    ctf_bytes folder = {0};
    tl_source *s = open_two(&folder);
    ctf_index x, y;
    size_t n;
    uint8_t *data = packed(s, &n, &x);
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *exact = malloc(cut + 1);
        memcpy(exact, data, cut);
        exact = realloc(exact, cut ? cut : 1);
        assert_false(ctf_index_unpack(&y, reader_of(s), exact, cut));
        assert_null(y.scan);
        free(exact);
    }
    uint8_t *longer = malloc(n + 1);
    memcpy(longer, data, n);
    longer[n] = 0;
    assert_false(ctf_index_unpack(&y, reader_of(s), longer, n + 1));
    free(longer);
    /* Damaged bytes are refused, or make a usable index. */
    for (unsigned i = 0; i < 100000; i++) {
        const size_t at = (size_t)below(n);
        const uint8_t before = data[at];
        data[at] = (uint8_t)random_u64();
        if (ctf_index_unpack(&y, reader_of(s), data, n))
            for (uint32_t k = 0; k < y.n; k++) {
                for (uint32_t j = 0; j < y.scan[k].npoint; j++)
                    assert_true(y.scan[k].point[j].offset < reader_of(s)->file[k].size);
                for (uint32_t j = 0; j < y.scan[k].nspan; j++)
                    assert_true(y.scan[k].span[j].stream < 2 && y.scan[k].span[j].begin <= y.scan[k].span[j].end);
            }
        ctf_index_fini(&y);
        data[at] = before;
    }
    free(x.scan);
    free(data);
    close_made(s, &folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_bounded),
        cmocka_unit_test(every_packet_of_a_small_file_is_a_point),
        cmocka_unit_test(points_are_thinned_out),
        cmocka_unit_test(without_times_there_are_no_points),
        cmocka_unit_test(packets_that_go_back_are_known),
        cmocka_unit_test(parts_are_as_in_the_whole),
        cmocka_unit_test(packets_without_end_are_not_passed_over),
        cmocka_unit_test(bytes_hold_all),
        cmocka_unit_test(other_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
