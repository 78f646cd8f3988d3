/* Output that is a folder of files: written beside its target under another name, then renamed, so that it appears
 * whole or not at all. */
#ifndef TL_BASE_OUTPUT_FOLDER_H
#define TL_BASE_OUTPUT_FOLDER_H

#include "base/io/output.h"

/* Most files kept open between calls of tl_output_folder_append(): far below the usual limit of 1024. */
#define TL_OUTPUT_FOLDER_OPEN 128u

typedef struct tl_output_folder tl_output_folder;

/* Creates the temporary folder beside `path` (a '/' at its end is ignored). An existing target is TL_EEXIST, unless
 * `overwrite` and it is a folder that finish may remove: an empty one; one that has a file "metadata" and otherwise
 * holds nothing but plain files and an "index" folder of plain files; or one of nothing but plain files whose names
 * match the glob `ours` (our own output), or folders of nothing but such files, called part-... `ours` must outlive the
 * folder, or is NULL. */
int tl_output_folder_open(tl_output_folder **out, const char *path, bool overwrite, const char *ours, tl_error *e);
/* A new file in it, to be finished and closed by the caller; `name` may contain one '/'; that folder is created. The
 * output can be patched. */
int tl_output_folder_file(tl_output_folder *f, const char *name, tl_output **out, tl_error *e);
/* For very many files that grow at the same time: *file is a number for tl_output_folder_append(), which appends n
 * bytes. Nothing is buffered; a file appears with its first bytes. */
int tl_output_folder_add(tl_output_folder *f, const char *name, uint32_t *file, tl_error *e);
int tl_output_folder_append(tl_output_folder *f, uint32_t file, const void *data, size_t n, tl_error *e);
/* Renames the folder to its final name. On failure nothing is left behind. */
int tl_output_folder_finish(tl_output_folder *f, tl_error *e);
/* Without finish: removes what was written. NULL is fine. */
void tl_output_folder_close(tl_output_folder *f);
/* Removes all unfinished folders, before the program ends. Any thread may call it; from then on, threads that begin,
 * continue or end a folder wait for ever. Not for signal handlers. */
void tl_output_folders_abandon(void);

#endif
