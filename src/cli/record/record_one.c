/* Names of a recording that is one thing, a file or a folder: STEM with a suffix, and ".live" behind it while it is
 * made. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/record/record.h"

#define NUMBERS_TRIED 999u /* recordings of one program in a folder */

static bool exists(const tl_record *r, const tl_record_kind *k, const char *more)
{
    char path[PATH_MAX];
    struct stat st;
    return lstat(tl_record_one_path(r, k, more, path), &st) == 0;
}

char *tl_record_one_path(const tl_record *r, const tl_record_kind *k, const char *more, char buf[static PATH_MAX])
{
    snprintf(buf, PATH_MAX, "%s%s%s", r->stem, k->suffix, more);
    return buf;
}

static int make_room(const tl_record *r, const tl_record_kind *k, const char *more)
{
    char path[PATH_MAX];
    tl_record_one_path(r, k, more, path);
    if (!exists(r, k, more))
        return TL_EXIT_DONE;
    if (!r->cli->args->force) {
        if (*more)
            tl_say_error(path, "is being written, or was left by a command that was killed; -f replaces it");
        else
            tl_say_error(path, "the %s exists; -f replaces it", k->noun);
        return TL_EXIT_RECORD;
    }
    if (k->remove(path))
        return TL_EXIT_DONE;
    tl_say_error(path, "cannot be replaced: it is not %s", k->content);
    return TL_EXIT_RECORD;
}

/* The program's name; with a number after it if there is such a recording already. */
static void name_by_program(tl_record *r, const tl_record_kind *k)
{
    const char *name = tl_base_name(r->name);
    snprintf(r->stem, sizeof r->stem, "%s", name);
    for (unsigned i = 2;
         i <= NUMBERS_TRIED && !r->cli->args->force && (exists(r, k, "") || exists(r, k, TL_RECORD_LIVE)); i++)
        snprintf(r->stem, sizeof r->stem, "%.*s-%u", (int)sizeof r->stem - 16, name, i);
}

static int name_by_output(tl_record *r, const tl_record_kind *k)
{
    const char *output = r->cli->args->output;
    const size_t n = strlen(output), m = strlen(k->suffix);
    struct stat st;
    if (strcmp(output, "-") == 0) {
        tl_say_error(NULL, "record: a recording is a %s; it cannot go to standard output", k->noun);
        return TL_EXIT_RECORD;
    }
    if (n + 64 >= sizeof r->stem) {
        tl_say_error(NULL, "record: the name of the output is too long");
        return TL_EXIT_RECORD;
    }
    if (!r->cli->args->to && n > m && strcmp(output + n - m, k->suffix) == 0 && output[n - m - 1] != '/') {
        snprintf(r->stem, sizeof r->stem, "%.*s", (int)(n - m), output);
        return TL_EXIT_DONE;
    }
    r->convert =
        r->cli->args->to ? tl_format_by_name(r->cli->args->to) : tl_format_by_suffix(output, TL_CAN_WRITE_EVENTS);
    if (!r->convert && !r->cli->args->to)
        r->convert = tl_format_by_suffix(output, TL_CAN_WRITE_PROFILE);
    if (!r->convert) {
        tl_say_error(r->cli->args->to ? r->cli->args->to : output,
                     "%s no format: %s is %s, and traceloom help formats lists what it can become",
                     r->cli->args->to ? "is the name of" : "the suffix names", k->suffix, k->content);
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

int tl_record_plan_one(tl_record *r, const tl_record_kind *k)
{
    int status = TL_EXIT_DONE;
    if (r->cli->args->output)
        status = name_by_output(r, k);
    else
        name_by_program(r, k);
    if (status == TL_EXIT_DONE)
        status = make_room(r, k, "");
    return status == TL_EXIT_DONE ? make_room(r, k, TL_RECORD_LIVE) : status;
}

int tl_record_convert_one(const tl_record *r, const char *path, bool (*discard)(const char *path))
{
    const int status =
        tl_record_rewrite(r, path, r->cli->args->output, r->convert->event_writer == NULL, r->cli->args->quiet);
    if (status != TL_EXIT_DONE) {
        tl_say_error(path, "has what was recorded");
        return TL_EXIT_RECORD;
    }
    discard(path);
    return TL_EXIT_DONE;
}
