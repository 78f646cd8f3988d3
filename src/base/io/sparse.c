/* Distinguishes a file that is mostly holes from one that has its bytes. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/io/sparse.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/input.h"

/* The number of stored bytes, counted up to `enough`; all, if the file system has no holes. */
static uint64_t stored_bytes(int fd, uint64_t size, uint64_t enough)
{
#ifdef SEEK_HOLE
    uint64_t stored = 0;
    for (off_t at = 0, hole; stored < enough; at = hole) {
        at = lseek(fd, at, SEEK_DATA);
        if (at < 0)
            return errno == ENXIO ? stored : size; /* only a hole follows */
        hole = lseek(fd, at, SEEK_HOLE);
        if (hole <= at)
            return size;
        stored += (uint64_t)(hole - at);
    }
    return stored;
#else
    (void)fd;
    (void)enough;
    return size;
#endif
}

int tl_sparse_check(int fd, tl_error *e)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= (off_t)TL_INPUT_EXPANSION_FREE)
        return 0;
    const uint64_t size = (uint64_t)st.st_size, enough = size / TL_INPUT_EXPANSION;
    if ((uint64_t)st.st_blocks * 512 >= enough)
        return 0;
    /* Some file systems do not count blocks. The file position belongs to the descriptor's reader: it is restored. */
    const off_t before = lseek(fd, 0, SEEK_CUR);
    const uint64_t stored = stored_bytes(fd, size, enough);
    (void)lseek(fd, before, SEEK_SET);
    if (stored >= enough)
        return 0;
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET,
                   "%" PRIu64 " bytes are stored of a file of %" PRIu64 ", less than one of %u: taken for a bomb",
                   stored, size, TL_INPUT_EXPANSION);
}
