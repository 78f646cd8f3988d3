/* The scan of a part of an FDR log: finds headers and buffers, and their beginnings. */
#include <inttypes.h>
#include <string.h>

#include "base/endian.h"
#include "format/xray/fdr_layout.h"
#include "format/xray/fdr_scan.h"

enum { BUFFER_START = 3 * FDR_METADATA_SIZE /* BufferExtents, NewBuffer, Walltime: the signature of a buffer */ };

static bool is_buffer_start(const uint8_t *p, bool big)
{
    return p[0] == FDR_BYTE0(FDR_BUFFER_EXTENTS, big) && p[FDR_METADATA_SIZE] == FDR_BYTE0(FDR_NEW_BUFFER, big) &&
           p[2 * FDR_METADATA_SIZE] == FDR_BYTE0(FDR_WALLTIME, big);
}

int fdr_scan_find(fdr_scan *s, uint64_t from, uint64_t until, uint64_t *found, tl_error *e)
{
    const bool big = s->index->big;
    const uint8_t introducer = FDR_BYTE0(FDR_BUFFER_EXTENTS, big);
    while (from < until) {
        if (from > s->give_up)
            return tl_fail(e, TL_EUNSUPPORTED, from, "the guess where this part begins was wrong");
        size_t available = 0;
        const uint8_t *p = tl_window_at(&s->window, from, BUFFER_START, &available, e);
        if (!p)
            return TL_EIO;
        if (available < BUFFER_START)
            break;
        const uint8_t *last = p + (available - BUFFER_START), *at = p;
        while (at <= last && (at = memchr(at, introducer, (size_t)(last - at) + 1))) {
            if (from + (uint64_t)(at - p) >= until)
                break;
            if (is_buffer_start(at, big)) {
                *found = from + (uint64_t)(at - p);
                return 0;
            }
            at++;
        }
        from += available - BUFFER_START + 1;
    }
    *found = until;
    return 0;
}

int fdr_scan_is_buffer(fdr_scan *s, uint64_t position, tl_error *e)
{
    size_t available = 0;
    const uint8_t *p = tl_window_at(&s->window, position, BUFFER_START, &available, e);
    return !p ? TL_EIO : available >= BUFFER_START && is_buffer_start(p, s->index->big);
}

int fdr_scan_header(fdr_scan *s, uint64_t position, fdr_header *h, tl_error *e)
{
    const fdr_index *x = s->index;
    size_t available = 0;
    const uint8_t *p = tl_window_at(&s->window, position, FDR_HEADER_SIZE + 1, &available, e);
    if (!p)
        return TL_EIO;
    if (available < FDR_HEADER_SIZE)
        return 0;
    const bool big = p[FDR_HEADER_TYPE] == 0; /* neither version nor type uses the upper byte */
    const unsigned version = tl_load16(p + FDR_HEADER_VERSION, big);
    const int first = version == 1 ? FDR_NEW_BUFFER : FDR_BUFFER_EXTENTS;
    if (tl_load16(p + FDR_HEADER_TYPE, big) != FDR_TYPE || version < FDR_VERSION_MIN || version > FDR_VERSION_MAX ||
        (available > FDR_HEADER_SIZE && p[FDR_HEADER_SIZE] != FDR_BYTE0(first, big)))
        return 0;
    *h = (fdr_header){.same = version == x->version && big == x->big && tl_load64(p + FDR_HEADER_HZ, big) == x->hz,
                      .slot = tl_load64(p + FDR_HEADER_BUFFER_SIZE, big)};
    return 1;
}

/* A header where a buffer may begin: continues after it, or leaves out the rest of the file. 1: found; 0: none. */
static int pass_header(fdr_scan *s, tl_error *e)
{
    const uint64_t size = s->index->size, at = s->next;
    fdr_header h;
    int status = fdr_scan_header(s, at, &h, e);
    if (status <= 0)
        return status;
    if (!h.same) {
        s->next = size;
        status = fdr_found_damage(s, e, at, size - at, "fdr.other-header",
                                  "a header of another version, byte order or frequency; the rest is not read");
        return status < 0 ? status : 1;
    }
    s->next = at + FDR_HEADER_SIZE;
    s->slot = h.slot;
    if (s->index->version != 1 || h.slot >= FDR_SLOT_MIN || s->next == size)
        return 1;
    s->slot = size - s->next;
    status = fdr_found_damage(s, e, at + FDR_HEADER_BUFFER_SIZE, 8, "fdr.bad-buffer-size", FDR_BAD_SLOT, h.slot,
                              FDR_SLOT_MIN);
    return status < 0 ? status : 1;
}

/* Scans one record of the preamble; *want is the expected kind. 1: go on, 0: the buffer was given up. */
static int scan_preamble_record(fdr_scan *s, fdr_scanned *b, unsigned *want, tl_error *e)
{
    const bool big = s->index->big;
    if (b->position >= b->stop) {
        if (b->end > s->index->size)
            return fdr_give_up(s, b, e, "fdr.truncated-buffer", "the file ends within the first records of a buffer");
        return fdr_give_up(s, b, e, "fdr.bad-preamble", "the buffer ends where %s was expected", fdr_kind_name[*want]);
    }
    size_t available = 0;
    const uint8_t *p = tl_window_at(&s->window, b->position, FDR_METADATA_SIZE, &available, e);
    if (!p || !available)
        return p ? tl_fail(e, TL_EIO, b->position, "the file became shorter while it was read") : TL_EIO;
    const bool is_metadata = FDR_IS_METADATA(p[0], big);
    const unsigned kind = FDR_KIND(p[0], big);
    if (fdr_is_unwritten(s->index, p, b->stop - b->position < available ? b->stop - b->position : available)) {
        b->next = b->end;
        return 0;
    }
    if (is_metadata && *want == FDR_WALLTIME && (kind == FDR_PID || kind == FDR_NEW_CPU_ID)) {
        int status = fdr_found_damage(s, e, b->position, 0, "fdr.missing-walltime",
                                      "%s where WalltimeMarker was expected", fdr_kind_name[kind]);
        if (status < 0)
            return status;
        *want = FDR_PID;
    }
    if (is_metadata && *want == FDR_PID && kind == FDR_NEW_CPU_ID)
        *want = FDR_NEW_CPU_ID;
    if (!is_metadata || kind != *want)
        return fdr_give_up(s, b, e, "fdr.bad-preamble", "%s where %s was expected",
                           !is_metadata       ? "a function record"
                           : kind < FDR_KINDS ? fdr_kind_name[kind]
                                              : "an unknown record",
                           fdr_kind_name[*want]);
    if (b->stop - b->position < FDR_METADATA_SIZE)
        return fdr_give_up_truncated(s, b, fdr_kind_name[kind], FDR_METADATA_SIZE, e);
    switch (kind) {
    case FDR_NEW_BUFFER:
        b->found.tid = (int32_t)tl_load32(p + FDR_NEW_BUFFER_TID, big);
        *want = FDR_WALLTIME;
        break;
    case FDR_WALLTIME:
        b->found.has_wall = true;
        b->found.wall_seconds = (int64_t)tl_load64(p + FDR_WALLTIME_SECONDS, big);
        b->found.wall_microseconds = (int32_t)tl_load32(p + FDR_WALLTIME_MICROSECONDS, big);
        *want = FDR_PID;
        break;
    case FDR_PID:
        b->found.has_pid = true;
        b->found.pid = (int32_t)tl_load32(p + FDR_PID_PID, big);
        *want = FDR_NEW_CPU_ID;
        break;
    default: /* NewCPUId: the first record of the body, for the cursor */
        b->found.begin = b->position;
        b->found.tsc = b->tsc = tl_load64(p + FDR_NEW_CPU_ID_TSC, big);
        *want = FDR_KINDS;
    }
    b->position += FDR_METADATA_SIZE;
    return 1;
}

/* State of a scan, to go back to. */
typedef struct mark {
    size_t ndamage, nnote;
    uint64_t ndamage_all, first, last;
    bool has_event;
} mark;

static mark get_mark(const fdr_scan *s)
{
    return (mark){s->ndamage, s->nnote, s->ndamage_all, s->first, s->last, s->has_event};
}

static void go_back(fdr_scan *s, const mark *m)
{
    s->ndamage = m->ndamage;
    s->nnote = m->nnote;
    s->ndamage_all = m->ndamage_all;
    s->first = m->first;
    s->last = m->last;
    s->has_event = m->has_event;
}

static bool is_whole(const fdr_scan *s, const mark *before, const fdr_scanned *b)
{
    return s->ndamage_all == before->ndamage_all && !b->zero_id;
}

/* The body of a buffer of version 1 or 2. Their producers wrote each record over the payload of the preceding event.
 * The file does not say whether it is one of these: an incomplete buffer is read again on that assumption, and if it is
 * then complete, that counts. */
static int scan_old_body(fdr_scan *s, fdr_scanned *b, tl_error *e)
{
    const mark before = get_mark(s);
    const fdr_scanned start = *b;
    int status = fdr_scan_body(s, b, e);
    if (status < 0 || !b->has_payload || is_whole(s, &before, b))
        return status;
    go_back(s, &before);
    *b = start;
    b->overwritten = true;
    status = fdr_scan_body(s, b, e);
    if (status < 0)
        return status;
    if (is_whole(s, &before, b)) {
        b->next = start.end;
        b->found.overwritten = true;
        return fdr_found_damage(s, e, b->payload, 0, "fdr.overwritten-payload",
                                "the records after the events of this buffer lie where their payloads were");
    }
    go_back(s, &before);
    *b = start;
    return fdr_scan_body(s, b, e);
}

/* The body of a buffer, and the range of times in it. */
static int scan_times(fdr_scan *s, fdr_scanned *b, tl_error *e)
{
    const uint64_t first = s->first, last = s->last;
    s->first = UINT64_MAX;
    s->last = 0;
    int status = s->index->version <= FDR_OVERWRITES_MAX ? scan_old_body(s, b, e) : fdr_scan_body(s, b, e);
    b->found.least = s->first;
    b->found.most = s->last;
    s->first = first < s->first ? first : s->first;
    s->last = last > s->last ? last : s->last;
    return status;
}

/* Scans one buffer that should reach from position to end; *next is where the next one should begin. */
static int scan_buffer(fdr_scan *s, uint64_t position, uint64_t end, uint64_t *next, tl_error *e)
{
    const uint64_t size = s->index->size;
    fdr_scanned b = {.position = position, .end = end, .stop = end < size ? end : size, .next = end};
    if (position == end) {
        *next = end;
        return 0;
    }
    unsigned want = FDR_NEW_BUFFER;
    while (want != FDR_KINDS) {
        uint64_t at = b.position;
        int status = scan_preamble_record(s, &b, &want, e);
        if (status < 0)
            return status;
        if (b.position == at) {
            *next = b.next;
            return 0;
        }
    }
    int status = scan_times(s, &b, e);
    if (status < 0)
        return status;
    *next = b.next;
    b.found.end = b.position;
    if (s->index->marked && !b.has_event) /* only notes: not a thread */
        return 0;
    return fdr_found_buffer(s, &b.found, e);
}

/* From version 2: the BufferExtents record at `position`, and its buffer. */
static int scan_extents(fdr_scan *s, uint64_t position, uint64_t *next, tl_error *e)
{
    const fdr_index *x = s->index;
    size_t available = 0;
    const uint8_t *p = tl_window_at(&s->window, position, FDR_METADATA_SIZE, &available, e);
    if (!p || !available)
        return p ? tl_fail(e, TL_EIO, position, "the file became shorter while it was read") : TL_EIO;
    if (fdr_is_unwritten(x, p, available)) {
        const uint64_t page = position - position % FDR_LIVE_PAGE;
        *next = x->size - page > FDR_LIVE_PAGE ? page + FDR_LIVE_PAGE : x->size;
        return 0;
    }
    if (p[0] != FDR_BYTE0(FDR_BUFFER_EXTENTS, x->big)) {
        unsigned found = p[0];
        int status = pass_header(s, e);
        if (status != 0)
            return status < 0 ? status : 0;
        status = fdr_scan_find(s, position, x->size, next, e);
        return status < 0 ? status
                          : fdr_found_damage(s, e, position, *next - position, "fdr.garbage-between-buffers",
                                             "byte 0x%02x where BufferExtents (0x%02x) was expected; %" PRIu64
                                             " bytes skipped",
                                             found, FDR_BYTE0(FDR_BUFFER_EXTENTS, x->big), *next - position);
    }
    if (x->size - position < FDR_METADATA_SIZE) {
        *next = x->size;
        return fdr_found_damage(s, e, position, x->size - position, "fdr.truncated-record",
                                "BufferExtents of 16 bytes, but the file ends after %" PRIu64, x->size - position);
    }
    uint64_t body = position + FDR_METADATA_SIZE;
    return scan_buffer(s, body, tl_add_saturated(body, tl_load64(p + FDR_BUFFER_EXTENTS_BYTES, x->big)), next, e);
}

int fdr_scan_run(fdr_scan *s, uint64_t from, uint64_t until, tl_error *e)
{
    const fdr_index *x = s->index;
    s->from = s->next = from;
    s->slot_before = s->slot;
    while (s->next < until && s->next < x->size) {
        int status;
        if (x->version > 1) {
            status = scan_extents(s, s->next, &s->next, e);
        } else {
            status = pass_header(s, e);
            if (status == 0) {
                uint64_t unused, end = tl_add_saturated(s->next, s->slot);
                status = scan_buffer(s, s->next, end, &unused, e);
                s->next = end;
            }
        }
        if (status < 0)
            return status;
    }
    return 0;
}
