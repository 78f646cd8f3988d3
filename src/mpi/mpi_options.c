/* Takes its own option out of the line, and leaves the rest to the parser of the command. */
#include "mpi/mpi_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define STATE "--state"

/* What a sum can depend on, and what messages can. */
static const struct {
    const char *name, *letter;
    bool has_value;
} allowed[] = {{"--output", "-o", true},   {"--force", "-f", false},     {"--glob", "", true},
               {"--clock", "", true},      {"--by", "", true},           {"--from", "", true},
               {"--strict", "", false},    {"--no-demangle", "", false}, {"--quiet", "-q", false},
               {"--verbose", "-v", false}, {"--help", "-h", false},      {NULL, NULL, false}};

/* The number of an allowed option, or -1. */
static int find(const char *word)
{
    const bool is_long = word[1] == '-';
    const size_t n = is_long ? strcspn(word, "=") : 2;
    for (int i = 0; allowed[i].name; i++) {
        const char *name = is_long ? allowed[i].name : allowed[i].letter;
        if (strlen(name) == n && memcmp(name, word, n) == 0)
            return i;
    }
    return -1;
}

/* Copies word number *i, and the value of an option in the next one. False: the option is not allowed. */
static bool copy(tl_mpi_options *o, int *into, int n, const char *const *word, int *i, char *message)
{
    const char *w = word[*i];
    const int option = w[0] == '-' && w[1] ? find(w) : 0;
    if (option < 0) {
        snprintf(message, TL_USAGE_SIZE, "traceloom-mpi has no option %.64s; see traceloom-mpi --help", w);
        return false;
    }
    o->word[(*into)++] = w;
    const bool is_whole = w[1] == '-' ? !strchr(w, '=') : !w[2];
    if (w[0] == '-' && w[1] && allowed[option].has_value && is_whole && *i + 1 < n)
        o->word[(*into)++] = word[++*i];
    return true;
}

/* --state DIR or --state=DIR. 1: it was, and is taken; 0: another word; -1: wrong. */
static int take_state(tl_mpi_options *o, int n, const char *const *word, int *i, char *message)
{
    const char *w = word[*i];
    const size_t length = sizeof STATE - 1;
    if (strncmp(w, STATE, length) != 0 || (w[length] && w[length] != '='))
        return 0;
    o->state = w[length] ? w + length + 1 : *i + 1 < n ? word[++*i] : "";
    if (*o->state)
        return 1;
    snprintf(message, TL_USAGE_SIZE, STATE " needs a value: DIR");
    return -1;
}

static bool check(const tl_mpi_options *o, char *message)
{
    const tl_arguments *a = &o->args;
    const char *wrong = NULL;
    if (a->help)
        return true;
    if (a->by && strcmp(a->by, "name") != 0)
        wrong = "traceloom-mpi knows --by name only: other tables are made from the output";
    else if (a->file.n == 0)
        wrong = "no folder and no file to add up";
    else if (tl_to_stdout(a))
        wrong = "traceloom-mpi needs -o FILE.tlp";
    for (size_t i = 0; i < a->file.n && !wrong; i++)
        if (strcmp(a->file.word[i], "-") == 0)
            wrong = "standard input cannot be an input of traceloom-mpi";
    snprintf(message, TL_USAGE_SIZE, "%s", wrong ? wrong : "");
    return !wrong;
}

bool tl_mpi_options_parse(tl_mpi_options *o, int n, const char *const *word, char message[static TL_USAGE_SIZE])
{
    int into = 0;
    *o = (tl_mpi_options){.word = tl_alloc((size_t)n + 1, sizeof *o->word)};
    snprintf(message, TL_USAGE_SIZE, "out of memory");
    if (!o->word)
        return false;
    if (n == 0 || strcmp(word[0], "report") != 0) {
        snprintf(message, TL_USAGE_SIZE, "traceloom-mpi knows one verb, report; see traceloom-mpi --help");
        return false;
    }
    o->word[into++] = word[0];
    bool only_files = false;
    for (int i = 1; i < n; i++) {
        const int state = only_files ? 0 : take_state(o, n, word, &i, message);
        only_files = only_files || strcmp(word[i], "--") == 0;
        if (state == 0 && (only_files || strcmp(word[i], "--") == 0))
            o->word[into++] = word[i];
        else if (state < 0 || (state == 0 && !copy(o, &into, n, word, &i, message)))
            return false;
    }
    if (!tl_arguments_parse(&o->args, into, o->word, message) || !check(o, message))
        return false;
    o->args.threads = 1; /* a rank for each processor is what MPI is told about */
    return true;
}

void tl_mpi_options_fini(tl_mpi_options *o)
{
    tl_arguments_fini(&o->args);
    free(o->word);
    o->word = NULL;
}
