/* Completion scripts for bash, zsh and fish, made from the tables. Names of formats are looked up when needed. */
#include <stdio.h>
#include <string.h>

#include "cli/verbs.h"

enum { COMMAND_SIZE = 64 };

#define CTL_COMMANDS "status start stop flush set"

static bool knows(const tl_option *o, const tl_verb *v)
{
    return o->verbs & TL_VERB_BIT(v->id);
}

/* Completions of a value: words, or a command that prints them, or NULL for files. `verb` is a word for the shell. */
static const char *words_of(const tl_option *o, const char *verb, char buf[static COMMAND_SIZE])
{
    if (!o->values)
        return "";
    if (strcmp(o->values, "@file") == 0)
        return NULL;
    if (o->values[0] != '@')
        return o->values;
    snprintf(buf, COMMAND_SIZE, "$(traceloom help --names %s)",
             strcmp(o->values, "@write") == 0 ? verb : o->values + 1);
    return buf;
}

static void print_verbs(void)
{
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        printf("%s%s%s%s", v->name, v->alias ? " " : "", v->alias ? v->alias : "", v[1].name ? " " : "");
}

/* Do several options have its name, each of other verbs? */
static bool is_ambiguous(const tl_option *o)
{
    unsigned n = 0;
    for (const tl_option *other = tl_option_table; other->name; other++)
        n += strcmp(other->name, o->name) == 0;
    return n > 1;
}

/* "report --clock" | "diff --clock" */
static void print_bash_verbs_of(const tl_option *o)
{
    const char *between = "    ";
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        if (knows(o, v)) {
            printf("%s\"%s --%s\"", between, v->name, o->name);
            if (v->alias)
                printf(" | \"%s --%s\"", v->alias, o->name);
            between = " | ";
        }
}

static void print_bash_values(bool ambiguous)
{
    for (const tl_option *o = tl_option_table; o->name; o++) {
        if (!o->value || tl_option_may_stand_alone(o) || is_ambiguous(o) != ambiguous)
            continue; /* the next word is no value */
        char command[COMMAND_SIZE];
        const char *words = words_of(o, "${COMP_WORDS[1]}", command);
        if (ambiguous)
            print_bash_verbs_of(o);
        else
            printf("    --%s", o->name);
        if (o->letter)
            printf("|-%c", o->letter);
        if (!words)
            printf(")\n        _traceloom_files\n        return ;;\n");
        else
            printf(")\n        COMPREPLY=($(compgen -W \"%s\" -- \"$cur\"))\n        return ;;\n", words);
    }
}

/* What may follow a verb besides options. */
static void print_bash_verb(const tl_verb *v)
{
    printf("    %s%s%s)\n", v->name, v->alias ? "|" : "", v->alias ? v->alias : "");
    if (v->id == TL_VERB_HELP) {
        printf("        COMPREPLY=($(compgen -W \"");
        print_verbs();
        printf(" formats\" -- \"$cur\"))\n        return ;;\n");
        return;
    }
    printf("        options=\"");
    const char *blank = "";
    for (const tl_option *o = tl_option_table; o->name; o++)
        if (knows(o, v)) {
            printf("%s--%s", blank, o->name);
            blank = " ";
        }
    printf("\"");
    if (v->id == TL_VERB_CTL)
        printf("\n        ((COMP_CWORD == 2)) && words=$(traceloom help --names processes) || words=\"" CTL_COMMANDS
               "\"");
    printf(" ;;\n");
}

static void print_bash(void)
{
    printf("# Made by traceloom help --completion bash; do not edit.\n"
           "_traceloom_files()\n{\n"
           "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
           "}\n\n"
           "_traceloom()\n{\n"
           "    local cur prev options words=\n"
           "    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        COMPREPLY=($(compgen -W \"");
    print_verbs();
    printf(" --help --version\" -- \"$cur\"))\n        return\n    fi\n"
           "    if [[ $cur == = ]]; then\n        cur=\n"
           "    elif [[ $prev == = ]]; then\n        prev=${COMP_WORDS[COMP_CWORD-2]}\n    fi\n"
           "    case \"${COMP_WORDS[1]} $prev\" in\n");
    print_bash_values(true);
    printf("    esac\n    case $prev in\n");
    print_bash_values(false);
    printf("    esac\n    case ${COMP_WORDS[1]} in\n");
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        print_bash_verb(v);
    printf("    esac\n"
           "    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
           "    elif [[ -n $words ]]; then\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "    else\n        _traceloom_files\n    fi\n"
           "}\ncomplete -o filenames -F _traceloom traceloom\n");
}

/* Text within '...[...]' of zsh, or '...' of fish. */
static void print_quoted(const char *s)
{
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", stdout);
        else if (*s == '[' || *s == ']' || *s == ':')
            printf("\\%c", *s);
        else
            putchar(*s);
}

static void print_zsh_option(const tl_option *o)
{
    printf("        ");
    const bool may_lack = tl_option_may_stand_alone(o);
    if (o->letter)
        printf("'(-%c --%s)'{-%c%s,--%s%s}'", o->letter, o->name, o->letter, o->value ? "+" : "", o->name,
               o->value ? "=" : "");
    else
        printf("'--%s%s", o->name, may_lack ? "=-" : o->value ? "=" : "");
    printf("[");
    print_quoted(o->brief);
    printf("]");
    if (o->value) {
        char command[COMMAND_SIZE];
        const char *words = words_of(o, "$verb", command);
        printf("%s:%s:", may_lack ? ":" : "", may_lack ? "size" : o->value);
        if (!words)
            printf("_files");
        else if (strncmp(words, "$(", 2) == 0)
            printf("(${(f)\"%s\"})", words);
        else
            printf("(%s)", words);
    }
    printf("' \\\n");
}

/* The other words of a verb. */
static void print_zsh_words(const tl_verb *v)
{
    if (v->id == TL_VERB_RECORD)
        printf("        '(-)1:program:{_command_names -e || _files}' '*::argument:_normal' ;;\n");
    else if (v->id == TL_VERB_CTL)
        printf("        '1:process:(${(f)\"$(traceloom help --names processes)\"})' '2:command:(" CTL_COMMANDS
               ")' '*:setting:' ;;\n");
    else
        printf("        '*:file:_files' ;;\n");
}

static void print_zsh(void)
{
    printf("#compdef traceloom\n# Made by traceloom help --completion zsh; do not edit.\n"
           "local -a verbs\nverbs=(\n");
    for (const tl_verb *v = tl_verb_table; v->name; v++) {
        printf("    '%s:", v->name);
        print_quoted(v->summary);
        printf("'\n");
        if (v->alias)
            printf("    '%s:%c%s'\n", v->alias, v->as_alias->summary[0] | 0x20, v->as_alias->summary + 1);
    }
    printf(")\n"
           "if ((CURRENT == 2)); then\n    _describe verb verbs\n    return\nfi\n"
           "local verb=$words[2]\nshift words\n((CURRENT--))\n"
           "case $verb in\n");
    for (const tl_verb *v = tl_verb_table; v->name; v++) {
        printf("%s%s%s)\n", v->name, v->alias ? "|" : "", v->alias ? v->alias : "");
        if (v->id == TL_VERB_HELP) {
            printf("    verbs+=('formats:what can be read and written')\n    _describe verb verbs ;;\n");
            continue;
        }
        printf("    _arguments -s \\\n");
        for (const tl_option *o = tl_option_table; o->name; o++)
            if (knows(o, v))
                print_zsh_option(o);
        print_zsh_words(v);
    }
    printf("esac\n");
}

static void print_fish_option(const tl_option *o, const tl_verb *v)
{
    printf("complete -c traceloom -n '__fish_seen_subcommand_from %s%s%s' -l %s", v->name, v->alias ? " " : "",
           v->alias ? v->alias : "", o->name);
    if (o->letter)
        printf(" -s %c", o->letter);
    if (o->value && !tl_option_may_stand_alone(o)) {
        char command[COMMAND_SIZE];
        const char *words = words_of(o, v->name, command);
        if (!words)
            printf(" -r -F");
        else if (strncmp(words, "$(", 2) == 0)
            printf(" -x -a '(%.*s)'", (int)strlen(words) - 3, words + 2);
        else if (*words)
            printf(" -x -a '%s'", words);
        else
            printf(" -x");
    }
    printf(" -d '%s'\n", o->brief);
}

static void print_fish(void)
{
    printf("# Made by traceloom help --completion fish; do not edit.\n");
    for (const tl_verb *v = tl_verb_table; v->name; v++) {
        printf("complete -c traceloom -f -n __fish_use_subcommand -a %s -d '%s'\n", v->name, v->summary);
        if (v->alias)
            printf("complete -c traceloom -f -n __fish_use_subcommand -a %s -d '%s'\n", v->alias, v->as_alias->summary);
    }
    for (const tl_verb *v = tl_verb_table; v->name; v++) {
        for (const tl_option *o = tl_option_table; o->name; o++)
            if (knows(o, v) && v->id != TL_VERB_HELP)
                print_fish_option(o, v);
    }
    printf("complete -c traceloom -f -n '__fish_seen_subcommand_from ctl' -a '" CTL_COMMANDS "'\n"
           "complete -c traceloom -f -n '__fish_seen_subcommand_from ctl' -a '(traceloom help --names processes)'\n"
           "complete -c traceloom -n '__fish_seen_subcommand_from record' -a '(__fish_complete_command)'\n"
           "complete -c traceloom -f -n __fish_use_subcommand -l version -d 'What this build is'\n"
           "complete -c traceloom -f -n __fish_use_subcommand -l help -d 'A short help'\n"
           "complete -c traceloom -f -n '__fish_seen_subcommand_from help' -a '");
    print_verbs();
    printf(" formats'\n");
}

bool tl_print_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else if (strcmp(shell, "fish") == 0)
        print_fish();
    else
        return false;
    return true;
}
