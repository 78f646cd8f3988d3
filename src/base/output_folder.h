/* Output that is a folder of files: written beside its target under another name, then renamed, so that it appears
 * whole or not at all. */
#ifndef TL_BASE_OUTPUT_FOLDER_H
#define TL_BASE_OUTPUT_FOLDER_H

#include "base/output.h"

typedef struct tl_output_folder tl_output_folder;

/* Creates the temporary folder beside `path`. An existing target is TL_EEXIST, unless `overwrite` and it is a folder
 * that holds nothing but plain files and an "index" folder of plain files (what we write ourselves), which finish
 * replaces.
 */
int tl_output_folder_open(tl_output_folder **out, const char *path, bool overwrite, tl_error *e);
/* A new file in it, to be finished and closed by the caller; `name` may hold one '/': the folder in between is made.
 * The output can be patched. */
int tl_output_folder_file(tl_output_folder *f, const char *name, tl_output **out, tl_error *e);
/* Gives the folder its name. On failure nothing is left behind. */
int tl_output_folder_finish(tl_output_folder *f, tl_error *e);
/* Without finish: removes what was written. NULL is fine. */
void tl_output_folder_close(tl_output_folder *f);

#endif
