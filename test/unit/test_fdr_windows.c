/* FDR logs at the edges: of a cursor's window, of 64 bits of time, of a writer's number of open buffers. */
#include "writer_fixture.h"

#include "make_xray.h"
#include "traceloom/traceloom.h"

extern const tl_format tl_format_xray_fdr;

enum { FDR_WINDOW = 64 << 10 };

static tl_source *open_log(const void *data, size_t n)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = {.fields = true, .cpu = true}};
    must(tl_source_open_memory(&s, data, n, "made.xray", &o, &e), &e);
    assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
    return s;
}

static made *fresh(void)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    made_header(m, 5, FDR_TYPE, 1000000000, 0);
    made_buffer(m, 1, 2, 0, 0, 100);
    return m;
}

/* Payloads that begin in one window and end in the next are complete, wherever they are. */
static void payloads_across_windows(void **state)
{
    made *m = fresh();
    uint32_t n = 0;
    while (m->n < 3 * FDR_WINDOW) {
        char text[600];
        const uint32_t size = 1 + n * 37 % 500;
        for (uint32_t i = 0; i < size; i++)
            text[i] = (char)('a' + (n * 7 + i) % 26);
        text[size] = 0;
        made_event(m, FDR_CUSTOM_EVENT, 0, 1, text);
        n++;
    }
    made_buffer_end(m);
    tl_source *s = open_log(m->data, m->n);
    const tl_batch *b;
    uint32_t seen = 0;
    while (tl_source_next(s, &b, NULL) > 0)
        for (uint32_t i = 0; i < b->n; i++, seen++) {
            const tl_value *v = &b->v[b->val[i]];
            assert_int_equal(v->n, 1 + seen * 37 % 500);
            for (uint32_t k = 0; k < v->n; k++)
                assert_int_equal(((const char *)v->as.p)[k], 'a' + (seen * 7 + k) % 26);
        }
    assert_int_equal(seen, n);
    tl_source_close(s);
    free(m);
}

/* So are our recorder's own records: padding is no event, wherever it lies. */
static void words_across_windows(void **state)
{
    for (unsigned shift = 0; shift < 12; shift++) {
        made *m = fresh();
        memcpy(m->data + FDR_HEADER_MARK, FDR_MARK_DONE, FDR_MARK_SIZE);
        const size_t first = m->n - FDR_METADATA_SIZE; /* NewCPUId, where the window begins */
        char text[16] = "xxxxxxxxxxxxxxx";
        text[shift] = 0;
        made_event(m, FDR_CUSTOM_EVENT, 0, 1, text);
        uint32_t n = 1;
        for (; m->n - first + FDR_FUNCTION_SIZE + FDR_METADATA_SIZE <= FDR_WINDOW; n++)
            made_function(m, FDR_ENTER, 1, 1);
        for (unsigned i = 0; i < 3; i++)
            made_event(m, FDR_CUSTOM_EVENT, 0, 1, FDR_WORD_PAD);
        made_function(m, FDR_EXIT, 1, 1);
        made_buffer_end(m);
        tl_source *s = open_log(m->data, m->n);
        const tl_batch *b;
        uint32_t seen = 0;
        while (tl_source_next(s, &b, NULL) > 0)
            seen += b->n;
        assert_int_equal(seen, n + 1);
        tl_source_close(s);
        free(m);
    }
}

/* Time wraps at 2^64 within records that are checked at once. */
static void times_around_the_end(void **state)
{
    for (uint64_t before = 1; before < 70; before++) {
        made *m = fresh();
        made_cpu(m, 0, UINT64_MAX - before + 1);
        for (unsigned i = 0; i < 64; i++)
            made_function(m, FDR_ENTER, 1, 1);
        made_buffer_end(m);
        tl_source *s = open_log(m->data, m->n);
        uint64_t begin = 0, end = 0;
        assert_true(tl_trace_range(tl_source_trace(s), &begin, &end));
        const bool passes = before <= 64; /* the 0 is met, and before it, but for the first event, 2^64 - 1 */
        assert_true(begin == (passes ? 0 : UINT64_MAX - before + 2));
        assert_true(end == (before == 1 ? 63 : passes ? UINT64_MAX : UINT64_MAX - before + 65));
        tl_source_close(s);
        free(m);
    }
}

/* With too many threads open, the writer writes the buffer that waited longest, not one in use. */
static void the_buffer_that_waits_longest_makes_room(void **state)
{
    enum { TRACKS = 700 };
    fixture f;
    fixture_init(&f);
    for (int64_t i = f.trace.ntrack; i < TRACKS; i++) {
        uint32_t index;
        tl_track track = {.name = "t", .tid = 1000 + i, .has_tid = true};
        assert_int_equal(tl_trace_add_track(&f.trace, &track, &index, NULL), 0);
    }
    assert_int_equal(fixture_create(&f, &tl_format_xray_fdr), 0);
    for (uint32_t i = 0; i < TRACKS; i++) {
        fixture_call(&f, ENTER, 0, 2 * i, 1);
        fixture_call(&f, ENTER, i, 2 * i + 1, 1);
    }
    fixture_finish(&f);
    unsigned buffers = 0;
    for (size_t at = FDR_HEADER_SIZE; at < f.size;) {
        const uint8_t *p = f.bytes + at;
        buffers += tl_load32(p + FDR_METADATA_SIZE + FDR_NEW_BUFFER_TID, false) == 7;
        at += FDR_METADATA_SIZE + (size_t)tl_load64(p + FDR_BUFFER_EXTENTS_BYTES, false);
    }
    assert_int_equal(buffers, 2); /* the first one is written before those of later threads */
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payloads_across_windows),
        cmocka_unit_test(words_across_windows),
        cmocka_unit_test(times_around_the_end),
        cmocka_unit_test(the_buffer_that_waits_longest_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
