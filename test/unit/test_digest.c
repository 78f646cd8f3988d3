/* Tests of base/digest.h and base/crc32.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/crc32.h"
#include "base/digest.h"

static void crc32_values(void **state)
{
    (void)state;
    assert_int_equal(tl_crc32(0, "", 0), 0);
    assert_int_equal(tl_crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(tl_crc32(tl_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
    uint8_t zeros[4] = {0};
    assert_int_equal(tl_crc32(0, zeros, sizeof zeros), 0x2144df1c);
}

/* In pieces of every size, the empty one included. */
static void check(tl_digest_kind kind, const char *text, const char *expected, size_t n)
{
    for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
        tl_digest d;
        uint8_t out[TL_DIGEST_MOST];
        assert_int_equal(tl_digest_begin(&d, kind, NULL), 1);
        for (size_t at = 0; at < strlen(text); at += piece) {
            const size_t left = strlen(text) - at;
            tl_digest_add(&d, text + at, left < piece ? left : piece);
            tl_digest_add(&d, text, 0);
        }
        assert_true(tl_digest_end(&d, out));
        assert_memory_equal(out, expected, n);
        for (size_t i = n; i < sizeof out; i++)
            assert_int_equal(out[i], 0);
    }
}

static void digests(void **state)
{
    (void)state;
    check(TL_DIGEST_CRC32, "123456789", "\xcb\xf4\x39\x26", 4);
    check(TL_DIGEST_CRC32, "", "\0\0\0\0", 4);
#ifdef TL_HAVE_CRYPTO
    check(TL_DIGEST_MD5, "abc", "\x90\x01\x50\x98\x3c\xd2\x4f\xb0\xd6\x96\x3f\x7d\x28\xe1\x7f\x72", 16);
    check(TL_DIGEST_SHA1, "abc", "\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d",
          20);
#else
    tl_digest d;
    assert_int_equal(tl_digest_begin(&d, TL_DIGEST_MD5, NULL), 0);
    assert_int_equal(tl_digest_begin(&d, TL_DIGEST_SHA1, NULL), 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crc32_values), cmocka_unit_test(digests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
