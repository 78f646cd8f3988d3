/* Decompression: one loop for each library, all between the same two buffers. Consecutive compressed parts are one
 * content, as in the tools of each format. `more` means that the output buffer was full: the library may hold more
 * output, even after the input has ended. */
#include "base/io/decompress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TL_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef TL_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif
#ifdef TL_HAVE_BZIP2
#include <bzlib.h>
#endif

#include "base/compiler.h"
#include "base/io/input.h"

/* Room for two zstd blocks of the largest size, so that one always fits after pending output. */
enum { IN_SIZE = 1 << 17, OUT_SIZE = 1 << 18, OUT_FLUSH = OUT_SIZE - (1 << 17) };

typedef struct stream {
    tl_codec_source *source;
    void *arg;
    tl_spool *spool; /* or NULL: the content is only counted */
    char *damage;
    tl_error *e;
    uint64_t consumed; /* compressed bytes read */
    uint64_t size;     /* of the content, without the pending part in `out` */
    bool first;        /* nothing came before the first compressed part */
    size_t in_n, in_at, out_n;
    uint8_t in[IN_SIZE], out[OUT_SIZE];
} stream;

tl_codec tl_codec_probe(const uint8_t *head, size_t n)
{
    static const uint8_t gzip[] = {0x1f, 0x8b, 8}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    /* After "BZh" and the level: a block, or the end of an empty file. */
    static const uint8_t block[] = {0x31, 0x41, 0x59, 0x26, 0x53, 0x59}, end[] = {0x17, 0x72, 0x45, 0x38, 0x50, 0x90};

    if (n >= sizeof gzip && memcmp(head, gzip, sizeof gzip) == 0)
        return TL_CODEC_GZIP;
    if (n >= 4 && memcmp(head, zstd, sizeof zstd) == 0)
        return TL_CODEC_ZSTD;
    /* A skippable frame: its magic number ends in any of 16 digits. */
    if (n >= 4 && (head[0] & 0xf0) == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18)
        return TL_CODEC_ZSTD;
    if (n >= TL_CODEC_HEAD && memcmp(head, "BZh", 3) == 0 && head[3] >= '1' && head[3] <= '9' &&
        (memcmp(head + 4, block, 6) == 0 || memcmp(head + 4, end, 6) == 0))
        return TL_CODEC_BZIP2;
    return TL_CODEC_NONE;
}

const char *tl_codec_name(tl_codec c)
{
    static const char *const name[] = {NULL, "gzip", "zstd", "bzip2"};
    return name[c];
}

/* Reads on when all input is used up. 1: there is input; 0: end; or an error. */
static TL_UNUSED int refill(stream *s)
{
    if (s->in_at < s->in_n)
        return 1;
    int64_t n = s->source(s->arg, s->in, sizeof s->in, s->e);
    if (n < 0)
        return (int)n;
    s->in_at = 0;
    s->in_n = (size_t)n;
    s->consumed += (uint64_t)n;
    return n > 0;
}

/* Flushes the output buffer. */
static TL_UNUSED int flush(stream *s)
{
    uint64_t size = s->size + s->out_n;
    if (size > TL_INPUT_EXPANSION_FREE && size > s->consumed * TL_INPUT_EXPANSION)
        return tl_fail(s->e, TL_ENOMEM, size,
                       "decompresses to more than %u times its size (the limit; it guards against bombs)",
                       TL_INPUT_EXPANSION);
    int r = s->spool ? tl_spool_append(s->spool, s->out, s->out_n, s->e) : 0;
    s->size = size;
    s->out_n = 0;
    return r;
}

/* Records damage; returns 0, since it is not a failure. */
static TL_UNUSED TL_PRINTF(2, 3) int damaged(stream *s, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(s->damage, TL_CODEC_DAMAGE, format, ap);
    va_end(ap);
    return 0;
}

static TL_UNUSED int no_memory(stream *s, const char *name)
{
    return tl_fail(s->e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %s decompression", name);
}

#ifdef TL_HAVE_ZLIB
static int gzip_loop(stream *s, z_stream *z)
{
    bool within = false; /* inside a member */
    bool first = true, more = false;
    int r;
    while ((r = refill(s)) > 0 || (r == 0 && more)) {
        if (!within && !first && s->in[s->in_at] == 0) { /* padding, as on tapes */
            s->in_at++;
            continue;
        }
        within = true;
        z->next_in = s->in + s->in_at;
        z->avail_in = (uInt)(s->in_n - s->in_at);
        z->next_out = s->out + s->out_n;
        z->avail_out = (uInt)(sizeof s->out - s->out_n);
        int status = inflate(z, Z_NO_FLUSH);
        s->in_at = s->in_n - z->avail_in;
        s->out_n = sizeof s->out - z->avail_out;

        if (status == Z_MEM_ERROR)
            return no_memory(s, "gzip");
        if (status == Z_DATA_ERROR && !first && z->total_out == 0 && z->total_in <= 2)
            return damaged(s, "data that is not gzip follows the end of the gzip data");
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            return damaged(s, "gzip data is damaged: %s", z->msg ? z->msg : "a preset dictionary is needed");
        if (status == Z_STREAM_END) {
            within = first = false;
            inflateReset(z);
        }
        more = within && s->out_n == sizeof s->out;
        if (s->out_n == sizeof s->out && (r = flush(s)) < 0)
            return r;
    }
    if (r == 0 && within)
        return damaged(s, "gzip data ends early");
    return r;
}

static int gzip_run(stream *s)
{
    z_stream z = {0};
    if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
        return no_memory(s, "gzip");
    int r = gzip_loop(s, &z);
    inflateEnd(&z);
    return r;
}
#endif

#ifdef TL_HAVE_ZSTD
/* Gives the library exactly as much as it asks for: then a call decodes one block, and an error loses only the block
 * that it is in (a failing call reports no output). */
static int zstd_loop(stream *s, ZSTD_DCtx *z)
{
    const size_t start = ZSTD_initDStream(z);
    size_t hint = start;
    bool within = false, first = s->first;
    int r;
    while ((r = refill(s)) > 0) {
        size_t n = s->in_n - s->in_at;
        ZSTD_inBuffer in = {s->in + s->in_at, n < hint ? n : hint, 0};
        do {
            ZSTD_outBuffer out = {s->out, sizeof s->out, s->out_n};
            size_t status = ZSTD_decompressStream(z, &out, &in);
            if (ZSTD_isError(status)) {
                ZSTD_ErrorCode code = ZSTD_getErrorCode(status);
                if (code == ZSTD_error_memory_allocation)
                    return no_memory(s, "zstd");
                if (code == ZSTD_error_frameParameter_windowTooLarge)
                    return tl_fail(s->e, TL_EUNSUPPORTED, s->size + s->out_n,
                                   "zstd data wants a window of more than 128 MiB");
                if (code == ZSTD_error_prefix_unknown && !first)
                    return damaged(s, "data that is not zstd follows the end of the zstd data");
                /* Which of the two it is depends on the sizes of earlier frames. */
                if (code == ZSTD_error_dstSize_tooSmall)
                    code = ZSTD_error_corruption_detected;
                return damaged(s, "zstd data is damaged: %s", ZSTD_getErrorString(code));
            }
            s->out_n = out.pos;
            within = status != 0;
            hint = within ? status : start;
            first = first && within;
            if (s->out_n >= OUT_FLUSH && (r = flush(s)) < 0)
                return r;
        } while (in.pos < in.size);
        s->in_at += in.size;
    }
    if (r == 0 && within)
        return damaged(s, "zstd data ends early");
    return r;
}

static int zstd_run(stream *s)
{
    ZSTD_DCtx *z = ZSTD_createDCtx();
    if (!z)
        return no_memory(s, "zstd");
    int r = zstd_loop(s, z);
    ZSTD_freeDCtx(z);
    return r;
}
#endif

#ifdef TL_HAVE_BZIP2
static const char *bzip2_error(int status)
{
    return status == BZ_DATA_ERROR_MAGIC ? "no bzip2 header" : "a checksum or a code is wrong";
}

static int bzip2_loop(stream *s, bz_stream *z)
{
    bool within = false, first = true, more = false;
    int r;
    while ((r = refill(s)) > 0 || (r == 0 && more)) {
        if (!within && !first) {
            /* The library has no reset. */
            BZ2_bzDecompressEnd(z);
            *z = (bz_stream){0};
            if (BZ2_bzDecompressInit(z, 0, 0) != BZ_OK)
                return no_memory(s, "bzip2");
        }
        within = true;
        z->next_in = (char *)s->in + s->in_at;
        z->avail_in = (unsigned)(s->in_n - s->in_at);
        z->next_out = (char *)s->out + s->out_n;
        z->avail_out = (unsigned)(sizeof s->out - s->out_n);
        int status = BZ2_bzDecompress(z);
        s->in_at = s->in_n - z->avail_in;
        s->out_n = sizeof s->out - z->avail_out;

        if (status == BZ_MEM_ERROR)
            return no_memory(s, "bzip2");
        if (status == BZ_DATA_ERROR_MAGIC && !first && z->total_in_hi32 == 0 && z->total_in_lo32 <= 4)
            return damaged(s, "data that is not bzip2 follows the end of the bzip2 data");
        if (status != BZ_OK && status != BZ_STREAM_END)
            return damaged(s, "bzip2 data is damaged: %s", bzip2_error(status));
        if (status == BZ_STREAM_END)
            within = first = false;
        more = within && s->out_n == sizeof s->out;
        if (s->out_n == sizeof s->out && (r = flush(s)) < 0)
            return r;
    }
    if (r == 0 && within)
        return damaged(s, "bzip2 data ends early");
    return r;
}

static int bzip2_run(stream *s)
{
    bz_stream z = {0};
    if (BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK)
        return no_memory(s, "bzip2");
    int r = bzip2_loop(s, &z);
    BZ2_bzDecompressEnd(&z);
    return r;
}
#endif

static int run(tl_codec c, stream *s)
{
    switch (c) {
#ifdef TL_HAVE_ZLIB
    case TL_CODEC_GZIP:
        return gzip_run(s);
#endif
#ifdef TL_HAVE_ZSTD
    case TL_CODEC_ZSTD:
        return zstd_run(s);
#endif
#ifdef TL_HAVE_BZIP2
    case TL_CODEC_BZIP2:
        return bzip2_run(s);
#endif
    default:
        return tl_fail(s->e, TL_EUNSUPPORTED, TL_NO_OFFSET, "is compressed by %s, but this build has no %s support",
                       tl_codec_name(c), tl_codec_name(c));
    }
}

/* Begins between two compressed parts. */
static int decompress_from(tl_codec c, tl_codec_source *source, void *arg, uint64_t consumed, uint64_t *size,
                           tl_spool *spool, char damage[TL_CODEC_DAMAGE], tl_error *e)
{
    stream *s = malloc(sizeof *s);
    if (!s)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for decompression");
    s->source = source;
    s->arg = arg;
    s->spool = spool;
    s->damage = damage;
    s->e = e;
    s->consumed = consumed;
    s->size = *size;
    s->first = consumed == 0;
    s->in_n = s->in_at = s->out_n = 0;
    damage[0] = '\0';

    int r = run(c, s);
    if (r >= 0)
        r = flush(s);
    *size = s->size;
    free(s);
    return r;
}

int tl_decompress(tl_codec c, tl_codec_source *source, void *arg, tl_spool *spool, char damage[TL_CODEC_DAMAGE],
                  tl_error *e)
{
    uint64_t size = spool->size;
    return decompress_from(c, source, arg, 0, &size, spool, damage, e);
}

int tl_decompress_count(tl_codec c, tl_codec_source *source, void *arg, uint64_t consumed, uint64_t *size,
                        char damage[TL_CODEC_DAMAGE], tl_error *e)
{
    return decompress_from(c, source, arg, consumed, size, NULL, damage, e);
}
