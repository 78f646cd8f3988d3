/* The table of options is consistent, and command lines are parsed as it says. */
#include "base/compiler.h"
#include "check.h"
#include "cli/nearest.h"
#include "cli/options.h"

static char message[TL_USAGE_SIZE];

static bool parse(tl_arguments *a, const char *const *word, int n)
{
    return tl_arguments_parse(a, n, word, message);
}

#define PARSE(a, ...) parse(a, (const char *const[]){__VA_ARGS__}, (int)TL_COUNT(((const char *const[]){__VA_ARGS__})))

/* A wrong line, and what the message must contain. */
#define WRONG(part, ...)                                                                                               \
    do {                                                                                                               \
        tl_arguments wrong;                                                                                            \
        assert_false(PARSE(&wrong, __VA_ARGS__));                                                                      \
        if (!strstr(message, part))                                                                                    \
            fail_msg("\"%s\" lacks \"%s\"", message, part);                                                            \
        tl_arguments_fini(&wrong);                                                                                     \
    } while (0)

static void test_table_is_consistent(void **state)
{
    for (const tl_option *o = tl_option_table; o->name; o++) {
        assert_true(o->verbs != 0);
        assert_true(o->brief && strlen(o->brief) < 60);
        assert_true(o->manual && o->manual[strlen(o->manual) - 1] == '\n');
        assert_true((unsigned)o->group < TL_GROUPS);
        assert_true(!o->values || o->value); /* only values can be completed */
        for (const tl_option *other = o + 1; other->name; other++) {
            if (!(o->verbs & other->verbs))
                continue; /* a name may mean something else with another verb */
            assert_string_not_equal(o->name, other->name);
            assert_true(!o->letter || o->letter != other->letter);
            assert_true(o->take != other->take || o->place != other->place);
        }
    }
    for (const tl_verb *v = tl_verb_table; v->name; v++) {
        assert_ptr_equal(tl_verb_find(v->name), v);
        assert_true(v->example && v->example[0].arguments);
        assert_true(v->summary[strlen(v->summary) - 1] != '.');
    }
    assert_null(tl_verb_find("frobnicate"));
}

static void test_every_option_is_parsed(void **state)
{
    for (const tl_verb *v = tl_verb_table; v->name; v++)
        for (const tl_option *o = tl_option_table; o->name; o++) {
            if (!(o->verbs & TL_VERB_BIT(v->id)))
                continue;
            /* A valid value: its first allowed word, or a number, which is also valid as a name. */
            char value[32] = "1", word[64];
            if (o->values && o->values[0] != '@') {
                size_t n = strcspn(o->values, " ");
                memcpy(value, o->values, n);
                value[n] = 0;
            }
            snprintf(word, sizeof word, "--%s%s%s", o->name, o->value ? "=" : "", o->value ? value : "");
            tl_arguments a;
            if (!PARSE(&a, v->name, word))
                fail_msg("%s %s: %s", v->name, word, message);
            assert_int_equal(a.file.n, 0);
            static const char nothing[8];
            if (strcmp(value, "auto") != 0)
                assert_true(memcmp((const char *)&a + o->place, nothing, o->value ? sizeof nothing : sizeof(bool)));
            tl_arguments_fini(&a);
            if (!o->letter)
                continue;
            char letter[3] = {'-', o->letter, 0};
            assert_true(o->value ? PARSE(&a, v->name, letter, value) : PARSE(&a, v->name, letter));
            assert_int_equal(a.file.n, 0);
            tl_arguments_fini(&a);
        }
}

static void test_ways_to_give_a_value(void **state)
{
    tl_arguments a;
    assert_true(
        PARSE(&a, "report", "--top", "3", "x", "--sort=p99", "-o", "f.svg", "y", "-Fab*", "-F", "c", "--func=d"));
    assert_int_equal(a.verb->id, TL_VERB_REPORT);
    assert_true(a.has_top);
    assert_int_equal(a.top, 3);
    assert_string_equal(a.sort, "p99");
    assert_string_equal(a.output, "f.svg");
    assert_int_equal(a.file.n, 2);
    assert_string_equal(a.file.word[0], "x");
    assert_string_equal(a.file.word[1], "y");
    assert_int_equal(a.func.n, 3);
    assert_string_equal(a.func.word[0], "ab*");
    assert_string_equal(a.func.word[2], "d");
    tl_arguments_fini(&a);
    assert_true(PARSE(&a, "report", "--top=", "--by=hist", "--by=tree") == false); /* no number */
    tl_arguments_fini(&a);
    assert_true(PARSE(&a, "report", "--by=hist", "--by", "tree"));
    assert_string_equal(a.by, "tree"); /* the last one counts */
    tl_arguments_fini(&a);
}

static void test_options_of_a_recorded_command(void **state)
{
    tl_arguments a;
    assert_true(PARSE(&a, "record", "-m", "fdr", "./app", "-v", "--", "-o", "x"));
    assert_string_equal(a.mode, "fdr");
    assert_int_equal(a.file.n, 5);
    assert_string_equal(a.file.word[1], "-v");
    assert_string_equal(a.file.word[2], "--");
    assert_false(a.verbose);
    tl_arguments_fini(&a);
    assert_true(PARSE(&a, "record", "--start=off", "--", "-strange-name", "-q"));
    assert_int_equal(a.file.n, 2);
    assert_string_equal(a.file.word[0], "-strange-name");
    assert_false(a.quiet);
    tl_arguments_fini(&a);
    WRONG("expected one of: profile fdr ctf", "record", "-m", "everything", "./app");
    WRONG("record has no option --by", "record", "--by", "func", "./app");
}

static void test_words_that_look_like_options(void **state)
{
    tl_arguments a;
    assert_true(PARSE(&a, "info", "-", "--json", "--", "--json", "-q"));
    assert_int_equal(a.file.n, 3);
    assert_string_equal(a.file.word[0], "-");
    assert_string_equal(a.file.word[1], "--json");
    assert_string_equal(a.file.word[2], "-q");
    assert_true(a.json);
    assert_false(a.quiet);
    tl_arguments_fini(&a);
    assert_true(PARSE(&a, "report", "-N", "--", "-F", "-q", "x")); /* a value may begin with a dash */
    assert_string_equal(a.not_func.word[0], "--");
    assert_string_equal(a.func.word[0], "-q");
    assert_int_equal(a.file.n, 1);
    tl_arguments_fini(&a);
}

static void test_alias(void **state)
{
    tl_arguments a;
    assert_true(PARSE(&a, "cat", "x"));
    assert_int_equal(a.verb->id, TL_VERB_CONVERT);
    tl_arguments_fini(&a);
}

static void test_quiet_and_verbose_exclude_each_other(void **state)
{
    tl_arguments a;
    assert_true(PARSE(&a, "info", "-q", "-v"));
    assert_true(a.verbose && !a.quiet);
    tl_arguments_fini(&a);
    assert_true(PARSE(&a, "info", "-v", "-q"));
    assert_true(a.quiet && !a.verbose);
    tl_arguments_fini(&a);
}

static void test_wrong_lines(void **state)
{
    WRONG("did you mean report?", "rpeort");
    WRONG("did you mean check?", "chekc");
    WRONG("unknown verb xyzzy; see", "xyzzy");
    WRONG("options follow the verb", "--json");
    WRONG("did you mean --top?", "report", "--tpo");
    WRONG("did you mean --no-demangle?", "report", "--no-dem");
    WRONG("info has no option --by (report has)", "info", "--by", "func");
    WRONG("check has no option -o (info has)", "check", "-o", "x");
    WRONG("unknown option -Z; see", "report", "-Z");
    WRONG("unknown option --frobnicate; see", "report", "--frobnicate=1");
    WRONG("-o needs a value: FILE", "report", "-o");
    WRONG("--by needs a value: TABLE", "report", "--by");
    WRONG("--json takes no value", "info", "--json=yes");
    WRONG("short options stand alone: -q", "info", "-qv");
    WRONG("expected one of: func name tree callers callees hist", "report", "--by", "moon");
    WRONG("expected one of: auto always never", "info", "--color", "alway");
    WRONG("expected one of:", "report", "--sort", "self total"); /* two words are none */
    WRONG("--sort needs a value: COLUMN", "report", "--sort", "");
    WRONG("--to needs a value: FORMAT", "convert", "--to=");
    WRONG("; did you mean func?", "report", "--by", "fnuc");
    WRONG("; did you mean always?", "info", "--color=alwyas");
    WRONG("expected a whole number", "report", "--top", "-1");
    WRONG("expected a whole number", "report", "--top", "4294967296");
    WRONG("expected a whole number", "report", "--depth", "1x");
    WRONG("depth 1", "report", "--depth", "0");
    WRONG("expected a whole number up to 1,024", "info", "--threads", "5000");
    WRONG("-o needs a value: FILE", "convert", "-o", "");
    WRONG("did you mean --version?", "--versoin");
    WRONG("cat has no option --count (info has)", "cat", "--count");
    WRONG("see traceloom cat --help", "cat", "--frobnicate");
    WRONG("is a file, expected a verb, as in traceloom info /", "/");
}

static void test_numbers_with_letters(void **state)
{
    tl_arguments a;
    assert_true(PARSE(&a, "report", "--interval", "64k", "--sample=2M", "--line-size", "128", "--calls", "--cache", "x",
                      "--predictor=y", "--resync"));
    assert_int_equal(a.interval, 64000);
    assert_int_equal(a.sample, 2000000);
    assert_int_equal(a.line_size, 128);
    assert_true(a.calls && a.resync);
    assert_string_equal(a.cache, "x");
    assert_string_equal(a.predictor, "y");
    tl_arguments_fini(&a);
    assert_true(
        PARSE(&a, "convert", "--slice-at", "0", "-n", "1G", "--el", "0", "--el=3", "--pc=1..", "--insns", "..5"));
    assert_string_equal(a.slice_at, "0");
    assert_int_equal(a.slice_insns, 1000000000);
    assert_int_equal(a.levels, 1 | 8);
    assert_string_equal(a.pc, "1..");
    assert_string_equal(a.insns, "..5");
    tl_arguments_fini(&a);
    assert_true(PARSE(&a, "info", "--at", "3k"));
    assert_true(a.has_at);
    assert_int_equal(a.at, 3000);
    tl_arguments_fini(&a);
    assert_true(PARSE(&a, "info"));
    assert_false(a.has_at || a.slice_at || a.levels || a.interval || a.line_size || a.resync);
    tl_arguments_fini(&a);
    WRONG("expected a number such as", "report", "--interval", "0");
    WRONG("expected a number such as", "report", "--sample", "1.5k");
    WRONG("expected a number such as", "convert", "-n", "99999999999G");
    WRONG("a power of two up to 65,536", "report", "--line-size", "48");
    WRONG("a power of two up to 65,536", "report", "--line-size", "0");
    WRONG("a power of two up to 65,536", "report", "--line-size", "131072");
    WRONG("expected one of: 0 1 2 3", "report", "--el", "4");
    WRONG("expected the number of an instruction", "info", "--at", "-1");
}

static void test_lists_of_threads(void **state)
{
    static const struct {
        const char *value;
        size_t n;
        const char *first, *last;
    } good[] = {{"4711", 1, "4711", "4711"},
                {"4711,4712,3", 3, "4711", "3"},
                {",7,,8,", 2, "7", "8"},
                {"worker,*", 1, "worker,*", "worker,*"}}; /* a pattern is one word */
    for (size_t i = 0; i < TL_COUNT(good); i++) {
        const char *const argv[] = {"report", "-t", good[i].value, "f"};
        tl_arguments a;
        assert_true(tl_arguments_parse(&a, 4, argv, message));
        assert_int_equal(a.thread.n, good[i].n);
        assert_string_equal(a.thread.word[0], good[i].first);
        assert_string_equal(a.thread.word[a.thread.n - 1], good[i].last);
        tl_arguments_fini(&a);
    }
    WRONG("expected a name or ids", "report", "-t", ",");
}

static void test_long_words_are_survived(void **state)
{
    char word[5000];
    memset(word, 'x', sizeof word - 1);
    word[0] = word[1] = '-';
    word[sizeof word - 1] = 0;
    WRONG("unknown option", "report", word);
    WRONG("unknown verb", word + 2);
    tl_arguments a;
    assert_false(tl_arguments_parse(&a, 0, NULL, message));
    tl_arguments_fini(&a);
}

static void test_nearest(void **state)
{
    static const char *const word[] = {"time", "to", "top", "threads", "thread"};
    assert_string_equal(tl_nearest("tiem", word, TL_COUNT(word)), "time"); /* neighbours swapped: one mistake */
    assert_string_equal(tl_nearest("thraed", word, TL_COUNT(word)), "thread");
    assert_string_equal(tl_nearest("thr", word, TL_COUNT(word)), "threads"); /* a beginning */
    assert_string_equal(tl_nearest("too", word, TL_COUNT(word)), "to");
    assert_null(tl_nearest("output", word, TL_COUNT(word)));
    assert_null(tl_nearest("time", word, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_consistent),
        cmocka_unit_test(test_every_option_is_parsed),
        cmocka_unit_test(test_ways_to_give_a_value),
        cmocka_unit_test(test_options_of_a_recorded_command),
        cmocka_unit_test(test_words_that_look_like_options),
        cmocka_unit_test(test_alias),
        cmocka_unit_test(test_quiet_and_verbose_exclude_each_other),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_numbers_with_letters),
        cmocka_unit_test(test_lists_of_threads),
        cmocka_unit_test(test_long_words_are_survived),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
