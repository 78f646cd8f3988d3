/* Follows DT_NEEDED through DT_RPATH, DT_RUNPATH, LD_LIBRARY_PATH and the folders of ld.so.conf. */
#include "cli/record/record_needed.h"

#include <elf.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/elf/elf_segments.h"
#include "base/grow.h"
#include "base/io/base_name.h"
#include "cli/record/record_facts.h"

/* Libraries of one program; libreoffice has some 300. */
#define NEEDED_MAX  1024u
#define CONFIG_DEEP 4u

static bool has(const tl_needed *n, const char *path)
{
    for (size_t i = 0; i < n->n; i++)
        if (strcmp(n->path[i], path) == 0)
            return true;
    return false;
}

/* 1: added; 0: there is no such file, or it is known; TL_ENOMEM. */
static int add(tl_needed *n, const char *path)
{
    tl_elf_segments s;
    tl_error ignored = {0};
    char real[PATH_MAX];
    if (n->n == NEEDED_MAX || !realpath(path, real) || has(n, real) || tl_elf_segments_read(&s, real, &ignored) < 0)
        return 0;
    const bool fits = s.is64 && s.type == ET_DYN;
    tl_elf_segments_free(&s);
    if (!fits)
        return 0;
    char *copy = strdup(real);
    if (!copy || !TL_GROW(n->path, n->n, 1, n->room)) {
        free(copy);
        return TL_ENOMEM;
    }
    n->path[n->n++] = copy;
    return 1;
}

/* Is a library of this name in a list of folders, with ':' between them? $ORIGIN is the folder of `by`. */
static bool find_in(const char *list, const char *by, const char *name, char out[static PATH_MAX])
{
    const int origin = (int)(tl_base_name(by) - by);
    for (; list && *list; list += *list == ':') {
        const size_t n = strcspn(list, ":");
        const bool braces = strncmp(list, "${ORIGIN}", 9) == 0, bare = strncmp(list, "$ORIGIN", 7) == 0;
        const size_t skip = braces ? 9 : bare ? 7 : 0;
        const int size = skip ? snprintf(out, PATH_MAX, "%.*s%.*s/%s", origin, by, (int)(n - skip), list + skip, name)
                              : snprintf(out, PATH_MAX, "%.*s/%s", (int)n, list, name);
        if (n && size > 0 && size < PATH_MAX && access(out, R_OK) == 0)
            return true;
        list += n;
    }
    return false;
}

/* In a folder that a file like ld.so.conf names. */
static bool find_by_config(const char *file, const char *name, unsigned deep, char out[static PATH_MAX])
{
    char line[PATH_MAX], pattern[PATH_MAX];
    FILE *f = deep ? fopen(file, "re") : NULL;
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\n")] = 0;
        if (sscanf(line, " include %4000s", pattern) == 1) {
            glob_t g;
            if (glob(pattern, 0, NULL, &g) == 0) {
                for (size_t i = 0; i < g.gl_pathc && !found; i++)
                    found = find_by_config(g.gl_pathv[i], name, deep - 1, out);
                globfree(&g);
            }
        } else if (*line == '/') {
            found = find_in(line, "", name, out);
        }
    }
    if (f)
        fclose(f);
    return found;
}

static const char *entry(const tl_elf_segments *s, int64_t tag)
{
    for (uint32_t i = 0; i < s->ndynamic; i++)
        if (s->dynamic[i].tag == tag)
            return s->dynamic[i].text;
    return NULL;
}

static bool find(const tl_elf_segments *s, const char *by, const char *name, char out[static PATH_MAX])
{
    static const char usual[] =
        "/lib/" TL_RECORD_TRIPLET ":/usr/lib/" TL_RECORD_TRIPLET ":/lib64:/usr/lib64:/lib:/usr/lib";
    const char *runpath = entry(s, DT_RUNPATH);
    if (strchr(name, '/')) {
        snprintf(out, PATH_MAX, "%s", name);
        return access(out, R_OK) == 0;
    }
    return (!runpath && find_in(entry(s, DT_RPATH), by, name, out)) ||
           find_in(getenv("LD_LIBRARY_PATH"), by, name, out) || find_in(runpath, by, name, out) ||
           find_by_config("/etc/ld.so.conf", name, CONFIG_DEEP, out) || find_in(usual, by, name, out);
}

static int add_needed_of(tl_needed *n, const char *path)
{
    tl_elf_segments s;
    tl_error ignored = {0};
    char found[PATH_MAX];
    int status = 0;
    if (tl_elf_segments_read(&s, path, &ignored) < 0)
        return 0;
    for (uint32_t i = 0; i < s.ndynamic && status >= 0; i++)
        if (s.dynamic[i].tag == DT_NEEDED && s.dynamic[i].text && find(&s, path, s.dynamic[i].text, found))
            status = add(n, found);
    tl_elf_segments_free(&s);
    return status < 0 ? status : 0;
}

int tl_needed_find(tl_needed *out, const char *program, tl_error *e)
{
    *out = (tl_needed){0};
    int status = add_needed_of(out, program);
    out->direct = out->n;
    for (size_t i = 0; i < out->n && status == 0; i++)
        status = add_needed_of(out, out->path[i]);
    if (status == 0)
        return TL_OK;
    tl_needed_free(out);
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for its libraries", program);
}

void tl_needed_free(tl_needed *n)
{
    for (size_t i = 0; i < n->n; i++)
        free(n->path[i]);
    free(n->path);
    *n = (tl_needed){0};
}
