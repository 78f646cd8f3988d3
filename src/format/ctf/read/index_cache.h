/* A cache of indexes of folders, so that a large trace is scanned only once.
 *
 * One file for each folder, in $XDG_CACHE_HOME/traceloom or ~/.cache/traceloom, named by the folder's absolute path.
 * It is used only if no file of the folder has changed its name, size or time of change. Nothing here fails: without a
 * cache things only take longer. TRACELOOM_NO_CACHE=1 turns it off. */
#ifndef TL_FORMAT_CTF_INDEX_CACHE_H
#define TL_FORMAT_CTF_INDEX_CACHE_H

#include <stddef.h>

#include "base/io/folder.h"

#define INDEX_CACHE_FILE_MAX   (16u << 20) /* bytes of one file: ten times a large one */
#define INDEX_CACHE_FOLDER_MAX (64u << 20) /* bytes of all: the oldest are deleted */

/* The bytes stored for this folder in its current state, to be freed. NULL: none, or damaged. Do not trust them:
 * anybody with access to the cache can write them. */
void *index_cache_load(const tl_folder *f, size_t *n);
/* Stores bytes for a folder, replacing earlier ones. */
void index_cache_store(const tl_folder *f, const void *data, size_t n);

#endif
