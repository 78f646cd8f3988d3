/* The meaning of TraceLog lines after earlier ones: stacks, names, threads, pauses and intervals. */
#include <inttypes.h>

#include "base/hash.h"
#include "format/tracelog/tracelog_classes.h"
#include "tracelog_fixture.h"

static void stacks_are_differences(void **state)
{
    assert_log("sam str 0x1 1 1 0:0 0x1:0x10 0x2\n"
               "sam str 0x1 2 2 1:2 0x3:33 ?:?\n" /* pop one, push two */
               "sam str 0x1 3 1 1:3:0x11\n"       /* the call point moved */
               "sam str 0x1 4 1 1:1:? 0x4\n"
               "sam str 0x1 5 0 2:2\n"
               "sam str 0x1 6 1 0:2\n"
               "str sam 0x1 7 ? 0:0 0x5\n",
               "sam.str 1 thread 0x1 key 10 0x1 1 1 0 [2 1@10]\n"
               "sam.str 2 thread 0x1 key 10 0x1 2 2 1 [? 3@33 1@10]\n"
               "sam.str 3 thread 0x1 key 10 0x1 3 1 1 [1@11]\n"
               "sam.str 4 thread 0x1 key 10 0x1 4 1 1 [4 1]\n"
               "sam.str 5 thread 0x1 key 10 0x1 5 0 2 [4 1]\n"
               "sam.str 6 thread 0x1 key 10 0x1 6 1 0 []\n"
               "str.sam 7 thread 0x1 key 10 0x1 7 null 0 [5]\n");
}

/* A line is lost: missing frames are unknown, surplus ones go. */
static void lost_lines(void **state)
{
    assert_log("sam str ? 1 1 2:3 0x3\n"
               "sam str ? 2 1 1:9:0x5\n"
               "sam str ? 3 1 2:1 0x4\n" /* no such line: skipped */
               "sam str ? 4 1 3:3:0x6 0x7\n"
               "sam str ? 5 1 4:4\n",
               "sam.str 1 thread ? key 10 null 1 1 2 [3 ? ?]\n"
               "sam.str 2 thread ? key 10 null 2 1 1 [?@5]\n"
               "sam.str 4 thread ? key 10 null 4 1 3 [7 ?@6 ? ?@5]\n"
               "sam.str 5 thread ? key 10 null 5 1 4 [7 ?@6 ? ?@5]\n"
               "tracelog.stack-size 0+0\n"
               "tracelog.stack-size 22+0\n"
               "tracelog.prefix 44+22\n"
               "tracelog.stack-size 66+0\n");
}

static void names_of_frames_are_the_latest(void **state)
{
    assert_log("sam str 0x1 1 1 0:0 0x1 0x2\n"
               "fun nam 0x1 \"A\" \"\" \"\"\n"
               "sam str 0x1 2 1 2:2\n"
               "sam str 0x1 3 1 1:2:0x9 0x2\n"
               "fun nam 0x1 \"B\" \"\" \"\"\n"
               "fun nam 0x2 \"C\" \"\" \"\"\n"
               "fun nam ? \"D\" \"\" \"\"\n"
               "sam str 0x2 3 1 0:0 0x1 ?\n"
               "sam str 0x1 4 1 2:2\n",
               "sam.str 1 thread 0x1 key 10 0x1 1 1 0 [2 1]\n"
               "fun.nam 1 process 0x1 \"A\" \"\" \"\"\n"
               "sam.str 2 thread 0x1 key 10 0x1 2 1 2 [2 1=A]\n"
               "sam.str 3 thread 0x1 key 10 0x1 3 1 1 [2 1=A@9]\n"
               "fun.nam 3 process 0x1 \"B\" \"\" \"\"\n"
               "fun.nam 3 process 0x2 \"C\" \"\" \"\"\n"
               "fun.nam 3 process null \"D\" \"\" \"\"\n"
               "sam.str 3 thread 0x2 key 10 0x2 3 1 0 [? 1=B]\n"
               "sam.str 4 thread 0x1 key 10 0x1 4 1 2 [2=C 1=B@9]\n");
}

/* Reads a log: the depth of its last sample's stack, and the name of the innermost frame. */
static void assert_last_stack(const log_text *log, uint32_t depth, const char *name)
{
    tl_source *s = open_log_text(log->p, log->n, &(const tl_want){.fields = true});
    tl_error e = {0};
    const tl_batch *b;
    int status, seen = 0;
    while ((status = tl_source_next(s, &b, &e)) > 0) {
        const tl_value *last = &b->v[b->val[b->n] - 1];
        const tl_frame *top = last->as.p;
        seen++;
        assert_int_equal(last->type, TL_STACK);
        assert_int_equal(last->n, depth);
        assert_int_equal(top->depth, depth);
        assert_true(name ? top->name && strcmp(top->name, name) == 0 : !top->name);
    }
    assert_int_equal(status, 0);
    assert_int_equal(seen, 1); /* batch */
    tl_source_close(s);
}

/* Short lines that ask for the deepest stacks: some get them, the others the known frames. */
static void frames_that_nobody_told_are_limited(void **state)
{
    const unsigned enough = TRACELOG_UNTOLD_FREE / TRACELOG_DEPTH_MAX;
    log_text log = {0};
    for (unsigned i = 0; i < enough; i++)
        text_add(&log, "sam str 0x%x 1 1 65536:65536\n", i);
    assert_last_stack(&log, TRACELOG_DEPTH_MAX, NULL);
    text_add(&log, "sam str 0xff 1 1 65535:65535:0x5 0x1 0x2\n");
    assert_last_stack(&log, TRACELOG_DEPTH_MAX, NULL); /* it was too deep, and skipped */
    text_add(&log, "sam str 0xff 1 1 65534:65534:0x5 0x1 0x2\n");
    assert_last_stack(&log, 2, NULL);
    text_add(&log, "sam str 0xff 1 1 12:12 0x1 0x2\n"); /* the bytes so far suffice for these */
    assert_last_stack(&log, 14, NULL);
    text_free(&log);
}

/* Names that keep changing above a deep stack: its frames are rebuilt a few times in a batch, no more. */
static void new_names_in_a_batch_are_limited(void **state)
{
    const unsigned enough = TRACELOG_RENEWED_MAX / TRACELOG_DEPTH_MAX;
    log_text log = {0};
    text_add(&log, "sam str 0x1 1 1 65535:65535 0x1\n");
    for (unsigned i = 1; i <= enough + 1; i++) {
        char name[16];
        text_add(&log, "fun nam 0x1 \"%u\" \"\" \"\"\nsam str 0x1 1 1 65536:65536\n", i);
        snprintf(name, sizeof name, "%u", i <= enough ? i : enough);
        assert_last_stack(&log, TRACELOG_DEPTH_MAX, name);
    }
    text_free(&log);
}

/* How many names the outermost frame has over the samples of a log with too many notes. */
static unsigned outermost_names(const log_text *log, uint32_t notes)
{
    tl_source *s = open_log_text(log->p, log->n, &(const tl_want){.fields = true});
    tl_error e = {0};
    const tl_batch *b;
    char known[16] = "";
    int status;
    unsigned names = 0;
    while ((status = tl_source_next(s, &b, &e)) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            const tl_value *last = &b->v[b->val[i + 1] - 1];
            const tl_frame *f = last->type == TL_STACK ? last->as.p : NULL;
            while (f && f->caller)
                f = f->caller;
            if (f && f->name && strcmp(f->name, known) != 0) {
                snprintf(known, sizeof known, "%s", f->name);
                names++;
            }
        }
    assert_int_equal(status, 0);
    const tl_trace *t = tl_source_trace(s);
    assert_int_equal(tl_trace_notes(t), notes);
    if (notes)
        assert_string_equal(tl_trace_note(t, 0)->rule, "tracelog.many-names");
    tl_source_close(s);
    return names;
}

/* Names that keep changing below a deep stack, each in a batch of its own. */
static void new_names_in_a_log_are_limited(void **state)
{
    const unsigned enough = TRACELOG_RENAMED_FREE / TRACELOG_DEPTH_MAX;
    log_text log = {0};
    text_add(&log, "sam str 0x1 1 1 0:0 0x1\nsam str 0x1 1 1 65535:1 0x2\n");
    for (unsigned i = 1; i <= enough + 1; i++) {
        text_add(&log, "fun nam 0x1 \"%u\" \"\" \"\"\nsam str 0x1 1 1 65536:65536\n", i);
        assert_int_equal(outermost_names(&log, i > enough), i <= enough ? i : enough);
        for (unsigned k = 0; k < TL_BATCH_MAX; k++)
            text_add(&log, "mod ata ? ?\n");
    }
    while (log.n / 4 < TRACELOG_DEPTH_MAX) /* the log gets another once it is long enough to have spelled it out */
        text_add(&log, "mod ata ? ?\n");
    text_add(&log, "fun nam 0x1 \"again\" \"\" \"\"\nsam str 0x1 1 1 65536:65536\n");
    assert_int_equal(outermost_names(&log, 1), enough + 1);
    text_free(&log);
}

static void threads_of_the_system(void **state)
{
    assert_log("gch gcf 17 1\n"
               "thr aos 0x1 17\n"
               "gch gcf 17 2\n"
               "thr aos ? 17\n" /* nothing about 17 */
               "gch gcf 17 3\n"
               "thr aos 0x2 0x11\n"
               "gch gcf 17 4\n"
               "gch gcf 0x11 5\n" /* an iid */
               "gch gcf ? 6\n",
               "gch.gcf 1 thread ? null 17 1\n"
               "thr.aos 1 thread 0x1 0x1 17\n"
               "gch.gcf 2 thread 0x1 0x1 17 2\n"
               "thr.aos 2 thread ? null 17\n"
               "gch.gcf 3 thread 0x1 0x1 17 3\n"
               "thr.aos 3 thread 0x2 0x2 17\n"
               "gch.gcf 4 thread 0x2 0x2 17 4\n"
               "gch.gcf 5 thread 0x11 0x11 - 5\n"
               "gch.gcf 6 thread ? null - 6\n");
}

static void times_of_records(void **state)
{
    assert_log("mod ata ? ?\n"
               "sam str 0x1 5 1 0:0\n"
               "mod ata ? ?\n"
               "sam str 0x2 3 1 0:0\n" /* of another thread: may be earlier */
               "mod ata ? ?\n"
               "prf tps 1\n" /* the process may, too */
               "sam str 0x1 4 1 0:0\n"
               "sam mem 0x1 4\n"
               "thr cpu 0x1 3 0\n",
               "mod.ata 0 process null null\n"
               "sam.str 5 thread 0x1 key 10 0x1 5 1 0 []\n"
               "mod.ata 5 process null null\n"
               "sam.str 3 thread 0x2 key 10 0x2 3 1 0 []\n"
               "mod.ata 5 process null null\n"
               "prf.tps 1 process 1\n"
               "sam.str 4 thread 0x1 key 9223372036854775818 0x1 4 1 0 []\n"
               "sam.mem 4 thread 0x1 key 1 0x1 4 L0\n"
               "thr.cpu 3 thread 0x1 since ? 0x1 3 0\n"
               "tracelog.time-order 86+0\n"
               "tracelog.time-order 120+0\n");
}

static void weights(void **state)
{
    static const char *const bad[] = {"0", "3600001", "x", "", "-5", "10 ", "0x5", "18446744073709551617"};
    assert_log("prf cfg SamplingTimeoutMs 3600000\nsam str ? 1 1 0:0\nsam mem ? 1\nprf tps 1\nsam str ? 1 1 0:0\n"
               "sam mem ? 1\nprf cfg SamplingTimeoutMs 5\nprf trs 2\nprf trs 2\nsam str ? 2 1 0:0\nsam mem ? 2\n",
               "prf.cfg 0 process \"SamplingTimeoutMs\" \"3600000\"\n"
               "sam.str 1 thread ? key 3600000 null 1 1 0 []\n"
               "sam.mem 1 thread ? key 1 null 1 L0\n"
               "prf.tps 1 process 1\n"
               "sam.str 1 thread ? key 9223372036858375808 null 1 1 0 []\n" /* TL_WEIGHT_PAUSED | 3600000 */
               "sam.mem 1 thread ? key 1 null 1 L0\n"
               "prf.cfg 1 process \"SamplingTimeoutMs\" \"5\"\n"
               "prf.trs 2 process 2\n"
               "prf.trs 2 process 2\n"
               "sam.str 2 thread ? key 5 null 2 1 0 []\n"
               "sam.mem 2 thread ? key 1 null 2 L0\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char log[200], expected[300];
        snprintf(log, sizeof log, "prf cfg SamplingTimeoutMs 7\nprf cfg SamplingTimeoutMs %s\nsam str ? 1 1 0:0\n",
                 bad[i]);
        snprintf(expected, sizeof expected,
                 "prf.cfg 0 process \"SamplingTimeoutMs\" \"7\"\nprf.cfg 0 process \"SamplingTimeoutMs\" \"%s\"\n"
                 "sam.str 1 thread ? key 10 null 1 1 0 []\n",
                 bad[i]);
        assert_log(log, expected);
    }
}

static void intervals_of_processor_time(void **state)
{
    assert_log("prc cpu 5 1\nprf cfg CpuTraceTimeoutMs 10\nprc cpu 20 1\nthr cpu 0x1 15 1\nthr cpu 0x2 9 1\n"
               "thr cpu 0x1 30 1\nprc cpu 25 1\nprf cfg CpuTraceTimeoutMs 9223372036855\nthr cpu 0x3 40 1\n",
               "prc.cpu 5 process since ? 5 1\n"
               "prf.cfg 5 process \"CpuTraceTimeoutMs\" \"10\"\n"
               "prc.cpu 20 process since 5 20 1\n"
               "thr.cpu 15 thread 0x1 since 5 0x1 15 1\n"
               "thr.cpu 9 thread 0x2 0x2 9 1\n"
               "thr.cpu 30 thread 0x1 since 15 0x1 30 1\n"
               "prc.cpu 25 process since 20 25 1\n"
               "prf.cfg 30 process \"CpuTraceTimeoutMs\" \"9223372036855\"\n"
               "thr.cpu 40 thread 0x3 since ? 0x3 40 1\n");
}

static void intervals_after_a_begin_that_was_suspended(void **state)
{
    assert_log("prf cfg CpuTraceTimeoutMs 10\nprf cfg TracingSuspendedOnStart T\nprc cpu 5 1\nsam str ? 6 1 0:0\n"
               "prf trs 20\nthr cpu 0x1 29 1\nthr cpu 0x2 30 18446744073709551615\nprc cpu 31 1\nsam str ? 31 1 0:0\n"
               "prf cfg TracingSuspendedOnStart T\nsam str ? 32 1 0:0\n", /* too late for that */
               "prf.cfg 0 process \"CpuTraceTimeoutMs\" \"10\"\n"
               "prf.cfg 0 process \"TracingSuspendedOnStart\" \"T\"\n"
               "prc.cpu 5 process since ? 5 1\n"
               "sam.str 6 thread ? key 9223372036854775818 null 6 1 0 []\n" /* TL_WEIGHT_PAUSED | 10 */
               "prf.trs 20 process 20\n"
               "thr.cpu 29 thread 0x1 since ? 0x1 29 1\n"
               "thr.cpu 30 thread 0x2 since 20 0x2 30 -1\n"
               "prc.cpu 31 process since 5 31 1\n"
               "sam.str 31 thread ? key 10 null 31 1 0 []\n"
               "prf.cfg 31 process \"TracingSuspendedOnStart\" \"T\"\n"
               "sam.str 32 thread ? key 10 null 32 1 0 []\n");
}

static void pairs(void **state)
{
    static const char log[] = "thr aos 0x1 17\n"
                              "jit cms 0x1 1 0x5\njit cmf 17 1 0x5 0x0\njit css 0x1 1 0x5\n" /* 1..3: one key */
                              "jit cms 0x1 1 0x6\n"                                          /* another function */
                              "jit cms 0x2 1 0x5\n"                                          /* another thread */
                              "jit cms 18 1 0x5\njit csf 18 1 0x5\n" /* 6, 7: unknown, but equal */
                              "jit cms 0x12 1 0x5\n"                 /* not equal to 18 */
                              "jit cms ? 1 0x5\njit cms ? 1 ?\njit cms ? 1 0x0\njit cms 0x0 1 ?\n"
                              "gch gcs 0x1 1 ? tfff\ngch gcf 0x2 1\n"; /* the latest, of any thread */
    tl_source *s = open_log_text(log, sizeof log - 1, &(const tl_want){.fields = true});
    const tl_batch *b;
    assert_int_equal(tl_source_next(s, &b, NULL), 1);
    assert_int_equal(b->n, 15);
    for (uint32_t i = 1; i < 13; i++)
        for (uint32_t k = i + 1; k < 13; k++)
            assert_int_equal(b->key[i] == b->key[k], (i < 3 && k <= 3) || (i == 6 && k == 7));
    assert_int_equal(b->key[13], b->key[14]);
    tl_source_close(s);
}

/* Thread 1 and function 5, thread 2 and a function that once had the same hash with it. */
static void pairs_do_not_meet(void **state)
{
    uint64_t thread[2];
    for (uint64_t i = 0; i < 2; i++)
        thread[i] = tl_hash_mix(1 + i + 5 * UINT64_C(0x9e3779b97f4a7c15));
    log_text log = {0};
    text_add(&log, "jit cms 0x1 1 0x5\njit cms 0x2 1 0x%" PRIx64 "\njit cmf 0x1 2 0x5 0x0\n",
             thread[0] ^ thread[1] ^ 5);
    tl_source *s = open_log_text(log.p, log.n, &(const tl_want){.fields = true});
    const tl_batch *b;
    assert_int_equal(tl_source_next(s, &b, NULL), 1);
    assert_int_equal(b->n, 3);
    assert_int_not_equal(b->key[0], b->key[1]);
    assert_int_equal(b->key[0], b->key[2]);
    tl_source_close(s);
    text_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_differences),
        cmocka_unit_test(lost_lines),
        cmocka_unit_test(names_of_frames_are_the_latest),
        cmocka_unit_test(frames_that_nobody_told_are_limited),
        cmocka_unit_test(new_names_in_a_batch_are_limited),
        cmocka_unit_test(new_names_in_a_log_are_limited),
        cmocka_unit_test(threads_of_the_system),
        cmocka_unit_test(times_of_records),
        cmocka_unit_test(weights),
        cmocka_unit_test(intervals_of_processor_time),
        cmocka_unit_test(intervals_after_a_begin_that_was_suspended),
        cmocka_unit_test(pairs),
        cmocka_unit_test(pairs_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
