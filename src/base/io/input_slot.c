/* Decodes a frame of zstd content as far as requested. The decoder gets exactly as much as it asks for, as when
 * everything is decompressed at once: so the bytes before damage are the same either way. */
#include "base/io/input_slot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#ifdef TL_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* Compressed bytes to read at once. */
#define READ_AHEAD ((size_t)1 << 20)

bool tl_slot_possible(void)
{
#ifdef TL_HAVE_ZSTD
    return true;
#else
    return false;
#endif
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for zstd decompression");
}

#ifdef TL_HAVE_ZSTD
static bool decoder_reset(tl_slot *s)
{
    if (!s->decoder)
        s->decoder = ZSTD_createDCtx();
    const size_t hint = s->decoder ? ZSTD_initDStream(s->decoder) : 0;
    s->hint = hint;
    return s->decoder && !ZSTD_isError(hint);
}

/* Gives the decoder up to n of the bytes read ahead. 1; 0: damage; or < 0. */
static int decode(tl_slot *s, size_t n, void *out, size_t room, size_t *made, tl_error *e)
{
    ZSTD_inBuffer from = {s->in + s->in_at, n, 0};
    ZSTD_outBuffer to = {out, room, 0};
    const size_t status = ZSTD_decompressStream(s->decoder, &to, &from);
    if (ZSTD_isError(status))
        return ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation ? no_memory(e) : 0;
    s->in_at += from.pos;
    s->full = to.pos == room;
    s->ended = status == 0;
    s->hint = status;
    *made = to.pos;
    return 1;
}

static void decoder_free(tl_slot *s)
{
    ZSTD_freeDCtx(s->decoder);
}
#else
static bool decoder_reset(tl_slot *s)
{
    return s->decoder != NULL;
}

static int decode(tl_slot *s, size_t n, void *out, size_t room, size_t *made, tl_error *e)
{
    (void)s, (void)n, (void)out, (void)room, (void)made;
    return no_memory(e);
}

static void decoder_free(tl_slot *s)
{
    (void)s;
}
#endif

/* Enlarges a buffer to at least the wanted size; its content is lost. */
static bool resize(uint8_t **buffer, size_t *capacity, uint64_t wanted, size_t most)
{
    const size_t n = wanted < most ? (size_t)wanted : most;
    if (*buffer && *capacity >= n)
        return true;
    free(*buffer);
    *buffer = malloc(n);
    *capacity = *buffer ? n : 0;
    return *buffer != NULL;
}

static int start(tl_slot *s, const tl_slot_frame *f, tl_error *e)
{
    s->started = false;
    if (!resize(&s->in, &s->in_capacity, f->packed, READ_AHEAD) ||
        !resize(&s->kept, &s->capacity, f->end - f->begin, TL_SLOT_KEPT) || !decoder_reset(s))
        return no_memory(e);
    s->in_n = s->in_at = 0;
    s->in_next = f->at;
    s->begin = s->pos = f->begin;
    s->full = s->ended = false;
    s->started = true;
    return 1;
}

/* Decodes one block, or the rest of one. 1; 0: the frame is not valid; or < 0. */
static int step(tl_slot *s, const tl_packed *p, const tl_slot_frame *f, void *out, size_t room, size_t *made,
                tl_error *e)
{
    if (s->ended)
        return 0;
    if (!s->full && s->in_at == s->in_n) {
        const uint64_t left = f->at + f->packed - s->in_next;
        const int64_t n =
            tl_packed_read(p, s->in_next, s->in, left < s->in_capacity ? (size_t)left : s->in_capacity, e);
        if (n <= 0)
            return (int)n;
        s->in_at = 0;
        s->in_n = (size_t)n;
        s->in_next += (uint64_t)n;
    }
    const size_t n = s->in_n - s->in_at;
    return decode(s, s->full ? 0 : n < s->hint ? n : s->hint, out, room, made, e);
}

/* After the last byte of content the frame has to end: the decoder then compares sizes and the checksum. */
static int check_end(tl_slot *s, const tl_packed *p, const tl_slot_frame *f, tl_error *e)
{
    uint8_t more[16];
    while (!s->ended) {
        size_t made = 0;
        const int status = step(s, p, f, more, sizeof more, &made, e);
        if (status <= 0 || made > 0)
            return status < 0 ? status : 0;
    }
    return s->in_next - (s->in_n - s->in_at) == f->at + f->packed;
}

static int go_on(tl_slot *s, const tl_packed *p, const tl_slot_frame *f, tl_error *e)
{
    assert(s->capacity > 0);
    const size_t at = (size_t)((s->pos - s->begin) % s->capacity);
    const uint64_t left = f->end - s->pos;
    size_t room = s->capacity - at, made = 0;
    if (room > left)
        room = (size_t)left;
    int status = step(s, p, f, s->kept + at, room, &made, e);
    if (status <= 0)
        return status;
    s->pos += made;
    s->made += made;
    return s->pos == f->end && f->whole ? check_end(s, p, f, e) : 1;
}

int tl_slot_read(tl_slot *s, const tl_packed *p, const tl_slot_frame *f, uint64_t offset, void *buf, size_t n,
                 size_t *got, tl_error *e)
{
    const uint64_t behind = s->pos - s->begin, low = behind > s->capacity ? s->pos - s->capacity : s->begin;
    int status = 1;
    *got = 0;
    if (!s->started || s->begin != f->begin || offset < low)
        status = start(s, f, e);
    while (status > 0 && *got < n) {
        if (offset >= s->pos) {
            status = go_on(s, p, f, e);
            continue;
        }
        assert(s->capacity > 0); /* empty frames are never read */
        const size_t at = (size_t)((offset - s->begin) % s->capacity);
        size_t there = s->capacity - at;
        if (there > s->pos - offset)
            there = (size_t)(s->pos - offset);
        if (there > n - *got)
            there = n - *got;
        memcpy((uint8_t *)buf + *got, s->kept + at, there);
        *got += there;
        offset += there;
    }
    if (status <= 0)
        s->started = false;
    return status;
}

void tl_slot_fini(tl_slot *s)
{
    decoder_free(s);
    free(s->in);
    free(s->kept);
    *s = (tl_slot){0};
}
