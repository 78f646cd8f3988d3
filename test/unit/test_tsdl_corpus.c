/* Every metadata file of the corpus in TSDL: it must be read and its plans made, or be refused as expected. */
#include <dirent.h>
#include <sys/stat.h>

#include "check.h"
#include "format/ctf/plan/ctf_plan.h"
#include "tsdl_schema.h"

/* Broken files, and their errors. */
static const struct {
    const char *path;
    uint64_t offset;
    const char *message;
} broken[] = {
    {"bt2/fail/fail1", 466, "version 0.1: only 1.8 is known in this language"},
    {"bt2/fail/fail2", 244, "an unknown escape sequence in a string"},
    {"bt2/fail/smalltrace", 183, "version 0.1: only 1.8 is known in this language"},
    {"bt2/fail/integer-range", 205, "a number of more than 64 bits"},
    {"bt2/fail/metadata-syntax-error", 72, "expected '}' or the name of an attribute, found ']'"},
    {"bt2/fail/invalid-sequence-length-field-class", 302, "the length 'len' is not an unsigned integer"},
    {"bt2/fail/invalid-variant-selector-field-class", 305, "the tag 'selector' of a variant is not an enumeration"},
};

static unsigned nread, nrefused;

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    static char buffer[1 << 20];
    assert_non_null(f);
    *n = fread(buffer, 1, sizeof buffer, f);
    assert_true(*n < sizeof buffer);
    fclose(f);
    return buffer;
}

static void read_metadata(const char *corpus, const char *folder)
{
    char path[4096];
    size_t n;
    tl_error e = {0};
    snprintf(path, sizeof path, "%s/%s/metadata", corpus, folder);
    const char *text = read_file(path, &n);
    if (n < 10 || memcmp(text, "/* CTF 1.8", 10) != 0)
        return; /* in packets, or another language */
    int rc = schema_parse_bytes(text, n, &e);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        if (strcmp(broken[i].path, folder) == 0) {
            if (rc != TL_EDAMAGED || e.offset != broken[i].offset || !strstr(e.message, broken[i].message))
                fail_msg("%s: %d at %" PRIu64 ": %s", path, rc, e.offset, e.message);
            nrefused++;
            return;
        }
    if (rc < 0)
        fail_msg("%s: %s", path, e.message);
    tl_arena arena = {0};
    ctf_class_list classes = {.arena = &arena};
    ctf_plans *plans = NULL;
    if (ctf_plans_new(&plans, &schema, &classes, &e) < 0)
        fail_msg("%s: plans: %s", path, e.message);
    ctf_plans_free(plans);
    free(classes.cls);
    tl_arena_fini(&arena);
    nread++;
}

static void walk(const char *corpus, const char *folder)
{
    char path[4096];
    struct stat s;
    snprintf(path, sizeof path, "%s/%s", corpus, folder);
    DIR *d = opendir(path);
    if (!d)
        return;
    for (const struct dirent *entry; (entry = readdir(d));) {
        char inner[2048];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", folder, entry->d_name);
        snprintf(path, sizeof path, "%s/%s", corpus, inner);
        if (strcmp(entry->d_name, "metadata") == 0)
            read_metadata(corpus, folder);
        else if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
            walk(corpus, inner);
    }
    closedir(d);
}

static void test_corpus(void **state)
{
    static const char *const folders[] = {"bt2", "yactfr-cases/ctf-1", "barectf-cases"};
    const char *shared = getenv("TL_SHARED");
    char corpus[2048];
    if (!shared) {
        skip_because("needs TL_SHARED");
    }
    snprintf(corpus, sizeof corpus, "%s/corpus/ctf", shared);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        walk(corpus, folders[i]);
    assert_int_equal(nrefused, sizeof broken / sizeof broken[0]);
    assert_true(nread >= 189);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_corpus, schema_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
