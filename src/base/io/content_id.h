/* A number that stands for the content of a file or a folder, the same wherever it lies and whatever its path is. */
#ifndef TL_BASE_CONTENT_ID_H
#define TL_BASE_CONTENT_ID_H

#include <stdint.h>

#include "traceloom/error.h"

/* What is known without reading. Of a folder: of all files in it. */
typedef struct tl_content_state {
    uint64_t bytes;
    uint64_t changed; /* differs if something was changed, or replaced */
} tl_content_state;

typedef struct tl_content_id {
    int64_t number; /* 63 bits of the SHA-256 of the bytes as they are on disk; of a folder, of names and bytes */
    tl_content_state state;
} tl_content_id;

/* Reads everything. Errors: TL_EIO, TL_ENOMEM, TL_EUNSUPPORTED (neither a regular file nor a folder). */
int tl_content_id_of(tl_content_id *id, const char *path, tl_error *e);
/* Only the state. The same errors. */
int tl_content_look(tl_content_state *state, const char *path, tl_error *e);

#endif
