/* Fuzz target: one compressed part (a gzip member, a bzip2 stream) into memory, with a limit. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRONT = 24, MOST = 1 << 20, SLACK = 16 };

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

typedef struct bytes {
    const uint8_t *p;
    size_t n, step;
} bytes;

static int64_t next_bytes(void *arg, void *buf, size_t n, tl_error *e)
{
    (void)e;
    bytes *b = arg;
    n = n < b->step ? n : b->step;
    n = n < b->n ? n : b->n;
    if (n > 0)
        memcpy(buf, b->p, n);
    b->p += n;
    b->n -= n;
    return (int64_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes source = {data, size, size % 5 == 0 ? 1 : 4096};
    tl_unpacked out = {0};
    tl_error e = {0};
    const tl_codec codec = tl_codec_probe(data, size);
    if (codec != TL_CODEC_GZIP && codec != TL_CODEC_BZIP2)
        return 0;
    const int status = tl_unpack(codec, next_bytes, &source, FRONT, MOST, SLACK, &out, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    if (status < 0)
        return 0;
    promise(out.n >= FRONT && out.n - FRONT <= MOST && out.n <= out.capacity, "no more than the limit comes out");
    for (size_t i = 0; i < SLACK; i++)
        promise(out.data[out.n + i] == 0, "zeros follow the content");
    free(out.data);
    return 0;
}
