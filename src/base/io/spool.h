/* Spool: keeps content that arrives once and in order, to be read at any offset: in memory up to a limit, beyond it in
 * an unlinked temporary file. */
#ifndef TL_BASE_SPOOL_H
#define TL_BASE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "traceloom/error.h"

typedef struct tl_spool {
    uint8_t *memory; /* all content, while fd < 0 */
    size_t capacity;
    int fd;
    uint64_t size;
    const char *directory; /* of the temporary file, for messages */
} tl_spool;

void tl_spool_init(tl_spool *s);
void tl_spool_fini(tl_spool *s);
/* Adds n bytes at the end. */
int tl_spool_append(tl_spool *s, const void *data, size_t n, tl_error *e);
/* Reads n bytes at an offset; both must lie within the size. May be called from several threads at once. */
int tl_spool_read(const tl_spool *s, uint64_t offset, void *buf, size_t n, tl_error *e);

/* pread() until n bytes or the end: returns how many, or -1 with errno. */
int64_t tl_pread_full(int fd, void *buf, size_t n, uint64_t offset);

#endif
