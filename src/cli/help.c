/* traceloom help, and the short help of every verb. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/verbs.h"
#include "traceloom/format.h"

#define HELP_WIDTH 80u

static void print_overview(void)
{
    printf("traceloom %s: reads, analyses and converts traces\n\n", tl_version());
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        printf("  %-8s %s\n", v->name, v->summary);
    printf("\n  traceloom info app.xray                  what is in it\n"
           "  traceloom report app.xray -e app         where the time goes\n"
           "  traceloom convert app.xray -o app.json   for another tool\n"
           "\ntraceloom VERB --help says more.\n");
}

/* "-o, --output FILE" */
static int option_text(char *buf, size_t size, const tl_option *o)
{
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    return snprintf(buf, size, "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
}

/* Options of the groups first .. last under the title of the first; two in a line where they fit. */
static void print_groups(const tl_verb *verb, tl_option_group first, tl_option_group last)
{
    const int half = (int)HELP_WIDTH / 2;
    int column = 0; /* 0: a new line */
    bool any = false;
    for (const tl_option *o = tl_option_table; o->name; o++) {
        if (o->group < first || o->group > last || !(o->verbs & TL_VERB_BIT(verb->id)))
            continue;
        char option[64], text[160];
        option_text(option, sizeof option, o);
        int n = snprintf(text, sizeof text, "  %-18s %s", option, o->brief);
        if (!any)
            printf("%s\n", tl_group_title(verb, first));
        any = true;
        bool second = column && column < half && n <= half;
        if (second)
            printf("%*s%s\n", half - column, "", text);
        else
            printf("%s%s", column ? "\n" : "", text);
        column = second ? 0 : n;
    }
    if (column)
        putchar('\n');
}

/* Options of a group that not everybody needs: their names, as many in a line as fit. */
static void print_names_of(const tl_verb *verb, tl_option_group group)
{
    unsigned column = 0;
    for (const tl_option *o = tl_option_table; o->name; o++) {
        const unsigned n = (unsigned)strlen(o->name) + 3;
        if (o->group != group || !(o->verbs & TL_VERB_BIT(verb->id)))
            continue;
        if (column == 0)
            printf("%s: see traceloom help %s\n ", tl_group_title(verb, group), verb->name);
        else if (column + n > HELP_WIDTH)
            printf("\n ");
        column = column == 0 || column + n > HELP_WIDTH ? 1 : column;
        column += (unsigned)printf(" --%s", o->name);
    }
    if (column)
        putchar('\n');
}

/* `whole`: nothing is left to the manual. */
static void print_help(const tl_verb *verb, bool whole)
{
    if (!verb) {
        print_overview();
        return;
    }
    printf("%s.\n", verb->summary);
    for (const tl_example *x = verb->example; x->arguments; x++) {
        char command[96];
        snprintf(command, sizeof command, "%s%s", tl_example_is_bare(verb, x) ? "traceloom " : "", x->arguments);
        printf("  %-48s  %s\n", command, x->text);
    }
    printf("\ntraceloom %s [options] %s\n", verb->name, verb->arguments);
    print_groups(verb, TL_GROUP_VERB, TL_GROUP_VERB);
    print_groups(verb, TL_GROUP_OUTPUT, TL_GROUP_OUTPUT);
    print_groups(verb, TL_GROUP_SELECT, TL_GROUP_SELECT);
    if (whole)
        print_groups(verb, TL_GROUP_INSNS, TL_GROUP_INSNS);
    else
        print_names_of(verb, TL_GROUP_INSNS);
    print_groups(verb, TL_GROUP_INPUT, TL_GROUP_ALWAYS);
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
    printf("%-14s %-12s %-12s %s\n", "format", "events", "profiles", "what it is, and its suffixes");
    for (uint32_t i = 0; i < tl_formats(); i++) {
        const tl_format_info *f = tl_format_get(i);
        printf("%-14s %-12s %-12s %s%s%s%s\n", f->name, abilities(f->can), abilities(f->can >> 2), f->summary,
               f->suffixes && *f->suffixes ? " (" : "", f->suffixes ? f->suffixes : "",
               f->suffixes && *f->suffixes ? ")" : "");
    }
}

/* Names of one kind, one a line, for completion. */
static bool print_names(const char *kind)
{
    unsigned can = strcmp(kind, "read") == 0    ? TL_CAN_READ_EVENTS | TL_CAN_READ_PROFILE
                   : strcmp(kind, "write") == 0 ? TL_CAN_WRITE_EVENTS | TL_CAN_WRITE_PROFILE
                                                : 0;
    for (uint32_t i = 0; i < tl_formats(); i++)
        if (tl_format_get(i)->can & can)
            puts(tl_format_get(i)->name);
    return can != 0;
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
        tl_say_error(NULL, "help: there is no verb %s; see traceloom --help", name);
        return TL_EXIT_USAGE;
    }
    if (!show_page(verb ? verb->name : ""))
        print_help(verb, true);
    return TL_EXIT_DONE;
}

int tl_verb_help(tl_cli *c, int argc, const char *const *argv)
{
    (void)c;
    bool known = true;
    if (argc == 0) {
        print_overview();
    } else if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        tl_print_help(tl_verb_find("help"));
    } else if (argc == 2 && strcmp(argv[0], "--man") == 0) {
        known = tl_print_man(argv[1], stdout);
    } else if (argc == 2 && strcmp(argv[0], "--completion") == 0) {
        known = tl_print_completion(argv[1]);
    } else if (argc == 2 && strcmp(argv[0], "--names") == 0) {
        known = print_names(argv[1]);
    } else if (argc > 1 || argv[0][0] == '-') {
        tl_say_error(NULL, "help: expected the name of one verb, or formats");
        return TL_EXIT_USAGE;
    } else if (strcmp(argv[0], "formats") == 0) {
        print_formats();
    } else {
        return help_verb(argv[0]);
    }
    if (!known)
        tl_say_error(NULL, "help: %s %s: there is no such thing", argv[0], argv[1]);
    return known ? TL_EXIT_DONE : TL_EXIT_USAGE;
}
