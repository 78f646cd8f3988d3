/* Tests of base/io/unpack.h: limits, pieces, failing sources. The formats' own tests use whole and damaged data. */
#include <stdbool.h>

#include "base/compiler.h"
#include "base/io/unpack.h"
#include "check.h"

#ifdef TL_HAVE_ZLIB
#include <zlib.h>
#endif

/* Compressed bytes that come in pieces; fails at `fail_at`. */
typedef struct pieces {
    const uint8_t *data;
    size_t n, at, piece, fail_at;
} pieces;

static TL_UNUSED int64_t next(void *arg, void *buf, size_t n, tl_error *e)
{
    pieces *p = arg;
    size_t some = p->n - p->at < p->piece ? p->n - p->at : p->piece;
    if (p->at >= p->fail_at)
        return tl_fail(e, TL_EIO, p->at, "the source fails");
    some = some < n ? some : n;
    memcpy(buf, p->data + p->at, some);
    p->at += some;
    return (int64_t)some;
}

#ifdef TL_HAVE_ZLIB
/* `n` times a byte that changes rarely, as gzip; belongs to the caller. */
static uint8_t *make_gzip(size_t n, size_t *size)
{
    uint8_t *plain = malloc(n + 1), *packed = malloc(n / 2 + 1000);
    assert_true(plain && packed);
    for (size_t i = 0; i < n; i++)
        plain[i] = (uint8_t)(i >> 8);
    z_stream z = {.next_in = plain, .avail_in = (uInt)n, .next_out = packed, .avail_out = (uInt)(n / 2 + 1000)};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *size = z.total_out;
    deflateEnd(&z);
    free(plain);
    return packed;
}

static void sizes(void **state)
{
    static const size_t plain[] = {0, 1, 65535 - 48, 65536 - 48, 65536 - 47, 200000, 1000000};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        for (size_t piece = 1; piece < 100000; piece *= 37) {
            const size_t n = plain[i];
            size_t size;
            uint8_t *packed = make_gzip(n, &size);
            tl_unpacked out;
            tl_error e = {0};
            pieces p = {packed, size, 0, piece, SIZE_MAX};
            /* Exactly as much as allowed. */
            if (tl_unpack(TL_CODEC_GZIP, next, &p, 48, n, 16, &out, &e) < 0)
                fail_msg("%zu bytes in pieces of %zu: %s", n, piece, e.message);
            assert_int_equal(out.n, 48 + n);
            for (size_t k = 0; k < n; k++)
                if (out.data[48 + k] != (uint8_t)(k >> 8))
                    fail_msg("byte %zu of %zu is wrong", k, n);
            for (size_t k = 0; k < 16; k++)
                assert_true(out.data[k] == 0 && out.data[out.n + k] == 0);
            free(out.data);
            if (n > 0) { /* one more */
                p.at = 0;
                assert_int_equal(tl_unpack(TL_CODEC_GZIP, next, &p, 48, n - 1, 16, &out, &e), TL_EDAMAGED);
                assert_contains(e.message, "(the limit)");
            }
            free(packed);
        }
}

/* A bomb takes no more memory than the limit; it is stopped as soon as it is detected. */
static void bomb(void **state)
{
    size_t size;
    uint8_t *packed = make_gzip((size_t)8 << 20, &size);
    pieces p = {packed, size, 0, 100, SIZE_MAX};
    tl_unpacked out;
    tl_error e;
    assert_int_equal(tl_unpack(TL_CODEC_GZIP, next, &p, 0, 100000, 0, &out, &e), TL_EDAMAGED);
    assert_true(p.at < size / 10);
    free(packed);
}

static void failures(void **state)
{
    size_t size;
    uint8_t *packed = make_gzip(100000, &size);
    tl_unpacked out = {.n = 7};
    tl_error e;
    pieces p = {packed, size, 0, 10, 20};
    assert_int_equal(tl_unpack(TL_CODEC_GZIP, next, &p, 0, 100000, 0, &out, &e), TL_EIO);
    assert_string_equal(e.message, "the source fails");
    p = (pieces){packed, size - 1, 0, 10, SIZE_MAX};
    assert_int_equal(tl_unpack(TL_CODEC_GZIP, next, &p, 0, 100000, 0, &out, &e), TL_EDAMAGED);
    assert_string_equal(e.message, "gzip data ends early");
    p = (pieces){(const uint8_t *)"no gzip data", 12, 0, 100, SIZE_MAX};
    assert_int_equal(tl_unpack(TL_CODEC_GZIP, next, &p, 0, 100000, 0, &out, &e), TL_EDAMAGED);
    assert_contains(e.message, "gzip data is damaged: ");
    p = (pieces){packed, size, 0, 10, SIZE_MAX};
#ifdef TL_HAVE_BZIP2
    assert_int_equal(tl_unpack(TL_CODEC_BZIP2, next, &p, 0, 100000, 0, &out, &e), TL_EDAMAGED);
    assert_string_equal(e.message, "bzip2 data is damaged: no bzip2 header");
#endif
    assert_int_equal(tl_unpack(TL_CODEC_ZSTD, next, &p, 0, 100000, 0, &out, &e), TL_EUNSUPPORTED);
    assert_int_equal(out.n, 7); /* untouched */
    free(packed);
}
#else
static void sizes(void **state)
{
    skip_because("this build has no zlib");
}

static void bomb(void **state)
{
    skip_because("this build has no zlib");
}

static void failures(void **state)
{
    pieces p = {NULL, 0, 0, 1, SIZE_MAX};
    tl_unpacked out = {.n = 7};
    tl_error e;
    assert_int_equal(tl_unpack(TL_CODEC_GZIP, next, &p, 0, 100, 0, &out, &e), TL_EUNSUPPORTED);
    assert_int_equal(out.n, 7);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(bomb), cmocka_unit_test(failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
