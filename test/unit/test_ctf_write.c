/* Tests of the writer of folders: packets, event headers, streams and their files. test_ctf_write_metadata.c tests the
 * metadata, test_ctf_write_values.c the values. */
#include "ctf_write_fixture.h"

/* --- versions --- */

static void test_versions(void **state)
{
    static const struct {
        const char *format, *version, *wanted;
        ctf_dialect dialect;
    } cases[] = {{"xray-fdr", "5", NULL, CTF_2}, {"ctf", "1.8", NULL, CTF_1_8}, {"ctf", "1.1", NULL, CTF_2010},
                 {"ctf", "2", NULL, CTF_2},      {"ctf", "1.8", "2", CTF_2},    {"several", "1.8", NULL, CTF_2},
                 {NULL, NULL, "1.1", CTF_2010},  {NULL, NULL, "2.0", CTF_2},    {NULL, NULL, "1.8", CTF_1_8}};
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        fixture w = {0};
        fixture_init(&w);
        w.trace.format = cases[i].format;
        w.trace.version = cases[i].version;
        folder_start(&w, cases[i].wanted);
        assert_int_equal(((ctf_writer *)w.writer)->dialect, cases[i].dialect);
        folder_fini(&w);
    }
    fixture w = {0};
    tl_error e;
    fixture_init(&w);
    assert_int_equal(folder_create(&w, "1.9", &e), TL_EINVAL);
    assert_string_equal(e.message, "ctf: there is no version 1.9, only 2, 1.8 and 1.1");
    folder_fini(&w);
}

static void test_without_events(void **state)
{
    static const char *const version[] = {"2", "1.8", "1.1"};
    for (int i = 0; i < 3; i++) {
        fixture w;
        size_t n;
        start_plain(&w, version[i]);
        fixture_finish(&w);
        free(folder_file("metadata", &n));
        assert_true(n > 100);
        folder_fini(&w);
    }
}

/* --- packets and headers of events --- */

static void test_packet(void **state)
{
    for (int dialect = 0; dialect < 2; dialect++) {
        fixture w;
        size_t n, m;
        packet p[1];
        start_plain(&w, dialect ? "1.8" : "2");
        put_number(&w, 0, -1, 1000, 7);
        put_number(&w, 0, -1, 1003, 8);
        fixture_finish(&w);
        uint8_t *bytes = folder_file("thread_7", &n), *index = folder_file("index/thread_7.idx", &m);
        assert_int_equal(packets_of(bytes, n, p, 1), 1);
        assert_int_equal(n, CTF_WRITTEN_HEADER + 2 * (COMPACT + 1));
        assert_memory_equal(bytes, "\xc1\x1f\xfc\xc1", 4);
        assert_int_equal(bytes[CTF_WRITTEN_UUID + 6] >> 4, 8);
        assert_int_equal(tl_load32(bytes + CTF_WRITTEN_STREAM, false), 0);
        assert_int_equal(tl_load64(bytes + CTF_WRITTEN_INSTANCE, false), 0);
        assert_int_equal(p[0].begin, 1000);
        assert_int_equal(p[0].end, 1003);
        assert_int_equal(p[0].content, 8 * n);
        assert_int_equal(p[0].sequence, 0);
        assert_int_equal(p[0].discarded, 0);
        const uint8_t *e = bytes + CTF_WRITTEN_HEADER;
        assert_int_equal(tl_load32(e, false), 1000 << 5 | 1);
        assert_int_equal(e[4], 7);
        assert_int_equal(tl_load32(e + 5, false), 1003 << 5 | 1);
        assert_int_equal(e[9], 8);

        assert_int_equal(m, CTF_INDEX_HEADER + CTF_INDEX_ENTRY);
        assert_int_equal(tl_load32(index, true), (uint32_t)CTF_MAGIC_INDEX);
        assert_int_equal(tl_load32(index + CTF_INDEX_MAJOR, true), 1);
        assert_int_equal(tl_load32(index + CTF_INDEX_MINOR, true), 1);
        assert_int_equal(tl_load32(index + CTF_INDEX_ENTRY_SIZE, true), CTF_INDEX_ENTRY);
        const uint64_t entry[] = {0, 8 * n, 8 * n, 1000, 1003, 0, 0, 0, 0};
        for (size_t i = 0; i < 9; i++)
            assert_int_equal(tl_load64(index + CTF_INDEX_HEADER + 8 * i, true), entry[i]);
        free(bytes);
        free(index);
        folder_fini(&w);
    }
}

static void test_times_that_do_not_fit(void **state)
{
    fixture w;
    size_t n;
    start_plain(&w, "2");
    const uint64_t most = (UINT64_C(1) << 27) - 1;
    put_number(&w, 0, -1, 5, 1);
    put_number(&w, 0, -1, 5 + most, 2);     /* the largest step of a short header */
    put_number(&w, 0, -1, 6 + 2 * most, 3); /* one more */
    put_number(&w, 0, -1, 5 + 2 * most, 4); /* back */
    fixture_finish(&w);
    uint8_t *bytes = folder_file("thread_7", &n);
    assert_int_equal(n, CTF_WRITTEN_HEADER + 2 * (COMPACT + 1) + 2 * (COMPACT_EXTENDED + 1));
    const uint8_t *e = bytes + CTF_WRITTEN_HEADER + COMPACT + 1;
    assert_int_equal(tl_load32(e, false) >> 5, (5 + most) & most);
    e += COMPACT + 1;
    assert_int_equal(e[0] & 31, 31);
    assert_int_equal(tl_load32(e + 1, false), 1);
    assert_int_equal(tl_load64(e + 5, false), 6 + 2 * most);
    assert_int_equal(e[13], 3);
    e += COMPACT_EXTENDED + 1;
    assert_int_equal(e[0] & 31, 31);
    assert_int_equal(tl_load64(e + 5, false), 5 + 2 * most);
    free(bytes);
    folder_fini(&w);
}

static void test_many_classes(void **state)
{
    enum { MANY = 40 };
    tl_class classes[MANY];
    for (int i = 0; i < MANY; i++)
        classes[i] = number_class;
    for (uint32_t count = 31; count <= 32; count++) {
        fixture w = {0};
        size_t n;
        packet p[1];
        const tl_value v = {.type = TL_U64, .as.u = 9};
        fixture_init(&w);
        for (uint32_t i = 0; i < 2; i++)
            w.trace.track[i].has_pid = w.trace.track[i].has_tid = false;
        folder_classes(&w, classes, count);
        folder_start(&w, "2");
        fixture_event(&w, count - 1, 0, -1, 3, 0, &v, 1);
        fixture_event(&w, count - 1, 0, -1, 3 + (UINT64_C(1) << 32), 0, &v, 1);
        fixture_finish(&w);
        uint8_t *bytes = folder_file("thread_7", &n);
        assert_int_equal(packets_of(bytes, n, p, 1), 1);
        const uint8_t *e = bytes + CTF_WRITTEN_HEADER;
        if (count == 31) {
            assert_int_equal(n, CTF_WRITTEN_HEADER + COMPACT + COMPACT_EXTENDED + 2);
            assert_int_equal(tl_load32(e, false), 3 << 5 | 30);
        } else {
            assert_int_equal(n, CTF_WRITTEN_HEADER + LARGE + LARGE_EXTENDED + 2);
            assert_int_equal(tl_load16(e, false), 31);
            assert_int_equal(tl_load32(e + 2, false), 3);
            e += LARGE + 1;
            assert_int_equal(tl_load16(e, false), 65535);
            assert_int_equal(tl_load32(e + 2, false), 31);
            assert_int_equal(tl_load64(e + 6, false), 3 + (UINT64_C(1) << 32));
        }
        free(bytes);
        folder_fini(&w);
    }
}

static void test_full_packets_are_closed(void **state)
{
    enum { EVENTS = 40000 };
    fixture w;
    size_t n, m;
    packet p[8];
    start_plain(&w, "2");
    for (uint32_t i = 0; i < EVENTS; i++)
        put_number(&w, 0, -1, i, i & 255);
    fixture_finish(&w);
    uint8_t *bytes = folder_file("thread_7", &n), *index = folder_file("index/thread_7.idx", &m);
    const uint32_t count = packets_of(bytes, n, p, 8);
    assert_int_equal(count, 4);
    assert_int_equal(m, CTF_INDEX_HEADER + count * CTF_INDEX_ENTRY);
    uint64_t next = 0, offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(p[i].size / 8 < CTF_WRITE_PACKET + 32);
        assert_int_equal(p[i].sequence, i);
        assert_int_equal(p[i].begin, next);
        assert_int_equal(tl_load64(index + CTF_INDEX_HEADER + i * CTF_INDEX_ENTRY, true), offset);
        assert_int_equal(tl_load64(index + CTF_INDEX_HEADER + i * CTF_INDEX_ENTRY + 64, true), i);
        next = p[i].end + 1;
        offset += p[i].size / 8;
    }
    assert_int_equal(next, EVENTS);
    free(bytes);
    free(index);
    folder_fini(&w);
}

static void test_an_event_larger_than_a_packet(void **state)
{
    enum { LARGE_DATA = 300000 };
    fixture w = {0};
    size_t n;
    packet p[2];
    char *data = calloc(1, LARGE_DATA);
    fixture_init(&w);
    folder_start(&w, "2");
    fixture_custom(&w, 0, -1, 1, data, LARGE_DATA);
    fixture_custom(&w, 0, -1, 2, data, 1);
    fixture_finish(&w);
    uint8_t *bytes = folder_file("thread_7", &n);
    assert_int_equal(packets_of(bytes, n, p, 2), 2);
    assert_true(p[0].size / 8 > LARGE_DATA);
    free(bytes);
    free(data);
    folder_fini(&w);
}

/* --- processors, processes, threads --- */

static void test_packets_of_a_processor(void **state)
{
    fixture w = {0};
    size_t n;
    packet p[3];
    const tl_class classes[] = {number_class, number_class};
    fixture_init(&w);
    folder_classes(&w, classes, 2);
    folder_start(&w, "2");
    put_number(&w, 0, 3, 10, 1);
    put_number(&w, 0, 3, 11, 2);
    put_number(&w, 0, 4, 12, 3);
    put_number(&w, 0, -1, 13, 4); /* a stream class without a processor */
    put_number(&w, 0, 4, 14, 5);
    fixture_finish(&w);
    uint8_t *bytes = folder_file("thread_7", &n);
    assert_int_equal(packets_of(bytes, n, p, 3), 2);
    const int cpu[] = {3, 4};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tl_load32(p[i].p + CTF_WRITTEN_HEADER, false), cpu[i]);
        assert_int_equal(tl_load64(p[i].p + CTF_WRITTEN_HEADER + 4, false), 5);
        assert_int_equal(tl_load64(p[i].p + CTF_WRITTEN_HEADER + 12, false), 7);
        assert_int_equal(p[i].size / 8, CTF_WRITTEN_HEADER + 20 + 2 * (COMPACT + 1));
    }
    free(bytes);
    bytes = folder_file("thread_7_2", &n);
    assert_int_equal(packets_of(bytes, n, p, 3), 1);
    assert_int_equal(tl_load32(bytes + CTF_WRITTEN_STREAM, false), 1);
    assert_int_equal(tl_load64(bytes + CTF_WRITTEN_INSTANCE, false), 1);
    assert_int_equal(n, CTF_WRITTEN_HEADER + 16 + COMPACT + 1);
    free(bytes);
    folder_fini(&w);
}

/* --- very many streams --- */

static void test_more_tracks_than_open_packets(void **state)
{
    enum { OPEN = 256, TRACKS = OPEN + 50, ROUNDS = 3 };
    fixture w = {0};
    const tl_class classes[] = {number_class, number_class};
    char name[40];
    uint32_t most = 0;
    fixture_init(&w);
    for (uint32_t i = 0; i < TRACKS - 2; i++) {
        uint32_t index;
        snprintf(name, sizeof name, "many %u", (unsigned)i);
        const tl_track track = {.name = name};
        assert_int_equal(tl_trace_add_track(&w.trace, &track, &index, NULL), 0);
    }
    folder_classes(&w, classes, 2);
    folder_start(&w, "2");
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < TRACKS; i++) {
            put_number(&w, i, -1, 1000 * round + i, round);
            fixture_flush(&w);
            const uint32_t open = ((ctf_writer *)w.writer)->nopen;
            most = open > most ? open : most;
        }
    assert_int_equal(most, OPEN);
    fixture_finish(&w);
    for (uint32_t i = 2; i < TRACKS; i++) {
        size_t n;
        packet p[ROUNDS];
        snprintf(name, sizeof name, "many_%u", (unsigned)i - 2);
        uint8_t *bytes = folder_file(name, &n);
        const uint32_t count = packets_of(bytes, n, p, ROUNDS);
        size_t events = 0;
        for (uint32_t k = 0; k < count; k++) {
            assert_int_equal(p[k].sequence, k);
            events += ((size_t)p[k].size / 8 - CTF_WRITTEN_HEADER) / (COMPACT + 1);
        }
        assert_int_equal(events, ROUNDS);
        free(bytes);
    }
    folder_fini(&w);
}

static void test_names_of_files(void **state)
{
    static const char *const tracks[] = {"a b/c", "a b/c", "a_b_c", "metadata", "index", "functions", "", "\xc3\xa4.x"};
    static const char *const files[] = {"a_b_c", NULL, NULL, "metadata_t", "index_t", "functions_t", "stream", "___x"};
    fixture w = {0};
    const tl_class classes[] = {number_class, number_class};
    fixture_init(&w);
    for (size_t i = 0; i < TL_COUNT(tracks); i++) {
        uint32_t index;
        assert_int_equal(tl_trace_add_track(&w.trace, &(tl_track){.name = tracks[i]}, &index, NULL), 0);
    }
    folder_classes(&w, classes, 2);
    folder_start(&w, "2");
    for (uint32_t i = 0; i < TL_COUNT(tracks); i++)
        put_number(&w, i + 2, -1, 1, 0);
    fixture_finish(&w);
    const ctf_writer *writer = w.writer;
    for (size_t i = 0; i < TL_COUNT(tracks); i++) {
        if (files[i])
            assert_string_equal(writer->stream[i].name, files[i]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(writer->stream[i].name, writer->stream[k].name);
    }
    folder_fini(&w);
}

/* --- the same trace gives the same bytes --- */

static void test_reproducible(void **state)
{
    static const char *const version[] = {"2", "1.8", "1.1"};
    for (int i = 0; i < 3; i++) {
        uint8_t *first[2] = {NULL, NULL};
        size_t size[2] = {0, 0};
        for (int run = 0; run < 3; run++) {
            fixture w = {0};
            fixture_init(&w);
            if (run == 2)
                w.trace.end = 12345; /* another trace: another identity */
            folder_start(&w, version[i]);
            fixture_call(&w, ENTER, 0, 100, 1);
            fixture_call(&w, EXIT, 0, 200, 1);
            fixture_finish(&w);
            static const char *const name[] = {"metadata", "thread_7"};
            for (int k = 0; k < 2; k++) {
                size_t n;
                uint8_t *bytes = folder_file(name[k], &n);
                if (run == 0) {
                    first[k] = bytes;
                    size[k] = n;
                    continue;
                }
                assert_int_equal(n == size[k] && memcmp(bytes, first[k], n) == 0, run == 1);
                free(bytes);
            }
            folder_fini(&w);
        }
        free(first[0]);
        free(first[1]);
    }
}

static void test_a_full_disk_is_told(void **state)
{
    fixture w;
    tl_error e = {0};
    start_plain(&w, "2");
    /* Nothing can be created in a removed folder. */
    assert_int_equal(scratch_files(1), 1);
    put_number(&w, 0, -1, 1, 0);
    fixture_flush(&w);
    assert_int_equal(ctf_finish(w.writer, &e), TL_EIO);
    assert_contains(e.message, "out/thread_7");
    folder_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_versions, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_without_events, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_packet, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_times_that_do_not_fit, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_many_classes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_full_packets_are_closed, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_an_event_larger_than_a_packet, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_packets_of_a_processor, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_more_tracks_than_open_packets, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_names_of_files, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_reproducible, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_full_disk_is_told, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
