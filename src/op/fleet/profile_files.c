/* The inputs of a profile, numbered. Several threads ask for paths at once, each for one a little further on: those are
 * kept in a ring. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "op/fleet/profile_files.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "op/fleet/profile_walk.h"
#include "op/source_kind.h"

typedef struct entry {
    char *path;
    bool walked;
    int status;
    tl_error error; /* if status < 0 */
} entry;

struct tl_profile_files {
    pthread_mutex_t lock;
    const char *const *word;
    size_t n, at;
    tl_profile_files_options options;
    bool *is_fleet; /* [n]: the word is walked */
    const char *folder;
    tl_profile_walk *walk; /* of word[at - 1], or NULL */
    bool has_output, ended;
    struct stat output;
    unsigned outputs;
    uint64_t made;
    entry entry[TL_PROFILE_FILES_AHEAD];
};

/* Whether the word is a folder that is no trace; or < 0. */
static int is_fleet(const tl_profile_files *f, const char *word, tl_error *e)
{
    if (!f->options.walk || !tl_path_is_folder(word))
        return 0;
    const int is_trace = tl_folder_is_trace(word, e);
    return is_trace < 0 ? is_trace : !is_trace;
}

/* Looks for the first profile: a folder without any is a mistake. */
static int check_folder(const tl_profile_files *f, const char *word, tl_error *e)
{
    tl_profile_walk *walk = NULL;
    const char *path;
    tl_error ignored;
    int status = tl_profile_walk_open(&walk, word, f->options.glob, e);
    if (status < 0)
        return status;
    status = tl_profile_walk_next(walk, &path, &ignored);
    tl_profile_walk_close(walk);
    if (status)
        return 0;
    if (f->options.glob)
        return tl_fail(e, TL_EFORMAT, TL_NO_OFFSET, "%s: no file in this folder matches --glob %s", word,
                       f->options.glob);
    return tl_fail(e, TL_EFORMAT, TL_NO_OFFSET, "%s: no recognised trace in this folder, and no profiles", word);
}

int tl_profile_files_open(tl_profile_files **out, const char *const *word, size_t n, const tl_profile_files_options *o,
                          tl_error *e)
{
    tl_profile_files *f = calloc(1, sizeof *f);
    bool *marks = calloc(n + 1, sizeof *marks);
    if (!f || !marks) {
        free(f);
        free(marks);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of inputs");
    }
    pthread_mutex_init(&f->lock, NULL);
    f->word = word;
    f->n = n;
    f->is_fleet = marks;
    f->options = *o;
    f->has_output = o->output && stat(o->output, &f->output) == 0;
    int status = 0;
    for (size_t i = 0; i < n && status >= 0; i++) {
        status = is_fleet(f, word[i], e);
        if (status <= 0)
            continue;
        f->is_fleet[i] = true;
        f->folder = f->folder ? f->folder : word[i];
        status = check_folder(f, word[i], e);
    }
    if (status < 0) {
        tl_profile_files_close(f);
        return status;
    }
    *out = f;
    return 0;
}

const char *tl_profile_files_folder(const tl_profile_files *f)
{
    return f->folder;
}

static bool is_output(tl_profile_files *f, const char *path)
{
    struct stat st;
    const bool is =
        f->has_output && stat(path, &st) == 0 && st.st_dev == f->output.st_dev && st.st_ino == f->output.st_ino;
    f->outputs += is;
    return is;
}

/* The next file of the folder that is walked; 0 at its end. */
static int next_walked(tl_profile_files *f, entry *x)
{
    const char *path = NULL;
    do
        x->status = tl_profile_walk_next(f->walk, &path, &x->error);
    while (x->status > 0 && is_output(f, path));
    if (x->status > 0 && !(x->path = strdup(path)))
        x->status = tl_fail(&x->error, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of inputs");
    x->walked = true;
    return x->status;
}

static int next_word(tl_profile_files *f, entry *x)
{
    x->walked = false;
    if (f->at == f->n)
        return x->status = 0;
    const char *word = f->word[f->at];
    if (f->is_fleet[f->at++]) {
        x->walked = true;
        x->status = tl_profile_walk_open(&f->walk, word, f->options.glob, &x->error);
        return x->status < 0 ? x->status : 1;
    }
    x->walked = f->options.walked && f->options.walked[f->at - 1];
    x->path = strdup(word);
    x->status = x->path ? 1 : tl_fail(&x->error, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of inputs");
    return x->status;
}

/* Makes the next entry. */
static void make(tl_profile_files *f)
{
    entry *x = &f->entry[f->made % TL_PROFILE_FILES_AHEAD];
    free(x->path);
    *x = (entry){0};
    for (bool done = false; !done;) {
        if (f->walk) {
            done = next_walked(f, x) != 0;
            if (done)
                break;
            tl_profile_walk_close(f->walk);
            f->walk = NULL;
        }
        done = next_word(f, x) <= 0 || x->path;
    }
    f->ended = x->status == 0;
    f->made++;
}

int tl_profile_files_get(tl_profile_files *f, uint64_t i, tl_profile_file *file, tl_error *e)
{
    pthread_mutex_lock(&f->lock);
    while (f->made <= i && !f->ended)
        make(f);
    assert(i + TL_PROFILE_FILES_AHEAD >= f->made);
    const entry *x = &f->entry[i % TL_PROFILE_FILES_AHEAD];
    int status = i < f->made ? x->status : 0;
    *file = (tl_profile_file){.walked = x->walked};
    if (status > 0 && !(file->path = strdup(x->path)))
        status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the list of inputs");
    else if (status < 0)
        *e = x->error;
    pthread_mutex_unlock(&f->lock);
    return status;
}

unsigned tl_profile_files_outputs(const tl_profile_files *f)
{
    return f->outputs;
}

void tl_profile_files_close(tl_profile_files *f)
{
    if (!f)
        return;
    for (unsigned i = 0; i < TL_PROFILE_FILES_AHEAD; i++)
        free(f->entry[i].path);
    tl_profile_walk_close(f->walk);
    free(f->is_fleet);
    pthread_mutex_destroy(&f->lock);
    free(f);
}
