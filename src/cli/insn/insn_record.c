/* Records the instructions of a program: makes names, runs the program in QEMU while a thread writes, and reports. */
#include "cli/insn/insn_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/number.h"
#include "cli/insn/insn_writer.h"
#include "cli/message.h"

#define DEFAULT_INTERVAL 1000000u            /* instructions between snapshots */
#define REPORT_INSNS     UINT64_C(500000000) /* larger recordings are not read without being asked */
#ifdef TL_HAVE_ZSTD
#define TL_INSN_ZSTD true
#else
#define TL_INSN_ZSTD false
#endif
#define REPORT_ROWS 20u

const char *tl_insn_only(const tl_arguments *a)
{
    return tl_first_given(a, "plain slice-at slice-insns hint order snapshots qemu-cpu sysroot");
}

/* An option that is for calls of functions. */
static const char *stray(const tl_arguments *a)
{
    return tl_first_given(a, "mode threshold ring limit start pid for runs turns how any dry-run depth func not top "
                             "json libs min-size exact children");
}

static int check(const tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const char *other = stray(a);
    if (a->file.n == 0)
        tl_say_error(NULL, "record: no program to run; see traceloom record --help");
    else if (other)
        tl_say_error(NULL, "record: --%s does not go with --insn", other);
    else if (a->to && !a->output)
        tl_say_error(NULL, "record: --to needs -o");
    else if (a->hint && a->slice_at)
        tl_say_error(NULL, "record: --hint and --slice-at both say where to begin");
    else if (a->slice_insns && !a->slice_at)
        tl_say_error(NULL, "record: --slice-insns needs --slice-at; all of it: --slice-at 0");
    else if (a->snapshots > UINT32_MAX)
        tl_say_error(NULL, "record: --snapshots %" PRIu64 ": the most is %u", a->snapshots, UINT32_MAX);
    else
        return TL_EXIT_DONE;
    return TL_EXIT_RECORD;
}

static int say_refusal(const tl_record *r, const insn_shared *m)
{
    static const char *const why[] = {
        [INSN_NO_REGISTERS] = "keeps its registers where they cannot be found",
        [INSN_WIDE_VECTORS] = "has vectors of more than 128 bits",
        [INSN_NO_MEMORY] = "ran out of memory",
        [INSN_NO_SLICES] = "cannot begin while the program runs",
    };
    const uint32_t refused = m->refused;
    if (!m->attached)
        tl_say_error(r->cli->args->file.word[0],
                     "nothing was recorded: qemu-aarch64 did not load %s; qemu-user 7.2 of Debian 12 does, "
                     "qemu-user-static does not",
                     r->library);
    else if (refused && refused < TL_COUNT(why))
        tl_say_error(r->cli->args->file.word[0],
                     "nothing was recorded: this QEMU %s; 7.2 of Debian 12 is known to work", why[refused]);
    else if (r->cli->args->hint)
        tl_say_error(r->cli->args->file.word[0], "nothing was recorded: it did not come to a HINT #9");
    else if (m->slice.function)
        tl_say_error(r->cli->args->file.word[0], "nothing was recorded: of %s there were %" PRIu64 " calls",
                     r->cli->args->slice_at, m->slice.calls);
    else if (m->slice.in_library)
        tl_say_error(r->cli->args->file.word[0],
                     "nothing was recorded: neither it nor a library that it loaded has a function %s",
                     r->cli->args->slice_at);
    else if (m->slice.wanted)
        tl_say_error(r->cli->args->file.word[0], "nothing was recorded: no thread came to instruction %" PRIu64,
                     m->slice.number);
    else
        tl_say_error(r->cli->args->file.word[0], "nothing was recorded: it executed no instruction");
    return TL_EXIT_RECORD;
}

static void say_totals(const tl_record *r, const tl_insn_totals *t, const insn_shared *m, const char *path)
{
    char a[32], b[32], c[32], d[32], e[32];
    tl_say(r->cli, NULL, "%s: %s thread%s, %s instructions, %s loads, %s stores, %s system calls", path,
           tl_human_grouped(a, sizeof a, t->threads), t->threads == 1 ? "" : "s",
           tl_human_grouped(b, sizeof b, t->insns), tl_human_grouped(c, sizeof c, t->loads),
           tl_human_grouped(d, sizeof d, t->stores), tl_human_grouped(e, sizeof e, t->calls));
    if (WIFSIGNALED(r->status))
        tl_say(r->cli, NULL, "the program was killed (%s)%s", strsignal(WTERMSIG(r->status)),
               t->lost ? "" : "; all that it did until then is recorded");
    if (m->too_many)
        tl_say_error(NULL, "record: %u threads are missing: more than %u ran at the same time", m->too_many,
                     INSN_STREAMS_MOST);
    if (t->running)
        tl_say_error(NULL, "record: %u threads of other processes still run, and are recorded up to here", t->running);
    if (m->execs)
        tl_say(r->cli, NULL, "what it started with execve() is not recorded");
}

static void show_table(const tl_record *r, const char *path)
{
    const tl_arguments a = {.verb = tl_verb_find("report"),
                            .file = {&path, 1},
                            .by = "func",
                            .exe = r->program,
                            .has_top = true,
                            .top = REPORT_ROWS,
                            .color = r->cli->args->color};
    tl_record_show(r, &a);
}

/* Gives the folder its name; or makes the output of it. */
static int settle(const tl_record *r, const tl_insn_totals *t, const insn_shared *m)
{
    char live[PATH_MAX], path[PATH_MAX];
    snprintf(path, sizeof path, "%s" TL_INSN_SUFFIX, r->stem);
    snprintf(live, sizeof live, "%s" TL_INSN_SUFFIX TL_RECORD_LIVE, r->stem);
    if (t->threads == 0) {
        rmdir(live);
        return say_refusal(r, m);
    }
    if (rename(live, path) != 0) {
        tl_say_error(live, "cannot be renamed, and has what was recorded: %s", strerror(errno));
        return TL_EXIT_RECORD;
    }
    say_totals(r, t, m, r->convert ? r->cli->args->output : path);
    if (r->convert)
        return tl_record_convert_one(r, path, tl_insn_remove);
    if (!r->cli->args->quiet && t->insns <= REPORT_INSNS)
        show_table(r, path);
    tl_say(r->cli, NULL, "wrote %s; next: traceloom report %s -e %s --by cache", path, path, r->program);
    return TL_EXIT_DONE;
}

static int run(tl_record *r, tl_insn_writer *w)
{
    tl_insn_totals totals;
    tl_error e = {0};
    int status;
    r->command = tl_insn_command(r, tl_insn_writer_fd(w), &status);
    if (!r->command)
        return status;
    if (tl_insn_writer_begin(w, &e) < 0) {
        tl_say_error(NULL, "record: %s", e.message);
        status = TL_EXIT_RECORD;
    } else {
        status = tl_record_run(r);
        const int written = tl_insn_writer_end(w, (long)r->pid, &totals, &e);
        if (written < 0)
            tl_say_error(NULL, "record: cannot write: %s; %" PRIu64 " instructions are lost", e.message, totals.lost);
        if (status == TL_EXIT_DONE)
            status = settle(r, &totals, tl_insn_writer_memory(w));
        if (written < 0 && status == TL_EXIT_DONE)
            status = TL_EXIT_RECORD;
    }
    tl_insn_command_free(r->command);
    return status;
}

int tl_insn_record(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    char live[PATH_MAX];
    tl_insn_writer *w = NULL;
    tl_error e = {0};
    tl_insn_wanted wanted = {.interval = a->snapshots ? (uint32_t)a->snapshots : DEFAULT_INTERVAL,
                             .packed = TL_INSN_ZSTD && !a->plain,
                             .find = tl_insn_find_in_library,
                             .arg = r};
    int status = check(r);
    if (status != TL_EXIT_DONE)
        return status;
    r->name = a->file.word[0];
    status = tl_record_find(r);
    if (status == TL_EXIT_DONE && a->slice_at)
        status = tl_insn_find_slice(r, &wanted.slice);
    if (status == TL_EXIT_DONE)
        status = tl_insn_plan(r);
    if (status != TL_EXIT_DONE)
        return status;
    snprintf(live, sizeof live, "%s" TL_INSN_SUFFIX TL_RECORD_LIVE, r->stem);
    if (tl_insn_writer_new(&w, live, &wanted, &e) < 0) {
        tl_say_error(NULL, "record: %s", e.message);
        status = TL_EXIT_RECORD;
    } else {
        status = run(r, w);
    }
    tl_insn_writer_free(w);
    if (status != TL_EXIT_DONE)
        rmdir(live); /* if nothing is in it */
    return status;
}
