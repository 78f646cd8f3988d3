/* The files in -e: the traced binary, its shared libraries by number, or a file that maps such numbers to files. */
#ifndef TL_CLI_EXE_FILES_H
#define TL_CLI_EXE_FILES_H

#include "base/arena.h"
#include "cli/options.h"
#include "traceloom/source.h"

#define TL_OBJECTS_MAX 256u /* a number has 8 bits */

typedef struct tl_exe_files {
    tl_object_file object[TL_OBJECTS_MAX]; /* libraries; the binary itself is tl_arguments.exe */
    size_t n;
    tl_arena arena; /* of paths that are not on the command line */
} tl_exe_files;

/* Splits the words of -e into *f, zeroed, and a->exe. Reports mistakes, and returns an exit status. */
int tl_exe_files_read(tl_exe_files *f, tl_arguments *a);
void tl_exe_files_fini(tl_exe_files *f);

#endif
