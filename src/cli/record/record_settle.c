/* Finishes the files that programs leave: rewrites profiles in a twentieth of the size; completes and renames the file
 * of a program that could not end its recording (killed, _exit, exec). */
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

int tl_record_compact(const char *path)
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
        return mode == TL_RECORD_PROFILE ? tl_record_compact(path) : TL_EXIT_DONE;
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
    tl_record_settle_children(r);
    return status;
}
