/* What decompression alone costs: the library in a loop over a mapped file, into a buffer that stays in the cache.
 *
 *     limit_zstd FILE
 *
 * Prints the number of bytes. One thread, one stream, as every reader of a single frame has to. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

int main(int argc, char **argv)
{
    struct stat st;
    const int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
        return 2;
    const void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    const size_t room = ZSTD_DStreamOutSize();
    void *buffer = malloc(room);
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (data == MAP_FAILED || !buffer || !stream)
        return 2;
    ZSTD_inBuffer in = {data, (size_t)st.st_size, 0};
    uint64_t bytes = 0;
    size_t left = 0;
    /* Output may be left in the library when the input ends, so it is asked until it fills no buffer. */
    for (size_t last = room; in.pos < in.size || last == room;) {
        ZSTD_outBuffer out = {buffer, room, 0};
        left = ZSTD_decompressStream(stream, &out, &in);
        if (ZSTD_isError(left))
            return 1;
        bytes += last = out.pos;
    }
    printf("%" PRIu64 "\n", bytes);
    ZSTD_freeDStream(stream);
    free(buffer);
    close(fd);
    return left != 0;
}
