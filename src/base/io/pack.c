/* Compression of bytes in memory, by zlib and libbzip2. */
#include "base/io/pack.h"

#include <limits.h>

#ifdef TL_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef TL_HAVE_BZIP2
#include <bzlib.h>
#endif

#include "base/compiler.h"

static TL_UNUSED int no_memory(tl_codec c, tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %s compression", tl_codec_name(c));
}

#ifdef TL_HAVE_ZLIB
enum { GZIP_OS_UNKNOWN = 255 };

static int gzip(int level, const void *data, size_t n, void *out, size_t room, size_t *packed, tl_error *e)
{
    z_stream z = {0};
    gz_header header = {.os = GZIP_OS_UNKNOWN}; /* otherwise the library writes the build system's name */
    if (deflateInit2(&z, level ? level : Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return no_memory(TL_CODEC_GZIP, e);
    deflateSetHeader(&z, &header);
    z.next_in = (Bytef *)data; /* zlib does not write to it */
    z.avail_in = (unsigned)n;
    z.next_out = out;
    z.avail_out = (unsigned)room;
    const bool fits = deflate(&z, Z_FINISH) == Z_STREAM_END;
    *packed = z.total_out;
    deflateEnd(&z);
    return fits;
}
#endif

#ifdef TL_HAVE_BZIP2
enum { BLOCK = 100000, LARGEST_BLOCK = 9 };

static int bzip2(const void *data, size_t n, void *out, size_t room, size_t *packed, tl_error *e)
{
    const size_t blocks = n / BLOCK + 1; /* larger ones than needed only take memory */
    unsigned size = (unsigned)room;
    const int status = BZ2_bzBuffToBuffCompress(out, &size, (char *)data, (unsigned)n,
                                                blocks < LARGEST_BLOCK ? (int)blocks : LARGEST_BLOCK, 0, 0);
    *packed = size;
    return status == BZ_OK ? 1 : status == BZ_OUTBUFF_FULL ? 0 : no_memory(TL_CODEC_BZIP2, e);
}
#endif

bool tl_can_pack(tl_codec c)
{
#ifdef TL_HAVE_ZLIB
    if (c == TL_CODEC_GZIP)
        return true;
#endif
#ifdef TL_HAVE_BZIP2
    if (c == TL_CODEC_BZIP2)
        return true;
#endif
    (void)c;
    return false;
}

int tl_pack(tl_codec c, int level, const void *data, size_t n, void *out, size_t room, size_t *packed, tl_error *e)
{
    *packed = 0;
    if (!tl_can_pack(c))
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this build has no %s support", tl_codec_name(c));
    if (n > UINT_MAX || room == 0)
        return 0;
    if (room > UINT_MAX)
        room = UINT_MAX;
#ifdef TL_HAVE_ZLIB
    if (c == TL_CODEC_GZIP)
        return gzip(level, data, n, out, room, packed, e);
#endif
#ifdef TL_HAVE_BZIP2
    if (c == TL_CODEC_BZIP2)
        return bzip2(data, n, out, room, packed, e);
#endif
    (void)level;
    (void)data;
    (void)out;
    return 0;
}
