/* FDR files of our own recorder: the effects of their marks, zeros in live files, notes and padding, typed events with
 * known fields. None of this holds without a mark. */
#include "check.h"
#include "make_xray.h"
#include "traceloom/traceloom.h"

static made *fresh(const char *mark, unsigned version, bool big)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->big = big;
    made_header(m, version, FDR_TYPE, 1000000000, 16384);
    if (mark)
        memcpy(m->data + FDR_HEADER_MARK, mark, FDR_MARK_SIZE);
    return m;
}

static tl_source *open_with(const made *m, const tl_want *want)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_open_options o = {.want = *want, .no_names = true};
    must(tl_source_open_memory(&s, m->data, m->n, "made.xray", &o, &e), &e);
    return s;
}

static tl_source *open_made(const made *m)
{
    return open_with(m, &(tl_want){.fields = true, .cpu = true});
}

/* Zeros up to an offset; the open buffer ends there. */
static void zeros_until(made *m, size_t end)
{
    made_room(m, end - m->n);
    made_buffer_end(m);
}

static void expect(const made *m, uint64_t events, const char *rule, uint64_t offset)
{
    tl_source *s = open_made(m);
    const tl_trace *t = tl_source_trace(s);
    const tl_damage *d = tl_trace_damage(t, 0);
    if ((d ? d->rule : NULL) != rule && (!d || !rule || strcmp(d->rule, rule) != 0))
        fail_msg("%s, expected %s", d ? d->rule : "no damage", rule ? rule : "none");
    if (d)
        assert_int_equal(d->offset, offset);
    assert_int_equal(made_events(s, 1), events);
    tl_source_close(s);
}

/* A live file with one event, then `tail` bytes of zeros, the last few of which may belong to the next record. */
static void unwritten_tails(void **state)
{
    for (size_t tail = 0; tail <= 40; tail++) {
        made *m = fresh(FDR_MARK_LIVE, 5, tail % 2);
        made_buffer(m, 7, 8, 1, 2, 100);
        made_function(m, FDR_ENTER, 1, 1);
        zeros_until(m, m->n + tail);
        expect(m, 1, NULL, 0);
        free(m);
    }
}

/* The same bytes without a mark, with another mark, of another version, or done: zeros are entries of function 0. */
static void only_with_the_mark(void **state)
{
    static const char *const marks[] = {NULL, FDR_MARK_DONE, "tlrtX\0\0", "tlrtL\0\1"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        made *m = fresh(marks[i], 5, false);
        if (i == 3)
            m->data[FDR_HEADER_MARK + 7] = 1;
        made_buffer(m, 7, 8, 1, 2, 100);
        made_function(m, FDR_ENTER, 1, 1);
        zeros_until(m, m->n + 16);
        expect(m, 3, NULL, 0);
        free(m);
    }
    made *m = fresh(FDR_MARK_LIVE, 4, false);
    made_buffer(m, 7, 8, 1, 2, 100);
    zeros_until(m, m->n + 16);
    expect(m, 2, NULL, 0);
    free(m);
}

/* Blocks of many records are checked at once: zeros in them still count. */
static void zeros_in_a_long_run(void **state)
{
    for (uint32_t n = 0; n < 70; n++) {
        made *m = fresh(FDR_MARK_LIVE, 5, n % 2);
        made_buffer(m, 7, 8, 1, 2, 100);
        for (uint32_t i = 0; i < n; i++)
            made_function(m, FDR_ENTER, 5, 0);
        made_function(m, FDR_ENTER, 0, 0);
        for (uint32_t i = 0; i < 70; i++)
            made_function(m, FDR_ENTER, 6, 0);
        made_buffer_end(m);
        expect(m, n, NULL, 0);
        free(m);
    }
}

/* Function 0 with a time difference, and a difference of 0 with a function, are records. */
static void nearly_zeros(void **state)
{
    made *m = fresh(FDR_MARK_LIVE, 5, false);
    made_buffer(m, 7, 8, 1, 2, 100);
    made_function(m, FDR_ENTER, 0, 1);
    made_function(m, FDR_ENTER, 1, 0);
    made_buffer_end(m);
    expect(m, 2, NULL, 0);
    free(m);
}

static void preambles(void **state)
{
    enum { RECORDS = 5 };
    for (int kept = 0; kept <= RECORDS; kept++) {
        made *m = fresh(FDR_MARK_LIVE, 5, false);
        made_buffer(m, 7, 8, 1, 2, 100);
        memset(m->data + m->n - 16 * (size_t)(RECORDS - kept), 0, 16 * (size_t)(RECORDS - kept));
        made_function(m, FDR_ENTER, 1, 1); /* of what had been there before */
        if (kept)
            zeros_until(m, FDR_LIVE_PAGE);
        else
            made_room(m, FDR_LIVE_PAGE - m->n);
        made_buffer(m, 7, 9, 1, 2, 100);
        made_function(m, FDR_ENTER, 1, 1);
        made_buffer_end(m);
        expect(m, kept == RECORDS ? 2 : 1, NULL, 0);
        free(m);
    }
}

/* Gaps extend to the next page of the file, from wherever they begin; not to another place in it. */
static void gaps(void **state)
{
    for (size_t page = 1; page <= 3; page++) {
        made *m = fresh(FDR_MARK_LIVE, 5, false);
        made_buffer(m, 7, 8, 1, 2, 100);
        made_function(m, FDR_ENTER, 1, 1);
        made_buffer_end(m);
        made_room(m, page * FDR_LIVE_PAGE - m->n);
        made_buffer(m, 7, 8, 2, 2, 100);
        made_function(m, FDR_EXIT, 1, 1);
        made_buffer_end(m);
        made_room(m, 5);
        expect(m, 2, NULL, 0);
        free(m);
    }
    made *m = fresh(FDR_MARK_LIVE, 5, false);
    made_room(m, 8);
    memset(made_room(m, 40), 0x55, 40);
    expect(m, 0, NULL, 0); /* from the page not yet written: not read */
    made_room(m, FDR_LIVE_PAGE - m->n);
    memset(made_room(m, 8), 0x55, 8);
    expect(m, 0, "fdr.garbage-between-buffers", FDR_LIVE_PAGE);
    free(m);
    m = fresh(FDR_MARK_DONE, 5, false);
    made_room(m, 64);
    expect(m, 0, "fdr.garbage-between-buffers", FDR_HEADER_SIZE);
    free(m);
}

static void damage_of_live_files(void **state)
{
    made *m = fresh(FDR_MARK_LIVE, 5, false);
    made_buffer(m, 7, 8, 1, 2, 100);
    made_function(m, FDR_ENTER, 1, 1);
    const size_t at = m->n;
    m->data[at] = FDR_BYTE0(33, false);
    m->n += 16;
    zeros_until(m, at + 100);
    expect(m, 1, "fdr.unknown-kind", at);
    free(m);
    m = fresh(FDR_MARK_LIVE, 5, false);
    made_buffer(m, 7, 8, 1, 2, 100);
    made_event(m, FDR_CUSTOM_EVENT, 0, 1, "abc");
    made_buffer_end(m);
    m->n -= 2;
    expect(m, 0, "fdr.truncated-record", m->n - 17);
    free(m);
}

static void put_words(made *m)
{
    made_buffer(m, 7, 7, 1, 2, 90);
    made_event(m, FDR_CUSTOM_EVENT, 0, 0, "tlrt.txtthread tid=8 name=worker\nfunction id=5 name=five\n");
    made_event(m, FDR_CUSTOM_EVENT, 0, 0, "tlrt.pad");
    made_buffer_end(m);
    made_buffer(m, 7, 8, 1, 2, 100);
    made_event(m, FDR_CUSTOM_EVENT, 0, 10, "tlrt.txtprocess pid=7 exe=/app");
    made_function(m, FDR_ENTER, 5, 1);
    made_event(m, FDR_CUSTOM_EVENT, 0, 10, "tlrt.pa");
    made_event(m, FDR_CUSTOM_EVENT, 0, 10, "tlrt.pad and more");
    made_function(m, FDR_EXIT, 5, 1);
    made_buffer_end(m);
}

static void words(void **state)
{
    for (int big = 0; big < 2; big++) {
        made *m = fresh(FDR_MARK_DONE, 5, big);
        put_words(m);
        tl_source *s = open_made(m);
        const tl_trace *t = tl_source_trace(s);
        const tl_batch *b = NULL;
        assert_int_equal(tl_trace_damages(t), 0);
        assert_int_equal(tl_trace_tracks(t), 1);
        assert_string_equal(tl_trace_track(t, 0)->name, "worker 8");
        assert_string_equal(tl_trace_function(t, 5)->name, "five");
        assert_string_equal(tl_trace_exe(t), "/app");
        uint64_t begin, end;
        assert_true(tl_trace_range(t, &begin, &end));
        assert_int_equal(begin, 111); /* differences of notes and padding count */
        assert_int_equal(end, 132);
        assert_int_equal(tl_source_next(s, &b, NULL), 1);
        assert_int_equal(b->n, 3);
        assert_int_equal(b->ts[0], 111);
        assert_int_equal(b->ts[1], 121);
        assert_string_equal(tl_trace_class(t, b->cls[1])->name, "xray.custom");
        assert_int_equal(b->ts[2], 132);
        tl_source_close(s);
        free(m);
    }
}

static void words_without_a_mark(void **state)
{
    made *m = fresh(NULL, 5, false);
    put_words(m);
    tl_source *s = open_made(m);
    assert_int_equal(tl_trace_tracks(tl_source_trace(s)), 2);
    assert_null(tl_trace_function(tl_source_trace(s), 5));
    assert_int_equal(made_events(s, 1), 7);
    tl_source_close(s);
    free(m);
}

static void damaged_notes(void **state)
{
    made *m = fresh(FDR_MARK_DONE, 5, false);
    made_buffer(m, 7, 7, 1, 2, 90);
    made_event(m, FDR_CUSTOM_EVENT, 0, 0, "tlrt.txtthread name=worker\n");
    const size_t at = m->n - 19;
    made_event(m, FDR_CUSTOM_EVENT, 0, 0, "tlrt.txt");
    made_buffer_end(m);
    expect(m, 0, "note.bad-line", at);
    free(m);
}

/* A payload with bytes of zero, which made_event() cannot make. */
static void typed(made *m, unsigned type, const char *payload, size_t n)
{
    made_event(m, FDR_TYPED_EVENT, type, 1, "");
    tl_store32(m->data + m->n - FDR_METADATA_SIZE + FDR_EVENT_SIZE, (uint32_t)n, m->big);
    memcpy(made_room(m, n), payload, n);
}

static void known_fields(void **state)
{
    for (int way = 0; way < 4; way++) { /* both byte orders; with fields, and only counted */
        const bool big = way & 1, fields = way & 2;
        made *m = fresh(FDR_MARK_DONE, 5, big);
        made_buffer(m, 7, 7, 1, 2, 90);
        made_event(m, FDR_CUSTOM_EVENT, 0, 0,
                   "tlrt.txtevent id=3 kind=instant fields=n:u64,s:string name=miss\n"
                   "event id=4 kind=counter fields=v:i64 name=queue\nevent id=5 kind=instant name=tick\n");
        typed(m, 3, "\7\0\0\0\0\0\0\0\2\0\0\0ab", 14);
        typed(m, 3, "\7\0\0\0\0\0\0\0\3\0\0\0ab", 14); /* the text is longer than the payload */
        typed(m, 3, "\7\0\0\0\0\0\0\0\1\0\0\0ab", 14); /* and shorter */
        typed(m, 3, "\7\0\0\0\0\0\0\0\2\0\0", 11);     /* its length is cut */
        typed(m, 3,
              "\7\0\0\0\0\0\0\0\xff\xff\xff\xff"
              "ab",
              14);
        typed(m, 4, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
        typed(m, 4, "\xff\xff\xff\xff\xff\xff\xff", 7);
        typed(m, 5, "", 0);
        typed(m, 6, "", 0);
        made_buffer_end(m);
        tl_source *s = open_with(m, &(tl_want){.fields = fields});
        const tl_trace *t = tl_source_trace(s);
        const tl_batch *b = NULL;
        static const char *const class[] = {"miss",  "xray.typed", "xray.typed", "xray.typed", "xray.typed",
                                            "queue", "xray.typed", "tick",       "xray.typed"};
        assert_int_equal(tl_source_next(s, &b, NULL), 1);
        assert_int_equal(b->n, 9);
        for (uint32_t i = 0; i < b->n; i++)
            assert_string_equal(tl_trace_class(t, b->cls[i])->name, class[i]);
        if (fields) {
            assert_int_equal(b->v[b->val[0]].as.u, 7);
            assert_int_equal(b->v[b->val[0] + 1].n, 2);
            assert_memory_equal(b->v[b->val[0] + 1].as.p, "ab", 2);
            assert_int_equal(b->v[b->val[1]].as.u, 3); /* the type of one that stays typed */
            assert_int_equal(b->v[b->val[5]].type, TL_I64);
            assert_int_equal(b->v[b->val[5]].as.i, -1);
            assert_int_equal(b->val[8] - b->val[7], 0);
        }
        tl_source_close(s);
        free(m);
    }
}

/* A part that is scanned again because its guess was wrong still has its notes once: several threads read the file, and
 * the text of a payload looks like buffers. */
static void many_threads(void **state)
{
    enum { SIZE = 20 << 20, LINE = 1 << 12 };
    uint8_t *data = calloc(1, SIZE);
    made *m = fresh(FDR_MARK_LIVE, 5, false);
    assert_non_null(data);
    made_buffer(m, 7, 8, 1, 2, 100);
    made_event(m, FDR_CUSTOM_EVENT, 0, 0, "tlrt.txtfunction id=1 name=one\n");
    made_function(m, FDR_ENTER, 1, 1);
    memcpy(data, m->data, m->n);
    size_t at = m->n;
    for (; at < SIZE - 2 * LINE; at += LINE) { /* one buffer of many events, each with a buffer in it */
        m->n = 0;
        made_event(m, FDR_CUSTOM_EVENT, 0, 0, "");
        tl_store32(m->data + FDR_EVENT_SIZE, LINE - FDR_METADATA_SIZE, false);
        made_buffer(m, 7, 9, 1, 2, 100);
        made_event(m, FDR_CUSTOM_EVENT, 0, 0, "tlrt.txtfunction id=2 name=two\n");
        made_buffer_end(m);
        memcpy(data + at, m->data, m->n);
    }
    tl_store64(data + FDR_HEADER_SIZE + FDR_BUFFER_EXTENTS_BYTES, SIZE - FDR_HEADER_SIZE - FDR_METADATA_SIZE, false);
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        tl_source *s = NULL;
        const tl_open_options o = {.want = {.threads = threads}, .no_names = true};
        assert_int_equal(tl_source_open_memory(&s, data, SIZE, "made.xray", &o, NULL), 0);
        const tl_trace *t = tl_source_trace(s);
        assert_int_equal(tl_trace_damages(t), 0);
        assert_int_equal(tl_trace_tracks(t), 1);
        assert_non_null(tl_trace_function(t, 1));
        assert_null(tl_trace_function(t, 2));
        assert_int_equal(made_events(s, 1), 1 + (SIZE - 2 * LINE - 200 + LINE) / LINE);
        tl_source_close(s);
    }
    free(m);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unwritten_tails),
        cmocka_unit_test(only_with_the_mark),
        cmocka_unit_test(zeros_in_a_long_run),
        cmocka_unit_test(nearly_zeros),
        cmocka_unit_test(preambles),
        cmocka_unit_test(gaps),
        cmocka_unit_test(damage_of_live_files),
        cmocka_unit_test(words),
        cmocka_unit_test(words_without_a_mark),
        cmocka_unit_test(damaged_notes),
        cmocka_unit_test(known_fields),
        cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
