/* Reading FDR logs: order of buffers, running time, arguments, damage of every kind, both byte orders. */
#include "check.h"
#include "make_xray.h"
#include "traceloom/traceloom.h"

static const tl_batch *only_batch(tl_source *s)
{
    const tl_batch *b = NULL;
    assert_int_equal(tl_source_next(s, &b, NULL), 1);
    return b;
}

static made *fresh(bool big)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->big = big;
    made_header(m, 5, FDR_TYPE, 1000000000, 16384);
    return m;
}

static void check_event(const tl_batch *b, uint32_t i, const char *cls, uint64_t ts, uint64_t key)
{
    assert_string_equal(tl_trace_class(b->trace, b->cls[i])->name, cls);
    assert_int_equal(b->ts[i], ts);
    assert_int_equal(b->key[i], key);
}

static void every_record(bool big)
{
    made *m = fresh(big);
    made_buffer(m, 7, -8, 1, 2, 100);
    made_function(m, FDR_ENTER_ARGS, 3, 5);
    made_argument(m, 41);
    made_argument(m, 42);
    made_function(m, FDR_ENTER, FDR_ID_MAX, 1);
    made_cpu(m, 9, 1000);
    made_event(m, FDR_CUSTOM_EVENT, 0, -10, "abc");
    made_event(m, FDR_TYPED_EVENT, 77, 20, "");
    made_function(m, FDR_TAIL_EXIT, FDR_ID_MAX, UINT32_MAX);
    made_function(m, FDR_EXIT, 3, 0);
    made_buffer_end(m);
    tl_source *s = made_read(m);
    const tl_trace *t = tl_source_trace(s);
    assert_string_equal(tl_trace_format(t), "xray-fdr");
    assert_string_equal(tl_trace_byte_order(t), big ? "big" : "little");
    assert_int_equal(tl_trace_damages(t), 0);
    assert_int_equal(tl_trace_tracks(t), 1);
    assert_string_equal(tl_trace_track(t, 0)->name, "thread -8");
    assert_int_equal(tl_trace_track(t, 0)->pid, 7);
    uint64_t begin = 0, end = 0;
    assert_true(tl_trace_range(t, &begin, &end));
    assert_int_equal(begin, 105);
    assert_int_equal(end, 1010 + (uint64_t)UINT32_MAX);

    const tl_batch *b = only_batch(s);
    assert_int_equal(b->n, 6);
    check_event(b, 0, "xray.enter_args", 105, 3);
    assert_int_equal(b->v[b->val[0]].type, TL_LIST);
    assert_int_equal(b->v[b->val[0]].n, 2);
    assert_int_equal(b->v[b->val[0] + 2].as.u, 42);
    assert_int_equal(b->val[1], 3);
    check_event(b, 1, "xray.enter", 106, FDR_ID_MAX);
    check_event(b, 2, "xray.custom", 990, 0);
    assert_int_equal(b->cpu[1], 0);
    assert_int_equal(b->cpu[2], 9);
    assert_int_equal(b->v[b->val[2]].n, 3);
    assert_memory_equal(b->v[b->val[2]].as.p, "abc", 3);
    check_event(b, 3, "xray.typed", 1010, 0);
    assert_int_equal(b->v[b->val[3]].as.u, 77);
    assert_int_equal(b->v[b->val[3] + 1].n, 0);
    check_event(b, 4, "xray.tail_exit", 1010 + (uint64_t)UINT32_MAX, FDR_ID_MAX);
    check_event(b, 5, "xray.exit", 1010 + (uint64_t)UINT32_MAX, 3);
    assert_int_equal(b->val[6], b->nval);
    tl_source_close(s);
    free(m);
}

static void reads_every_record_little(void **state)
{
    every_record(false);
}

static void reads_every_record_big(void **state)
{
    every_record(true);
}

/* An entry that fills a batch still gets its arguments. */
static void argument_after_a_full_batch(void **state)
{
    made *m = fresh(false);
    made_buffer(m, 1, 1, 0, 0, 0);
    for (uint32_t i = 0; i < TL_BATCH_MAX; i++)
        made_function(m, FDR_ENTER, 1, 1);
    made_argument(m, 5);
    made_function(m, FDR_EXIT, 1, 1);
    made_buffer_end(m);
    tl_source *s = made_read(m);
    const tl_batch *b = only_batch(s);
    assert_int_equal(b->n, TL_BATCH_MAX);
    check_event(b, TL_BATCH_MAX - 1, "xray.enter_args", TL_BATCH_MAX, 1);
    assert_int_equal(b->v[b->val[TL_BATCH_MAX - 1] + 1].as.u, 5);
    assert_int_equal(only_batch(s)->n, 1);
    assert_int_equal(tl_source_next(s, &b, NULL), 0);
    tl_source_close(s);
    free(m);
}

/* Buffers in any order; 20 of one thread, which is more than some readers can sort. */
static void buffers_in_order_of_time(void **state)
{
    made *m = fresh(false);
    for (int k = 0; k < 20; k++) {
        int i = (k * 7 + 3) % 20;
        made_buffer(m, 1, 2, 5, 10 * (i / 2), (uint64_t)(100 * i)); /* two of each wall time */
        made_function(m, FDR_ENTER, (uint32_t)i + 1, 1);
        made_buffer_end(m);
    }
    tl_source *s = made_read(m);
    const tl_batch *b = only_batch(s);
    assert_int_equal(b->n, 20);
    for (uint32_t i = 0; i < 20; i++)
        check_event(b, i, "xray.enter", 100 * i + 1, i + 1);
    tl_source_close(s);
    free(m);
}

/* Two buffers of three events; the caller then breaks record `damage` of the first. */
static made *two_buffers(size_t *second)
{
    made *m = fresh(false);
    for (int i = 0; i < 2; i++) {
        *second = m->n;
        made_buffer(m, 1, 2, i, 0, 100);
        made_function(m, FDR_ENTER, 1, 1);
        made_function(m, FDR_ENTER, 2, 1);
        made_function(m, FDR_EXIT, 2, 1);
        made_buffer_end(m);
    }
    return m;
}

enum { FIRST_BODY = FDR_HEADER_SIZE + 5 * FDR_METADATA_SIZE };

static void unknown_action(void **state)
{
    size_t second;
    made *m = two_buffers(&second);
    m->data[FIRST_BODY + 8] = 4 << 1;
    made_damaged(m, "fdr.unknown-action", FIRST_BODY + 8, 4);
    free(m);
}

static void unknown_kind(void **state)
{
    size_t second;
    made *m = two_buffers(&second);
    m->data[FIRST_BODY + 8] = 0x7f;
    made_damaged(m, "fdr.unknown-kind", FIRST_BODY + 8, 4);
    free(m);
}

static void extents_too_small(void **state)
{
    size_t second;
    made *m = two_buffers(&second);
    tl_store64(m->data + FDR_HEADER_SIZE + 1, 4 * FDR_METADATA_SIZE + 12, false);
    made_damaged(m, "fdr.truncated-record", FIRST_BODY + 8, 4);
    free(m);
}

static void extents_cover_the_next_buffer(void **state)
{
    size_t second;
    made *m = two_buffers(&second);
    tl_store64(m->data + FDR_HEADER_SIZE + 1, m->n - FDR_HEADER_SIZE - FDR_METADATA_SIZE, false);
    made_damaged(m, "fdr.bad-extents", second, 6);
    free(m);
}

static void extents_beyond_everything(void **state)
{
    size_t second;
    made *m = two_buffers(&second);
    tl_store64(m->data + second + 1, UINT64_MAX, false);
    made_damaged(m, "fdr.truncated-buffer", m->n, 6);
    free(m);
}

static void garbage_between_buffers(void **state)
{
    size_t second;
    made *m = two_buffers(&second);
    memmove(m->data + second + 5, m->data + second, m->n - second);
    memset(m->data + second, 0, 5);
    m->n += 5;
    made_damaged(m, "fdr.garbage-between-buffers", second, 6);
    free(m);
}

static void missing_walltime(void **state)
{
    size_t second;
    made *m = two_buffers(&second);
    size_t at = second + 2 * FDR_METADATA_SIZE;
    memmove(m->data + at, m->data + at + FDR_METADATA_SIZE, m->n - at - FDR_METADATA_SIZE);
    m->n -= FDR_METADATA_SIZE;
    tl_store64(m->data + second + 1, m->n - second - FDR_METADATA_SIZE, false);
    made_damaged(m, "fdr.missing-walltime", at, 6);
    free(m);
}

static void stray_argument(void **state)
{
    made *m = fresh(false);
    made_buffer(m, 1, 2, 0, 0, 1);
    made_function(m, FDR_EXIT, 1, 1);
    size_t at = m->n;
    made_argument(m, 1);
    made_function(m, FDR_ENTER, 1, 1);
    made_buffer_end(m);
    made_damaged(m, "fdr.stray-argument", at, 2);
    free(m);
}

static void negative_size(void **state)
{
    made *m = fresh(false);
    made_buffer(m, 1, 2, 0, 0, 1);
    size_t at = m->n;
    made_event(m, FDR_CUSTOM_EVENT, 0, 1, "");
    tl_store32(m->data + at + FDR_EVENT_SIZE, UINT32_MAX, false);
    made_buffer_end(m);
    made_damaged(m, "fdr.bad-size", at, 0);
    free(m);
}

/* The runtime forgets 16 bytes of extents for each typed event: the next buffer is still found. */
static void typed_event_bug_is_repaired(void **state)
{
    made *m = fresh(false);
    made_buffer(m, 1, 2, 0, 0, 1);
    made_function(m, FDR_ENTER, 1, 1);
    made_event(m, FDR_TYPED_EVENT, 1, 1, "a longer payload");
    made_function(m, FDR_EXIT, 1, 1);
    m->n -= 16; /* lost, with the extents */
    size_t end = m->n;
    made_buffer_end(m);
    made_buffer(m, 1, 2, 1, 0, 1);
    made_function(m, FDR_EXIT, 1, 1);
    made_buffer_end(m);
    tl_source *s = made_read(m);
    const tl_damage *d = tl_trace_damage(tl_source_trace(s), 0);
    assert_non_null(d);
    assert_string_equal(d->rule, "fdr.truncated-record");
    assert_contains(d->what, "typed events");
    assert_true(d->offset < end);
    assert_int_equal(only_batch(s)->n, 2);
    tl_source_close(s);
    free(m);
}

static void header_only_and_cut_header(void **state)
{
    made *m = fresh(false);
    tl_source *s = made_read(m);
    const tl_batch *b;
    assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
    assert_int_equal(tl_source_next(s, &b, NULL), 0);
    tl_source_close(s);
    m->n = 17;
    made_damaged(m, "header.truncated", 0, 0);
    free(m);
}

/* Every prefix and every single changed byte: a result or an error, nothing else. */
static void survives_any_cut_and_change(void **state)
{
    size_t second;
    made *m = two_buffers(&second);
    const size_t whole = m->n;
    const uint8_t values[] = {0x00, 0x01, 0x0f, 0x7f, 0x80, 0xff};
    for (m->n = 1; m->n <= whole; m->n++) {
        uint8_t *copy = malloc(m->n); /* so that a read beyond the end is detected */
        memcpy(copy, m->data, m->n);
        tl_source *s = NULL;
        tl_count count;
        if (tl_source_open_memory(&s, copy, m->n, "cut", NULL, NULL) == 0 && tl_source_count(s, 1, &count, NULL) == 0)
            tl_count_free(&count);
        tl_source_close(s);
        free(copy);
    }
    m->n = whole;
    for (size_t i = 0; i < whole; i++)
        for (size_t k = 0; k < sizeof values; k++) {
            uint8_t before = m->data[i];
            m->data[i] = values[k];
            tl_source *s = NULL;
            tl_count count;
            if (tl_source_open_memory(&s, m->data, m->n, "changed", NULL, NULL) == 0 &&
                tl_source_count(s, 1, &count, NULL) == 0) {
                assert_true(count.events <= 6);
                tl_count_free(&count);
            }
            tl_source_close(s);
            m->data[i] = before;
        }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_record_little),
        cmocka_unit_test(reads_every_record_big),
        cmocka_unit_test(argument_after_a_full_batch),
        cmocka_unit_test(buffers_in_order_of_time),
        cmocka_unit_test(unknown_action),
        cmocka_unit_test(unknown_kind),
        cmocka_unit_test(extents_too_small),
        cmocka_unit_test(extents_cover_the_next_buffer),
        cmocka_unit_test(extents_beyond_everything),
        cmocka_unit_test(garbage_between_buffers),
        cmocka_unit_test(missing_walltime),
        cmocka_unit_test(stray_argument),
        cmocka_unit_test(negative_size),
        cmocka_unit_test(typed_event_bug_is_repaired),
        cmocka_unit_test(header_only_and_cut_header),
        cmocka_unit_test(survives_any_cut_and_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
