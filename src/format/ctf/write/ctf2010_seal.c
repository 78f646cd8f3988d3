/* Completes packets of the dialect of 2010: compression, checksum, and padding to pages. */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"
#include "base/io/pack.h"
#include "format/ctf/ctf2010_packet.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/write/ctf_write.h"

static const struct {
    const char *name;
    tl_codec codec;
    uint8_t scheme;
} compressions[] = {{"bzip2", TL_CODEC_BZIP2, CTF2010_BZIP2}, {"gzip", TL_CODEC_GZIP, CTF2010_GZIP}};

static const struct {
    const char *name;
    tl_digest_kind kind;
    uint8_t scheme;
} checksums[] = {{"md5", TL_DIGEST_MD5, CTF2010_MD5},
                 {"sha1", TL_DIGEST_SHA1, CTF2010_SHA1},
                 {"crc32", TL_DIGEST_CRC32, CTF2010_CRC32}};

static int choose_compression(ctf_sealing *s, const char *name, tl_error *e)
{
    for (size_t i = 0; i < TL_COUNT(compressions); i++)
        if (strcmp(name, compressions[i].name) == 0) {
            s->codec = compressions[i].codec;
            s->compression = compressions[i].scheme;
            return tl_can_pack(s->codec)
                       ? 0
                       : tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "ctf: this build has no %s support", name);
        }
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "ctf: packets cannot be compressed by \"%s\", only by gzip and bzip2",
                   name);
}

static int choose_checksum(ctf_sealing *s, const char *name, tl_error *e)
{
    for (size_t i = 0; i < TL_COUNT(checksums); i++)
        if (strcmp(name, checksums[i].name) == 0) {
            s->digest = checksums[i].kind;
            s->checksum = checksums[i].scheme;
            return 0;
        }
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET, "ctf: there is no checksum \"%s\", only crc32, md5 and sha1", name);
}

int ctf_seal_open(ctf_writer *w, tl_error *e)
{
    const tl_write_options *o = w->context.options;
    if ((o->compress || o->checksum) && w->dialect != CTF_2010)
        return tl_fail(e, TL_EINVAL, TL_NO_OFFSET,
                       "ctf: %s: packets of version %s have none, only those of version 1.1 (--format-version 1.1)",
                       o->compress ? "compression" : "checksums", w->dialect == CTF_1_8 ? "1.8" : "2");
    int r = o->compress ? choose_compression(&w->sealing, o->compress, e) : 0;
    if (r == 0 && o->checksum)
        r = choose_checksum(&w->sealing, o->checksum, e);
    return r;
}

/* The checksum of the content, as a number in the packet's byte order, little-endian. */
static void put_checksum(const ctf_sealing *s, uint8_t *packet, size_t n)
{
    uint8_t digest[TL_DIGEST_MOST];
    tl_digest d;
    tl_digest_begin(&d, s->digest);
    tl_digest_add(&d, packet + CTF_2010_HEADER, n - CTF_2010_HEADER);
    tl_digest_end(&d, digest);
    tl_store32(packet + CTF_2010_CHECKSUM, tl_load32(digest, s->digest == TL_DIGEST_CRC32), false);
    packet[CTF_2010_CHECKSUM_SCHEME] = s->checksum;
}

/* Compresses the content if that makes it smaller. */
static int compress(ctf_sealing *s, uint8_t **packet, size_t *n, tl_error *e)
{
    const size_t content = *n - CTF_2010_HEADER;
    size_t packed;
    s->room.n = 0;
    if (content < 2)
        return 0;
    if (!ctf_room_grow(&s->room, *n))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "ctf: no memory to compress a packet");
    const int r = tl_pack(s->codec, 0, *packet + CTF_2010_HEADER, content, s->room.data + CTF_2010_HEADER, content - 1,
                          &packed, e);
    if (r <= 0)
        return r;
    memcpy(s->room.data, *packet, CTF_2010_HEADER);
    s->room.data[CTF_2010_COMPRESSION] = s->compression;
    *packet = s->room.data;
    *n = CTF_2010_HEADER + packed;
    return 0;
}

int ctf_seal(ctf_sealing *s, bool metadata, uint8_t **packet, size_t *n, size_t *padding, tl_error *e)
{
    const int r = s->compression && !metadata ? compress(s, packet, n, e) : 0;
    if (r < 0)
        return r;
    if (s->checksum)
        put_checksum(s, *packet, *n);
    *padding = (CTF_WRITE_PAGE - *n % CTF_WRITE_PAGE) % CTF_WRITE_PAGE;
    tl_store32(*packet + CTF_2010_CONTENT_SIZE, (uint32_t)*n, false);
    tl_store32(*packet + CTF_2010_PACKET_SIZE, (uint32_t)(*n + *padding), false);
    return 0;
}
