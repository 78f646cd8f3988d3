/* Parses a command line by the table of options, and suggests words for mistyped ones. */
#include "cli/options.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/instruction/reuse_table.h"
#include "base/compiler.h"
#include "base/text/number.h"
#include "cli/nearest.h"

#define CHOICES_MAX  32u   /* more words than any option allows */
#define WORKERS_MAX  1024u /* of --threads */
#define PERCENT_MOST 16    /* bytes of a percentage */
#define RUNS_MOST    999u  /* of --runs: names have three digits */
#define VALUE_SHOWN  64    /* bytes shown of a wrong value: the mistake matters more */

const tl_verb *tl_verb_find(const char *name)
{
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        if (strcmp(v->name, name) == 0 || (v->alias && strcmp(v->alias, name) == 0))
            return v;
    return NULL;
}

/* State of the parser. */
typedef struct tl_option_parser {
    tl_arguments *a;
    size_t argc; /* all words, and parts of lists: an upper bound for each list */
    char *message;
} parser;

TL_PRINTF(2, 3) static bool wrong(parser *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(p->message, TL_USAGE_SIZE, format, list);
    va_end(list);
    return false;
}

static bool add_word(parser *p, tl_words *words, const char *word)
{
    if (!words->word) {
        words->word = calloc(p->argc, sizeof *words->word);
        if (!words->word) {
            p->a->no_memory = true;
            return wrong(p, "out of memory");
        }
    }
    words->word[words->n++] = word;
    return true;
}

bool tl_to_stdout(const tl_arguments *a)
{
    return !a->output || strcmp(a->output, "-") == 0;
}

/* "--top x: expected a whole number": reports a wrong value of an option. */
TL_PRINTF(4, 5) static bool bad_value(parser *p, const tl_option *o, const char *value, const char *format, ...)
{
    char text[TL_USAGE_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return wrong(p, "--%s %.*s%s: %s", o->name, VALUE_SHOWN, value, strlen(value) > VALUE_SHOWN ? "..." : "", text);
}

/* The word of a space-separated list that was probably meant: NULL, or one in `copy`. */
static const char *nearest_choice(const char *value, const char *list, char copy[static TL_USAGE_SIZE])
{
    const char *candidate[CHOICES_MAX];
    size_t n = 0;
    char *rest = NULL;
    snprintf(copy, TL_USAGE_SIZE, "%s", list);
    for (char *w = strtok_r(copy, " ", &rest); w && n < CHOICES_MAX; w = strtok_r(NULL, " ", &rest))
        candidate[n++] = w;
    return tl_nearest(value, candidate, n);
}

/* The index of the value among the words that the option allows; -1: not there. */
static int choice(parser *p, const tl_option *o, const char *value)
{
    char copy[TL_USAGE_SIZE];
    const int place = tl_word_place(value, o->values);
    if (place >= 0)
        return place;
    const char *ours = o->place == offsetof(tl_arguments, by) ? tl_table_of_others(value) : NULL;
    const char *nearest = nearest_choice(value, o->values, copy);
    if (ours)
        bad_value(p, o, value, "%s", ours);
    else
        bad_value(p, o, value, "expected one of: %s%s%s%s", o->values, nearest ? "; did you mean " : "",
                  nearest ? nearest : "", nearest ? "?" : "");
    return -1;
}

static void *member(tl_arguments *a, const tl_option *o)
{
    return (char *)a + o->place;
}

bool tl_take_flag(parser *p, const tl_option *o, const char *value)
{
    (void)value;
    return *(bool *)member(p->a, o) = true;
}

bool tl_take_text(parser *p, const tl_option *o, const char *value)
{
    *(const char **)member(p->a, o) = value;
    return true;
}

/* "": the option stood alone. */
bool tl_take_optional(parser *p, const tl_option *o, const char *value)
{
    return tl_take_text(p, o, value ? value : "");
}

bool tl_take_choice(parser *p, const tl_option *o, const char *value)
{
    return choice(p, o, value) >= 0 && tl_take_text(p, o, value);
}

/* A number of things, at least 1: "100", "64k", "100M". */
bool tl_take_amount(parser *p, const tl_option *o, const char *value)
{
    uint64_t v;
    if (!tl_parse_count(value, &v) || v == 0)
        return bad_value(p, o, value, "expected a number such as 1000, 64k or 100M");
    *(uint64_t *)member(p->a, o) = v;
    return true;
}

bool tl_take_word(parser *p, const tl_option *o, const char *value)
{
    return add_word(p, member(p->a, o), value);
}

static bool number(parser *p, const tl_option *o, const char *value, uint32_t max)
{
    uint64_t v;
    char most[32];
    if (!tl_parse_u64(value, &v) || v > max)
        return bad_value(p, o, value, "expected a whole number up to %s", tl_human_grouped(most, sizeof most, max));
    *(uint32_t *)member(p->a, o) = (uint32_t)v;
    return true;
}

bool tl_take_top(parser *p, const tl_option *o, const char *value)
{
    p->a->has_top = true;
    return number(p, o, value, UINT32_MAX);
}

bool tl_take_rows(parser *p, const tl_option *o, const char *value)
{
    p->a->has_rows = tl_parse_u64(value, &p->a->rows);
    return p->a->has_rows || bad_value(p, o, value, "expected a number of rows");
}

bool tl_take_depth(parser *p, const tl_option *o, const char *value)
{
    return number(p, o, value, UINT32_MAX) &&
           (p->a->depth || wrong(p, "--depth 0: the outermost function has depth 1"));
}

bool tl_take_pid(parser *p, const tl_option *o, const char *value)
{
    return number(p, o, value, INT32_MAX) && (p->a->pid || bad_value(p, o, value, "expected the number of a process"));
}

bool tl_take_port(parser *p, const tl_option *o, const char *value)
{
    return number(p, o, value, UINT16_MAX) && (p->a->port || bad_value(p, o, value, "expected the number of a port"));
}

bool tl_take_duration(parser *p, const tl_option *o, const char *value)
{
    uint64_t ns;
    if (!tl_parse_duration(value, &ns) || ns == 0)
        return bad_value(p, o, value, "expected a time such as 10s");
    if (!value[strspn(value, "0123456789.")]) /* ns, which nobody means */
        return bad_value(p, o, value, "expected a time with its unit, such as 10s");
    *(uint64_t *)member(p->a, o) = ns;
    return true;
}

bool tl_take_workers(parser *p, const tl_option *o, const char *value)
{
    return number(p, o, value, WORKERS_MAX);
}

bool tl_take_jobs(parser *p, const tl_option *o, const char *value)
{
    return number(p, o, value, TL_JOBS_MAX) && (p->a->jobs || bad_value(p, o, value, "expected at least 1"));
}

/* "5%" or "5": 0.05. */
bool tl_take_percent(parser *p, const tl_option *o, const char *value)
{
    const size_t n = strspn(value, "0123456789.");
    tl_percent *to = member(p->a, o);
    char *end = NULL;
    if (n == 0 || n > PERCENT_MOST || (value[n] && strcmp(value + n, "%") != 0))
        return bad_value(p, o, value, "expected a percentage such as 5%%");
    to->share = strtod(value, &end) / 100;
    to->given = end == value + n;
    return to->given || bad_value(p, o, value, "expected a percentage such as 5%%");
}

bool tl_take_repeat(parser *p, const tl_option *o, const char *value)
{
    return number(p, o, value, RUNS_MOST) &&
           (*(uint32_t *)member(p->a, o) || bad_value(p, o, value, "expected at least 1"));
}

bool tl_take_line_size(parser *p, const tl_option *o, const char *value)
{
    uint64_t v;
    char most[32];
    if (!tl_parse_u64(value, &v) || v == 0 || v > TL_REUSE_LINE_LARGEST || v & (v - 1))
        return bad_value(p, o, value, "expected a power of two up to %s",
                         tl_human_grouped(most, sizeof most, TL_REUSE_LINE_LARGEST));
    p->a->line_size = (uint32_t)v;
    return true;
}

bool tl_take_at(parser *p, const tl_option *o, const char *value)
{
    p->a->has_at = true;
    return tl_parse_count(value, &p->a->at) || bad_value(p, o, value, "expected the number of an instruction");
}

bool tl_take_level(parser *p, const tl_option *o, const char *value)
{
    const int level = choice(p, o, value);
    if (level >= 0)
        p->a->levels |= 1u << level;
    return level >= 0;
}

bool tl_take_weight(parser *p, const tl_option *o, const char *value)
{
    static const char *const weights[] = {"samples", "time", "alloc_space", "alloc_objects"}; /* in their order */
    const int word = choice(p, o, value);
    return word >= 0 && tl_take_text(p, o, weights[word]);
}

bool tl_take_color(parser *p, const tl_option *o, const char *value)
{
    const int word = choice(p, o, value);
    p->a->color = (tl_color)word;
    return word >= 0;
}

bool tl_take_version(parser *p, const tl_option *o, const char *value)
{
    if (value[0] < '1' || value[0] > '9' || value[strspn(value, "0123456789.")] != '\0')
        return bad_value(p, o, value, "expected a version such as 5 or 1.8");
    return tl_take_text(p, o, value);
}

/* The last of --quiet and --verbose counts. */
bool tl_take_quiet(parser *p, const tl_option *o, const char *value)
{
    p->a->verbose = false;
    return tl_take_flag(p, o, value);
}

bool tl_take_verbose(parser *p, const tl_option *o, const char *value)
{
    p->a->quiet = false;
    return tl_take_flag(p, o, value);
}

/* "4711,4712": each of the ids; anything else is one pattern. */
bool tl_take_threads(parser *p, const tl_option *o, const char *value)
{
    if (!strchr(value, ',') || value[strspn(value, "0123456789,")])
        return tl_take_word(p, o, value);
    char *copy = strdup(value), *rest = NULL;
    if (!copy) {
        p->a->no_memory = true;
        return wrong(p, "out of memory");
    }
    if (!add_word(p, &p->a->copied, copy)) {
        free(copy);
        return false;
    }
    for (char *id = strtok_r(copy, ",", &rest); id; id = strtok_r(NULL, ",", &rest))
        if (!tl_take_word(p, o, id))
            return false;
    return p->a->thread.n > 0 || wrong(p, "--thread %s: expected a name or ids, such as 4711,4712", value);
}

/* The option with a long name (n bytes) or, if name is NULL, a letter: of the verb, else of any. */
static const tl_option *find_option(const tl_verb *verb, const char *name, size_t n, char letter)
{
    const tl_option *found = NULL;
    for (const tl_option *o = tl_option_table; o->name; o++) {
        const bool is = name ? strlen(o->name) == n && memcmp(o->name, name, n) == 0 : o->letter == letter;
        if (is && verb && o->verbs & TL_VERB_BIT(verb->id))
            return o;
        if (is && !found)
            found = o;
    }
    return found;
}

/* Says that the verb has no such option, and suggests one. */
static bool unknown(parser *p, const char *word, size_t n, const tl_option *of_another_verb)
{
    const tl_verb *verb = p->a->verb;
    if (of_another_verb) {
        for (const tl_verb *v = tl_verb_table; v->name; v++)
            if (of_another_verb->verbs & TL_VERB_BIT(v->id))
                return wrong(p, "%s has no option %.*s (%s has)", tl_called(p->a), (int)n, word, v->name);
    }
    if (word[1] == '-' && n - 2 <= TL_WORD_MAX) {
        const char *candidate[64];
        size_t count = 0;
        for (const tl_option *o = tl_option_table; o->name && count < TL_COUNT(candidate); o++)
            if (o->verbs & TL_VERB_BIT(verb->id))
                candidate[count++] = o->name;
        char name[TL_WORD_MAX + 1];
        memcpy(name, word + 2, n - 2);
        name[n - 2] = 0;
        const tl_option *by = find_option(p->a->verb, "by", 2, 0);
        if (verb->id == TL_VERB_REPORT && tl_word_place(name, by->values) >= 0)
            return wrong(p, "unknown option %.*s; did you mean --by %s?", (int)n, word, name);
        const char *nearest = tl_nearest(name, candidate, count);
        if (nearest)
            return wrong(p, "unknown option %.*s; did you mean --%s?", (int)n, word, nearest);
    }
    return wrong(p, "unknown option %.*s; see traceloom %s --help", n > VALUE_SHOWN ? VALUE_SHOWN : (int)n, word,
                 tl_called(p->a));
}

/* Takes the option in argv[*at], and the next word if that is its value. */
static bool take_option(parser *p, int argc, const char *const *argv, int *at)
{
    const char *word = argv[*at], *value = NULL;
    bool is_long = word[1] == '-';
    size_t n = is_long ? strcspn(word, "=") : 2; /* length of the option itself */
    const tl_option *o =
        is_long ? find_option(p->a->verb, word + 2, n - 2, 0) : find_option(p->a->verb, NULL, 0, word[1]);
    if (!o || !(o->verbs & TL_VERB_BIT(p->a->verb->id)))
        return unknown(p, word, is_long ? n : strlen(word), o);
    if (word[n])
        value = word + n + is_long; /* --name=value, -nvalue */
    if (!o->value) {
        if (value && is_long)
            return wrong(p, "%.*s takes no value", (int)n, word);
        if (value)
            return wrong(p, "unknown option %s; short options stand alone: -%c", word, word[1]);
    } else if (!value && !tl_option_may_stand_alone(o)) {
        if (*at + 1 >= argc)
            return wrong(p, "%s needs a value: %s", word, o->value);
        value = argv[++*at];
    }
    if (value && !*value)
        return wrong(p, "%.*s needs a value: %s", (int)n, word, o->value);
    const size_t row = (size_t)(o - tl_option_table);
    p->a->given[row / 64] |= UINT64_C(1) << row % 64;
    return o->take(p, o, value);
}

const char *tl_nearest_verb(const char *name, const char *also, const char * or)
{
    const char *candidate[16] = {also, or };
    size_t n = 2;
    for (const tl_verb *v = tl_verb_table; v->name && n + 2 <= TL_COUNT(candidate); v++) {
        candidate[n++] = v->name;
        if (v->alias)
            candidate[n++] = v->alias;
    }
    return tl_nearest(name, candidate, n);
}

/* A verb, or an option in place of one. */
static bool unknown_verb(parser *p, const char *name)
{
    const char *ours = tl_verb_of_others(name);
    if (ours)
        return wrong(p, "unknown verb %s; did you mean traceloom %s?", name, ours);
    const char *nearest = tl_nearest_verb(name, "--help", "--version");
    const char *what = name[0] == '-' ? "option" : "verb";
    if (nearest && (nearest[0] == '-') == (name[0] == '-'))
        return wrong(p, "unknown %s %.64s; did you mean %s?", what, name, nearest);
    if (name[0] == '-')
        return wrong(p, "unknown option %.64s; options follow the verb, see traceloom --help", name);
    if (access(name, F_OK) == 0)
        return wrong(p, "%.64s is a file, expected a verb, as in traceloom info %.64s", name, name);
    return wrong(p, "unknown verb %.64s; see traceloom --help", name);
}

static bool find_verb(parser *p, const char *name)
{
    p->a->verb = tl_verb_find(name);
    p->a->called = name;
    return p->a->verb ? true : unknown_verb(p, name);
}

const char *tl_called(const tl_arguments *a)
{
    return a->called ? a->called : a->verb->name;
}

bool tl_arguments_parse(tl_arguments *a, int argc, const char *const *argv, char message[static TL_USAGE_SIZE])
{
    *a = (tl_arguments){0};
    message[0] = 0;
    parser p = {a, argc > 0 ? (size_t)argc : 1, message};
    for (int i = 0; i < argc; i++)
        for (const char *comma = strchr(argv[i], ','); comma; comma = strchr(comma + 1, ','))
            p.argc++; /* may separate two ids */
    if (argc < 1)
        return wrong(&p, "no verb");
    if (!find_verb(&p, argv[0]))
        return false;
    bool only_files = false;
    for (int i = 1; i < argc; i++) {
        bool option = !only_files && argv[i][0] == '-' && argv[i][1];
        if (option && strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (!(option ? take_option(&p, argc, argv, &i) : add_word(&p, &a->file, argv[i])))
            return false;
        if (a->file.n && a->verb->id == TL_VERB_RECORD)
            only_files = true; /* what follows the command belongs to it */
    }
    return true;
}

void tl_arguments_fini(tl_arguments *a)
{
    for (const tl_option *o = tl_option_table; o->name; o++)
        if (o->take == tl_take_word || o->take == tl_take_threads)
            free(((tl_words *)member(a, o))->word);
    for (size_t i = 0; i < a->copied.n; i++)
        free((void *)(uintptr_t)a->copied.word[i]);
    free(a->copied.word);
    free(a->file.word);
    *a = (tl_arguments){0};
}

const char *tl_first_given(const tl_arguments *a, const char *names)
{
    const char *first = NULL;
    int best = INT_MAX;
    for (size_t row = 0; tl_option_table[row].name; row++) {
        const char *name = tl_option_table[row].name;
        const bool is_given = a->given[row / 64] >> row % 64 & 1;
        const int place = is_given ? tl_word_place(name, names) : -1;
        if (place >= 0 && place < best) {
            best = place;
            first = name;
        }
    }
    return first;
}
