/* An index as bytes, for the cache. All numbers are little-endian.
 *
 *   u64 packets  u64 lost events  u64 lost packets  u32 files, then for each file
 *   u32 its number in the folder  u64 packets
 *   u8 flags (1: regresses, 2: has begin, 4: closed, 8: one stream, 16: has an instance)  u64 instance  u32 processor
 *   u32 spans  u32 points
 *   spans:  u32 stream class  u8 has range  u64 begin  u64 end
 *   points: u64 offset  u64 number  u64 latest
 *
 * The bytes are not trusted: they may make a reader find the wrong events, but nothing worse. */
#include <stdlib.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/ctf/read/ctf_index.h"

enum { HEAD = 28, FILE_HEAD = 33, SPAN = 21, POINT = 24 };

typedef struct bytes {
    const uint8_t *p;
    size_t n;
    bool short_of;
} bytes;

static uint8_t *put32(uint8_t *p, uint32_t v)
{
    tl_store32(p, v, false);
    return p + 4;
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
    tl_store64(p, v, false);
    return p + 8;
}

static uint8_t *put_file(uint8_t *p, const ctf_scan *s, uint32_t number)
{
    p = put32(p, number);
    p = put64(p, s->packets);
    *p++ = (uint8_t)(s->regresses | s->has_begin << 1 | s->closed << 2 | s->one_stream << 3 | s->has_instance << 4);
    p = put64(p, s->instance);
    p = put32(p, (uint32_t)s->cpu);
    p = put32(p, s->nspan);
    p = put32(p, s->npoint);
    for (uint32_t i = 0; i < s->nspan; i++) {
        p = put32(p, s->span[i].stream);
        *p++ = s->span[i].has_range;
        p = put64(p, s->span[i].begin);
        p = put64(p, s->span[i].end);
    }
    for (uint32_t i = 0; i < s->npoint; i++) {
        p = put64(p, s->point[i].offset);
        p = put64(p, s->point[i].number);
        p = put64(p, s->point[i].latest);
    }
    return p;
}

void *ctf_index_pack(const ctf_index *x, const ctf_reader *r, size_t *n)
{
    size_t size = HEAD;
    for (uint32_t i = 0; i < x->n; i++)
        size += FILE_HEAD + (size_t)x->scan[i].nspan * SPAN + (size_t)x->scan[i].npoint * POINT;
    uint8_t *data = malloc(size), *p = data;
    if (!data)
        return NULL;
    p = put64(p, x->packets);
    p = put64(p, x->lost_events);
    p = put64(p, x->lost_packets);
    p = put32(p, x->n);
    for (uint32_t i = 0; i < x->n; i++)
        p = put_file(p, &x->scan[i], r->file[i].index);
    *n = (size_t)(p - data);
    return data;
}

static uint64_t get(bytes *b, unsigned size)
{
    if (b->n < size) {
        b->short_of = true;
        return 0;
    }
    const uint64_t v = size == 1 ? *b->p : size == 4 ? tl_load32(b->p, false) : tl_load64(b->p, false);
    b->p += size;
    b->n -= size;
    return v;
}

static bool get_spans(bytes *b, ctf_scan *s, const ctf_file *f, uint32_t n)
{
    if (n > f->unit->schema.nstream || n > b->n / SPAN || !(s->span = tl_alloc(n + 1, sizeof *s->span)))
        return false;
    for (; s->nspan < n; s->nspan++) {
        ctf_span *span = &s->span[s->nspan];
        span->stream = (uint32_t)get(b, 4);
        span->has_range = get(b, 1) != 0;
        span->begin = get(b, 8);
        span->end = get(b, 8);
        if (span->stream >= f->unit->schema.nstream || span->end < span->begin ||
            (s->nspan > 0 && span->stream <= span[-1].stream))
            return false;
    }
    return true;
}

static bool get_points(bytes *b, ctf_scan *s, const ctf_file *f, uint32_t n)
{
    if (n > CTF_POINTS_MAX || n > b->n / POINT || !(s->point = tl_alloc((size_t)n + 1, sizeof *s->point)))
        return false;
    for (; s->npoint < n; s->npoint++) {
        struct ctf_point *point = &s->point[s->npoint];
        point->offset = get(b, 8);
        point->number = get(b, 8);
        point->latest = get(b, 8);
        if (point->offset >= f->size || (s->npoint > 0 && point->offset <= point[-1].offset) ||
            (s->npoint > 0 && point->latest < point[-1].latest))
            return false;
    }
    return true;
}

static bool get_file(bytes *b, ctf_scan *s, const ctf_file *f)
{
    const uint32_t index = (uint32_t)get(b, 4);
    s->packets = get(b, 8);
    const unsigned flags = (unsigned)get(b, 1);
    s->instance = get(b, 8);
    s->cpu = (int32_t)get(b, 4);
    const uint32_t spans = (uint32_t)get(b, 4), points = (uint32_t)get(b, 4);
    s->regresses = flags & 1;
    s->has_begin = flags & 2;
    s->closed = flags & 4;
    s->one_stream = flags & 8;
    s->has_instance = flags & 16;
    return index == f->index && !b->short_of && get_spans(b, s, f, spans) && get_points(b, s, f, points);
}

bool ctf_index_unpack(ctf_index *x, const ctf_reader *r, const void *data, size_t n)
{
    bytes b = {data, n, false};
    *x = (ctf_index){0};
    x->packets = get(&b, 8);
    x->lost_events = get(&b, 8);
    x->lost_packets = get(&b, 8);
    bool ok = get(&b, 4) == r->nfile && !b.short_of;
    if (ok)
        ok = (x->scan = calloc((size_t)r->nfile + 1, sizeof *x->scan)) != NULL;
    for (; ok && x->n < r->nfile; x->n++)
        ok = get_file(&b, &x->scan[x->n], &r->file[x->n]);
    if (ok && b.n == 0)
        return true;
    ctf_index_fini(x);
    return false;
}
