/* A number that stands for the content of a file or a folder, the same wherever it lies and whatever its path is. */
#ifndef TL_BASE_CONTENT_ID_H
#define TL_BASE_CONTENT_ID_H

#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_content_id {
    int64_t number;   /* 63 bits of the SHA-256 of the bytes as they are on disk; of a folder, of names and bytes */
    uint64_t changed; /* size and time of the last change: differs if the file was changed */
} tl_content_id;

/* Reads everything. Errors: TL_EIO, TL_ENOMEM, TL_EUNSUPPORTED (neither a regular file nor a folder). */
int tl_content_id_of(tl_content_id *id, const char *path, tl_error *e);
/* Only `changed`, which takes no reading. */
int tl_content_changed(uint64_t *changed, const char *path, tl_error *e);

#endif
