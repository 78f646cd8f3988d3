/* The .tlp format, version 2: profiles of samples come back exactly, in the documented bytes, written in one way only,
 * and damage is refused. */
#include "random_profile.h"
#include "thorough.h"

#include "base/crc32.h"
#include "base/endian.h"
#include "format/tlp/tlp_layout.h"
#include "function_order.h"

/* Of a few functions with everything that version 2 stores, in random stacks. */
static tl_profile *random_samples(uint64_t *seed, bool per_thread)
{
    static const char *const names[] = {"alpha", "beta", NULL};
    static const char *const libraries[] = {"/a.dll", "/b.dll", NULL};
    tl_profile *p = NULL;
    const tl_clock clock = {.name = "milliseconds", .hz = 1000};
    assert_int_equal(tl_profile_new(&p, &clock, NULL), 0);
    assert_int_equal(tl_profile_make_sampled(p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
    p->per_thread = per_thread;
    for (uint64_t n = fixture_random(seed) % 40; n > 0; n--) {
        uint32_t place = per_thread ? fixture_random_thread(p, seed) : 0;
        for (uint64_t depth = 1 + fixture_random(seed) % 5; depth > 0; depth--) {
            const uint64_t r = fixture_random(seed);
            tl_function f = {.id = (int64_t)(r % 5) - 2, .name = names[r / 5 % 3], .library = libraries[r / 15 % 3]};
            f.flags = (uint32_t)(r / 45 % 8);
            f.renamed = r / 360 % 4 ? NULL : "gamma";
            f.line = (uint32_t)(r / 1440 % 2);
            f.offset = f.flags & TL_FUNCTION_OFFSET ? (uint32_t)(r / 2880 % 3) * 2000000000u : 0;
            place = tl_profile_child(p, place, tl_profile_add_function(p, &f));
            assert_true(place != TL_HASH_NONE);
        }
        for (uint32_t k = 0; k < TL_SAMPLE_WEIGHTS; k++)
            tl_profile_weigh(p, place, k, fixture_random(seed) & 1 ? fixture_duration(seed) : 0);
    }
    p->samples = (tl_sample_counts){fixture_duration(seed), fixture_random(seed) % 9, fixture_duration(seed)};
    p->has_span = fixture_random(seed) & 1;
    p->begin = p->has_span ? fixture_duration(seed) >> 1 : 0;
    p->end = p->has_span ? p->begin + (fixture_duration(seed) >> 1) : 0;
    p->lost_events = fixture_random(seed) % 9;
    assert_int_equal(tl_profile_choose_weight(p, NULL, NULL), 0);
    return p;
}

static void assert_equal_samples(const tl_profile *a, const tl_profile *b)
{
    assert_int_equal(a->nplace, b->nplace);
    assert_int_equal(a->nfunction, b->nfunction);
    assert_int_equal(b->nweight, TL_SAMPLE_WEIGHTS);
    assert_ptr_equal(b->kind, tl_sample_weight);
    assert_false(b->has_histogram);
    assert_int_equal(a->per_thread, b->per_thread);
    assert_memory_equal(&a->samples, &b->samples, sizeof a->samples);
    assert_true(a->has_span == b->has_span && a->begin == b->begin && a->end == b->end);
    uint32_t *oa = calloc(a->nplace, sizeof *oa), *ob = calloc(b->nplace, sizeof *ob);
    assert_int_equal(tl_profile_canonical_order(a, oa, NULL), 0);
    assert_int_equal(tl_profile_canonical_order(b, ob, NULL), 0);
    for (uint32_t i = 1; i < a->nplace; i++) {
        const uint32_t fa = a->place[oa[i]].function, fb = b->place[ob[i]].function;
        tl_stat sa, sb;
        assert_int_equal(fa == TL_NO_FUNCTION, fb == TL_NO_FUNCTION);
        if (fa != TL_NO_FUNCTION)
            assert_int_equal(function_compare(&a->function[fa], &b->function[fb]), 0);
        for (uint32_t k = 0; k < TL_SAMPLE_WEIGHTS; k++)
            assert_true(tl_profile_weight_self(a, oa[i], k) == tl_profile_weight_self(b, ob[i], k));
        tl_profile_stat(a, oa[i], &sa);
        tl_profile_stat(b, ob[i], &sb);
        assert_memory_equal(&sa, &sb, sizeof sa);
    }
    free(oa);
    free(ob);
}

static void test_samples_come_back_exactly(void **state)
{
    uint64_t seed = 5;
    for (int i = 0; i < 200; i++) {
        size_t n;
        tl_profile *p = random_samples(&seed, i & 1);
        uint8_t *bytes = fixture_save(p, &n);
        assert_int_equal(bytes[TLP_OFFSET_VERSION], 2);
        tl_profile *back = fixture_must_load(bytes, n);
        assert_equal_samples(p, back);
        assert_same_profile(p, back);
        free(bytes);
        tl_profile_free(p);
        tl_profile_free(back);
    }
}

/* A file holds all weights, whichever was chosen. */
static void test_the_chosen_weight_is_no_matter(void **state)
{
    uint64_t seed = 6;
    tl_profile *a = random_samples(&seed, false);
    seed = 6;
    tl_profile *b = random_samples(&seed, false);
    assert_int_equal(tl_profile_choose_weight(b, "alloc_space", NULL), 0);
    assert_same_profile(a, b);
    tl_profile_free(a);
    tl_profile_free(b);
}

static void test_merging_what_was_read(void **state)
{
    uint64_t seed = 7;
    for (int i = 0; i < 50; i++) {
        tl_profile *p[2] = {random_samples(&seed, i & 1), random_samples(&seed, i & 1)}, *back[2];
        for (int k = 0; k < 2; k++) {
            size_t n;
            uint8_t *bytes = fixture_save(p[k], &n);
            back[k] = fixture_must_load(bytes, n);
            free(bytes);
        }
        assert_int_equal(tl_profile_merge(p[0], p[1], NULL), 0);
        assert_int_equal(tl_profile_merge(back[1], back[0], NULL), 0);
        assert_same_profile(p[0], back[1]);
        for (int k = 0; k < 2; k++) {
            tl_profile_free(p[k]);
            tl_profile_free(back[k]);
        }
    }
}

/* The second example of docs/format/profile.md. */
static const uint8_t example[] = {
    0x8f, 't',  'l',  'p',  'r', 'o', 'f', 0x0a, 2,   0, 24, 0, /* magic, version, flags: samples, times */
    84,   0,    0,    0,    0,   0,   0,   0,                   /* size */
    4,    2,    0,    2,                                        /* strings, functions, threads, places */
    1,    'L',  1,    'R',  1,   'f', 2,   'm',  's',           /* strings */
    4,    0xe8, 7,    0,    0,   0,   0,   0,    0,             /* clock: ms, 1000 Hz; nothing known, nothing lost */
    6,    2,    9,    20,   100,                             /* 6 samples, 2 with an empty stack, 9 paused; 20 to 120 */
    0,    0,    0,    0,    0,   0,   0,   0,    0,   2,     /* an unknown function */
    0,    10,   3,    0,    0,   0,   0,   1,    2,   5, 16, /* function 0x5: f, of L, later R, at offset 16 */
    0,    0,    1,    0,                                     /* up, functions: f, and ? below it */
    3,    1,    30,   10,                                    /* samples; time */
    0,    64,   0,    1,                                     /* bytes; allocations */
    0x91, 0x65, 0xfb, 0xdf,                                  /* checksum */
};

static void test_bytes_are_as_documented(void **state)
{
    tl_profile *p = NULL;
    assert_int_equal(tl_profile_new(&p, &(tl_clock){.name = "ms", .hz = 1000}, NULL), 0);
    assert_int_equal(tl_profile_make_sampled(p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
    const tl_function known = {.id = 5,
                               .name = "f",
                               .library = "L",
                               .renamed = "R",
                               .flags = TL_FUNCTION_HEX_ID | TL_FUNCTION_OFFSET,
                               .offset = 16};
    const tl_function unknown = {.flags = TL_FUNCTION_UNKNOWN};
    const uint32_t outer = tl_profile_child(p, 0, tl_profile_add_function(p, &known));
    const uint32_t inner = tl_profile_child(p, outer, tl_profile_add_function(p, &unknown));
    static const uint64_t weights[2][4] = {{3, 30, 0, 0}, {1, 10, 64, 1}};
    for (uint32_t k = 0; k < 4; k++) {
        tl_profile_weigh(p, outer, k, weights[0][k]);
        tl_profile_weigh(p, inner, k, weights[1][k]);
    }
    p->samples = (tl_sample_counts){6, 2, 9};
    p->has_span = true;
    p->begin = 20;
    p->end = 120;
    assert_int_equal(tl_profile_choose_weight(p, NULL, NULL), 0);
    size_t n;
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(n, sizeof example);
    assert_memory_equal(bytes, example, n);
    free(bytes);
    tl_profile_free(p);
}

/* Functions may need version 2 in a profile of calls, too. */
static void test_calls_of_functions_with_a_library(void **state)
{
    size_t n;
    tl_profile *p = fixture_new();
    const tl_function f = {.id = 5, .library = "L", .flags = TL_FUNCTION_HEX_ID};
    fixture_call(p, tl_profile_child(p, 0, tl_profile_add_function(p, &f)), 1000, 1000, true);
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(bytes[TLP_OFFSET_VERSION], 2);
    assert_int_equal(bytes[TLP_OFFSET_FLAGS], TLP_HISTOGRAM);
    tl_profile *back = fixture_must_load(bytes, n);
    assert_int_equal(back->nweight, 0);
    assert_string_equal(back->function[0].library, "L");
    assert_int_equal(back->stat[1].max, 1000);
    assert_same_profile(p, back);
    free(bytes);
    tl_profile_free(p);
    tl_profile_free(back);
}

static void test_asking_for_a_version(void **state)
{
    uint64_t seed = 8;
    static const tl_weight other[] = {{"samples", "count"}};
    tl_error e;
    for (int i = 0; i < 4; i++) {
        tl_profile *p = i < 2 ? random_samples(&seed, false) : fixture_new();
        const tl_write_options options = {.version = i % 2 ? "2" : "1"};
        tl_output *out = NULL;
        assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
        const tl_write_context context = {.out = out, .options = &options};
        assert_int_equal(tl_format_tlp.profile_writer->write(&context, p, &e), i == 0 ? TL_EUNSUPPORTED : 0);
        if (i == 1) { /* weights unknown to the format */
            const tl_weight *kind = p->kind;
            p->kind = other;
            p->nweight = 1;
            assert_int_equal(tl_format_tlp.profile_writer->write(&context, p, &e), TL_EUNSUPPORTED);
            p->kind = kind;
            p->nweight = TL_SAMPLE_WEIGHTS;
        }
        tl_output_close(out);
        tl_profile_free(p);
    }
}

static void test_opening_describes_the_samples(void **state)
{
    tl_trace t;
    tl_profile *p = NULL;
    assert_int_equal(fixture_load(example, sizeof example, &p, &t, NULL), 0);
    assert_string_equal(tl_trace_version(&t), "2");
    assert_true(t.profile_sampled);
    assert_int_equal(t.profile_calls, 6);
    assert_int_equal(t.profile_self, 40);
    assert_int_equal(t.profile_paths, 2);
    tl_trace_fini(&t);
    tl_profile_free(p);
}

/* ---- damage ---- */

/* Sets size and checksum, so that only the content can be wrong. */
static void seal(uint8_t *bytes, size_t n)
{
    tl_store64(bytes + TLP_OFFSET_SIZE, n, false);
    tl_store32(bytes + n - 4, tl_crc32(0, bytes, n - 4), false);
}

static void assert_refused(uint8_t *bytes, size_t n, const char *rule, uint64_t offset)
{
    tl_profile *p = NULL;
    tl_error e = {0};
    seal(bytes, n);
    assert_int_equal(fixture_load(bytes, n, &p, NULL, &e), TL_EDAMAGED);
    if (strncmp(e.message, rule, strlen(rule)) != 0)
        fail_msg("expected %s, got: %s", rule, e.message);
    if (e.offset != offset)
        fail_msg("expected offset %d, got %d: %s", (int)offset, (int)e.offset, e.message);
}

/* The example with a byte or two set to something else. */
static void assert_change_refused(size_t at, uint8_t value, size_t also, uint8_t other, const char *rule,
                                  uint64_t offset)
{
    uint8_t bytes[sizeof example];
    memcpy(bytes, example, sizeof bytes);
    bytes[at] = value;
    bytes[also] = other;
    assert_refused(bytes, sizeof bytes, rule, offset);
}

enum { SPAN_AT = 46, UNKNOWN_AT = 47, KNOWN_AT = 57 }; /* in the example: the time, the functions */
enum { FIRST = 0, MAGIC = 0x8f };                      /* no other change */

static void test_damage(void **state)
{
    assert_change_refused(TLP_OFFSET_FLAGS, 24 | TLP_UNWOUND, FIRST, MAGIC, "tlp.bad-flags", TLP_OFFSET_FLAGS);
    assert_change_refused(TLP_OFFSET_FLAGS + 1, 1, FIRST, MAGIC, "tlp.bad-flags", TLP_OFFSET_FLAGS);
    assert_change_refused(TLP_OFFSET_FLAGS, 24 | TLP_HISTOGRAM, FIRST, MAGIC, "tlp.bad-flags", TLP_OFFSET_FLAGS);
    assert_change_refused(TLP_OFFSET_FLAGS, TLP_SPAN, FIRST, MAGIC, "tlp.bad-flags", TLP_OFFSET_FLAGS);
    assert_change_refused(TLP_OFFSET_VERSION, 1, FIRST, MAGIC, "tlp.bad-flags", TLP_OFFSET_FLAGS);
    assert_change_refused(UNKNOWN_AT + 7, 9, FIRST, MAGIC, "tlp.bad-reference", UNKNOWN_AT + 7);
    assert_change_refused(UNKNOWN_AT + 9, 8, FIRST, MAGIC, "tlp.bad-function", UNKNOWN_AT + 9);
    assert_change_refused(KNOWN_AT + 7, 0, FIRST, MAGIC, "tlp.unused-string", TLP_OFFSET_BODY);
    /* Ids shown in hexadecimal come last. */
    assert_change_refused(UNKNOWN_AT + 9, 3, KNOWN_AT + 9, 4, "tlp.bad-order", KNOWN_AT);
}

/* A number of the example becomes 2^64 - 1. */
static void assert_largest_refused(size_t at, const char *rule)
{
    uint8_t bytes[sizeof example + 9];
    memcpy(bytes, example, at);
    memset(bytes + at, 0xff, 9);
    bytes[at + 9] = 1;
    memcpy(bytes + at + 10, example + at + 1, sizeof example - at - 1);
    assert_refused(bytes, sizeof bytes, rule, at);
}

static void test_numbers_that_are_too_large(void **state)
{
    assert_largest_refused(SPAN_AT, "tlp.bad-samples");
    assert_largest_refused(KNOWN_AT + 10, "tlp.bad-function"); /* the offset */
}

static void test_version_2_for_nothing(void **state)
{
    size_t n;
    tl_profile *p = fixture_new();
    uint8_t *bytes = fixture_save(p, &n);
    assert_int_equal(bytes[TLP_OFFSET_VERSION], 1);
    bytes[TLP_OFFSET_VERSION] = 2;
    assert_refused(bytes, n, "tlp.bad-version", TLP_OFFSET_VERSION);
    free(bytes);
    tl_profile_free(p);
}

static void test_cut_and_changed_files(void **state)
{
    uint64_t seed = 9;
    for (int k = 0; k < 4; k++) {
        size_t n, accepted = 0;
        tl_profile *p = random_samples(&seed, k & 1);
        uint8_t *bytes = fixture_save(p, &n);
        for (size_t cut = TLP_LEAST; cut < n; cut += one_in(7)) {
            uint8_t *part = malloc(cut); /* its exact size, for the sanitizer */
            memcpy(part, bytes, cut);
            seal(part, cut);
            assert_false(fixture_accepted(part, cut));
            free(part);
        }
        for (size_t i = TLP_OFFSET_VERSION; i < n - TLP_CHECKSUM_BYTES; i += one_in(7))
            for (int change = 1; change < 256; change += 50) {
                uint8_t was = bytes[i];
                bytes[i] = (uint8_t)(was ^ change);
                seal(bytes, n);
                accepted += fixture_accepted(bytes, n);
                bytes[i] = was;
            }
        assert_true(accepted > 0); /* numbers may change, and come back changed */
        seal(bytes, n);
        assert_true(fixture_accepted(bytes, n));
        free(bytes);
        tl_profile_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_come_back_exactly),
        cmocka_unit_test(test_the_chosen_weight_is_no_matter),
        cmocka_unit_test(test_merging_what_was_read),
        cmocka_unit_test(test_bytes_are_as_documented),
        cmocka_unit_test(test_calls_of_functions_with_a_library),
        cmocka_unit_test(test_asking_for_a_version),
        cmocka_unit_test(test_opening_describes_the_samples),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_numbers_that_are_too_large),
        cmocka_unit_test(test_version_2_for_nothing),
        cmocka_unit_test(test_cut_and_changed_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
