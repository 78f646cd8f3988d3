/* A gzip member: made by the library, or of stored blocks (RFC 1951, 3.2.4). */
#include "view/pack/gzip_member.h"

#include <stdlib.h>

#include "base/crc32.h"
#include "base/endian.h"
#include "base/grow.h"
#include "base/io/pack.h"

/* Takes half as long as the usual one; a page is 0.5 to 2 % larger. */
enum { LEVEL = 4 };

enum { STORED_MOST = 65535, BLOCK_HEAD = 5, TRAILER = 8 };

static void put_stored(tl_pb *out, const uint8_t *data, size_t n)
{
    static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}; /* no time, no name, system not known */
    uint8_t block[BLOCK_HEAD], trailer[TRAILER];
    tl_pb_raw(out, head, sizeof head);
    for (size_t at = 0, size; at == 0 || at < n; at += size) {
        size = n - at < STORED_MOST ? n - at : STORED_MOST;
        block[0] = at + size == n; /* the last one */
        tl_store16(block + 1, (uint16_t)size, false);
        tl_store16(block + 3, (uint16_t)~size, false);
        tl_pb_raw(out, block, sizeof block);
        tl_pb_raw(out, data + at, size);
        if (size == 0)
            break;
    }
    tl_store32(trailer, tl_crc32(0, data, n), false);
    tl_store32(trailer + 4, (uint32_t)n, false);
    tl_pb_raw(out, trailer, sizeof trailer);
}

int tl_gzip_member_put(tl_pb *out, const void *data, size_t n, tl_error *e)
{
    size_t packed = 0;
    int fits = 0;
    if (tl_can_pack(TL_CODEC_GZIP) && n > 0) {
        uint8_t *room = tl_alloc(n, 1);
        if (!room)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to compress %zu bytes", n);
        fits = tl_pack(TL_CODEC_GZIP, LEVEL, data, n, room, n, &packed, e);
        if (fits == 1)
            tl_pb_raw(out, room, packed);
        free(room);
    }
    if (fits == 0)
        put_stored(out, data, n);
    if (fits < 0)
        return fits;
    return out->failed ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for compressed bytes") : 0;
}
