/* Damaged .tlp files: refused with the right rule and offset; and nothing is accepted that would be written
 * differently. */
#include "random_profile.h"
#include "thorough.h"

#include "base/crc32.h"
#include "base/endian.h"
#include "format/tlp/tlp_layout.h"

/* A file made byte by byte. */
typedef struct maker {
    uint8_t bytes[4096];
    size_t n;
} maker;

static void put(maker *m, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        m->bytes[m->n++] = (uint8_t)(v | 0x80);
    m->bytes[m->n++] = (uint8_t)v;
}

static void put_all(maker *m, const uint64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(m, v[i]);
}
#define PUT(m, ...) put_all(m, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static void put_text(maker *m, const char *s)
{
    put(m, strlen(s));
    memcpy(m->bytes + m->n, s, strlen(s));
    m->n += strlen(s);
}

static void begin(maker *m, unsigned flags)
{
    memcpy(m->bytes, TLP_MAGIC, TLP_MAGIC_BYTES);
    tl_store16(m->bytes + TLP_OFFSET_VERSION, TLP_VERSION, false);
    tl_store16(m->bytes + TLP_OFFSET_FLAGS, (uint16_t)flags, false);
    m->n = TLP_OFFSET_BODY;
}

/* Sets size and checksum, so that only the content can be wrong. */
static void seal(uint8_t *bytes, size_t n)
{
    tl_store64(bytes + TLP_OFFSET_SIZE, n, false);
    tl_store32(bytes + n - 4, tl_crc32(0, bytes, n - 4), false);
}

static void finish(maker *m)
{
    m->n += TLP_CHECKSUM_BYTES;
    seal(m->bytes, m->n);
}

/* The clock "t" at 5 Hz is string 2 of "f" and "t"; nothing is lost. */
static void put_head(maker *m, uint64_t functions, uint64_t threads, uint64_t places)
{
    PUT(m, 2, functions, threads, places);
    put_text(m, "f");
    put_text(m, "t");
    PUT(m, 2, 5, 0, 0, 0, 0, 0, 0);
}

static void test_other_versions(void **state)
{
    size_t n;
    tl_error e;
    tl_profile *p = fixture_new();
    const tl_write_options options = {.version = "3"};
    const tl_write_context context = {.options = &options};
    assert_int_equal(tl_format_tlp.profile_writer->write(&context, p, &e), TL_EUNSUPPORTED);
    uint8_t *bytes = fixture_save(p, &n);
    bytes[TLP_OFFSET_VERSION] = 3;
    assert_int_equal(fixture_load(bytes, n, &p, NULL, &e), TL_EDAMAGED); /* a flipped bit is not a newer version */
    seal(bytes, n);
    assert_int_equal(fixture_load(bytes, n, &p, NULL, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "version 3");
    free(bytes);
    tl_profile_free(p);
}

static void assert_refused(const uint8_t *bytes, size_t n, uint64_t offset, const char *rule)
{
    tl_profile *p = NULL;
    tl_error e = {0};
    assert_int_equal(fixture_load(bytes, n, &p, NULL, &e), TL_EDAMAGED);
    if (strncmp(e.message, rule, strlen(rule)) != 0 || e.message[strlen(rule)] != ':')
        fail_msg("expected %s, got: %s", rule, e.message);
    if (e.offset != offset)
        fail_msg("expected offset %d, got %d: %s", (int)offset, (int)e.offset, e.message);
    assert_null(p);
}

static void test_damage_outside_the_body(void **state)
{
    maker m;
    tl_error e;
    tl_profile *p = NULL;
    begin(&m, TLP_HISTOGRAM);
    put_head(&m, 1, 0, 1);
    PUT(&m, 0, 0, 1, 0, 0, 0, 0);
    PUT(&m, 0, 0, 1, 9, 0, 0, 0, 0);
    finish(&m);
    assert_int_equal(fixture_load(m.bytes, m.n, &p, NULL, &e), 0); /* correct like this */
    tl_profile_free(p);
    p = NULL;
    assert_refused(m.bytes, 12, 12, "tlp.truncated");
    assert_refused(m.bytes, m.n - 1, m.n - 1, "tlp.truncated");
    m.bytes[m.n] = 0;
    assert_refused(m.bytes, m.n + 1, m.n, "tlp.too-long");
    m.bytes[TLP_OFFSET_FLAGS] ^= 2;
    assert_refused(m.bytes, m.n, m.n - 4, "tlp.checksum");
    m.bytes[TLP_OFFSET_FLAGS] ^= 2 | 8;
    seal(m.bytes, m.n);
    assert_refused(m.bytes, m.n, TLP_OFFSET_FLAGS, "tlp.bad-flags");
    tl_store64(m.bytes + TLP_OFFSET_SIZE, 3, false);
    assert_refused(m.bytes, m.n, TLP_OFFSET_SIZE, "tlp.bad-size");
    assert_int_equal(fixture_load((const uint8_t *)"", 0, &p, NULL, &e), TL_EFORMAT);
    assert_int_equal(fixture_load((const uint8_t *)"not a profile but text", 22, &p, NULL, &e), TL_EFORMAT);
    assert_int_equal(e.offset, 0);
}

/* Each case: numbers of a body that break one rule, and where. */
static void test_damage_in_counts_and_strings(void **state)
{
    maker m;
    begin(&m, 0);
    PUT(&m, 100, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, 20, "tlp.bad-count");

    begin(&m, 0);
    PUT(&m, 0, 0, UINT64_MAX, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, 22, "tlp.bad-count");

    begin(&m, 0);
    PUT(&m, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0); /* two places need 12 bytes */
    finish(&m);
    assert_refused(m.bytes, m.n, 23, "tlp.bad-count");

    begin(&m, 0);
    PUT(&m, 0, 0, 1, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, 24, "tlp.bad-thread"); /* not per thread */

    begin(&m, 0);
    PUT(&m, 1, 0, 0, 0, 9, 'x');
    finish(&m);
    assert_refused(m.bytes, m.n, 24, "tlp.bad-string");

    begin(&m, 0);
    PUT(&m, 1, 0, 0, 0, 2, 'x', 0);
    finish(&m);
    assert_refused(m.bytes, m.n, 24, "tlp.bad-string");

    begin(&m, 0);
    PUT(&m, 2, 0, 0, 0, 1, 'x', 1, 'x');
    finish(&m);
    assert_refused(m.bytes, m.n, 26, "tlp.bad-order");

    begin(&m, 0);
    PUT(&m, 1, 0, 0, 0, 1, 'x', 2);
    finish(&m);
    assert_refused(m.bytes, m.n, 26, "tlp.bad-reference");

    begin(&m, 0);
    PUT(&m, 1, 0, 0, 0, 1, 'x', 0, 0, 0, 0, 0, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, 20, "tlp.unused-string");
}

static void test_damage_in_numbers(void **state)
{
    maker m;
    begin(&m, 0);
    PUT(&m, 0, 0, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, 25, "tlp.ended");

    begin(&m, 0);
    PUT(&m, 0, 0, 0, 0, 0);
    m.bytes[m.n++] = 0x80;
    m.bytes[m.n++] = 0x80;
    finish(&m);
    assert_refused(m.bytes, m.n, 25, "tlp.ended");

    begin(&m, 0);
    PUT(&m, 0, 0, 0, 0, 0);
    m.bytes[m.n++] = 0x80;
    m.bytes[m.n++] = 0; /* 0 in two bytes */
    PUT(&m, 0, 0, 0, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, 25, "tlp.bad-number");

    begin(&m, 0);
    PUT(&m, 0, 0, 0, 0, 0);
    memset(m.bytes + m.n, 0xff, 9);
    m.bytes[m.n + 9] = 2; /* 2^64 or more */
    m.n += 10;
    PUT(&m, 0, 0, 0, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, 25, "tlp.bad-number");

    begin(&m, 0);
    PUT(&m, 0, 0, 0, 0, 0, UINT64_MAX, 0, 0, 0, 0, 0, 0, 1);
    finish(&m);
    assert_refused(m.bytes, m.n, m.n - 5, "tlp.left-over");
}

static void test_damage_in_functions_and_threads(void **state)
{
    maker m;
    begin(&m, 0);
    put_head(&m, 1, 0, 0);
    size_t at = m.n;
    PUT(&m, 0, 0, 1, 0, (uint64_t)1 << 32, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-function");

    begin(&m, 0);
    put_head(&m, 2, 0, 0);
    PUT(&m, 0, 6, 1, 0, 0, 0, 0);
    at = m.n;
    PUT(&m, 0, 0, 1, 0, 0, 16, 0); /* the address does not distinguish functions */
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-order");

    begin(&m, 0);
    put_head(&m, 2, 0, 0);
    PUT(&m, 0, 6, 1, 0, 0, 0, 0);
    at = m.n;
    PUT(&m, 0, 1, 1, 0, 0, 0, 0); /* id 2 after 3 */
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-order");

    begin(&m, TLP_PER_THREAD);
    put_head(&m, 0, 1, 1);
    at = m.n;
    PUT(&m, 4, 1, 0, 0, 0, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-thread");

    begin(&m, TLP_PER_THREAD);
    put_head(&m, 0, 2, 2);
    PUT(&m, 2, 8, 1);
    at = m.n;
    PUT(&m, 2, 8, 1);
    PUT(&m, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-order");

    begin(&m, TLP_PER_THREAD);
    put_head(&m, 0, 2, 2);
    PUT(&m, 2, 8, 1);
    at = m.n;
    PUT(&m, 2, 6, 1);
    PUT(&m, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-order");
}

static void test_damage_in_the_tree(void **state)
{
    maker m;
    begin(&m, 0);
    put_head(&m, 1, 0, 2);
    PUT(&m, 0, 0, 1, 0, 0, 0, 0);
    PUT(&m, 0);
    size_t at = m.n;
    PUT(&m, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0); /* only one level up is the root */
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-tree");

    begin(&m, 0);
    put_head(&m, 1, 0, 2);
    PUT(&m, 0, 0, 1, 0, 0, 0, 0);
    PUT(&m, 0, 1, 0);
    at = m.n;
    PUT(&m, 0, 0, 0, 0, 0, 0, 0, 0, 0); /* a sibling of the only function */
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-tree");

    begin(&m, TLP_PER_THREAD);
    put_head(&m, 0, 2, 1);
    PUT(&m, 0, 0, 0, 1);
    PUT(&m, 0, 0);
    at = m.n;
    PUT(&m, 0, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-tree"); /* a thread without a tree */

    begin(&m, TLP_PER_THREAD);
    put_head(&m, 0, 2, 1);
    PUT(&m, 0, 0, 0, 1);
    PUT(&m, 0);
    at = m.n;
    PUT(&m, 1, 0, 0, 0, 0);
    finish(&m);
    assert_refused(m.bytes, m.n, at, "tlp.bad-tree"); /* the second one first */
}

/* One place of one function with `calls` calls of `total` ticks, then what is given. */
static size_t put_one_place(maker *m, uint64_t calls, uint64_t total)
{
    begin(m, TLP_HISTOGRAM);
    put_head(m, 1, 0, 1);
    PUT(m, 0, 0, 1, 0, 0, 0, 0);
    PUT(m, 0, 0, calls, total, 0, 0);
    return m->n;
}

static void test_damage_in_histograms(void **state)
{
    maker m;
    size_t at = put_one_place(&m, 2, 20);
    PUT(&m, 11, 5); /* the mean is 10: the shortest call would be -1, which is 2^64 - 1 */
    finish(&m);
    assert_refused(m.bytes, m.n, at + 1, "tlp.bad-histogram");

    at = put_one_place(&m, 3, 30);
    PUT(&m, 5, 10, 2, 11, 1); /* beyond the bucket of the longest call */
    finish(&m);
    assert_refused(m.bytes, m.n, at + 2, "tlp.bad-histogram");

    at = put_one_place(&m, 3, 30);
    PUT(&m, 5, 10, 2, 0, 1);
    finish(&m);
    assert_refused(m.bytes, m.n, at + 2, "tlp.bad-histogram");

    at = put_one_place(&m, 3, 30);
    PUT(&m, 5, 10, 1, 10, 1); /* two calls of three */
    finish(&m);
    assert_refused(m.bytes, m.n, at + 2, "tlp.bad-histogram");

    at = put_one_place(&m, 3, 30);
    PUT(&m, 5, 10, 3, 10, 0); /* an empty bucket */
    finish(&m);
    assert_refused(m.bytes, m.n, at + 2, "tlp.bad-histogram");

    put_one_place(&m, 3, 30);
    PUT(&m, 5, 10, 2, 10, 1);
    finish(&m);
    tl_profile *p = NULL;
    assert_int_equal(fixture_load(m.bytes, m.n, &p, NULL, NULL), 0);
    assert_int_equal(p->stat[1].min, 5);
    assert_int_equal(p->stat[1].max, 15);
    assert_int_equal(tl_hist_get(&p->stat[1].hist, 5), 2);
    tl_profile_free(p);
}

static void test_every_truncation_is_refused(void **state)
{
    uint64_t seed = 11;
    size_t n;
    tl_profile *p = fixture_random_profile(&seed, true, true);
    uint8_t *bytes = fixture_save(p, &n);
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *part = malloc(cut + 1); /* its exact size, for the sanitizer */
        memcpy(part, bytes, cut);
        assert_false(fixture_accepted(part, cut));
        if (cut >= TLP_LEAST) {
            seal(part, cut); /* and once more as if it were whole */
            assert_false(fixture_accepted(part, cut));
        }
        free(part);
    }
    free(bytes);
    tl_profile_free(p);
}

static void test_every_changed_byte_is_noticed(void **state)
{
    uint64_t seed = 12;
    for (int k = 0; k < 2; k++) {
        size_t n, accepted = 0;
        tl_profile *p = fixture_random_profile(&seed, k == 0, true);
        uint8_t *bytes = fixture_save(p, &n);
        for (size_t i = 0; i < n; i += one_in(7)) {
            uint8_t was = bytes[i];
            for (int change = 1; change < 256; change += 36) {
                bytes[i] = (uint8_t)(was ^ change);
                assert_false(fixture_accepted(bytes, n));
                if (i >= TLP_OFFSET_SIZE + 8 && i < n - TLP_CHECKSUM_BYTES) {
                    seal(bytes, n); /* a right checksum: then only the content counts */
                    accepted += fixture_accepted(bytes, n);
                    tl_store32(bytes + n - 4, 0, false);
                    bytes[i] = was;
                    seal(bytes, n);
                }
            }
            bytes[i] = was;
        }
        assert_true(accepted > 0); /* numbers may change, and come back changed */
        assert_true(fixture_accepted(bytes, n));
        free(bytes);
        tl_profile_free(p);
    }
}

static void test_random_bodies(void **state)
{
    uint64_t seed = 13;
    unsigned accepted[2] = {0};
    for (int i = 0; i < 10000; i++) {
        const bool sound = i % 2; /* a tree of one place, but for some of the numbers */
        maker m;
        begin(&m, (unsigned)(fixture_random(&seed) % (sound ? 2 : 8)));
        if (sound) {
            put_head(&m, 1, 0, 1);
            PUT(&m, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1);
        }
        for (uint64_t n = sound ? 5 + fixture_random(&seed) % 2 : fixture_random(&seed) % 60; n > 0; n--)
            put(&m, fixture_random(&seed) % 8 ? fixture_random(&seed) % 4 : fixture_duration(&seed));
        finish(&m);
        accepted[sound] += fixture_accepted(m.bytes, m.n);
    }
    assert_in_range(accepted[1], 50, 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_damage_outside_the_body),
        cmocka_unit_test(test_damage_in_counts_and_strings),
        cmocka_unit_test(test_damage_in_numbers),
        cmocka_unit_test(test_damage_in_functions_and_threads),
        cmocka_unit_test(test_damage_in_the_tree),
        cmocka_unit_test(test_damage_in_histograms),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_every_changed_byte_is_noticed),
        cmocka_unit_test(test_random_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
