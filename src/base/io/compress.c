/* Compression of output: each library fills the same buffer, which goes to the target when full. */
#include "base/io/compress.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef TL_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef TL_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/compiler.h"
#include "base/endian.h"
#include "base/io/seek_table.h"

enum { OUT_SIZE = 1 << 17, GZIP_LEVEL = 6, GZIP_LEVEL_MOST = 9, ZSTD_LEVEL = 3, GZIP_OS_UNKNOWN = 255 };

struct tl_compressor {
    tl_compression kind;
#ifdef TL_HAVE_ZLIB
    z_stream gzip;
    gz_header header;
#endif
#ifdef TL_HAVE_ZSTD
    ZSTD_CCtx *zstd;
    uint64_t packed, content; /* bytes of the current frame: written, and before compression */
    bool cut;                 /* there are earlier frames */
    tl_seek_table table;      /* of all complete frames */
    uint8_t *note;            /* a skippable frame, or NULL */
    size_t note_n;
#endif
    uint8_t out[OUT_SIZE];
};

static TL_UNUSED int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for compression");
}

static TL_UNUSED int bad_level(unsigned level, int most, tl_error *e)
{
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "compression level %u, expected 1 to %d", level, most);
}

#ifdef TL_HAVE_ZLIB
static int gzip_init(tl_compressor *z, unsigned level, tl_error *e)
{
    if (level > GZIP_LEVEL_MOST)
        return bad_level(level, GZIP_LEVEL_MOST, e);
    int chosen = level == 0 ? GZIP_LEVEL : (int)level;
    if (deflateInit2(&z->gzip, chosen, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return no_memory(e);
    /* The library would write the build system's name. */
    z->header.os = GZIP_OS_UNKNOWN;
    deflateSetHeader(&z->gzip, &z->header);
    return 0;
}

static int gzip_write(tl_compressor *z, tl_target *t, const uint8_t *data, size_t n, bool last, tl_error *e)
{
    do {
        size_t part = n < UINT_MAX ? n : UINT_MAX;
        int flush = last && part == n ? Z_FINISH : Z_NO_FLUSH, status, r;
        z->gzip.next_in = (Bytef *)(uintptr_t)data;
        z->gzip.avail_in = (uInt)part;
        do {
            z->gzip.next_out = z->out;
            z->gzip.avail_out = sizeof z->out;
            status = deflate(&z->gzip, flush);
            assert(status != Z_STREAM_ERROR);
            r = tl_target_write(t, z->out, sizeof z->out - z->gzip.avail_out, e);
            if (r < 0)
                return r;
        } while (flush == Z_FINISH ? status != Z_STREAM_END : z->gzip.avail_out == 0);
        data += part;
        n -= part;
    } while (n > 0);
    return 0;
}
#endif

#ifdef TL_HAVE_ZSTD
static int zstd_init(tl_compressor *z, unsigned level, tl_error *e)
{
    if (level > (unsigned)ZSTD_maxCLevel())
        return bad_level(level, ZSTD_maxCLevel(), e);
    z->zstd = ZSTD_createCCtx();
    if (!z->zstd)
        return no_memory(e);
    ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_compressionLevel, level == 0 ? ZSTD_LEVEL : (int)level);
    ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_checksumFlag, 1);
    return 0;
}

static int zstd_stream(tl_compressor *z, tl_target *t, const uint8_t *data, size_t n, bool last, tl_error *e)
{
    ZSTD_inBuffer in = {data, n, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {z->out, sizeof z->out, 0};
        left = ZSTD_compressStream2(z->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "zstd compression fails: %s", ZSTD_getErrorName(left));
        int r = tl_target_write(t, z->out, out.pos, e);
        if (r < 0)
            return r;
        z->packed += out.pos;
    } while (last ? left > 0 : in.pos < in.size);
    z->content += n;
    return 0;
}

static int zstd_cut(tl_compressor *z, tl_target *t, tl_error *e)
{
    const int r = zstd_stream(z, t, NULL, 0, true, e);
    if (r < 0)
        return r;
    if (!tl_seek_table_add(&z->table, z->packed, z->content))
        return no_memory(e);
    z->packed = z->content = 0;
    z->cut = true;
    return 0;
}

/* Writes what follows the last of several frames. */
static int zstd_table(tl_compressor *z, tl_target *t, tl_error *e)
{
    int r = 0;
    size_t n = 0;
    if (z->note) {
        r = tl_target_write(t, z->note, z->note_n, e);
        if (r == 0 && !tl_seek_table_add(&z->table, z->note_n, 0))
            r = no_memory(e);
    }
    if (r < 0 || z->table.broken)
        return r;
    uint8_t *bytes = tl_seek_table_make(&z->table, &n);
    r = bytes ? tl_target_write(t, bytes, n, e) : no_memory(e);
    free(bytes);
    return r;
}

static int zstd_write(tl_compressor *z, tl_target *t, const uint8_t *data, size_t n, bool last, tl_error *e)
{
    int r = 0;
    if (!z->cut || !last)
        return zstd_stream(z, t, data, n, last, e);
    if (n > 0)
        r = zstd_stream(z, t, data, n, false, e);
    if (r == 0 && z->content > 0) /* after a cut an empty frame is not needed */
        r = zstd_cut(z, t, e);
    return r < 0 ? r : zstd_table(z, t, e);
}

static void zstd_free(tl_compressor *z)
{
    ZSTD_freeCCtx(z->zstd);
    tl_seek_table_fini(&z->table);
    free(z->note);
}
#endif

int tl_compressor_new(tl_compressor **out, tl_compression c, unsigned level, tl_error *e)
{
    int r;
    assert(c != TL_PLAIN);
    tl_compressor *z = calloc(1, sizeof *z);
    if (!z)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for compression");
    z->kind = c;
    switch (c) {
#ifdef TL_HAVE_ZLIB
    case TL_GZIP:
        r = gzip_init(z, level, e);
        break;
#endif
#ifdef TL_HAVE_ZSTD
    case TL_ZSTD:
        r = zstd_init(z, level, e);
        break;
#endif
    default:
        (void)level;
        r = tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this build has no %s support", c == TL_GZIP ? "gzip" : "zstd");
    }
    if (r < 0)
        free(z);
    else
        *out = z;
    return r;
}

void tl_compressor_free(tl_compressor *z)
{
    if (!z)
        return;
#ifdef TL_HAVE_ZLIB
    if (z->kind == TL_GZIP)
        deflateEnd(&z->gzip);
#endif
#ifdef TL_HAVE_ZSTD
    if (z->kind == TL_ZSTD)
        zstd_free(z);
#endif
    free(z);
}

int tl_compressor_write(tl_compressor *z, tl_target *t, const void *data, size_t n, bool last, tl_error *e)
{
    (void)data;
    (void)n;
    (void)last;
    switch (z->kind) {
#ifdef TL_HAVE_ZLIB
    case TL_GZIP:
        return gzip_write(z, t, data, n, last, e);
#endif
#ifdef TL_HAVE_ZSTD
    case TL_ZSTD:
        return zstd_write(z, t, data, n, last, e);
#endif
    default:
        (void)t;
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this build has no such compression");
    }
}

uint64_t tl_compressor_frame(const tl_compressor *z)
{
#ifdef TL_HAVE_ZSTD
    if (z->kind == TL_ZSTD)
        return z->content;
#endif
    (void)z;
    return UINT64_MAX;
}

int tl_compressor_cut(tl_compressor *z, tl_target *t, tl_error *e)
{
#ifdef TL_HAVE_ZSTD
    if (z->kind == TL_ZSTD)
        return zstd_cut(z, t, e);
#endif
    (void)z;
    (void)t;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this compression has no frames");
}

int tl_compressor_note(tl_compressor *z, uint32_t magic, const void *data, size_t n, tl_error *e)
{
    (void)magic;
    (void)data;
    (void)n;
#ifdef TL_HAVE_ZSTD
    if (z->kind == TL_ZSTD) {
        uint8_t *note = n <= UINT32_MAX - TL_SKIPPABLE_HEADER ? malloc(n + TL_SKIPPABLE_HEADER) : NULL;
        if (!note)
            return no_memory(e);
        tl_store32(note, magic, false);
        tl_store32(note + 4, (uint32_t)n, false);
        if (n > 0)
            memcpy(note + TL_SKIPPABLE_HEADER, data, n);
        free(z->note);
        z->note = note;
        z->note_n = n + TL_SKIPPABLE_HEADER;
        return 0;
    }
#endif
    (void)z;
    return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this compression has no frames");
}
