/* Where output goes: a file that appears by rename, an open descriptor, or memory. */
#ifndef TL_BASE_OUTPUT_TARGET_H
#define TL_BASE_OUTPUT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_target {
    int fd;          /* -1: memory */
    char *path;      /* as given, for messages; NULL: memory */
    char *real_path; /* of a file that appears by rename: symbolic links resolved; else NULL */
    char *temporary; /* its temporary name, if any */
    bool nameless;   /* has no name before it is complete: a crash leaves nothing */
    bool is_stdout;  /* the caller's: never closed */
    bool overwrite;
    bool seekable;
    uint64_t base; /* offset in fd where the output begins */
    uint8_t *memory;
    size_t n, capacity;
} tl_target;

int tl_target_open(tl_target *t, const char *path, bool overwrite, tl_error *e);
void tl_target_open_memory(tl_target *t);
int tl_target_write(tl_target *t, const void *data, size_t n, tl_error *e);
/* Overwrites what was written; only if seekable. */
int tl_target_patch(tl_target *t, uint64_t offset, const void *data, size_t n, tl_error *e);
/* Closes the file and gives it its name. On failure nothing is left behind. */
int tl_target_finish(tl_target *t, tl_error *e);
/* Without tl_target_finish(): removes the file. */
void tl_target_close(tl_target *t);

#endif
