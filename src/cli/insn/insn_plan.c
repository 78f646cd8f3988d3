/* Names of recordings of instructions, which are folders. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/folder.h"
#include "cli/insn/insn_record.h"
#include "cli/message.h"

#define NUMBERS_TRIED 999u /* recordings of one program in a folder */

static bool exists(const tl_record *r, const char *more)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s" TL_INSN_SUFFIX "%s", r->stem, more);
    return lstat(path, &st) == 0;
}

bool tl_insn_remove(const char *path)
{
    tl_folder *f = NULL;
    tl_error e = {0};
    char name[2 * PATH_MAX];
    bool ok = tl_folder_open(&f, path, &e) == 0;
    for (uint32_t i = 0; ok && i < f->n; i++)
        ok = strncmp(f->file[i].name, "xtrace.", 7) == 0 && !strchr(f->file[i].name, '/');
    for (uint32_t i = 0; ok && i < f->n; i++) {
        snprintf(name, sizeof name, "%s/%s", path, f->file[i].name);
        ok = unlink(name) == 0;
    }
    tl_folder_close(f);
    return ok && rmdir(path) == 0;
}

static int make_room(const tl_record *r, const char *more)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s" TL_INSN_SUFFIX "%s", r->stem, more);
    if (!exists(r, more))
        return TL_EXIT_DONE;
    if (!r->cli->args->force) {
        tl_say_error(path, *more ? "is being written, or was left by a command that was killed; -f replaces it"
                                 : "the folder exists; -f replaces it");
        return TL_EXIT_RECORD;
    }
    if (tl_insn_remove(path))
        return TL_EXIT_DONE;
    tl_say_error(path, "cannot be replaced: it is not a folder of recordings of instructions");
    return TL_EXIT_RECORD;
}

/* The program's name; with a number after it if there is such a recording already. */
static void name_by_program(tl_record *r)
{
    const char *name = tl_base_name(r->name);
    snprintf(r->stem, sizeof r->stem, "%s", name);
    for (unsigned i = 2; i <= NUMBERS_TRIED && !r->cli->args->force && (exists(r, "") || exists(r, TL_RECORD_LIVE));
         i++)
        snprintf(r->stem, sizeof r->stem, "%.*s-%u", (int)sizeof r->stem - 16, name, i);
}

static int name_by_output(tl_record *r)
{
    const char *output = r->cli->args->output;
    const size_t n = strlen(output), m = strlen(TL_INSN_SUFFIX);
    struct stat st;
    if (strcmp(output, "-") == 0) {
        tl_say_error(NULL, "record: a recording is a folder; it cannot go to standard output");
        return TL_EXIT_RECORD;
    }
    if (n + 64 >= sizeof r->stem) {
        tl_say_error(NULL, "record: the name of the output is too long");
        return TL_EXIT_RECORD;
    }
    if (!r->cli->args->to && n > m && strcmp(output + n - m, TL_INSN_SUFFIX) == 0 && output[n - m - 1] != '/') {
        snprintf(r->stem, sizeof r->stem, "%.*s", (int)(n - m), output);
        return TL_EXIT_DONE;
    }
    r->convert =
        r->cli->args->to ? tl_format_by_name(r->cli->args->to) : tl_format_by_suffix(output, TL_CAN_WRITE_EVENTS);
    if (!r->convert && !r->cli->args->to)
        r->convert = tl_format_by_suffix(output, TL_CAN_WRITE_PROFILE);
    if (!r->convert) {
        tl_say_error(r->cli->args->to ? r->cli->args->to : output,
                     "%s no format: " TL_INSN_SUFFIX
                     " is a recording of instructions, and traceloom help formats lists "
                     "what it can become",
                     r->cli->args->to ? "is the name of" : "the suffix names");
        return TL_EXIT_RECORD;
    }
    if (!r->cli->args->force && lstat(output, &st) == 0) {
        tl_say_error(output, "the file exists; -f replaces it");
        return TL_EXIT_RECORD;
    }
    snprintf(r->stem, sizeof r->stem, "%.*s%s.%ld", (int)(tl_base_name(output) - output), output, tl_base_name(r->name),
             (long)getpid());
    return TL_EXIT_DONE;
}

int tl_insn_plan(tl_record *r)
{
    char path[PATH_MAX];
    int status = TL_EXIT_DONE;
    if (r->cli->args->output)
        status = name_by_output(r);
    else
        name_by_program(r);
    if (status == TL_EXIT_DONE)
        status = make_room(r, "");
    if (status == TL_EXIT_DONE)
        status = make_room(r, TL_RECORD_LIVE);
    if (status != TL_EXIT_DONE)
        return status;
    snprintf(path, sizeof path, "%s" TL_INSN_SUFFIX TL_RECORD_LIVE, r->stem);
    if (mkdir(path, 0777) == 0)
        return TL_EXIT_DONE;
    tl_say_error(path, "the folder cannot be made: %s", strerror(errno));
    return TL_EXIT_RECORD;
}
