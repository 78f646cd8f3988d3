/* Finds the frames of zstd content. It reads (all numbers little-endian):
 *
 *   frame:     u32 0xfd2fb528   u8 descriptor   [u8 window]   [dictionary]   [content size]   blocks   [u32 checksum]
 *   block:     u24 last | type << 1 | size << 3   bytes
 *   skippable: u32 0x184d2a5?   u32 n   n bytes
 *
 * The decoder checks everything again. So this may miss errors inside a block, but must not accept sizes that no
 * decoder would arrive at. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "base/io/input_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "base/io/input.h"
#include "base/io/seek_table.h"
#include "base/io/spool.h"

#define FRAME_MAGIC    0xfd2fb528u
#define BLOCK_MOST     (1u << 17)
/* The largest window that zstd accepts by default. */
#define WINDOW_MOST    ((uint64_t)1 << 27)
/* The checksum of empty content. */
#define NO_CONTENT_SUM 0x51d8e999u
enum { HEADER_MOST = 18, BLOCK_HEADER = 3, CHECKSUM = 4, ENTRY_WITH_SUM = 12 };

/* A small window on the file. */
typedef struct look {
    const tl_packed *p;
    tl_error *e;
    int error;
    uint64_t at;
    size_t n;
    uint8_t bytes[1024];
} look;

typedef struct header {
    size_t size; /* of the header itself */
    uint64_t content, window;
    bool known; /* the content size is known */
    bool checksum;
} header;

int64_t tl_packed_read(const tl_packed *p, uint64_t offset, void *buf, size_t n, tl_error *e)
{
    if (offset >= p->size)
        return 0;
    if (n > p->size - offset)
        n = (size_t)(p->size - offset);
    if (p->data) {
        memcpy(buf, p->data + (size_t)offset, n);
        return (int64_t)n;
    }
    const int64_t got = tl_pread_full(p->fd, buf, n, p->base + offset);
    return got < 0 ? tl_fail_errno(e, errno, "cannot be read") : got;
}

/* n bytes at an offset, or NULL: past the end, or l->error. */
static const uint8_t *peek(look *l, uint64_t at, size_t n)
{
    if (at < l->at || at - l->at > l->n || l->n - (size_t)(at - l->at) < n) {
        const int64_t got = tl_packed_read(l->p, at, l->bytes, sizeof l->bytes, l->e);
        l->error = got < 0 ? (int)got : 0;
        l->n = got < 0 ? 0 : (size_t)got;
        l->at = at;
        if (l->n < n)
            return NULL;
    }
    return l->bytes + (size_t)(at - l->at);
}

/* Reads a frame header after its magic number. False: the frame cannot be decompressed on reading. */
static bool read_header(look *l, uint64_t at, header *h)
{
    static const uint8_t size_bytes[] = {0, 2, 4, 8}, dictionary_bytes[] = {0, 1, 2, 4};
    const uint8_t *p = peek(l, at, 5);
    if (!p || p[4] & 0x08) /* a reserved bit */
        return false;
    const unsigned descriptor = p[4], single = descriptor >> 5 & 1, flag = descriptor >> 6;
    const size_t dictionary = dictionary_bytes[descriptor & 3], nsize = flag ? size_bytes[flag] : single;
    *h = (header){.size = 5u + !single + dictionary + nsize, .checksum = descriptor >> 2 & 1, .known = nsize > 0};
    p = peek(l, at, h->size);
    if (!p)
        return false;
    p += 5;
    if (!single) {
        const uint64_t base = (uint64_t)1 << (10 + (*p >> 3));
        h->window = base + base / 8 * (*p & 7);
        p++;
    }
    for (size_t i = 0; i < dictionary; i++)
        if (*p++ != 0)
            return false;
    h->content = nsize == 1   ? p[0]
                 : nsize == 2 ? (uint64_t)tl_load16(p, false) + 256
                 : nsize == 4 ? tl_load32(p, false)
                 : nsize == 8 ? tl_load64(p, false)
                              : 0;
    if (single)
        h->window = h->content;
    return h->window <= WINDOW_MOST;
}

/* Walks over the blocks of a frame from *at. They must be able to hold the declared content; an empty frame is checked
 * completely, since it will never be decompressed. */
static bool walk_blocks(look *l, const header *h, uint64_t *at)
{
    const uint32_t most_of_block = h->window < BLOCK_MOST ? (uint32_t)h->window : BLOCK_MOST;
    uint64_t least = 0, most = 0;
    for (bool last = false; !last;) {
        const uint8_t *p = peek(l, *at, BLOCK_HEADER);
        if (!p)
            return false;
        const uint32_t v = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16, n = v >> 3;
        const unsigned type = v >> 1 & 3;
        if (type == 3 || n > most_of_block || (h->content == 0 && v != 1))
            return false;
        last = v & 1;
        least += type == 2 ? 0 : n;
        most += type == 2 ? most_of_block : n;
        *at += BLOCK_HEADER + (type == 1 ? 1 : n);
    }
    if (h->checksum) {
        const uint8_t *p = h->content == 0 ? peek(l, *at, CHECKSUM) : NULL;
        if (h->content == 0 && (!p || tl_load32(p, false) != NO_CONTENT_SUM))
            return false;
        *at += CHECKSUM;
    }
    return least <= h->content && h->content <= most && *at <= l->p->size;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a list of the compressed frames");
}

/* Adds a frame. 1; 0: the content is too large for the compressed size; or < 0. */
static int add_frame(tl_frames *f, uint64_t at, uint64_t packed, uint64_t content, uint64_t window, tl_error *e)
{
    const uint64_t size = f->size + content, end = at + packed;
    if (size < content || (size > TL_INPUT_EXPANSION_FREE && size / TL_INPUT_EXPANSION >= end) || f->n == TL_FRAMES_MAX)
        return 0;
    if (!TL_GROW(f->frame, f->n, 2, f->capacity))
        return no_memory(e);
    f->frame[f->n++] = (tl_packed_frame){.begin = f->size, .at = at, .packed = packed};
    f->frame[f->n] = (tl_packed_frame){.begin = size, .at = end};
    f->size = size;
    if (window > f->window)
        f->window = window;
    return 1;
}

static int add_note(tl_frames *f, uint64_t at, uint32_t magic, uint32_t n, tl_error *e)
{
    if (f->nnote == TL_NOTES_MAX)
        return 1;
    if (!TL_GROW(f->note, f->nnote, 1, f->note_capacity))
        return no_memory(e);
    f->note[f->nnote++] = (tl_packed_note){.at = at, .magic = magic, .n = n};
    return 1;
}

/* Adds one frame of either kind. *end is its end, or 0: found here. 1, 0, or < 0. */
static int add(tl_frames *f, look *l, uint64_t at, uint64_t *end, uint64_t listed, tl_error *e)
{
    const uint8_t *p = peek(l, at, TL_SKIPPABLE_HEADER);
    if (!p)
        return 0;
    const uint32_t magic = tl_load32(p, false), n = tl_load32(p + 4, false);
    if ((magic & ~0xfu) == TL_SKIPPABLE_MAGIC) {
        const uint64_t behind = at + TL_SKIPPABLE_HEADER + n;
        if (behind > l->p->size || (f->listed && (behind != *end || listed != 0)))
            return 0;
        *end = behind;
        return add_note(f, at + TL_SKIPPABLE_HEADER, magic, n, e);
    }
    header h;
    if (magic != FRAME_MAGIC || !read_header(l, at, &h))
        return 0;
    if (!f->listed) {
        *end = at + h.size;
        if (!h.known || !walk_blocks(l, &h, end))
            return 0;
    } else if (listed == 0 || (h.known && h.content != listed)) {
        return 0;
    }
    return add_frame(f, at, *end - at, f->listed ? listed : h.content, h.window, e);
}

static int finish(tl_frames *f, const look *l, int status)
{
    if (status > 0 && f->n > 0)
        return 1;
    tl_frames_fini(f);
    return status < 0 ? status : l->error;
}

int tl_frames_walk(tl_frames *f, const tl_packed *p, tl_error *e)
{
    look l = {.p = p, .e = e};
    int status = 1;
    *f = (tl_frames){0};
    for (uint64_t at = 0, end = 0; status > 0 && at < p->size; at = end)
        status = add(f, &l, at, &end, 0, e);
    return finish(f, &l, status);
}

/* Takes the frames from the table at the end. Each must begin like a frame, and together they must fill the file. */
static int read_table(tl_frames *f, const tl_packed *p, tl_error *e)
{
    enum { LEAST = TL_SKIPPABLE_HEADER + TL_SEEK_TABLE_FOOTER };
    look table = {.p = p, .e = e}, l = {.p = p, .e = e};
    *f = (tl_frames){.listed = true};
    const uint8_t *b = p->size < LEAST ? NULL : peek(&table, p->size - TL_SEEK_TABLE_FOOTER, TL_SEEK_TABLE_FOOTER);
    if (!b || tl_load32(b + 5, false) != TL_SEEK_TABLE_FOOTER_MAGIC || b[4] & 0x7c)
        return finish(f, &table, 0);
    const uint32_t n = tl_load32(b, false), entry = b[4] & 0x80 ? ENTRY_WITH_SUM : TL_SEEK_TABLE_ENTRY;
    const uint64_t payload = (uint64_t)n * entry + TL_SEEK_TABLE_FOOTER;
    if (n > TL_FRAMES_MAX || payload > p->size - TL_SKIPPABLE_HEADER)
        return finish(f, &table, 0);
    const uint64_t begin = p->size - payload - TL_SKIPPABLE_HEADER;
    b = peek(&table, begin, TL_SKIPPABLE_HEADER);
    if (!b || tl_load32(b, false) != TL_SEEK_TABLE_MAGIC || tl_load32(b + 4, false) != payload)
        return finish(f, &table, 0);
    int status = 1;
    uint64_t at = 0;
    for (uint32_t i = 0; status > 0 && i < n; i++) {
        b = peek(&table, begin + TL_SKIPPABLE_HEADER + (uint64_t)i * entry, entry);
        const uint32_t packed = b ? tl_load32(b, false) : 0, content = b ? tl_load32(b + 4, false) : 0;
        uint64_t end = at + packed;
        status = packed > 0 && end <= begin ? add(f, &l, at, &end, content, e) : 0;
        at = end;
    }
    if (status > 0)
        status = at == begin;
    return finish(f, table.error < 0 ? &table : &l, status);
}

int tl_frames_find(tl_frames *f, const tl_packed *p, tl_error *e)
{
    const int status = read_table(f, p, e);
    return status != 0 ? status : tl_frames_walk(f, p, e);
}

uint32_t tl_frames_at(const tl_frames *f, uint64_t offset)
{
    uint32_t low = 0, high = f->n - 1; /* the last that begins at or before the offset: it is not empty */
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (f->frame[middle].begin <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool tl_frames_equal(const tl_frames *f, const tl_frames *g)
{
    return f->n == g->n && f->size == g->size && memcmp(f->frame, g->frame, f->n * sizeof *f->frame) == 0;
}

void tl_frames_fini(tl_frames *f)
{
    free(f->frame);
    free(f->note);
    f->frame = NULL;
    f->note = NULL;
    f->n = f->capacity = f->nnote = f->note_capacity = 0;
}
