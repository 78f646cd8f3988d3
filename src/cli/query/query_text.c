/* The words of `query`: the last word is SQL if it has a blank and is no file; else SQL comes from --query-file, or
 * from standard input. */
#include "cli/query/query_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text/number.h"
#include "cli/inputs.h"
#include "cli/message.h"
#include "cli/query/query_recipe.h"

#define SQL_MOST (1u << 20) /* bytes of all statements */

static int read_all(tl_query_text *t, FILE *f, const char *name)
{
    size_t n = 0, capacity = 0;
    char *text = NULL;
    for (;;) {
        if (!TL_GROW(text, n, 4096, capacity)) {
            free(text);
            tl_say_error(name, "no memory for the SQL");
            return TL_EXIT_DAMAGED;
        }
        const size_t got = fread(text + n, 1, 4095, f);
        n += got;
        if (n > SQL_MOST) {
            free(text);
            tl_say_error(name, "more than 1 MiB of SQL");
            return TL_EXIT_LIMIT;
        }
        if (got == 0)
            break;
    }
    if (ferror(f) || memchr(text, '\0', n)) {
        tl_say_error(name, "%s", ferror(f) ? strerror(errno) : "this is no SQL: it has a NUL byte");
        free(text);
        return TL_EXIT_USAGE;
    }
    text[n] = '\0';
    t->sql = text;
    t->name = name;
    return TL_EXIT_DONE;
}

static int read_file(tl_query_text *t, const char *path)
{
    if (strcmp(path, "-") == 0)
        return read_all(t, stdin, "standard input");
    FILE *f = fopen(path, "re");
    if (!f) {
        tl_say_error(path, "%s", strerror(errno));
        return TL_EXIT_USAGE;
    }
    const int status = read_all(t, f, path);
    fclose(f);
    return status;
}

/* Is the word SQL? */
static bool is_sql(const char *word)
{
    return word[strcspn(word, " \t\n")] && access(word, F_OK) != 0;
}

/* A value: a whole number, a number, a duration in ns; else text, whose quotes are taken off. */
static void take_value(tl_sql_value *v, char *text)
{
    char *end;
    uint64_t ns;
    const size_t n = strlen(text);
    errno = 0;
    const long long whole = strtoll(text, &end, 10);
    if (*text && !*end && errno == 0) {
        *v = (tl_sql_value){.kind = TL_VALUE_INTEGER, .i64 = whole};
        return;
    }
    const double real = strtod(text, &end);
    if (*text && !*end && real - real == 0) {
        *v = (tl_sql_value){.kind = TL_VALUE_REAL, .real = real};
        return;
    }
    if (tl_parse_duration(text, &ns) && ns <= INT64_MAX) {
        *v = (tl_sql_value){.kind = TL_VALUE_INTEGER, .i64 = (int64_t)ns};
        return;
    }
    const bool quoted = n >= 2 && text[0] == '\'' && text[n - 1] == '\'';
    *v = (tl_sql_value){.kind = TL_VALUE_TEXT, .text = text + quoted, .size = n - 2 * quoted};
    text[n - quoted] = '\0';
}

static bool take_parameter(tl_query_text *t, const char *word)
{
    tl_query_parameter *p = &t->parameter[t->nparameter];
    p->name = strdup(word);
    if (!p->name)
        return false;
    t->nparameter++;
    char *equals = strchr(p->name, '=');
    *equals = '\0';
    take_value(&p->value, equals + 1);
    return true;
}

/* Is the word name=value? */
static bool is_parameter(const char *word)
{
    const char *equals = strchr(word, '=');
    return equals && equals > word && access(word, F_OK) != 0;
}

static int take_parameters(tl_query_text *t, const tl_words *words)
{
    t->parameter = calloc(words->n + 1, sizeof *t->parameter);
    for (size_t i = 0; i < words->n; i++) {
        const char *equals = strchr(words->word[i], '=');
        if (!equals || equals == words->word[i]) {
            tl_say_error(NULL, "--param %s: name=value is needed", words->word[i]);
            return TL_EXIT_USAGE;
        }
        if (!t->parameter || !take_parameter(t, words->word[i])) {
            tl_say_error(NULL, "no memory for the parameters");
            return TL_EXIT_DAMAGED;
        }
    }
    return TL_EXIT_DONE;
}

int tl_query_text_recipe(tl_query_text *t, const char *name, const char *const *word, size_t n)
{
    const size_t before = t->nparameter;
    bool ok = TL_RESIZE(t->parameter, t->nparameter + n + 1);
    for (size_t i = 0; i < n && ok; i++)
        ok = take_parameter(t, word[i]);
    if (!ok) {
        tl_say_error(NULL, "no memory for the parameters");
        return TL_EXIT_DAMAGED;
    }
    t->recipe = name;
    const int status = t->is_for_server ? tl_recipe_read_for_server(name, &t->sql) : tl_recipe_read(name, &t->sql);
    for (size_t i = before; status == TL_EXIT_DONE && i < t->nparameter; i++)
        if (!tl_recipe_uses(t->sql, t->parameter[i].name)) {
            tl_say_error(NULL, "recipe %s has no parameter %s%s", name, t->parameter[i].name,
                         t->is_for_server ? " on a server" : "");
            return TL_EXIT_USAGE;
        }
    return status;
}

/* Its parameters are the words after the files. */
static int read_recipe(tl_query_text *t, const char *name)
{
    size_t words = 0;
    while (t->nfile > words && is_parameter(t->file[t->nfile - 1 - words]))
        words++;
    t->nfile -= words;
    return tl_query_text_recipe(t, name, t->file + t->nfile, words);
}

/* Is standard input a trace? */
static bool reads_stdin(const tl_query_text *t)
{
    for (size_t i = 0; i < t->nfile; i++)
        if (strcmp(t->file[i], "-") == 0)
            return true;
    return false;
}

static int copy_sql(tl_query_text *t, const char *word)
{
    t->sql = strdup(word);
    if (t->sql)
        return TL_EXIT_DONE;
    tl_say_error(NULL, "no memory for the SQL");
    return TL_EXIT_DAMAGED;
}

static bool has_sql(const tl_query_text *t)
{
    return t->sql && t->sql[strspn(t->sql, " \t\r\n")];
}

static int say_no_sql(void)
{
    tl_say_error(NULL, "query: no SQL; it is the last word, in quotes, or --query-file names its file");
    return TL_EXIT_USAGE;
}

/* Of --server: the same without files. */
static int read_for_server(tl_query_text *t, const tl_arguments *a)
{
    int status = take_parameters(t, &a->param);
    t->is_for_server = true;
    if (status != TL_EXIT_DONE)
        return status;
    if (a->recipe)
        status = read_recipe(t, a->recipe);
    else if (a->query_file)
        status = read_file(t, a->query_file);
    else if (t->nfile == 1)
        status = copy_sql(t, t->file[--t->nfile]);
    else if (t->nfile == 0 && !isatty(STDIN_FILENO))
        status = read_all(t, stdin, "standard input");
    if (status != TL_EXIT_DONE || (t->nfile == 0 && has_sql(t)))
        return status;
    if (t->nfile == 0)
        return say_no_sql();
    tl_say_error(t->file[0], "with --server the traces are those of the server; SQL is one word, in quotes");
    return TL_EXIT_USAGE;
}

int tl_query_text_read(tl_query_text *t, const tl_cli *c)
{
    const tl_arguments *a = c->args;
    t->file = a->file.word;
    t->nfile = a->file.n;
    if (a->server)
        return read_for_server(t, a);
    int status = tl_check_inputs(c);
    if (status == TL_EXIT_DONE)
        status = take_parameters(t, &a->param);
    if (status != TL_EXIT_DONE)
        return status;
    if (a->recipe) {
        status = read_recipe(t, a->recipe);
    } else if (a->schema || a->export) {
        while (t->nfile > 1 && access(t->file[t->nfile - 1], F_OK) != 0 && strcmp(t->file[t->nfile - 1], "-") != 0)
            t->nfile--;
        t->table = t->file + t->nfile;
        t->ntable = a->file.n - t->nfile;
    } else if (a->query_file) {
        status = read_file(t, a->query_file);
    } else if (t->nfile > 1 && is_sql(t->file[t->nfile - 1])) {
        status = copy_sql(t, t->file[--t->nfile]);
    } else if (t->nfile == 1 && is_sql(t->file[0])) {
        t->nfile = 0;
    } else if (!reads_stdin(t) && !isatty(STDIN_FILENO)) {
        status = read_all(t, stdin, "standard input");
    } else {
        t->is_shell = !reads_stdin(t) && c->out.tty && tl_to_stdout(a);
    }
    if (status == TL_EXIT_DONE && t->nfile == 0) {
        tl_say_error(NULL, "query: no input file; the SQL, or name=value, follows the files");
        return TL_EXIT_USAGE;
    }
    if (status == TL_EXIT_DONE && !a->schema && !a->export && !t->is_shell && !has_sql(t))
        return say_no_sql();
    return status;
}

void tl_query_text_fini(tl_query_text *t)
{
    for (size_t i = 0; i < t->nparameter; i++)
        free(t->parameter[i].name);
    free(t->parameter);
    free(t->sql);
    *t = (tl_query_text){0};
}

bool tl_query_text_default(const tl_query_text *t, const char *name, char *room, size_t size, tl_sql_value *out)
{
    if (!t->recipe || !tl_recipe_default(t->sql, name, room, size) || !*room)
        return false;
    take_value(out, room);
    return true;
}

const tl_sql_value *tl_query_text_parameter(const tl_query_text *t, const char *name)
{
    for (size_t i = 0; i < t->nparameter; i++)
        if (strcmp(t->parameter[i].name, name) == 0)
            return &t->parameter[i].value;
    return NULL;
}
