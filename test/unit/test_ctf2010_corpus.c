/* Metadata of 2010 from the shared corpus: good and wrong files, and the places of errors, as its executable
 * specification gives them. */
#include "check.h"
#include "make_ctf2010.h"

#include <dirent.h>

/* The whole file, terminated; belongs to the caller. NULL if there is none. */
static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = f ? calloc(1, 1 << 20) : NULL;
    if (text && fread(text, 1, (1 << 20) - 1, f) == 0)
        text[0] = '\0';
    if (f)
        fclose(f);
    return text;
}

/* The offset of the problem that makes metadata useless, or -1. */
static int64_t expected_offset(const char *check)
{
    const char *rule = strstr(check, "\"ctf2010.metadata\"");
    if (!rule && strstr(check, "\"file\": \"metadata\""))
        rule = strstr(check, "\"ctf2010.magic\"");
    if (!rule)
        return -1;
    const char *offset = NULL;
    for (const char *p = check; (p = strstr(p, "\"offset\": ")) && p < rule; p++)
        offset = p;
    return offset ? strtoll(offset + strlen("\"offset\": "), NULL, 10) : -1;
}

static void check_one(const char *folder, const char *name, const char *check)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/metadata", folder, name);
    tl_input *in;
    tl_error e = {0};
    ctf_schema s = {0};
    must(tl_input_open(&in, path, &e), &e);
    const int64_t offset = expected_offset(check);
    const int r = ctf_2010_metadata(&s, in, &e);
    if (r != (offset < 0 ? 0 : TL_EDAMAGED) || (offset >= 0 && e.offset != (uint64_t)offset))
        fail_msg("%s: %d at %" PRIu64 ", expected %" PRId64 ": %s", name, r, e.offset, offset, e.message);
    if (r == 0) {
        for (uint32_t i = 0; i < s.ndamage; i++) /* a build may lack checksums */
            assert_int_equal(s.damage[i].kind, TL_DAMAGE_NOTE);
        assert_true(s.nstream > 0 && s.stream[0]->nevent > 0);
        assert_true(s.major == 1 && s.minor == 1);
    }
    tl_arena_fini(&s.arena);
    tl_input_close(in);
}

static void metadata(void **state)
{
    const char *shared = getenv("TL_SHARED");
    char folder[2048], path[4096];
    snprintf(folder, sizeof folder, "%s/corpus/ctf/generated", shared ? shared : "");
    DIR *d = shared ? opendir(folder) : NULL;
    if (!d) {
        skip_because("TL_SHARED names no folder with corpus/ctf/generated");
        return;
    }
    unsigned good = 0, bad = 0;
    for (struct dirent *entry; (entry = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s.check.json", folder, entry->d_name);
        char *check = read_file(path);
        if (!check)
            continue;
#ifndef TL_HAVE_ZLIB
        if (strcmp(entry->d_name, "metadata-gzip") == 0) {
            free(check);
            continue;
        }
#endif
        check_one(folder, entry->d_name, check);
        bad += expected_offset(check) >= 0;
        good += expected_offset(check) < 0;
        free(check);
    }
    closedir(d);
    assert_true(good >= 60 && bad >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(metadata)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
