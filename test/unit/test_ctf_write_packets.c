/* Tests of the writer of folders: packets of the source are kept. */
#include "ctf_read_back.h"

static void test_packets_stay_as_they_are(void **state)
{
    fixture w;
    size_t n;
    packet p[8];
    start_packets(&w, "2");
    for (uint32_t i = 0; i < 2; i++) { /* before the first event */
        put_packet(&w, 0, -1, 100 * i, 100 * i + 50, 3, 10 + i);
    }
    put_number(&w, 0, -1, 120, 1);
    put_packet(&w, 0, -1, 200, 250, 5, 12);
    put_packet(&w, 0, -1, 300, 350, 6, 15); /* two are missing */
    put_number(&w, 0, -1, 320, 2);
    put_number(&w, 0, -1, 330, 3);
    put_packet(&w, 0, -1, 400, 450, 6, 16); /* the last one is empty */
    put_packet(&w, 1, -1, 7, 8, 1, 0);      /* a track without events */
    fixture_finish(&w);
    uint8_t *bytes = folder_file("thread_7", &n);
    assert_int_equal(packets_of(bytes, n, p, 8), 5);
    static const uint64_t expected[][5] = {
        {0, 50, 10, 3, 0}, {100, 150, 11, 3, 1}, {200, 250, 12, 5, 0}, {300, 350, 15, 6, 2}, {400, 450, 16, 6, 0}};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(p[i].begin, expected[i][0]);
        assert_int_equal(p[i].end, expected[i][1]);
        assert_int_equal(p[i].sequence, expected[i][2]);
        assert_int_equal(p[i].discarded, expected[i][3]);
        assert_int_equal(p[i].content / 8, CTF_WRITTEN_HEADER + 16 + expected[i][4] * (COMPACT + 1));
    }
    free(bytes);
    bytes = folder_file("thread_8", &n);
    assert_int_equal(packets_of(bytes, n, p, 8), 1);
    assert_int_equal(p[0].begin, 7);
    assert_int_equal(p[0].end, 8);
    assert_int_equal(p[0].sequence, 0);
    assert_int_equal(p[0].discarded, 1); /* counts: it is number 0 */
    free(bytes);
    folder_fini(&w);
}

static void test_times_of_packets_hold_their_events(void **state)
{
    fixture w;
    size_t n;
    packet p[3];
    start_packets(&w, "2");
    put_packet(&w, 0, -1, 100, 110, UINT64_MAX, UINT64_MAX);
    put_number(&w, 0, -1, 90, 1);  /* before the begin */
    put_number(&w, 0, -1, 120, 2); /* after the end */
    put_packet(&w, 0, -1, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    put_number(&w, 0, -1, 130, 3);
    fixture_finish(&w);
    uint8_t *bytes = folder_file("thread_7", &n);
    assert_int_equal(packets_of(bytes, n, p, 3), 2);
    assert_int_equal(p[0].begin, 90);
    assert_int_equal(p[0].end, 120);
    assert_int_equal(p[0].sequence, 1); /* not 0: earlier losses are unknown */
    assert_int_equal(p[1].begin, 130);
    assert_int_equal(p[1].end, 130);
    assert_int_equal(p[1].sequence, 2);
    free(bytes);
    folder_fini(&w);
}

static void test_counters_that_wrap(void **state)
{
    fixture w;
    size_t n;
    packet p[4];
    start_packets(&w, "2");
    put_packet(&w, 0, -1, 0, 1, UINT32_MAX - 1, UINT32_MAX);
    put_packet(&w, 0, -1, 1, 2, 3, 0);
    put_packet(&w, 0, -1, 2, 3, 1, 2); /* set back a little: nothing was lost */
    put_number(&w, 0, -1, 3, 0);
    fixture_finish(&w);
    uint8_t *bytes = folder_file("thread_7", &n);
    assert_int_equal(packets_of(bytes, n, p, 4), 3);
    assert_int_equal(p[0].sequence, UINT32_MAX);
    assert_int_equal(p[1].sequence, (uint64_t)UINT32_MAX + 1);
    assert_int_equal(p[2].sequence, (uint64_t)UINT32_MAX + 3);
    assert_int_equal(p[1].discarded - p[0].discarded, 5);
    assert_int_equal(p[2].discarded, p[1].discarded);
    free(bytes);
    folder_fini(&w);
}

static void test_large_packets_are_divided(void **state)
{
    enum { EVENTS = CTF_WRITE_PACKET_KEPT / (COMPACT + 1) + 100 };
    fixture w;
    size_t n;
    packet p[4];
    start_packets(&w, "2");
    put_packet(&w, 0, -1, 5, UINT32_MAX, 7, 0);
    for (uint32_t i = 0; i < EVENTS; i++)
        put_number(&w, 0, -1, 10 + i, 0);
    put_packet(&w, 0, -1, UINT32_MAX, UINT64_MAX, 9, 1);
    put_number(&w, 0, -1, (uint64_t)UINT32_MAX + 5, 0);
    fixture_finish(&w);
    uint8_t *bytes = folder_file("thread_7", &n);
    assert_int_equal(packets_of(bytes, n, p, 4), 3);
    assert_int_equal(p[0].begin, 5);
    assert_int_equal(p[1].begin, p[0].end);
    assert_int_equal(p[1].end, UINT32_MAX);
    assert_int_equal(p[2].begin, UINT32_MAX);
    const uint64_t discarded[] = {0, 7, 9};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(p[i].sequence, i);
        assert_int_equal(p[i].discarded, discarded[i]);
    }
    free(bytes);
    folder_fini(&w);
}

/* Fields of a packet come with its events: without one they are unknown, which is reported. */
/* A member of the packet context of the class "c", read back. */
static const tl_field *packet_member(const tl_trace *t, const char *name)
{
    for (uint32_t i = 0; i < tl_trace_classes(t); i++) {
        const tl_class *c = tl_trace_class(t, i);
        for (uint32_t k = 0; strcmp(c->name, "c") == 0 && k < c->ncontext; k++)
            if (tl_field_scope(&c->field[k]) == TL_SCOPE_PACKET && strcmp(c->field[k].name, name) == 0)
                return &c->field[k];
    }
    fail_msg("there is no %s", name);
    return NULL;
}

/* The processor, which the writer knows itself, is shown as in the source. */
static void test_the_processor_is_shown_as_before(void **state)
{
    enum { PACKET = TL_SCOPE_PAYLOAD - TL_SCOPE_PACKET };
    static const tl_mapping label[] = {{.label = "little", .low = 0, .high = 3}, {.label = "big", .low = 4, .high = 7}};
    static const struct {
        tl_field cpu; /* without a name: none */
        unsigned base, labels;
        bool is_signed;
    } cases[] = {
        {{.name = NULL}, 10, 0, false},
        {{.name = "cpu_id", .type = TL_U64, .bits = 32, .base = 10, .context = PACKET}, 10, 0, false},
        {{.name = "cpu_id", .type = TL_U64, .bits = 16, .base = 16, .context = PACKET}, 16, 0, false},
        {{.name = "cpu_id", .type = TL_U64, .bits = 64, .base = 8, .context = PACKET}, 8, 0, false},
        {{.name = "cpu_id", .type = TL_I64, .bits = 32, .base = 2, .context = PACKET}, 2, 0, false},
        {{.name = "cpu_id", .type = TL_HEX, .context = PACKET}, 16, 0, false},
        {{.name = "cpu_id", .type = TL_STRING, .base = 16, .context = PACKET}, 10, 0, false},
        {{.name = "cpu_id", .type = TL_U64, .bits = 32, .base = 16, .mapping = label, .nmapping = 2, .context = PACKET},
         16,
         2,
         false},
        {{.name = "cpu_id", .type = TL_I64, .bits = 8, .mapping = label, .nmapping = 2, .context = PACKET},
         10,
         2,
         true},
        {{.name = "cpu_id", .type = TL_U64, .bits = 64, .mapping = label, .nmapping = 2, .context = PACKET},
         10,
         0,
         false},
        {{.name = "other", .type = TL_U64, .bits = 32, .base = 16, .context = PACKET}, 10, 0, false},
    };
    for (size_t i = 0; i < 2 * TL_COUNT(cases); i++) {
        const tl_field *cpu = &cases[i / 2].cpu;
        const uint32_t n = cpu->name ? 1 : 0;
        const tl_field f[] = {n ? *cpu : (tl_field){.name = "n", .type = TL_U64},
                              {.name = n ? "cpu_id" : "m", .type = TL_U64, .base = 16}}; /* of the payload */
        const tl_class cls = {.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 2, .ncontext = n};
        const tl_value text = S("x"), v[] = {n && cpu->type == TL_STRING ? text : (tl_value)U(5), U(6)};
        fixture w = {0};
        fixture_init(&w);
        folder_classes(&w, &cls, 1);
        folder_start(&w, versions[i % 2]);
        fixture_event(&w, 0, 0, 5, 1, 0, v, 2);
        fixture_finish(&w);
        tl_source *s = NULL;
        const tl_open_options o = {.want = {.fields = true, .cpu = true, .packets = true}};
        assert_int_equal(tl_source_open(&s, "out", &o, NULL), 0);
        const tl_field *back = packet_member(tl_source_trace(s), "cpu_id");
        assert_int_equal(back->base ? back->base : 10, cases[i / 2].base);
        assert_int_equal(back->nmapping, cases[i / 2].labels);
        assert_int_equal(back->type, cases[i / 2].is_signed ? TL_I64 : TL_U64);
        tl_source_close(s);
        folder_fini(&w);
    }
}

static void test_contexts_without_events(void **state)
{
    static const tl_field f[] = {
        {.name = "where", .type = TL_U64, .bits = 32, .context = TL_SCOPE_PAYLOAD - TL_SCOPE_PACKET},
        {.name = "n", .type = TL_U64, .bits = 8}};
    const tl_class classes[] = {ctf_packet_class,
                                {.kind = TL_INSTANT, .name = "c", .field = f, .nfield = 2, .ncontext = 1}};
    const tl_value v[] = {{.type = TL_U64, .as.u = 7}, {.type = TL_U64, .as.u = 1}};
    fixture w = {0};
    size_t n;
    packet p[3];
    fixture_init(&w);
    folder_classes(&w, classes, 2);
    folder_start(&w, "2");
    put_packet(&w, 0, -1, 0, 50, 0, 0);
    put_packet(&w, 0, -1, 100, 150, 0, 1);
    fixture_event(&w, 1, 0, -1, 120, 0, v, 2);
    put_packet(&w, 0, -1, 200, 250, 0, 2);
    fixture_finish(&w);
    assert_int_equal(fixture_dropped(&w, "contexts of packets without events"), 2);
    uint8_t *bytes = folder_file("thread_7", &n);
    assert_int_equal(packets_of(bytes, n, p, 3), 3);
    free(bytes);
    folder_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_packets_stay_as_they_are, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_times_of_packets_hold_their_events, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_counters_that_wrap, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_large_packets_are_divided, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_the_processor_is_shown_as_before, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_contexts_without_events, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
