/* Man pages in mdoc, made from the tables. The pages in docs/man are this output. */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "cli/manual/manpage.h"
#include "cli/query/query_print.h"
#include "cli/verbs.h"
#include "view/view.h"

#define PAGE_DATE  "November 22, 2026" /* date of the last change of the texts */
#define TEXT_WIDTH 79u
#define NAME_SIZE  16 /* of a verb */

/* English, whatever the locale: Turkish has another capital of i. */
static char capital(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Escapes everything special, so that words of a macro line are not taken for macros or punctuation. */
static void put_escaped(FILE *f, const char *s)
{
    for (; *s; s++)
        if (*s == '-')
            fputs("\\-", f);
        else if (*s == '\\')
            fputs("\\e", f);
        else if (*s == '\'')
            fputs("\\(aq", f);
        else
            fputc(*s, f);
}

void tl_put_mdoc(FILE *f, const char *text)
{
    while (*text) {
        size_t line = strcspn(text, "\n"), n = line;
        if (*text != '.')
            while (n > TEXT_WIDTH) { /* the last blank within the width */
                size_t blank = TEXT_WIDTH;
                while (blank > 0 && text[blank] != ' ')
                    blank--;
                if (blank == 0)
                    break;
                fprintf(f, "%.*s\n", (int)blank, text);
                text += blank + 1;
                n -= blank + 1;
            }
        fprintf(f, "%.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

void tl_put_summary(FILE *f, const char *summary)
{
    char line[512];
    snprintf(line, sizeof line, "%c%s.\n", capital(summary[0]), summary + 1);
    tl_put_mdoc(f, line);
}

/* The ways of writing a table, which are not formats. */
static void put_views(FILE *f)
{
    size_t n;
    const tl_view *const *view = tl_views(&n);
    fputs("A table is written as\n", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s.Cm %s\n.Pq Pa %s%s\n", i > 0 && i + 1 == n ? "or\n" : "", view[i]->name, view[i]->suffix,
                i + 2 < n    ? " ,"
                : i + 1 == n ? " ."
                             : "");
    fputs("With\n.Cm html\n.Pq Pa .html\nthe whole report is a page for a browser, in one file that needs no network: "
          "tree, flame graph, functions,\nlatencies and losses; what a managed runtime did, or which instructions were "
          "executed;\n"
          "of a trace without calls and samples its events.\nThe options of tables choose what it shows first.\n",
          f);
}

/* The ways of writing a result of SQL. */
static void put_result_forms(FILE *f)
{
    fputs("Results are written as\n", f);
    for (const tl_result_form *r = tl_result_forms; r->name; r++)
        fprintf(f, "%s.Cm %s\n.Pq Pa %s%s\n", r != tl_result_forms && !r[1].name ? "or\n" : "", r->name, r->suffix,
                !r[1].name   ? " ."
                : !r[2].name ? ""
                             : " ,");
}

static void put_option(FILE *f, const tl_verb *verb, const tl_option *o)
{
    if (tl_option_may_stand_alone(o)) /* "[=SIZE]" */
        fprintf(f, ".It Fl -%s Ns Oo = Ns Ar %.*s Oc\n", o->name, (int)strlen(o->value) - 3, o->value + 2);
    else if (o->letter)
        fprintf(f, ".It Fl %c%s%s , Fl -%s%s%s\n", o->letter, o->value ? " Ar " : "", o->value ? o->value : "", o->name,
                o->value ? " Ar " : "", o->value ? o->value : "");
    else
        fprintf(f, ".It Fl -%s%s%s\n", o->name, o->value ? " Ar " : "", o->value ? o->value : "");
    tl_put_mdoc(f, o->manual);
    if (o->place == offsetof(tl_arguments, by))
        tl_put_table_list(f);
    if (o->place == offsetof(tl_arguments, to) && verb->id == TL_VERB_REPORT)
        put_views(f);
    if (o->place == offsetof(tl_arguments, to) && verb->id == TL_VERB_QUERY)
        put_result_forms(f);
}

static void put_options(FILE *f, const tl_verb *verb)
{
    for (unsigned g = 0; g < TL_GROUPS; g++) {
        bool any = false;
        for (const tl_option *o = tl_option_table; o->name; o++) {
            if (o->group != (tl_option_group)g || !(o->verbs & TL_VERB_BIT(verb->id)))
                continue;
            if (!any)
                fprintf(f, ".Ss %s\n.Bl -tag -width Ds\n", tl_group_title(verb, (tl_option_group)g));
            any = true;
            put_option(f, verb, o);
        }
        if (any)
            fputs(".El\n", f);
    }
}

static void put_environment(FILE *f)
{
    tl_put_mdoc(f, ".Sh ENVIRONMENT\n"
                   ".Bl -tag -width TRACELOOM_NO_CACHE\n"
                   ".It Ev COLUMNS\n"
                   "The width of the terminal, if the system reports a wrong one.\n"
                   ".It Ev NO_COLOR\n"
                   "If set and not empty, nothing is coloured unless\n"
                   ".Fl -color Ns = Ns Cm always\n"
                   "is given.\n"
                   ".It Ev NO_PAGER\n"
                   "If set and not empty, there is no pager.\n"
                   ".It Ev PAGER , TRACELOOM_PAGER\n"
                   "The pager through which\n"
                   ".Cm info , report , query\n"
                   "and\n"
                   ".Cm cat\n"
                   "print on a terminal, unless\n"
                   ".Ev TERM\n"
                   "is\n"
                   ".Ql dumb ;\n"
                   "the second one wins, and the default is\n"
                   ".Ql less -FRX .\n"
                   "If it is empty or\n"
                   ".Cm cat ,\n"
                   "there is none.\n"
                   ".It Ev TMPDIR\n"
                   "Where large input from a pipe, or compressed input, is stored while it is read; the default is\n"
                   ".Pa /var/tmp .\n"
                   ".It Ev TRACELOOM_LLVM\n"
                   "The LLVM library that disassembles instructions, by path or by name, or\n"
                   ".Cm off .\n"
                   ".It Ev TRACELOOM_NO_CACHE\n"
                   "If set, and neither empty nor 0, the indexes of traces that are folders are not cached in\n"
                   ".Pa ~/.cache/traceloom\n"
                   "or in that folder of\n"
                   ".Ev XDG_CACHE_HOME .\n"
                   ".It Ev TRACELOOM_RECIPES\n"
                   "A folder of recipes for\n"
                   ".Nm traceloom query Fl -recipe .\n"
                   ".El\n");
}

/* Settings of the recorder, which `record` passes through the environment. */
static void put_settings(FILE *f)
{
    tl_put_mdoc(f, ".Sh ENVIRONMENT\n"
                   ".Bl -tag -width TRACELOOM\n"
                   ".It Ev TRACELOOM\n"
                   "Settings for the recorder in a program:\n"
                   ".Ar key Ns = Ns Ar value\n"
                   "pairs with\n"
                   ".Sq \\&:\n"
                   "between them.\n"
                   ".Nm traceloom record\n"
                   "adds its own to them.\n"
                   "Without the variable, or if it is empty, the recorder does nothing; with it, a program can also be "
                   "recorded without\n"
                   ".Nm traceloom record .\n"
                   "The keys are\n"
                   ".Cm mode , out , ring , limit , threshold , func , not , depth , start ,\n"
                   "which mean the same as the options above, and\n"
                   ".Cm control=off\n"
                   "for programs that must not get another thread, which\n"
                   ".Xr traceloom-ctl 1\n"
                   "then cannot control,\n"
                   ".Cm clock=monotonic\n"
                   "where the processor's counter cannot be trusted, and\n"
                   ".Cm quiet=on .\n"
                   "For libtraceloom-rt.so.0 in\n"
                   ".Ev LD_PRELOAD\n"
                   "there are\n"
                   ".Cm patch=on , libs , min-size , exact ,\n"
                   "and\n"
                   ".Cm exe=DEVICE\\e:INODE ,\n"
                   "the only program that is patched.\n"
                   ".El\n");
}

static void put_record_status(FILE *f)
{
    tl_put_mdoc(f, ".Sh EXIT STATUS\n"
                   "That of the program; 128 and the number of the signal if one ended it; or\n"
                   ".Bl -tag -width Ds\n"
                   ".It 125\n"
                   "The program was not run, because the command line or the output is invalid, or the "
                   "program cannot be recorded; or the recording could not be made.\n"
                   ".It 126\n"
                   "The program could not be run.\n"
                   ".It 127\n"
                   "The program was not found.\n"
                   ".El\n");
}

static void put_status(FILE *f, bool of_process)
{
    if (of_process) {
        tl_put_mdoc(f, ".Sh EXIT STATUS\n"
                       ".Bl -tag -width Ds\n"
                       ".It 0\n"
                       "Success.\n"
                       ".It 1\n"
                       "The program has no recorder, or its recorder refused the command.\n"
                       ".It 2\n"
                       "The command line is invalid.\n"
                       ".It 3\n"
                       "There is no such process, you may not control it, or it does not answer.\n"
                       ".El\n");
        return;
    }
    tl_put_mdoc(f, ".Sh EXIT STATUS\n"
                   ".Bl -tag -width Ds\n"
                   ".It 0\n"
                   "Success.\n"
                   ".It 1\n"
                   "The answer is no:\n"
                   ".Cm check\n"
                   "found problems, or the trace cannot have what the table of\n"
                   ".Cm report\n"
                   "is made of.\n"
                   ".It 2\n"
                   "The command line is invalid, a pattern matches nothing, or the output file exists.\n"
                   ".It 3\n"
                   "The input was damaged or unreadable, or the output could not be written.\n"
                   "What was written is valid; a message says at which byte the damage is.\n"
                   ".It 4\n"
                   "With\n"
                   ".Fl -strict :\n"
                   "the trace says that events were lost.\n"
                   ".It 5\n"
                   ".Cm query\n"
                   "reached a limit of time or memory, or was interrupted.\n"
                   ".El\n");
}

static const char *arguments_of(const tl_verb *verb)
{
    switch (verb->id) {
    case TL_VERB_HELP:
        return ".Op Ar verb";
    case TL_VERB_RECORD:
        return ".Op Fl -\n.Ar command\n.Op Ar argument ...";
    case TL_VERB_CTL:
        return ".Ar pid\n.Op Cm status | start | stop | flush | set Ar key Ns = Ns Ar value ...";
    default:
        return ".Ar";
    }
}

static bool reads_files(const tl_verb *verb)
{
    return verb->id != TL_VERB_HELP && verb->id != TL_VERB_RECORD && verb->id != TL_VERB_CTL;
}

/* A name in capitals, for titles, in `out`. */
static const char *upper_case(const char *name, char out[static NAME_SIZE])
{
    size_t n = 0;
    for (; name[n] && n + 1 < NAME_SIZE; n++)
        out[n] = capital(name[n]);
    out[n] = 0;
    return out;
}

static void put_example(FILE *f, const tl_verb *verb, const tl_example *x)
{
    fputs(tl_example_is_bare(verb, x) ? ".It Li traceloom " : ".It Li ", f);
    put_escaped(f, x->arguments);
    fprintf(f, "\n%c%s.\n", capital(x->text[0]), x->text + 1);
}

static void put_verb(FILE *f, const tl_verb *verb)
{
    char upper[NAME_SIZE];
    fprintf(f,
            ".\\\" Made by traceloom help --man %s; do not edit.\n"
            ".Dd %s\n.Dt TRACELOOM-%s 1\n.Os\n"
            ".Sh NAME\n.Nm traceloom-%s\n.Nd ",
            verb->name, PAGE_DATE, upper_case(verb->name, upper), verb->name);
    fputc(small(verb->summary[0]), f);
    fputs(verb->summary + 1, f);
    fprintf(f, "\n.Sh SYNOPSIS\n.Nm traceloom %s\n.Op Ar options\n%s\n", verb->name, arguments_of(verb));
    if (verb->alias)
        fprintf(f, ".Nm traceloom %s\n.Op Ar options\n%s\n", verb->alias, verb->as_alias->arguments);
    fputs(".Sh DESCRIPTION\n", f);
    tl_put_mdoc(f, verb->manual);
    if (reads_files(verb) && verb->id != TL_VERB_LOAD)
        tl_put_mdoc(f, "A\n.Ar FILE\nof\n.Sq -\nis standard input.\n");
    if (reads_files(verb))
        tl_put_mdoc(
            f, "The format of a file is recognised by its content; files compressed by gzip, zstd or bzip2 are read "
               "as they are.\n");
    put_options(f, verb);
    if (verb->id == TL_VERB_RECORD)
        put_settings(f);
    else if (verb->id != TL_VERB_HELP)
        put_environment(f);
    if (verb->id == TL_VERB_RECORD)
        put_record_status(f);
    else
        put_status(f, verb->id == TL_VERB_CTL);
    fputs(".Sh EXAMPLES\n.Bl -tag -width Ds\n", f);
    for (const tl_example *x = verb->example; x->arguments; x++)
        put_example(f, verb, x);
    fputs(".El\n.Sh SEE ALSO\n", f);
    fputs(verb->id == TL_VERB_RECORD ? ".Xr traceloom 1 ,\n.Xr traceloom-ctl 1 ,\n.Xr traceloom-rt 3\n"
          : verb->id == TL_VERB_CTL  ? ".Xr traceloom 1 ,\n.Xr traceloom-record 1\n"
          : verb->id == TL_VERB_LOAD
              ? ".Xr traceloom 1 ,\n.Xr traceloom-query 1 ,\n.Xr traceloom-formats 5 ,\n.Xr traceloom-schema 5\n"
          : verb->id == TL_VERB_QUERY
              ? ".Xr traceloom 1 ,\n.Xr traceloom-report 1 ,\n.Xr traceloom-formats 5 ,\n.Xr traceloom-schema 5\n"
          : reads_files(verb) ? ".Xr traceloom 1 ,\n.Xr traceloom-formats 5 ,\n.Xr traceloom-tables 5\n"
                              : ".Xr traceloom 1\n",
          f);
}

/* The next verb in the alphabet; the first for NULL. */
static const tl_verb *next_by_name(const tl_verb *after)
{
    const tl_verb *best = NULL;
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        if ((!after || strcmp(v->name, after->name) > 0) && (!best || strcmp(v->name, best->name) < 0))
            best = v;
    return best;
}

static void put_command(FILE *f)
{
    fprintf(f,
            ".\\\" Made by traceloom help --man traceloom; do not edit.\n"
            ".Dd %s\n.Dt TRACELOOM 1\n.Os\n"
            ".Sh NAME\n.Nm traceloom\n.Nd reads, analyses and converts traces\n"
            ".Sh SYNOPSIS\n.Nm\n.Ar verb\n.Op Ar options\n.Op Ar\n"
            ".Sh DESCRIPTION\n"
            ".Nm\nreads traces of several formats, which it recognises by their content,\n"
            "shows what is in them, and writes them, or profiles made from them, in other\nformats.\n"
            "The verbs are:\n"
            ".Bl -tag -width convert\n",
            PAGE_DATE);
    for (const tl_verb *v = tl_verb_table; v->name; v++) {
        fprintf(f, ".It Xr traceloom-%s 1\n%s.\n", v->name, v->summary);
        if (v->alias)
            fprintf(f, ".Cm %s :\n%c%s.\n", v->alias, small(v->as_alias->summary[0]), v->as_alias->summary + 1);
    }
    tl_put_mdoc(
        f, ".El\n"
           ".Pp\n"
           "The same options have the same names and letters in all verbs.\n"
           "Data goes to standard output, and everything else to standard error.\n"
           "A damaged trace is read as far as possible: a message says what was skipped, and the exit status is 3.\n"
           ".Bl -tag -width Ds\n"
           ".It Fl -help\nShows a short help.\n"
           ".It Fl -version Op Fl -json\nShows the version and what this build contains: libraries with their "
           "versions, formats, the recorder and the compiler.\n"
           ".El\n");
    put_environment(f);
    put_status(f, false);
    fputs(".Sh EXAMPLES\n.Bl -tag -width Ds\n", f);
    for (const tl_verb *v = tl_verb_table; v->name; v++) {
        fputs(".It Li traceloom ", f);
        put_escaped(f, v->example[0].arguments);
        fprintf(f, "\n%c%s.\n", capital(v->example[0].text[0]), v->example[0].text + 1);
    }
    fputs(".El\n.Sh SEE ALSO\n", f);
    const tl_verb *last = NULL, *next;
    while ((next = next_by_name(last))) {
        fprintf(f, "%s.Xr traceloom-%s 1", last ? " ,\n" : "", next->name);
        last = next;
    }
    fputs(" ,\n.Xr libtraceloom 3 ,\n.Xr traceloom-rt 3 ,\n.Xr traceloom-formats 5 ,\n"
          ".Xr traceloom-schema 5 ,\n.Xr traceloom-tables 5\n",
          f);
}

/* Pages of section 5. */
static const struct {
    const char *name;
    void (*put)(FILE *f);
} topic[] = {{"formats", tl_put_formats_page}, {"schema", tl_put_schema_page}, {"tables", tl_put_tables_page}};

static bool put_topic(FILE *f, const char *name)
{
    for (size_t i = 0; i < TL_COUNT(topic); i++) {
        if (strcmp(name, topic[i].name) != 0)
            continue;
        fprintf(f,
                ".\\\" Made by traceloom help --man %s; do not edit.\n"
                ".Dd %s\n.Dt TRACELOOM-%s 5\n.Os\n",
                name, PAGE_DATE, upper_case(name, (char[NAME_SIZE]){0}));
        topic[i].put(f);
        return true;
    }
    return false;
}

/* The page of a verb's other name, which refers to that of the verb. */
static void put_alias(FILE *f, const tl_verb *verb)
{
    const tl_alias *a = verb->as_alias;
    fprintf(f,
            ".\\\" Made by traceloom help --man %s; do not edit.\n"
            ".Dd %s\n.Dt TRACELOOM-%s 1\n.Os\n"
            ".Sh NAME\n.Nm traceloom-%s\n.Nd %c%s\n"
            ".Sh SYNOPSIS\n.Nm traceloom %s\n.Op Ar options\n%s\n"
            ".Sh DESCRIPTION\n",
            verb->alias, PAGE_DATE, upper_case(verb->alias, (char[NAME_SIZE]){0}), verb->alias, small(a->summary[0]),
            a->summary + 1, verb->alias, a->arguments);
    fprintf(f, "Is\n.Xr traceloom-%s 1\n", verb->name);
    tl_put_mdoc(f, a->manual);
    fputs("Options and exit status are the same.\n.Sh EXAMPLES\n.Bl -tag -width Ds\n", f);
    for (const tl_example *x = verb->example; x->arguments; x++)
        if (strncmp(x->arguments, verb->alias, strlen(verb->alias)) == 0)
            put_example(f, verb, x);
    fprintf(f, ".El\n.Sh SEE ALSO\n.Xr traceloom 1 ,\n.Xr traceloom-%s 1\n", verb->name);
}

bool tl_print_man(const char *verb, FILE *file)
{
    if (*verb == 0 || strcmp(verb, "traceloom") == 0) {
        put_command(file);
        return true;
    }
    if (put_topic(file, verb))
        return true;
    const tl_verb *v = tl_verb_find(verb);
    if (!v)
        return false;
    if (strcmp(v->name, verb) == 0)
        put_verb(file, v);
    else
        put_alias(file, v);
    return true;
}
