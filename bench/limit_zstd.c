/* The cost of decompression alone: the library in a loop over a mapped file, into a buffer that stays in the cache.
 *
 *     limit_zstd FILE
 *
 * Prints the number of bytes. One thread and one stream, as a single frame requires. */
#include "limit_file.h"

#include <inttypes.h>
#include <zstd.h>

int main(int argc, char **argv)
{
    size_t size;
    if (argc != 2)
        return 2;
    const uint8_t *data = map_file(argv[1], &size);
    const size_t room = ZSTD_DStreamOutSize();
    void *buffer = malloc(room);
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!buffer || !stream)
        return 2;
    ZSTD_inBuffer in = {data, size, 0};
    uint64_t bytes = 0;
    size_t left = 0;
    /* The library may hold output after the input ends, so call it until it no longer fills the buffer. */
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
    return left != 0;
}
