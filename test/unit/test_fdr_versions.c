/* Reading FDR logs: peculiarities of old versions, and several logs in one file. */
#include "check.h"
#include "make_xray.h"
#include "traceloom/traceloom.h"

enum { HZ = 1000000000, V1_SLOT = 512 };

static tl_source *open_bytes(const void *data, size_t n, unsigned threads)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = {.fields = true, .cpu = true, .threads = threads}};
    must(tl_source_open_memory(&s, data, n, "made.xray", &o, &e), &e);
    return s;
}

static made *fresh(unsigned version, bool big)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->big = big;
    made_header(m, version, FDR_TYPE, HZ, version == 1 ? V1_SLOT : 16384);
    return m;
}

/* A buffer of version 1 or 2 up to its first NewCPUId. */
static void old_buffer(made *m, unsigned version, int32_t tid, uint64_t tsc)
{
    m->extents = m->n;
    if (version > 1)
        made_metadata(m, FDR_BUFFER_EXTENTS);
    tl_store32(made_metadata(m, FDR_NEW_BUFFER) + FDR_NEW_BUFFER_TID, (uint32_t)tid, m->big);
    memset(made_metadata(m, FDR_WALLTIME) + 1, 0, 12);
    made_cpu(m, 3, tsc);
}

/* Its end; `more`: bytes that the extents count but the records do not fill. */
static void old_end(made *m, unsigned version, size_t slot, size_t more)
{
    if (version > 1) {
        memset(made_room(m, more), 0xff, more);
        made_buffer_end(m);
        return;
    }
    made_metadata(m, FDR_END_OF_BUFFER);
    m->n = m->extents + slot;
}

/* The marker of an event before version 5; the caller adds its payload. */
static void old_event(made *m, unsigned kind, uint32_t size, uint64_t tsc, unsigned at_13)
{
    uint8_t *p = made_metadata(m, kind);
    tl_store32(p + FDR_EVENT_SIZE, size, m->big);
    tl_store64(p + FDR_EVENT_TSC, tsc, m->big);
    tl_store16(p + 13, (uint16_t)at_13, m->big);
}

static void payload(made *m, const char *text)
{
    memcpy(made_room(m, strlen(text)), text, strlen(text));
}

static void expect_event(const tl_batch *b, uint32_t i, const char *cls, uint64_t ts, int32_t cpu)
{
    assert_true(i < b->n);
    assert_string_equal(tl_trace_class(b->trace, b->cls[i])->name, cls);
    assert_int_equal(b->ts[i], ts);
    assert_int_equal(b->cpu[i], cpu);
}

/* Typed events of versions 1 to 4 have a time of their own, followed by their type. */
static void typed_events_before_5_are_absolute(void **state)
{
    for (unsigned version = 1; version <= 4; version++)
        for (int big = 0; big < 2; big++) {
            made *m = fresh(version, big);
            old_buffer(m, version, 2, 100);
            made_function(m, FDR_ENTER, 1, 5);
            old_event(m, FDR_TYPED_EVENT, 3, 9000, 7);
            payload(m, "abc");
            old_event(m, FDR_CUSTOM_EVENT, 1, 8000, 9);
            payload(m, "d");
            made_function(m, FDR_EXIT, 1, 6);
            old_end(m, version, V1_SLOT, 0);
            tl_source *s = open_bytes(m->data, m->n, 1);
            assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
            uint64_t begin = 0, end = 0;
            assert_true(tl_trace_range(tl_source_trace(s), &begin, &end));
            assert_int_equal(begin, 105);
            assert_int_equal(end, 9000);
            const tl_batch *b;
            assert_int_equal(tl_source_next(s, &b, NULL), 1);
            assert_int_equal(b->n, 4);
            expect_event(b, 1, "xray.typed", 9000, 3);
            assert_int_equal(b->v[b->val[1]].as.u, 7);
            assert_int_equal(b->v[b->val[1] + 1].n, 3);
            assert_memory_equal(b->v[b->val[1] + 1].as.p, "abc", 3);
            expect_event(b, 2, "xray.custom", 8000, version == 4 ? 9 : 3);
            expect_event(b, 3, "xray.exit", 111, 3);
            tl_source_close(s);
            free(m);
        }
}

static void expect_problem(const tl_source *s, const char *rule, uint64_t offset)
{
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_damages(t), 1);
    assert_string_equal(tl_trace_damage(t, 0)->rule, rule);
    assert_int_equal(tl_trace_damage(t, 0)->offset, offset);
}

/* Records overwrote the payloads: the buffer is whole only if payloads take no room. */
static void overwritten_payloads_take_no_room(void **state)
{
    for (unsigned version = 1; version <= 2; version++)
        for (int big = 0; big < 2; big++) {
            made *m = fresh(version, big);
            old_buffer(m, version, 2, 100);
            made_function(m, FDR_ENTER, 1, 5);
            old_event(m, FDR_CUSTOM_EVENT, 0, 106, 0);
            const size_t first = m->n;
            old_event(m, FDR_CUSTOM_EVENT, 5, 107, 0);
            made_function(m, FDR_ENTER, 2, 3);
            old_event(m, FDR_TYPED_EVENT, 6, 109, 4);
            made_function(m, FDR_EXIT, 2, 3);
            for (int i = 0; i < 8; i++)
                made_function(m, FDR_EXIT, 1, 1);
            old_end(m, version, V1_SLOT, 11);
            old_buffer(m, version, 2, 900); /* the extents are right */
            made_function(m, FDR_ENTER, 1, 1);
            old_end(m, version, V1_SLOT, 0);
            tl_source *s = open_bytes(m->data, m->n, 1);
            expect_problem(s, "fdr.overwritten-payload", first);
            uint64_t begin = 0, end = 0;
            assert_true(tl_trace_range(tl_source_trace(s), &begin, &end));
            assert_int_equal(begin, 105);
            assert_int_equal(end, 901);
            const tl_batch *b;
            assert_int_equal(tl_source_next(s, &b, NULL), 1);
            assert_int_equal(b->n, 15);
            expect_event(b, 2, "xray.custom", 107, 3);
            assert_int_equal(b->v[b->val[2]].n, 0);
            expect_event(b, 3, "xray.enter", 108, 3);
            expect_event(b, 4, "xray.typed", 109, 3);
            assert_int_equal(b->v[b->val[4] + 1].n, 0);
            expect_event(b, 5, "xray.exit", 111, 3);
            expect_event(b, 14, "xray.enter", 901, 3);
            tl_source_close(s);
            free(m);
        }
}

/* Swallowed records leave no trace, but a function 0 is a sign of them. */
static void a_function_0_is_a_sign(void **state)
{
    for (uint32_t last = 0; last < 2; last++)
        for (unsigned many = 1; many <= 40; many += 39) { /* few, and enough for a combined check */
            made *m = fresh(2, false);
            old_buffer(m, 2, 2, 100);
            const size_t event = m->n;
            old_event(m, FDR_CUSTOM_EVENT, 8, 107, 0);
            made_function(m, FDR_ENTER, 5, 1); /* swallowed, if the payload is there */
            for (unsigned i = 0; i < many; i++)
                made_function(m, FDR_EXIT, 5, 1);
            made_function(m, FDR_ENTER, last, 0); /* remains, if it is not */
            made_buffer_end(m);
            tl_source *s = open_bytes(m->data, m->n, 1);
            if (last)
                assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
            else
                expect_problem(s, "fdr.overwritten-payload", event);
            const tl_batch *b;
            assert_int_equal(tl_source_next(s, &b, NULL), 1);
            assert_int_equal(b->n, 2 + many);
            assert_int_equal(b->key[1], 5);
            assert_int_equal(b->v[b->val[0]].n, last ? 8 : 0);
            tl_source_close(s);
            free(m);
        }
}

/* Without a payload, from version 3 on, and where neither reading is whole, the first reading stays. */
static void else_the_first_reading_stays(void **state)
{
    for (unsigned version = 2; version <= 3; version++)
        for (uint32_t size = 0; size <= 3; size += 3) {
            made *m = fresh(version, false);
            old_buffer(m, version, 2, 100);
            made_function(m, FDR_ENTER, 1, 1);
            old_event(m, FDR_CUSTOM_EVENT, size, 200, 0);
            made_room(m, size);
            made_function(m, FDR_EXIT, 1, 1);
            const size_t bad = m->n;
            made_metadata(m, 42);
            made_function(m, FDR_ENTER, 1, 1);
            old_end(m, version, 0, 0);
            tl_source *s = open_bytes(m->data, m->n, 1);
            expect_problem(s, "fdr.unknown-kind", bad);
            const tl_batch *b;
            assert_int_equal(tl_source_next(s, &b, NULL), 1);
            assert_int_equal(b->n, 3);
            assert_int_equal(b->v[b->val[1]].n, size);
            tl_source_close(s);
            free(m);
        }
    made *m = fresh(3, false); /* with all payloads overwritten */
    old_buffer(m, 3, 2, 100);
    old_event(m, FDR_CUSTOM_EVENT, 5, 107, 0);
    made_metadata(m, FDR_TSC_WRAP);
    old_end(m, 3, 0, 5);
    tl_source *s = open_bytes(m->data, m->n, 1);
    assert_int_not_equal(tl_trace_damages(tl_source_trace(s)), 0);
    assert_string_not_equal(tl_trace_damage(tl_source_trace(s), 0)->rule, "fdr.overwritten-payload");
    tl_source_close(s);
    free(m);
}

static void one_event(made *m, unsigned version, int32_t tid, size_t slot, uint64_t tsc)
{
    if (version >= 3)
        made_buffer(m, 1, tid, 0, 0, tsc);
    else
        old_buffer(m, version, tid, tsc);
    made_function(m, FDR_ENTER, 1, 1);
    if (version >= 3)
        made_buffer_end(m);
    else
        old_end(m, version, slot, 0);
}

/* Logs one after the other are one trace; each part of version 1 has its own size of slots. */
static void equal_headers_go_on(void **state)
{
    for (unsigned version = 1; version <= 5; version++)
        for (int big = 0; big < 2; big++) {
            made *m = fresh(version, big);
            one_event(m, version, 2, V1_SLOT, 100);
            made_header(m, version, FDR_TYPE, HZ, 160);
            one_event(m, version, 2, 160, 200);
            one_event(m, version, 3, 160, 200);
            made_header(m, version, FDR_TYPE, HZ, 16384); /* and one with nothing after it */
            tl_source *s = open_bytes(m->data, m->n, 1);
            assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
            assert_int_equal(tl_source_streams(s), 2);
            assert_int_equal(made_events(s, 1), 3);
            tl_source_close(s);
            free(m);
        }
}

/* A header with another version, order or frequency ends reading; bytes that only begin like one are no header. */
static void other_headers_end_it(void **state)
{
    const struct {
        unsigned version;
        bool big;
        uint64_t hz;
    } other[] = {{4, false, HZ}, {5, true, HZ}, {5, false, HZ + 1}, {1, false, HZ}};
    for (size_t i = 0; i < TL_COUNT(other); i++)
        for (int next = 0; next < 3; next++) {
            made *m = fresh(5, false);
            one_event(m, 5, 2, 0, 100);
            const size_t at = m->n;
            m->big = other[i].big;
            made_header(m, other[i].version, FDR_TYPE, other[i].hz, 512);
            if (next == 1)
                one_event(m, other[i].version, 2, 512, 200);
            if (next == 2) { /* without a buffer */
                m->big = false;
                made_metadata(m, FDR_PID);
                one_event(m, 5, 2, 0, 200);
            }
            tl_source *s = open_bytes(m->data, m->n, 1);
            expect_problem(s, next == 2 ? "fdr.garbage-between-buffers" : "fdr.other-header", at);
            assert_int_equal(tl_trace_damage(tl_source_trace(s), 0)->bytes, next == 2 ? 48 : m->n - at);
            assert_int_equal(made_events(s, 1), next == 2 ? 2 : 1);
            tl_source_close(s);
            free(m);
        }
}

/* After damage, the place named by the extents is trusted if it holds a header. */
static void a_header_is_a_place_to_go_on(void **state)
{
    made *m = fresh(5, false);
    made_buffer(m, 1, 2, 0, 0, 100);
    made_function(m, FDR_ENTER, 1, 1);
    const size_t bad = m->n;
    made_metadata(m, 42);
    made_buffer_end(m);
    made_header(m, 5, FDR_TYPE, HZ, 16384);
    one_event(m, 5, 2, 0, 200);
    tl_source *s = open_bytes(m->data, m->n, 1);
    expect_problem(s, "fdr.unknown-kind", bad);
    assert_int_equal(tl_trace_damage(tl_source_trace(s), 0)->bytes, FDR_METADATA_SIZE);
    assert_int_equal(made_events(s, 1), 2);
    tl_source_close(s);
    free(m);
}

static void a_second_slot_size_that_is_too_small(void **state)
{
    made *m = fresh(1, false);
    one_event(m, 1, 2, V1_SLOT, 100);
    const size_t at = m->n;
    made_header(m, 1, FDR_TYPE, HZ, 47);
    one_event(m, 1, 2, 300, 200);
    tl_source *s = open_bytes(m->data, m->n, 1);
    expect_problem(s, "fdr.bad-buffer-size", at + FDR_HEADER_BUFFER_SIZE);
    assert_int_equal(made_events(s, 1), 2);
    tl_source_close(s);
    m->n = at + FDR_HEADER_SIZE; /* nothing to hold: no problem */
    s = open_bytes(m->data, m->n, 1);
    assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
    tl_source_close(s);
    free(m);
}

/* Parts that are scanned in parallel begin at slots of the first header. */
static void headers_between_parts(void **state)
{
    enum { SIZE = 20 << 20, SECOND = 96 };
    made *m = calloc(1, sizeof *m);
    uint8_t *file = malloc(SIZE + 3 * FDR_HEADER_SIZE);
    assert_true(m && file);
    one_event(m, 1, 2, V1_SLOT, 100);
    size_t n = 0, slots = 0;
    for (int part = 0; part < 3; part++) {
        made h = {.n = 0};
        made_header(&h, 1, FDR_TYPE, HZ, part ? SECOND : V1_SLOT);
        memcpy(file + n, h.data, h.n);
        for (n += h.n; n < (size_t)(part + 1) * (SIZE / 3); n += part ? SECOND : V1_SLOT, slots++)
            memcpy(file + n, m->data, part ? SECOND : V1_SLOT);
    }
    for (unsigned threads = 1; threads <= 3; threads++) {
        tl_source *s = open_bytes(file, n, threads);
        assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
        assert_int_equal(made_events(s, threads), slots);
        tl_source_close(s);
    }
    free(file);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_events_before_5_are_absolute),
        cmocka_unit_test(overwritten_payloads_take_no_room),
        cmocka_unit_test(a_function_0_is_a_sign),
        cmocka_unit_test(else_the_first_reading_stays),
        cmocka_unit_test(equal_headers_go_on),
        cmocka_unit_test(other_headers_end_it),
        cmocka_unit_test(a_header_is_a_place_to_go_on),
        cmocka_unit_test(a_second_slot_size_that_is_too_small),
        cmocka_unit_test(headers_between_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
