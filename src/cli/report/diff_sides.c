/* Finds and reads the runs of both sides of a comparison. */
#include "cli/report/diff_sides.h"

#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/io/base_name.h"
#include "base/io/folder_tree.h"
#include "base/text/ends_in.h"
#include "cli/inputs.h"
#include "cli/losses.h"
#include "cli/message.h"
#include "cli/report/profiles_ahead.h"
#include "cli/selection.h"

#define UNFINISHED ".live" /* at the end of the name of a recording that is being written */

static int no_memory(void)
{
    tl_say_error(NULL, "out of memory");
    return TL_EXIT_DAMAGED;
}

static bool add_file(tl_diff_sides *s, int side, const char *path)
{
    tl_diff_side *d = &s->side[side];
    const char *copy = tl_arena_strndup(&s->arena, path, strlen(path));
    if (!copy || !TL_GROW(d->file.word, d->file.n, 1, d->capacity))
        return false;
    d->file.word[d->file.n++] = copy;
    return true;
}

/* Is it something that can be opened as a trace? */
static bool is_trace(const tl_cli *c, const char *path)
{
    const tl_want want = {0};
    tl_open_options options = tl_reading_options(c, &want);
    tl_source *s = NULL;
    tl_error e = {0};
    options.no_names = true;
    const bool is = tl_source_open(&s, path, &options, &e) == 0 || e.code != TL_EFORMAT;
    tl_source_close(s);
    return is;
}

static int skip_hidden(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Every trace in a folder is a run. */
static int add_folder(tl_diff_sides *s, const tl_cli *c, int side, const char *path)
{
    struct dirent **entry = NULL;
    const int n = scandir(path, &entry, skip_hidden, by_name);
    bool ok = n >= 0;
    for (int i = 0; i < n; i++) {
        char *file = ok ? tl_path_join(path, entry[i]->d_name) : NULL;
        if (!file)
            ok = false;
        else if (tl_ends_in(file, UNFINISHED))
            tl_say(c, file, "left out: it is being written, or its program was killed");
        else if (is_trace(c, file))
            ok = add_file(s, side, file);
        else
            tl_say(c, file, "left out: not a trace");
        free(file);
        free(entry[i]);
    }
    free(entry);
    if (n < 0) {
        tl_say_error(path, "the folder cannot be read");
        return TL_EXIT_DAMAGED;
    }
    return ok ? TL_EXIT_DONE : no_memory();
}

static int add_matches(tl_diff_sides *s, int side, const char *pattern)
{
    glob_t found = {0};
    bool ok = glob(pattern, 0, NULL, &found) == 0;
    for (size_t i = 0; i < found.gl_pathc && ok; i++)
        ok = add_file(s, side, found.gl_pathv[i]);
    const size_t n = found.gl_pathc;
    globfree(&found);
    if (n == 0) {
        tl_say_error(pattern, "matches no file");
        return TL_EXIT_DAMAGED;
    }
    return ok ? TL_EXIT_DONE : no_memory();
}

static int find_side(tl_diff_sides *s, const tl_cli *c, int side, const char *word)
{
    struct stat st;
    const bool exists = stat(word, &st) == 0;
    int status;
    if (!exists && strpbrk(word, "*?["))
        status = add_matches(s, side, word);
    else if (exists && S_ISDIR(st.st_mode) && !is_trace(c, word))
        status = add_folder(s, c, side, word);
    else
        status = add_file(s, side, word) ? TL_EXIT_DONE : no_memory();
    const size_t n = s->side[side].file.n;
    if (status != TL_EXIT_DONE)
        return status;
    if (n == 0) {
        tl_say_error(word, "no traces in this folder");
        return TL_EXIT_DAMAGED;
    }
    if (n > TL_COMPARE_RUNS_MAX) {
        tl_say_error(word, "%zu runs; at most %u of a side can be compared", n, TL_COMPARE_RUNS_MAX);
        return TL_EXIT_USAGE;
    }
    return TL_EXIT_DONE;
}

int tl_diff_sides_find(tl_diff_sides *s, const tl_cli *c)
{
    int status = TL_EXIT_DONE;
    for (int side = 0; side < 2 && status == TL_EXIT_DONE; side++)
        status = find_side(s, c, side, c->args->file.word[side]);
    return status;
}

/* When the file was written: that is when the run ended. */
static void set_time(tl_compare_run *run, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    run->utc_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    run->has_utc = true;
}

/* How all runs are read. */
typedef struct reader {
    const tl_cli *cli;
    tl_want want;
    tl_profile_options options;
    tl_selection selection;
    tl_profiles_ahead *ahead; /* of the current side, or NULL */
    bool page;
} reader;

static int make_profile(reader *how, tl_reading *r, tl_profile **p, tl_error *e)
{
    int status = tl_selection_apply(&how->selection, r->trace, e);
    if (status == 0) {
        tl_reading_start(r, how->cli, "reading");
        status = tl_profile_from_source(p, r->source, &how->options, e);
        tl_reading_stop(r);
    }
    return status;
}

static int read_run(tl_diff_sides *s, reader *how, const char *path, tl_compare_run *run)
{
    tl_profile *p = NULL;
    tl_source *ready = how->ahead ? tl_profiles_ahead_next(how->ahead, &p) : NULL;
    tl_reading r;
    tl_error e = {0};
    int status = TL_EXIT_DONE;
    if (ready) {
        tl_reading_take(&r, how->cli, path, ready);
        tl_profiles_ahead_keep(how->ahead);
    } else {
        status = tl_reading_open(&r, how->cli, path, &how->want);
        if (status != TL_EXIT_DONE)
            return status;
        status = make_profile(how, &r, &p, &e);
    }
    if (status < 0)
        status = tl_say_failure(path, &e);
    else
        s->losses = tl_exit_worse(s->losses, tl_say_losses(how->cli, r.trace, 0));
    if (status == TL_EXIT_DONE && how->page && tl_html_inputs_add(&s->inputs, r.trace, &e) < 0)
        status = tl_say_failure(path, &e);
    *run = (tl_compare_run){.profile = p, .name = how->page ? tl_base_name(path) : path};
    set_time(run, path);
    tl_reading_close(&r);
    return status;
}

static int read_side(tl_diff_sides *s, reader *how, tl_diff_side *d)
{
    static const tl_profile_fit as_they_are = {0};
    int status = TL_EXIT_DONE;
    tl_profile_files *files = NULL;
    tl_error e;
    d->run = calloc(d->file.n, sizeof *d->run);
    if (!d->run || tl_profile_files_open(&files, d->file.word, d->file.n, &(tl_profile_files_options){0}, &e) < 0)
        return no_memory();
    if (!how->selection.any && how->options.threads > 1 && d->file.n > 1) /* a selection keeps score over all runs */
        how->ahead = tl_profiles_ahead_open(how->cli, files, 0, &how->want, &how->options, &as_they_are);
    for (; d->nrun < d->file.n && status == TL_EXIT_DONE; d->nrun++)
        status = read_run(s, how, d->file.word[d->nrun], &d->run[d->nrun]);
    tl_profiles_ahead_close(how->ahead);
    tl_profile_files_close(files);
    how->ahead = NULL;
    return status;
}

int tl_diff_sides_read(tl_diff_sides *s, const tl_cli *c, bool page)
{
    const tl_arguments *a = c->args;
    reader how = {.cli = c,
                  .page = page,
                  .want = {.cpu = a->cpu.n != 0, .strict = a->strict, .threads = tl_threads(c)},
                  .options = {.weight = a->weight, .threads = tl_threads(c)}};
    tl_error e = {0};
    int status = TL_EXIT_DONE;
    if (tl_selection_parse(&how.selection, a, &e) < 0 || tl_selection_keep_score(&how.selection, &e) < 0)
        status = tl_say_failure(NULL, &e);
    how.options.select = how.selection.any ? &how.selection.select : NULL;
    for (int side = 0; side < 2 && status == TL_EXIT_DONE; side++)
        status = read_side(s, &how, &s->side[side]);
    if (status == TL_EXIT_DONE && tl_select_check(&how.selection.select, &e) < 0)
        status = tl_say_failure(NULL, &e);
    tl_selection_fini(&how.selection);
    return status;
}

void tl_diff_sides_fini(tl_diff_sides *s)
{
    for (int side = 0; side < 2; side++) {
        tl_diff_side *d = &s->side[side];
        for (size_t i = 0; i < d->nrun; i++)
            tl_profile_free((tl_profile *)(uintptr_t)d->run[i].profile);
        free(d->run);
        free(d->file.word);
    }
    tl_html_inputs_fini(&s->inputs);
    tl_arena_fini(&s->arena);
}
