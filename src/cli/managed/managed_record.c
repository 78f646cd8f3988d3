/* Records samples of a program of .NET: makes names, runs it, gives the file its name, and reports. */
#include "cli/managed/managed_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/number.h"
#include "cli/message.h"

#define REPORT_ROWS 20u

static bool remove_file(const char *path)
{
    return unlink(path) == 0;
}

static const tl_record_kind kind = {
    .suffix = ".log", .noun = "file", .content = "a recording of samples", .remove = remove_file};

/* An option that is for calls, which samples do not have. */
static const char *stray(const tl_arguments *a)
{
    const char *other = tl_first_given(a, "limit depth func not libs top json");
    return other || a->pid ? other : tl_first_given(a, "for"); /* a program that is started is recorded to its end */
}

static int check(const tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const char *other = stray(a);
    if (!a->pid && a->file.n == 0)
        tl_say_error(NULL, "record: no program to run; see traceloom record --help");
    else if (other)
        tl_say_error(NULL, "record: --%s does not go with samples of a program of .NET; -m profile records calls",
                     other);
    else if (a->to && !a->output)
        tl_say_error(NULL, "record: --to needs -o");
    else if (a->period % 1000000 || a->period > UINT64_C(10000000000))
        tl_say_error(NULL, "record: --period is in whole milliseconds, 1ms to 10s");
    else
        return TL_EXIT_DONE;
    return TL_EXIT_RECORD;
}

/* A program that was killed may leave a part of a line at the end: it is cut off. False: it cannot be read. */
static bool end_with_a_line(const char *path)
{
    enum { PART = 4096 };
    char part[PART];
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    uint64_t size = ok ? (uint64_t)st.st_size : 0;
    for (bool found = false; ok && !found && size > 0;) {
        const uint64_t from = size > PART ? size - PART : 0;
        size_t n = (size_t)(size - from);
        ok = pread(fd, part, n, (off_t)from) == (ssize_t)n;
        while (ok && n > 0 && part[n - 1] != '\n')
            n--;
        found = n > 0;
        size = from + n;
    }
    ok = ok && (size == (uint64_t)st.st_size || ftruncate(fd, (off_t)size) == 0);
    if (fd >= 0)
        close(fd);
    return ok;
}

static int show(const tl_record *r, const char *path, uint64_t bytes)
{
    const tl_arguments a = {.verb = tl_verb_find("report"),
                            .file = {&path, 1},
                            .has_top = true,
                            .top = REPORT_ROWS,
                            .color = r->cli->args->color};
    char size[32];
    if (!r->cli->args->quiet && !r->one_of_many)
        tl_record_show(r, &a);
    tl_say(r->cli, NULL, "wrote %s (%s); next: traceloom report %s --by tree, or gc, jit, cpu%s", path,
           tl_human_bytes(size, sizeof size, bytes), path, r->cli->args->alloc ? ", alloc" : "");
    return TL_EXIT_DONE;
}

static int settle(const tl_record *r)
{
    char live[PATH_MAX], path[PATH_MAX];
    struct stat st;
    tl_record_one_path(r, &kind, "", path);
    tl_record_one_path(r, &kind, TL_RECORD_LIVE, live);
    if (lstat(live, &st) != 0) {
        if (!WIFEXITED(r->status) || WEXITSTATUS(r->status) != TL_EXIT_RECORD)
            tl_say_error(r->cli->args->file.word[0], "nothing was recorded: Mono did not load %s, or it said why above",
                         r->library);
        return TL_EXIT_RECORD;
    }
    if (!end_with_a_line(live) || rename(live, path) != 0) {
        tl_say_error(live, "cannot be renamed, and has what was recorded: %s", strerror(errno));
        return TL_EXIT_RECORD;
    }
    if (WIFSIGNALED(r->status))
        tl_say(r->cli, NULL, "the program was killed (%s); what was recorded until then is in %s",
               strsignal(WTERMSIG(r->status)), path);
    return r->convert ? tl_record_convert_one(r, path, remove_file) : show(r, path, (uint64_t)st.st_size);
}

int tl_managed_record(tl_record *r)
{
    int status = check(r);
    const bool attach = r->cli->args->pid && !r->cli->args->mono;
    char live[PATH_MAX];
    if (status == TL_EXIT_DONE)
        status = attach ? tl_managed_attach_look(r) : tl_managed_look(r);
    if (status == TL_EXIT_DONE)
        status = tl_record_plan_one(r, &kind);
    if (status == TL_EXIT_DONE)
        status = attach ? tl_managed_attach(r, tl_record_one_path(r, &kind, TL_RECORD_LIVE, live)) : tl_record_run(r);
    if (status == TL_EXIT_DONE)
        status = settle(r);
    return status;
}
