/* Digests: MD5 and SHA-1 are libcrypto's, if the build has it; CRC-32 is always there. */
#include "base/digest.h"

#include "base/crc32.h"
#include "base/endian.h"

#ifdef TL_HAVE_CRYPTO
#include <openssl/err.h>
#include <openssl/evp.h>
#endif

#ifdef TL_HAVE_CRYPTO
static int begin(tl_digest *d, tl_error *e)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a checksum");
    ERR_clear_error();
    if (EVP_DigestInit_ex(context, d->kind == TL_DIGEST_MD5 ? EVP_md5() : EVP_sha1(), NULL) != 1) {
        const bool no_memory = ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE;
        EVP_MD_CTX_free(context);
        return no_memory ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a checksum") : 0;
    }
    d->context = context;
    return 1;
}

static void add(tl_digest *d, const void *data, size_t n)
{
    if (d->context && EVP_DigestUpdate(d->context, data, n) != 1) {
        EVP_MD_CTX_free(d->context);
        d->context = NULL;
    }
}

static bool end(tl_digest *d, uint8_t out[TL_DIGEST_MOST])
{
    unsigned char full[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (!d->context)
        return false;
    const bool done = EVP_DigestFinal_ex(d->context, full, &n) == 1;
    EVP_MD_CTX_free(d->context);
    d->context = NULL;
    memset(out, 0, TL_DIGEST_MOST);
    memcpy(out, full, n < TL_DIGEST_MOST ? n : TL_DIGEST_MOST);
    return done;
}
#else
static int begin(tl_digest *d, tl_error *e)
{
    (void)d;
    (void)e;
    return 0;
}

static void add(tl_digest *d, const void *data, size_t n)
{
    (void)d;
    (void)data;
    (void)n;
}

static bool end(tl_digest *d, uint8_t out[TL_DIGEST_MOST])
{
    (void)d;
    (void)out;
    return false;
}
#endif

int tl_digest_begin(tl_digest *d, tl_digest_kind kind, tl_error *e)
{
    *d = (tl_digest){.kind = kind};
    return kind == TL_DIGEST_CRC32 ? 1 : begin(d, e);
}

void tl_digest_add(tl_digest *d, const void *data, size_t n)
{
    if (d->kind == TL_DIGEST_CRC32)
        d->crc = tl_crc32(d->crc, data, n);
    else
        add(d, data, n);
}

bool tl_digest_end(tl_digest *d, uint8_t out[TL_DIGEST_MOST])
{
    if (d->kind != TL_DIGEST_CRC32)
        return end(d, out);
    memset(out, 0, TL_DIGEST_MOST);
    tl_store32(out, d->crc, true);
    return true;
}
