/* Tests of peculiarities of 1.8: what babeltrace2 2.0.4 refuses or crashes on is not written. */
#include "ctf_read_back.h"

#define U8(field)                                                                                                      \
    {                                                                                                                  \
        .name = field, .type = TL_U64, .bits = 8                                                                       \
    }

static void start(fixture *w, const tl_class *classes, uint32_t n)
{
    memset(w, 0, sizeof *w);
    fixture_init(w);
    w->trace.format = "ctf"; /* and tracks are unknown: then there is no table of them */
    for (uint32_t i = 0; i < w->trace.ntrack; i++)
        w->trace.track[i].has_pid = w->trace.track[i].has_tid = false;
    folder_classes(w, classes, n);
}

static bool metadata_has(const char *part)
{
    size_t n;
    char *text = (char *)folder_file("metadata", &n);
    const bool has = strstr(text, part) != NULL;
    free(text);
    return has;
}

/* Readers merge streams, and stop at a time that goes back. */
static void test_times_that_go_back(void **state)
{
    for (int i = 0; i < 2; i++) {
        static const uint64_t ts[] = {100, 90, 95, 110};
        static const uint64_t held[] = {100, 100, 100, 110};
        fixture w;
        found out[4];
        const tl_class classes[] = {ctf_packet_class, number_class};
        start(&w, classes, 2);
        folder_start(&w, versions[i]);
        for (uint64_t k = 0; k < 4; k++)
            put_number(&w, 0, -1, ts[k], k);
        fixture_finish(&w);
        assert_int_equal(fixture_dropped(&w, "times that go back"), i ? 2 : 0);
        assert_int_equal(read_back(out, 4), 4);
        for (int k = 0; k < 4; k++)
            assert_int_equal(out[k].ts, i ? held[k] : ts[k]);
        folder_fini(&w);
    }
}

/* A packet may not begin before the end of the previous one, which is shortened. */
static void test_packets_that_overlap(void **state)
{
    fixture w;
    size_t n;
    packet p[3];
    const tl_class classes[] = {ctf_packet_class, number_class};
    start(&w, classes, 2);
    folder_start(&w, "1.8");
    put_packet(&w, 0, -1, 100, 200, UINT64_MAX, UINT64_MAX);
    put_number(&w, 0, -1, 110, 1);
    put_packet(&w, 0, -1, 150, 300, UINT64_MAX, UINT64_MAX); /* leaves 50 of the first one */
    put_number(&w, 0, -1, 250, 2);
    put_packet(&w, 0, -1, 120, 400, UINT64_MAX, UINT64_MAX); /* begins before that event */
    put_number(&w, 0, -1, 260, 3);
    fixture_finish(&w);
    uint8_t *bytes = folder_file("thread_7", &n);
    assert_int_equal(packets_of(bytes, n, p, 3), 3);
    static const uint64_t times[3][2] = {{100, 150}, {150, 250}, {250, 400}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(p[i].begin, times[i][0]);
        assert_int_equal(p[i].end, times[i][1]);
    }
    assert_int_equal(fixture_dropped(&w, "times that go back"), 0);
    free(bytes);
    folder_fini(&w);
}

/* A clock for all streams or for none. */
static void test_events_with_and_without_time(void **state)
{
    for (int i = 0; i < 2; i++) {
        fixture w;
        found out[2];
        tl_class classes[] = {number_class, number_class};
        classes[0].flags = TL_CLASS_TIMELESS;
        start(&w, classes, 2);
        folder_start(&w, versions[i]);
        const tl_value v = U(3);
        fixture_event(&w, 0, 0, -1, 0, 0, &v, 1);
        put_number(&w, 0, -1, 5, 7);
        fixture_finish(&w);
        assert_int_equal(fixture_dropped(&w, "events without a time"), i);
        assert_int_equal(read_back(out, 2), 2);
        for (int k = 0; k < 2; k++) {
            const bool timed = strcmp(out[k].text, "u7") == 0;
            assert_int_equal(out[k].ts, timed ? 5 : 0);
            assert_int_equal(out[k].cls.flags & TL_CLASS_TIMELESS, i || timed ? 0 : TL_CLASS_TIMELESS);
        }
        folder_fini(&w);
    }
}

/* Without times of events, the table has none either. */
static void test_a_table_without_time(void **state)
{
    for (int timed = 0; timed < 2; timed++) {
        fixture w;
        found out[1];
        tl_class classes[] = {number_class, number_class};
        classes[1].flags = timed ? 0 : TL_CLASS_TIMELESS;
        start(&w, classes + 1, 1);
        w.trace.track[0].has_tid = true;
        folder_start(&w, "1.8");
        const tl_value v = U(3);
        fixture_event(&w, 0, 0, -1, 0, 0, &v, 1);
        fixture_finish(&w);
        assert_true(metadata_has("traceloom.track"));
        assert_int_equal(metadata_has("timestamp_begin"), timed);
        assert_int_equal(read_back(out, 1), 1);
        folder_fini(&w);
    }
}

/* Readers hold nanoseconds since the origin in an int64_t. */
static void test_times_far_from_the_origin(void **state)
{
    static const struct {
        uint64_t hz, begin, end, most; /* most: 0, the same as end */
        int64_t origin;                /* INT64_MIN: not known */
        bool moves, epoch;             /* epoch: the origin is 1970 */
    } c[] = {{1000000000, 1000, 2000, 0, INT64_MIN, false, false},
             {1000000000, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 500, 500, INT64_MIN, true, false},
             {1000, UINT64_C(1) << 50, (UINT64_C(1) << 50) + 500, 500, INT64_MIN, true, false},
             {0, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 500, 500, INT64_MIN, true, false},
             {1000000000, UINT64_C(1) << 62, (UINT64_C(1) << 62) + 7, 0, INT64_MIN, false, false},
             {1000000000, UINT64_C(1) << 62, (UINT64_C(1) << 62) + 7, 7, (INT64_C(1) << 62) + 9, true, true},
             {1000000000, UINT64_C(1) << 62, (UINT64_C(1) << 62) + 7, 0, (INT64_C(1) << 62) + 9, false, false},
             {1000000000, UINT64_C(1) << 62, (UINT64_C(1) << 62) + 7, 0, 9, false, false},
             {1000000000, 5, UINT64_MAX, INT64_MAX - (1 << 30), INT64_MIN, true, false}};
    for (size_t i = 0; i < TL_COUNT(c); i++) {
        fixture w;
        found out[2];
        start(&w, (const tl_class[]){number_class, number_class}, 2);
        w.trace.clock.hz = c[i].hz;
        tl_scale_init(&w.trace.scale, c[i].hz);
        w.trace.clock.has_utc = c[i].epoch;
        w.trace.origin = (tl_origin){c[i].origin != INT64_MIN, c[i].origin == INT64_MIN ? 0 : c[i].origin, 0};
        w.trace.clock.utc_offset_ns = w.trace.clock.has_utc ? c[i].origin : 0;
        w.trace.has_range = true;
        w.options.begin = w.trace.begin = c[i].begin;
        w.trace.end = c[i].end;
        folder_start(&w, "1.8");
        put_number(&w, 0, -1, c[i].begin, 1);
        put_number(&w, 0, -1, c[i].end, 2);
        fixture_finish(&w);
        assert_int_equal(fixture_dropped(&w, "the origin of the clock"), c[i].moves);
        assert_int_equal(fixture_dropped(&w, "times that are too far"), i == TL_COUNT(c) - 1);
        assert_int_equal(metadata_has("absolute = true"), !c[i].moves && c[i].epoch);
        assert_int_equal(metadata_has("offset = 9;"), 0);
        assert_int_equal(read_back(out, 2), 2);
        assert_int_equal(out[0].ts, c[i].moves ? 0 : c[i].begin);
        assert_int_equal(out[1].ts, c[i].most ? c[i].most : c[i].end);
        folder_fini(&w);
    }
}

/* babeltrace2 aborts if a field of an event's own context has a length or a selector. */
static void test_contexts_of_no_fixed_size(void **state)
{
    static const tl_field byte[] = {{.name = "", .type = TL_U64, .bits = 8}};
    static const tl_field inner[] = {{.name = "deep", .type = TL_LIST, .member = byte, .nmember = 1}};
    static const tl_mapping one[] = {{NULL, 0, 0}};
    static const tl_field option[] = {{.name = "a", .type = TL_U64, .bits = 8, .mapping = one, .nmapping = 1}};
    static const struct {
        tl_field field;
        bool moves;
        tl_value v[4];
        uint32_t n;
        const char *text;
    } c[] = {
        {U8("x"), false, {U(1)}, 1, "u1 u9"},
        {{.name = "x", .type = TL_STRING}, false, {S("t")}, 1, "s\"t\" u9"},
        {{.name = "x", .type = TL_LIST, .member = byte, .nmember = 1, .flags = TL_FIELD_FIXED, .length = 2},
         false,
         {LIST(2), U(1), U(2)},
         3,
         "[u1 u2 ] u9"},
        {{.name = "x", .type = TL_LIST, .member = byte, .nmember = 1}, true, {LIST(1), U(5)}, 2, "[u5 ] u9"},
        {{.name = "x", .type = TL_STRUCT, .member = inner, .nmember = 1},
         true,
         {{.type = TL_STRUCT, .n = 1}, LIST(1), U(5)},
         3,
         "{[u5 ] } u9"},
        {{.name = "x", .type = TL_VARIANT, .member = option, .nmember = 1}, true, {VARIANT(0), U(5)}, 2, "<0 u5 > u9"},
        {{.name = "x", .type = TL_U64, .bits = 8, .flags = TL_FIELD_NULLABLE}, true, {U(5)}, 1, "u5 u9"},
    };
    for (size_t i = 0; i < TL_COUNT(c); i++) {
        fixture w;
        found out[1];
        tl_field f[] = {c[i].field, U8("y")};
        f[0].context = TL_SCOPE_PAYLOAD - TL_SCOPE_EVENT;
        const tl_class cls = {.kind = TL_INSTANT,
                              .name = "c",
                              .field = f,
                              .nfield = 2,
                              .ncontext = 1,
                              .scopes = 1 << TL_SCOPE_EVENT | 1 << TL_SCOPE_PAYLOAD};
        start(&w, &cls, 1);
        folder_start(&w, "1.8");
        tl_value v[5];
        memcpy(v, c[i].v, sizeof c[i].v);
        v[c[i].n] = (tl_value)U(9);
        fixture_event(&w, 0, 0, -1, 1, 0, v, c[i].n + 1);
        fixture_finish(&w);
        assert_int_equal(w.drops.n, 0);
        assert_int_equal(metadata_has("\tcontext := struct"), !c[i].moves);
        assert_int_equal(metadata_has("_context_x"), c[i].moves);
        assert_int_equal(read_back(out, 1), 1);
        assert_string_equal(out[0].text, c[i].text); /* without the fields made for it */
        folder_fini(&w);
    }
}

/* A selector in another scope is a syntax error to babeltrace2; a length there is not. */
static void test_selectors_of_other_scopes(void **state)
{
    static const tl_mapping label[] = {{"a", 0, 0}, {"b", 1, 1}}, choose[] = {{NULL, 0, 0}, {NULL, 1, 1}};
    static const tl_field byte[] = {{.name = "", .type = TL_U64, .bits = 8}};
    static const tl_field option[] = {{.name = "a", .type = TL_U64, .bits = 8, .mapping = &choose[0], .nmapping = 1},
                                      {.name = "b", .type = TL_STRING, .mapping = &choose[1], .nmapping = 1}};
    static const tl_field f[] = {{.name = "tag",
                                  .type = TL_U64,
                                  .bits = 8,
                                  .mapping = label,
                                  .nmapping = 2,
                                  .context = TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM},
                                 {.name = "list", .type = TL_LIST, .member = byte, .nmember = 1, .governor = 1},
                                 {.name = "v", .type = TL_VARIANT, .member = option, .nmember = 2, .governor = 1}};
    static const tl_value v[] = {U(1), LIST(1), U(7), VARIANT(1), S("x")};
    const tl_class cls = {.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 3, .ncontext = 1};
    fixture w;
    found out[1];
    start(&w, &cls, 1);
    folder_start(&w, "1.8");
    fixture_event(&w, 0, 0, -1, 1, 0, v, TL_COUNT(v));
    fixture_finish(&w);
    assert_true(metadata_has("_list[stream.event.context._tag]"));
    assert_true(metadata_has("variant <___v_tag>"));
    assert_int_equal(read_back(out, 1), 1);
    assert_string_equal(out[0].text, "u1 [u7 ] <1 s\"x\" >");
    folder_fini(&w);
}

/* Bits after the last field are not content, even for a list without bits: readers would take them for the next
 * event. */
static void test_lists_without_bits(void **state)
{
    static const tl_field nothing[] = {{.name = "", .type = TL_STRUCT}}, byte[] = {U8("")};
    static const struct {
        const tl_field *element;
        uint32_t n;
        unsigned unused;
    } c[] = {{nothing, 0, 5}, {nothing, 2, 5}, {byte, 0, 0}};
    for (size_t i = 0; i < TL_COUNT(c); i++)
        for (int k = 0; k < 2; k++) {
            fixture w;
            packet p[1];
            size_t n;
            const tl_field f[] = {{.name = "x", .type = TL_U64, .bits = 3},
                                  {.name = "l",
                                   .type = TL_LIST,
                                   .member = c[i].element,
                                   .nmember = 1,
                                   .flags = TL_FIELD_FIXED,
                                   .length = c[i].n}};
            const tl_value v[] = {U(5), LIST(c[i].n), {.type = TL_STRUCT}, {.type = TL_STRUCT}};
            const tl_class cls = {.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 2};
            start(&w, &cls, 1);
            folder_start(&w, versions[k]);
            fixture_event(&w, 0, 0, -1, 1, 0, v, 2 + c[i].n);
            fixture_finish(&w);
            uint8_t *bytes = folder_file("thread_7", &n);
            assert_int_equal(packets_of(bytes, n, p, 1), 1);
            assert_int_equal(p[0].size - p[0].content, c[i].unused);
            free(bytes);
            folder_fini(&w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_times_that_go_back, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_packets_that_overlap, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_events_with_and_without_time, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_table_without_time, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_times_far_from_the_origin, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_contexts_of_no_fixed_size, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_selectors_of_other_scopes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_lists_without_bits, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
