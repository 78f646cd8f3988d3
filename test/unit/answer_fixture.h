/* The answers of a table about a source, in any view, in memory. */
#ifndef TL_TEST_ANSWER_FIXTURE_H
#define TL_TEST_ANSWER_FIXTURE_H

#include "analysis/table_run.h"
#include "check.h"
#include "view/view.h"

#define ANSWER_SUBJECT "made.log: made 1"

/* The answer in a view, as text; free(). */
static inline char *answer_shown(const tl_answer *a, const tl_ask *ask, const tl_view *view)
{
    const tl_terminal terminal = {.tty = ask->tty, .fit = ask->tty, .unicode = ask->unicode, .width = ask->width};
    tl_output *out = NULL;
    tl_error e = {0};
    size_t n = 0;
    assert_int_equal(tl_output_open_memory(&out, TL_PLAIN, &e), 0);
    assert_int_equal(view->show(&(tl_showing){a, ask, &terminal, out}, &e), 0);
    assert_int_equal(tl_output_finish(out, &e), 0);
    char *bytes = tl_output_take_memory(out, &n), *text = calloc(1, n + 1);
    assert_non_null(text);
    memcpy(text, bytes, n);
    free(bytes);
    tl_output_close(out);
    return text;
}

/* Compares a JSON answer with its members after "schema", and frees it. */
static inline void answer_check_json(char *json, const char *members)
{
    static const char begin[] = "{\"schema\":1,";
    assert_memory_equal(json, begin, sizeof begin - 1);
    assert_int_equal(json[strlen(json) - 1], '\n');
    json[strlen(json) - 1] = 0;
    assert_string_equal(json + sizeof begin - 1, members);
    free(json);
}

/* A table's answer about a source, with options. The view decides for whom it is made. */
static inline char *answer_with(const tl_table_kind *kind, const tl_table_options *options, tl_source *s,
                                const tl_ask *ask, const tl_view *view)
{
    tl_ask asked = *ask;
    tl_table_run run;
    tl_answer a;
    tl_error e = {0};
    asked.for_programs = view->for_programs;
    if (tl_table_run_init(&run, kind, options, &e) < 0 || tl_table_run_add(&run, s, NULL, 1, &e) < 0 ||
        tl_table_run_answer(&run, &asked, ANSWER_SUBJECT, &a, &e) < 0)
        fail_msg("%s: %s", kind->info.name, e.message);
    char *text = answer_shown(&a, &asked, view);
    tl_answer_fini(&a);
    tl_table_run_fini(&run);
    return text;
}

static inline char *answer_of(const tl_table_kind *kind, tl_source *s, const tl_ask *ask, const tl_view *view)
{
    return answer_with(kind, &(tl_table_options){0}, s, ask, view);
}

#endif
