/* What a path is, before it is opened as a source. */
#ifndef TL_OP_SOURCE_KIND_H
#define TL_OP_SOURCE_KIND_H

#include <stdbool.h>

#include "base/io/folder.h"
#include "model/format_impl.h"

/* The format of a file or folder, by content. Errors: TL_EFORMAT, those of reading. */
int tl_find_format(const tl_format **out, tl_input *in, tl_error *e);
int tl_find_folder_format(const tl_format **out, const tl_folder *folder, tl_error *e);

/* Is it a folder, or a link to one? "-" is none. */
bool tl_path_is_folder(const char *path);
/* 1: the folder is a trace of some format; 0: of none, or it has more files than a trace may have, or some that may not
 * be read. Errors: TL_EIO, TL_ENOMEM. */
int tl_folder_is_trace(const char *path, tl_error *e);
/* 1: the file holds a profile, by content; 0: it does not, or is compressed. Errors: TL_EIO, TL_ENOMEM. */
int tl_file_holds_profile(const char *path, tl_error *e);

#endif
