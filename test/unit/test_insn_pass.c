/* Tests of analysis/instruction/insn_pass.h: which events a table gets, from which thread, and failures; and of
 * insn_classes.h. */
#include "analysis/instruction/insn_pass.h"

#include "analysis/instruction/insn_classes.h"
#include "hand_insns.h"
#include "op/insn_select.h"

/* A table that records its calls. */
typedef struct diary {
    unsigned inits, begins, ends, finis, gaps;
    uint64_t events, keys; /* how many, and the sum of their keys */
    uint64_t last;
    bool out_of_order; /* within a stream */
    bool fails_to_init;
    int fails_at; /* event; 0: never */
    unsigned merged;
    bool open;
} diary;

static unsigned diary_finis;

static int diary_init(void *table, const void *options, tl_error *e)
{
    diary *d = table;
    d->inits++;
    if (options)
        d->fails_at = *(const int *)options;
    return d->fails_at == -1 ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no diary") : 0;
}

static int diary_begin(void *table, const tl_trace *t, tl_error *e)
{
    diary *d = table;
    (void)e;
    assert_non_null(t);
    assert_false(d->open);
    d->open = true;
    d->begins++;
    d->last = 0;
    return 0;
}

static int diary_events(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e)
{
    diary *d = table;
    assert_true(d->open && from < to && to <= b->n);
    assert_null(b->val); /* no fields were requested */
    d->gaps += gap;
    for (uint32_t i = from; i < to; i++) {
        d->events++;
        d->keys += b->key[i];
        d->out_of_order = d->out_of_order || b->ts[i] < d->last;
        d->last = b->ts[i];
    }
    if (d->fails_at > 0 && d->events >= (uint64_t)d->fails_at)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "full");
    return 0;
}

static int diary_end(void *table, tl_error *e)
{
    diary *d = table;
    (void)e;
    assert_true(d->open);
    d->open = false;
    d->ends++;
    return 0;
}

static int diary_merge(void *into, void *from, tl_error *e)
{
    diary *a = into;
    const diary *b = from;
    (void)e;
    assert_int_equal(b->inits, 1);
    a->begins += b->begins;
    a->ends += b->ends;
    a->events += b->events;
    a->keys += b->keys;
    a->gaps += b->gaps;
    a->out_of_order = a->out_of_order || b->out_of_order;
    a->merged++;
    return 0;
}

static void diary_fini(void *table)
{
    (void)table;
    diary_finis++;
}

static const tl_insn_table diary_table = {.size = sizeof(diary),
                                          .init = diary_init,
                                          .begin = diary_begin,
                                          .events = diary_events,
                                          .end = diary_end,
                                          .merge = diary_merge,
                                          .fini = diary_fini};

static uint64_t sum_of_keys(const hand_line *line, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += line[i].key;
    return sum;
}

enum { LINES = 5000 };

/* Streams 0 and 1 are `line`, stream 2 snapshots. */
static void make(hand *h, const hand_line *line, uint32_t batch)
{
    static const hand_line snapshots[] = {SNAPSHOT(), SNAPSHOT(), SNAPSHOT()};
    hand_init(h, batch);
    hand_add(h, line, LINES);
    hand_add(h, line, LINES);
    HAND_ADD(h, snapshots);
}

static void test_every_event_once(void **state)
{
    hand_line *line = hand_wander(LINES, 3);
    for (unsigned threads = 0; threads < 6; threads++) {
        hand h;
        diary d;
        make(&h, line, 17);
        memset(&d, 0x55, sizeof d); /* the pass zeroes it */
        hand_pass(&h, &d, &diary_table, NULL, threads);
        assert_int_equal(d.inits, 1);
        assert_int_equal(d.begins, 3);
        assert_int_equal(d.ends, 3);
        assert_int_equal(d.events, 2 * LINES + 3);
        assert_int_equal(d.keys, 2 * sum_of_keys(line, LINES));
        assert_int_equal(d.gaps, 0);
        assert_false(d.out_of_order);
        /* And once more into the same table. */
        assert_int_equal(tl_insn_pass(&d, &diary_table, NULL, false, &h.source, NULL, threads, NULL), 0);
        assert_int_equal(d.inits, 1);
        assert_int_equal(d.events, 4 * LINES + 6);
        hand_fini(&h);
    }
    free(line);
}

/* Another thread decodes a large trace of one stream, unseen by the table. */
static void test_one_large_stream(void **state)
{
    hand_line *line = hand_wander(LINES, 4);
    hand h;
    diary d;
    hand_init(&h, 5);
    hand_add(&h, line, LINES);
    h.source.trace.bytes = 64u << 20;
    hand_pass(&h, &d, &diary_table, NULL, 3);
    assert_int_equal(d.events, LINES);
    assert_int_equal(d.keys, sum_of_keys(line, LINES));
    assert_int_equal(d.merged, 0);
    assert_false(d.out_of_order);
    assert_int_equal(h.source.want.threads, 0); /* as before */
    hand_fini(&h);
    free(line);
}

static void test_one_order(void **state)
{
    static const hand_line a[] = {INSN(1, OP_ADD), INSN(3, OP_ADD), INSN(5, OP_ADD)},
                           b[] = {INSN(2, OP_ADD), INSN(4, OP_ADD), INSN(6, OP_ADD)};
    tl_insn_table how = diary_table;
    hand h;
    diary d;
    how.one_order = true;
    how.merge = NULL;
    hand_init(&h, 2);
    HAND_ADD(&h, a);
    HAND_ADD(&h, b);
    hand_pass(&h, &d, &how, NULL, 4);
    assert_int_equal(d.begins, 1);
    assert_int_equal(d.ends, 1);
    assert_int_equal(d.events, 6);
    assert_false(d.out_of_order); /* over both */
    hand_fini(&h);
}

/* As tl_insn_select_event() decides, event by event. */
static void test_selection(void **state)
{
    static const tl_select select[] = {{.levels = 2},
                                       {.has_pc = true, .pc_from = 0x1100, .pc_to = 0x1400},
                                       {.has_from = true, .time_from = 1000},
                                       {.has_to = true, .time_to = 2000, .levels = 1}};
    hand_line *line = hand_wander(LINES, 5);
    for (size_t i = 0; i < sizeof select / sizeof *select; i++)
        for (unsigned threads = 1; threads < 4; threads++) {
            hand h;
            diary d;
            tl_insn_select *s = NULL;
            tl_cursor *c = NULL;
            const tl_batch *b;
            uint64_t events = 0, keys = 0, gaps = 0;
            make(&h, line, threads == 2 ? 0 : 13);
            assert_int_equal(tl_insn_select_new(&s, &h.source.trace, &select[i], 0, NULL), 0);
            assert_non_null(s);
            for (uint32_t stream = 0; stream < 3; stream++) {
                bool missed = false;
                assert_int_equal(tl_cursor_open(&c, &h.source, stream, NULL), 0);
                while (tl_cursor_next(c, &b, NULL) > 0)
                    for (uint32_t k = 0; k < b->n; k++) {
                        const bool chosen = tl_insn_select_event(s, b, k);
                        events += chosen;
                        keys += chosen ? b->key[k] : 0;
                        gaps += chosen && missed;
                        missed = !chosen;
                    }
                tl_cursor_close(c);
            }
            tl_insn_select_free(s);
            tl_error e = {0};
            assert_int_equal(tl_insn_pass(&d, &diary_table, NULL, true, &h.source, &select[i], threads, &e), 0);
            assert_true(events > 100 && events < 2 * LINES);
            assert_int_equal(d.events, events);
            assert_int_equal(d.keys, keys);
            assert_int_equal(d.gaps, gaps);
            assert_int_equal(h.limit_from, select[i].has_from ? 1000 : 0);
            assert_true(h.limit_to == (select[i].has_to ? 2000 : select[i].has_from ? UINT64_MAX : 0));
            hand_fini(&h);
        }
    free(line);
}

static void check_failure(hand *h, const tl_select *select, const void *options, unsigned threads, tl_code code,
                          const char *what)
{
    tl_error e = {0};
    diary d;
    const unsigned before = diary_finis;
    assert_int_equal(tl_insn_pass(&d, &diary_table, options, true, &h->source, select, threads, &e), code);
    assert_int_equal(e.code, code);
    if (!strstr(e.message, what))
        fail_msg("%s", e.message);
    assert_true(diary_finis - before <= (threads > 1 ? 3 : 0)); /* those of workers; the caller keeps its own */
}

static void test_failures(void **state)
{
    static const int no_init = -1, full = 100;
    static const char *const nobody[] = {"nobody"};
    hand_line *line = hand_wander(LINES, 6);
    const tl_select select = {.thread = nobody, .nthread = 1};
    for (unsigned threads = 1; threads < 4; threads++) {
        hand h;
        make(&h, line, 0);
        check_failure(&h, NULL, &no_init, threads, TL_ENOMEM, "no diary");
        check_failure(&h, NULL, &full, threads, TL_EUNSUPPORTED, "full");
        check_failure(&h, &select, NULL, threads, TL_ENOMATCH, "nobody");
        h.fails = 2;
        check_failure(&h, NULL, NULL, threads, TL_EIO, "stream 1 failed");
        hand_fini(&h);
    }
    free(line);
}

/* It is not read: a failing reader is not noticed. */
static void test_no_instructions(void **state)
{
    hand_line *line = hand_wander(LINES, 6);
    for (unsigned threads = 1; threads < 4; threads++) {
        hand h;
        diary d;
        make(&h, line, 0);
        h.fails = 2;
        h.source.trace.cls[HAND_INSN].role = TL_ROLE_NONE; /* of another machine */
        assert_int_equal(tl_insn_pass(&d, &diary_table, NULL, true, &h.source, NULL, threads, NULL), 0);
        assert_int_equal(d.inits, 1);
        assert_int_equal(d.begins, 0);
        diary_table.fini(&d);
        hand_fini(&h);
    }
    free(line);
}

static void test_classes(void **state)
{
    hand h;
    tl_insn_classes c;
    hand_init(&h, 0);
    assert_true(tl_insn_classes_find(&c, &h.source.trace));
    assert_int_equal(tl_insn_what_is(&c, HAND_INSN), TL_IS_INSN);
    assert_int_equal(tl_insn_what_is(&c, HAND_LOAD), TL_IS_LOAD);
    assert_int_equal(tl_insn_what_is(&c, HAND_STORE), TL_IS_STORE);
    assert_int_equal(tl_insn_what_is(&c, HAND_ARGUMENT), TL_IS_CALL_ARGUMENT);
    assert_int_equal(tl_insn_what_is(&c, HAND_RESULT), TL_IS_CALL_RESULT);
    assert_int_equal(tl_insn_what_is(&c, HAND_OTHER), TL_IS_FLAGS);
    assert_int_equal(tl_insn_what_is(&c, HAND_SNAPSHOT), TL_IS_SNAPSHOT);
    assert_int_equal(tl_insn_what_is(&c, HAND_CLASSES), TL_IS_OTHER);
    /* Only events with the kind of their second operand. */
    h.source.trace.cls[HAND_LOAD].aux = TL_AUX_NONE;
    h.source.trace.cls[HAND_STORE].kind = TL_STATE;
    assert_true(tl_insn_classes_find(&c, &h.source.trace));
    assert_int_equal(tl_insn_what_is(&c, HAND_LOAD), TL_IS_OTHER);
    assert_int_equal(tl_insn_what_is(&c, HAND_STORE), TL_IS_OTHER);
    h.source.trace.cls[HAND_INSN].aux = TL_AUX_NONE;
    assert_false(tl_insn_classes_find(&c, &h.source.trace));
    hand_fini(&h);

    enum { MANY = TL_INSN_CLASSES + 1 };
    tl_class *many = calloc(MANY, sizeof *many);
    assert_non_null(many);
    for (unsigned i = 0; i < MANY; i++)
        many[i] = hand_classes[HAND_INSN];
    hand_init(&h, 0);
    assert_int_equal(tl_trace_set_classes(&h.source.trace, many, MANY - 1, NULL), 0);
    assert_true(tl_insn_classes_find(&c, &h.source.trace));
    assert_int_equal(tl_insn_what_is(&c, MANY - 2), TL_IS_INSN);
    assert_int_equal(tl_trace_set_classes(&h.source.trace, many, MANY, NULL), 0);
    assert_false(tl_insn_classes_find(&c, &h.source.trace));
    assert_int_equal(tl_insn_what_is(&c, 0), TL_IS_OTHER);
    hand_fini(&h);
    free(many);
}

/* The fast way for one class of instructions, and the general one for several. */
static void test_picking(void **state)
{
    static const hand_line line[] = {OTHER(),         INSN(1, OP_ADD), LOAD(2, 8),       INSN(3, OP_ADD),
                                     INSN(4, OP_ADD), STORE(5, 4),     INSN_NO_PC(OP_B), OTHER()};
    hand h;
    tl_cursor *c = NULL;
    const tl_batch *b;
    tl_insn_classes classes;
    tl_insn_picked insns, others;
    hand_init(&h, 0);
    HAND_ADD(&h, line);
    assert_int_equal(tl_cursor_open(&c, &h.source, 0, NULL), 0);
    assert_int_equal(tl_cursor_next(c, &b, NULL), 1);
    for (unsigned several = 0; several < 2; several++) {
        if (several) { /* stores are executed, too */
            tl_class *store = &h.source.trace.cls[HAND_STORE];
            *store = h.source.trace.cls[HAND_INSN];
            store->id = HAND_STORE;
        }
        assert_true(tl_insn_classes_find(&classes, &h.source.trace));
        assert_int_equal(tl_insn_pick(&classes, b, 1, 8, &insns, &others), 4 + several);
        uint32_t n = 0, m = 0;
        for (uint32_t i = 1; i < 8; i++)
            if (line[i].cls == HAND_INSN || (several && line[i].cls == HAND_STORE))
                assert_int_equal(insns.at[n++], i);
            else
                assert_int_equal(others.at[m++], i);
        assert_int_equal(tl_insn_pick(&classes, b, 2, 4, &insns, NULL), 1);
        assert_int_equal(insns.at[0], 3);
        assert_int_equal(tl_insn_pick(&classes, b, 2, 2, &insns, &others), 0);
    }
    tl_cursor_close(c);
    hand_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_event_once), cmocka_unit_test(test_one_large_stream),
                                       cmocka_unit_test(test_one_order),        cmocka_unit_test(test_selection),
                                       cmocka_unit_test(test_failures),         cmocka_unit_test(test_no_instructions),
                                       cmocka_unit_test(test_classes),          cmocka_unit_test(test_picking)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
