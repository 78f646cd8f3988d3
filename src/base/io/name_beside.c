/* Names of temporary files: a path, a dot, six letters or digits. */
#include "base/io/name_beside.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

enum { LETTERS = 6 };

char *tl_name_beside(const char *path)
{
    const size_t n = strlen(path);
    char *name = malloc(n + 1 + LETTERS + 1);
    if (!name)
        return NULL;
    memcpy(name, path, n);
    memset(name + n, '.', 1 + LETTERS);
    name[n + 1 + LETTERS] = '\0';
    return name;
}

int tl_fail_beside(tl_error *e, int number, const char *shown, const char *path, const char *kind)
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash && slash > path ? (size_t)(slash - path) : 1;
    const char *folder = slash ? path : ".";
    return tl_fail_errno(e, number, "%s: cannot create a %s in %.*s, where it is written until it is complete", shown,
                         kind, (int)n, folder);
}

void tl_name_try(char *name, unsigned try)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t r = tl_hash_mix((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 40 ^
                             (uint64_t)(uintptr_t)name ^ (uint64_t)try << 56);
    char *letter = name + strlen(name) - LETTERS;
    for (int i = 0; i < LETTERS; i++, r /= 36)
        letter[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[r % 36];
}
