/* The listing with values: bytes of accesses, buffers, registers. */
#include "listing_fixture.h"

static void test_values(void **state)
{
    static const uint8_t data[32] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    fixture f;
    start(&f, &tl_format_listing_values, 1);
    assert_true(tl_format_listing_values.event_writer->wants.fields && !tl_format_listing.event_writer->wants.fields);
    put(&f, IN, 0, 0, 0x1000, LDR);
    put_bytes(&f, LD, 0, 0x20, data, 8);
    put_bytes(&f, LD, 0, 0x28, data, 1);
    put_bytes(&f, ST, 0, 0x30, data, 16);
    put_bytes(&f, ST, 0, 0x40, data, 3);
    put_bytes(&f, ST, 0, 0x50, data, 32);
    put_bytes(&f, ST, 0, 0x60, data, 0);
    put(&f, LD, 0, 0, 0x70, 4); /* without a value on the tape */
    put(&f, IN, 0, 1, 0x1004, SVC);
    put(&f, ARG, 0, 1, 66, 0);
    const tl_value list[] = {{.type = TL_LIST, .n = 2},        {.type = TL_STRUCT, .n = 2},
                             {.type = TL_HEX, .as.u = 0x4000}, {.type = TL_U64, .as.u = 12},
                             {.type = TL_STRUCT, .n = 2},      {.type = TL_HEX, .as.u = 0x5000},
                             {.type = TL_U64, .as.u = 1}};
    fixture_event(&f, VEC, 0, -1, 1, 0, list, 7);
    fixture_event(&f, VEC, 0, -1, 1, 0, NULL, 0);
    put(&f, RET, 0, 1, 13, 0);
    fixture_expect(
        &f,
        "        0                 0x1000  f9400420  ldr     x0, [x1, #8]            [0x20 -> 8 bytes "
        "0xfedcba9876543210] "
        "[0x28 -> 1 byte 0x10] [0x30 <- 16 bytes 0x0807060504030201fedcba9876543210] [0x40 <- 3 bytes 103254] [0x50 <- "
        "32 "
        "bytes 1032547698badcfe010203040506070809000000000000000000000000000000] [0x60 <- 0 bytes] [0x70 -> 4 bytes]\n"
        "        1                 0x1004  d4000001  svc     #0                      syscall 66 buffers [0x4000 12 "
        "bytes] "
        "[0x5000 1 byte] = 0xd\n");
}

static void test_large_value(void **state)
{
    enum { LARGE = 32768 };
    static uint8_t data[LARGE];
    fixture f;
    start(&f, &tl_format_listing_values, 1);
    memset(data, 0xa5, sizeof data);
    for (uint64_t i = 0; i < 20; i++) {
        put(&f, IN, 0, i, 0x1000, LDR);
        put_bytes(&f, LD, i, 0x20, data, LARGE);
    }
    fixture_finish(&f);
    const char *p = (char *)f.bytes;
    for (unsigned i = 0; i < 20; i++) {
        p = strstr(p, "32768 bytes ");
        assert_non_null(p);
        p += 12;
        assert_int_equal(strspn(p, "a5"), 2 * LARGE);
        p += 2 * LARGE;
        assert_memory_equal(p, "]\n", 2);
    }
    fixture_fini(&f);
}

static void test_registers(void **state)
{
    fixture f;
    start(&f, &tl_format_listing_values, 1);
    tl_value v[37] = {{.type = TL_U64, .as.u = 3}, {.type = TL_LIST, .n = 32}};
    for (unsigned i = 0; i < 32; i++)
        v[2 + i] = (tl_value){.type = TL_HEX, .as.u = i};
    v[34] = (tl_value){.type = TL_BYTES, .n = 1, .as.p = "z"};
    v[35] = (tl_value){.type = TL_HEX, .as.u = 0x90000000};
    v[36] = (tl_value){.type = TL_HEX, .as.u = 0x1f};
    fixture_event(&f, SNAP, 0, -1, 3, 0, v, 37);
    put(&f, IN, 0, 3, 0x1000, NOP);
    fixture_event(&f, ALL, 0, -1, 3, 0, v, 5); /* a truncated list */
    fixture_finish(&f);
    const char *begin = "        3  -- snapshot\n"
                        "           n 3\n"
                        "           x0  0x0000000000000000  x1  0x0000000000000001  x2  0x0000000000000002  x3  "
                        "0x0000000000000003\n";
    const char *end = "           x28 0x000000000000001c  x29 0x000000000000001d  x30 0x000000000000001e  sp  "
                      "0x000000000000001f\n"
                      "           nzcv NzcV  fpcr 0x1f\n"
                      "        3                 0x1000  d503201f  nop\n"
                      "        3  -- all\n"
                      "           n 3\n"
                      "           x0  0x0000000000000000  x1  0x0000000000000001  x2  0x0000000000000002\n";
    assert_memory_equal(f.bytes, begin, strlen(begin));
    assert_true(f.size > strlen(end));
    assert_string_equal((char *)f.bytes + f.size - strlen(end), end);
    assert_int_equal(fixture_dropped(&f, "vector registers"), 1);
    fixture_fini(&f);
}

/* A reader without a tape. */
static void test_no_tape(void **state)
{
    fixture f;
    start(&f, &tl_format_listing_values, 1);
    put(&f, SNAP, 0, 0, 0, 0);
    put(&f, IN, 0, 0, 0x1000, LDR);
    put(&f, LD, 0, 0, 0x20, 4);
    put(&f, VEC, 0, 0, 0, 0);
    tl_batch bare = f.batch;
    bare.val = NULL;
    bare.v = NULL;
    assert_int_equal(f.format->event_writer->write(f.writer, &bare, 0, bare.n, NULL), 0);
    tl_batch_clear(&f.batch);
    fixture_expect(&f,
                   "        0  -- snapshot\n"
                   "        0                 0x1000  f9400420  ldr     x0, [x1, #8]            [0x20 -> 4 bytes]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_large_value),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_no_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
