/* traceloom report --diff: options, gates, and the answer in every view. */
#include "cli/report/report_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare_answer.h"
#include "base/io/base_name.h"
#include "base/text/ends_in.h"
#include "base/text/shell_word.h"
#include "cli/answer_target.h"
#include "cli/formats_of.h"
#include "cli/inputs.h"
#include "cli/message.h"
#include "cli/report/diff_page.h"
#include "cli/report/report_page.h"
#include "cli/selection.h"
#include "view/junit_view.h"

#define COMMENT_MOST 65536u /* bytes of Markdown that fit a comment on a pull request */
#define COMMENT_ROWS 400u   /* to begin with */

/* Everything of one comparison. */
typedef struct diff_job {
    const tl_cli *cli;
    tl_target to;
    tl_diff_sides sides;
    tl_compare *compare;
    tl_compare *paths;    /* of a page: the same by path */
    const tl_gate **gate; /* [fail_if.n] */
    size_t ngate;
    bool failed; /* one of them */
    bool page;   /* the answer is a page */
    tl_pb again; /* the command that gives it */
} diff_job;

int tl_report_check_diff(const tl_arguments *a)
{
    const char *stray = tl_first_given(a, "fail-if fail-when noise min-share per map one-run");
    if (!stray)
        return TL_EXIT_DONE;
    tl_say_error(NULL, "--%s goes with --diff BASE NEW", stray);
    return TL_EXIT_USAGE;
}

static int wrong(const char *text)
{
    tl_say_error(NULL, "%s", text);
    return TL_EXIT_USAGE;
}

static int check_options(const tl_arguments *a)
{
    if (a->file.n != 2)
        return wrong("--diff compares two sides: BASE NEW, each a file, a folder of runs, or a quoted pattern");
    if (strcmp(a->file.word[0], "-") == 0 || strcmp(a->file.word[1], "-") == 0)
        return wrong("--diff reads files and folders, not standard input");
    if (a->by && strcmp(a->by, "func") != 0 && strcmp(a->by, "tree") != 0)
        return wrong("--diff goes with --by func and --by tree");
    if (a->clock || a->glob)
        return wrong("--clock and --glob do not go with --diff");
    if (a->sort || a->per_thread || a->no_fold)
        return wrong("--sort, --per-thread and --no-fold do not go with --diff");
    if ((a->title || a->page_limit) && !tl_report_wants_page(a))
        return wrong("--title and --page-limit go with -o FILE.html or --to html");
    if (a->page_limit && a->page_limit < TL_HTML_SIZE_LEAST)
        return wrong("--page-limit: a page has at least 1M");
    if (a->fail_when && a->fail_if.n == 0)
        return wrong("--fail-when needs a gate: --fail-if 'p99(render_page) > +5%'");
    return TL_EXIT_DONE;
}

static int choose_view(diff_job *j)
{
    const tl_arguments *a = j->cli->args;
    const tl_view *junit = &tl_view_junit, *view = NULL;
    int status = TL_EXIT_DONE;
    j->page = tl_report_wants_page(a);
    if (j->page && a->json)
        return wrong("--json does not go with a page");
    if (j->page) {
        j->to = tl_target_of(j->cli, &tl_view_json, a->output ? a->output : "-");
        return status;
    }
    if (a->to ? strcmp(a->to, junit->name) == 0 : a->output && tl_has_suffix(a->output, junit->suffix))
        view = junit;
    else
        status = tl_asked_view(j->cli, &view);
    if (status != TL_EXIT_DONE)
        return status;
    if (!view && (a->to || !tl_to_stdout(a))) {
        char names[TL_VIEW_NAMES];
        tl_say_error(a->to ? NULL : a->output, "%s%s a comparison is written as one of: %s, html, junit",
                     a->to ? "--to " : "", a->to ? a->to : "the suffix names none;", tl_view_names(names));
        return TL_EXIT_USAGE;
    }
    if (view == junit && a->fail_if.n == 0)
        return wrong("JUnit files hold gates: add --fail-if 'p99(render_page) > +5%'");
    j->to = tl_target_of(j->cli, view ? view : &tl_view_table, a->output ? a->output : "-");
    return TL_EXIT_DONE;
}

/* The output must not be one of the runs. */
static int check_output(const diff_job *j)
{
    int status = TL_EXIT_DONE;
    for (int side = 0; side < 2 && status == TL_EXIT_DONE; side++) {
        tl_arguments a = *j->cli->args;
        tl_cli c = *j->cli;
        a.file = j->sides.side[side].file;
        c.args = &a;
        status = tl_check_output(&c);
    }
    return status;
}

static tl_compare_per per_of(const char *word)
{
    return !word                       ? TL_PER_DEFAULT
           : strcmp(word, "call") == 0 ? TL_PER_CALL
           : strcmp(word, "run") == 0  ? TL_PER_RUN
                                       : TL_PER_SHARE;
}

static tl_gate_when when_of(const char *word)
{
    return !word || strcmp(word, "interval") == 0 ? TL_GATE_INTERVAL
           : strcmp(word, "estimate") == 0        ? TL_GATE_ESTIMATE
                                                  : TL_GATE_UNCLEAR;
}

static int compare(diff_job *j, bool paths, tl_compare **c)
{
    const tl_arguments *a = j->cli->args;
    const tl_compare_options options = {.noise = a->noise.share,
                                        .has_noise = a->noise.given,
                                        .min_share = a->min_share.share,
                                        .has_min_share = a->min_share.given,
                                        .paths = paths,
                                        .one_run = a->one_run,
                                        .per = per_of(a->per),
                                        .map = a->map.word,
                                        .nmap = a->map.n};
    const tl_diff_side *s = j->sides.side;
    tl_error e = {0};
    if (tl_compare_new(c, s[0].run, s[0].nrun, s[1].run, s[1].nrun, &options, &e) < 0)
        return tl_say_option_failure(NULL, e.code == TL_EINVAL ? "--" : "", &e);
    return TL_EXIT_DONE;
}

/* "--fail-if p99(x > +5%: column 12: expected ...": bytes are not what people count. */
static int say_gate_failure(const char *text, const tl_error *e)
{
    size_t column = 1;
    if (e->code != TL_ESYNTAX || e->offset == TL_NO_OFFSET) {
        tl_say_error(NULL, "--fail-if %s: %s", text, e->message);
        return e->code == TL_ENOMEM ? TL_EXIT_DAMAGED : TL_EXIT_USAGE;
    }
    for (uint64_t i = 0; i < e->offset && text[i]; i++)
        column += ((unsigned char)text[i] & 0xc0) != 0x80;
    tl_say_error(NULL, "--fail-if %s: column %zu: %s", text, column, e->message);
    return TL_EXIT_USAGE;
}

static int test_gates(diff_job *j)
{
    const tl_arguments *a = j->cli->args;
    j->gate = calloc(a->fail_if.n + 1, sizeof *j->gate);
    if (!j->gate)
        return TL_EXIT_DAMAGED;
    for (; j->ngate < a->fail_if.n; j->ngate++) {
        const char *text = a->fail_if.word[j->ngate];
        tl_error e = {0};
        if (tl_compare_gate(j->compare, text, when_of(a->fail_when), &j->gate[j->ngate], &e) < 0)
            return say_gate_failure(text, &e);
        j->failed = j->failed || j->gate[j->ngate]->status == TL_GATE_FAILED;
    }
    return TL_EXIT_DONE;
}

/* The bytes of the answer. */
static int measure(diff_job *j, const tl_compare_show *show, size_t *size)
{
    tl_output *memory = NULL;
    tl_answer answer = {0};
    tl_error e = {0};
    if (tl_output_open_memory(&memory, TL_PLAIN, &e) < 0)
        return tl_say_failure(NULL, &e);
    const int made = tl_compare_answer(show, &j->to.ask, &answer, &e);
    int status = tl_answer_write(&j->to, NULL, &answer, made, &e, memory);
    if (status == TL_EXIT_DONE && tl_output_finish(memory, &e) < 0)
        status = tl_say_failure(NULL, &e);
    if (status == TL_EXIT_DONE)
        free(tl_output_take_memory(memory, size));
    tl_output_close(memory);
    return status;
}

/* Fewer rows until Markdown fits a comment, unless the user said how many. */
static int fit_comment(diff_job *j, const tl_compare_show *show)
{
    tl_ask *ask = &j->to.ask;
    if (j->to.view != &tl_view_markdown || ask->has_top)
        return TL_EXIT_DONE;
    ask->has_top = true;
    for (ask->top = COMMENT_ROWS;; ask->top /= 2) {
        size_t size = 0;
        const int status = measure(j, show, &size);
        if (status != TL_EXIT_DONE || size < COMMENT_MOST || ask->top == 1)
            return status;
    }
}

/* A side without its folders, which a page does not tell. */
static const char *private_name(diff_job *j, const char *word)
{
    size_t n = strlen(word);
    while (n > 1 && word[n - 1] == '/')
        n--;
    const char *copy = tl_arena_strndup(&j->sides.arena, word, n);
    return copy ? tl_base_name(copy) : "";
}

/* ---- the command that gives the same answer */

static void add_percent(tl_pb *line, const char *option, const tl_percent *p)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g%%", 100 * p->share);
    if (p->given)
        tl_put_shell_option(line, option, text);
}

static void add_each(tl_pb *line, const char *option, const tl_words *word)
{
    for (size_t i = 0; i < word->n; i++)
        tl_put_shell_option(line, option, word->word[i]);
}

static void add_option(void *line, const char *option, const char *value)
{
    tl_put_shell_option(line, option, value);
}

static int make_again(diff_job *j)
{
    const tl_arguments *a = j->cli->args;
    tl_pb *line = &j->again;
    tl_pb_text(line, "traceloom report --diff");
    for (int side = 0; side < 2; side++)
        tl_put_shell_word(line, j->page ? private_name(j, a->file.word[side]) : a->file.word[side]);
    for (size_t i = 0; i < a->exe_word.n; i++)
        tl_put_shell_option(line, "-e", j->page ? tl_base_name(a->exe_word.word[i]) : a->exe_word.word[i]);
    tl_selection_each(a, add_option, line);
    const struct {
        const char *option, *value;
    } text[] = {{"--by", a->by}, {"--weight", a->weight}, {"--per", a->per}, {"--fail-when", a->fail_when}};
    for (size_t i = 0; i < TL_COUNT(text); i++)
        if (text[i].value)
            tl_put_shell_option(line, text[i].option, text[i].value);
    add_percent(line, "--noise", &a->noise);
    add_percent(line, "--min-share", &a->min_share);
    add_each(line, "--map", &a->map);
    add_each(line, "--fail-if", &a->fail_if);
    if (a->one_run)
        tl_put_shell_word(line, "--one-run");
    tl_pb_raw(line, "", 1);
    if (!line->failed)
        return TL_EXIT_DONE;
    tl_say_error(NULL, "out of memory");
    return TL_EXIT_DAMAGED;
}

static int show(diff_job *j)
{
    int status = make_again(j);
    if (status != TL_EXIT_DONE)
        return status;
    tl_compare_show shown = {.compare = j->compare,
                             .side = {j->cli->args->file.word[0], j->cli->args->file.word[1]},
                             .gate = j->gate,
                             .ngate = j->ngate,
                             .again = j->to.view == &tl_view_markdown ? (const char *)j->again.data : NULL};
    tl_answer answer = {0};
    tl_catalog no_damage = {0};
    tl_error e = {0};
    if (j->page) {
        for (int side = 0; side < 2; side++)
            shown.side[side] = private_name(j, shown.side[side]);
        return tl_diff_page(j->cli, &shown, j->paths, &j->sides, (const char *)j->again.data);
    }
    status = fit_comment(j, &shown);
    if (status != TL_EXIT_DONE)
        return status;
    status = tl_compare_answer(&shown, &j->to.ask, &answer, &e);
    return tl_show_answer(j->cli, &answer, status, &e, &j->to, &no_damage);
}

/* Damage and losses count more than a failed gate only with --strict. */
static int final_status(const diff_job *j)
{
    const int losses = j->sides.losses;
    if (!j->failed)
        return losses;
    return j->cli->args->strict ? tl_exit_worse(losses, TL_EXIT_NO) : TL_EXIT_NO;
}

int tl_report_diff(const tl_cli *c)
{
    diff_job j = {.cli = c, .sides.losses = TL_EXIT_DONE};
    int status = check_options(c->args);
    if (status == TL_EXIT_DONE)
        status = tl_check_inputs(c);
    if (status == TL_EXIT_DONE)
        status = choose_view(&j);
    if (status == TL_EXIT_DONE)
        status = tl_diff_sides_find(&j.sides, c);
    if (status == TL_EXIT_DONE)
        status = check_output(&j);
    if (status == TL_EXIT_DONE)
        status = tl_diff_sides_read(&j.sides, c, j.page);
    const bool by_path = c->args->by && strcmp(c->args->by, "tree") == 0;
    if (status == TL_EXIT_DONE)
        status = compare(&j, by_path, &j.compare);
    if (status == TL_EXIT_DONE && j.page && !by_path)
        status = compare(&j, true, &j.paths);
    if (status == TL_EXIT_DONE)
        status = test_gates(&j);
    if (status == TL_EXIT_DONE)
        status = show(&j);
    tl_compare_free(j.compare);
    tl_compare_free(j.paths);
    tl_diff_sides_fini(&j.sides);
    tl_pb_fini(&j.again);
    free(j.gate);
    return status == TL_EXIT_DONE ? final_status(&j) : status;
}
