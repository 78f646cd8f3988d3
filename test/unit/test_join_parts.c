/* Several traces in one: equal numbers of different traces are not confused, and order is requested. */
#include "model/gauge.h"
#include "model/span.h"
#include "op/join.h"
#include "timeline_fixture.h"

static tl_property property[2] = {{.name = "part", .text = "0"}, {.name = "part", .text = "1"}};

/* A number whose hash in the second part once equalled that of `number` in the first. */
static uint64_t meets(uint64_t number)
{
    return number ^ tl_hash_mix((uintptr_t)&property[0]) ^ tl_hash_mix((uintptr_t)&property[1]);
}

/* The two tracks belong to two parts. */
static void init_parts(fixture *f)
{
    rt_init(f);
    for (int i = 0; i < 2; i++) {
        f->trace.track[i].property = &property[i];
        f->trace.track[i].nproperty = 1;
    }
}

typedef struct ended {
    uint32_t n;
    tl_span span[4];
} ended;

static bool take_span(void *arg, const tl_span *s)
{
    ended *all = arg;
    assert_true(all->n < TL_COUNT(all->span));
    all->span[all->n++] = *s;
    return true;
}

static void spans_of_parts(void **state)
{
    fixture f;
    ended all = {0};
    tl_spans s = {0};
    tl_span *span;
    init_parts(&f);
    tl_spans_init(&s, &f.trace, take_span, &all);
    rt_jit_begin(&f, 0, 1, 5);
    rt_jit_begin(&f, 1, 2, meets(5));
    rt_jit_end(&f, 0, 3, 5); /* not of the later begin */
    rt_jit_end(&f, 1, 4, 6);
    rt_got_code(&f, 5, 5, 1); /* of the first track */
    assert_true(tl_spans_begin(&s, &f.batch, 0, 1, &span));
    assert_true(tl_spans_begin(&s, &f.batch, 1, 2, &span));
    assert_true(tl_spans_end(&s, &f.batch, 2, 3, &span));
    assert_non_null(span);
    assert_int_equal(span->track, 0);
    assert_true(tl_spans_end(&s, &f.batch, 3, 4, &span));
    assert_null(span);
    assert_int_equal(s.no_begin, 1);
    assert_true(tl_spans_code(&s, &f.batch, 4));
    assert_true(tl_spans_finish(&s, 6));
    assert_int_equal(all.n, 2);
    assert_int_equal(all.span[0].track, 0);
    assert_true(all.span[0].has_function);
    assert_int_equal(all.span[1].track, 1);
    assert_false(all.span[1].has_function);
    tl_spans_fini(&s);
    fixture_fini(&f);
}

static bool take_gauge(void *arg, const tl_gauge *g)
{
    uint64_t *latest = arg;
    if (strcmp(g->name, "allocated") == 0)
        latest[g->track] = g->value;
    return true;
}

static void processes_of_parts(void **state)
{
    fixture f;
    uint64_t allocated[2] = {0};
    tl_gauges g = {0};
    init_parts(&f);
    f.trace.track[1].pid = (int64_t)meets(5);
    tl_gauges_init(&g, &f.trace, take_gauge, allocated);
    rt_two_items(&f, RT_ALLOC, 0, 1, 1, 10, 20);
    rt_two_items(&f, RT_ALLOC, 1, 2, 1, 100, 200);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(tl_gauges_event(&g, &f.batch, i));
    assert_int_equal(allocated[0], 30);
    assert_int_equal(allocated[1], 300);
    tl_gauges_fini(&g);
    fixture_fini(&f);
}

static const tl_reader no_streams;

/* Two sources with only the facts that joining uses. */
static tl_join *join(tl_source *a, tl_source *b, bool unsorted, bool shared_tracks)
{
    tl_source *const s[] = {a, b};
    const uint64_t begin[] = {0, 0};
    uint64_t zero;
    tl_join *j;
    tl_error e;
    for (int i = 0; i < 2; i++) {
        tl_trace *t = &s[i]->trace;
        uint32_t track;
        tl_trace_init(t);
        t->format = i ? "other" : "one";
        tl_trace_set_clock(t, "milliseconds", 1000);
        assert_int_equal(tl_trace_set_classes(t, rt_classes, RT_CLASSES, NULL), 0);
        assert_int_equal(tl_trace_add_track(t, &(tl_track){.name = "thread"}, &track, NULL), 0);
    }
    b->trace.unsorted = unsorted;
    b->trace.shared_tracks = shared_tracks;
    must(tl_join_new(&j, s, 2, begin, &zero, &e), &e);
    return j;
}

/* Parts without properties are kept apart, too. */
static void parts_without_properties(void **state)
{
    tl_source a = {.reader = &no_streams}, b = {.reader = &no_streams};
    tl_join *j = join(&a, &b, false, false);
    const tl_trace *t = tl_join_trace(j);
    assert_int_equal(t->ntrack, 2);
    assert_non_null(t->track[0].property);
    assert_non_null(t->track[1].property);
    assert_ptr_not_equal(t->track[0].property, t->track[1].property);
    assert_int_equal(t->track[0].nproperty + t->track[1].nproperty, 0);
    tl_join_free(j);
    tl_trace_fini(&a.trace);
    tl_trace_fini(&b.trace);
}

/* A writer of `time_order` gets it if one of the formats is read `unsorted`, one of `track_order` if streams share
 * tracks. */
static void order_of_parts(void **state)
{
    static const tl_event_writer time_order = {.time_order = true}, track_order = {.track_order = true};
    static const tl_format by_time = {.name = "by time", .event_writer = &time_order},
                           by_track = {.name = "by track", .event_writer = &track_order};
    for (int i = 0; i < 3; i++) {
        tl_source a = {.reader = &no_streams}, b = {.reader = &no_streams};
        tl_join *j = join(&a, &b, i == 1, i == 2);
        assert_int_equal(tl_format_wants_order(&by_time, tl_join_trace(j)), i == 1);
        assert_int_equal(tl_format_wants_order(&by_track, tl_join_trace(j)), i == 2);
        tl_join_free(j);
        tl_trace_fini(&a.trace);
        tl_trace_fini(&b.trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_of_parts),
        cmocka_unit_test(processes_of_parts),
        cmocka_unit_test(parts_without_properties),
        cmocka_unit_test(order_of_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
