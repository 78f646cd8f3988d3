/* Fuzz target: compressed content that is decompressed on reading. The first two bytes choose the order of reads; the
 * rest is a .zst file (or .gz, .bz2, or plain). The result has to be that of decompressing everything at once: the same
 * bytes, the same damage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/decompress.h"
#include "base/io/input_impl.h"
#include "base/io/spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A finding must stop the fuzzer. */
static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

/* Larger content reveals nothing new. */
enum { MOST = 8 << 20, READ_MOST = 200000 };

typedef struct bytes {
    const uint8_t *p;
    size_t n;
} bytes;

static int64_t next_bytes(void *arg, void *buf, size_t n, tl_error *e)
{
    (void)e;
    bytes *b = arg;
    if (n > b->n)
        n = b->n;
    if (n > 0)
        memcpy(buf, b->p, n);
    b->p += n;
    b->n -= n;
    return (int64_t)n;
}

/* The content, decompressed at once; NULL: too large, or no content. */
static uint8_t *decompress(tl_codec codec, const uint8_t *data, size_t size, size_t *n, char damage[TL_CODEC_DAMAGE])
{
    bytes count = {data, size}, all = {data, size};
    uint64_t sum = 0;
    tl_spool spool;
    tl_error e;
    if (tl_decompress_count(codec, next_bytes, &count, 0, &sum, damage, &e) < 0 || sum > MOST)
        return NULL;
    tl_spool_init(&spool);
    uint8_t *content = malloc((size_t)sum + 1);
    promise(content && tl_decompress(codec, next_bytes, &all, &spool, damage, &e) == 0, "what was counted can be had");
    promise(spool.size == sum, "counting is exact");
    promise(tl_spool_read(&spool, 0, content, (size_t)sum, &e) == 0, "the spool can be read");
    tl_spool_fini(&spool);
    *n = (size_t)sum;
    return content;
}

/* A table of frames is trusted until one of them differs. */
static bool has_table(const uint8_t *data, size_t size)
{
    static const uint8_t magic[] = {0xb1, 0xea, 0x92, 0x8f};
    return size >= sizeof magic && memcmp(data + size - sizeof magic, magic, sizeof magic) == 0;
}

/* Reads at random places. Bytes after the damage may come before it is known; compares the first n. */
static void read_around(tl_input *in, unsigned seed, const uint8_t *content, size_t n, uint8_t *buf)
{
    uint32_t x = seed;
    for (unsigned i = 0; i < (seed & 15); i++) {
        x = x * 1664525 + 1013904223;
        const uint64_t known = tl_input_size(in), at = (x >> 8) % (known + 1);
        const size_t wanted = (x >> 4) % (i & 1 ? 300 : READ_MOST);
        size_t got = 0;
        tl_error e;
        promise(tl_input_read(in, at, buf, wanted, &got, &e) == 0, "it can be read");
        promise(got <= wanted, "no more is read than was wanted");
        if (at < n)
            promise(memcmp(buf, content + at, got < n - at ? got : n - (size_t)at) == 0, "bytes are the same");
        promise(got == wanted || at + got >= tl_input_size(in), "fewer come at the end only");
    }
}

static void read_through(tl_input *in, const uint8_t *content, size_t n, const char *damage, size_t step, uint8_t *buf)
{
    size_t at = 0, got = 0;
    tl_error e;
    do {
        promise(tl_input_read(in, at, buf, step, &got, &e) == 0, "it can be read through");
        promise(got <= n - at && memcmp(buf, content + at, got) == 0, "bytes are the same from front to back");
        at += got;
    } while (got > 0);
    promise(at == n && tl_input_size(in) == n, "the content ends where it does");
    uint64_t where = n;
    const char *found = tl_input_damage(in, &where);
    promise(strcmp(found ? found : "", damage) == 0 && where == n, "damage is the same");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const unsigned seed = data[0] | (unsigned)data[1] << 8;
    const tl_codec codec = tl_codec_probe(data + 2, size - 2);
    char damage[TL_CODEC_DAMAGE];
    size_t n = 0;
    uint8_t *content = codec == TL_CODEC_NONE ? NULL : decompress(codec, data + 2, size - 2, &n, damage);
    uint8_t *buf = malloc(READ_MOST);
    tl_input *in = NULL;
    tl_error e;
    if (content && buf) {
        promise(tl_input_open_lazy_memory(&in, data + 2, size - 2, "fuzz", &e) == 0, "what decompresses can be opened");
        for (uint32_t i = 0; i < tl_input_frames(in); i++)
            promise(tl_lazy_frames(in->lazy)->frame[i].begin <= tl_lazy_frames(in->lazy)->frame[i + 1].begin,
                    "frames are in order");
        read_around(in, seed, content, has_table(data, size) ? 0 : n, buf);
        read_through(in, content, n, damage, 1 + (seed >> 4) * 40, buf);
        read_around(in, seed >> 2, content, n, buf);
        promise(tl_input_settle(in, &e) == 0, "it can be settled");
        read_through(in, content, n, damage, READ_MOST, buf);
    }
    tl_input_close(in);
    free(buf);
    free(content);
    return 0;
}
