/* Perfetto packets, taken apart field by field: sequences, state, interned names, descriptors, losses, arguments. */
#include "rich_fixture.h"

#include "format/perfetto/perfetto_writer.h"
#include "perfetto_packets.h"

extern const tl_format tl_format_perfetto;

static void start(fixture *f)
{
    assert_int_equal(fixture_create(f, &tl_format_perfetto), 0);
}

static void test_clock_snapshot(void **state)
{
    fixture f;
    fixture_init(&f);
    f.trace.clock.has_utc = true;
    f.trace.clock.utc_offset_ns = 1000;
    f.options.begin = 50;
    start(&f);
    fixture_finish(&f);
    assert_int_equal(packets(&f), 1);
    message snapshot = find(packet(&f, 0), PACKET_CLOCK_SNAPSHOT).content;
    assert_int_equal(number(snapshot, SNAPSHOT_PRIMARY), CLOCK_MONOTONIC_ID);
    field clock;
    assert_true(next(&snapshot, &clock));
    assert_int_equal(number(clock.content, CLOCK_ID), CLOCK_MONOTONIC_ID);
    assert_int_equal(number(clock.content, CLOCK_TIMESTAMP), 0);
    assert_true(next(&snapshot, &clock));
    assert_int_equal(number(clock.content, CLOCK_ID), CLOCK_REALTIME_ID);
    assert_int_equal(number(clock.content, CLOCK_TIMESTAMP), 1050);
    fixture_fini(&f);
}

static void test_sequence(void **state)
{
    fixture f;
    fixture_init(&f);
    f.options.begin = 100;
    start(&f);
    fixture_call(&f, ENTER, 0, 100, 2);
    fixture_call(&f, ENTER, 0, 105, 2);
    fixture_call(&f, EXIT, 0, 300, 2);
    fixture_call(&f, EXIT, 0, 301, 2);
    fixture_finish(&f);
    assert_int_equal(packets(&f), 7); /* clock, process, thread, four events */

    message process = find(packet(&f, 1), PACKET_TRACK_DESCRIPTOR).content;
    assert_int_equal(number(find(process, DESCRIPTOR_PROCESS).content, PROCESS_PID), 5);
    assert_true(text_is(find(find(process, DESCRIPTOR_PROCESS).content, PROCESS_NAME), "app.xray"));

    message first = packet(&f, 2), thread = find(first, PACKET_TRACK_DESCRIPTOR).content;
    uint64_t uuid = number(thread, DESCRIPTOR_UUID);
    assert_int_equal(number(thread, DESCRIPTOR_PARENT), number(process, DESCRIPTOR_UUID));
    assert_int_equal(number(find(thread, DESCRIPTOR_THREAD).content, THREAD_PID), 5);
    assert_int_equal(number(find(thread, DESCRIPTOR_THREAD).content, THREAD_TID), 7);
    assert_true(text_is(find(find(thread, DESCRIPTOR_THREAD).content, THREAD_NAME), "thread 7"));
    assert_int_equal(number(first, PACKET_SEQUENCE_FLAGS), SEQUENCE_STATE_CLEARED);
    assert_int_equal(number(first, PACKET_FIRST_ON_SEQUENCE), 1);
    assert_int_equal(find(first, PACKET_PREVIOUS_DROPPED).number, 0);
    message defaults = find(first, PACKET_DEFAULTS).content;
    assert_int_equal(number(defaults, DEFAULTS_CLOCK_ID), CLOCK_MONOTONIC_ID);
    assert_int_equal(number(find(defaults, DEFAULTS_TRACK_EVENT).content, EVENT_DEFAULTS_TRACK_UUID), uuid);

    static const uint64_t ts[] = {0, 5, 200, 201}, type[] = {1, 1, 2, 2};
    for (unsigned i = 0; i < 4; i++) {
        message p = packet(&f, 3 + i), event = find(p, PACKET_TRACK_EVENT).content;
        assert_int_equal(number(p, PACKET_TIMESTAMP), ts[i]);
        assert_int_equal(find(p, PACKET_TIMESTAMP).number, PACKET_TIMESTAMP);
        assert_int_equal(number(p, PACKET_SEQUENCE_ID), number(first, PACKET_SEQUENCE_ID));
        assert_int_equal(number(p, PACKET_SEQUENCE_FLAGS), SEQUENCE_NEEDS_STATE);
        assert_int_equal(number(event, EVENT_TYPE), type[i]);
        message name = find(find(p, PACKET_INTERNED_DATA).content, INTERNED_EVENT_NAMES).content;
        if (i == 0) { /* the name is sent once */
            assert_true(text_is(find(name, INTERNED_NAME), "fib"));
            assert_int_equal(number(name, INTERNED_IID), number(event, EVENT_NAME_IID));
        } else {
            assert_int_equal(find(p, PACKET_INTERNED_DATA).number, 0);
        }
    }
    uint64_t iid = number(find(packet(&f, 3), PACKET_TRACK_EVENT).content, EVENT_NAME_IID);
    assert_int_equal(number(find(packet(&f, 4), PACKET_TRACK_EVENT).content, EVENT_NAME_IID), iid);
    assert_true(iid > 0);
    fixture_fini(&f);
}

/* Two alternating tracks: each gets names of its own, and processes only once. */
static void test_two_sequences(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    for (unsigned i = 0; i < 6; i++)
        fixture_call(&f, ENTER, i % 2, i, 44);
    fixture_finish(&f);
    assert_int_equal(packets(&f), 1 + 1 + 2 + 6);
    unsigned told = 0, processes = 0;
    for (unsigned i = 0; i < 10; i++) {
        field interned = find(packet(&f, i), PACKET_INTERNED_DATA);
        if (interned.number) {
            told++;
            assert_true(text_is(find(find(interned.content, INTERNED_EVENT_NAMES).content, INTERNED_NAME), "#44"));
        }
        processes += find(find(packet(&f, i), PACKET_TRACK_DESCRIPTOR).content, DESCRIPTOR_PROCESS).number != 0;
    }
    assert_int_equal(told, 2);
    assert_int_equal(processes, 1);
    assert_int_equal(fixture_dropped(&f, "calls still open"), 6);
    fixture_fini(&f);
}

static void test_annotations(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    tl_value args[] = {{.type = TL_LIST, .n = 2}, {.type = TL_U64, .as.u = UINT64_MAX}, {.type = TL_F64, .as.f = 0.5}};
    fixture_event(&f, ENTER_ARGS, 0, 0, 1, 1, args, 3);
    fixture_typed_event(&f, 0, 0, 2, 9, "hi", 2);
    tl_value v[] = {{.type = TL_STRUCT, .n = 2},
                    {.type = TL_I64, .as.i = -5},
                    {.type = TL_BOOL, .as.u = 1},
                    {.type = TL_STRING, .n = 3, .as.p = "abc"},
                    {.type = TL_NULL}};
    fixture_event(&f, STRUCTURED, 0, 0, 3, 0, v, 5);
    tl_value opcode = {.type = TL_HEX, .as.u = 0x1f};
    fixture_event(&f, INSN, 0, 0, 4, 0x4000, &opcode, 1);
    fixture_finish(&f);

    message event = find(packet(&f, 3), PACKET_TRACK_EVENT).content;
    message list = find(event, EVENT_ANNOTATION).content;
    assert_true(text_is(find(list, ANNOTATION_NAME), "args"));
    message element = find(list, ANNOTATION_ARRAY).content;
    assert_true(number(element, ANNOTATION_UINT) == UINT64_MAX);

    event = find(packet(&f, 4), PACKET_TRACK_EVENT).content;
    assert_int_equal(number(event, EVENT_TYPE), TYPE_INSTANT);
    assert_int_equal(number(find(event, EVENT_ANNOTATION).content, ANNOTATION_UINT), 9);
    field annotation;
    do
        assert_true(next(&event, &annotation));
    while (annotation.number != EVENT_ANNOTATION || !text_is(find(annotation.content, ANNOTATION_NAME), "data"));
    assert_true(text_is(find(annotation.content, ANNOTATION_STRING), "6869"));

    event = find(packet(&f, 5), PACKET_TRACK_EVENT).content;
    message point = find(event, EVENT_ANNOTATION).content;
    message x = find(point, ANNOTATION_DICT).content;
    assert_true(text_is(find(x, ANNOTATION_NAME), "x"));
    assert_true((int64_t)number(x, ANNOTATION_INT) == -5);

    event = find(packet(&f, 6), PACKET_TRACK_EVENT).content;
    assert_true(text_is(find(find(event, EVENT_ANNOTATION).content, ANNOTATION_NAME), "pc"));
    assert_int_equal(number(find(event, EVENT_ANNOTATION).content, ANNOTATION_POINTER), 0x4000);
    fixture_fini(&f);
}

static void test_counters(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    for (unsigned i = 0; i < 2; i++) {
        tl_value v[] = {
            {.type = TL_U64, .as.u = 9 + i}, {.type = TL_STRING, .n = 1, .as.p = "x"}, {.type = TL_F64, .as.f = 0.5}};
        fixture_event(&f, COUNTER, 0, 0, 1 + i, 0, v, 3);
    }
    fixture_finish(&f);
    assert_int_equal(packets(&f), 3 + 2 * 2 + 2); /* two counters: a descriptor each, then a value each time */
    message heap = find(packet(&f, 3), PACKET_TRACK_DESCRIPTOR).content;
    assert_true(text_is(find(heap, DESCRIPTOR_NAME), "memory heap"));
    assert_int_equal(find(heap, DESCRIPTOR_COUNTER).number, DESCRIPTOR_COUNTER);
    message value = find(packet(&f, 7), PACKET_TRACK_EVENT).content;
    assert_int_equal(number(value, EVENT_TYPE), TYPE_COUNTER);
    assert_int_equal(number(value, EVENT_COUNTER_VALUE), 10);
    assert_true(number(value, EVENT_TRACK_UUID) == number(heap, DESCRIPTOR_UUID));
    double half;
    uint64_t bits = number(find(packet(&f, 8), PACKET_TRACK_EVENT).content, EVENT_DOUBLE_COUNTER_VALUE);
    memcpy(&half, &bits, sizeof half);
    assert_true(half > 0.49 && half < 0.51);
    fixture_fini(&f);
}

/* A loss clears the state: names are sent again. */
static void test_losses(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    fixture_call(&f, ENTER, 0, 1, 1);
    fixture_event(&f, LOSS, 0, 0, 2, 0, NULL, 0);
    fixture_call(&f, ENTER, 0, 3, 1);
    fixture_finish(&f);
    message cleared = packet(&f, 4);
    assert_int_equal(number(cleared, PACKET_PREVIOUS_DROPPED), 1);
    assert_int_equal(number(cleared, PACKET_SEQUENCE_FLAGS), SEQUENCE_STATE_CLEARED);
    assert_int_equal(find(cleared, PACKET_FIRST_ON_SEQUENCE).number, 0);
    assert_int_equal(find(cleared, PACKET_DEFAULTS).number, PACKET_DEFAULTS);
    message again = find(find(packet(&f, 6), PACKET_INTERNED_DATA).content, INTERNED_EVENT_NAMES).content;
    assert_true(text_is(find(again, INTERNED_NAME), "main"));
    fixture_fini(&f);
}

/* Too many names are forgotten: sequences begin again, but nothing was lost. */
static void test_forgotten_names(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    fixture_call(&f, ENTER, 0, 1, 1);
    fixture_flush(&f);
    ((perfetto_writer *)f.writer)->function.n = INTERNED_MAX; /* as if that many had been used */
    fixture_call(&f, ENTER, 0, 2, 1);
    fixture_finish(&f);
    message again = packet(&f, 4);
    assert_int_equal(number(again, PACKET_SEQUENCE_FLAGS), SEQUENCE_STATE_CLEARED);
    assert_int_equal(find(again, PACKET_DEFAULTS).number, PACKET_DEFAULTS);
    assert_int_equal(find(again, PACKET_FIRST_ON_SEQUENCE).number, 0);
    assert_int_equal(find(again, PACKET_PREVIOUS_DROPPED).number, 0);
    message name = find(find(packet(&f, 5), PACKET_INTERNED_DATA).content, INTERNED_EVENT_NAMES).content;
    assert_true(text_is(find(name, INTERNED_NAME), "main"));
    fixture_fini(&f);
}

static void test_damage(void **state)
{
    fixture f;
    fixture_init(&f);
    assert_int_equal(tl_trace_add_damage(&f.trace, NULL, 5, 6, "rule", "what"), 0);
    start(&f);
    fixture_call(&f, ENTER, 0, 1, 1);
    fixture_finish(&f);
    assert_int_equal(number(packet(&f, 2), PACKET_PREVIOUS_DROPPED), 1);
    assert_int_equal(find(packet(&f, 2), PACKET_FIRST_ON_SEQUENCE).number, 0);
    fixture_fini(&f);
}

static void test_nesting(void **state)
{
    fixture f;
    fixture_init(&f);
    start(&f);
    fixture_call(&f, EXIT, 0, 1, 1);
    fixture_call(&f, ENTER, 0, 2, 1);
    fixture_call(&f, ENTER, 0, 3, 2);
    fixture_call(&f, EXIT, 0, 1, 1); /* back in time, and two calls at once */
    fixture_finish(&f);
    assert_int_equal(packets(&f), 3 + 4);
    for (unsigned i = 5; i < 7; i++) {
        assert_int_equal(number(packet(&f, i), PACKET_TIMESTAMP), 3);
        assert_int_equal(number(find(packet(&f, i), PACKET_TRACK_EVENT).content, EVENT_TYPE), TYPE_SLICE_END);
    }
    assert_int_equal(fixture_dropped(&f, "exits of functions that were not open"), 1);
    assert_int_equal(fixture_dropped(&f, "calls without an exit"), 1);
    assert_int_equal(fixture_dropped(&f, "times that went back"), 1);
    fixture_fini(&f);
}

/* The largest numbers must fit the packets that bypass the general encoder. */
static void test_largest_numbers(void **state)
{
    fixture f;
    fixture_init(&f);
    tl_track track = {.name = "t", .tid = INT64_MAX, .pid = INT64_MIN, .has_tid = true, .has_pid = true};
    uint32_t index = 0;
    while (index < 20000)
        assert_int_equal(tl_trace_add_track(&f.trace, &track, &index, NULL), 0);
    start(&f);
    fixture_call(&f, ENTER, index, UINT64_MAX, UINT64_MAX);
    fixture_call(&f, ENTER, index, UINT64_MAX, UINT64_MAX);
    fixture_finish(&f);
    message last = packet(&f, packets(&f) - 1);
    assert_true(number(last, PACKET_TIMESTAMP) == UINT64_MAX);
    assert_int_equal(number(last, PACKET_SEQUENCE_ID), index + 2);
    message name = find(find(packet(&f, packets(&f) - 2), PACKET_INTERNED_DATA).content, INTERNED_EVENT_NAMES).content;
    assert_true(text_is(find(name, INTERNED_NAME), "#-1"));
    fixture_fini(&f);
}

/* The annotation with a name, in a message's fields with a number. */
static message annotation(message m, unsigned number, const char *name)
{
    field f;
    while (next(&m, &f))
        if (f.number == number && text_is(find(f.content, ANNOTATION_NAME), name))
            return f.content;
    fail_msg("there is no annotation %s", name);
    return m;
}

static void test_rich_fields(void **state)
{
    fixture f;
    rich_init(&f);
    start(&f);
    rich_open_event(&f, 1);
    rich_other_event(&f, 2);
    fixture_finish(&f);
    message event = find(packet(&f, 3), PACKET_TRACK_EVENT).content,
            context = annotation(event, EVENT_ANNOTATION, "context"), list;
    assert_true(text_is(find(annotation(event, EVENT_ANNOTATION, "mode"), ANNOTATION_STRING), "READ|B \"? (2)"));
    assert_true(text_is(find(annotation(event, EVENT_ANNOTATION, "level"), ANNOTATION_STRING), "neg|all (-3)"));
    assert_true(text_is(find(annotation(event, EVENT_ANNOTATION, "bits"), ANNOTATION_STRING), "A|B (5)"));
    assert_int_equal(number(annotation(event, EVENT_ANNOTATION, "either"), ANNOTATION_UINT), 5);
    list = annotation(event, EVENT_ANNOTATION, "list");
    assert_int_equal(number(find(list, ANNOTATION_ARRAY).content, ANNOTATION_UINT), 1);
    assert_int_equal(number(annotation(context, ANNOTATION_DICT, "stream.pid"), ANNOTATION_INT), UINT64_MAX);
    assert_int_equal(number(annotation(context, ANNOTATION_DICT, "event.pid"), ANNOTATION_UINT), 7);

    event = find(packet(&f, 5), PACKET_TRACK_EVENT).content;
    assert_int_equal(number(annotation(event, EVENT_ANNOTATION, "mode"), ANNOTATION_UINT), 100);
    assert_int_equal(
        number(annotation(annotation(event, EVENT_ANNOTATION, "either"), ANNOTATION_DICT, "y"), ANNOTATION_BOOL), 1);
    field a;
    unsigned n = 0;
    while (next(&event, &a)) {
        n += a.number == EVENT_ANNOTATION;
        if (a.number == EVENT_ANNOTATION)
            assert_false(text_is(find(a.content, ANNOTATION_NAME), "context")); /* nothing of it is there */
    }
    assert_int_equal(n, 7);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_snapshot),  cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_two_sequences),   cmocka_unit_test(test_annotations),
        cmocka_unit_test(test_counters),        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_forgotten_names), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_nesting),         cmocka_unit_test(test_largest_numbers),
        cmocka_unit_test(test_rich_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
