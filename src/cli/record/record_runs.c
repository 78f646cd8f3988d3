/* Several runs of a program, for comparing: each is recorded into a file of its own in a folder. Two programs take
 * turns, so that a machine that becomes slower meanwhile does so for both. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/message.h"
#include "cli/record/record.h"

#define RUNS_OF_TURNS 10u /* without --runs: enough to tell changes of a few percent */

typedef struct runs {
    const tl_cli *cli;
    char folder[2][PATH_MAX]; /* of the first program, and of the second */
    const char *program[2];   /* the first is the only one, without --turns */
    uint32_t n;
    uint32_t done;
} runs;

/* What the files end in: with a mode, the name has no suffix yet. */
static const char *suffix(const tl_arguments *a)
{
    if (a->mode)
        return "";
    return tl_record_suffix(a->ring || a->threshold ? TL_RECORD_CALLS : TL_RECORD_PROFILE);
}

static int check(const tl_arguments *a)
{
    const char *with = a->turns ? "turns" : "runs";
    const char *stray = a->pid ? "pid" : a->dry_run ? "dry-run" : a->start ? "start" : NULL;
    if (a->file.n == 0) {
        tl_say_error(NULL, "record: no program to run; see traceloom record --help");
        return TL_EXIT_RECORD;
    }
    if (stray) {
        tl_say_error(NULL, "record: --%s does not go with --%s", stray, with);
        return TL_EXIT_RECORD;
    }
    if (a->mode && strchr(a->mode, ',')) {
        tl_say_error(NULL, "record: --%s makes one recording a run; --mode %s makes two", with, a->mode);
        return TL_EXIT_RECORD;
    }
    if (!a->output || strcmp(a->output, "-") == 0) {
        tl_say_error(NULL, "record: --%s writes several files: name a folder for them with -o", with);
        return TL_EXIT_RECORD;
    }
    return TL_EXIT_DONE;
}

static int make_folder(const char *path)
{
    struct stat st;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return TL_EXIT_DONE;
    tl_say_error(path, "the folder cannot be made: %s", strerror(errno));
    return TL_EXIT_RECORD;
}

static int make_folders(runs *r)
{
    static const char *const name[] = {"/old", "/new"};
    const tl_arguments *a = r->cli->args;
    size_t n = strlen(a->output);
    while (n > 1 && a->output[n - 1] == '/')
        n--;
    for (int i = 0; i < 2; i++)
        if ((size_t)snprintf(r->folder[i], PATH_MAX - 32, "%.*s%s", (int)n, a->output, a->turns ? name[i] : "") >=
            PATH_MAX - 32) {
            tl_say_error(NULL, "record: the name of the output is too long");
            return TL_EXIT_RECORD;
        }
    int status = a->turns ? make_folder(a->output) : TL_EXIT_DONE;
    for (int i = 0; i < (a->turns ? 2 : 1) && status == TL_EXIT_DONE; i++)
        status = make_folder(r->folder[i]);
    return status;
}

/* Run number `i`, from 1, of one of the programs. */
static int run_one(runs *r, uint32_t i, int which)
{
    const tl_arguments *given = r->cli->args;
    tl_arguments a = *given;
    tl_cli c = *r->cli;
    char output[PATH_MAX + 32];
    const char **word = calloc(given->file.n, sizeof *word);
    if (!word) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_RECORD;
    }
    memcpy(word, given->file.word, given->file.n * sizeof *word);
    word[0] = r->program[which];
    snprintf(output, sizeof output, "%s/run-%03u%s", r->folder[which], (unsigned)i, suffix(given));
    a.file.word = word;
    a.output = output;
    a.quiet = a.quiet || i > 1; /* says the same as the first */
    c.args = &a;
    tl_say_more(r->cli, NULL, "run %u of %u of %s", (unsigned)i, (unsigned)r->n, word[0]);
    const int status = tl_record_once(&c, true);
    free(word);
    r->done += status == 0;
    if (status != 0)
        tl_say_error(NULL, "record: run %u of %u of %s ended with status %d; no more runs", (unsigned)i, (unsigned)r->n,
                     r->program[which], status);
    return status;
}

/* What follows the program is the program's, whatever it looks like. */
static void say_misplaced(const tl_cli *c)
{
    const tl_words *word = &c->args->file;
    for (size_t i = 1; i < word->n; i++)
        if (strcmp(word->word[i], "--runs") == 0 || strcmp(word->word[i], "--turns") == 0)
            tl_say(c, NULL, "%s is given to %s; options of record stand before the program", word->word[i],
                   word->word[0]);
}

static int run_all(runs *r)
{
    const bool turns = r->cli->args->turns != NULL;
    int status = 0;
    for (uint32_t i = 1; i <= r->n && status == 0; i++) {
        const int first = turns && i % 2 == 0; /* the other one first in every second turn */
        status = run_one(r, i, first);
        if (status == 0 && turns)
            status = run_one(r, i, !first);
    }
    return status;
}

static void say_next_runs(const runs *r)
{
    const tl_cli *c = r->cli;
    if (c->args->turns)
        tl_say(c, NULL, "wrote %u recordings; next: traceloom report --diff %s %s", (unsigned)r->done, r->folder[0],
               r->folder[1]);
    else
        tl_say(c, NULL, "wrote %u recordings in %s; next: traceloom report --diff OTHER %s", (unsigned)r->done,
               r->folder[0], r->folder[0]);
}

int tl_record_runs(const tl_cli *c)
{
    const tl_arguments *a = c->args;
    int status = check(a);
    runs *r = status == TL_EXIT_DONE ? calloc(1, sizeof *r) : NULL;
    if (status == TL_EXIT_DONE && !r) {
        tl_say_error(NULL, "out of memory");
        return TL_EXIT_RECORD;
    }
    if (status != TL_EXIT_DONE)
        return status;
    *r = (runs){.cli = c,
                .program = {a->turns ? a->turns : a->file.word[0], a->file.word[0]},
                .n = a->runs ? a->runs : RUNS_OF_TURNS};
    say_misplaced(c);
    status = make_folders(r);
    if (status == TL_EXIT_DONE)
        status = run_all(r);
    if (status == TL_EXIT_DONE)
        say_next_runs(r);
    free(r);
    return status;
}
