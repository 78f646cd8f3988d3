/* Basic files: exact records, what each version cannot hold, and reading and writing back the same. */
#include "writer_fixture.h"

#include "base/endian.h"
#include "format/xray/basic_layout.h"
#include "format/xray/basic_write.h"
#include "traceloom/source.h"

extern const tl_format tl_format_xray_basic;

static void start(fixture *f, int version)
{
    fixture_init(f);
    fixture_version(f, version);
    assert_int_equal(fixture_create(f, &tl_format_xray_basic), 0);
}

static const uint8_t *record(const fixture *f, size_t i)
{
    assert_true(BASIC_HEADER_SIZE + (i + 1) * BASIC_RECORD_SIZE <= f->size);
    return f->bytes + BASIC_HEADER_SIZE + i * BASIC_RECORD_SIZE;
}

static void test_exact_bytes(void **state)
{
    static const uint8_t bytes[] = {
        /* header: version 3, 1 GHz */
        3, 0, 0, 0, 3, 0, 0, 0, 0x00, 0xca, 0x9a, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        /* enter with arguments */
        0, 0, 2, 3, 2, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1, 8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        /* argument */
        1, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        /* exit */
        0, 0, 255, 1, 0xff, 0xff, 0xff, 0xff, 9, 7, 6, 5, 4, 3, 2, 1, 8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    fixture f;
    start(&f, 0);
    tl_value args[] = {{.type = TL_LIST, .n = 1}, {.type = TL_U64, .as.u = 9}};
    fixture_event(&f, ENTER_ARGS, 1, 2, 0x0102030405060708, 2, args, 2);
    fixture_event(&f, EXIT, 1, 255, 0x0102030405060709, (uint64_t)-1, NULL, 0);
    fixture_finish(&f);
    assert_int_equal(f.size, sizeof bytes);
    assert_memory_equal(f.bytes, bytes, sizeof bytes);
    assert_int_equal(f.drops.n, 1);
    assert_true(fixture_dropped(&f, "function names") > 0);
    fixture_fini(&f);
}

static void test_versions(void **state)
{
    for (int version = 1; version <= 3; version++) {
        fixture f;
        start(&f, version);
        tl_value none = {.type = TL_LIST};
        fixture_event(&f, TAIL_EXIT, 0, 0, 1, 1, NULL, 0);
        fixture_event(&f, ENTER_ARGS, 0, 0, 2, 1, &none, 1);
        fixture_event(&f, EXIT, 1, 0, 3, 1, NULL, 0);
        fixture_event(&f, EXIT, 0, 0, 3, 1, NULL, 0);
        fixture_finish(&f);
        assert_int_equal(f.bytes[0], version);
        assert_int_equal(f.size, BASIC_HEADER_SIZE + 4 * BASIC_RECORD_SIZE);
        assert_int_equal(record(&f, 0)[BASIC_FUNCTION_KIND], version == 1 ? BASIC_EXIT : BASIC_TAIL_EXIT);
        assert_int_equal(record(&f, 1)[BASIC_FUNCTION_KIND], BASIC_ENTER_ARGS);
        assert_int_equal(tl_load32(record(&f, 0) + BASIC_FUNCTION_TID, false), 7);
        assert_int_equal(tl_load32(record(&f, 2) + BASIC_FUNCTION_TID, false), 8);
        assert_int_equal(tl_load32(record(&f, 0) + BASIC_FUNCTION_PID, false), version < 3 ? 0 : 5);
        assert_int_equal(fixture_dropped(&f, "tail exits"), version == 1);
        assert_int_equal(fixture_dropped(&f, "process ids"), version < 3 ? 2 : 0);
        fixture_fini(&f);
    }
    for (int version = -1; version <= 4; version += 5) {
        fixture f;
        fixture_init(&f);
        fixture_version(&f, version);
        assert_int_equal(fixture_create(&f, &tl_format_xray_basic), TL_EINVAL);
        fixture_fini(&f);
    }
}

static void test_what_cannot_be_held(void **state)
{
    fixture f;
    start(&f, 3);
    fixture_event(&f, ENTER, 0, 0, 1, (uint64_t)INT32_MAX + 1, NULL, 0);
    fixture_event(&f, ENTER, 0, 0, 1, INT32_MAX, NULL, 0);
    fixture_event(&f, ENTER, 0, 256 + 4, 2, (uint64_t)(int64_t)INT32_MIN, NULL, 0);
    fixture_event(&f, ENTER, 0, -1, 1, 1, NULL, 0); /* back in time: kept as it is */
    tl_value args[] = {
        {.type = TL_LIST, .n = 3}, {.type = TL_U64, .as.u = 9}, {.type = TL_U64, .as.u = 8}, {.type = TL_U64}};
    fixture_event(&f, ENTER_ARGS, 0, 0, 1, 1, args, 4); /* an entry has one argument */
    fixture_finish(&f);
    assert_int_equal(f.size, BASIC_HEADER_SIZE + 5 * BASIC_RECORD_SIZE);
    assert_int_equal(tl_load64(record(&f, 4) + BASIC_ARGUMENT_VALUE, false), 9);
    assert_int_equal(fixture_dropped(&f, "arguments of a call after its first"), 2);
    assert_int_equal(record(&f, 1)[BASIC_FUNCTION_CPU], 4);
    assert_int_equal(record(&f, 2)[BASIC_FUNCTION_CPU], 0);
    assert_int_equal(tl_load64(record(&f, 2) + BASIC_FUNCTION_TSC, false), 1);
    assert_int_equal(fixture_dropped(&f, "function events with ids over 32 bits"), 1);
    assert_int_equal(fixture_dropped(&f, "processor numbers over 8 bits"), 1);
    for (uint32_t i = 0; i < CLASSES; i++)
        assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[i]), i == FRAMING      ? TL_ACCEPT_IGNORE
                                                                                    : i <= ENTER_ARGS ? TL_ACCEPT_KEEP
                                                                                                      : TL_ACCEPT_DROP);
    fixture_fini(&f);
}

static void test_tracks_without_ids(void **state)
{
    fixture f;
    fixture_init(&f);
    tl_track track = {.name = "stream"};
    uint32_t index;
    assert_int_equal(tl_trace_add_track(&f.trace, &track, &index, NULL), 0);
    track = (tl_track){.name = "far", .tid = INT64_C(1) << 40 | 3, .has_tid = true};
    assert_int_equal(tl_trace_add_track(&f.trace, &track, &index, NULL), 0);
    assert_int_equal(fixture_create(&f, &tl_format_xray_basic), 0);
    fixture_call(&f, ENTER, 2, 1, 1);
    fixture_call(&f, ENTER, 3, 1, 1);
    fixture_finish(&f);
    assert_int_equal(tl_load32(record(&f, 0) + BASIC_FUNCTION_TID, false), 3);
    assert_int_equal(tl_load32(record(&f, 0) + BASIC_FUNCTION_PID, false), 0);
    assert_int_equal(tl_load32(record(&f, 1) + BASIC_FUNCTION_TID, false), 3);
    assert_int_equal(fixture_dropped(&f, "process or thread ids over 32 bits"), 1);
    fixture_fini(&f);
}

static void test_canonical(void **state)
{
    const tl_open_options all = {.want = {.fields = true, .cpu = true}};
    for (int version = 1; version <= 3; version++) {
        fixture f;
        start(&f, version);
        for (unsigned i = 0; i < 5000; i++) {
            tl_value args[] = {
                {.type = TL_LIST, .n = i % 3}, {.type = TL_U64, .as.u = i}, {.type = TL_U64, .as.u = ~0u}};
            if (i % 10 == 0)
                fixture_event(&f, ENTER_ARGS, i / 2500, (int32_t)(i % 256), i * 3, i, args, 1 + i % 3);
            else
                fixture_event(&f, i % (version == 1 ? 2 : 3), i / 2500, 0, i * 3, i, NULL, 0);
        }
        fixture_finish(&f);
        tl_source *s;
        assert_int_equal(tl_source_open_memory(&s, f.bytes, f.size, "test", &all, NULL), 0);
        fixture again = {.format = &tl_format_xray_basic};
        assert_int_equal(tl_output_open_memory(&again.out, TL_PLAIN, NULL), 0);
        again.writer = calloc(1, sizeof(basic_writer));
        const tl_write_context context = {
            .out = again.out, .trace = tl_source_trace(s), .drops = &again.drops, .options = &again.options};
        assert_int_equal(basic_create(again.writer, &context, NULL), 0);
        const tl_batch *b;
        while (tl_source_next(s, &b, NULL) > 0)
            assert_int_equal(basic_write(again.writer, b, 0, b->n, NULL), 0);
        fixture_finish(&again);
        assert_int_equal(again.size, f.size);
        assert_memory_equal(again.bytes, f.bytes, f.size);
        assert_int_equal(again.drops.n, 0);
        fixture_fini(&again);
        tl_source_close(s);
        fixture_fini(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_bytes),         cmocka_unit_test(test_versions),
        cmocka_unit_test(test_what_cannot_be_held), cmocka_unit_test(test_tracks_without_ids),
        cmocka_unit_test(test_canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
