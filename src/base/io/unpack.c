/* Decompression into growing memory: one loop for both libraries, which differ only in a step. */
#include "base/io/unpack.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef TL_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef TL_HAVE_BZIP2
#include <bzlib.h>
#endif

#include "base/compiler.h"
#include "base/grow.h"

enum { IN_SIZE = 64 << 10, OUT_LEAST = 64 << 10 };

typedef enum step_result { STEP_MORE, STEP_END, STEP_DAMAGED, STEP_NO_MEMORY } step_result;

/* Input and output of a step. */
typedef struct piece {
    uint8_t *in, *out;
    size_t in_n, out_n;
} piece;

typedef struct unpacker {
    tl_codec codec;
    size_t front, most, slack;
    const char *what; /* damage, if the library describes it */
#ifdef TL_HAVE_ZLIB
    z_stream gzip;
#endif
#ifdef TL_HAVE_BZIP2
    bz_stream bzip2;
#endif
    uint8_t in[IN_SIZE];
} unpacker;

#if defined(TL_HAVE_ZLIB) || defined(TL_HAVE_BZIP2)
static unsigned at_most(size_t n)
{
    return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}
#endif

#ifdef TL_HAVE_ZLIB
static step_result gzip_step(unpacker *u, piece *p)
{
    z_stream *z = &u->gzip;
    const unsigned in = at_most(p->in_n), out = at_most(p->out_n);
    z->next_in = p->in;
    z->avail_in = in;
    z->next_out = p->out;
    z->avail_out = out;
    const int status = inflate(z, Z_NO_FLUSH);
    p->in += in - z->avail_in;
    p->in_n -= in - z->avail_in;
    p->out += out - z->avail_out;
    p->out_n -= out - z->avail_out;
    u->what = z->msg;
    return status == Z_STREAM_END                    ? STEP_END
           : status == Z_OK || status == Z_BUF_ERROR ? STEP_MORE
           : status == Z_MEM_ERROR                   ? STEP_NO_MEMORY
                                                     : STEP_DAMAGED;
}
#endif

#ifdef TL_HAVE_BZIP2
static step_result bzip2_step(unpacker *u, piece *p)
{
    bz_stream *z = &u->bzip2;
    const unsigned in = at_most(p->in_n), out = at_most(p->out_n);
    z->next_in = (char *)p->in;
    z->avail_in = in;
    z->next_out = (char *)p->out;
    z->avail_out = out;
    const int status = BZ2_bzDecompress(z);
    p->in += in - z->avail_in;
    p->in_n -= in - z->avail_in;
    p->out += out - z->avail_out;
    p->out_n -= out - z->avail_out;
    u->what = status == BZ_DATA_ERROR_MAGIC ? "no bzip2 header" : "a checksum or a code is wrong";
    return status == BZ_STREAM_END  ? STEP_END
           : status == BZ_OK        ? STEP_MORE
           : status == BZ_MEM_ERROR ? STEP_NO_MEMORY
                                    : STEP_DAMAGED;
}
#endif

static int start(unpacker *u, tl_error *e)
{
    bool fine = false;
    switch (u->codec) {
#ifdef TL_HAVE_ZLIB
    case TL_CODEC_GZIP:
        fine = inflateInit2(&u->gzip, MAX_WBITS + 16) == Z_OK;
        break;
#endif
#ifdef TL_HAVE_BZIP2
    case TL_CODEC_BZIP2:
        fine = BZ2_bzDecompressInit(&u->bzip2, 0, 0) == BZ_OK;
        break;
#endif
    default:
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET, "this build has no %s support", tl_codec_name(u->codec));
    }
    return fine ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %s decompression", tl_codec_name(u->codec));
}

static void stop(unpacker *u)
{
    (void)u;
#ifdef TL_HAVE_ZLIB
    if (u->codec == TL_CODEC_GZIP)
        inflateEnd(&u->gzip);
#endif
#ifdef TL_HAVE_BZIP2
    if (u->codec == TL_CODEC_BZIP2)
        BZ2_bzDecompressEnd(&u->bzip2);
#endif
}

static step_result step(unpacker *u, piece *p)
{
#ifdef TL_HAVE_ZLIB
    if (u->codec == TL_CODEC_GZIP)
        return gzip_step(u, p);
#endif
#ifdef TL_HAVE_BZIP2
    if (u->codec == TL_CODEC_BZIP2)
        return bzip2_step(u, p);
#endif
    (void)u;
    (void)p;
    return STEP_DAMAGED;
}

/* Makes room for more output, up to one byte more than `most`, so that excess is noticed. */
static int grow(const unpacker *u, tl_unpacked *out, tl_error *e)
{
    const size_t limit = u->front + u->most + 1;
    size_t room = out->n < OUT_LEAST ? OUT_LEAST : 2 * out->n;
    if (room > limit || out->n > limit / 2)
        room = limit;
    if (!TL_RESIZE(out->data, room + u->slack))
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %zu decompressed bytes", room);
    out->capacity = room;
    return 0;
}

static int run(unpacker *u, tl_codec_source *source, void *arg, tl_unpacked *out, tl_error *e)
{
    const char *name = tl_codec_name(u->codec);
    piece p = {.in = u->in};
    for (;;) {
        if (out->n >= out->capacity) {
            int r = grow(u, out, e);
            if (r < 0)
                return r;
        }
        p.out = out->data + out->n;
        p.out_n = out->capacity - out->n;
        const size_t in = p.in_n, room = p.out_n;
        const step_result result = step(u, &p);
        out->n += room - p.out_n;
        if (out->n > u->front + u->most)
            return tl_fail(e, TL_EDAMAGED, TL_NO_OFFSET, "it is more than %zu bytes (the limit)", u->most);
        if (result == STEP_END)
            return 0;
        if (result == STEP_NO_MEMORY)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %s decompression", name);
        if (result == STEP_DAMAGED)
            return tl_fail(e, TL_EDAMAGED, TL_NO_OFFSET, "%s data is damaged: %s", name,
                           u->what ? u->what : "a preset dictionary is needed");
        if (p.in_n == in && p.out_n == room) { /* no progress */
            const int64_t got = p.in_n > 0 ? 0 : source(arg, u->in, sizeof u->in, e);
            if (got < 0)
                return (int)got;
            if (got == 0)
                return tl_fail(e, TL_EDAMAGED, TL_NO_OFFSET, "%s data ends early", name);
            p.in = u->in;
            p.in_n = (size_t)got;
        }
    }
}

int tl_unpack(tl_codec c, tl_codec_source *source, void *arg, size_t front, size_t most, size_t slack, tl_unpacked *out,
              tl_error *e)
{
    unpacker *u = calloc(1, sizeof *u);
    if (!u)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for decompression");
    u->codec = c;
    u->front = front;
    u->most = most;
    u->slack = slack;
    tl_unpacked made = {.n = front};
    int r = start(u, e);
    if (r == 0) {
        r = run(u, source, arg, &made, e);
        stop(u);
    }
    free(u);
    if (r < 0) {
        free(made.data);
        return r;
    }
    memset(made.data, 0, front);
    memset(made.data + made.n, 0, slack);
    *out = made;
    return 0;
}
