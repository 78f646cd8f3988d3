/* Tests of the writer of folders: the dialect of 2010. */
#include "written_metadata.h"

static void test_packets_of_2010(void **state)
{
    fixture w;
    size_t n;
    const tl_class classes[] = {ctf_packet_class, number_class};
    memset(&w, 0, sizeof w);
    fixture_init(&w);
    tl_trace_set_clock(&w.trace, "tsc", 500000000); /* 2 ns */
    w.options.begin = 1000;
    folder_classes(&w, classes, 2);
    folder_start(&w, "1.1");
    put_packet(&w, 0, 3, 1000, 1500, 4, 9);
    put_number(&w, 0, 3, 1001, 7);
    put_number(&w, 0, 3, 1001 + (1u << 27), 8); /* does not fit */
    put_packet(&w, 0, 3, 1u << 28, 1u << 28, 6, 11);
    fixture_finish(&w);
    assert_int_equal(fixture_dropped(&w, "events with a processor"), 2);
    uint8_t *p = folder_file("thread_7", &n);
    assert_int_equal(n, 2 * CTF_WRITE_PAGE);
    assert_int_equal(tl_load32(p, false), (uint32_t)CTF_MAGIC_PACKET);
    assert_int_equal(tl_load32(p + CTF_2010_CONTENT_SIZE, false), CTF_2010_HEADER + 4 + 1 + 16 + 1);
    assert_int_equal(tl_load32(p + CTF_2010_PACKET_SIZE, false), CTF_WRITE_PAGE);
    assert_int_equal(tl_load32(p + CTF_2010_COUNT, false), 9);
    assert_int_equal(tl_load64(p + CTF_2010_BEGIN, false), 0);
    assert_int_equal(tl_load64(p + CTF_2010_END, false), 2 * (1 + (UINT64_C(1) << 27)));
    assert_int_equal(tl_load32(p + CTF_2010_DISCARDED, false), 0); /* the earlier losses are unknown */
    assert_int_equal(p[CTF_2010_COUNT_BITS], 32);
    const uint8_t *e = p + CTF_2010_HEADER;
    assert_int_equal(tl_load32(e, false), 2 << 5 | 0);
    assert_int_equal(e[4], 7);
    assert_int_equal(e[5] & 31, 31);
    assert_int_equal(tl_load32(e + 9, false), 0);
    assert_int_equal(tl_load64(e + 13, false), 2 * (1 + (UINT64_C(1) << 27)));
    assert_int_equal(e[21], 8);
    assert_int_equal(tl_load32(p + CTF_WRITE_PAGE + CTF_2010_COUNT, false), 11);
    assert_int_equal(tl_load32(p + CTF_WRITE_PAGE + CTF_2010_DISCARDED, false), 2);
    free(p);
    p = text_of_2010();
    has(p, "header_type = type1;");
    has(p, "name = events;");
    free(p);
    folder_fini(&w);
}

/* A clock that counts ns is written unchanged, so that nothing precedes its begin. */
static void test_times_of_2010(void **state)
{
    fixture w;
    size_t n;
    start_plain(&w, "1.1");
    w.options.begin = 1000;
    put_number(&w, 0, -1, 900, 7);
    fixture_finish(&w);
    uint8_t *p = folder_file("thread_7", &n);
    assert_int_equal(tl_load64(p + CTF_2010_BEGIN, false), 900);
    free(p);
    folder_fini(&w);
}

/* A name of digits only has no number at its end; no byte before its first is read. */
static void test_digits_of_2010(void **state)
{
    for (size_t n = 1; n < 4; n++) {
        fixture w;
        size_t size;
        char *name = malloc(n + 1); /* nothing precedes it */
        assert_non_null(name);
        memset(name, '7', n);
        name[n] = '\0';
        memset(&w, 0, sizeof w);
        fixture_init(&w);
        w.trace.track[0].name = name;
        folder_classes(&w, (const tl_class[]){number_class, number_class}, 2);
        folder_start(&w, "1.1");
        put_number(&w, 0, 7, 900, 7);
        fixture_finish(&w);
        assert_string_equal(((ctf_writer *)w.writer)->stream[0].name, name);
        free(folder_file(name, &size));
        folder_fini(&w);
        free(name);
    }
}

static void test_large_headers_of_2010(void **state)
{
    enum { MANY = 40 };
    tl_class classes[MANY];
    for (int i = 0; i < MANY; i++)
        classes[i] = number_class;
    fixture w = {0};
    size_t n;
    const tl_value v = U(9);
    fixture_init(&w);
    folder_classes(&w, classes, MANY);
    folder_start(&w, "1.1");
    fixture_event(&w, 35, 0, -1, 3, 0, &v, 1);
    fixture_event(&w, 36, 0, -1, 3 + (UINT64_C(1) << 32), 0, &v, 1);
    fixture_finish(&w);
    uint8_t *p = folder_file("thread_7", &n), *e = p + CTF_2010_HEADER;
    assert_int_equal(tl_load32(p + CTF_2010_CONTENT_SIZE, false), CTF_2010_HEADER + 6 + 1 + 18 + 1);
    assert_int_equal(tl_load32(e, false), 3);
    assert_int_equal(tl_load16(e + 4, false), 35);
    assert_int_equal(e[6], 9);
    assert_int_equal(tl_load16(e + 11, false), 65535);
    assert_int_equal(tl_load64(e + 13, false), 3 + (UINT64_C(1) << 32));
    assert_int_equal(tl_load32(e + 21, false), 36);
    free(p);
    p = text_of_2010();
    has(p, "header_type = type2;");
    free(p);
    folder_fini(&w);
}

static void test_payload_size_of_2010(void **state)
{
    enum { STREAM = TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM };
    static const tl_field f[] = {{.name = "payload_size", .type = TL_U64, .bits = 16, .context = STREAM},
                                 {.name = "s", .type = TL_STRING}};
    const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 2, .ncontext = 1}};
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        found out[1];
        const tl_value v[] = {U(99), S("four")};
        fixture_init(&w);
        folder_classes(&w, classes, 1);
        folder_start(&w, versions[i]);
        fixture_event(&w, 0, 0, -1, 1, 0, v, 2);
        fixture_finish(&w);
        assert_int_equal(read_back(out, 1), 1);
        assert_string_equal(out[0].text, i == 2 ? "u5 s\"four\"" : "u99 s\"four\"");
        folder_fini(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_packets_of_2010, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_times_of_2010, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_digits_of_2010, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_headers_of_2010, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_payload_size_of_2010, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
