/* Tests of the thread rules of the public headers: what they allow in several threads at once works. Under
 * ThreadSanitizer (make sanitizers) a broken rule fails; without it, different results do. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>

#include <traceloom/traceloom.h>

#include "check.h"
#include "scratch.h"

enum { THREADS = 4 };

/* Traces of every format with events, by what reads them. */
static const char *const inputs[] = {"fdr-v5-le.xray", "basic-v3-le.xray", "fdr-v5-le-messy.xray", "ctf-18",
                                     "ctf-2",          "ctf-2010-damaged", "tracelog-doc.log",     "xtrace-cores",
                                     "rec-done.xray"};

typedef struct worker {
    const void *object; /* shared by all */
    char path[4096];
    unsigned number;
    uint64_t sum; /* of everything seen: the same in every thread */
    int status;
    tl_error error;
} worker;

static void input_path(char path[4096], const char *name)
{
    const char *source = getenv("TL_SOURCE");
    if (!source)
        skip_because("TL_SOURCE names no folder");
    snprintf(path, 4096, "%s/test/golden/input/%s", source, name);
}

/* Runs `work` in all threads, and compares their sums. */
static uint64_t all_see_the_same(void *(*work)(void *), const void *object, const char *name)
{
    static worker w[THREADS];
    pthread_t thread[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        w[i] = (worker){.object = object, .number = i};
        input_path(w[i].path, name);
        assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        if (w[i].status < 0)
            print_error("%s: thread %u: %s\n", name, i, w[i].error.message);
        assert_int_equal(w[i].status, 0);
        assert_true(w[i].sum == w[0].sum);
    }
    return w[0].sum;
}

static uint64_t text_sum(const char *s)
{
    uint64_t sum = 5381;
    while (s && *s)
        sum = sum * 33 + (unsigned char)*s++;
    return sum;
}

/* All facts about the events of a batch, taken from the trace. */
static uint64_t batch_sum(const tl_trace *t, const tl_batch *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const tl_class *c = tl_trace_class(t, b->cls[i]);
        const tl_function *f = c->key == TL_KEY_FUNCTION ? tl_trace_function(t, (int64_t)b->key[i]) : NULL;
        sum += tl_trace_time(t, b->ts[i]) + text_sum(c->name) + text_sum(tl_trace_track(t, b->track[i])->name) +
               (f ? text_sum(f->name) : 0) + b->val[i + 1] - b->val[i];
    }
    return sum;
}

/* ---- one source, cursors in each thread ---- */

static void *read_streams(void *arg)
{
    worker *w = arg;
    /* Not const in the interface, because cursors are opened on it. */
    tl_source *s = (tl_source *)(uintptr_t)w->object;
    for (uint32_t i = 0; w->status == 0 && i < tl_source_streams(s); i++) {
        const uint32_t stream = (i + w->number) % tl_source_streams(s);
        tl_cursor *c = NULL;
        const tl_batch *b;
        w->status = tl_cursor_open(&c, s, stream, &w->error);
        while (w->status == 0 && (w->status = tl_cursor_next(c, &b, &w->error)) > 0) {
            w->sum += batch_sum(tl_source_trace(s), b);
            w->status = 0;
        }
        tl_cursor_close(c);
    }
    return NULL;
}

static void test_cursors_of_one_source(void **state)
{
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const tl_open_options options = {.want = {.fields = true, .cpu = true}};
        char path[4096];
        tl_source *s = NULL;
        input_path(path, inputs[i]);
        assert_int_equal(tl_source_open(&s, path, &options, NULL), 0);
        assert_true(all_see_the_same(read_streams, s, inputs[i]) != 0);
        tl_source_close(s);
    }
}

/* ---- a source for each thread ---- */

static void *open_and_read(void *arg)
{
    worker *w = arg;
    char exe[4096];
    input_path(exe, "program.elf");
    const tl_open_options options = {.exe = exe, .want = {.fields = true, .threads = 2}};
    tl_source *s = NULL;
    tl_profile *p = NULL;
    tl_events *v = NULL;
    const tl_batch *b;
    uint32_t from, to;
    w->status = tl_source_open(&s, w->path, &options, &w->error);
    if (w->status == 0)
        w->status = tl_profile_from_source(&p, s, NULL, &w->error);
    if (w->status == 0)
        w->status = tl_events_open(&v, &s, 1, NULL, true, &w->error);
    while (w->status == 0 && (w->status = tl_events_next(v, &b, &from, &to, &w->error)) > 0) {
        w->sum += to - from;
        w->status = 0;
    }
    w->sum += p ? tl_profile_places(p) : 0;
    tl_events_close(v);
    tl_profile_free(p);
    tl_source_close(s);
    return NULL;
}

static void test_sources_side_by_side(void **state)
{
    static const char *const with_calls[] = {"fdr-v5-le.xray", "ctf-18", "tracelog-doc.log"};
    for (size_t i = 0; i < sizeof with_calls / sizeof *with_calls; i++)
        assert_true(all_see_the_same(open_and_read, NULL, with_calls[i]) != 0);
}

/* ---- one profile ---- */

static void *read_profile(void *arg)
{
    worker *w = arg;
    const tl_profile *p = w->object;
    tl_stat stat;
    for (uint32_t i = 0; i < tl_profile_functions(p); i++) {
        tl_profile_function_stat(p, i, &stat);
        w->sum +=
            stat.total + tl_profile_function_percentile(p, i, 900) + text_sum(tl_profile_get_function(p, i)->name);
    }
    for (uint32_t i = 1; i < tl_profile_places(p); i++) {
        tl_profile_stat(p, i, &stat);
        w->sum += tl_profile_time(p, stat.self) + tl_profile_percentile(p, i, 500) + tl_profile_parent(p, i);
    }
    /* Others only read it: so do merging it into another, and writing it. */
    char name[64];
    snprintf(name, sizeof name, "p%u.tlp", w->number);
    w->status = tl_profile_write(p, name, NULL, NULL, NULL, &w->error);
    return NULL;
}

static void test_readers_of_one_profile(void **state)
{
    char path[4096];
    tl_source *s = NULL;
    tl_profile *p = NULL;
    input_path(path, "fdr-v5-le.xray");
    assert_int_equal(tl_source_open(&s, path, NULL, NULL), 0);
    assert_int_equal(tl_profile_from_source(&p, s, NULL, NULL), 0);
    tl_source_close(s);
    assert_true(all_see_the_same(read_profile, p, "fdr-v5-le.xray") != 0);
    assert_int_equal(scratch_files(1), THREADS);
    tl_profile_free(p);
}

/* ---- sinks of one trace ---- */

static void *write_streams(void *arg)
{
    worker *w = arg;
    tl_source *s = (tl_source *)(uintptr_t)w->object;
    tl_sink *sink = NULL;
    char name[64];
    snprintf(name, sizeof name, "s%u", w->number);
    w->status = tl_sink_open(&sink, name, tl_source_trace(s), &(tl_write_options){.to = "jsonl"}, &w->error);
    for (uint32_t i = 0; w->status == 0 && i < tl_source_streams(s); i++) {
        tl_cursor *c = NULL;
        const tl_batch *b;
        w->status = tl_cursor_open(&c, s, i, &w->error);
        while (w->status == 0 && (w->status = tl_cursor_next(c, &b, &w->error)) > 0)
            w->status = tl_sink_write(sink, b, 0, b->n, &w->error);
        tl_cursor_close(c);
    }
    if (w->status == 0)
        w->status = tl_sink_finish(sink, &w->error);
    w->sum = w->status == 0 ? tl_sink_bytes(sink) : 0;
    tl_sink_close(sink);
    return NULL;
}

static void test_sinks_of_one_trace(void **state)
{
    const tl_open_options options = {.want = {.fields = true, .cpu = true}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        char path[4096];
        tl_source *s = NULL;
        input_path(path, inputs[i]);
        assert_int_equal(tl_source_open(&s, path, &options, NULL), 0);
        assert_true(all_see_the_same(write_streams, s, inputs[i]) != 0);
        assert_int_equal(scratch_files(1), THREADS);
        tl_source_close(s);
    }
}

/* ---- calls without an object ---- */

static void *ask_for_facts(void *arg)
{
    worker *w = arg;
    for (uint32_t i = 0; i < tl_formats(); i++)
        w->sum += text_sum(tl_format_get(i)->name) + tl_format_get(i)->can;
    w->sum += text_sum(tl_version()) + text_sum(tl_build_options());
    for (int code = -10; code < 2; code++)
        w->sum += text_sum(tl_code_name(code));
    tl_error e;
    tl_fail_errno(&e, 2, "a file");
    tl_error_context(&e, "here");
    w->sum += text_sum(e.message);
    return NULL;
}

static void test_facts_from_any_thread(void **state)
{
    assert_true(all_see_the_same(ask_for_facts, NULL, "fdr-v5-le.xray") != 0);
}

/* Every relation of a source of this thread, read when the source is closed. */
static void *read_relations(void *arg)
{
    worker *w = arg;
    for (size_t i = 0; w->status >= 0 && i < tl_tables(); i++) {
        tl_source *s = NULL;
        tl_rows *r = NULL;
        tl_block b;
        w->status = tl_source_open(&s, w->path, NULL, &w->error);
        if (w->status == 0)
            w->status = tl_rows_open(&r, tl_table_at(i)->name, &s, 1, &(tl_rows_options){.threads = 2}, &w->error);
        tl_source_close(s);
        if (w->status == TL_EUNSUPPORTED)
            w->status = 0;
        while (r && w->status >= 0 && (w->status = tl_rows_next(r, &b, &w->error)) > 0)
            for (uint32_t k = 0; k < tl_rows_columns(r); k++)
                for (uint32_t n = 0; n < b.rows; n++)
                    w->sum = 33 * w->sum + (b.column[k].i64    ? (uint64_t)b.column[k].i64[n]
                                            : b.column[k].text ? text_sum(b.column[k].text[n])
                                                               : 0);
        tl_rows_close(r);
    }
    return NULL;
}

static void test_relations_side_by_side(void **state)
{
    static const char *const name[] = {"fdr-v5-le.xray", "tracelog-doc.log", "xtrace-cores"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        assert_true(all_see_the_same(read_relations, NULL, name[i]) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursors_of_one_source),
        cmocka_unit_test(test_sources_side_by_side),
        cmocka_unit_test_setup_teardown(test_readers_of_one_profile, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_sinks_of_one_trace, scratch_enter, scratch_leave),
        cmocka_unit_test(test_facts_from_any_thread),
        cmocka_unit_test(test_relations_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
