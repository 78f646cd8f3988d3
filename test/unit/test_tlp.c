/* The .tlp format: exact round trips, the documented bytes, and only one way to write a profile. */
#include "random_profile.h"

#include "format/tlp/tlp_layout.h"
#include "function_order.h"
#include "traceloom/source.h"

static void test_probe_looks_at_the_magic_number(void **state)
{
    uint8_t head[16] = TLP_MAGIC;
    tl_probe p = {.head = head, .size = 8, .total = 8};
    assert_int_equal(tl_format_tlp.reader->probe(&p), 64);
    p.size = 7;
    assert_int_equal(tl_format_tlp.reader->probe(&p), 0);
    p.size = sizeof head;
    head[7] = '\r';
    assert_int_equal(tl_format_tlp.reader->probe(&p), 0);
}

/* The example of docs/format/profile.md. */
static void test_bytes_are_as_documented(void **state)
{
    static const uint8_t expected[] = {
        0x8f, 't',  'l',  'p',  'r',  'o', 'f', 0x0a, 1, 0, 1, 0, /* magic, version, flags */
        81,   0,    0,    0,    0,    0,   0,   0,                /* size */
        3,    2,    0,    2,                                      /* strings, functions, threads, places */
        1,    'f',  1,    'g',  3,    't', 's', 'c',              /* strings */
        3,    0x80, 0x94, 0xeb, 0xdc, 3,                          /* clock: tsc, 10^9 Hz */
        0,    0,    1,    0,    2,    0,                          /* build-id, exe, exits, open, lost, damaged */
        0,    2,    1,    0,    0,    0,   0,                     /* function 1: f */
        0,    2,    2,    0,    12,   0,   0,                     /* function 2: g, line 12 */
        0,    0,    0,    1,                                      /* up, functions */
        1,    3,    100,  90,                                     /* calls, totals */
        90,   0,    0,    0,                                      /* total - self, total - outer */
        0,    20,   0,    60,                                     /* mean - min, max - min */
        2,    60,   1,                                            /* buckets of g: 10 twice, once 60 further on */
        0x7c, 0x3f, 0xd9, 0x24,                                   /* checksum */
    };
    tl_profile *p = NULL;
    assert_int_equal(tl_profile_new(&p, &(tl_clock){.name = "tsc", .hz = 1000000000}, NULL), 0);
    uint32_t g = tl_profile_add_function(p, &(tl_function){.id = 2, .name = "g", .line = 12});
    uint32_t f = tl_profile_add_function(p, &(tl_function){.id = 1, .name = "f"});
    uint32_t outer = tl_profile_child(p, 0, f), inner = tl_profile_child(p, outer, g);
    fixture_call(p, outer, 100, 10, true);
    fixture_call(p, inner, 10, 10, true);
    fixture_call(p, inner, 10, 10, true);
    fixture_call(p, inner, 70, 70, true);
    p->unmatched_exits = 1;
    p->lost_events = 2;
    size_t n;
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(n, sizeof expected);
    assert_memory_equal(bytes, expected, n);
    free(bytes);
    tl_profile_free(p);
}

/* The whole contents of a profile, place by place in canonical order. */
static void assert_equal_profiles(const tl_profile *a, const tl_profile *b)
{
    assert_int_equal(a->nplace, b->nplace);
    assert_int_equal(a->nfunction, b->nfunction);
    assert_int_equal(a->ntrack, b->ntrack);
    assert_true(a->clock.hz == b->clock.hz && a->clock.has_utc == b->clock.has_utc);
    assert_true(a->clock.utc_offset_ns == b->clock.utc_offset_ns);
    assert_string_equal(a->clock.name, b->clock.name);
    assert_true(tl_profile_time(a, 123456789) == tl_profile_time(b, 123456789));
    assert_int_equal(a->has_histogram, b->has_histogram);
    assert_int_equal(a->per_thread, b->per_thread);
    assert_true(a->unmatched_exits == b->unmatched_exits && a->unmatched_open == b->unmatched_open);
    assert_true(a->lost_events == b->lost_events && a->damaged_bytes == b->damaged_bytes);
    assert_true(!a->build_id == !b->build_id && !a->exe == !b->exe);
    if (a->build_id)
        assert_string_equal(a->build_id, b->build_id);
    if (a->exe)
        assert_string_equal(a->exe, b->exe);
    uint32_t *oa = calloc(a->nplace, sizeof *oa), *ob = calloc(a->nplace, sizeof *ob);
    assert_int_equal(tl_profile_canonical_order(a, oa, NULL), 0);
    assert_int_equal(tl_profile_canonical_order(b, ob, NULL), 0);
    for (uint32_t i = 1; i < a->nplace; i++) {
        const tl_place *pa = &a->place[oa[i]], *pb = &b->place[ob[i]];
        const tl_place_stat *sa = &a->stat[oa[i]], *sb = &b->stat[ob[i]];
        assert_int_equal(pa->function == TL_NO_FUNCTION, pb->function == TL_NO_FUNCTION);
        if (pa->function == TL_NO_FUNCTION) {
            assert_int_equal(tl_track_compare(&a->track[pa->track], &b->track[pb->track]), 0);
        } else {
            const tl_function *fa = &a->function[pa->function], *fb = &b->function[pb->function];
            assert_int_equal(function_compare(fa, fb), 0);
            assert_true(fa->address == fb->address && !fa->linkage_name == !fb->linkage_name);
        }
        assert_true(sa->calls == sb->calls && sa->total == sb->total && sa->self == sb->self && sa->outer == sb->outer);
        if (!a->has_histogram)
            continue;
        assert_true(sa->min == sb->min && sa->max == sb->max);
        for (uint32_t k = 0; k < TL_HIST_BUCKETS; k++)
            assert_true(tl_hist_get(&sa->hist, k) == tl_hist_get(&sb->hist, k));
    }
    free(oa);
    free(ob);
}

static void test_profiles_come_back_exactly(void **state)
{
    uint64_t seed = 3;
    for (int i = 0; i < 200; i++) {
        size_t n;
        tl_error e = {0};
        tl_profile *p = fixture_random_profile(&seed, i & 1, i & 2), *back = NULL;
        uint8_t *bytes = fixture_save(p, &n);
        must(fixture_load(bytes, n, &back, NULL, &e), &e);
        assert_equal_profiles(p, back);
        assert_same_profile(p, back);
        free(bytes);
        tl_profile_free(p);
        tl_profile_free(back);
    }
}

static void test_the_smallest_and_the_largest_numbers(void **state)
{
    size_t n;
    tl_profile *p = NULL, *back = NULL;
    const tl_clock clock = {.name = "", .hz = UINT64_MAX, .has_utc = true, .utc_offset_ns = INT64_MIN};
    assert_int_equal(tl_profile_new(&p, &clock, NULL), 0);
    const int64_t ids[] = {INT64_MIN, -1, 0, INT64_MAX};
    for (int i = 0; i < 4; i++) {
        tl_function f = {.id = ids[i], .line = UINT32_MAX, .address = UINT64_MAX, .name = "\xff\xfe"};
        uint32_t place = tl_profile_child(p, 0, tl_profile_add_function(p, &f));
        fixture_call(p, place, 0, 0, true);
        fixture_call(p, place, UINT64_MAX, UINT64_MAX, false);
        p->stat[place].self = (uint64_t)i; /* more than total, and less */
    }
    p->unmatched_exits = p->unmatched_open = p->lost_events = p->damaged_bytes = UINT64_MAX;
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(fixture_load(bytes, n, &back, NULL, NULL), 0);
    assert_equal_profiles(p, back);
    free(bytes);
    tl_profile_free(p);
    tl_profile_free(back);
}

static void test_an_empty_profile(void **state)
{
    size_t n;
    tl_profile *p = fixture_new(), *back = NULL;
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(fixture_load(bytes, n, &back, NULL, NULL), 0);
    assert_equal_profiles(p, back);
    free(bytes);
    tl_profile_free(p);
    tl_profile_free(back);
}

static void test_order_of_making_does_not_matter(void **state)
{
    static const char *const stacks[] = {"abc", "a", "cba", "ac", "bb"};
    tl_profile *p[2] = {fixture_new(), fixture_new()};
    for (int i = 0; i < 5; i++) {
        fixture_call(p[0], fixture_place(p[0], 0, stacks[i]), 10 + (uint64_t)i, 1, true);
        fixture_call(p[1], fixture_place(p[1], 0, stacks[4 - i]), 14 - (uint64_t)i, 1, true);
    }
    tl_profile_intern(p[0], "never used");
    assert_same_profile(p[0], p[1]);
    tl_profile_free(p[0]);
    tl_profile_free(p[1]);
}

static void test_opening_describes_the_profile(void **state)
{
    size_t n;
    tl_trace t;
    tl_profile *p = fixture_new(), *back = NULL;
    uint32_t root = tl_profile_thread_root(p, &(tl_track){.name = "thread 1", .has_tid = true, .tid = 1});
    fixture_call(p, fixture_place(p, root, "ab"), 30, 20, true);
    fixture_call(p, fixture_place(p, root, "a"), 50, 20, true);
    p->build_id = tl_profile_intern(p, "c0ffee");
    p->exe = tl_profile_intern(p, "/bin/app");
    p->lost_events = 12;
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(fixture_load(bytes, n, &back, &t, NULL), 0);
    assert_string_equal(tl_trace_version(&t), "1");
    assert_string_equal(tl_trace_byte_order(&t), "little");
    assert_string_equal(tl_trace_clock(&t)->name, "tsc");
    assert_int_equal(tl_trace_clock(&t)->hz, 2000000000);
    assert_string_equal(tl_trace_build_id(&t), "c0ffee");
    assert_string_equal(tl_trace_exe(&t), "/bin/app");
    assert_int_equal(tl_trace_lost_events(&t), 12);
    assert_int_equal(t.profile_threads, 1);
    assert_int_equal(t.profile_paths, 2);
    assert_int_equal(t.profile_calls, 2);
    assert_int_equal(t.profile_self, 40);
    assert_int_equal(tl_format_tlp.reader->streams(NULL), 0);
    tl_trace_fini(&t);
    free(bytes);
    tl_profile_free(p);
    tl_profile_free(back);
}

/* open() decodes the profile, which is given away once; later requests get the same. */
static void test_a_source_gives_its_profile_again_and_again(void **state)
{
    size_t n;
    tl_profile *p = fixture_new(), *first = NULL, *second = NULL;
    tl_source *s = NULL;
    fixture_call(p, fixture_place(p, 0, "a"), 30, 30, true);
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(tl_source_open_memory(&s, bytes, n, "memory.tlp", NULL, NULL), 0);
    assert_int_equal(tl_profile_from_source(&first, s, NULL, NULL), 0);
    assert_int_equal(tl_profile_from_source(&second, s, NULL, NULL), 0);
    tl_source_close(s);
    assert_same_profile(p, first);
    assert_same_profile(p, second);
    free(bytes);
    tl_profile_free(p);
    tl_profile_free(first);
    tl_profile_free(second);
}

static void test_a_histogram_that_contradicts_is_not_written(void **state)
{
    for (int i = 0; i < 4; i++) {
        tl_profile *p = fixture_new();
        uint32_t place = fixture_place(p, 0, "a");
        fixture_call(p, place, 100, 100, true);
        fixture_call(p, place, 5000, 100, true);
        p->stat[place].calls += i == 0;
        p->stat[place].min += i == 1;
        p->stat[place].max *= i == 2 ? 2 : 1;
        if (i == 3)
            assert_true(tl_hist_add_slow(&p->stat[0].hist, 3, 1));
        tl_output *out = NULL;
        tl_error e;
        assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
        const tl_write_context context = {.out = out};
        assert_int_equal(tl_format_tlp.profile_writer->write(&context, p, &e), TL_EINVAL);
        assert_int_equal(tl_output_bytes(out), 0);
        tl_output_close(out);
        tl_profile_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_looks_at_the_magic_number),
        cmocka_unit_test(test_bytes_are_as_documented),
        cmocka_unit_test(test_profiles_come_back_exactly),
        cmocka_unit_test(test_the_smallest_and_the_largest_numbers),
        cmocka_unit_test(test_an_empty_profile),
        cmocka_unit_test(test_order_of_making_does_not_matter),
        cmocka_unit_test(test_opening_describes_the_profile),
        cmocka_unit_test(test_a_source_gives_its_profile_again_and_again),
        cmocka_unit_test(test_a_histogram_that_contradicts_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
