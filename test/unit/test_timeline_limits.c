/* Limits of time lines: more spans, gauges and samples than any program has are reported, and never take too much
 * memory. */
#include "model/span.h"
#include "timeline_fixture.h"

extern const tl_format tl_format_chrome, tl_format_perfetto, tl_format_speedscope;

static void start(fixture *f, const tl_format *format)
{
    rt_init(f);
    assert_int_equal(fixture_create(f, format), 0);
}

/* As many spans as may be open, and three more: on many threads, each with its own limit. */
static void spans_at_a_time_are_limited(void **state)
{
    const unsigned tracks = TL_SPANS_MAX / TL_SPAN_LANES_MAX + 1;
    fixture f;
    rt_init(&f);
    for (unsigned i = 2; i < tracks; i++) {
        const tl_track track = {.name = "thread", .pid = 5, .tid = 100 + i, .has_pid = true, .has_tid = true};
        uint32_t index;
        assert_int_equal(tl_trace_add_track(&f.trace, &track, &index, NULL), 0);
    }
    assert_int_equal(fixture_create(&f, &tl_format_chrome), 0);
    for (unsigned i = 0; i < TL_SPANS_MAX + 3; i++)
        rt_jit_begin(&f, i % tracks, i, i);
    fixture_finish(&f);
    assert_int_equal(fixture_dropped(&f, "begins beyond"), 3);
    assert_int_equal(fixture_dropped(&f, "begins still open"), TL_SPANS_MAX);
    fixture_fini(&f);
}

static bool hand_out(void *arg, const tl_span *s)
{
    (void)s;
    ++*(unsigned *)arg;
    return true;
}

/* Each span has another key and another code: a long log has more than are remembered. */
static void keys_of_spans_are_forgotten(void **state)
{
    const unsigned most = 4 * TL_SPANS_MAX;
    unsigned n = 0, keys = 0;
    fixture f;
    tl_spans s = {0};
    tl_span *span;
    rt_init(&f);
    tl_spans_init(&s, &f.trace, hand_out, &n);
    for (unsigned i = 0; i < most + 1000; i++) {
        rt_jit_begin(&f, 0, i, i);
        assert_true(tl_spans_begin(&s, &f.batch, 0, i, &span));
        assert_non_null(span);
        tl_batch_clear(&f.batch);
        rt_jit_end(&f, 0, i, i);
        assert_true(tl_spans_end(&s, &f.batch, 0, i, &span));
        assert_non_null(span);
        tl_batch_clear(&f.batch);
        assert_true(tl_spans_flush(&s));
        keys = s.by_key.pairs.n > keys ? s.by_key.pairs.n : keys;
        assert_true(s.by_key.pairs.n <= most && s.by_code.pairs.n <= most);
    }
    assert_int_equal(keys, most);
    assert_true(tl_spans_finish(&s, most));
    assert_int_equal(n, most + 1000);
    assert_int_equal(s.no_begin + s.too_many, 0);
    tl_spans_fini(&s);
    fixture_fini(&f);
}

/* What does not fit is left out, and only that. */
static void fields_of_spans_are_limited(void **state)
{
    static char reason[TL_SPAN_ARGS_MAX + 1];
    memset(reason, 'x', sizeof reason - 1);
    const tl_format *const formats[] = {&tl_format_chrome, &tl_format_perfetto};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        start(&f, formats[i]);
        const tl_value long_one[] = {rt_text(reason), rt_text("tfff")};
        rt_event(&f, RT_GC, 0, 5, 0, long_one, 2);
        rt_gc_end(&f, 0, 6);
        rt_gc_begin(&f, 0, 7);
        rt_gc_end(&f, 0, 8);
        fixture_finish(&f);
        assert_int_equal(fixture_dropped(&f, "begins and ends of a span whose fields"), 1);
        assert_int_equal(f.drops.n, 1);
        assert_null(memmem(f.bytes, f.size, reason, 100));
        assert_non_null(memmem(f.bytes, f.size, "induced", 7));
        fixture_fini(&f);
    }
}

static void names_of_generations_are_limited(void **state)
{
    const tl_format *const formats[] = {&tl_format_chrome, &tl_format_perfetto};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        start(&f, formats[i]);
        for (unsigned k = 0; k < 70; k++) {
            char name[16];
            snprintf(name, sizeof name, "GEN%u", k % 66);
            const tl_value heap[] = {{.type = TL_LIST, .n = 1},
                                     {.type = TL_STRUCT, .n = 3},
                                     rt_text(name),
                                     {.type = TL_U64, .as.u = k},
                                     {.type = TL_NULL}};
            rt_event(&f, RT_HEAP, 0, k, 0, heap, 5);
            fixture_flush(&f);
        }
        fixture_finish(&f);
        assert_int_equal(fixture_dropped(&f, "sizes of generations beyond 64 names"), 2);
        assert_non_null(memmem(f.bytes, f.size, "GEN63", 5));
        assert_null(memmem(f.bytes, f.size, "GEN64", 5));
        fixture_fini(&f);
    }
}

/* Each writer assembles a stack in memory of a fixed size. */
static void deep_stacks_are_cut(void **state)
{
    enum { DEPTH = 5000 };
    static tl_frame frame[DEPTH];
    static char name[DEPTH][12];
    static const struct {
        const tl_format *format;
        const char *told, *last, *beyond; /* the innermost one written, and the first one not written */
    } cases[] = {
        {&tl_format_chrome, "samples of stacks of over 4096 calls", "f4095", "f4096"},
        {&tl_format_perfetto, "samples of stacks of over 1024 calls", "f1023", "f1024"},
        {&tl_format_speedscope, "samples of stacks of over 1024 calls", "f1023", "f1024"},
    };
    for (unsigned i = 0; i < DEPTH; i++) {
        snprintf(name[i], sizeof name[i], "f%u", i);
        frame[i] = (tl_frame)RT_FRAME(i, name[i], i ? &frame[i - 1] : NULL, i + 1);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        start(&f, cases[i].format);
        rt_sampled(&f, 0, 30, 10, 2, &frame[DEPTH - 1]);
        rt_sampled(&f, 0, 40, 10, 1, &frame[999]);
        fixture_finish(&f);
        assert_int_equal(fixture_dropped(&f, cases[i].told), 2);
        assert_non_null(memmem(f.bytes, f.size, cases[i].last, 5));
        assert_null(memmem(f.bytes, f.size, cases[i].beyond, 5));
        fixture_fini(&f);
    }
}

/* One event may claim to be billions of samples. */
static void samples_of_one_event_are_limited(void **state)
{
    const tl_frame main_frame = RT_FRAME(1, "main", NULL, 1);
    const tl_format *const formats[] = {&tl_format_chrome, &tl_format_perfetto};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        start(&f, formats[i]);
        rt_sampled(&f, 0, 30, UINT64_MAX, UINT32_MAX, &main_frame);
        fixture_finish(&f);
        assert_int_equal(fixture_dropped(&f, "samples beyond 1000"), UINT32_MAX - 1000u);
        assert_true(f.size < 100000);
        fixture_fini(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_at_a_time_are_limited), cmocka_unit_test(keys_of_spans_are_forgotten),
        cmocka_unit_test(fields_of_spans_are_limited), cmocka_unit_test(names_of_generations_are_limited),
        cmocka_unit_test(deep_stacks_are_cut),         cmocka_unit_test(samples_of_one_event_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
