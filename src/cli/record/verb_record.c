/* traceloom record: runs a program, records it, and reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/number.h"
#include "cli/insn/insn_record.h"
#include "cli/managed/managed_record.h"
#include "cli/message.h"
#include "cli/record/record.h"

#define REPORT_ROWS  20u
#define REPORT_BYTES (INT64_C(4) << 30) /* larger ones are not read without being asked */

/* Standard output belongs to the program. */
int tl_record_show(const tl_record *r, const tl_arguments *report)
{
    tl_cli c = {.args = report};
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return TL_EXIT_RECORD;
    tl_terminal_init(&c.out, STDERR_FILENO, r->cli->args->color);
    fputc('\n', stderr);
    const int status = tl_verb_report(&c);
    fflush(stdout);
    if (kept >= 0) {
        dup2(kept, STDOUT_FILENO);
        close(kept);
    }
    return status;
}

/* The table of functions. */
static int show_table(const tl_record *r, const char *path)
{
    const tl_arguments a = {.verb = tl_verb_find("report"),
                            .file = {&path, 1},
                            .has_top = true,
                            .top = REPORT_ROWS,
                            .color = r->cli->args->color};
    return tl_record_show(r, &a);
}

/* "wrote app.tlp (12.1 KiB); next: traceloom report app.tlp --by tree, or -o app.svg" */
static void say_next(const tl_record *r, unsigned mode, const char *path)
{
    struct stat st;
    char size[48] = "", bytes[32];
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        snprintf(size, sizeof size, " (%s)", tl_human_bytes(bytes, sizeof bytes, (uint64_t)st.st_size));
    if (mode == TL_RECORD_PROFILE)
        tl_say(r->cli, NULL, "wrote %s%s; next: traceloom report %s --by tree, or -o %s.svg", path, size, path,
               r->stem);
    else if (mode == TL_RECORD_STREAMS && r->certain) /* events of this format have no names */
        tl_say(r->cli, NULL, "wrote %s%s; next: traceloom convert %s -e %s -o %s.pftrace", path, size, path, r->program,
               r->stem);
    else
        tl_say(r->cli, NULL, "wrote %s%s; next: traceloom convert %s -o %s.pftrace", path, size, path, r->stem);
}

int tl_record_report(tl_record *r, bool *any)
{
    static const unsigned order[TL_RECORD_MODES] = {TL_RECORD_PROFILE, TL_RECORD_CALLS, TL_RECORD_STREAMS};
    char path[PATH_MAX];
    struct stat st;
    bool shown = r->cli->args->quiet || r->one_of_many;
    *any = false;
    for (unsigned i = 0; i < TL_RECORD_MODES; i++) {
        if (!(r->modes & order[i]) || lstat(tl_record_path(r, order[i], "", path), &st) != 0)
            continue;
        *any = true;
        const uint64_t bytes = (uint64_t)st.st_size; /* off_t may have 32 bits */
        if (!shown && bytes <= REPORT_BYTES)
            shown = show_table(r, path) == TL_EXIT_DONE;
    }
    for (unsigned i = 0; i < TL_RECORD_MODES; i++) {
        if (!(r->modes & order[i]) || lstat(tl_record_path(r, order[i], "", path), &st) != 0)
            continue;
        if (r->convert)
            unlink(path); /* -o has the result, and was named already */
        else if (!r->one_of_many)
            say_next(r, order[i], path);
    }
    return TL_EXIT_DONE;
}

/* The program's exit status, as in a shell. */
static int status_of(const tl_record *r)
{
    return WIFSIGNALED(r->status) ? 128 + WTERMSIG(r->status) : WEXITSTATUS(r->status);
}

static int say_nothing(const tl_record *r)
{
    const char *start = r->cli->args->start;
    if (start && strcmp(start, "off") == 0) {
        tl_say(r->cli, NULL, "nothing was recorded: recording was never started");
        return TL_EXIT_DONE;
    }
    if (status_of(r) != TL_EXIT_RECORD) /* the recorder ends a program with this status after a message of its own */
        tl_say_error(NULL, "nothing was recorded: no recorder ran, or it could not record and said why above");
    return TL_EXIT_RECORD;
}

/* What is recorded: a command, or a process that runs. */
static int choose(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const char *only = a->start ? "start" : a->any ? "any" : a->how ? "how" : a->children ? "children" : NULL;
    if (!a->pid && a->file.n == 0) {
        tl_say_error(NULL, "record: no program to run; see traceloom record --help");
        return TL_EXIT_RECORD;
    }
    if (a->pid && a->file.n) {
        tl_say_error(NULL, "record: either a process or a command: --pid %u, or %s", a->pid, a->file.word[0]);
        return TL_EXIT_RECORD;
    }
    if (a->pid && (only || a->dry_run)) {
        tl_say_error(NULL, "record: --%s is for programs that are started, and --pid is not", only ? only : "dry-run");
        return TL_EXIT_RECORD;
    }
    if (a->duration && a->start && strcmp(a->start, "off") == 0) {
        tl_say_error(NULL, "record: --for is for a recording that begins at once, and with --start off it does not");
        return TL_EXIT_RECORD;
    }
    r->name = a->pid ? tl_record_process_name(r) : a->file.word[0];
    return r->name ? TL_EXIT_DONE : TL_EXIT_RECORD;
}

static int record(tl_record *r)
{
    if (r->cli->args->pid)
        return tl_record_process(r) == TL_EXIT_DONE ? TL_EXIT_DONE : TL_EXIT_RECORD;
    int status = r->command ? TL_EXIT_DONE : tl_record_find(r);
    if (status == TL_EXIT_DONE && !r->command)
        status = tl_record_look(r);
    return status == TL_EXIT_DONE ? tl_record_run(r) : status;
}

/* Recordings that have nothing in common with those of calls but the run: true, with its status. Otherwise the status
 * of what precedes a recording of calls. */
static bool run_whole(tl_record *r, int *status)
{
    const tl_arguments *a = r->cli->args;
    if (a->insn) {
        *status = tl_insn_record(r);
        return true;
    }
    *status = choose(r);
    const bool managed = *status == TL_EXIT_DONE && tl_managed_is(r);
    if (managed && tl_managed_samples(r)) {
        *status = tl_managed_record(r);
        return true;
    }
    if (managed) {
        *status = tl_managed_look(r);
    } else if (*status == TL_EXIT_DONE && tl_managed_only(a)) {
        tl_say_error(a->file.n ? a->file.word[0] : NULL, "--%s is for programs of .NET", tl_managed_only(a));
        *status = TL_EXIT_RECORD;
    }
    return false;
}

static int run(tl_record *r)
{
    const char *only = tl_insn_only(r->cli->args);
    if (!r->cli->args->insn && only) {
        tl_say_error(NULL, "record: --%s goes with --insn", only);
        return TL_EXIT_RECORD;
    }
    int status = TL_EXIT_DONE;
    if (run_whole(r, &status))
        return r->pid > 0 && status_of(r) ? status_of(r) : status;
    if (status == TL_EXIT_DONE && r->cli->args->dry_run)
        return tl_record_dry_run(r);
    if (status == TL_EXIT_DONE)
        status = tl_record_plan(r);
    if (status == TL_EXIT_DONE)
        status = record(r);
    if (status != TL_EXIT_DONE)
        return status;
    bool any = false;
    tl_record_say_patched(r);
    status = tl_record_settle(r);
    if (status == TL_EXIT_DONE)
        tl_record_report(r, &any);
    if (status == TL_EXIT_DONE && !any)
        status = say_nothing(r);
    return status_of(r) ? status_of(r) : status;
}

int tl_record_once(const tl_cli *c, bool one_of_many)
{
    tl_record *r = calloc(1, sizeof *r);
    if (!r) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_RECORD;
    }
    r->cli = c;
    r->one_of_many = one_of_many;
    const int status = run(r);
    if (r->way == TL_WAY_MANAGED)
        free(r->command); /* its words are borrowed */
    free(r);
    return status;
}

int tl_verb_record(tl_cli *c)
{
    return c->args->runs || c->args->turns ? tl_record_runs(c) : tl_record_once(c, false);
}
