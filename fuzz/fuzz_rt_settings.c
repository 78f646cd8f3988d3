/* Fuzz target: the recorder's settings, from the environment and from `ctl set`. Compiles in the two files of the
 * recorder that it needs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include "rt/rt_say.c"
#include "rt/rt_settings.c"
#include "rt/rt_words.c"
/* From here on, names that both have belong to the path's file. */
#define add        path_add
#define add_number path_add_number
#include "rt/rt_settings_path.c"

rt_core tl_rt;

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

/* Uses a copy of exactly the text's size. */
static void try_settings(const char *text)
{
    static rt_settings s, copy;
    char error[256] = "", path[RT_PATH];
    tl_rt_settings_default(&s);
    if (!tl_rt_settings_read(&s, text, error))
        promise(*error, "what is wrong is said");
    tl_rt_settings_copy(&copy, &s);
    promise(copy.nfunc == s.nfunc && copy.nnot == s.nnot, "a copy is the same");
    tl_rt_settings_path(&s, RT_MODE_FDR, "/usr/bin/app", 4711, path);
    promise(memchr(path, 0, sizeof path) != NULL, "a path ends");
    *error = 0;
    if (!tl_rt_settings_set(&copy, text, error))
        promise(*error && copy.nfunc == s.nfunc, "settings are left alone by what is wrong");
}
#else
static void try_settings(const char *text)
{
    (void)text;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    try_settings(text);
    free(text);
    return 0;
}
