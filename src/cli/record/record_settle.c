/* Finishes the files that programs leave: rewrites profiles in a twentieth of the size; completes and renames the file
 * of a program that could not end its recording (killed, _exit, exec). */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "cli/message.h"
#include "cli/record/record.h"
#include "traceloom/sink.h"
#include "traceloom/source.h"

int tl_record_rewrite(const tl_record *r, const char *from, const char *to, bool profile, bool quiet)
{
    const tl_arguments a = {.verb = tl_verb_find(profile ? "report" : "convert"),
                            .file = {&from, 1},
                            .output = to,
                            .to = r->cli->args->to,
                            .force = true,
                            .quiet = quiet,
                            .color = r->cli->args->color};
    tl_cli c = {.args = &a, .out = r->cli->out};
    return profile ? tl_verb_report(&c) : tl_verb_convert(&c);
}

/* How the program ended without finishing its recording. */
static const char *end_of(const tl_record *r, char *buf, size_t size)
{
    if (WIFSIGNALED(r->status))
        snprintf(buf, size, "was killed (%s)", strsignal(WTERMSIG(r->status)));
    else
        snprintf(buf, size, "ended without notice");
    return buf;
}

/* Compacts a recorder's profile. The names are in it, so no binary is opened. */
static int compact(const char *path)
{
    const tl_open_options reading = {.no_demangle = true, .no_lines = true};
    const tl_profile_options whole = {.lines = true};
    const tl_write_options writing = {.overwrite = true};
    struct stat st;
    tl_source *s = NULL;
    tl_profile *p = NULL;
    tl_error e = {0};
    if (lstat(path, &st) != 0)
        return TL_EXIT_DONE;
    int status = tl_source_open(&s, path, &reading, &e);
    if (status == 0)
        status = tl_profile_from_source(&p, s, &whole, &e);
    if (status == 0)
        status = tl_profile_write(p, path, &writing, NULL, NULL, &e);
    tl_profile_free(p);
    tl_source_close(s);
    if (status == 0)
        return TL_EXIT_DONE;
    tl_say_error(path, "stays as the program left it: %s", e.message);
    return TL_EXIT_RECORD;
}

static int settle(const tl_record *r, unsigned mode)
{
    char live[PATH_MAX], path[PATH_MAX], end[64];
    struct stat st;
    tl_record_path(r, mode, TL_RECORD_LIVE, live);
    tl_record_path(r, mode, "", path);
    if (lstat(live, &st) != 0)
        return mode == TL_RECORD_PROFILE ? compact(path) : TL_EXIT_DONE;
    int status = TL_EXIT_DONE;
    if (mode == TL_RECORD_STREAMS) {
        if (rename(live, path) != 0)
            status = TL_EXIT_RECORD;
    } else {
        status = tl_record_rewrite(r, live, path, mode == TL_RECORD_PROFILE, true);
        if (status == TL_EXIT_DONE)
            unlink(live);
    }
    if (status == TL_EXIT_DONE)
        tl_say(r->cli, NULL, "the program %s; what it had recorded is in %s", end_of(r, end, sizeof end), path);
    else
        tl_say_error(NULL, "the program %s; what it had recorded is in %s", end_of(r, end, sizeof end), live);
    return status == TL_EXIT_DONE ? TL_EXIT_DONE : TL_EXIT_RECORD;
}

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

static bool is_of_any_mode(const tl_record *r, const char *name, const char *base)
{
    for (unsigned mode = 1; mode < 1u << TL_RECORD_MODES; mode <<= 1)
        if (r->modes & mode && is_of_child(name, base, tl_record_suffix(mode)))
            return true;
    return false;
}

/* Profiles of processes that have ended. */
static bool is_whole_profile(const char *name, const char *base)
{
    const size_t n = strlen(name), m = strlen(TL_RECORD_LIVE);
    return is_of_child(name, base, tl_record_suffix(TL_RECORD_PROFILE)) &&
           (n < m || strcmp(name + n - m, TL_RECORD_LIVE));
}

/* Recordings of child processes: settles profiles, and names all in one line. */
static void settle_children(const tl_record *r)
{
    enum { SHOWN = 4 };
    char folder[PATH_MAX], list[512] = "", path[2 * PATH_MAX];
    const char *base = tl_base_name(r->stem);
    unsigned n = 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(base - r->stem), r->stem);
    struct dirent **entry = NULL;
    const int entries = scandir(*folder ? folder : ".", &entry, NULL, by_number);
    for (int i = 0; i < entries; free(entry[i++])) {
        const char *name = entry[i]->d_name;
        snprintf(path, sizeof path, "%s%s", folder, name);
        if (!is_of_any_mode(r, name, base) || !is_new(r, path))
            continue;
        if (r->modes & TL_RECORD_PROFILE && is_whole_profile(name, base))
            compact(path);
        const size_t at = strlen(list);
        if (n++ < SHOWN)
            snprintf(list + at, sizeof list - at, "%s%.120s", n > 1 ? ", " : "", name);
    }
    free(entry);
    if (n)
        tl_say(r->cli, NULL, "%u more by other processes: %s%s", n, list, n > SHOWN ? ", ..." : "");
}

/* Makes the output for -o from the recording. */
static int convert(const tl_record *r)
{
    const bool profile = tl_record_makes_profile(r);
    const unsigned mode = profile && r->modes & TL_RECORD_PROFILE ? TL_RECORD_PROFILE
                          : r->modes & TL_RECORD_CALLS            ? TL_RECORD_CALLS
                                                                  : TL_RECORD_STREAMS;
    char path[PATH_MAX];
    struct stat st;
    if (lstat(tl_record_path(r, mode, "", path), &st) != 0)
        return TL_EXIT_DONE; /* nothing was recorded, which is reported later */
    const int status = tl_record_rewrite(r, path, r->cli->args->output, profile, r->cli->args->quiet);
    if (status != TL_EXIT_DONE) {
        tl_say_error(path, "has what was recorded");
        return TL_EXIT_RECORD;
    }
    return TL_EXIT_DONE;
}

int tl_record_settle(tl_record *r)
{
    int status = TL_EXIT_DONE;
    for (unsigned mode = 1; mode < 1u << TL_RECORD_MODES; mode <<= 1)
        if (r->modes & mode && settle(r, mode) != TL_EXIT_DONE)
            status = TL_EXIT_RECORD;
    if (r->convert && status == TL_EXIT_DONE)
        status = convert(r);
    settle_children(r);
    return status;
}
