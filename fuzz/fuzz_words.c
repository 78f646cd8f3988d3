/* Fuzz target: what people write on the command line: numbers, times, patterns, caches, predictors, whole lines of
 * options. An input is words with NUL or line feed between them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/instruction/cache_setup.h"
#include "analysis/instruction/predictor.h"
#include "base/text/glob.h"
#include "base/text/number.h"
#include "base/text/utc_text.h"
#include "cli/selection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 64, VERBS = 4 };

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static void try_numbers(const char *word)
{
    uint64_t plain = 0, count = 0, ns = 0;
    if (tl_parse_u64(word, &plain))
        promise(tl_parse_count(word, &count) && count == plain, "a plain number is a count");
    (void)tl_parse_duration(word, &ns);
    (void)tl_parse_utc(word, strlen(word), &ns);
}

static void try_lists(const char *word)
{
    char text[TL_CACHE_SETUP_TEXT], message[200];
    tl_cache_setup one = tl_cache_default, two = tl_cache_default;
    tl_error e = {0};
    tl_predictor_list list = {0};
    if (tl_cache_setup_parse(&one, word, &e) == 0)
        promise(tl_cache_setup_parse(&two, tl_cache_setup_text(text, &one), &e) == 0 &&
                    memcmp(&one, &two, sizeof one) == 0,
                "a setup that is written is read as the same");
    else
        promise(memcmp(&one, &tl_cache_default, sizeof one) == 0, "and is left alone by what is wrong");
    if (!tl_predictor_parse(&list, word, message, sizeof message))
        promise(*message, "what is wrong is said");
}

/* The words as options of a verb, and their selection. */
static void try_options(const char *const *word, int n)
{
    static const char *const verbs[VERBS] = {"report", "convert", "record", "info"};
    const char *line[WORDS + 1];
    for (int verb = 0; verb < VERBS; verb++) {
        char message[TL_USAGE_SIZE] = "";
        tl_arguments a;
        line[0] = verbs[verb];
        memcpy(line + 1, word, (size_t)n * sizeof *line);
        if (tl_arguments_parse(&a, n + 1, line, message)) {
            tl_selection s;
            tl_error e = {0};
            const int status = tl_selection_parse(&s, &a, &e);
            promise(status >= 0 || e.code == status, "an error carries the code that is returned");
            tl_selection_fini(&s);
        } else {
            promise(*message, "what is wrong with a line is said");
        }
        tl_arguments_fini(&a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *word[WORDS];
    int n = 0;
    char *text = size <= 4096 ? malloc(size + 1) : NULL;
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    for (char *p = text, *end = text + size; p < end && n < WORDS; p += strlen(p) + 1) {
        p[strcspn(p, "\n")] = 0;
        word[n++] = p;
        try_numbers(p);
        try_lists(p);
        if (n > 1)
            (void)tl_glob(word[n - 1], word[n - 2]);
    }
    try_options(word, n);
    free(text);
    return 0;
}
