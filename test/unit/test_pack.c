/* Tests of base/io/pack.h: packed bytes are unpacked, and what does not fit is reported. */
#include "base/io/pack.h"
#include "base/io/unpack.h"
#include "check.h"

typedef struct bytes {
    const uint8_t *data;
    size_t n;
} bytes;

static int64_t next(void *arg, void *buf, size_t n, tl_error *e)
{
    (void)e;
    bytes *b = arg;
    const size_t some = b->n < n ? b->n : n;
    memcpy(buf, b->data, some);
    b->data += some;
    b->n -= some;
    return (int64_t)some;
}

/* Bytes that repeat themselves, or (chance) do not. */
static uint8_t *make(size_t n, bool chance)
{
    uint8_t *data = malloc(n + 1);
    uint64_t x = 88172645463325252u;
    assert_non_null(data);
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        data[i] = (uint8_t)(chance ? x >> 32 : i / 1000);
    }
    return data;
}

static void there_and_back(tl_codec c, size_t n)
{
    uint8_t *data = make(n, false), *packed = malloc(n + 1000), *again = malloc(n + 1000);
    size_t size = 0, size_again = 0;
    tl_error e = {0};
    tl_unpacked out;
    assert_true(packed && again);
    assert_int_equal(tl_pack(c, 0, data, n, packed, n + 1000, &size, &e), 1);
    assert_true(size > 0 && size <= n + 1000);
    bytes b = {packed, size};
    if (tl_unpack(c, next, &b, 0, n, 16, &out, &e) < 0)
        fail_msg("%zu bytes: %s", n, e.message);
    assert_int_equal(out.n, n);
    assert_memory_equal(out.data, data, n);
    free(out.data);
    /* Fits exactly that much room, with the same bytes; not one byte less. */
    assert_int_equal(tl_pack(c, 0, data, n, again, size, &size_again, &e), 1);
    assert_int_equal(size_again, size);
    assert_memory_equal(again, packed, size);
    memset(again, 0x5a, n + 1000);
    assert_int_equal(tl_pack(c, 0, data, n, again, size - 1, &size_again, &e), 0);
    assert_int_equal(again[size - 1], 0x5a);
    assert_int_equal(tl_pack(c, 0, data, n, again, 0, &size_again, &e), 0);
    free(data);
    free(packed);
    free(again);
}

static void sizes_of(tl_codec c)
{
    static const size_t size[] = {0, 1, 48, 65536, 99999, 100000, 100001, 1000000};
    if (!tl_can_pack(c))
        skip_because("this build lacks the library");
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        there_and_back(c, size[i]);
}

static void gzip(void **state)
{
    sizes_of(TL_CODEC_GZIP);
}

static void bzip2(void **state)
{
    sizes_of(TL_CODEC_BZIP2);
}

static void chance_does_not_shrink(void **state)
{
    static const tl_codec codec[] = {TL_CODEC_GZIP, TL_CODEC_BZIP2};
    enum { N = 200000 };
    uint8_t *data = make(N, true), *packed = malloc(N);
    assert_non_null(packed);
    for (int i = 0; i < 2; i++) {
        size_t size;
        tl_error e;
        if (tl_can_pack(codec[i]))
            assert_int_equal(tl_pack(codec[i], 0, data, N, packed, N - 1, &size, &e), 0);
    }
    free(data);
    free(packed);
}

static void the_host_does_not_show(void **state)
{
    uint8_t packed[100];
    size_t size;
    tl_error e;
    if (!tl_can_pack(TL_CODEC_GZIP))
        skip_because("this build has no zlib");
    assert_int_equal(tl_pack(TL_CODEC_GZIP, 0, "abc", 3, packed, sizeof packed, &size, &e), 1);
    /* No flags, no time, usual compression, unknown system: RFC 1952. */
    static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    assert_memory_equal(packed, head, sizeof head);
}

static void other_codecs(void **state)
{
    uint8_t packed[100];
    size_t size;
    tl_error e;
    assert_false(tl_can_pack(TL_CODEC_NONE));
    assert_false(tl_can_pack(TL_CODEC_ZSTD));
    assert_int_equal(tl_pack(TL_CODEC_ZSTD, 0, "abc", 3, packed, sizeof packed, &size, &e), TL_EUNSUPPORTED);
    assert_string_equal(e.message, "this build has no zstd support");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip),
        cmocka_unit_test(bzip2),
        cmocka_unit_test(chance_does_not_shrink),
        cmocka_unit_test(the_host_does_not_show),
        cmocka_unit_test(other_codecs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
