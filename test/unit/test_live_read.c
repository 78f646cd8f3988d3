/* The reader of recorded profiles: images made like the recorder's, and broken ones. */
#include "live_scenes.h"

#include "scratch.h"
#include "thorough.h"

extern const tl_format tl_format_tlp_live;

static void assert_means(live_image *m)
{
    size_t n, expected_n;
    tl_profile *p = image_read(m, false);
    uint8_t *bytes = fixture_save(p, &n), *expected = image_expected(m, &expected_n);
    assert_int_equal(n, expected_n);
    assert_memory_equal(bytes, expected, n);
    free(bytes);
    free(expected);
    tl_profile_free(p);
}

static void test_probe_looks_at_the_magic_number(void **state)
{
    uint8_t head[16] = LIVE_MAGIC;
    tl_probe p = {.head = head, .size = 8, .total = 8};
    assert_int_equal(tl_format_tlp_live.reader->probe(&p), 64);
    p.size = 7;
    assert_int_equal(tl_format_tlp_live.reader->probe(&p), 0);
    p.size = sizeof head;
    head[7] = '\r';
    assert_int_equal(tl_format_tlp_live.reader->probe(&p), 0);
}

static void test_random_programs_are_read_exactly(void **state)
{
    uint64_t seed = 17;
    for (int i = 0; i < 30; i++) {
        live_image m;
        image_init(&m);
        image_random(&m, &seed, 1 + (uint32_t)i % 9, 3000);
        assert_means(&m);
        image_fini(&m);
    }
}

static void test_an_image_without_threads(void **state)
{
    live_image m;
    image_init(&m);
    assert_means(&m);
    image_fini(&m);
}

static void test_many_threads(void **state)
{
    uint64_t seed = 3;
    live_image m;
    image_init(&m);
    image_random(&m, &seed, 200, 40000);
    assert_means(&m);
    image_fini(&m);
}

static void test_a_deep_stack(void **state)
{
    live_image m;
    scene_deep(&m);
    assert_means(&m);
    image_fini(&m);
}

static void test_counts_beyond_32_bits(void **state)
{
    live_image m;
    scene_many_calls(&m);
    assert_means(&m);
    image_fini(&m);
}

/* Lanes of the same thread are one thread; lanes of several threads are named so, and keep their numbers. */
static void test_lanes_become_threads(void **state)
{
    uint32_t root[6];
    live_image m;
    scene_lanes(&m, root, "noted 50", "thread tid=50 name=noted\n");
    assert_means(&m);
    image_fini(&m);
}

static void test_losses_are_summed_up(void **state)
{
    for (int noted = 0; noted < 2; noted++) {
        live_image m;
        image_init(&m);
        for (uint32_t i = 1; i <= 3; i++) {
            char label[16];
            snprintf(label, sizeof label, "t %u", i);
            scene_losses(&m, image_lane(&m, i, 1, "t", label), i);
        }
        if (noted) /* says more: of threads that had no lane, too */
            image_text(&m, "lost late=10 depth=20 memory=30 disk=4 exits=600 threads=1000\n");
        m.p->lost_events = noted ? 1064 : 60;
        m.p->unmatched_open = 6;
        m.p->unmatched_exits = 600;
        assert_means(&m);
        image_fini(&m);
    }
}

/* Functions whose notes have names need no binary; for others a note says that theirs is missing. */
static void test_names_of_notes(void **state)
{
    for (uint32_t unnamed = 0; unnamed < 2; unnamed++) {
        live_image m;
        tl_source *s = NULL;
        tl_profile *p = NULL;
        image_init(&m);
        image_table(&m, 2, 0, 1000, 0x1000);
        image_text(&m, "function id=5 object=2 address=0x1040 name=_Z1fv\n");
        const uint32_t root = image_lane(&m, 1, 1, "", "thread 1");
        image_call(&m, image_node(&m, root, 5), 10, 0);
        if (unnamed)
            image_call(&m, image_node(&m, root, 6), 10, 0);
        const tl_open_options options = {.no_demangle = true};
        assert_int_equal(tl_source_open_memory(&s, m.bytes, m.size, "image", &options, NULL), 0);
        assert_int_equal(tl_trace_notes(tl_source_trace(s)), unnamed);
        if (unnamed)
            assert_string_equal(tl_trace_note(tl_source_trace(s), 0)->rule, "symbols.missing");
        assert_int_equal(tl_profile_from_source(&p, s, NULL, NULL), 0);
        assert_int_equal(tl_profile_functions(p), 1 + unnamed);
        for (uint32_t i = 0; i <= unnamed; i++) {
            const tl_function *f = tl_profile_get_function(p, i);
            assert_int_equal(f->address, 0x1000 + 16 * (f->id - 1));
            assert_string_equal(f->module, "c0ffee");
            assert_string_equal(f->name, f->id == 5 ? "_Z1fv" : "no such app+0x1050");
        }
        tl_profile_free(p);
        tl_source_close(s);
        image_fini(&m);
    }
}

/* Killed while a call is added: it is in calls and times, but in no histogram. */
static void test_a_call_that_was_being_added(void **state)
{
    live_image m;
    scene_adding(&m);
    assert_means(&m);
    tl_source *source = NULL;
    assert_int_equal(tl_source_open_memory(&source, m.bytes, m.size, "image", NULL, NULL), 0);
    const tl_trace *t = tl_source_trace(source);
    bool told = false;
    for (uint32_t i = 0; i < tl_trace_notes(t); i++)
        told |= strcmp(tl_trace_note(t, i)->rule, "live.unfinished") == 0 &&
                strncmp(tl_trace_note(t, i)->what, "2 calls were being added", 24) == 0;
    assert_true(told);
    tl_source_close(source);
    image_fini(&m);
}

/* ---- damage ---- */

/* A small image to break: threads 1 and 2, each with f, and g below it. */
typedef struct small {
    live_image m;
    uint32_t root[2], f[2], g[2], h; /* h: a sibling of g[0], made after it */
} small;

static void small_init(small *s)
{
    image_init(&s->m);
    image_table(&s->m, 2, 0, 1000, 0x1000);
    for (uint32_t i = 0; i < 2; i++) {
        s->root[i] = image_lane(&s->m, 1 + i, 1, "t", i ? "t 2" : "t 1");
        s->f[i] = image_node(&s->m, s->root[i], 1);
        s->g[i] = image_node(&s->m, s->f[i], 2);
        image_call(&s->m, s->g[i], 10, 0);
        image_call(&s->m, s->f[i], 20, 10);
    }
    s->h = image_node(&s->m, s->f[0], 3);
    image_call(&s->m, s->h, 5, 0);
}

static void expect_damage(small *s, const char *rule, uint32_t places)
{
    tl_source *source = NULL;
    tl_error e = {0};
    must(tl_source_open_memory(&source, s->m.bytes, s->m.size, "image", NULL, &e), &e);
    assert_true(tl_trace_damages(tl_source_trace(source)) > 0);
    assert_string_equal(tl_trace_damage(tl_source_trace(source), 0)->rule, rule);
    tl_source_close(source);
    tl_profile *p = image_read(&s->m, true);
    size_t n;
    assert_int_equal(tl_profile_places(p), places);
    free(fixture_save(p, &n)); /* the rest is still a profile */
    tl_profile_free(p);
    image_fini(&s->m);
}

static void test_references_that_lead_astray(void **state)
{
    enum { ALL = 1 + 2 + 5 };
    small s;
    static const struct {
        uint32_t offset;
        int to; /* 0: f[1], 1: itself, 2: the header, 3: after the end, 4: its root */
        uint32_t places;
    } cases[] = {
        {LIVE_NODE_CHILD, 0, ALL - 2},  {LIVE_NODE_CHILD, 1, ALL - 2}, {LIVE_NODE_CHILD, 2, ALL - 2},
        {LIVE_NODE_CHILD, 3, ALL - 2},  {LIVE_NODE_CHILD, 4, ALL - 2}, {LIVE_NODE_SIBLING, 0, ALL},
        {LIVE_NODE_SIBLING, 1, ALL},    {LIVE_NODE_SIBLING, 4, ALL},   {LIVE_NODE_PARENT, 0, ALL - 3},
        {LIVE_NODE_PARENT, 1, ALL - 3}, {LIVE_NODE_BLOCKS, 3, ALL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        small_init(&s);
        const uint32_t to[] = {s.f[1], s.f[0], 1, (uint32_t)(s.m.size / LIVE_UNIT), s.root[0]};
        put32(&s.m, image_at(s.f[0]) + cases[i].offset, to[cases[i].to]);
        expect_damage(&s, "live.bad-reference", cases[i].places);
    }
}

static void test_chains_that_go_in_circles(void **state)
{
    small s;
    small_init(&s);
    const uint32_t lane = s.root[0] - LIVE_LANE_SIZE / LIVE_UNIT; /* the first one made */
    put32(&s.m, image_at(lane) + LIVE_LANE_NEXT, s.root[1] - LIVE_LANE_SIZE / LIVE_UNIT);
    expect_damage(&s, "live.bad-reference", 1 + 2 + 5);
    small_init(&s);
    put32(&s.m, image_at(s.m.text) + LIVE_TEXT_NEXT, get32(&s.m, LIVE_HEADER_TEXT));
    expect_damage(&s, "live.bad-reference", 1 + 2 + 5);
    small_init(&s);
    const uint32_t table = get32(&s.m, LIVE_HEADER_TABLES);
    put32(&s.m, image_at(table) + LIVE_TABLE_NEXT, table);
    expect_damage(&s, "live.bad-reference", 1 + 2 + 5);
    small_init(&s);
    const uint32_t block = get32(&s.m, image_at(s.f[0]) + LIVE_NODE_BLOCKS);
    put32(&s.m, image_at(block) + LIVE_BLOCK_NEXT, block);
    expect_damage(&s, "live.bad-reference", 1 + 2 + 5);
}

static void test_two_threads_with_one_tree(void **state)
{
    small s;
    small_init(&s);
    put32(&s.m, image_at(s.root[1]) - LIVE_LANE_SIZE + LIVE_LANE_ROOT, s.root[0]);
    expect_damage(&s, "live.bad-reference", 1 + 2 + 3);
    small_init(&s);
    put32(&s.m, image_at(s.root[1]) - LIVE_LANE_SIZE + LIVE_LANE_ROOT, s.f[0]);
    expect_damage(&s, "live.bad-reference", 1 + 2 + 3);
}

static void test_blocks_of_no_buckets(void **state)
{
    small s;
    for (unsigned i = 0; i < 2; i++) {
        small_init(&s);
        const uint32_t block = get32(&s.m, image_at(s.f[0]) + LIVE_NODE_BLOCKS);
        tl_store16(s.m.bytes + image_at(block) + (i ? LIVE_BLOCK_TAG : LIVE_BLOCK_SHIFT), i ? 912 : 16, false);
        expect_damage(&s, "live.bad-block", 1 + 2 + 5);
    }
}

static void test_headers_that_are_refused(void **state)
{
    tl_source *source = NULL;
    tl_error e = {0};
    small s;
    small_init(&s);
    put32(&s.m, LIVE_HEADER_VERSION, 2);
    assert_int_equal(tl_source_open_memory(&source, s.m.bytes, s.m.size, "image", NULL, &e), TL_EUNSUPPORTED);
    assert_int_equal(tl_source_open_memory(&source, s.m.bytes, 100, "image", NULL, &e), 0);
    assert_string_equal(tl_trace_damage(tl_source_trace(source), 0)->rule, "live.truncated");
    tl_source_close(source);
    image_fini(&s.m);
}

/* Reads whatever it is; every profile that comes of it can be written. */
static void read_anything(const uint8_t *bytes, size_t n)
{
    tl_source *s = NULL;
    tl_profile *p = NULL;
    size_t saved;
    if (tl_source_open_memory(&s, bytes, n, "image", NULL, NULL) < 0)
        return;
    if (tl_profile_from_source(&p, s, NULL, NULL) == 0)
        free(fixture_save(p, &saved));
    tl_profile_free(p);
    tl_source_close(s);
}

static void test_cut_images(void **state)
{
    small s;
    small_init(&s);
    for (size_t n = LIVE_HEADER_SIZE - 16; n < s.m.size; n += one_in(5)) {
        uint8_t *exact = malloc(n);
        assert_non_null(exact);
        memcpy(exact, s.m.bytes, n);
        read_anything(exact, n);
        free(exact);
    }
    image_fini(&s.m);
}

static void test_images_with_changed_bits(void **state)
{
    uint64_t seed = 23;
    small s;
    small_init(&s);
    uint8_t *copy = malloc(s.m.size);
    assert_non_null(copy);
    for (int i = 0; i < 6000; i += (int)one_in(6)) {
        memcpy(copy, s.m.bytes, s.m.size);
        for (uint64_t k = 1 + fixture_random(&seed) % 4; k > 0; k--) {
            const uint64_t r = fixture_random(&seed);
            const size_t at = r % 4 ? LIVE_HEADER_SIZE + (size_t)(r >> 8) % (s.m.size - LIVE_HEADER_SIZE)
                                    : LIVE_HEADER_STATE + (size_t)(r >> 8) % 16;
            copy[at] ^= (uint8_t)(1u << (r >> 4) % 8);
        }
        read_anything(copy, s.m.size);
    }
    free(copy);
    image_fini(&s.m);
}

/* ---- files ---- */

static void save(const live_image *m, const char *path, long hole)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(m->bytes, 1, m->size, f), m->size);
    if (hole) {
        assert_int_equal(fseek(f, hole, SEEK_END), 0);
        assert_int_equal(fputc(0, f), 0);
    }
    assert_int_equal(fclose(f), 0);
}

static void test_files_with_holes(void **state)
{
    uint64_t seed = 5;
    size_t n, expected_n;
    live_image m;
    image_init(&m);
    image_random(&m, &seed, 3, 2000);
    save(&m, "app.tlp.live", 1L << 29);
    tl_source *s = NULL;
    tl_profile *p = NULL;
    assert_int_equal(tl_source_open(&s, "app.tlp.live", NULL, NULL), 0);
    assert_int_equal(tl_profile_from_source(&p, s, NULL, NULL), 0);
    uint8_t *bytes = fixture_save(p, &n), *expected = image_expected(&m, &expected_n);
    assert_int_equal(n, expected_n);
    assert_memory_equal(bytes, expected, n);
    free(bytes);
    free(expected);
    tl_profile_free(p);
    tl_source_close(s);
    image_fini(&m);
    scratch_files(1);
}

/* The file grows between open() and read_profile(), with linked nodes after its old end. */
static void test_a_file_that_grows(void **state)
{
    uint64_t seed = 5;
    size_t n, expected_n;
    live_image m;
    image_init(&m);
    put32(&m, LIVE_HEADER_STATE, 0);
    image_random(&m, &seed, 3, 2000);
    save(&m, "app.tlp.live", 0);
    tl_source *s = NULL;
    tl_profile *p = NULL;
    assert_int_equal(tl_source_open(&s, "app.tlp.live", NULL, NULL), 0);
    const uint32_t lane = get32(&m, LIVE_HEADER_LANES), root = get32(&m, image_at(lane) + LIVE_LANE_ROOT);
    for (uint32_t i = 0; i < 1000; i++)
        image_call(&m, image_node(&m, image_node(&m, root, 1), 1 + i), 1000 * (uint64_t)i, 0);
    save(&m, "app.tlp.live", 0);
    assert_int_equal(tl_profile_from_source(&p, s, NULL, NULL), 0);
    assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
    uint8_t *bytes = fixture_save(p, &n), *expected = image_expected(&m, &expected_n);
    assert_int_equal(n > 0 && p->nplace == m.p->nplace, 1);
    for (uint32_t i = 1; i < p->nplace; i++)
        assert_true(p->stat[i].calls == tl_hist_sum(&p->stat[i].hist));
    free(bytes);
    free(expected);
    tl_profile_free(p);
    tl_source_close(s);
    image_fini(&m);
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_looks_at_the_magic_number),
        cmocka_unit_test(test_random_programs_are_read_exactly),
        cmocka_unit_test(test_an_image_without_threads),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_a_deep_stack),
        cmocka_unit_test(test_counts_beyond_32_bits),
        cmocka_unit_test(test_lanes_become_threads),
        cmocka_unit_test(test_losses_are_summed_up),
        cmocka_unit_test(test_names_of_notes),
        cmocka_unit_test(test_a_call_that_was_being_added),
        cmocka_unit_test(test_references_that_lead_astray),
        cmocka_unit_test(test_chains_that_go_in_circles),
        cmocka_unit_test(test_two_threads_with_one_tree),
        cmocka_unit_test(test_blocks_of_no_buckets),
        cmocka_unit_test(test_headers_that_are_refused),
        cmocka_unit_test(test_cut_images),
        cmocka_unit_test(test_images_with_changed_bits),
        cmocka_unit_test_setup_teardown(test_files_with_holes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_file_that_grows, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
