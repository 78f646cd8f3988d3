/* FDR files: exact records, the rules of packing and order, what each version cannot hold, and reading and writing back
 * the same. */
#include "writer_fixture.h"

#include "base/endian.h"
#include "format/xray/fdr_layout.h"
#include "format/xray/fdr_write.h"
#include "traceloom/source.h"

extern const tl_format tl_format_xray_fdr;

static void start(fixture *f, int version)
{
    fixture_init(f);
    fixture_version(f, version);
    assert_int_equal(fixture_create(f, &tl_format_xray_fdr), 0);
}

/* Records of the file as text, one word each, from an offset on: these tests compare that. */
static char *describe(const fixture *f, size_t from, char *text, size_t size)
{
    static const char *const name[] = {"new", "end", "cpu", "wrap", "wall", "custom", "arg", "extents", "typed", "pid"};
    size_t used = 0;
    text[0] = 0;
    for (size_t at = from; at < f->size && used + 64 < size;) {
        const uint8_t *p = f->bytes + at;
        if (!FDR_IS_METADATA(p[0], false)) {
            uint32_t word = tl_load32(p, false);
            used += (size_t)snprintf(text + used, size - used, "f%u:%u+%u ", FDR_WORD_ACTION(word, false),
                                     FDR_WORD_ID(word, false), tl_load32(p + FDR_FUNCTION_DELTA, false));
            at += FDR_FUNCTION_SIZE;
            continue;
        }
        int kind = FDR_KIND(p[0], false);
        used += (size_t)snprintf(text + used, size - used, "%s", name[kind]);
        if (kind == FDR_NEW_CPU_ID)
            used += (size_t)snprintf(text + used, size - used, ":%u@%llu", tl_load16(p + FDR_NEW_CPU_ID_CPU, false),
                                     (unsigned long long)tl_load64(p + FDR_NEW_CPU_ID_TSC, false));
        else if (kind == FDR_TSC_WRAP || kind == FDR_CALL_ARGUMENT || kind == FDR_BUFFER_EXTENTS)
            used += (size_t)snprintf(text + used, size - used, ":%llu", (unsigned long long)tl_load64(p + 1, false));
        else if (kind == FDR_WALLTIME)
            used +=
                (size_t)snprintf(text + used, size - used, ":%llu.%06u", (unsigned long long)tl_load64(p + 1, false),
                                 tl_load32(p + FDR_WALLTIME_MICROSECONDS, false));
        else if (kind == FDR_NEW_BUFFER || kind == FDR_PID)
            used += (size_t)snprintf(text + used, size - used, ":%d", (int)tl_load32(p + 1, false));
        text[used++] = ' ';
        text[used] = 0;
        at += FDR_METADATA_SIZE;
        if (kind == FDR_CUSTOM_EVENT || kind == FDR_TYPED_EVENT)
            at += tl_load32(p + FDR_EVENT_SIZE, false);
        if (kind == FDR_END_OF_BUFFER)
            at = FDR_HEADER_SIZE + (at - FDR_HEADER_SIZE + FDR_SLOT_SIZE - 1) / FDR_SLOT_SIZE * FDR_SLOT_SIZE;
    }
    return text;
}

static void expect(const fixture *f, const char *records)
{
    char text[4096];
    assert_string_equal(describe(f, FDR_HEADER_SIZE, text, sizeof text), records);
}

static void test_exact_bytes(void **state)
{
    static const uint8_t bytes[] = {/* header: version 5, 1 GHz, 16 KiB */
                                    5, 0, 1, 0, 3, 0, 0, 0, 0, 0xca, 0x9a, 0x3b, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0,
                                    0, 0, 0, 0, 0, 0, 0, 0,
                                    /* BufferExtents */
                                    0xf, 0x48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                    /* NewBuffer */
                                    1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                    /* WalltimeMarker: 72623859.790382 s */
                                    9, 0xf3, 0x26, 0x54, 4, 0, 0, 0, 0, 0x6e, 0xf, 0xc, 0, 0, 0, 0,
                                    /* Pid */
                                    0x13, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                    /* NewCPUId */
                                    5, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0,
                                    /* enter 3 */
                                    0x30, 0, 0, 0, 0, 0, 0, 0};
    fixture f;
    start(&f, 0);
    fixture_event(&f, ENTER, 0, 258, 0x0102030405060708, 3, NULL, 0);
    fixture_finish(&f);
    assert_int_equal(f.size, sizeof bytes);
    assert_memory_equal(f.bytes, bytes, sizeof bytes);
    fixture_fini(&f);
}

static void test_records_of_a_call(void **state)
{
    fixture f;
    start(&f, 5);
    tl_value args[] = {{.type = TL_LIST, .n = 2}, {.type = TL_U64, .as.u = 3}, {.type = TL_U64, .as.u = UINT64_MAX}};
    tl_value none = {.type = TL_LIST};
    fixture_event(&f, ENTER, 0, 1, 5000, 1, NULL, 0);
    fixture_event(&f, ENTER_ARGS, 0, 1, 5010, 2, args, 3);
    fixture_event(&f, ENTER_ARGS, 0, 1, 5010, FDR_ID_MAX, &none, 1);
    fixture_event(&f, TAIL_EXIT, 0, 2, 5020, 2, NULL, 0);
    fixture_event(&f, EXIT, 0, 2, 5025, 0, NULL, 0);
    fixture_finish(&f);
    expect(&f, "extents:152 new:7 wall:0.000005 pid:5 cpu:1@5000 f0:1+0 f3:2+10 arg:3 arg:18446744073709551615 "
               "f3:268435455+0 cpu:2@5020 f2:2+0 f1:0+5 ");
    assert_int_equal(f.drops.n, 1);
    assert_true(fixture_dropped(&f, "function names") > 0);
    fixture_fini(&f);
}

/* Differences at the limits of u32 for functions and of i32 for events. */
static void test_differences(void **state)
{
    const uint64_t k = UINT64_C(1) << 32, h = k / 2;
    fixture f;
    start(&f, 5);
    fixture_call(&f, ENTER, 0, 0, 1);
    fixture_call(&f, ENTER, 0, k - 1, 1);
    fixture_call(&f, ENTER, 0, 2 * k - 1, 1);
    fixture_call(&f, ENTER, 0, 2 * k - 2, 1); /* back */
    fixture_custom(&f, 0, 0, 2 * k - 2 + h - 1, NULL, 0);
    fixture_custom(&f, 0, 0, 2 * k - 2 - 1, NULL, 0); /* -2^31 */
    fixture_custom(&f, 0, 0, 2 * k - 2 - 1 + h, NULL, 0);
    fixture_typed_event(&f, 0, 0, 2 * k - 2 - 2, 0, NULL, 0);
    fixture_call(&f, EXIT, 0, UINT64_MAX, 1);
    fixture_call(&f, EXIT, 0, 5, 1); /* modulo 2^64 it is near */
    fixture_finish(&f);
    expect(&f, "extents:256 new:7 wall:0.000000 pid:5 cpu:0@0 f0:1+0 f0:1+4294967295 wrap:8589934591 f0:1+0 "
               "wrap:8589934590 f0:1+0 custom custom wrap:10737418237 custom wrap:8589934588 typed "
               "wrap:18446744073709551615 f1:1+0 f1:1+6 ");
    fixture_fini(&f);
}

static void test_custom_events_of_each_version(void **state)
{
    static const char *const records[] = {
        "new:7 wall:0.000000 cpu:1@10 custom typed cpu:2@12 custom f0:1+1 end ",
        "extents:124 new:7 wall:0.000000 cpu:1@10 custom typed cpu:2@12 custom f0:1+1 ",
        "extents:140 new:7 wall:0.000000 pid:5 cpu:1@10 custom typed cpu:2@12 custom f0:1+1 ",
        "extents:140 new:7 wall:0.000000 pid:5 cpu:1@10 custom typed custom cpu:2@13 f0:1+0 ",
        "extents:140 new:7 wall:0.000000 pid:5 cpu:1@10 custom typed cpu:2@12 custom f0:1+1 ",
    };
    for (int version = 1; version <= 5; version++) {
        fixture f;
        start(&f, version);
        fixture_custom(&f, 0, 1, 10, "hi", 2);
        fixture_typed_event(&f, 0, 1, 11, 9, "", 0);
        fixture_custom(&f, 0, 2, 12, "hi", 2);
        fixture_event(&f, ENTER, 0, 2, 13, 1, NULL, 0);
        fixture_finish(&f);
        expect(&f, records[version - 1]);
        const uint8_t *custom = f.bytes + FDR_HEADER_SIZE + (version == 1 ? 48 : version == 2 ? 64 : 80);
        assert_int_equal(custom[0], FDR_BYTE0(FDR_CUSTOM_EVENT, false));
        assert_int_equal(tl_load32(custom + FDR_EVENT_SIZE, false), 2);
        if (version < 5) {
            assert_int_equal(tl_load64(custom + FDR_EVENT_TSC, false), 10);
            assert_int_equal(tl_load64(custom + 18 + FDR_EVENT_TSC, false), 11);
        } else {
            assert_int_equal(tl_load32(custom + FDR_EVENT_DELTA, false), 0);
        }
        assert_int_equal(custom[FDR_CUSTOM_CPU], version == 4 ? 1 : 0);
        assert_memory_equal(custom + 16, "hi", 2);
        assert_int_equal(tl_load16(custom + 18 + (version < 5 ? FDR_TYPED_TYPE_OLD : FDR_TYPED_TYPE), false), 9);
        assert_int_equal(fixture_dropped(&f, "process ids"), version < 3 ? 1 : 0);
        if (version == 1)
            assert_int_equal(f.size, FDR_HEADER_SIZE + FDR_SLOT_SIZE);
        fixture_fini(&f);
    }
}

static void test_what_cannot_be_held(void **state)
{
    fixture f;
    start(&f, 5);
    tl_value args[] = {
        {.type = TL_LIST, .n = 2}, {.type = TL_STRING, .n = 1, .as.p = "x"}, {.type = TL_I64, .as.i = -1}};
    fixture_call(&f, ENTER, 0, 1, (uint64_t)FDR_ID_MAX + 1);
    fixture_call(&f, EXIT, 0, 1, (uint64_t)-1);
    fixture_typed_event(&f, 0, 0, 1, 65536, "", 0);
    fixture_typed_event(&f, 0, 0, 1, 65535, "", 0);
    fixture_event(&f, ENTER, 0, 65536 + 3, 2, 1, NULL, 0);
    fixture_event(&f, ENTER, 0, -1, 2, 1, NULL, 0);
    fixture_event(&f, ENTER_ARGS, 0, -1, 2, 2, args, 3);
    fixture_finish(&f);
    expect(&f, "extents:152 new:7 wall:0.000000 pid:5 cpu:0@1 typed cpu:3@2 f0:1+0 cpu:0@2 f0:1+0 f3:2+0 "
               "arg:18446744073709551615 ");
    assert_int_equal(fixture_dropped(&f, "function events with ids over 28 bits"), 2);
    assert_int_equal(fixture_dropped(&f, "typed events with types over 16 bits"), 1);
    assert_int_equal(fixture_dropped(&f, "processor numbers"), 1);
    assert_int_equal(fixture_dropped(&f, "arguments that are not whole numbers"), 1);
    for (uint32_t i = 0; i < CLASSES; i++)
        assert_int_equal(f.format->event_writer->accept(f.writer, &f.trace.cls[i]), i == FRAMING ? TL_ACCEPT_IGNORE
                                                                                    : i <= TYPED ? TL_ACCEPT_KEEP
                                                                                                 : TL_ACCEPT_DROP);
    fixture_fini(&f);
}

static void test_versions(void **state)
{
    fixture f;
    fixture_init(&f);
    f.trace.format = "xray-fdr";
    f.trace.version = "3";
    assert_int_equal(fixture_create(&f, &tl_format_xray_fdr), 0);
    fixture_finish(&f);
    assert_int_equal(f.size, FDR_HEADER_SIZE);
    assert_int_equal(f.bytes[0], 3);
    fixture_fini(&f);

    fixture_init(&f); /* another format's version means nothing */
    f.trace.format = "xray-basic";
    f.trace.version = "3";
    assert_int_equal(fixture_create(&f, &tl_format_xray_fdr), 0);
    fixture_finish(&f);
    assert_int_equal(f.bytes[0], 5);
    fixture_fini(&f);

    for (int version = -1; version <= 6; version += 7) {
        fixture_init(&f);
        fixture_version(&f, version);
        assert_int_equal(fixture_create(&f, &tl_format_xray_fdr), TL_EINVAL);
        fixture_fini(&f);
    }
}

/* Fills buffers completely: 16384 bytes of content, not one more. */
static void test_full_buffers(void **state)
{
    fixture f;
    start(&f, 5);
    unsigned each = (FDR_BUFFER_MAX - 64) / 8;
    for (unsigned i = 0; i < 2 * each + 1; i++)
        fixture_call(&f, ENTER, 0, i, 1);
    fixture_finish(&f);
    size_t full = 16 + FDR_BUFFER_MAX;
    assert_int_equal(f.size, FDR_HEADER_SIZE + 2 * full + 16 + 64 + 8);
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(tl_load64(f.bytes + FDR_HEADER_SIZE + k * full + 1, false), FDR_BUFFER_MAX);
    assert_int_equal(tl_load64(f.bytes + FDR_HEADER_SIZE + 2 * full + 1, false), 72);
    fixture_fini(&f);
}

/* An entry stays with its arguments, and one larger than any buffer gets one of its own size. */
static void test_large_events(void **state)
{
    enum { ARGS = 2000, DATA = 100000 };
    tl_value *args = calloc(ARGS + 1, sizeof *args);
    uint8_t *data = calloc(1, DATA);
    assert_true(args && data);
    args[0] = (tl_value){.type = TL_LIST, .n = ARGS};
    for (uint32_t i = 1; i <= ARGS; i++)
        args[i] = (tl_value){.type = TL_U64, .as.u = i};
    for (int version = 1; version <= 5; version += 4) {
        fixture f;
        start(&f, version);
        fixture_call(&f, ENTER, 0, 1, 1);
        fixture_event(&f, ENTER_ARGS, 0, 0, 2, 2, args, ARGS + 1);
        fixture_call(&f, EXIT, 0, 3, 2);
        fixture_custom(&f, 0, 0, 4, data, DATA);
        fixture_custom(&f, 0, 0, 5, data, FDR_SLOT_SIZE - 80); /* the most that a slot holds */
        fixture_call(&f, EXIT, 0, 6, 1);
        fixture_finish(&f);
        if (version == 5) {
            size_t size[] = {72, 64 + 8 + 16 * ARGS, 72, 64 + 16 + DATA, 64 + 16 + FDR_SLOT_SIZE - 80, 72};
            size_t at = FDR_HEADER_SIZE;
            for (unsigned i = 0; i < 6; i++, at += 16 + size[i - 1])
                assert_int_equal(tl_load64(f.bytes + at + 1, false), size[i]);
            assert_int_equal(at, f.size);
            assert_int_equal(f.drops.n, 1); /* names of functions */
        } else {
            assert_int_equal(fixture_dropped(&f, "events larger than a slot"), 1);
            assert_int_equal(f.size, FDR_HEADER_SIZE + 3 * FDR_SLOT_SIZE);
            uint8_t *last = f.bytes + FDR_HEADER_SIZE + 2 * FDR_SLOT_SIZE - 16;
            assert_int_equal(last[0], FDR_BYTE0(FDR_END_OF_BUFFER, false));
        }
        fixture_fini(&f);
    }
    free(args);
    free(data);
}

/* Buffers of one thread whose first times go back must be read in the order written. */
static void test_wall_time_keeps_order(void **state)
{
    enum { DATA = 17000, BUFFERS = 6 };
    static const uint64_t ts[BUFFERS] = {5000000, 5000000, 1000, 1000, 999, 9000000};
    static const uint64_t wall[BUFFERS] = {5000, 5000, 5001, 5001, 5002, 9000};
    uint8_t *data = calloc(1, DATA);
    assert_non_null(data);
    fixture f;
    start(&f, 5);
    for (unsigned i = 0; i < BUFFERS; i++)
        fixture_custom(&f, 0, 0, ts[i], data, DATA);
    fixture_finish(&f);
    for (unsigned i = 0; i < BUFFERS; i++) {
        const uint8_t *p = f.bytes + FDR_HEADER_SIZE + i * (16 + 64 + 16 + DATA) + 32;
        assert_int_equal(p[0], FDR_BYTE0(FDR_WALLTIME, false));
        assert_int_equal(tl_load64(p + FDR_WALLTIME_SECONDS, false), 0);
        assert_int_equal(tl_load32(p + FDR_WALLTIME_MICROSECONDS, false), wall[i]);
    }
    free(data);
    fixture_fini(&f);
}

static void test_alternating_tracks_share_no_buffers(void **state)
{
    fixture f;
    start(&f, 5);
    for (unsigned i = 0; i < 100; i++)
        fixture_call(&f, ENTER, i & 1, i, 1);
    fixture_finish(&f);
    assert_int_equal(f.size, FDR_HEADER_SIZE + 2 * (16 + 64 + 50 * 8));
    fixture_fini(&f);
}

/* Tracks without ids get their number, and more tracks than may be open at a time are all written. */
static void test_many_tracks(void **state)
{
    enum { TRACKS = FDR_OPEN_MAX + 50, ROUNDS = 3 };
    fixture f;
    fixture_init(&f);
    for (unsigned i = 2; i < TRACKS; i++) {
        tl_track track = {.name = "stream"};
        uint32_t index;
        assert_int_equal(tl_trace_add_track(&f.trace, &track, &index, NULL), 0);
    }
    assert_int_equal(fixture_create(&f, &tl_format_xray_fdr), 0);
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < TRACKS; i++)
            fixture_call(&f, ENTER, i, round, 1);
    fixture_finish(&f);
    unsigned events[TRACKS + 1] = {0}, next = 0;
    for (size_t at = FDR_HEADER_SIZE; at < f.size;) {
        uint64_t size = tl_load64(f.bytes + at + 1, false);
        uint32_t tid = tl_load32(f.bytes + at + 16 + 1, false), track = tid >= 7 && tid <= 8 ? tid - 7 : tid - 1;
        bool has_pid = f.bytes[at + 48] == FDR_BYTE0(FDR_PID, false);
        if (tid == 7 || tid == 8)
            track = has_pid ? tid - 7 : tid - 1;
        assert_true(track < TRACKS);
        if (events[track] == 0) /* first buffers come in the order of first events */
            assert_int_equal(track, next++);
        events[track] += (unsigned)(size - (has_pid ? 64 : 48)) / 8;
        assert_true(f.size - at >= 16 && size <= f.size - at - 16);
        at += 16 + (size_t)size;
    }
    for (unsigned i = 0; i < TRACKS; i++)
        assert_int_equal(events[i], ROUNDS);
    fixture_fini(&f);
}

/* Writes all events of a source with a version; the caller frees. */
static uint8_t *rewrite(const void *data, size_t size, int version, size_t *out_size, uint64_t *events, uint64_t *drops)
{
    const tl_open_options all = {.want = {.fields = true, .cpu = true}};
    tl_source *s;
    assert_int_equal(tl_source_open_memory(&s, data, size, "test", &all, NULL), 0);
    char text[16];
    snprintf(text, sizeof text, "%d", version);
    tl_write_options options = {.version = version ? text : NULL};
    tl_drops dropped = {0};
    tl_output *out;
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, NULL), 0);
    fdr_writer *w = calloc(1, sizeof *w);
    assert_non_null(w);
    const tl_write_context context = {.out = out, .trace = tl_source_trace(s), .drops = &dropped, .options = &options};
    assert_int_equal(fdr_create(w, &context, NULL), 0);
    const tl_batch *b;
    int status;
    *events = *drops = 0;
    while ((status = tl_source_next(s, &b, NULL)) > 0) {
        assert_int_equal(fdr_write(w, b, 0, b->n, NULL), 0);
        *events += b->n;
    }
    assert_int_equal(status, 0);
    assert_int_equal(fdr_finish(w, NULL), 0);
    assert_int_equal(tl_output_finish(out, NULL), 0);
    uint8_t *bytes = tl_output_take_memory(out, out_size);
    for (uint32_t i = 0; i < dropped.n; i++)
        *drops += dropped.drop[i].n;
    free(dropped.drop);
    fdr_discard(w);
    free(w);
    tl_output_close(out);
    tl_source_close(s);
    return bytes;
}

/* A trace with everything, in three tracks one after another. */
static void fill(fixture *f, unsigned seed)
{
    static const char payload[400] = "payload";
    uint64_t ts[2] = {seed, seed * 7};
    for (uint32_t track = 0; track < 2; track++)
        for (unsigned i = 0; i < 6000; i++) {
            seed = seed * 1103515245 + 12345;
            unsigned random = seed >> 8;
            ts[track] += random % 1000 == 0 ? UINT64_C(5000000000) : random % 5000;
            if (random % 997 == 0)
                ts[track] -= 100000;
            int32_t cpu = (int32_t)(i / 500 % 3);
            tl_value args[] = {{.type = TL_LIST, .n = 2}, {.type = TL_U64, .as.u = i}, {.type = TL_U64, .as.u = seed}};
            if (random % 50 == 1)
                fixture_custom(f, track, cpu, ts[track], payload, random % 400);
            else if (random % 50 == 2)
                fixture_typed_event(f, track, cpu, ts[track], i & 0xffff, payload, random % 300);
            else if (random % 50 == 3)
                fixture_event(f, ENTER_ARGS, track, cpu, ts[track], i, args, 3);
            else
                fixture_event(f, random % 3, track, cpu, ts[track], 1 + random % 1000, NULL, 0);
        }
}

static void test_canonical(void **state)
{
    for (int version = 1; version <= 5; version++) {
        fixture f;
        start(&f, version);
        fill(&f, 12345u + (unsigned)version);
        fixture_finish(&f);
        size_t size;
        uint64_t events, drops;
        uint8_t *again = rewrite(f.bytes, f.size, 0, &size, &events, &drops);
        assert_int_equal(events, 12000);
        assert_int_equal(drops, 0);
        assert_int_equal(size, f.size);
        assert_memory_equal(again, f.bytes, size);
        free(again);
        fixture_fini(&f);
    }
}

/* A clock without frequency, times at the end of the range: wall times do not overflow. */
static void test_clock_limits(void **state)
{
    static const uint64_t hz[] = {0, 1, UINT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        fixture_init(&f);
        tl_trace_set_clock(&f.trace, "tsc", hz[i]);
        assert_int_equal(fixture_create(&f, &tl_format_xray_fdr), 0);
        fixture_call(&f, ENTER, 0, UINT64_MAX, 1);
        fixture_call(&f, EXIT, 0, 0, 1);
        fixture_finish(&f);
        assert_int_equal(tl_load64(f.bytes + FDR_HEADER_HZ, false), hz[i]);
        assert_in_range(tl_load32(f.bytes + 64 + FDR_WALLTIME_MICROSECONDS, false), 0, 999999);
        size_t size;
        uint64_t events, drops;
        uint8_t *again = rewrite(f.bytes, f.size, 0, &size, &events, &drops);
        assert_int_equal(events, 2);
        assert_memory_equal(again, f.bytes, f.size);
        free(again);
        fixture_fini(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_bytes),           cmocka_unit_test(test_records_of_a_call),
        cmocka_unit_test(test_differences),           cmocka_unit_test(test_custom_events_of_each_version),
        cmocka_unit_test(test_what_cannot_be_held),   cmocka_unit_test(test_versions),
        cmocka_unit_test(test_full_buffers),          cmocka_unit_test(test_large_events),
        cmocka_unit_test(test_wall_time_keeps_order), cmocka_unit_test(test_alternating_tracks_share_no_buffers),
        cmocka_unit_test(test_many_tracks),           cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_clock_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
