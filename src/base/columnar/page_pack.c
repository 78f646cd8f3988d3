/* Compression of pages. */
#include "base/columnar/page_pack.h"

#include <stdlib.h>

#ifdef TL_HAVE_ZSTD
#include <zstd.h>

#include "base/grow.h"

struct tl_page_packer {
    ZSTD_CCtx *zstd;
};

bool tl_page_packer_is_there(void)
{
    return true;
}

int tl_page_packer_new(tl_page_packer **out, unsigned level, tl_error *e)
{
    if (level > (unsigned)ZSTD_maxCLevel())
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "compression level %u is not in 1 .. %d", level, ZSTD_maxCLevel());
    tl_page_packer *p = calloc(1, sizeof *p);
    if (p)
        p->zstd = ZSTD_createCCtx();
    if (!p || !p->zstd) {
        tl_page_packer_free(p);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for compression");
    }
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, level ? (int)level : 3);
    *out = p;
    return 0;
}

void tl_page_packer_free(tl_page_packer *p)
{
    if (p)
        ZSTD_freeCCtx(p->zstd);
    free(p);
}

int tl_page_pack(tl_page_packer *p, const void *data, size_t n, tl_pb *out, tl_error *e)
{
    tl_pb_clear(out);
    if (TL_GROW(out->data, 0, ZSTD_compressBound(n), out->capacity)) {
        const size_t size = ZSTD_compress2(p->zstd, out->data, out->capacity, data, n);
        if (!ZSTD_isError(size)) {
            out->n = size;
            return 0;
        }
    }
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for compression");
}

#else

bool tl_page_packer_is_there(void)
{
    return false;
}

int tl_page_packer_new(tl_page_packer **out, unsigned level, tl_error *e)
{
    (void)level;
    (void)e;
    *out = NULL;
    return 0;
}

void tl_page_packer_free(tl_page_packer *p)
{
    (void)p;
}

int tl_page_pack(tl_page_packer *p, const void *data, size_t n, tl_pb *out, tl_error *e)
{
    (void)p;
    tl_pb_clear(out);
    tl_pb_raw(out, data, n);
    return out->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a page") : 0;
}

#endif
