/* A folder of files that are one trace: their names and sizes, listed once; each is opened on demand.
 *
 * Names are relative with '/', in the order of strcmp. Files and folders whose name begins with '.' are left out;
 * symbolic links to files are followed, those to folders are not. Immutable once open: any thread may use it. */
#ifndef TL_BASE_FOLDER_H
#define TL_BASE_FOLDER_H

#include "base/arena.h"
#include "base/io/input.h"

#define TL_FOLDER_FILES_MAX 100000u /* more is probably a mistake in the path */
#define TL_FOLDER_DEPTH_MAX 16u

typedef struct tl_folder_file {
    const char *name; /* relative to the folder */
    uint64_t size;
    int64_t modified_ns; /* time of the last change since 1970; 0 in memory */
    const void *data;    /* in memory: the content; else NULL */
} tl_folder_file;

typedef struct tl_folder {
    const char *path; /* without '/' at the end */
    tl_folder_file *file;
    uint32_t n;
    int fd; /* -1: in memory */
    tl_arena arena;
} tl_folder;

/* Errors: TL_EIO, TL_ENOMEM, TL_EUNSUPPORTED (more files or levels than the limits). Belongs to the caller. */
int tl_folder_open(tl_folder **out, const char *path, tl_error *e);
/* A folder packed into one block of memory, for tests and fuzzing: for each file the name, a NUL, the size as 4 bytes
 * little-endian, the content. A size beyond the end means everything left. The bytes are borrowed. */
int tl_folder_open_memory(tl_folder **out, const void *data, size_t size, const char *path, tl_error *e);
void tl_folder_close(tl_folder *f);

/* The index of a file, or UINT32_MAX. */
uint32_t tl_folder_find(const tl_folder *f, const char *name);
/* Opens a file without looking for compression. Messages and tl_input_path() call it "FOLDER/NAME". */
int tl_folder_input(const tl_folder *f, uint32_t index, tl_input **out, tl_error *e);
/* The same with compression found by content: see tl_input_open_lazy(). */
int tl_folder_input_lazy(const tl_folder *f, uint32_t index, tl_input **out, tl_error *e);

#endif
