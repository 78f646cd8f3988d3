/* A reader of TraceLog as one would write it in an afternoon: one regular expression for each kind of record.
 *
 *     regex_tracelog posix|pcre2|pcre2-jit in-turn|by-words FILE
 *
 * in-turn: tries the expressions one after the other, the most frequent first, as the IDE plug-in does that these logs
 * were made for. by-words: the first two words of the line choose the expression, a simple optimisation. posix is the C
 * library's regexec(); pcre2 interprets its expressions, as most libraries do; pcre2-jit compiles them to machine code.
 *
 * All fields are extracted: numbers are converted, texts are cut out, lists are matched item by item with a second
 * expression. Prints how many lines of each record there are, and sums. */
#include <inttypes.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif

#define HEX    " (0x[0-9A-Fa-f]+)"
#define ID     " (0x[0-9A-Fa-f]+|[?])"
#define DEC    " ([0-9]+)"
#define THREAD " (0x[0-9A-Fa-f]+|[0-9]+|[?])"
#define TEXT   " \"(.*)\""
#define NUMBER "0x[0-9A-Fa-f]+"
#define POINT  "(:(0x[0-9A-Fa-f]+|[?]))?"

enum { GROUPS = 12, RECORDS = 28 };
enum engine { POSIX, PCRE2, PCRE2_JIT };

/* `items`: applied to each item of the last group. */
static const struct record {
    const char *words, *pattern, *items;
} records[RECORDS] = {
    {"sam str", "^sam str" ID DEC DEC DEC ":([0-9]+)" POINT "(.*)$", "^" ID POINT},
    {"sam mem", "^sam mem" ID DEC "(.*)$", "^" ID ":([0-9]+):([0-9]+)" POINT},
    {"apd crf", "^apd crf" ID THREAD HEX TEXT "$", NULL},
    {"asm ldf", "^asm ldf" ID ID ID HEX TEXT "$", NULL},
    {"mod ata", "^mod ata" ID ID "$", NULL},
    {"mod ldf", "^mod ldf" ID ID ID HEX TEXT "$", NULL},
    {"cls nam", "^cls nam" ID TEXT "$", NULL},
    {"cls ldf", "^cls ldf" ID ID ID HEX HEX "$", NULL},
    {"fun inf", "^fun inf" ID ID ID ID HEX "(.*)$", "^ (" NUMBER "):(" NUMBER ")(:(" NUMBER "))?"},
    {"fun nam", "^fun nam" ID TEXT TEXT TEXT "$", NULL},
    {"lin src", "^lin src" ID ID ID DEC DEC DEC DEC "$", NULL},
    {"fil src", "^fil src" ID TEXT "$", NULL},
    {"prc cpu", "^prc cpu" DEC DEC "$", NULL},
    {"prf tps", "^prf tps" DEC "$", NULL},
    {"prf trs", "^prf trs" DEC "$", NULL},
    {"thr aos", "^thr aos" ID THREAD "$", NULL},
    {"thr cpu", "^thr cpu" ID DEC DEC "$", NULL},
    {"thr crt", "^thr crt" ID ID "$", NULL},
    {"thr dst", "^thr dst" ID "( 0x[0-9A-Fa-f]+)?$", NULL},
    {"jit cms", "^jit cms" THREAD DEC ID "$", NULL},
    {"jit cmf", "^jit cmf" THREAD DEC ID HEX "$", NULL},
    {"jit css", "^jit css" THREAD DEC ID "$", NULL},
    {"jit csf", "^jit csf" THREAD DEC ID "$", NULL},
    {"gch gcs", "^gch gcs" THREAD DEC " (induced|[?]) ([tf]{4})$", NULL},
    {"gch gcf", "^gch gcf" THREAD DEC "$", NULL},
    {"gch alt", "^gch alt" DEC "(.*)$", "^" ID ":([0-9]+):([0-9]+)"},
    {"prf cfg", "^prf cfg ([^ ]+) (.*)$", NULL},
    {"prf stm", "^prf stm ([0-9]+)-([0-9]+)-([0-9]+) ([0-9]+):([0-9]+):([0-9]+)[.]([0-9]+)( [+-][0-9:]+)?$", NULL},
};

struct expression {
    regex_t posix;
#ifdef HAVE_PCRE2
    pcre2_code *code;
#endif
};

/* A missing group has end 0. */
struct group {
    const char *begin, *end;
};

static enum engine engine;
static struct expression lines[RECORDS], items[RECORDS];
static uint64_t counts[RECORDS], unknown, samples, frames, allocated, bytes, rest;

static void compile(struct expression *e, const char *pattern)
{
    bool done = engine == POSIX && regcomp(&e->posix, pattern, REG_EXTENDED) == 0;
#ifdef HAVE_PCRE2
    if (engine != POSIX) {
        int error;
        PCRE2_SIZE at;
        e->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &error, &at, NULL);
        done = e->code && (engine == PCRE2 || pcre2_jit_compile(e->code, PCRE2_JIT_COMPLETE) == 0);
    }
#endif
    if (!done) {
        fprintf(stderr, "regex_tracelog: cannot compile %s\n", pattern);
        exit(1);
    }
}

static bool match_posix(const struct expression *e, const char *begin, const char *end, struct group groups[GROUPS])
{
    regmatch_t found[GROUPS];
    found[0].rm_so = 0;
    found[0].rm_eo = (regoff_t)(end - begin);
    if (regexec(&e->posix, begin, GROUPS, found, REG_STARTEND) != 0)
        return false;
    for (int i = 0; i < GROUPS; i++)
        groups[i] = found[i].rm_so < 0 ? (struct group){begin, NULL}
                                       : (struct group){begin + found[i].rm_so, begin + found[i].rm_eo};
    return true;
}

#ifdef HAVE_PCRE2
static bool match_pcre2(const struct expression *e, const char *begin, const char *end, struct group groups[GROUPS])
{
    static pcre2_match_data *data;
    if (!data)
        data = pcre2_match_data_create(GROUPS, NULL);
    const PCRE2_SIZE n = (PCRE2_SIZE)(end - begin);
    const int found = engine == PCRE2_JIT ? pcre2_jit_match(e->code, (PCRE2_SPTR)begin, n, 0, 0, data, NULL)
                                          : pcre2_match(e->code, (PCRE2_SPTR)begin, n, 0, 0, data, NULL);
    if (found <= 0)
        return false;
    const PCRE2_SIZE *const at = pcre2_get_ovector_pointer(data);
    for (int i = 0; i < GROUPS; i++)
        groups[i] = i >= found || at[2 * i] == PCRE2_UNSET ? (struct group){begin, NULL}
                                                           : (struct group){begin + at[2 * i], begin + at[2 * i + 1]};
    return true;
}
#endif

static bool match(const struct expression *e, const char *begin, const char *end, struct group groups[GROUPS])
{
#ifdef HAVE_PCRE2
    if (engine != POSIX)
        return match_pcre2(e, begin, end, groups);
#endif
    return match_posix(e, begin, end, groups);
}

/* The group's number, or the length of its text. */
static uint64_t value(struct group g)
{
    uint64_t n = 0;
    const char *p = g.begin;
    if (!g.end)
        return 0;
    if (g.end - p > 2 && p[0] == '0' && p[1] == 'x') {
        for (p += 2; p < g.end; p++)
            n = n << 4 | ((*p & 15u) + 9u * ((unsigned char)*p >> 6));
        return n;
    }
    for (; p < g.end && *p >= '0' && *p <= '9'; p++)
        n = n * 10 + (unsigned)(*p - '0');
    return p == g.end ? n : (uint64_t)(g.end - g.begin);
}

static void read_items(int record, struct group list)
{
    struct group g[GROUPS];
    for (const char *p = list.begin; p < list.end && match(&items[record], p, list.end, g); p = g[0].end) {
        uint64_t v[5];
        for (int i = 1; i < 5; i++)
            v[i] = value(g[i]);
        frames += record == 0;
        if (record == 1) {
            allocated += v[2];
            bytes += v[3];
        }
        rest += v[1] + v[2] + v[3] + v[4];
    }
}

static bool read_as(int record, const char *begin, const char *end)
{
    struct group g[GROUPS];
    if (!match(&lines[record], begin, end, g))
        return false;
    counts[record]++;
    int last = GROUPS - 1;
    while (last > 0 && !g[last].end)
        last--;
    for (int i = 1; i <= last - (records[record].items != NULL); i++)
        rest += value(g[i]);
    if (record == 0)
        samples += value(g[3]);
    if (records[record].items)
        read_items(record, g[last]);
    return true;
}

static void read_line(bool by_words, const char *begin, const char *end)
{
    for (int i = 0; i < RECORDS; i++)
        if (!by_words || (end - begin >= 7 && memcmp(begin, records[i].words, 7) == 0))
            if (read_as(i, begin, end))
                return;
    unknown++;
}

int main(int argc, char **argv)
{
    static const char *const engines[] = {"posix", "pcre2", "pcre2-jit"};
    while (argc == 4 && engine <= PCRE2_JIT && strcmp(argv[1], engines[engine]) != 0)
        engine++;
    FILE *const file = argc == 4 ? fopen(argv[3], "r") : NULL;
    if (!file || engine > PCRE2_JIT) {
        fprintf(stderr, "usage: regex_tracelog posix|pcre2|pcre2-jit in-turn|by-words FILE\n");
        return 2;
    }
    for (int i = 0; i < RECORDS; i++) {
        compile(&lines[i], records[i].pattern);
        if (records[i].items)
            compile(&items[i], records[i].items);
    }
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&line, &room, file)) > 0)
        read_line(strcmp(argv[2], "by-words") == 0, line, line + n - (line[n - 1] == '\n'));
    for (int i = 0; i < RECORDS; i++)
        printf("%s\t%" PRIu64 "\n", records[i].words, counts[i]);
    printf("unknown\t%" PRIu64 "\nsamples\t%" PRIu64 "\nframes\t%" PRIu64 "\nallocated\t%" PRIu64 "\nbytes\t%" PRIu64
           "\nrest\t%" PRIu64 "\n",
           unknown, samples, frames, allocated, bytes, rest);
    return 0;
}
