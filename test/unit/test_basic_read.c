/* Reading basic logs: threads in any order, arguments, versions, damage. */
#include "check.h"
#include "make_xray.h"
#include "traceloom/traceloom.h"

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
    for (int big = 0; big < 2; big++) {
        made *m = fresh(3, big);
        made_basic(m, BASIC_ENTER, 1, 10, 5, 4);
        made_basic(m, BASIC_ENTER, -2, 20, 6, 4);
        made_basic(m, BASIC_EXIT, 1, 30, 5, 4);
        made_basic(m, BASIC_EXIT, 1, 5, 5, 3); /* another process */
        tl_source *s = made_read(m);
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
    made *m = fresh(2, false);
    made_basic(m, BASIC_ENTER, 1, 10, 5, 77);
    made_basic(m, BASIC_ENTER, 1, 10, 6, 77);
    made_basic(m, BASIC_TAIL_EXIT, 1, 11, 5, 78);
    tl_source *s = made_read(m);
    assert_int_equal(tl_source_streams(s), 2);
    assert_false(tl_trace_track(tl_source_trace(s), 0)->has_pid);
    tl_source_close(s);
    free(m);
}

static uint64_t argument_of(const tl_batch *b, uint32_t i)
{
    assert_true(i < b->n);
    const tl_value *list = &b->v[b->val[i]];
    assert_int_equal(list->type, TL_LIST);
    return list->n == 1 ? list[1].as.u : 0;
}

static void an_argument_belongs_to_the_entry_before(void **state)
{
    made *m = fresh(3, false);
    made_basic_argument(m, 1, 5, 4, 666); /* before anything */
    made_basic(m, BASIC_ENTER_ARGS, 1, 10, 5, 4);
    made_basic_argument(m, 1, 5, 4, 100);
    made_basic_argument(m, 1, 5, 4, 666); /* an entry has one */
    made_basic(m, BASIC_ENTER_ARGS, 1, 20, 5, 4);
    made_basic_argument(m, 2, 5, 4, 666); /* of another function */
    made_basic_argument(m, 1, 5, 4, 666); /* and then it is too late */
    made_basic(m, BASIC_ENTER, 1, 30, 5, 4);
    made_basic_argument(m, 1, 5, 4, 666); /* after a plain entry */
    made_basic(m, BASIC_ENTER_ARGS, 1, 40, 5, 4);
    tl_source *s = made_read(m);
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_damages(t), 0);
    assert_int_equal(tl_trace_lost_events(t), 5);
    const tl_batch *b;
    assert_int_equal(tl_source_next(s, &b, NULL), 1);
    assert_int_equal(b->n, 4);
    assert_int_equal(argument_of(b, 0), 100);
    assert_int_equal(argument_of(b, 1), 0);
    assert_int_equal(argument_of(b, 3), 0);
    assert_int_equal(b->val[4], 4);
    tl_source_close(s);
    free(m);
}

/* Records of other threads may lie between, some without any event, and invalid records. */
static void other_threads_lie_between(void **state)
{
    made *m = fresh(3, false);
    made_basic(m, BASIC_ENTER_ARGS, 1, 10, 5, 4);
    made_basic(m, BASIC_ENTER_ARGS, 1, 20, 6, 4);
    made_basic_argument(m, 1, 7, 4, 666); /* of no thread */
    made_basic_argument(m, 1, 5, 9, 666); /* the same thread id in another process */
    made_basic_argument(m, 1, 5, 4, 100);
    const size_t bad = m->n;
    made_basic(m, BASIC_ENTER, 1, 20, 6, 4);
    m->data[bad] = 99; /* also of no thread */
    made_basic_argument(m, 1, 6, 4, 200);
    made_basic(m, BASIC_ENTER_ARGS, 2, 30, 5, 4);
    made_basic(m, BASIC_ENTER_ARGS, 2, 30, 6, 4);
    made_basic(m, BASIC_KINDS, 2, 31, 5, 4); /* of thread 5: its entry waits no longer */
    made_basic_argument(m, 2, 6, 4, 300);
    made_basic_argument(m, 2, 5, 4, 666);
    tl_source *s = made_read(m);
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_damages(t), 2);
    assert_int_equal(tl_trace_lost_events(t), 3);
    assert_int_equal(tl_source_streams(s), 2);
    const tl_batch *b;
    assert_int_equal(tl_source_next(s, &b, NULL), 1);
    assert_int_equal(b->n, 2);
    assert_int_equal(argument_of(b, 0), 100);
    assert_int_equal(argument_of(b, 1), 0);
    assert_int_equal(tl_source_next(s, &b, NULL), 1);
    assert_int_equal(argument_of(b, 0), 200);
    assert_int_equal(argument_of(b, 1), 300);
    tl_source_close(s);
    free(m);
}

/* The last entry of a full batch gets its argument, even from another run of the thread. */
static void argument_after_a_full_basic_batch(void **state)
{
    for (int between = 0; between < 2; between++) {
        made *m = fresh(3, false);
        for (uint64_t i = 0; i < TL_BATCH_MAX; i++)
            made_basic(m, BASIC_ENTER_ARGS, 1, i, 5, 4);
        if (between)
            made_basic(m, BASIC_ENTER, 1, 7, 6, 4);
        made_basic_argument(m, 1, 5, 4, 100);
        made_basic(m, BASIC_ENTER_ARGS, 1, 5000, 5, 4);
        tl_source *s = made_read(m);
        const tl_batch *b;
        assert_int_equal(tl_source_next(s, &b, NULL), 1);
        assert_int_equal(b->n, TL_BATCH_MAX);
        assert_int_equal(argument_of(b, TL_BATCH_MAX - 1), 100);
        assert_int_equal(tl_source_next(s, &b, NULL), 1);
        assert_int_equal(b->n, 1);
        assert_int_equal(b->ts[0], 5000);
        tl_source_close(s);
        free(m);
    }
}

static void equal_headers_between_records(void **state)
{
    for (unsigned version = 1; version <= 3; version++)
        for (int big = 0; big < 2; big++) {
            made *m = fresh(version, big);
            m->n = 0;
            made_header(m, version, BASIC_TYPE, 77, 0);
            made_basic(m, BASIC_ENTER_ARGS, 1, 10, 5, 4);
            made_header(m, version, BASIC_TYPE, 77, 0);
            made_basic(m, BASIC_ENTER, 1, 20, 6, 4);
            made_basic(m, BASIC_EXIT, 1, 20, 5, 4);
            made_header(m, version, BASIC_TYPE, 77, 0);
            tl_source *s = made_read(m);
            assert_int_equal(tl_trace_damages(tl_source_trace(s)), 0);
            assert_int_equal(tl_trace_lost_events(tl_source_trace(s)), 0);
            assert_int_equal(tl_source_streams(s), 2);
            assert_int_equal(made_events(s, 1), 3);
            tl_source_close(s);
            free(m);
        }
}

/* Reading stops at a header of another version, byte order or frequency, if it can be told from a record. */
static void other_headers_between_records(void **state)
{
    const struct {
        unsigned version;
        bool big;
        uint64_t hz;
        int kind; /* of the next record; -1: none */
        const char *rule;
    } other[] = {
        {2, false, 77, BASIC_ENTER, "basic.other-header"},
        {3, true, 77, BASIC_ENTER, "basic.other-header"},
        {1, true, 77, -1, "basic.other-header"},
        {3, false, BASIC_HZ_MAX, BASIC_EXIT, "basic.other-header"},
        {3, false, BASIC_HZ_MAX + 1, BASIC_EXIT, "basic.unknown-record-type"},
        {3, false, 76, BASIC_KINDS, "basic.unknown-record-type"},
        {4, false, 76, BASIC_ENTER, "basic.unknown-record-type"},
        {1, false, 77, BASIC_ENTER, NULL}, /* an argument */
    };
    for (size_t i = 0; i < TL_COUNT(other); i++) {
        made *m = fresh(3, false);
        m->n = 0;
        made_header(m, 3, BASIC_TYPE, 77, 0);
        made_basic(m, BASIC_ENTER, 1, 10, 5, 4);
        const size_t at = m->n;
        m->big = other[i].big;
        made_header(m, other[i].version, BASIC_TYPE, other[i].hz, 0);
        if (other[i].kind >= 0)
            made_basic(m, (unsigned)other[i].kind, 1, 20, 5, 4);
        tl_source *s = made_read(m);
        const tl_trace *t = tl_source_trace(s);
        const bool ends = other[i].rule && strcmp(other[i].rule, "basic.other-header") == 0;
        assert_int_equal(tl_trace_damages(t), !other[i].rule ? 0 : other[i].kind == BASIC_KINDS ? 2 : 1);
        assert_int_equal(tl_trace_lost_events(t), other[i].rule ? 0 : 1);
        if (other[i].rule) {
            assert_string_equal(tl_trace_damage(t, 0)->rule, other[i].rule);
            assert_int_equal(tl_trace_damage(t, 0)->offset, at);
            assert_int_equal(tl_trace_damage(t, 0)->bytes, ends ? m->n - at : 32);
        }
        assert_int_equal(made_events(s, 1), ends || other[i].kind == BASIC_KINDS ? 1 : 2);
        tl_source_close(s);
        free(m);
    }
}

static void damage_of_each_kind(void **state)
{
    made *m = fresh(3, false);
    for (uint64_t i = 0; i < 4; i++)
        made_basic(m, BASIC_ENTER, 1, i, 5, 4);
    m->data[64] = 9;
    made_damaged(m, "basic.unknown-record-type", 64, 3);
    m->data[64] = 0;
    m->data[64 + BASIC_FUNCTION_KIND] = BASIC_KINDS;
    made_damaged(m, "basic.unknown-kind", 64, 3);
    m->data[64 + BASIC_FUNCTION_KIND] = BASIC_ENTER;
    m->n -= 3;
    made_damaged(m, "basic.truncated-record", 32 + 3 * 32, 3);
    m->n = 31;
    made_damaged(m, "header.truncated", 0, 0);
    free(m);
}

static void survives_any_cut_and_change(void **state)
{
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

/* ---- calls and arguments in any order, against the rule taken literally ---- */

enum { MIXED = 8000, THREADS = 3 }; /* more than a window holds */

typedef struct mixed_call {
    uint64_t tsc, argument;
    int32_t function;
    unsigned kind, arguments;
} mixed_call;

typedef struct mixed {
    mixed_call call[THREADS][MIXED];
    uint32_t n[THREADS];
    bool waits[THREADS]; /* for an argument of its last call */
    uint64_t lost, begin, end;
} mixed;

static uint32_t draw(uint32_t *random, uint32_t n)
{
    *random = *random * 1664525 + 1013904223;
    return (*random >> 16) % n;
}

/* A record of a random kind; threads come in runs. */
static void mixed_record(made *m, mixed *x, uint32_t *random, uint32_t thread)
{
    const int32_t function = (int32_t)draw(random, 2) + 1;
    uint32_t *n = &x->n[thread];
    if (draw(random, 5) < 3) {
        const unsigned kind = (const unsigned[]){BASIC_ENTER, BASIC_EXIT, BASIC_ENTER_ARGS}[draw(random, 3)];
        const uint64_t tsc = 1000 + draw(random, 60000);
        made_basic(m, kind, function, tsc, thread + 1, 4);
        x->call[thread][(*n)++] = (mixed_call){.tsc = tsc, .function = function, .kind = kind};
        x->waits[thread] = kind == BASIC_ENTER_ARGS;
        x->begin = tsc < x->begin ? tsc : x->begin;
        x->end = tsc > x->end ? tsc : x->end;
        return;
    }
    made_basic_argument(m, function, thread + 1, 4, m->n);
    mixed_call *last = *n > 0 ? &x->call[thread][*n - 1] : NULL;
    if (x->waits[thread] && last->function == function) {
        last->argument = m->n - BASIC_RECORD_SIZE;
        last->arguments = 1;
    } else {
        x->lost++;
    }
    x->waits[thread] = false;
}

static void check_mixed(const made *m, const mixed *x, bool fields)
{
    tl_source *s = NULL;
    tl_error e = {0};
    const tl_batch *b;
    uint32_t at[THREADS] = {0};
    uint64_t begin = 0, end = 0;
    const tl_open_options o = {.want = {.fields = fields}};
    must(tl_source_open_memory(&s, m->data, m->n, "made.xray", &o, &e), &e);
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_damages(t), 0);
    assert_int_equal(tl_trace_lost_events(t), x->lost);
    assert_true(tl_trace_range(t, &begin, &end));
    assert_int_equal(begin, x->begin);
    assert_int_equal(end, x->end);
    while (tl_source_next(s, &b, &e) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const int64_t thread = tl_trace_track(t, b->track[i])->tid - 1;
            assert_in_range(thread, 0, THREADS - 1);
            assert_true(at[thread] < x->n[thread]);
            const mixed_call *call = &x->call[thread][at[thread]++];
            assert_int_equal(b->ts[i], call->tsc);
            assert_int_equal(b->key[i], call->function);
            assert_int_equal(b->cls[i], call->kind);
            if (!fields)
                continue;
            const uint32_t slots = b->val[i + 1] - b->val[i];
            assert_int_equal(slots, call->kind == BASIC_ENTER_ARGS ? 1 + call->arguments : 0);
            if (call->arguments)
                assert_int_equal(b->v[b->val[i] + 1].as.u, call->argument);
        }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(at[i], x->n[i]);
    tl_source_close(s);
}

static void calls_and_arguments_in_any_order(void **state)
{
    uint32_t random = 1;
    mixed *x = malloc(sizeof *x);
    assert_non_null(x);
    for (unsigned round = 0; round < 24; round++) {
        made *m = fresh(1 + round % 3, round / 3 % 2);
        memset(x, 0, sizeof *x);
        x->begin = UINT64_MAX;
        const uint32_t records = round < 12 ? 40 : MIXED, longest = round % 4 ? 30 : 2;
        for (uint32_t n = 0; n < records;)
            for (uint32_t thread = draw(&random, THREADS), left = draw(&random, longest) + 1; left && n < records;
                 n++, left--)
                mixed_record(m, x, &random, thread);
        check_mixed(m, x, false);
        check_mixed(m, x, true);
        free(m);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_streams),
        cmocka_unit_test(old_versions_have_no_pid),
        cmocka_unit_test(an_argument_belongs_to_the_entry_before),
        cmocka_unit_test(other_threads_lie_between),
        cmocka_unit_test(argument_after_a_full_basic_batch),
        cmocka_unit_test(calls_and_arguments_in_any_order),
        cmocka_unit_test(equal_headers_between_records),
        cmocka_unit_test(other_headers_between_records),
        cmocka_unit_test(damage_of_each_kind),
        cmocka_unit_test(survives_any_cut_and_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
