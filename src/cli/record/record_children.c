/* Recordings of child processes: those that have ended get their final name, and all are named in one line. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/folder_tree.h"
#include "cli/message.h"
#include "cli/record/record.h"
#include "traceloom/profile.h"
#include "traceloom/source.h"

enum { SHOWN = 4 }; /* names in the message */

/* Is this the name of a child's recording: BASE.NUMBER.SUFFIX, perhaps with ".live"? */
static bool is_of_child(const char *name, const char *base, const char *suffix)
{
    const size_t n = strlen(base);
    if (strncmp(name, base, n) != 0 || name[n] != '.')
        return false;
    const size_t digits = strspn(name + n + 1, "0123456789");
    const char *rest = name + n + 1 + digits;
    const size_t m = strlen(suffix);
    return digits && strncmp(rest, suffix, m) == 0 && (!rest[m] || strcmp(rest + m, TL_RECORD_LIVE) == 0);
}

static bool is_new(const tl_record *r, const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && (st.st_ctim.tv_sec > r->begin.tv_sec ||
                                     (st.st_ctim.tv_sec == r->begin.tv_sec && st.st_ctim.tv_nsec >= r->begin.tv_nsec));
}

/* Sorts by the number that recorder or processes counted. */
static int by_number(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

static bool is_live(const char *name)
{
    const size_t n = strlen(name), m = strlen(TL_RECORD_LIVE);
    return n > m && strcmp(name + n - m, TL_RECORD_LIVE) == 0;
}

/* Copies the lines about files whose names begin so, from what a process has in its memory. */
static void copy_maps(FILE *to, const char *process, const char *begin)
{
    char path[64 + sizeof((struct dirent *)0)->d_name], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%s/maps", process);
    FILE *f = fopen(path, "re");
    while (f && getline(&line, &room, f) > 0)
        if (strstr(line, begin))
            fputs(line, to);
    free(line);
    if (f)
        fclose(f);
}

/* What all processes have in their memory of such files, to be freed. A recorder may be in another container, where
 * processes have other numbers. NULL: not known. */
static char *maps_of_all(const char *base)
{
    char begin[PATH_MAX + 2], *text = NULL;
    size_t size = 0;
    snprintf(begin, sizeof begin, "/%s.", base);
    DIR *d = opendir("/proc");
    FILE *f = d ? open_memstream(&text, &size) : NULL;
    for (const struct dirent *entry; f && (entry = readdir(d));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            copy_maps(f, entry->d_name, begin);
    if (d)
        closedir(d);
    if (f && fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* Is the file, or one in the folder, still being written? */
static bool is_in_use(const char *maps, const char *name)
{
    const char *at = maps;
    while (at && (at = strstr(at, name)) && (at == maps || at[-1] != '/'))
        at++;
    return !maps || at;
}

/* Has it no calls? So are recordings of children that start another program at once. */
static bool is_empty(const char *path)
{
    const tl_open_options reading = {.no_demangle = true, .no_lines = true};
    tl_source *s = NULL;
    tl_profile *p = NULL;
    tl_count count = {0};
    tl_error e = {0};
    bool is = tl_source_open(&s, path, &reading, &e) == 0;
    if (is && tl_source_is_profile(s))
        is = tl_profile_from_source(&p, s, NULL, &e) == 0 && tl_profile_places(p) <= 1 /* the root */;
    else
        is = is && tl_source_count(s, 1, &count, &e) == 0 && count.events == 0;
    tl_profile_free(p);
    tl_count_free(&count);
    tl_source_close(s);
    return is;
}

/* Gives a recording that its process could not finish (_exit, exec, a kill) its final name, and cuts ".live" off
 * `name`, its last part. One without calls is removed: false. */
static bool finish(const tl_record *r, unsigned mode, const char *path, char *name)
{
    char final[2 * PATH_MAX];
    struct stat st;
    const bool folder = mode == TL_RECORD_STREAMS;
    snprintf(final, sizeof final, "%.*s", (int)(strlen(path) - strlen(TL_RECORD_LIVE)), path);
    if (lstat(path, &st) != 0 || access(final, F_OK) == 0)
        return true;
    if (is_empty(path)) {
        if (folder)
            tl_remove_tree(path, 0);
        return !folder && unlink(path) != 0;
    }
    if (folder ? rename(path, final) != 0
               : tl_record_rewrite(r, path, final, mode == TL_RECORD_PROFILE, true) != TL_EXIT_DONE)
        return true;
    if (!folder && chmod(final, st.st_mode & 0777) == 0)
        unlink(path);
    name[strlen(name) - strlen(TL_RECORD_LIVE)] = 0;
    return true;
}

/* 0: it is not a recording of a child. */
static unsigned mode_of(const tl_record *r, const char *name, const char *base)
{
    for (unsigned mode = 1; mode < 1u << TL_RECORD_MODES; mode <<= 1)
        if (r->modes & mode && is_of_child(name, base, tl_record_suffix(mode)))
            return mode;
    return 0;
}

void tl_record_settle_children(const tl_record *r)
{
    char folder[PATH_MAX], list[512] = "", path[2 * PATH_MAX], *maps = NULL;
    const char *base = tl_base_name(r->stem);
    unsigned n = 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(base - r->stem), r->stem);
    struct dirent **entry = NULL;
    const int entries = scandir(*folder ? folder : ".", &entry, NULL, by_number);
    for (int i = 0; i < entries; free(entry[i++])) {
        char *name = entry[i]->d_name;
        const unsigned mode = mode_of(r, name, base);
        snprintf(path, sizeof path, "%s%s", folder, name);
        if (!mode || !is_new(r, path))
            continue;
        if (is_live(name) && !maps)
            maps = maps_of_all(base);
        if (!is_live(name) && mode == TL_RECORD_PROFILE)
            tl_record_compact(path);
        else if (is_live(name) && !is_in_use(maps, name) && !finish(r, mode, path, name))
            continue;
        const size_t at = strlen(list);
        if (n++ < SHOWN)
            snprintf(list + at, sizeof list - at, "%s%.120s", n > 1 ? ", " : "", name);
    }
    free(entry);
    free(maps);
    if (n)
        tl_say(r->cli, NULL, "%u more by other processes: %s%s", n, list, n > SHOWN ? ", ..." : "");
}
