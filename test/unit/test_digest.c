/* Tests of base/digest.h and base/crc32.h. */
#include "base/crc32.h"
#include "base/digest.h"
#include "check.h"

static void crc32_values(void **state)
{
    assert_int_equal(tl_crc32(0, "", 0), 0);
    assert_int_equal(tl_crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(tl_crc32(tl_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
    uint8_t zeros[4] = {0};
    assert_int_equal(tl_crc32(0, zeros, sizeof zeros), 0x2144df1c);
}

/* In pieces of every size, including empty ones. */
static void check(tl_digest_kind kind, const char *text, const char *expected, size_t n)
{
    for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
        tl_digest d;
        uint8_t out[TL_DIGEST_MOST];
        tl_digest_begin(&d, kind);
        for (size_t at = 0; at < strlen(text); at += piece) {
            const size_t left = strlen(text) - at;
            tl_digest_add(&d, text + at, left < piece ? left : piece);
            tl_digest_add(&d, text, 0);
        }
        tl_digest_end(&d, out);
        assert_memory_equal(out, expected, n);
        for (size_t i = n; i < sizeof out; i++)
            assert_int_equal(out[i], 0);
    }
}

static void digests(void **state)
{
    check(TL_DIGEST_CRC32, "123456789", "\xcb\xf4\x39\x26", 4);
    check(TL_DIGEST_CRC32, "", "\0\0\0\0", 4);
    check(TL_DIGEST_MD5, "abc", "\x90\x01\x50\x98\x3c\xd2\x4f\xb0\xd6\x96\x3f\x7d\x28\xe1\x7f\x72", 16);
    check(TL_DIGEST_SHA1, "abc", "\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d",
          20);
    check(TL_DIGEST_SHA256, "abc",
          "\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22\x23\xb0\x03\x61\xa3\x96\x17\x7a\x9c\xb4\x10\xff"
          "\x61\xf2"
          "\x00\x15\xad",
          32);
    /* From the RFCs: nothing, and more than one block. */
    check(TL_DIGEST_MD5, "", "\xd4\x1d\x8c\xd9\x8f\x00\xb2\x04\xe9\x80\x09\x98\xec\xf8\x42\x7e", 16);
    check(TL_DIGEST_MD5, "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
          "\x57\xed\xf4\xa2\x2b\xe3\xc9\x55\xac\x49\xda\x2e\x21\x07\xb6\x7a", 16);
    check(TL_DIGEST_SHA1, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "\x84\x98\x3e\x44\x1c\x3b\xd2\x6e\xba\xae\x4a\xa1\xf9\x51\x29\xe5\xe5\x46\x70\xf1", 20);
}

/* Texts of every length from 0 to 299 bytes, one digest after the other; the values are those of Python's hashlib. */
static void digests_of_every_length(void **state)
{
    static const struct {
        tl_digest_kind kind;
        uint8_t all[TL_DIGEST_MOST];
    } of[] = {{TL_DIGEST_MD5,
               {0xb9, 0xd5, 0xb0, 0xec, 0x0d, 0x20, 0x7b, 0xb9, 0x6c, 0xcc, 0xb7, 0x70, 0x36, 0xc1, 0x5f, 0x87}},
              {TL_DIGEST_SHA1, {0xd8, 0x6f, 0x43, 0x2e, 0xf2, 0xb3, 0xa7, 0x7b, 0x72, 0x69,
                                0x7e, 0x56, 0x84, 0xcf, 0x65, 0xeb, 0xf9, 0x43, 0xb8, 0x65}},
              {TL_DIGEST_SHA256,
               {0xf6, 0x5f, 0x14, 0xb0, 0x90, 0xe8, 0x05, 0x01, 0x75, 0x46, 0x32, 0x2e, 0x61, 0x84, 0x01, 0xd4,
                0x1f, 0x07, 0x10, 0xc2, 0x13, 0xe0, 0x13, 0xa5, 0x13, 0x1e, 0xb3, 0x8b, 0xbe, 0x8f, 0x36, 0x7f}}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        tl_digest whole;
        uint8_t text[299], out[TL_DIGEST_MOST];
        const size_t bytes = of[k].kind == TL_DIGEST_MD5 ? 16 : of[k].kind == TL_DIGEST_SHA1 ? 20 : 32;
        tl_digest_begin(&whole, of[k].kind);
        for (size_t n = 0; n <= sizeof text; n++) {
            tl_digest d;
            tl_digest_begin(&d, of[k].kind);
            tl_digest_add(&d, text, n);
            tl_digest_end(&d, out);
            tl_digest_add(&whole, out, bytes);
            if (n < sizeof text)
                text[n] = (uint8_t)(7 * n);
        }
        tl_digest_end(&whole, out);
        assert_memory_equal(out, of[k].all, bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crc32_values), cmocka_unit_test(digests),
                                       cmocka_unit_test(digests_of_every_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
