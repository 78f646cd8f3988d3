/* Packets of the dialect of 2010: the walk over those of a file, and which file belongs to which section.
 *
 * A packet with an invalid header is skipped: its packet_size is used if it leads to the end of the file or to a packet
 * of the trace; otherwise the search for the next magic number followed by the trace's session id begins. Bytes are
 * searched at most once. */
#include "format/ctf/ctf2010_packet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "base/io/base_name.h"
#include "format/ctf/ctf_layout.h"

#define MARK_SIZE 8u /* a magic number and a session id */

static const uint8_t magic_le[] = {0xc1, 0x1f, 0xfc, 0xc1}, magic_be[] = {0xc1, 0xfc, 0x1f, 0xc1};

bool ctf2010_magic(const uint8_t *p, size_t n, bool *big)
{
    if (n < sizeof magic_le)
        return false;
    *big = memcmp(p, magic_be, sizeof magic_be) == 0;
    return *big || memcmp(p, magic_le, sizeof magic_le) == 0;
}

int ctf2010_report(const ctf_walk *w, const ctf2010_place *where, tl_error *e, const char *format, ...)
{
    if (!w->report)
        return 0;
    char text[160];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    int r =
        ctf_report(w->report, w->file, where->kind, where->at, where->offset, where->bytes, where->rule, "%s", text);
    if (r < 0)
        return tl_fail(e, (tl_code)r, where->at, "%s: %s", where->rule,
                       r == TL_ENOMEM ? "no memory for the list of damage" : text);
    return 0;
}

static int failed(const tl_error *e)
{
    return e ? (int)e->code : TL_EIO;
}

static int fail_changed(const ctf_walk *w, uint64_t at, tl_error *e)
{
    return tl_fail(e, TL_EIO, at, "%s: the file changed while it was read", w->file->name);
}

/* The bytes of a header, or those left in the file: their number is *n. */
static const uint8_t *head(ctf_walk *w, size_t *n, tl_error *e)
{
    tl_window *window = w->window;
    const uint64_t left = w->file->size - w->offset;
    const size_t need = left < CTF_2010_HEADER ? (size_t)left : CTF_2010_HEADER;
    const bool is_there = w->offset >= window->base && w->offset - window->base <= window->n &&
                          window->n - (w->offset - window->base) >= need;
    const size_t ahead = w->ahead ? w->ahead : window->capacity;
    if (!is_there && tl_window_load(window, w->offset, ahead > need ? ahead : need, e) < 0)
        return NULL;
    const uint8_t *p = window->data + (size_t)(w->offset - window->base);
    if (window->n - (size_t)(w->offset - window->base) < need) {
        fail_changed(w, w->offset, e);
        return NULL;
    }
    *n = need;
    return p;
}

/* --- searching --- */

typedef struct marks {
    uint8_t le[MARK_SIZE], be[MARK_SIZE];
} marks;

static marks marks_of(const ctf_walk *w)
{
    marks m;
    memcpy(m.le, magic_le, sizeof magic_le);
    memcpy(m.be, magic_be, sizeof magic_be);
    tl_store32(m.le + CTF_2010_SESSION, w->file->unit->schema.session, false);
    tl_store32(m.be + CTF_2010_SESSION, w->file->unit->schema.session, true);
    return m;
}

static bool is_mark(const marks *m, const uint8_t *p)
{
    return memcmp(p, m->le, MARK_SIZE) == 0 || memcmp(p, m->be, MARK_SIZE) == 0;
}

/* The first packet at or after `from`, or the end of the file. */
static int search(ctf_walk *w, uint64_t from, uint64_t *found, tl_error *e)
{
    const marks m = marks_of(w);
    const uint64_t size = w->file->size;
    *found = size;
    for (uint64_t at = from; at < size && size - at >= MARK_SIZE;) {
        size_t n;
        const uint8_t *p = tl_window_at(w->window, at, MARK_SIZE, &n, e);
        if (!p)
            return failed(e);
        if (n < MARK_SIZE)
            return fail_changed(w, at, e);
        if (n > size - at)
            n = (size_t)(size - at);
        const size_t places = n - MARK_SIZE + 1;
        for (const uint8_t *q = p; (q = memchr(q, magic_le[0], places - (size_t)(q - p))); q++)
            if (is_mark(&m, q)) {
                *found = at + (size_t)(q - p);
                return 0;
            }
        at += places;
    }
    return 0;
}

/* Where to continue after an unusable packet of packet_size bytes. */
static int follower_of(ctf_walk *w, uint32_t packet_size, uint64_t *follower, tl_error *e)
{
    const uint64_t size = w->file->size;
    *follower = w->offset + packet_size;
    if (packet_size >= CTF_2010_HEADER && *follower == size)
        return 0;
    if (packet_size >= CTF_2010_HEADER && *follower < size) {
        /* Not through the window: wrong sizes may lead far away, and the search continues here. */
        uint8_t mark[MARK_SIZE];
        size_t got;
        int r = tl_input_read(w->window->in, *follower, mark, sizeof mark, &got, e);
        if (r < 0)
            return r;
        const marks m = marks_of(w);
        if (got == MARK_SIZE && is_mark(&m, mark))
            return 0;
    }
    return search(w, w->offset + 4, follower, e);
}

/* --- packets --- */

static void load(ctf_packet *p, const ctf_walk *w, const uint8_t *h, bool big)
{
    *p = (ctf_packet){
        .offset = w->offset,
        .number = w->number,
        .first = 8 * CTF_2010_HEADER,
        .stream = w->file->section,
        .cpu = w->file->cpu,
        .has_begin = true,
        .has_end = true,
        .has_discarded = true,
        .has_sequence = true,
        .big = big,
        .discarded_bits = 32,
        .compression = h[CTF_2010_COMPRESSION],
        .encryption = h[CTF_2010_ENCRYPTION],
        .checksum_scheme = h[CTF_2010_CHECKSUM_SCHEME],
        .begin = tl_load64(h + CTF_2010_BEGIN, big),
        .end = tl_load64(h + CTF_2010_END, big),
        .discarded = tl_load32(h + CTF_2010_DISCARDED, big),
        .sequence = tl_load32(h + CTF_2010_COUNT, big),
        .checksum = tl_load32(h + CTF_2010_CHECKSUM, big),
    };
}

/* The error in a header; rule NULL: none. */
typedef struct flaw {
    const char *rule;
    uint32_t at; /* in the packet */
    char what[96];
} flaw;

static flaw flaw_of(const ctf_walk *w, const uint8_t *h, bool big)
{
    const uint32_t session = tl_load32(h + CTF_2010_SESSION, big), expected = w->file->unit->schema.session;
    const uint32_t content = tl_load32(h + CTF_2010_CONTENT_SIZE, big), size = tl_load32(h + CTF_2010_PACKET_SIZE, big);
    flaw f = {0};
    if (session != expected) {
        f.rule = "ctf2010.session";
        f.at = CTF_2010_SESSION;
        snprintf(f.what, sizeof f.what, "session id 0x%" PRIx32 ", the trace has 0x%" PRIx32, session, expected);
    } else if (content < CTF_2010_HEADER) {
        f.rule = "ctf2010.content-size";
        f.at = CTF_2010_CONTENT_SIZE;
        snprintf(f.what, sizeof f.what, "content_size %" PRIu32 " is less than the header", content);
    } else if (size > 0 && size < CTF_2010_HEADER) {
        f.rule = "ctf2010.packet-size";
        f.at = CTF_2010_PACKET_SIZE;
        snprintf(f.what, sizeof f.what, "packet_size %" PRIu32 " is less than the header", size);
    } else if (size > 0 && content > size) {
        f.rule = "ctf2010.content-size";
        f.at = CTF_2010_CONTENT_SIZE;
        snprintf(f.what, sizeof f.what, "content_size %" PRIu32 " is more than packet_size %" PRIu32, content, size);
    }
    return f;
}

/* Bytes that do not begin a packet. */
static int skip_bytes(ctf_walk *w, tl_error *e)
{
    uint64_t follower;
    const uint64_t from = w->offset;
    int r = search(w, from + 1, &follower, e);
    if (r < 0)
        return r;
    w->offset = follower;
    const ctf2010_place where = {CTF2010_BOTH, from, from, follower - from, "ctf2010.magic"};
    return ctf2010_report(w, &where, e, "no packet magic number; the bytes belong to no packet");
}

static int skip_packet(ctf_walk *w, const flaw *f, uint32_t packet_size, tl_error *e)
{
    uint64_t follower;
    const uint64_t from = w->offset;
    int r = follower_of(w, packet_size, &follower, e);
    if (r < 0)
        return r;
    w->offset = follower;
    w->number++;
    const ctf2010_place where = {CTF2010_BOTH, from + f->at, from, follower - from, f->rule};
    return ctf2010_report(w, &where, e, "packet skipped: %s", f->what);
}

/* The file ends with less than a header. */
static int end_early(ctf_walk *w, size_t n, tl_error *e)
{
    const ctf2010_place where = {CTF2010_BOTH, w->offset + n, w->offset, n, "ctf2010.truncated"};
    w->offset = w->file->size;
    return ctf2010_report(w, &where, e, "the file ends inside a packet header");
}

/* A usable packet; the walk continues after it. */
static int take_packet(ctf_walk *w, ctf_packet *p, const uint8_t *h, bool big, tl_error *e)
{
    const uint64_t left = w->file->size - w->offset;
    const uint32_t content = tl_load32(h + CTF_2010_CONTENT_SIZE, big), size = tl_load32(h + CTF_2010_PACKET_SIZE, big);
    const unsigned bits = h[CTF_2010_COUNT_BITS];
    load(p, w, h, big);
    p->sequence_bits = (uint8_t)(bits == 0 || bits > 32 ? 32 : bits);
    p->size = size > 0 ? size : left;
    p->truncated = p->size > left || content > left;
    if (p->size > left)
        p->size = left;
    p->content = 8 * (content < left ? content : left);
    w->offset = p->truncated ? w->file->size : w->offset + p->size;
    w->number++;

    int r = 0;
    if (bits > 32) {
        const uint64_t at = p->offset + CTF_2010_COUNT_BITS;
        const ctf2010_place where = {TL_DAMAGE_FAULT, at, at, 0, "ctf2010.counter-bits"};
        r = ctf2010_report(w, &where, e, "%u significant bits of the packet counter, more than 32", bits);
    }
    if (r >= 0 && p->truncated) {
        const uint64_t at = w->file->size;
        const ctf2010_place where = {TL_DAMAGE_FAULT, at, at, 0, "ctf2010.truncated"};
        r = ctf2010_report(w, &where, e, "the file ends inside the packet at %" PRIu64, p->offset);
    }
    return r < 0 ? r : 1;
}

int ctf_2010_walk_next(ctf_walk *w, ctf_packet *p, tl_error *e)
{
    while (w->offset < w->file->size) {
        size_t n;
        const uint8_t *h = head(w, &n, e);
        if (!h)
            return failed(e);
        bool big = false;
        int r;
        if (n >= sizeof magic_le && !ctf2010_magic(h, n, &big)) {
            r = skip_bytes(w, e);
        } else if (n < CTF_2010_HEADER) {
            r = end_early(w, n, e);
        } else {
            const flaw f = flaw_of(w, h, big);
            if (!f.rule)
                return take_packet(w, p, h, big, e);
            r = skip_packet(w, &f, tl_load32(h + CTF_2010_PACKET_SIZE, big), e);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- sections --- */

static uint32_t find_section(const ctf_schema *s, const char *name, size_t n)
{
    for (uint32_t i = 0; i < s->nstream; i++)
        if (strncmp(s->stream[i]->name, name, n) == 0 && s->stream[i]->name[n] == '\0')
            return i;
    return UINT32_MAX;
}

uint32_t ctf_2010_section(const ctf_schema *s, const char *file, int32_t *cpu)
{
    const char *name = tl_base_name(file);
    const size_t n = strlen(name);
    *cpu = -1;
    uint32_t section = find_section(s, name, n);
    if (section != UINT32_MAX)
        return section;
    size_t stem = n;
    uint64_t number = 0;
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    for (size_t i = stem; i < n; i++)
        number = number <= INT32_MAX ? 10 * number + (uint64_t)(name[i] - '0') : number;
    if (stem < n && stem > 0 && strchr("_.-", name[stem - 1]))
        section = find_section(s, name, stem - 1);
    if (section != UINT32_MAX) {
        *cpu = number <= INT32_MAX ? (int32_t)number : -1;
        return section;
    }
    return s->nstream == 1 ? 0 : UINT32_MAX;
}
