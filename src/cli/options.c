/* Takes a command line apart by the table of options, and finds the nearest word to a mistyped one. */
#include "cli/options.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/text/number.h"
#include "cli/nearest.h"

#define LINE_SIZE_MAX 65536u /* of a cache: larger ones are not lines */
#define CHOICES_MAX   32u    /* more words than any option allows */
#define VALUE_SHOWN   64     /* bytes of a value that is wrong: what is wrong with it matters more */

const tl_verb *tl_verb_find(const char *name)
{
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        if (strcmp(v->name, name) == 0 || (v->alias && strcmp(v->alias, name) == 0))
            return v;
    return NULL;
}

/* What the parser is working on. */
typedef struct parser {
    tl_arguments *a;
    size_t argc; /* all words, and parts of lists: no list can become longer */
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

/* "--top x: expected a whole number": what is wrong with the value of an option. */
TL_PRINTF(4, 5) static bool bad_value(parser *p, const tl_option *o, const char *value, const char *format, ...)
{
    char text[TL_USAGE_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return wrong(p, "--%s %.*s%s: %s", o->name, VALUE_SHOWN, value, strlen(value) > VALUE_SHOWN ? "..." : "", text);
}

/* Which of the words of a space-separated list was meant: NULL, or one that lies in `copy`. */
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

/* Reads one of the words that an option allows. */
static bool choice(parser *p, const tl_option *o, const char *value, int *out)
{
    char copy[TL_USAGE_SIZE];
    int place = tl_word_place(value, o->values);
    const char *ours = place < 0 && o->id == TL_OPTION_BY ? tl_table_of_others(value) : NULL;
    if (ours)
        return bad_value(p, o, value, "%s", ours);
    if (place < 0) {
        const char *nearest = nearest_choice(value, o->values, copy);
        return bad_value(p, o, value, "expected one of: %s%s%s%s", o->values, nearest ? "; did you mean " : "",
                         nearest ? nearest : "", nearest ? "?" : "");
    }
    *out = place;
    return true;
}

static bool number(parser *p, const tl_option *o, const char *value, uint64_t max, uint64_t *out)
{
    uint64_t v;
    char most[32];
    if (!tl_parse_u64(value, &v) || v > max)
        return bad_value(p, o, value, "expected a whole number up to %s", tl_human_grouped(most, sizeof most, max));
    *out = v;
    return true;
}

/* A number of things that has to be one at least: "100", "64k", "100M". */
static bool amount(parser *p, const tl_option *o, const char *value, uint64_t *out)
{
    uint64_t v;
    if (!tl_parse_count(value, &v) || v == 0)
        return bad_value(p, o, value, "expected a number such as 1000, 64k or 100M");
    *out = v;
    return true;
}

/* Options about instructions that have a value. */
static bool set_of_instructions(parser *p, const tl_option *o, const char *value)
{
    tl_arguments *a = p->a;
    uint64_t v = 0;
    int word = 0;
    char most[32];
    switch (o->id) {
    case TL_OPTION_INSNS:
        a->insns = value;
        return true;
    case TL_OPTION_PC:
        a->pc = value;
        return true;
    case TL_OPTION_CACHE:
        a->cache = value;
        return true;
    case TL_OPTION_PREDICTOR:
        a->predictor = value;
        return true;
    case TL_OPTION_INTERVAL:
        return amount(p, o, value, &a->interval);
    case TL_OPTION_SAMPLE:
        return amount(p, o, value, &a->sample);
    case TL_OPTION_SLICE_INSNS:
        return amount(p, o, value, &a->slice_insns);
    case TL_OPTION_LINE_SIZE:
        if (!tl_parse_u64(value, &v) || v == 0 || v > LINE_SIZE_MAX || v & (v - 1))
            return bad_value(p, o, value, "expected a power of two up to %s",
                             tl_human_grouped(most, sizeof most, LINE_SIZE_MAX));
        a->line_size = (uint32_t)v;
        return true;
    case TL_OPTION_EL:
        if (!choice(p, o, value, &word))
            return false;
        a->levels |= 1u << word;
        return true;
    case TL_OPTION_AT:
        a->has_at = true;
        if (!tl_parse_count(value, &a->at))
            return bad_value(p, o, value, "expected the number of an instruction");
        return true;
    case TL_OPTION_SLICE_AT:
        a->slice_at = value;
        return true;
    default:
        assert(false && "an option of the table has no case here");
        return false;
    }
}

/* Options whose value is a number or one of a few words. */
static bool set_checked(parser *p, const tl_option *o, const char *value)
{
    tl_arguments *a = p->a;
    uint64_t v = 0;
    int word = 0;
    static const char *const weights[] = {"samples", "time", "alloc_space", "alloc_objects"}; /* as the words go */
    switch (o->id) {
    case TL_OPTION_BY:
        if (!choice(p, o, value, &word))
            return false;
        a->by = value;
        return true;
    case TL_OPTION_WEIGHT:
        a->weight = choice(p, o, value, &word) ? weights[word] : NULL;
        return a->weight != NULL;
    case TL_OPTION_DIALECT:
        a->format_version = value;
        return choice(p, o, value, &word);
    case TL_OPTION_COMPRESS:
        a->compress = value;
        return choice(p, o, value, &word);
    case TL_OPTION_CHECKSUM:
        a->checksum = value;
        return choice(p, o, value, &word);
    case TL_OPTION_TEXT_STYLE:
        a->text_style = value;
        return choice(p, o, value, &word);
    case TL_OPTION_SORT:
        a->sort = value;
        return choice(p, o, value, &word);
    case TL_OPTION_COLOR:
        if (!choice(p, o, value, &word))
            return false;
        a->color = (tl_color)word;
        return true;
    case TL_OPTION_TOP:
        if (!number(p, o, value, UINT32_MAX, &v))
            return false;
        a->top = (uint32_t)v;
        a->has_top = true;
        return true;
    case TL_OPTION_DEPTH:
        if (!number(p, o, value, UINT32_MAX, &v))
            return false;
        a->depth = (uint32_t)v;
        return v ? true : wrong(p, "--depth 0: the outermost function has depth 1");
    case TL_OPTION_THREADS:
        if (!number(p, o, value, 1024, &v))
            return false;
        a->threads = (unsigned)v;
        return true;
    case TL_OPTION_FORMAT_VERSION:
        if (value[0] < '1' || value[0] > '9' || value[strspn(value, "0123456789.")] != '\0')
            return bad_value(p, o, value, "expected a version such as 5 or 1.8");
        a->format_version = value;
        return true;
    default:
        return set_of_instructions(p, o, value);
    }
}

/* How a program is recorded; what the values mean is the recorder's business. */
static bool set_of_record(parser *p, const tl_option *o, const char *value)
{
    tl_arguments *a = p->a;
    int word = 0;
    switch (o->id) {
    case TL_OPTION_MODE:
        a->mode = value;
        return choice(p, o, value, &word);
    case TL_OPTION_THRESHOLD:
        a->threshold = value;
        return true;
    case TL_OPTION_RING:
        a->ring = value;
        return true;
    case TL_OPTION_LIMIT:
        a->limit = value;
        return true;
    case TL_OPTION_START:
        a->start = value;
        return choice(p, o, value, &word);
    case TL_OPTION_ANY:
        return a->any = true;
    default:
        return set_checked(p, o, value);
    }
}

/* "4711,4712": each of the ids; anything else is one pattern. */
static bool add_threads(parser *p, const char *value)
{
    if (!strchr(value, ',') || value[strspn(value, "0123456789,")])
        return add_word(p, &p->a->thread, value);
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
        if (!add_word(p, &p->a->thread, id))
            return false;
    return p->a->thread.n > 0 || wrong(p, "--thread %s: expected a name or ids, such as 4711,4712", value);
}

static bool set_option(parser *p, const tl_option *o, const char *value)
{
    tl_arguments *a = p->a;
    switch (o->id) {
    case TL_OPTION_WIDE:
        return a->wide = true;
    case TL_OPTION_PER_THREAD:
        return a->per_thread = true;
    case TL_OPTION_COUNT:
        return a->count = true;
    case TL_OPTION_JSON:
        return a->json = true;
    case TL_OPTION_FORCE:
        return a->force = true;
    case TL_OPTION_NO_DEMANGLE:
        return a->no_demangle = true;
    case TL_OPTION_STRICT:
        return a->strict = true;
    case TL_OPTION_RESYNC:
        return a->resync = true;
    case TL_OPTION_CALLS:
        return a->calls = true;
    case TL_OPTION_FOLLOW:
        return a->follow = true;
    case TL_OPTION_QUIET:
        a->verbose = false;
        return a->quiet = true;
    case TL_OPTION_VERBOSE:
        a->quiet = false;
        return a->verbose = true;
    case TL_OPTION_HELP:
        return a->help = true;
    case TL_OPTION_OUTPUT:
        a->output = value;
        return true;
    case TL_OPTION_TO:
        a->to = value;
        return true;
    case TL_OPTION_SPLIT:
        a->split = value;
        return true;
    case TL_OPTION_TIME:
        a->time = value;
        return true;
    case TL_OPTION_MIN_DUR:
        a->min_dur = value;
        return true;
    case TL_OPTION_EXE:
        return add_word(p, &a->exe_word, value);
    case TL_OPTION_FROM:
        a->from = value;
        return true;
    case TL_OPTION_THREAD:
        return add_threads(p, value);
    case TL_OPTION_CPU:
        return add_word(p, &a->cpu, value);
    case TL_OPTION_FUNC:
        return add_word(p, &a->func, value);
    case TL_OPTION_NOT:
        return add_word(p, &a->not_func, value);
    case TL_OPTION_CLASS:
        return add_word(p, &a->cls, value);
    default:
        return set_of_record(p, o, value);
    }
}

/* The option of a long name (n bytes) or, if name is NULL, of a letter; of any verb. */
static const tl_option *find_option(const char *name, size_t n, char letter)
{
    for (const tl_option *o = tl_option_table; o->name; o++)
        if (name ? strlen(o->name) == n && memcmp(o->name, name, n) == 0 : o->letter == letter)
            return o;
    return NULL;
}

/* Says that the verb has no such option, and what may have been meant. */
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
        const tl_option *by = find_option("by", 2, 0);
        if (verb->id == TL_VERB_REPORT && tl_word_place(name, by->values) >= 0)
            return wrong(p, "unknown option %.*s; did you mean --by %s?", (int)n, word, name);
        const char *nearest = tl_nearest(name, candidate, count);
        if (nearest)
            return wrong(p, "unknown option %.*s; did you mean --%s?", (int)n, word, nearest);
    }
    return wrong(p, "unknown option %.*s; see traceloom %s --help", n > VALUE_SHOWN ? VALUE_SHOWN : (int)n, word,
                 tl_called(p->a));
}

/* Takes the option in argv[*at], and its value if that is the next word. */
static bool take_option(parser *p, int argc, const char *const *argv, int *at)
{
    const char *word = argv[*at], *value = NULL;
    bool is_long = word[1] == '-';
    size_t n = is_long ? strcspn(word, "=") : 2; /* of the option itself */
    const tl_option *o = is_long ? find_option(word + 2, n - 2, 0) : find_option(NULL, 0, word[1]);
    if (!o || !(o->verbs & TL_VERB_BIT(p->a->verb->id)))
        return unknown(p, word, is_long ? n : strlen(word), o);
    if (word[n])
        value = word + n + is_long; /* --name=value, -nvalue */
    if (!o->value) {
        if (value && is_long)
            return wrong(p, "%.*s takes no value", (int)n, word);
        if (value)
            return wrong(p, "unknown option %s; short options stand alone: -%c", word, word[1]);
    } else if (!value) {
        if (*at + 1 >= argc)
            return wrong(p, "%s needs a value: %s", word, o->value);
        value = argv[++*at];
    }
    if (value && !*value)
        return wrong(p, "%.*s needs a value: %s", (int)n, word, o->value);
    return set_option(p, o, value);
}

/* A verb, or an option that stands for itself. */
static bool unknown_verb(parser *p, const char *name)
{
    const char *ours = tl_verb_of_others(name);
    if (ours)
        return wrong(p, "unknown verb %s; did you mean traceloom %s?", name, ours);
    const char *candidate[16] = {"--help", "--version"};
    size_t n = 2;
    for (const tl_verb *v = tl_verb_table; v->name && n + 2 <= TL_COUNT(candidate); v++) {
        candidate[n++] = v->name;
        if (v->alias)
            candidate[n++] = v->alias;
    }
    const char *nearest = tl_nearest(name, candidate, n);
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
            p.argc++; /* may be between two ids */
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
            only_files = true; /* what follows the command is its own */
    }
    return true;
}

void tl_arguments_fini(tl_arguments *a)
{
    free(a->file.word);
    free(a->thread.word);
    for (size_t i = 0; i < a->copied.n; i++)
        free((void *)(uintptr_t)a->copied.word[i]);
    free(a->copied.word);
    free(a->cpu.word);
    free(a->func.word);
    free(a->not_func.word);
    free(a->cls.word);
    free(a->exe_word.word);
    *a = (tl_arguments){0};
}
