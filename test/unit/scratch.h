/* A directory for each test, and whole files in it. */
#ifndef TL_TEST_SCRATCH_H
#define TL_TEST_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Enter it at the beginning of a test, leave it at the end: relative names are in it between. */
static char scratch_path[256], scratch_before[4096];

static inline int scratch_enter(void **state)
{
    const char *base = getenv("TMPDIR");
    snprintf(scratch_path, sizeof scratch_path, "%s/traceloom-test.XXXXXX", base && *base ? base : "/tmp");
    return getcwd(scratch_before, sizeof scratch_before) && mkdtemp(scratch_path) && chdir(scratch_path) == 0 ? 0 : -1;
}

/* The number of files in the current directory; removes them if asked. */
static inline int scratch_files(int and_remove)
{
    int n = 0;
    DIR *d = opendir(".");
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            n++;
            if (and_remove && unlink(entry->d_name) < 0)
                rmdir(entry->d_name);
        }
    if (d)
        closedir(d);
    return n;
}

static inline int scratch_leave(void **state)
{
    scratch_files(1);
    return chdir(scratch_before) == 0 ? rmdir(scratch_path) : -1;
}

static inline void scratch_write(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(name, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
        abort();
}

/* The content, terminated; belongs to the caller. NULL if there is none. */
static inline char *scratch_read(const char *name, size_t *n)
{
    FILE *f = fopen(name, "rb");
    size_t capacity = 1 << 20;
    char *data = malloc(capacity + 1);
    *n = 0;
    if (!f || !data) {
        free(data);
        return NULL;
    }
    for (size_t got; (got = fread(data + *n, 1, capacity - *n, f)) > 0;) {
        *n += got;
        if (*n == capacity) {
            char *larger = realloc(data, 2 * capacity + 1);
            if (!larger)
                abort();
            data = larger;
            capacity *= 2;
        }
    }
    fclose(f);
    data[*n] = '\0';
    return data;
}

#endif
