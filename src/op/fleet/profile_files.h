/* The inputs of a profile: files as they are given, and the profiles in folders that are no trace. Paths are made as
 * they are asked for, so that there may be any number of them. */
#ifndef TL_OP_PROFILE_FILES_H
#define TL_OP_PROFILE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_profile_files tl_profile_files;

#define TL_PROFILE_FILES_AHEAD 64u /* paths that are known at a time */

/* Borrowed until the list is closed. Only walked if `walk`: files whose name matches `glob` (NULL: those that hold a
 * profile), but not the output. */
typedef struct tl_profile_files_options {
    const char *glob, *output; /* or NULL */
    bool walk;
    const bool *walked; /* [n] or NULL: without `walk`, words that were found in a folder by another list */
} tl_profile_files_options;

typedef struct tl_profile_file {
    char *path;  /* the caller's: free() */
    bool walked; /* found in a folder */
} tl_profile_file;

/* The words must stay in place. Errors: TL_EIO, TL_ENOMEM; TL_EFORMAT: a folder is no trace, and holds no profile. */
int tl_profile_files_open(tl_profile_files **out, const char *const *word, size_t n, const tl_profile_files_options *o,
                          tl_error *e);
/* The first word that is walked, or NULL. */
const char *tl_profile_files_folder(const tl_profile_files *f);
/* Input number i, which is at most TL_PROFILE_FILES_AHEAD - 1 before the last one asked for: 1; 0 past the end; < 0, a
 * folder in its place could not be listed: file->path is NULL. Thread-safe. */
int tl_profile_files_get(tl_profile_files *f, uint64_t i, tl_profile_file *file, tl_error *e);
/* How many were left out because they are the output. */
unsigned tl_profile_files_outputs(const tl_profile_files *f);
void tl_profile_files_close(tl_profile_files *f); /* NULL is fine */

#endif
