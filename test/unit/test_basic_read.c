/* Reading basic logs: threads in any order, arguments, versions, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "make_xray.h"
#include "traceloom/traceloom.h"

static tl_source *open_made(const made *m, bool strict, tl_error *e)
{
    tl_source *s = NULL;
    const tl_open_options o = {.want = {.fields = true, .cpu = true, .strict = strict}};
    return tl_source_open_memory(&s, m->data, m->n, "made.xray", &o, e) == 0 ? s : NULL;
}

static tl_source *open_ok(const made *m)
{
    tl_error e = {0};
    tl_source *s = open_made(m, false, &e);
    if (!s)
        fail_msg("%s", e.message);
    return s;
}

static made *fresh(unsigned version, bool big)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->big = big;
    made_header(m, version, BASIC_TYPE, 0, 0);
    return m;
}

static void threads_are_streams(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        made *m = fresh(3, big);
        made_basic(m, BASIC_ENTER, 1, 10, 5, 4);
        made_basic(m, BASIC_ENTER, -2, 20, 6, 4);
        made_basic(m, BASIC_EXIT, 1, 30, 5, 4);
        made_basic(m, BASIC_EXIT, 1, 5, 5, 3); /* another process */
        tl_source *s = open_ok(m);
        const tl_trace *t = tl_source_trace(s);
        assert_int_equal(tl_source_streams(s), 3);
        assert_string_equal(tl_trace_unit(t), "ticks");
        assert_int_equal(tl_trace_track(t, 2)->pid, 3);
        uint64_t begin = 0, end = 0;
        assert_true(tl_trace_range(t, &begin, &end));
        assert_int_equal(begin, 5);
        assert_int_equal(end, 30);
        const tl_batch *b;
        assert_int_equal(tl_source_next(s, &b, NULL), 1);
        assert_int_equal(b->n, 2);
        assert_int_equal(b->ts[1], 30);
        assert_int_equal(tl_source_next(s, &b, NULL), 1);
        assert_int_equal((int64_t)b->key[0], -2);
        assert_int_equal(b->track[0], 1);
        tl_source_close(s);
        free(m);
    }
}

/* Before version 3 the process id is padding. */
static void old_versions_have_no_pid(void **state)
{
    (void)state;
    made *m = fresh(2, false);
    made_basic(m, BASIC_ENTER, 1, 10, 5, 77);
    made_basic(m, BASIC_ENTER, 1, 10, 6, 77);
    made_basic(m, BASIC_TAIL_EXIT, 1, 11, 5, 78);
    tl_source *s = open_ok(m);
    assert_int_equal(tl_source_streams(s), 2);
    assert_false(tl_trace_track(tl_source_trace(s), 0)->has_pid);
    tl_source_close(s);
    free(m);
}

static void arguments_belong_to_the_entry_before(void **state)
{
    (void)state;
    made *m = fresh(3, false);
    made_basic(m, BASIC_ENTER_ARGS, 1, 10, 5, 4);
    made_basic_argument(m, 1, 5, 4, 100);
    made_basic_argument(m, 2, 5, 4, 666); /* of another function: stray */
    made_basic_argument(m, 1, 5, 4, 200);
    made_basic(m, BASIC_ENTER_ARGS, 1, 20, 5, 4);
    made_basic(m, BASIC_ENTER, 1, 30, 5, 4);
    made_basic_argument(m, 1, 5, 4, 666); /* after a plain entry: stray */
    tl_source *s = open_ok(m);
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_damages(t), 2);
    assert_string_equal(tl_trace_damage(t, 0)->rule, "basic.stray-argument");
    assert_int_equal(tl_trace_damage(t, 0)->offset, 32 + 64);
    const tl_batch *b;
    assert_int_equal(tl_source_next(s, &b, NULL), 1);
    assert_int_equal(b->n, 3);
    assert_int_equal(b->v[b->val[0]].n, 2);
    assert_int_equal(b->v[b->val[0] + 1].as.u, 100);
    assert_int_equal(b->v[b->val[0] + 2].as.u, 200);
    assert_int_equal(b->v[b->val[1]].n, 0);
    assert_int_equal(b->val[2], 4);
    tl_source_close(s);
    free(m);
}

static void expect_damage(const made *m, const char *rule, uint64_t offset, uint64_t events)
{
    tl_source *s = open_ok(m);
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_damages(t), 1);
    assert_string_equal(tl_trace_damage(t, 0)->rule, rule);
    assert_int_equal(tl_trace_damage(t, 0)->offset, offset);
    tl_count count;
    assert_int_equal(tl_source_count(s, 1, &count, NULL), 0);
    assert_int_equal(count.events, events);
    tl_count_free(&count);
    tl_source_close(s);
    tl_error e = {0};
    assert_null(open_made(m, true, &e));
    assert_int_equal(e.code, TL_EDAMAGED);
    assert_int_equal(e.offset, offset);
}

static void damage_of_each_kind(void **state)
{
    (void)state;
    made *m = fresh(3, false);
    for (uint64_t i = 0; i < 4; i++)
        made_basic(m, BASIC_ENTER, 1, i, 5, 4);
    m->data[64] = 9;
    expect_damage(m, "basic.unknown-record-type", 64, 3);
    m->data[64] = 0;
    m->data[64 + BASIC_FUNCTION_KIND] = BASIC_KINDS;
    expect_damage(m, "basic.unknown-kind", 64, 3);
    m->data[64 + BASIC_FUNCTION_KIND] = BASIC_ENTER;
    m->n -= 3;
    expect_damage(m, "basic.truncated-record", 32 + 3 * 32, 3);
    m->n = 31;
    expect_damage(m, "header.truncated", 0, 0);
    free(m);
}

static void survives_any_cut_and_change(void **state)
{
    (void)state;
    made *m = fresh(3, false);
    for (uint64_t i = 0; i < 3; i++) {
        made_basic(m, BASIC_ENTER_ARGS, 1, i, 5, 4);
        made_basic_argument(m, 1, 5, 4, i);
    }
    const size_t whole = m->n;
    for (size_t n = 1; n <= whole; n++)
        for (unsigned value = 0; value < 256; value += 51) {
            uint8_t *copy = malloc(n);
            memcpy(copy, m->data, n);
            copy[n - 1] = (uint8_t)value;
            tl_source *s = NULL;
            tl_count count;
            if (tl_source_open_memory(&s, copy, n, "cut", NULL, NULL) == 0 &&
                tl_source_count(s, 1, &count, NULL) == 0) {
                assert_true(count.events <= 3);
                tl_count_free(&count);
            }
            tl_source_close(s);
            free(copy);
        }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_streams),
        cmocka_unit_test(old_versions_have_no_pid),
        cmocka_unit_test(arguments_belong_to_the_entry_before),
        cmocka_unit_test(damage_of_each_kind),
        cmocka_unit_test(survives_any_cut_and_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
