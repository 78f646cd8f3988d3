/* The content of a packet of 2010: its checksum, decompression and decryption. Schemes are applied in the order
 * compression, encryption, checksum; so they are undone in reverse. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/endian.h"
#include "base/io/unpack.h"
#include "format/ctf/ctf2010_packet.h"
#include "format/ctf/ctf_layout.h"

#define DECOMPRESSED_MAX ((size_t)64 << 20) /* bytes of one packet: far more than any tracer's buffers, and no bomb */
#define PIECE            ((size_t)16 << 10)

/* The stored bytes after the header, read piece by piece. */
typedef struct stored {
    tl_input *in;
    uint64_t at, end; /* in the file */
} stored;

static stored stored_of(const ctf_walk *w, const ctf_packet *p)
{
    return (stored){w->window->in, p->offset + CTF_2010_HEADER, p->offset + p->content / 8};
}

static int64_t next_piece(void *arg, void *buf, size_t n, tl_error *e)
{
    stored *s = arg;
    const uint64_t left = s->end - s->at;
    size_t got;
    int r = tl_input_read(s->in, s->at, buf, n < left ? n : (size_t)left, &got, e);
    if (r < 0)
        return r;
    s->at += got;
    return (int64_t)got;
}

static int report(const ctf_walk *w, const ctf_packet *p, unsigned kind, uint32_t at, const char *rule,
                  const char *what, tl_error *e)
{
    const bool is_lost = kind & TL_DAMAGE_LOSS;
    const ctf2010_place where = {
        .kind = kind,
        .at = p->offset + at,
        .offset = p->offset + (is_lost ? CTF_2010_HEADER : at),
        .bytes = is_lost ? p->content / 8 - CTF_2010_HEADER : 0,
        .rule = rule,
    };
    return ctf2010_report(w, &where, e, "%s", what);
}

/* --- checksum --- */

/* The actual checksum of the content. 0, or an error. */
static int sum_of(const ctf_walk *w, const ctf_packet *p, uint32_t *sum, tl_error *e)
{
    static const tl_digest_kind kind[] = {
        [CTF2010_MD5] = TL_DIGEST_MD5, [CTF2010_SHA1] = TL_DIGEST_SHA1, [CTF2010_CRC32] = TL_DIGEST_CRC32};
    tl_digest d;
    uint8_t piece[PIECE], digest[TL_DIGEST_MOST];
    stored s = stored_of(w, p);
    int64_t n;
    tl_digest_begin(&d, kind[p->checksum_scheme]);
    while ((n = next_piece(&s, piece, sizeof piece, e)) > 0)
        tl_digest_add(&d, piece, (size_t)n);
    if (n < 0)
        return (int)n;
    tl_digest_end(&d, digest);
    /* CRC-32 is a number; for the others, the first bytes are read as one in the byte order of the packet. */
    *sum = tl_load32(digest, p->checksum_scheme == CTF2010_CRC32 || p->big);
    return 0;
}

static int verify(const ctf_walk *w, const ctf_packet *p, tl_error *e)
{
    if (p->checksum_scheme > CTF2010_CRC32)
        return report(w, p, TL_DAMAGE_FAULT, CTF_2010_CHECKSUM_SCHEME, "ctf2010.checksum-scheme",
                      "unknown checksum scheme: not verified", e);
    if (p->checksum_scheme == CTF2010_NO_CHECKSUM || p->truncated || !w->report) /* not needed */
        return 0;
    uint32_t sum;
    const int r = sum_of(w, p, &sum, e);
    if (r < 0)
        return r;
    if (sum == p->checksum)
        return 0;
    char what[96];
    snprintf(what, sizeof what, "checksum 0x%08" PRIx32 ", the content has 0x%08" PRIx32 "; decoded all the same",
             p->checksum, sum);
    return report(w, p, CTF2010_BOTH, CTF_2010_CHECKSUM, "ctf2010.checksum", what, e);
}

/* --- compression --- */

/* Decompresses; 1: there is content, 0: it is broken, which is reported. */
static int decompress(const ctf_walk *w, const ctf_packet *p, uint8_t **content, size_t *n, tl_error *e)
{
    const tl_codec codec = p->compression == CTF2010_GZIP ? TL_CODEC_GZIP : TL_CODEC_BZIP2;
    stored s = stored_of(w, p);
    tl_error why = {0};
    tl_unpacked out;
    int r = tl_unpack(codec, next_piece, &s, CTF_2010_HEADER, DECOMPRESSED_MAX, TL_WINDOW_SLACK, &out, &why);
    if (r >= 0) {
        size_t got;
        r = tl_input_read(w->window->in, p->offset, out.data, CTF_2010_HEADER, &got, e);
        if (r < 0) {
            free(out.data);
            return r;
        }
        *content = out.data;
        *n = out.n;
        return 1;
    }
    if (r != TL_EDAMAGED && r != TL_EUNSUPPORTED) {
        if (e)
            *e = why;
        return r;
    }
    char what[160];
    snprintf(what, sizeof what, "packet skipped: cannot decompress: %.120s", why.message);
    r = report(w, p, r == TL_EDAMAGED ? CTF2010_BOTH : TL_DAMAGE_LOSS, CTF_2010_HEADER, "ctf2010.compression", what, e);
    return r < 0 ? r : 0;
}

int ctf2010_content(ctf_walk *w, const ctf_packet *p, uint8_t **content, size_t *n, bool *skip, tl_error *e)
{
    uint8_t *data = NULL;
    size_t size = 0;
    bool is_skipped = true;
    int r = verify(w, p, e);
    if (r < 0)
        return r;
    if (p->encryption > CTF2010_AES) {
        r = report(w, p, CTF2010_BOTH, CTF_2010_ENCRYPTION, "ctf2010.encryption",
                   "packet skipped: unknown encryption scheme", e);
    } else if (p->encryption == CTF2010_AES) {
        r = report(w, p, TL_DAMAGE_NOTE, 0, "ctf2010.encrypted", "encrypted packet skipped", e);
    } else if (p->compression > CTF2010_GZIP) {
        r = report(w, p, CTF2010_BOTH, CTF_2010_COMPRESSION, "ctf2010.compression",
                   "packet skipped: unknown compression scheme", e);
    } else if (p->compression != CTF2010_NOT_COMPRESSED) {
        r = decompress(w, p, &data, &size, e);
        is_skipped = r == 0;
    } else {
        is_skipped = false;
    }
    if (r < 0)
        return r;
    *content = data;
    *n = size;
    *skip = is_skipped;
    return 0;
}

int ctf_2010_content(ctf_walk *w, const ctf_packet *p, uint8_t **content, size_t *n, bool *skip, tl_error *e)
{
    uint8_t *data;
    size_t size;
    int r = ctf2010_content(w, p, &data, &size, skip, e);
    if (r < 0)
        return r;
    if (p->truncated && data) {
        free(data);
        data = NULL;
        size = 0;
        *skip = true;
    }
    *content = data;
    *n = size;
    return 0;
}
