/* traceloom help, and the short help of every verb. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/table_kind.h"
#include "base/compiler.h"
#include "cli/message.h"
#include "cli/nearest.h"
#include "cli/query/query_print.h"
#include "cli/record/control_page.h"
#include "cli/verbs.h"
#include "traceloom/format.h"
#include "traceloom/query.h"
#include "view/view.h"

#define HELP_WIDTH 80u /* at most */
#define HELP_LEAST 40u

static unsigned help_width = HELP_WIDTH;

/* Prints text from column `at` on, wrapped between words. */
static void print_wrapped(const char *text, unsigned at, unsigned width)
{
    unsigned column = at;
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        if (column > at && column + 1 + n > width) {
            printf("\n%*s", (int)at, "");
            column = at;
        }
        column += (unsigned)printf("%s%.*s", column > at ? " " : "", (int)n, text);
    }
    putchar('\n');
}

/* An example and its description, on the next line if both are too long for one. */
static void print_example(const char *command, int width, const char *text)
{
    if ((size_t)width + 4 + strlen(text) <= help_width || help_width == HELP_WIDTH) {
        printf("  %-*s  %s\n", width, command, text);
        return;
    }
    printf("  %s\n      ", command);
    print_wrapped(text, 6, help_width);
}

static void print_verb(const tl_verb *v)
{
    print_wrapped(v->summary, (unsigned)printf("  %-8s ", v->name), help_width);
}

static void print_overview(void)
{
    printf("traceloom %s: reads, analyses and converts traces\n\n", tl_version());
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        print_verb(v);
    putchar('\n');
    print_example("traceloom info app.xray", 42, "what is in it");
    print_example("traceloom report app.xray -e app", 42, "where the time goes");
    print_example("traceloom convert app.xray -o app.pftrace", 42, "for another tool");
    printf("\ntraceloom VERB --help says more.\n");
}

/* "  -o, --output FILE  write here, format by suffix" */
static int option_text(char *buf, size_t size, const tl_option *o)
{
    char letter[8] = "    ", option[64];
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(option, sizeof option, "%s--%s%s%s", letter, o->name, o->value && !tl_option_may_stand_alone(o) ? " " : "",
             o->value ? o->value : "");
    return snprintf(buf, size, "  %-18s %s%s", option, strlen(option) > 17 ? " " : "", o->brief);
}

/* The tables of --by, one line for each source they are made from. */
static void print_tables_by_need(void)
{
    size_t n;
    const tl_table_kind *const *kind = tl_table_kinds(&n);
    for (size_t i = 0; i < n; i++) {
        const char *needs = kind[i]->info.needs;
        size_t before = 0;
        while (strcmp(kind[before]->info.needs, needs) != 0)
            before++;
        if (before < i)
            continue;
        int column = printf("%10s%s:", "", needs);
        for (size_t k = i; k < n; k++) {
            if (strcmp(kind[k]->info.needs, needs) != 0)
                continue;
            if (column + (int)strlen(kind[k]->info.name) >= (int)help_width)
                column = printf("\n%11s", "") - 1;
            column += printf(" %s", kind[k]->info.name);
        }
        putchar('\n');
    }
}

/* Options of the groups first .. last under the title of the first; two per line if they fit. */
static void print_groups(const tl_verb *verb, tl_option_group first, tl_option_group last)
{
    const int half = help_width < HELP_WIDTH ? 0 : (int)help_width / 2; /* where a second option begins */
    int column = 0;                                                     /* 0: a new line */
    bool any = false;
    for (const tl_option *o = tl_option_table; o->name; o++) {
        if (o->group < first || o->group > last || !(o->verbs & TL_VERB_BIT(verb->id)))
            continue;
        char text[160];
        int n = option_text(text, sizeof text, o);
        if (!any)
            printf("%s\n", tl_group_title(verb, first));
        any = true;
        bool second = column && column < half && n <= half;
        if (second)
            printf("%*s%s\n", half - column, "", text);
        else if ((unsigned)n <= help_width)
            printf("%s%s", column ? "\n" : "", text);
        else {
            const int at = n - (int)strlen(o->brief);
            printf("%s%.*s", column ? "\n" : "", at, text);
            print_wrapped(o->brief, (unsigned)at, help_width);
        }
        column = second || (unsigned)n > help_width ? 0 : n;
        if (o->place == offsetof(tl_arguments, by)) {
            printf("%s", column ? "\n" : "");
            print_tables_by_need();
            column = 0;
        }
    }
    if (column)
        putchar('\n');
}

/* The names of a group's less common options, as many per line as fit. */
static void print_names_of(const tl_verb *verb, tl_option_group group)
{
    unsigned column = 0;
    for (const tl_option *o = tl_option_table; o->name; o++) {
        const unsigned n = (unsigned)strlen(o->name) + 3;
        if (o->group != group || !(o->verbs & TL_VERB_BIT(verb->id)))
            continue;
        if (column == 0)
            printf("%s: see traceloom help %s\n ", tl_group_title(verb, group), verb->name);
        else if (column + n > help_width)
            printf("\n ");
        column = column == 0 || column + n > help_width ? 1 : column;
        column += (unsigned)printf(" --%s", o->name);
    }
    if (column)
        putchar('\n');
}

/* `whole`: leaves nothing to the manual. */
static void print_help(const tl_verb *verb, bool whole)
{
    tl_terminal t;
    tl_terminal_init(&t, STDOUT_FILENO, TL_COLOR_NEVER);
    if (t.tty && t.width < HELP_WIDTH)
        help_width = t.width > HELP_LEAST ? t.width : HELP_LEAST;
    if (!verb) {
        print_overview();
        return;
    }
    char summary[128];
    snprintf(summary, sizeof summary, "%s.", verb->summary);
    print_wrapped(summary, 0, help_width);
    for (const tl_example *x = verb->example; x->arguments; x++) {
        char command[96];
        snprintf(command, sizeof command, "%s%s", tl_example_is_bare(verb, x) ? "traceloom " : "", x->arguments);
        print_example(command, 48, x->text);
    }
    printf("\ntraceloom %s [options] %s\n", verb->name, verb->arguments);
    print_groups(verb, TL_GROUP_VERB, TL_GROUP_VERB);
    print_groups(verb, TL_GROUP_OUTPUT, TL_GROUP_OUTPUT);
    print_groups(verb, TL_GROUP_SELECT, TL_GROUP_SELECT);
    for (tl_option_group g = TL_GROUP_INSNS; g <= TL_GROUP_DOTNET; g++)
        if (whole)
            print_groups(verb, g, g);
        else
            print_names_of(verb, g);
    print_groups(verb, TL_GROUP_INPUT, TL_GROUP_INPUT);
    print_groups(verb, TL_GROUP_ALWAYS, TL_GROUP_ALWAYS);
}

void tl_print_help(const tl_verb *verb)
{
    print_help(verb, false);
}

static const char *abilities(unsigned can)
{
    static const char *const event[] = {"-", "read", "write", "read, write"};
    return event[can & 3];
}

static void print_formats(void)
{
    enum { BEFORE = 44 }; /* columns before the text */
    tl_terminal t;
    tl_terminal_init(&t, STDOUT_FILENO, TL_COLOR_AUTO);
    const unsigned width = t.tty ? t.width : UINT_MAX, at = width > BEFORE + 20u ? BEFORE : 4;
    printf("%s%-14s  %-12s  %-12s  %s%s\n", tl_style_on(&t, TL_HEADER), "format", "events", "profiles",
           "what it is, and its suffixes", tl_style_on(&t, TL_PLAIN_TEXT));
    for (uint32_t i = 0; i < tl_formats(); i++) {
        const tl_format_info *f = tl_format_get(i);
        const bool suffix = f->suffixes && *f->suffixes;
        char text[256];
        printf("%-14s  %-12s  %-12s  ", f->name, abilities(f->can), abilities(f->can >> 2));
        snprintf(text, sizeof text, "%s%s%s%s", f->summary, suffix ? " (" : "", suffix ? f->suffixes : "",
                 suffix ? ")" : "");
        if (at < BEFORE)
            printf("\n%*s", (int)at, "");
        print_wrapped(text, at, width);
    }
}

/* Each option, for tests of the table: verb, letter (or -), name, name of its value (or -), and words. */
static bool print_options(void)
{
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        for (const tl_option *o = tl_option_table; o->name; o++)
            if (o->verbs & TL_VERB_BIT(v->id))
                printf("%s\t%c\t%s\t%s\t%s\n", v->name, o->letter ? o->letter : '-', o->name, o->value ? o->value : "-",
                       o->values ? o->values : "-");
    return true;
}

/* Names of one kind, one per line, for completion. */
static bool print_names(const char *kind)
{
    if (strcmp(kind, "options") == 0)
        return print_options();
    static const struct {
        const char *kind;
        unsigned can;
        bool views; /* of tables */
    } all[] = {{"read", TL_CAN_READ_EVENTS | TL_CAN_READ_PROFILE, false},
               {"convert", TL_CAN_WRITE_EVENTS | TL_CAN_WRITE_PROFILE, false},
               {"cat", TL_CAN_WRITE_EVENTS | TL_CAN_WRITE_PROFILE, false},
               {"report", TL_CAN_WRITE_PROFILE, true},
               {"info", 0, true}};
    if (strcmp(kind, "processes") == 0) {
        tl_control_print_pids();
        return true;
    }
    for (uint32_t i = 0; strcmp(kind, "recipes") == 0 && i < tl_recipes(); i++)
        puts(tl_recipe_name(i));
    if (strcmp(kind, "recipes") == 0)
        return true;
    for (const tl_result_form *r = tl_result_forms; strcmp(kind, "query") == 0 && r->name; r++)
        puts(r->name);
    if (strcmp(kind, "query") == 0)
        return true;
    for (size_t k = 0; k < TL_COUNT(all); k++) {
        if (strcmp(kind, all[k].kind) != 0)
            continue;
        for (uint32_t i = 0; i < tl_formats(); i++)
            if (tl_format_get(i)->can & all[k].can)
                puts(tl_format_get(i)->name);
        size_t n;
        const tl_view *const *view = tl_views(&n);
        for (size_t i = 0; all[k].views && i < n; i++)
            puts(view[i]->name);
        if (strcmp(kind, "report") == 0)
            puts("html"); /* a page is neither */
        return true;
    }
    return false;
}

/* Shows the page through man, which finds the pager; false if there is no man or it fails. */
static bool show_page(const char *verb)
{
    if (!isatty(STDOUT_FILENO) || system("command -v man >/dev/null 2>&1") != 0)
        return false;
    fflush(stdout);
    FILE *man = popen("man -l - 2>/dev/null", "w");
    if (!man)
        return false;
    tl_print_man(verb, man);
    return pclose(man) == 0;
}

static int help_verb(const char *name)
{
    const tl_verb *verb = tl_verb_find(name);
    if (!verb && strcmp(name, "traceloom") != 0) {
        const char *nearest = tl_nearest_verb(name, "formats", "tables");
        tl_say_error(NULL, "help: there is no verb %s; %s%s%s", name,
                     nearest ? "did you mean " : "see traceloom --help", nearest ? nearest : "", nearest ? "?" : "");
        return TL_EXIT_USAGE;
    }
    if (!show_page(verb ? verb->name : ""))
        print_help(verb, true);
    return TL_EXIT_DONE;
}

static bool print_man(const char *page)
{
    return tl_print_man(page, stdout);
}

/* Options of help that generate something: for the build, and for completion. */
static const struct maker {
    const char *option, *expected;
    bool (*print)(const char *what);
} makers[] = {{"--man", "traceloom, formats, schema, tables, or the name of a verb", print_man},
              {"--tables", "markdown", tl_print_tables_as},
              {"--schema", "markdown", tl_print_schema_as},
              {"--completion", "bash, zsh or fish", tl_print_completion},
              {"--names", "read, convert, report, info, query, recipes, processes or options", print_names}};

static int make(const struct maker *m, int argc, const char *const *argv)
{
    if (argc == 1 && m->print(argv[0]))
        return TL_EXIT_DONE;
    tl_say_error(NULL, "help: %s%s%s: expected %s", m->option, argc ? " " : "", argc ? argv[0] : "", m->expected);
    return TL_EXIT_USAGE;
}

int tl_verb_help(tl_cli *c, int argc, const char *const *argv)
{
    (void)c;
    for (size_t i = 0; argc > 0 && i < TL_COUNT(makers); i++)
        if (strcmp(argv[0], makers[i].option) == 0)
            return make(&makers[i], argc - 1, argv + 1);
    if (argc == 0) {
        tl_print_help(NULL);
    } else if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        tl_print_help(tl_verb_find("help"));
    } else if (argv[0][0] == '-') {
        tl_say_error(NULL, "help: unknown option %.64s; see traceloom help --help", argv[0]);
        return TL_EXIT_USAGE;
    } else if (argc > 1) {
        tl_say_error(NULL, "help: expected one word: a verb, formats or tables");
        return TL_EXIT_USAGE;
    } else if (strcmp(argv[0], "formats") == 0) {
        print_formats();
    } else if (strcmp(argv[0], "tables") == 0) {
        tl_print_tables();
    } else {
        return help_verb(argv[0]);
    }
    return TL_EXIT_DONE;
}
