/* CRC-32: zlib's, if the library has one, and our own, against the definition. */
#include "base/crc32.h"
#include "check.h"

/* What a build without zlib uses. */
uint32_t own_crc32(uint32_t crc, const void *data, size_t n);
#undef TL_HAVE_ZLIB
#define tl_crc32 own_crc32
#include "base/crc32.c"
#undef tl_crc32

typedef uint32_t crc_function(uint32_t crc, const void *data, size_t n);
static crc_function *const both[] = {tl_crc32, own_crc32};

static void test_is_the_usual_one(void **state)
{
    for (size_t i = 0; i < TL_COUNT(both); i++) {
        assert_int_equal(both[i](0, "123456789", 9), 0xcbf43926);
        assert_int_equal(both[i](both[i](0, "1234", 4), "56789", 5), 0xcbf43926);
        assert_int_equal(both[i](0, "", 0), 0);
    }
}

/* By the definition, a bit at a time. */
static uint32_t slow_crc(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static void test_many_bytes(void **state)
{
    static uint8_t data[9000];
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof data; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        data[i] = (uint8_t)(seed >> 56);
    }
    for (size_t i = 0; i < TL_COUNT(both); i++)
        for (size_t n = 4080; n < 4110; n++) { /* one algorithm ends there, and the other begins */
            assert_int_equal(both[i](0, data, n), slow_crc(data, n));
            assert_int_equal(both[i](both[i](0, data, n), data + n, sizeof data - n), slow_crc(data, sizeof data));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_the_usual_one),
        cmocka_unit_test(test_many_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
