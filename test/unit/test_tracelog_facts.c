/* Facts of a TraceLog: threads, functions, modules, start and dialect; known at once, or at the end if the reader can
 * wait. */
#include "tracelog_fixture.h"

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts lines, so that sets can be compared. */
static void sort_lines(log_text *t)
{
    char *line[64], *copy;
    size_t n = 0;
    text_add(t, "%s", "");
    assert_non_null(copy = strdup(t->p));
    for (char *p = copy; *p; p = strchr(p, '\0') + 1) {
        assert_true(n < 64);
        line[n++] = p;
        *strchr(p, '\n') = '\0';
    }
    qsort(line, n, sizeof *line, compare_lines);
    t->n = 0;
    for (size_t i = 0; i < n; i++)
        text_add(t, "%s\n", line[i]);
    free(copy);
}

static void show_facts(log_text *t, const tl_trace *trace)
{
    for (uint32_t i = 0; i < trace->ntrack; i++) {
        const tl_track *k = &trace->track[i];
        text_add(t, "%s", k->name);
        if (k->has_pid)
            text_add(t, " pid %lld", (long long)k->pid);
        if (k->has_tid)
            text_add(t, " tid %lld", (long long)k->tid);
        text_add(t, "\n");
    }
    for (uint32_t i = 0; i < trace->nfunction; i++) {
        const tl_function *f = &trace->function[i];
        text_add(t, "0x%llx %s %s\n", (unsigned long long)f->id, f->name ? f->name : "-",
                 f->library ? f->library : "-");
        assert_int_equal(f->flags, TL_FUNCTION_HEX_ID);
        assert_ptr_equal(tl_trace_function(trace, f->id), f);
    }
    text_add(t, "~ %s %s", trace->version, trace->clock.name);
    if (trace->clock.has_utc)
        text_add(t, " %lld", (long long)(trace->clock.utc_offset_ns / 1000000));
    text_add(t, "\n");
}

/* The facts of a log: known at once (late false; with `threads` threads), or once its events were read. */
static void facts_of(log_text *t, const char *log, size_t n, bool late, unsigned threads)
{
    tl_source *s = open_log_text(log, n, &(const tl_want){.fields = true, .late = late, .threads = threads});
    const tl_batch *b;
    if (!late)
        show_facts(t, tl_source_trace(s));
    while (tl_source_next(s, &b, NULL) > 0)
        ;
    if (late) {
        show_facts(t, tl_source_trace(s));
    } else { /* reading adds nothing */
        log_text again = {0};
        show_facts(&again, tl_source_trace(s));
        assert_string_equal(again.p, t->p);
        text_free(&again);
    }
    tl_source_close(s);
}

/* The facts, in the order in which they are found; the late ones must be the same set. */
static void assert_facts(const char *log, const char *expected)
{
    log_text early = {0}, late = {0};
    facts_of(&early, log, strlen(log), false, 1);
    assert_string_equal(early.p, expected);
    facts_of(&late, log, strlen(log), true, 1);
    sort_lines(&early);
    sort_lines(&late);
    assert_string_equal(late.p, early.p);
    text_free(&early);
    text_free(&late);
}

static void tracks_are_in_the_order_of_their_names(void **state)
{
    assert_facts("", "process\nthread ?\n~ doc milliseconds\n");
    assert_facts("thr crt 0x99 0x10\nthr dst 0xa\nsam str 0x9 1 1 0:0\nsam str 0x00000009 1 1 0:0\nthr cpu 0x1 1 1\n"
                 "thr aos 0x2 12\nthr aos 0x3 0x12\nthr aos 0x2 13\nthr aos ? 14\nsam mem 0xffffffffffffffff 1\n"
                 "gch gcf 0xb 2\ngch gcs 0xc 2 ? tfff\njit cms 0xd 3 ?\n",
                 "process\nthread 0x1\nthread 0x10\nthread 0x2 tid 13\nthread 0x3 tid 18\nthread 0x9\nthread 0xa\n"
                 "thread 0xb\nthread 0xc\nthread 0xd\nthread 0xffffffffffffffff\nthread ?\n~ doc milliseconds\n");
    assert_facts("apd crf 0x1 ? 0x0 \"x\"\napd crf 0x1 0x10 0x0 \"x\"\napd crf 0x1 17 0x0 \"y\"\nthr dst 0x1\n",
                 "process pid 16\nthread 0x1 pid 16\nthread ? pid 16\n~ doc milliseconds\n");
}

static void functions_have_the_latest_name_and_module(void **state)
{
    assert_facts("fun inf 0x1 0xf0 0x3 0xa1 0x5\n"
                 "fun nam 0x1 \"First\" \"\" \"\"\n"
                 "mod ldf 0xa1 ? ? 0x0 \"old.dll\"\n"
                 "mod ldf 0xa2 ? ? 0x0 \"b.dll\"\n"
                 "mod ldf ? ? ? 0x0 \"c.dll\"\n"
                 "fun nam 0x2 \"Two\" \"\" \"\"\n"
                 "fun nam 0x1 \"Later\" \"\" \"\"\n"
                 "fun inf 0x3 0xf0 0x3 0xa2 0x5 0x1:0x2\n"
                 "fun inf 0x4 0xf0 0x3 0xa2 0x5\n"
                 "fun inf 0x4 0xf0 0x3 ? 0x5\n"
                 "fun inf ? 0xf0 0x3 0xa2 0x5\n"
                 "fun nam ? \"None\" \"\" \"\"\n"
                 "mod ldf 0xa1 ? ? 0x0 \"a.dll\"\n",
                 "process\nthread ?\n0x1 Later a.dll\n0x2 Two -\n0x3 - b.dll\n0x4 - -\n~ doc milliseconds\n");
    assert_facts("fun cmf 0xf0 0x5 0x3 0xa2 0x1 0x0\nfun csf 0xf1 0x6 0x3 0xa2 0x1 0x4:0x5 0x0:0x1:0x2\n"
                 "mod ldf 0xa2 ? ? 0x0 \"b.dll\"\n",
                 "process\nthread ?\n0x5 - b.dll\n0x6 - b.dll\n~ old milliseconds\n");
}

static void dialect_of(const char *log, const char *version)
{
    log_text t = {0};
    for (unsigned late = 0; late < 2; late++) {
        t.n = 0;
        facts_of(&t, log, strlen(log), late, 1);
        const char *at = strstr(t.p, "~ ") + 2;
        if (strncmp(at, version, strlen(version)) != 0 || at[strlen(version)] != ' ')
            fail_msg("%s: %s is not %s", log, at, version);
    }
    text_free(&t);
}

static void dialects(void **state)
{
    dialect_of("prf cfg x y\nthr dst 0x1\ngch gcf 0x1 1\njit cms ? 1 ?\nsam str 0x1 1 1 0:0\n", "doc");
    dialect_of("gch gcf 1 1\n", "vs");
    dialect_of("jit csf 1 1 ?\n", "vs");
    dialect_of("thr dst 0x1 0x1\n", "vs");
    dialect_of("gch gen 1 a:1:2 b:1:2 c:1:2 d:1:2\n", "vs");
    dialect_of("fil src 0x1 \"a\"\ngch gcf 1 1\n", "saved");
    dialect_of("gch gcf 1 1\nlin src ? ? ? 1 2 3 4\n", "saved");
    dialect_of("fun csf 0x1 0x2 0x3 0x4 0x5\nfil src 0x1 \"a\"\n", "old");
    dialect_of("fun cmf 0x1 0x2 0x3 0x4 0x5 0x0\n", "old");
    dialect_of("str sam 0x1 1 ? 0:0\ngch gcf 1 1\n", "old");
}

static void start(void **state)
{
    assert_facts("prf stm 2018-06-25 07:24:28.049 +09:00\nprf stm 2019-06-25 07:24:28.049 +09:00\n",
                 "process\nthread ?\n~ doc milliseconds 1529879068049\n");
    /* The first one counts, if it is readable. */
    assert_facts("prf stm 2018-06-25 07:24:28.049\nprf stm 2019-06-25 07:24:28.049 +09:00\n",
                 "process\nthread ?\n~ doc milliseconds\n");
    assert_facts("prf stm 2018-06-31 07:24:28.049 +09:00\nprf stm 2018-06-25 07:24:28.049 +09:00\n",
                 "process\nthread ?\n~ doc milliseconds 1529879068049\n");
    assert_facts("prf stm 9999-12-31 00:00:00.000 +00:00\n", "process\nthread ?\n~ doc milliseconds\n");
}

/* A log of several megabytes, each part searched by a thread: the latest facts are the latest of the log. */
static void any_number_of_threads_finds_the_same(void **state)
{
    log_text log = {0}, one = {0};
    uint32_t seed = 3;
    for (unsigned i = 0; i < 9000; i++) {
        const unsigned k = random_below(&seed, 10), thread = random_below(&seed, 20);
        text_add(&log, "fun nam 0x%x \"name%u %0300u\" \"\" \"\"\nthr aos 0x%x %u\n", k, i % 1000, 0u, thread, i);
        text_add(&log, "fun inf 0x%x 0xf0 0x3 0x%x 0x5\nmod ldf 0x%x ? ? 0x0 \"m%u.dll\"\n", k, i % 7, i % 7, i);
        text_add(&log, "sam str 0x%x %u 1 0:0 0x1 0x2 0x3 0x4\n%0500u\n", 100 + i / 1000, i, 0u);
    }
    assert_true(log.n > (size_t)8 << 20); /* more than a thread searches at a time */
    facts_of(&one, log.p, log.n, false, 1);
    for (unsigned threads = 2; threads < 6; threads++) {
        log_text more = {0};
        facts_of(&more, log.p, log.n, false, threads);
        assert_string_equal(more.p, one.p);
        text_free(&more);
    }
    text_free(&one);
    text_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_are_in_the_order_of_their_names),
        cmocka_unit_test(functions_have_the_latest_name_and_module),
        cmocka_unit_test(dialects),
        cmocka_unit_test(start),
        cmocka_unit_test(any_number_of_threads_finds_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
