/* The walk over the packets of a file of 1.8 and 2: one header after the other, and where to go on after a bad one.
 *
 *   header                                  goes on
 *   magic number or uuid wrong,             behind the packet if its size is known and leads to the end of the file or
 *   unknown stream class, bad sizes,        to a header that has the magic number and uuid of the trace; else at the
 *   field that cannot be decoded            next such header, searched byte by byte; without magic numbers: nowhere
 *   the file ends inside                    nowhere
 *   packet larger than the rest             if another header follows in the rest, there: the size was a lie; else the
 *                                           file was cut off, and what is there of the packet can be used
 *   no packet_size                          the packet takes content_size, or without that the rest of the file
 *
 * The index files of LTTng (index/NAME.idx) hold the same offsets and sizes, but they may lie, and every header has to
 * be read anyway to verify them: they are not used. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/plan/ctf_plan_impl.h"
#include "format/ctf/read/ctf_file.h"

#define MAGIC_SIZE   4u
#define HEADER_FIRST 512u        /* bytes that hold most headers */
#define HEADER_MOST  (1u << 20)  /* header and context of a packet: larger ones count as damage */
#define PROBE_MOST   4096u       /* the same while searching */
#define WORK_TIMES   16u         /* examined headers may add up to this many times the size of the file, ... */
#define WORK_FREE    (64u << 20) /* ... and these bytes; a file that needs more is made to waste time */

#define BOTH (TL_DAMAGE_FAULT | TL_DAMAGE_LOSS)

/* An error in a header. */
typedef struct flaw {
    ctf_header_status status;
    uint64_t bit; /* of the field, from the begin of the packet */
    char what[160];
} flaw;

/* Whether the first field of packet headers is the magic number, so that it can be searched for. */
static bool has_magic(const ctf_walk *w)
{
    const ctf_type *header = w->file->unit->schema.packet_header;
    const ctf_type *first = header && header->nmember ? header->member[0].type : NULL;
    return first && first->kind == CTF_INT && first->roles & CTF_ROLE_MAGIC && first->bits == 8 * MAGIC_SIZE &&
           !first->reversed;
}

/* In either byte order, which is right even if the metadata has the other, as from some producers. */
static bool is_magic(const uint8_t *p)
{
    const uint32_t word = tl_load32(p, false);
    return word == (uint32_t)CTF_MAGIC_PACKET || word == __builtin_bswap32((uint32_t)CTF_MAGIC_PACKET);
}

static bool has_uuid(const ctf_walk *w)
{
    const ctf_schema *s = &w->file->unit->schema;
    for (uint32_t i = 0; s->has_uuid && s->packet_header && i < s->packet_header->nmember; i++)
        if (s->packet_header->member[i].type->roles & CTF_ROLE_UUID)
            return true;
    return false;
}

/* At least `need` bytes of the file; enlarges the window if needed. */
static const uint8_t *look(ctf_walk *w, uint64_t offset, size_t need, size_t *n, tl_error *e)
{
    tl_window *window = w->window;
    if (need > window->capacity && !TL_RESIZE(window->data, need + TL_WINDOW_SLACK)) {
        tl_fail(e, TL_ENOMEM, offset, "no memory for a packet header of %zu bytes", need);
        return NULL;
    }
    window->capacity = need > window->capacity ? need : window->capacity;
    const bool is_there =
        offset >= window->base && offset - window->base <= window->n && window->n - (offset - window->base) >= need;
    const size_t ahead = w->ahead ? w->ahead : window->capacity;
    if (!is_there && tl_window_load(window, offset, ahead > need ? ahead : need, e) < 0)
        return NULL;
    const uint8_t *p = window->data + (size_t)(offset - window->base);
    *n = window->n - (size_t)(offset - window->base);
    const uint64_t left = w->file->size - offset;
    if (*n > left) /* the file has grown */
        *n = (size_t)left;
    if (*n < need) {
        tl_fail(e, TL_EIO, offset + *n, "%s: the file changed while it was read", w->file->name);
        return NULL;
    }
    return p;
}

static int failed(const tl_error *e)
{
    return e ? (int)e->code : TL_EIO;
}

int ctf_header_bit(const ctf_plans *p, const uint8_t *data, size_t n, uint32_t role, uint64_t *bit, tl_error *e)
{
    uint64_t *reg = calloc((size_t)ctf_plans_registers(p) + 1, sizeof *reg), bad;
    if (!reg)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to look at a packet header");
    ctf_run r = {.data = data, .end = 8 * (uint64_t)n, .reg = reg};
    ctf_packet packet;
    char what[160];
    const unsigned number = ctf_role_number(role);
    (void)ctf_packet_header_run(p, &r, &packet, &bad, what);
    free(reg);
    *bit = 0;
    if (r.seen & role)
        *bit = role == CTF_ROLE_UUID ? r.role[number] : r.role_end[number] - r.role_bits[number];
    return 0;
}

/* Reads a header of at most `most` bytes at an offset below the size. */
static int read_header(ctf_walk *w, uint64_t offset, size_t most, ctf_packet *p, flaw *f, tl_error *e)
{
    const uint64_t left = w->file->size - offset;
    for (size_t need = HEADER_FIRST;; need *= 8) {
        if (need > most)
            need = most;
        if (need > left)
            need = (size_t)left;
        size_t n = 0;
        const uint8_t *bytes = look(w, offset, need, &n, e);
        if (!bytes)
            return failed(e);
        if (n > most)
            n = most;
        *p = (ctf_packet){.size = UINT64_MAX, .content = UINT64_MAX, .cpu = -1};
        f->status = ctf_packet_header(w->file->unit->plans, bytes, n, p, &f->bit, f->what);
        w->work += f->status == CTF_HEADER_OK ? p->first / 8 : f->status == CTF_HEADER_MORE ? n : f->bit / 8 + 1;
        if (f->status != CTF_HEADER_MORE && p->foreign_uuid) {
            f->status = CTF_HEADER_UUID;
            snprintf(f->what, sizeof f->what, "its uuid is not that of the metadata");
            return ctf_header_bit(w->file->unit->plans, bytes, n, CTF_ROLE_UUID, &f->bit, e);
        }
        if (f->status != CTF_HEADER_MORE || n >= left || n >= most)
            return 0;
    }
}

/* ---- searching ---- */

/* Whether a packet begins at an offset below the size. `sure`: its header must have no errors; otherwise the uuid of
 * the trace suffices. */
static int is_packet(ctf_walk *w, uint64_t offset, bool sure, bool *yes, tl_error *e)
{
    ctf_packet p;
    flaw f = {0};
    const int status = read_header(w, offset, PROBE_MOST, &p, &f, e);
    *yes = f.status == CTF_HEADER_OK ||
           (!sure && f.status != CTF_HEADER_MAGIC && f.status != CTF_HEADER_UUID && has_uuid(w));
    return status;
}

static bool worn_out(const ctf_walk *w)
{
    return w->work / WORK_TIMES > w->file->size + WORK_FREE / WORK_TIMES;
}

/* The first magic number in n bytes, or NULL. Its first byte is the same in both byte orders. */
static const uint8_t *find(const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n - MAGIC_SIZE + 1;
    for (; p < end && (p = memchr(p, CTF_MAGIC_PACKET & 0xff, (size_t)(end - p))); p++)
        if (is_magic(p))
            return p;
    return NULL;
}

/* The first packet at or after `from`, or the end of the file. */
static int search(ctf_walk *w, uint64_t from, bool sure, uint64_t *found, tl_error *e)
{
    const uint64_t size = w->file->size;
    *found = size;
    if (!has_magic(w))
        return 0;
    for (uint64_t at = from; at < size && size - at >= MAGIC_SIZE && !worn_out(w);) {
        size_t n = 0;
        const uint8_t *p = look(w, at, MAGIC_SIZE, &n, e);
        if (!p)
            return failed(e);
        const uint8_t *q = find(p, n);
        if (!q) {
            at += n - MAGIC_SIZE + 1;
            continue;
        }
        at += (uint64_t)(q - p);
        bool yes = false;
        const int status = is_packet(w, at, sure, &yes, e);
        if (status < 0)
            return status;
        if (yes) {
            *found = at;
            return 0;
        }
        at++;
    }
    return 0;
}

/* Where to continue after an unusable packet. */
static int follower_of(ctf_walk *w, const ctf_packet *p, const flaw *f, uint64_t *follower, tl_error *e)
{
    const uint64_t left = w->file->size - w->offset;
    *follower = w->file->size;
    if (worn_out(w))
        return 0;
    if (p->size > 0 && p->size <= left) { /* UINT64_MAX: not given */
        bool yes = p->size == left;
        *follower = w->offset + p->size;
        const int status = yes ? 0 : is_packet(w, *follower, false, &yes, e);
        if (status < 0 || yes)
            return status;
    }
    return search(w, w->offset + (f->status == CTF_HEADER_MAGIC ? 1 : MAGIC_SIZE), false, follower, e);
}

/* Whether all bytes from the current place to the end of the file are zero. */
static int is_padding(ctf_walk *w, bool *yes, tl_error *e)
{
    *yes = true;
    for (uint64_t at = w->offset; *yes && at < w->file->size;) {
        size_t n = 0;
        const uint8_t *p = look(w, at, 1, &n, e);
        if (!p)
            return failed(e);
        *yes = *p == 0 && memcmp(p, p + 1, n - 1) == 0;
        at += n;
    }
    return 0;
}

/* ---- packets ---- */

static int reported(int status, uint64_t at, tl_error *e)
{
    return status < 0 ? tl_fail(e, (tl_code)status, at, "no memory for the list of damage") : 0;
}

/* Continues after an unusable packet. */
static int skip(ctf_walk *w, const ctf_packet *p, const flaw *f, tl_error *e)
{
    static const char *const rules[] = {
        [CTF_HEADER_MAGIC] = "ctf.magic",         [CTF_HEADER_UUID] = "ctf.uuid",
        [CTF_HEADER_STREAM] = "ctf.stream-class", [CTF_HEADER_SIZES] = "ctf.packet-size",
        [CTF_HEADER_FIELD] = "ctf.header",
    };
    const uint64_t from = w->offset, number = w->number;
    uint64_t follower = 0;
    int status = follower_of(w, p, f, &follower, e);
    if (status < 0)
        return status;
    bool zeros = false;
    if (follower == w->file->size && (f->status == CTF_HEADER_MAGIC || !has_magic(w)))
        status = is_padding(w, &zeros, e);
    if (status < 0)
        return status;
    w->offset = follower;
    w->number += f->status != CTF_HEADER_MAGIC;
    if (zeros)
        return reported(ctf_report(w->report, w->file, BOTH, from, from, follower - from, "ctf.padding",
                                   "%" PRIu64 " zero bytes; expected packet %" PRIu64 " or the end of the file",
                                   follower - from, number),
                        from, e);
    return reported(ctf_report(w->report, w->file, BOTH, from + f->bit / 8, from, follower - from, rules[f->status],
                               "packet %" PRIu64 ", bit %" PRIu64 ": %s", number, f->bit, f->what),
                    from, e);
}

/* The file ends inside a header. */
static int end_early(ctf_walk *w, tl_error *e)
{
    const uint64_t from = w->offset, size = w->file->size;
    w->offset = size;
    w->number++;
    return reported(ctf_report(w->report, w->file, BOTH, size, from, size - from, "ctf.truncated",
                               "packet %" PRIu64 ": the file ends after %" PRIu64 " bytes, inside the packet's header",
                               w->number - 1, size - from),
                    from, e);
}

/* A packet that claims more bytes than the file has left: 1: usable; 0: skipped. */
static int take_cut(ctf_walk *w, ctf_packet *p, tl_error *e)
{
    const uint64_t from = w->offset, size = w->file->size, claimed = p->size;
    uint64_t follower = 0;
    int status = search(w, from + MAGIC_SIZE, true, &follower, e);
    if (status < 0)
        return status;
    const bool lie = follower < size, whole = p->content <= 8 * (follower - from);
    size_t n = 0;
    const uint8_t *bytes = lie ? look(w, from, (size_t)(p->first / 8 + (p->first % 8 != 0)), &n, e) : NULL;
    if (lie && !bytes)
        return failed(e);
    uint64_t bit = 0;
    if (lie && (status = ctf_header_bit(w->file->unit->plans, bytes, n, CTF_ROLE_PACKET_SIZE, &bit, e)) < 0)
        return status;
    p->size = follower - from;
    if (!whole)
        p->content = 8 * p->size;
    p->truncated = !lie;
    w->offset = follower;
    w->number++;
    if (!lie)
        status = ctf_report(w->report, w->file, TL_DAMAGE_FAULT, size, size, 0, "ctf.truncated",
                            "packet %" PRIu64 " of %" PRIu64 " bytes at %" PRIu64 ": the file ends after %" PRIu64,
                            p->number, claimed, from, size - from);
    else
        status = ctf_report(w->report, w->file, whole ? TL_DAMAGE_FAULT : BOTH, from + bit / 8, from,
                            whole ? 0 : p->size, "ctf.packet-size",
                            "packet %" PRIu64 ", bit %" PRIu64 ": packet_size of %" PRIu64 " bytes, but another packet "
                            "begins after %" PRIu64,
                            p->number, bit, claimed, p->size);
    return status < 0 ? reported(status, from, e) : whole || !lie;
}

/* A packet with a valid header: 1: usable; 0: skipped. */
static int take(ctf_walk *w, ctf_packet *p, tl_error *e)
{
    const uint64_t left = w->file->size - w->offset;
    p->offset = w->offset;
    p->number = w->number;
    if (p->size == UINT64_MAX) {
        p->size = left;
        p->content = 8 * left;
    }
    if (p->size > left)
        return take_cut(w, p, e);
    w->offset += p->size;
    w->number++;
    return 1;
}

/* Whether the magic number is missing at the current place; fills *f. */
static int check_magic(ctf_walk *w, flaw *f, bool *missing, tl_error *e)
{
    *missing = false;
    if (!has_magic(w) || w->file->size - w->offset < MAGIC_SIZE)
        return 0;
    size_t n = 0;
    const uint8_t *p = look(w, w->offset, MAGIC_SIZE, &n, e);
    if (!p)
        return failed(e);
    *missing = !is_magic(p);
    if (*missing) {
        const bool big = w->file->unit->schema.packet_header->member[0].type->order == CTF_BE;
        *f = (flaw){.status = CTF_HEADER_MAGIC};
        snprintf(f->what, sizeof f->what, "magic number 0x%08" PRIx32 ", expected 0x%08" PRIx32, tl_load32(p, big),
                 (uint32_t)CTF_MAGIC_PACKET);
    }
    return 0;
}

int ctf_walk_next(ctf_walk *w, ctf_packet *p, tl_error *e)
{
    if (w->file->unit->schema.dialect == CTF_2010)
        return ctf_2010_walk_next(w, p, e);
    while (w->offset < w->file->size) {
        flaw f = {0};
        bool missing = false;
        *p = (ctf_packet){.size = UINT64_MAX};
        int status = check_magic(w, &f, &missing, e);
        if (status == 0 && !missing)
            status = read_header(w, w->offset, HEADER_MOST, p, &f, e);
        if (status < 0)
            return status;
        if (f.status == CTF_HEADER_OK) {
            status = take(w, p, e);
            if (status != 0)
                return status;
        } else if (f.status == CTF_HEADER_MORE && w->file->size - w->offset <= HEADER_MOST) {
            status = end_early(w, e);
        } else {
            if (f.status == CTF_HEADER_MORE)
                f.status = CTF_HEADER_FIELD;
            status = skip(w, p, &f, e);
        }
        if (status < 0)
            return status;
    }
    return 0;
}
