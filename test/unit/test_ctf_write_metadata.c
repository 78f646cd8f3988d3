/* Tests of the writer of folders: the metadata besides fields. */
#include "written_metadata.h"

static void test_clock(void **state)
{
    static const struct {
        uint64_t hz;
        int64_t utc;
        const char *tsdl[4], *json[4];
    } cases[] = {
        {1000000000,
         -1500000000,
         {"offset_s = -2;", "offset = 500000000;", "absolute = true;", "freq = 1000000000;"},
         {"\"seconds\":-2,\"cycles\":500000000", "unix-epoch", "\"frequency\":1000000000,", "\"id\":\"tsc\""}},
        {3,
         1666666666,
         {"offset_s = 1;", "offset = 2;", "freq = 3;", "name = tsc;"},
         {"\"seconds\":1,\"cycles\":2", "unix-epoch", "\"frequency\":3,", ""}},
        {3, 1999999999, {"offset_s = 1;", "offset = 2;", "", ""}, {"\"seconds\":1,\"cycles\":2", "", "", ""}},
        {0,
         INT64_MIN,
         {"absolute = false;", "offset = 0;", "freq = 1000000000;", "traceloom_clock_unit = \"ticks\";"},
         {"\"frequency\":1000000000}", "\"traceloom_clock_unit\":\"ticks\"", "", ""}},
    };
    for (size_t i = 0; i < 2 * TL_COUNT(cases); i++) {
        fixture w;
        size_t n;
        const bool json = i % 2;
        memset(&w, 0, sizeof w);
        fixture_init(&w);
        tl_trace_set_clock(&w.trace, "tsc", cases[i / 2].hz);
        w.trace.clock.has_utc = cases[i / 2].utc != INT64_MIN;
        w.trace.clock.utc_offset_ns = w.trace.clock.has_utc ? cases[i / 2].utc : 0;
        folder_start(&w, json ? "2" : "1.8");
        fixture_call(&w, ENTER, 0, 100, 1);
        fixture_finish(&w);
        uint8_t *text = folder_file("metadata", &n);
        for (int k = 0; k < 4; k++)
            has(text, json ? cases[i / 2].json[k] : cases[i / 2].tsdl[k]);
        free(text);
        tl_source *s;
        assert_int_equal(tl_source_open(&s, "out", NULL, NULL), 0);
        const tl_clock *c = tl_trace_clock(tl_source_trace(s));
        assert_string_equal(c->name, "tsc");
        assert_int_equal(c->has_utc, w.trace.clock.has_utc);
        if (cases[i / 2].hz == 1000000000)
            assert_int_equal(c->utc_offset_ns, cases[i / 2].utc);
        tl_source_close(s);
        folder_fini(&w);
    }
}

/* A clock that does not count from 1970 keeps its offset, to the cycle; but 1.8 cannot express that. */
static void test_clock_without_epoch(void **state)
{
    static const struct {
        uint64_t hz;
        tl_origin origin;
        const char *text[3]; /* 2, 1.8, 1.1 */
    } cases[] = {
        {1000000000,
         {true, -1500000000, 0},
         {"\"seconds\":-2,\"cycles\":500000000", "offset_s = 0;\n\toffset = 0;\n\tabsolute = false;",
          "offset_s = -2;\n  offset = 500000000;\n  absolute = false;"}},
        {3,
         {true, 1666666666, 2},
         {"\"seconds\":1,\"cycles\":2", "offset_s = 0;\n\toffset = 0;\n\tabsolute = false;", "offset_s = 1;"}},
        {3, {true, 0, 0}, {"\"frequency\":3}", "offset_s = 0;\n\toffset = 0;\n\tabsolute = false;", "uint64_t"}},
        {3,
         {false, 1666666666, 2},
         {"\"frequency\":3}", "offset_s = 0;\n\toffset = 0;\n\tabsolute = false;", "uint64_t"}},
    };
    for (size_t i = 0; i < 3 * TL_COUNT(cases); i++) {
        fixture w = {0};
        const tl_origin *origin = &cases[i / 3].origin;
        fixture_init(&w);
        tl_trace_set_clock(&w.trace, "tsc", cases[i / 3].hz);
        w.trace.clock.has_utc = false;
        w.trace.clock.utc_offset_ns = 77; /* without meaning */
        w.trace.origin = *origin;
        folder_start(&w, versions[i % 3]);
        fixture_call(&w, ENTER, 0, 100, 1);
        fixture_finish(&w);
        uint8_t *text = metadata((int)(i % 3));
        has(text, cases[i / 3].text[i % 3]);
        assert_lacks(text, "unix-epoch");
        free(text);
        tl_source *s;
        assert_int_equal(tl_source_open(&s, "out", NULL, NULL), 0);
        if (tl_trace_clock(tl_source_trace(s))->has_utc)
            fail_msg("case %zu, version %s: the clock counts from 1970", i / 3, versions[i % 3]);
        const bool holds = origin->known && i % 3 != 1;
        const tl_origin *back = &tl_source_trace(s)->origin;
        assert_int_equal(fixture_dropped(&w, "the offset of a clock"), origin->known && !holds && origin->ns != 0);
        if (i % 3 < 2 || cases[i / 3].hz == 1000000000) { /* 1.1 counts from the begin of the trace */
            assert_int_equal(back->ns, holds ? origin->ns : 0);
            assert_int_equal(back->rest, holds ? origin->rest : 0);
        }
        tl_source_close(s);
        folder_fini(&w);
    }
}

static void test_environment(void **state)
{
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        fixture_init(&w);
        tl_trace_add_property(&w.trace, "hostname", "a \"b\"\\\n", 0, NULL);
        tl_trace_add_property(&w.trace, "number", NULL, INT64_MIN, NULL);
        folder_start(&w, versions[i]);
        fixture_call(&w, ENTER, 0, 100, 1);
        fixture_finish(&w);
        assert_int_equal(fixture_dropped(&w, "environment"), i == 2 ? 2 : 0);
        tl_source *s;
        assert_int_equal(tl_source_open(&s, "out", NULL, NULL), 0);
        const tl_trace *t = tl_source_trace(s);
        assert_int_equal(tl_trace_properties(t), i == 2 ? 0 : 2);
        if (i < 2) {
            assert_string_equal(tl_trace_property(t, 0)->name, "hostname");
            assert_string_equal(tl_trace_property(t, 0)->text, "a \"b\"\\\n");
            assert_null(tl_trace_property(t, 1)->text);
            assert_int_equal(tl_trace_property(t, 1)->number, INT64_MIN);
        }
        tl_source_close(s);
        folder_fini(&w);
    }
}

static void test_log_levels(void **state)
{
    for (int i = 0; i < 2; i++) {
        fixture w = {0};
        const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c", .level = "TRACE_DEBUG_LINE", .level_value = 13}};
        fixture_init(&w);
        folder_classes(&w, classes, 1);
        folder_start(&w, versions[i]);
        fixture_event(&w, 0, 0, -1, 1, 0, NULL, 0);
        fixture_finish(&w);
        tl_source *s;
        assert_int_equal(tl_source_open(&s, "out", NULL, NULL), 0);
        const tl_class *c = tl_trace_class(tl_source_trace(s), 0);
        assert_string_equal(c->level, "TRACE_DEBUG_LINE");
        assert_int_equal(c->level_value, 13);
        tl_source_close(s);
        folder_fini(&w);
    }
}

static void test_scopes_without_fields(void **state)
{
    for (unsigned scopes = 0; scopes < 16; scopes += 2) {
        fixture w = {0};
        size_t n;
        const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c", .scopes = (uint8_t)(scopes ? scopes | 1 : 0)}};
        fixture_init(&w);
        folder_classes(&w, classes, 1);
        folder_start(&w, "1.8");
        fixture_event(&w, 0, 0, -1, 1, 0, NULL, 0);
        fixture_finish(&w);
        uint8_t *text = folder_file("metadata", &n), *event = (uint8_t *)strstr((char *)text, "name = \"c\"");
        (scopes >> TL_SCOPE_STREAM & 1 ? has : has_not)(text, "event.context := ");
        *strchr(strstr((char *)event, "stream_id"), '}') = '\0';
        (scopes >> TL_SCOPE_EVENT & 1 ? has : has_not)(event, "\tcontext := struct {");
        free(text);
        folder_fini(&w);
    }
}

/* Classes that differ in the fields common to all events of a stream cannot share a stream class. */
static void test_stream_classes(void **state)
{
    enum { STREAM = TL_SCOPE_PAYLOAD - TL_SCOPE_STREAM };
    static const tl_field a[] = {{.name = "a", .type = TL_U64, .bits = 8, .context = STREAM}};
    static const tl_field b[] = {{.name = "a", .type = TL_U64, .bits = 16, .context = STREAM}};
    const tl_class classes[] = {{.kind = TL_INSTANT, .name = "one", .field = a, .nfield = 1, .ncontext = 1},
                                {.kind = TL_INSTANT, .name = "two", .field = b, .nfield = 1, .ncontext = 1},
                                {.kind = TL_INSTANT, .name = "three", .field = a, .nfield = 1, .ncontext = 1}};
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        found out[4];
        const tl_value v[] = {U(7)};
        fixture_init(&w);
        folder_classes(&w, classes, 3);
        folder_start(&w, versions[i]);
        for (uint32_t k = 0; k < 4; k++)
            fixture_event(&w, k % 3, k / 3, -1, k, 0, v, 1);
        fixture_finish(&w);
        const ctf_writer *writer = w.writer;
        assert_int_equal(writer->cls[0].shape, writer->cls[2].shape);
        assert_int_not_equal(writer->cls[0].shape, writer->cls[1].shape);
        assert_int_equal(read_back(out, 4), 4);
        unsigned names = 0;
        for (int k = 0; k < 4; k++) {
            assert_string_equal(out[k].text, "u7");
            names |= strcmp(out[k].name, "one") == 0 ? 1u : strcmp(out[k].name, "two") == 0 ? 2u : 4u;
        }
        assert_int_equal(names, 7);
        folder_fini(&w);
    }
}

static void test_packet_contexts(void **state)
{
    enum { PACKET = TL_SCOPE_PAYLOAD - TL_SCOPE_PACKET };
    static const tl_field f[] = {{.name = "cpu_id", .type = TL_U64, .bits = 32, .context = PACKET},
                                 {.name = "room", .type = TL_STRING, .context = PACKET},
                                 {.name = "bits", .type = TL_U64, .bits = 3, .context = PACKET},
                                 {.name = "n", .type = TL_U64, .bits = 8}};
    const tl_class classes[] = {ctf_packet_class,
                                {.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 4, .ncontext = 3}};
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        size_t n;
        packet p[4];
        found out[4];
        fixture_init(&w);
        folder_classes(&w, classes, 2);
        folder_start(&w, versions[i]);
        const tl_value v[][4] = {{U(1), S("x"), U(2), U(7)}, {U(1), S("x"), U(2), U(8)}, {U(1), S("xy"), U(2), U(9)}};
        for (int k = 0; k < 3; k++)
            fixture_event(&w, 1, 0, 1, (uint64_t)k, 0, v[k], 4);
        put_packet(&w, 0, 1, 100, 200, 0, 0); /* with the context of the one before */
        fixture_finish(&w);
        assert_int_equal(fixture_dropped(&w, "packet contexts"), i == 2 ? 2 : 0);
        if (i < 2) {
            uint8_t *bytes = folder_file("thread_7", &n);
            assert_int_equal(packets_of(bytes, n, p, 4), 3);
            assert_memory_equal(p[0].p + CTF_WRITTEN_HEADER + 20, "x\0\2", 3);
            assert_memory_equal(p[1].p + CTF_WRITTEN_HEADER + 20, "xy\0\2", 4);
            assert_memory_equal(p[2].p + CTF_WRITTEN_HEADER + 20, "xy\0\2", 4);
            assert_int_equal(p[2].content, 8 * (CTF_WRITTEN_HEADER + 20 + 3) + 3); /* to the last bit */
            assert_int_equal(p[2].size, 8 * (CTF_WRITTEN_HEADER + 20 + 4));
            free(bytes);
        }
        assert_int_equal(read_back(out, 4), 3);
        folder_fini(&w);
    }
}

static void test_events_without_time(void **state)
{
    for (int i = 0; i < 2; i++) {
        fixture w = {0};
        size_t n;
        found out[2];
        tl_class classes[] = {number_class, number_class};
        classes[0].flags = classes[1].flags = TL_CLASS_TIMELESS;
        fixture_init(&w);
        w.trace.format = "ctf"; /* and tracks are unknown: then there is no table of them */
        w.trace.track[0].has_pid = w.trace.track[0].has_tid = false;
        folder_classes(&w, classes, 2);
        folder_start(&w, versions[i]);
        put_number(&w, 0, -1, 5, 7);
        put_number(&w, 0, -1, 6, 8);
        fixture_finish(&w);
        uint8_t *text = folder_file("metadata", &n);
        has_not(text, i ? "timestamp_begin" : "\"timestamp_begin\"");
        free(text);
        uint8_t *bytes = folder_file("thread_7", &n);
        assert_int_equal(n, CTF_WRITTEN_HEADER - CTF_WRITTEN_TIMES + 2 * 5);
        assert_int_equal(tl_load64(bytes + CTF_WRITTEN_CONTENT_SIZE - CTF_WRITTEN_TIMES, false), 8 * n);
        free(bytes);
        assert_int_equal(read_back(out, 2), 2);
        assert_string_equal(out[1].text, "u8");
        folder_fini(&w);
    }
}

/* A source of this format may have several sections; file names then have section and processor. */
static void test_sections(void **state)
{
    static const char *const tracks[] = {"sched/sched_0", "sched/sched_1", "net.rx/net.rx", "net.rx/net.rx_7",
                                         "0/a/b_1",       "0/a/b_1",       "0/b_3"};
    static const int32_t cpus[] = {0, 1, -1, 7, 1, 1, 2};
    static const char *const files[] = {"sched_0", "sched_1", "net.rx", "net.rx_s_7", "a_b_1", "a_b_1_s_1", "b_3_s"};
    fixture w = {0};
    found out[TL_COUNT(tracks)];
    const tl_class classes[] = {number_class, number_class};
    fixture_init(&w);
    w.trace.format = "ctf";
    for (size_t i = 0; i < TL_COUNT(tracks); i++) {
        uint32_t index;
        assert_int_equal(tl_trace_add_track(&w.trace, &(tl_track){.name = tracks[i]}, &index, NULL), 0);
    }
    folder_classes(&w, classes, 2);
    folder_start(&w, "1.1");
    for (uint32_t i = 0; i < TL_COUNT(tracks); i++)
        put_number(&w, i + 2, cpus[i], i, i);
    fixture_finish(&w);
    const ctf_writer *writer = w.writer;
    for (size_t i = 0; i < TL_COUNT(tracks); i++) {
        const char *section = writer->sc[writer->stream[i].cls].name;
        const size_t n = strlen(section);
        assert_memory_equal(writer->stream[i].name, section, n);
        if (i != 3 && i != 5) /* these only have to be unique */
            assert_string_equal(writer->stream[i].name, files[i]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(writer->stream[i].name, writer->stream[k].name);
    }
    assert_int_equal(read_back(out, TL_COUNT(tracks)), TL_COUNT(tracks));
    for (size_t i = 0; i < TL_COUNT(tracks); i++) {
        unsigned which = 0;
        assert_int_equal(sscanf(out[i].text, "u%u", &which), 1);
        assert_int_equal(out[i].cpu, which == 6 ? -1 : cpus[which]);
    }
    assert_int_equal(fixture_dropped(&w, "events with a processor"), 1);
    w.trace.format = NULL;
    folder_fini(&w);
}

static void test_every_dialect_is_readable(void **state)
{
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        found out[1];
        fixture_init(&w);
        folder_start(&w, versions[i]);
        fixture_call(&w, ENTER, 0, 100, 1);
        fixture_finish(&w);
        uint8_t *text = metadata(i);
        has(text, "xray.enter");
        free(text);
        tl_source *s;
        assert_int_equal(tl_source_open(&s, "out", NULL, NULL), 0);
        assert_string_equal(tl_trace_version(tl_source_trace(s)), versions[i]);
        assert_string_equal(tl_trace_byte_order(tl_source_trace(s)), "little");
        tl_source_close(s);
        assert_int_equal(read_back(out, 1), 1);
        folder_fini(&w);
    }
}

/* A length that is part of the type stays so when it is read back. */
static void test_a_fixed_length_is_kept(void **state)
{
    static const tl_field u16[] = {{.name = "", .type = TL_U64, .bits = 16}};
    static const tl_field f[] = {
        {.name = "list", .type = TL_LIST, .member = u16, .nmember = 1, .flags = TL_FIELD_FIXED, .length = 3}};
    static const tl_value v[] = {LIST(3), U(1), U(2), U(3)};
    for (int i = 0; i < 3; i++) {
        fixture w = {0};
        const tl_class classes[] = {{.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 1}};
        fixture_init(&w);
        folder_classes(&w, classes, 1);
        folder_start(&w, versions[i]);
        fixture_event(&w, 0, 0, -1, 1000, 0, v, TL_COUNT(v));
        fixture_finish(&w);
        tl_source *s;
        assert_int_equal(tl_source_open(&s, "out", &(tl_open_options){.want = {.fields = true}}, NULL), 0);
        const tl_class *c = tl_trace_class(tl_source_trace(s), 0);
        const tl_field *list = &c->field[c->nfield - 1];
        assert_string_equal(list->name, "list");
        assert_int_equal(list->flags, TL_FIELD_FIXED);
        assert_int_equal(list->length, 3);
        tl_source_close(s);
        folder_fini(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_clock, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_clock_without_epoch, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_environment, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_log_levels, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_scopes_without_fields, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_stream_classes, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_packet_contexts, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_events_without_time, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_sections, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_every_dialect_is_readable, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_a_fixed_length_is_kept, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
