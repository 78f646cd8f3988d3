/* What to record, and the names of the files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/io/folder.h"
#include "cli/inputs.h"
#include "cli/message.h"
#include "cli/record/record.h"
#include "rt/control/control_layout.h"

#define NUMBERS_TRIED       999u /* recordings of one program in a folder */
#define ROW(bit, word, end) {bit, word, end},
static const struct {
    unsigned mode;
    const char *name, *suffix;
} recording[TL_RECORD_MODES] = {CONTROL_MODE_TABLE(ROW)};

const char *tl_record_suffix(unsigned mode)
{
    for (size_t i = 0; i < TL_COUNT(recording); i++)
        if (recording[i].mode == mode)
            return recording[i].suffix;
    return "";
}

const char *tl_record_mode_name(unsigned modes)
{
    for (size_t i = 0; i < TL_COUNT(recording); i++)
        if (recording[i].mode == modes)
            return recording[i].name;
    return modes == CONTROL_MODE_SAMPLES                    ? "samples"
           : modes == (TL_RECORD_CALLS | TL_RECORD_PROFILE) ? CONTROL_MODE_BOTH
                                                            : "none";
}

char *tl_record_path(const tl_record *r, unsigned mode, const char *more, char buf[static PATH_MAX])
{
    snprintf(buf, PATH_MAX, "%s%s%s", r->stem, tl_record_suffix(mode), more);
    return buf;
}

static bool ends_in(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n > m && strcmp(s + n - m, suffix) == 0 && s[n - m - 1] != '/';
}

unsigned tl_record_mode_of(const char *path)
{
    for (size_t i = 0; i < TL_COUNT(recording); i++)
        if (ends_in(path, recording[i].suffix))
            return recording[i].mode;
    return 0;
}

/* Modes by their names, with commas between them. */
static unsigned modes_by_name(const char *names)
{
    unsigned modes = 0;
    for (size_t i = 0; i < TL_COUNT(recording); i++)
        if (strstr(names, recording[i].name))
            modes |= recording[i].mode;
    return modes;
}

/* If -o is not a recording: its format, and which recording it can be made from. */
static int plan_conversion(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const tl_format *of_profile = tl_format_by_suffix(a->output, TL_CAN_WRITE_PROFILE);
    const tl_format *of_events = tl_format_by_suffix(a->output, TL_CAN_WRITE_EVENTS);
    if (!of_profile && !of_events) {
        if (a->mode) { /* then it is a name without a suffix */
            snprintf(r->stem, sizeof r->stem, "%s", a->output);
            return TL_EXIT_DONE;
        }
        tl_say_error(a->output,
                     "the suffix names no format: %s is a profile, %s and %s hold every call, and "
                     "traceloom help formats lists what these can become",
                     tl_record_suffix(TL_RECORD_PROFILE), tl_record_suffix(TL_RECORD_CALLS),
                     tl_record_suffix(TL_RECORD_STREAMS));
        return TL_EXIT_RECORD;
    }
    if (!r->modes)
        r->modes = of_profile && !a->ring && !a->threshold ? TL_RECORD_PROFILE : TL_RECORD_CALLS;
    if (!(r->modes & (TL_RECORD_CALLS | TL_RECORD_STREAMS)) && !of_profile) {
        tl_say_error(a->output, "needs every call: add -m %s", tl_record_mode_name(TL_RECORD_CALLS));
        return TL_EXIT_RECORD;
    }
    r->convert = of_profile && (r->modes & TL_RECORD_PROFILE || !of_events) ? of_profile : of_events;
    /* Beside it, with a unique name; it is visible in titles. */
    snprintf(r->stem, sizeof r->stem, "%.*s%s.%ld", (int)(tl_base_name(a->output) - a->output), a->output,
             tl_base_name(r->name), (long)getpid());
    return TL_EXIT_DONE;
}

static bool is_taken(const tl_record *r)
{
    char path[PATH_MAX];
    struct stat st;
    for (unsigned mode = 1; mode < 1u << TL_RECORD_MODES; mode <<= 1)
        if (r->modes & mode && (lstat(tl_record_path(r, mode, "", path), &st) == 0 ||
                                lstat(tl_record_path(r, mode, TL_RECORD_LIVE, path), &st) == 0))
            return true;
    return false;
}

/* The program's name; with a number after it if there is such a recording already. */
static void name_by_program(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const char *name = tl_base_name(r->name);
    snprintf(r->stem, sizeof r->stem, "%s", name);
    for (unsigned i = 2; i <= NUMBERS_TRIED && !a->force && is_taken(r); i++)
        snprintf(r->stem, sizeof r->stem, "%.*s-%u", (int)sizeof r->stem - 16, name, i);
}

static int plan_names(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    r->modes = a->mode ? modes_by_name(a->mode) : 0;
    if (!a->output) {
        if (!r->modes)
            r->modes = a->ring || a->threshold ? TL_RECORD_CALLS : TL_RECORD_PROFILE;
        name_by_program(r);
        return TL_EXIT_DONE;
    }
    if (strcmp(a->output, "-") == 0) {
        tl_say_error(NULL, "record: a recording is a file; it cannot go to standard output");
        return TL_EXIT_RECORD;
    }
    const unsigned mode = tl_record_mode_of(a->output);
    if (!mode || (r->modes && !(r->modes & mode)))
        return plan_conversion(r);
    if (!r->modes)
        r->modes = mode;
    snprintf(r->stem, sizeof r->stem, "%.*s", (int)(strlen(a->output) - strlen(tl_record_suffix(mode))), a->output);
    return TL_EXIT_DONE;
}

/* Removes a recording that is in the way: a file, or a folder of only plain files. */
static bool remove_recording(const char *path)
{
    tl_folder *f = NULL;
    tl_error e = {0};
    char name[PATH_MAX];
    if (unlink(path) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    bool ok = tl_folder_open(&f, path, &e) == 0 && (f->n == 0 || tl_folder_find(f, "metadata") != UINT32_MAX);
    for (uint32_t i = 0; ok && i < f->n; i++)
        ok = !strchr(f->file[i].name, '/');
    for (uint32_t i = 0; ok && i < f->n; i++) {
        int n = snprintf(name, sizeof name, "%s/%s", path, f->file[i].name);
        ok = n > 0 && (size_t)n < sizeof name && unlink(name) == 0;
    }
    tl_folder_close(f);
    return ok && rmdir(path) == 0;
}

/* Clears the name: otherwise the recorder takes another one, and we would not know which. */
static int make_room(const tl_record *r, const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return TL_EXIT_DONE;
    if (!r->cli->args->force) {
        tl_say_error(path, ends_in(path, TL_RECORD_LIVE)
                               ? "is being written, or was left by a program that was killed; -f replaces it"
                           : S_ISDIR(st.st_mode) ? "the folder exists; -f replaces it"
                                                 : "the file exists; -f replaces it");
        return TL_EXIT_RECORD;
    }
    if (remove_recording(path))
        return TL_EXIT_DONE;
    tl_say_error(path, "cannot be replaced: %s", strerror(errno));
    return TL_EXIT_RECORD;
}

/* Checks now rather than when the program runs. */
static int check_folder(const tl_record *r)
{
    char folder[PATH_MAX];
    const int n = (int)(tl_base_name(r->stem) - r->stem);
    snprintf(folder, sizeof folder, "%.*s", n ? n : 2, n ? r->stem : "./");
    if (access(folder, W_OK | X_OK) == 0)
        return TL_EXIT_DONE;
    tl_say_error(folder, "no recording can be written there: %s", strerror(errno));
    return TL_EXIT_RECORD;
}

int tl_record_plan(tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    char path[PATH_MAX];
    if (a->has_top || a->to || a->json) {
        tl_say_error(NULL, "record: --%s%s%s: goes with --dry-run",
                     a->has_top ? "top"
                     : a->to    ? "to"
                                : "json",
                     a->to && !a->has_top ? " " : "", a->to && !a->has_top ? a->to : "");
        return TL_EXIT_RECORD;
    }
    int status = plan_names(r);
    if (status != TL_EXIT_DONE)
        return status;
    if (strlen(r->stem) + 1 >= sizeof r->stem) {
        tl_say_error(NULL, "record: the name of the output is too long");
        return TL_EXIT_RECORD;
    }
    if ((a->ring || a->threshold) && !(r->modes & TL_RECORD_CALLS)) {
        tl_say_error(NULL, "record: --%s is of mode %s; this is %s", a->ring ? "ring" : "threshold",
                     tl_record_mode_name(TL_RECORD_CALLS), tl_record_mode_name(r->modes));
        return TL_EXIT_RECORD;
    }
    status = check_folder(r);
    if (status != TL_EXIT_DONE)
        return status;
    struct stat st;
    if (r->convert && !a->force && lstat(a->output, &st) == 0) {
        tl_say_error(a->output, "the file exists; -f replaces it");
        return TL_EXIT_RECORD;
    }
    for (unsigned mode = 1; mode < 1u << TL_RECORD_MODES && status == TL_EXIT_DONE; mode <<= 1) {
        if (!(r->modes & mode))
            continue;
        status = make_room(r, tl_record_path(r, mode, "", path));
        if (status == TL_EXIT_DONE)
            status = make_room(r, tl_record_path(r, mode, TL_RECORD_LIVE, path));
    }
    return status == TL_EXIT_DONE && r->convert ? tl_record_try(r) : status;
}

/* Appends KEY=VALUE; characters special to the recorder get a backslash, a percent sign in a path another one. */
static void put_pair(FILE *f, const char *key, const char *value)
{
    fprintf(f, "%s=", key);
    for (; *value; value++) {
        if (*value == ':' || *value == '\\')
            fputc('\\', f);
        if (*value == '%' && strcmp(key, "out") == 0)
            fputc('%', f);
        fputc(*value, f);
    }
    fputc(':', f);
}

/* For the recorder that is loaded into the program. */
static void put_patching(FILE *f, const tl_record *r)
{
    static const char *const patch[] = {[TL_WAY_PRELOAD] = "off", [TL_WAY_SLEDS] = "auto", [TL_WAY_PATCH] = "on"};
    const tl_arguments *a = r->cli->args;
    if (r->way == TL_WAY_MANAGED)
        for (size_t i = 0; i < a->libs.n; i++)
            put_pair(f, "libs", a->libs.word[i]);
    if (r->way == TL_WAY_LINKED || r->way == TL_WAY_MANAGED)
        return;
    put_pair(f, "patch", patch[r->way]);
    if (!a->children && !a->pid)
        fprintf(f, "exe=%" PRIu64 "\\:%" PRIu64 ":", r->device, r->inode);
    for (size_t i = 0; i < a->libs.n; i++)
        put_pair(f, "libs", a->libs.word[i]);
    if (a->min_size)
        fprintf(f, "min-size=%" PRIu64 ":", a->min_size);
    if (a->exact)
        put_pair(f, "exact", "on");
}

char *tl_record_settings(const tl_record *r)
{
    const tl_arguments *a = r->cli->args;
    const bool later = a->start && strcmp(a->start, "off") == 0;
    const char *before = getenv("TRACELOOM");
    char *text = NULL, here[PATH_MAX], path[2 * PATH_MAX], number[16];
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return NULL;
    if (before && *before)
        fprintf(f, "%s:", before);
    /* Mistakes end the program before it begins, unless recording begins later, or in what a script or make runs. */
    fprintf(f, "strict=%s:quiet=on:", later || !r->certain ? "off" : "on");
    if (later || a->duration) /* it takes a command to start and to stop */
        put_pair(f, "control", "on");
    put_pair(f, "mode", tl_record_mode_name(r->modes));
    const bool relative = r->stem[0] != '/' && getcwd(here, sizeof here);
    snprintf(path, sizeof path, "%s%s%s", relative ? here : "", relative ? "/" : "", r->stem);
    put_pair(f, "out", path);
    if (a->ring)
        put_pair(f, "ring", a->ring);
    if (a->limit)
        put_pair(f, "limit", a->limit);
    if (a->threshold)
        put_pair(f, "threshold", a->threshold);
    if (a->depth) {
        snprintf(number, sizeof number, "%u", a->depth);
        put_pair(f, "depth", number);
    }
    for (size_t i = 0; i < a->func.n; i++)
        put_pair(f, "func", a->func.word[i]);
    for (size_t i = 0; i < a->not_func.n; i++)
        put_pair(f, "not", a->not_func.word[i]);
    put_patching(f, r);
    fprintf(f, "start=%s", later ? "off" : "on");
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
