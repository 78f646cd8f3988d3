/* Perfetto packets of managed runtimes: spans on tracks of their own, gauges, samples. */
#include "timeline_fixture.h"

#include "perfetto_packets.h"

extern const tl_format tl_format_perfetto;

static void start(fixture *f)
{
    assert_int_equal(fixture_create(f, &tl_format_perfetto), 0);
}

/* A TrackEvent on a track that is not its thread's own. */
typedef struct track_event {
    uint64_t ts, uuid, type;
    message event;
} track_event;

static unsigned track_events(const fixture *f, track_event *out, unsigned most)
{
    unsigned n = 0;
    for (unsigned i = 0; i < packets(f); i++) {
        field e = find(packet(f, i), PACKET_TRACK_EVENT);
        if (!e.number || !find(e.content, EVENT_TRACK_UUID).number)
            continue;
        assert_true(n < most);
        out[n++] = (track_event){number(packet(f, i), PACKET_TIMESTAMP), number(e.content, EVENT_TRACK_UUID),
                                 number(e.content, EVENT_TYPE), e.content};
    }
    return n;
}

/* The descriptor of a track, which must come before its uses. */
static message descriptor(const fixture *f, uint64_t uuid)
{
    for (unsigned i = 0; i < packets(f); i++) {
        field d = find(packet(f, i), PACKET_TRACK_DESCRIPTOR);
        if (d.number && number(d.content, DESCRIPTOR_UUID) == uuid)
            return d.content;
        field e = find(packet(f, i), PACKET_TRACK_EVENT);
        assert_false(e.number && number(e.content, EVENT_TRACK_UUID) == uuid);
    }
    fail_msg("a track without descriptor");
    return (message){0};
}

static void test_spans(void **state)
{
    fixture f;
    track_event e[12];
    rt_init(&f);
    start(&f);
    rt_gc_begin(&f, 0, 1);
    rt_jit_begin(&f, 0, 2, 1);
    rt_got_code(&f, 2, 1, 1);
    rt_jit_begin(&f, 0, 2, 2); /* while the other one is open: on a track of its own */
    rt_got_code(&f, 2, 2, 2);
    rt_gc_end(&f, 1, 3);
    rt_jit_end(&f, 0, 4, 1);
    rt_jit_end(&f, 0, 4, 2);
    rt_jit_begin(&f, 0, 4, 3); /* again on the first */
    fixture_finish(&f);
    assert_int_equal(track_events(&f, e, 12), 7); /* the last one has no end */
    static const uint64_t ts[] = {1, 3, 2, 4, 2, 4, 4};
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(e[i].ts, ts[i] * 1000000);
        assert_int_equal(e[i].type, i % 2 ? TYPE_SLICE_END : TYPE_SLICE_BEGIN);
    }
    assert_true(e[0].uuid == e[1].uuid && e[2].uuid == e[3].uuid && e[4].uuid == e[5].uuid);
    assert_true(e[0].uuid != e[2].uuid && e[2].uuid != e[4].uuid && e[6].uuid == e[2].uuid);
    assert_true(text_is(find(e[0].event, EVENT_NAME), "GC"));
    assert_true(text_is(find(e[2].event, EVENT_NAME), "JIT main"));
    assert_true(text_is(find(e[4].event, EVENT_NAME), "JIT fib"));
    assert_true(text_is(find(e[6].event, EVENT_NAME), "JIT 0x3"));
    message reason = find(e[0].event, EVENT_ANNOTATION).content;
    assert_true(text_is(find(reason, ANNOTATION_NAME), "reason"));
    assert_true(text_is(find(reason, ANNOTATION_STRING), "induced"));
    assert_true(text_is(find(descriptor(&f, e[0].uuid), DESCRIPTOR_NAME), "GC"));
    for (unsigned i = 2; i < 6; i += 2) {
        message d = descriptor(&f, e[i].uuid);
        assert_true(text_is(find(d, DESCRIPTOR_NAME), "JIT"));
        message thread = descriptor(&f, number(d, DESCRIPTOR_PARENT));
        assert_true(text_is(find(find(thread, DESCRIPTOR_THREAD).content, THREAD_NAME), "thread 0x0"));
    }
    /* The end adds its status, but repeats nothing from the begin. */
    message jit = e[2].event;
    field a;
    unsigned annotations = 0, status = 0;
    while (next(&jit, &a)) {
        annotations += a.number == EVENT_ANNOTATION;
        status += a.number == EVENT_ANNOTATION && text_is(find(a.content, ANNOTATION_NAME), "status");
    }
    assert_int_equal(annotations, 2);
    assert_int_equal(status, 1);
    assert_int_equal(fixture_dropped(&f, "begins still open"), 1);
    fixture_fini(&f);
}

static void test_gauges(void **state)
{
    fixture f;
    track_event e[12];
    rt_init(&f);
    start(&f);
    rt_cpu_used(&f, 0, 10, 20, 2500);
    rt_two_items(&f, RT_ALLOC, 0, 60, 10, 100, 50);
    rt_two_items(&f, RT_ALLOC, 1, 61, 10, 1, 1);
    fixture_finish(&f);
    assert_int_equal(track_events(&f, e, 12), 4);
    double percent;
    const uint64_t bits = number(e[0].event, EVENT_DOUBLE_COUNTER_VALUE);
    memcpy(&percent, &bits, sizeof percent);
    assert_true(percent > 24.99 && percent < 25.01);
    assert_int_equal(e[0].ts, 10000000);
    assert_int_equal(e[3].ts, 20000000); /* its end, in the last packet */
    assert_true(e[0].uuid == e[3].uuid && e[1].uuid == e[2].uuid);
    message cpu = descriptor(&f, e[0].uuid), allocated = descriptor(&f, e[1].uuid);
    assert_true(text_is(find(cpu, DESCRIPTOR_NAME), "CPU %"));
    assert_int_equal(find(cpu, DESCRIPTOR_COUNTER).number, DESCRIPTOR_COUNTER);
    assert_int_equal(find(descriptor(&f, number(cpu, DESCRIPTOR_PARENT)), DESCRIPTOR_THREAD).number, DESCRIPTOR_THREAD);
    assert_true(text_is(find(allocated, DESCRIPTOR_NAME), "allocated bytes"));
    assert_int_equal(number(find(allocated, DESCRIPTOR_COUNTER).content, COUNTER_UNIT), UNIT_BYTES);
    message process = descriptor(&f, number(allocated, DESCRIPTOR_PARENT));
    assert_int_equal(find(process, DESCRIPTOR_PROCESS).number, DESCRIPTOR_PROCESS);
    assert_int_equal(number(e[1].event, EVENT_COUNTER_VALUE), 150);
    assert_int_equal(number(e[2].event, EVENT_COUNTER_VALUE), 152);
    fixture_fini(&f);
}

/* The text of an interned entry of an iid, up to packet `last` of the samples' sequence. */
static bool interned_is(const fixture *f, unsigned table, uint64_t iid, const char *text)
{
    for (unsigned i = 0; i < packets(f); i++) {
        message data = find(packet(f, i), PACKET_INTERNED_DATA).content;
        field entry;
        while (next(&data, &entry))
            if (entry.number == table && number(entry.content, INTERNED_IID) == iid)
                return text_is(find(entry.content, INTERNED_NAME), text);
    }
    return false;
}

static void test_samples(void **state)
{
    fixture f;
    rt_init(&f);
    start(&f);
    const tl_frame main_frame = RT_FRAME(1, "main", NULL, 1), fib = RT_FRAME(2, "fib", &main_frame, 2);
    rt_sampled(&f, 1, 30, 10, 3, &fib);
    rt_sampled(&f, 1, 31, 10, 0, &main_frame);
    rt_sampled(&f, 1, 40, 0, 1, &main_frame);
    rt_sampled(&f, 0, 40, 10, 1, &fib);
    rt_sampled(&f, 1, 50, 10, 1, NULL);
    fixture_finish(&f);
    static const uint64_t ts[] = {10, 20, 30, 40, 50}, tid[] = {2, 2, 2, 7, 2};
    unsigned n = 0, told = 0;
    uint64_t stack = 0, sequence = 0;
    for (unsigned i = 0; i < packets(&f); i++) {
        message p = packet(&f, i);
        field sample = find(p, PACKET_PERF_SAMPLE);
        message data = find(p, PACKET_INTERNED_DATA).content;
        told += find(data, INTERNED_CALLSTACKS).number != 0;
        if (!sample.number)
            continue;
        assert_int_equal(number(p, PACKET_TIMESTAMP), ts[n] * 1000000);
        assert_int_equal(number(sample.content, SAMPLE_PID), 5);
        assert_int_equal(number(sample.content, SAMPLE_TID), tid[n]);
        if (n == 0) {
            sequence = number(p, PACKET_SEQUENCE_ID);
            stack = number(sample.content, SAMPLE_CALLSTACK);
            message frames = find(data, INTERNED_CALLSTACKS).content;
            assert_int_equal(number(frames, INTERNED_IID), stack);
            field frame;
            const char *const name[] = {"main", "fib"};
            for (unsigned k = 0; next(&frames, &frame);)
                if (frame.number == CALLSTACK_FRAMES)
                    assert_true(interned_is(&f, INTERNED_FUNCTION_NAMES, frame.value, name[k++]));
        }
        assert_int_equal(number(p, PACKET_SEQUENCE_ID), sequence);
        assert_int_equal(number(sample.content, SAMPLE_CALLSTACK), n < 4 ? stack : 0);
        n++;
    }
    assert_int_equal(n, 5);
    assert_int_equal(told, 1);
    assert_true(interned_is(&f, INTERNED_MAPPING_PATHS, 1, "app.log"));
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_gauges),
        cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
