/* The shell of `query`. */
#include "cli/query/query_shell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text/glob.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "base/text/words.h"
#include "cli/message.h"
#include "cli/nearest.h"
#include "cli/query/query_history.h"
#include "cli/query/query_line.h"
#include "cli/query/query_recipe.h"
#include "cli/query/query_stop.h"
#include "query/query_control.h"
#include "query/query_names.h"

#define WORDS_OF_RUN 32u
#define PROMPT_ROOM  64u

typedef struct tl_shell {
    tl_query_job *job;
    char *begun; /* lines of a statement that has no semicolon yet, each with its newline; NULL: none */
    size_t n, capacity;
    bool has_timer;
    tl_line *line;
    int history;
} tl_shell;

/* -- statements -----------------------------------------------------------------------------------------------------
 */

/* Does the text end with a semicolon, apart from comments? */
static bool is_whole(const char *p)
{
    bool ends = false;
    while (p && *p) {
        ends = *p == ';' || (ends && tl_sql_is_blank(p));
        p = tl_sql_skip(p);
    }
    return p && ends;
}

static void flush(tl_shell *s)
{
    tl_error e = {0};
    if (tl_output_flush(s->job->to.out, &e) < 0)
        tl_say_failure(NULL, &e);
    fflush(stdout);
}

static uint64_t now_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Runs the statements of the job's text; ^C ends them. */
static void run_text(tl_shell *s)
{
    tl_query_job *j = s->job;
    char text[32];
    const uint64_t began = now_ns();
    j->to.first = true;
    j->rows = 0;
    tl_query_stop_forget();
    tl_query_stop_catch(j->query);
    const int status = tl_query_job_run(j);
    tl_query_stop_catch(NULL);
    tl_query_resume(j->query);
    tl_query_stop_forget();
    if (s->has_timer && status == TL_EXIT_DONE)
        tl_output_printf(j->to.out, "%" PRIu64 " rows in %s\n", j->rows,
                         tl_human_time(text, sizeof text, now_ns() - began, true));
    flush(s);
}

/* The same for SQL, which stays the caller's. */
static void run_sql(tl_shell *s, char *sql, bool explains)
{
    tl_query_job *j = s->job;
    j->text.sql = sql;
    j->explains = explains;
    run_text(s);
    j->explains = false;
    j->text.sql = NULL;
}

/* -- commands -------------------------------------------------------------------------------------------------------
 */

/* Cuts a text into words, at most `most`. */
static size_t split(char *text, const char **word, size_t most)
{
    size_t n = 0;
    char *rest = NULL;
    for (char *w = strtok_r(text, " \t", &rest); w && n < most; w = strtok_r(NULL, " \t", &rest))
        word[n++] = w;
    return n;
}

static bool list_tables(tl_shell *s, char *argument)
{
    tl_query *q = s->job->query;
    for (uint32_t i = 0; i < tl_query_tables(q); i++) {
        const tl_table_info *t = tl_query_table(q, i);
        char clean[256];
        if (!*argument || tl_glob(argument, t->name))
            tl_output_printf(s->job->to.out, "%-24s  %s\n", t->name, tl_text_clean(clean, sizeof clean, t->summary));
    }
    return true;
}

static bool show_schema(tl_shell *s, char *argument)
{
    const char *word[WORDS_OF_RUN];
    const size_t n = split(argument, word, WORDS_OF_RUN);
    tl_query_job_schema(s->job, word, n);
    return true;
}

static bool list_recipes(tl_shell *s, char *argument)
{
    (void)s;
    (void)argument;
    tl_recipe_list();
    return true;
}

static bool run_recipe(tl_shell *s, char *argument)
{
    tl_query_job *j = s->job;
    const char *word[WORDS_OF_RUN];
    const size_t n = split(argument, word, WORDS_OF_RUN);
    for (size_t i = 1; i < n; i++)
        if (!strchr(word[i], '=')) {
            tl_say_error(NULL, ".run: %s is not name=value", word[i]);
            return true;
        }
    if (n == 0) {
        tl_say_error(NULL, ".run: the name of a recipe is missing; .recipes lists them");
        return true;
    }
    const tl_query_text before = j->text;
    j->text = (tl_query_text){0};
    if (tl_query_text_recipe(&j->text, word[0], word + 1, n - 1) == TL_EXIT_DONE)
        run_text(s);
    tl_query_text_fini(&j->text);
    j->text = before;
    return true;
}

static void say_formats(const char *argument)
{
    char list[128] = "";
    size_t at = 0;
    for (const tl_result_form *f = tl_result_forms; f->name; f++)
        tl_words_add(list, sizeof list, &at, ", ", f->name);
    tl_say_error(NULL, ".format %s: results are written as one of %s", argument, list);
}

static bool set_format(tl_shell *s, char *argument)
{
    const tl_result_form *f = *argument ? tl_result_form_of(argument, NULL) : NULL;
    if (f)
        s->job->form = f;
    else if (*argument)
        say_formats(argument);
    else
        tl_output_printf(s->job->to.out, "%s\n", s->job->form->name);
    return true;
}

static bool set_timer(tl_shell *s, char *argument)
{
    if (strcmp(argument, "on") == 0 || strcmp(argument, "off") == 0)
        s->has_timer = argument[1] == 'n';
    else
        tl_say_error(NULL, ".timer: on or off");
    return true;
}

static bool explain(tl_shell *s, char *argument)
{
    if (*argument)
        run_sql(s, argument, true);
    else
        tl_say_error(NULL, ".explain: the SQL follows it, in the same line");
    return true;
}

static bool help(tl_shell *s, char *argument)
{
    tl_output *out = s->job->to.out;
    (void)argument;
    for (const tl_shell_command *c = tl_shell_commands; c->name; c++) {
        char both[48];
        snprintf(both, sizeof both, "%s %s", c->name, c->arguments);
        tl_output_printf(out, "%-24s  %s\n", both, c->what);
    }
    tl_output_puts(out, "Statements end with a semicolon. ^C ends one that runs, ^D the shell.\n");
    return true;
}

static bool quit(tl_shell *s, char *argument)
{
    (void)s;
    (void)argument;
    return false;
}

const tl_shell_command tl_shell_commands[] = {{".tables", "[GLOB]", "tables of these traces", list_tables},
                                              {".schema", "[GLOB...]", "tables and their columns", show_schema},
                                              {".recipes", "", "SQL that ships", list_recipes},
                                              {".run", "NAME [NAME=VALUE...]", "run a recipe", run_recipe},
                                              {".explain", "SQL", "how a statement would be run", explain},
                                              {".format", "[FORMAT]", "how results are written", set_format},
                                              {".timer", "on|off", "time and rows after each result", set_timer},
                                              {".help", "", "this list", help},
                                              {".quit", "", "end the shell", quit},
                                              {NULL, NULL, NULL, NULL}};

static bool run_command(tl_shell *s, char *text)
{
    const char *names[16];
    size_t n = 0;
    char *argument = text + strcspn(text, " \t");
    if (*argument)
        *argument++ = '\0';
    argument += strspn(argument, " \t");
    for (size_t end = strlen(argument); end > 0 && (argument[end - 1] == ' ' || argument[end - 1] == '\t'); end--)
        argument[end - 1] = '\0';
    for (const tl_shell_command *c = tl_shell_commands; c->name; c++) {
        if (strcmp(c->name, text) == 0) {
            const bool goes_on = c->run(s, argument);
            flush(s);
            return goes_on;
        }
        names[n++] = c->name;
    }
    const char *near = tl_nearest(text, names, n);
    tl_say_error(NULL, near ? "no command %s; did you mean %s?" : "no command %s; .help lists them", text, near);
    return true;
}

/* -- lines ----------------------------------------------------------------------------------------------------------
 */

static void complete(void *shell, const char *before, tl_completion *out)
{
    const tl_shell *s = shell;
    tl_query_complete(out, s->job->query, s->begun ? s->begun : "", before);
}

static void remember(void *shell, const char *text)
{
    tl_line_remember(((tl_shell *)shell)->line, text);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t")] == '\0';
}

static void forget_statement(tl_shell *s)
{
    free(s->begun);
    s->begun = NULL;
    s->n = s->capacity = 0;
}

/* Takes a line. False: the shell ends. */
static bool take(tl_shell *s, const char *text)
{
    const size_t n = strlen(text);
    if (!s->begun && is_blank(text))
        return true;
    tl_line_remember(s->line, text);
    tl_history_add(s->history, text);
    if (!TL_GROW(s->begun, s->n, n + 2, s->capacity)) {
        tl_say_error(NULL, "no memory for the SQL");
        forget_statement(s);
        return true;
    }
    memcpy(s->begun + s->n, text, n + 1);
    bool goes_on = true;
    if (s->n == 0 && text[0] == '.') {
        char *command = s->begun;
        s->begun = NULL;
        s->capacity = 0;
        goes_on = run_command(s, command);
        free(command);
        return goes_on;
    }
    memcpy(s->begun + s->n + n, "\n", 2);
    s->n += n + 1;
    if (is_whole(s->begun)) {
        run_sql(s, s->begun, false);
        forget_statement(s);
    }
    return true;
}

/* The name of the first input, and blanks of the same width for lines that go on. */
static void make_prompts(const tl_query_job *j, char *first, char *next)
{
    char name[PROMPT_ROOM - 16];
    tl_text_clean(name, sizeof name, tl_base_name(j->text.file[0]));
    snprintf(first, PROMPT_ROOM, "%s%s> ", name, j->n > 1 ? ", ..." : "");
    const size_t n = strlen(first), width = tl_text_width(first, n);
    snprintf(next, PROMPT_ROOM, "%*s...> ", (int)(width > 5 ? width - 5 : 0), "");
}

int tl_query_shell(tl_query_job *j)
{
    tl_shell s = {.job = j, .history = tl_history_open()};
    char first[PROMPT_ROOM], next[PROMPT_ROOM];
    const char *text = NULL;
    bool goes_on = true;
    s.line = tl_line_open(complete, &s);
    if (!s.line) {
        tl_say_error(NULL, "no memory for the shell");
        return TL_EXIT_DAMAGED;
    }
    make_prompts(j, first, next);
    tl_history_read(s.history, remember, &s);
    tl_query_stop_catch(NULL);
    tl_say(j->cli, NULL, "statements end with a semicolon; .help lists commands");
    while (goes_on) {
        tl_query_stop_forget();
        const tl_line_end end = tl_line_read(s.line, s.begun ? next : first, &text);
        if (end == TL_LINE_CANCELLED)
            forget_statement(&s);
        else
            goes_on = end == TL_LINE_READ && take(&s, text);
    }
    forget_statement(&s);
    tl_line_close(s.line);
    if (s.history >= 0)
        close(s.history);
    return TL_EXIT_DONE;
}
