/* The scan of a part of an FDR log: finds buffers, checks every record, and notes damage.
 *
 * A buffer (see fdr_layout.h) is trusted record by record. Where it breaks, the records before are kept and reading
 * goes on at the place that its extents name, if that can be right, else at the next place that looks like a buffer. */
#include "format/xray/fdr_scan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "format/xray/fdr_layout.h"

enum {
    BUFFER_START = 3 * FDR_METADATA_SIZE, /* BufferExtents, NewBuffer, Walltime: what marks a buffer */
    RUN_BLOCK = 32                        /* function records checked at once */
};

static const char *const kind_names[FDR_KINDS] = {
    "NewBuffer",         "EndOfBuffer",  "NewCPUId",      "TSCWrap",          "WalltimeMarker",
    "CustomEventMarker", "CallArgument", "BufferExtents", "TypedEventMarker", "Pid"};

/* The byte at an offset inside the file, or a negative code. */
static int byte_at(fdr_scan *s, uint64_t offset, tl_error *e)
{
    size_t available = 0;
    const uint8_t *p = tl_window_at(&s->window, offset, 1, &available, e);
    if (!p)
        return TL_EIO;
    return available ? *p : tl_fail(e, TL_EIO, offset, "the file became shorter while it was read");
}

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

/* A buffer while it is scanned. */
typedef struct scanned {
    uint64_t position, end, stop; /* end: where its extents say; stop: the same, held within the file */
    uint64_t tsc;
    uint64_t next;  /* where the next buffer should begin */
    uint32_t typed; /* typed events seen */
    bool after_entry, has_event;
    fdr_buffer found;
} scanned;

/* In a live file zeros say that what follows is not written yet; at the end of a buffer there may be fewer than 8. */
TL_ALWAYS_INLINE bool is_unwritten(const fdr_index *x, const uint8_t *p, uint64_t available)
{
    static const uint8_t zeros[FDR_FUNCTION_SIZE];
    return x->live && memcmp(p, zeros, available < sizeof zeros ? (size_t)available : sizeof zeros) == 0;
}

/* Where reading goes on after damage at b->position. */
static int find_resume(fdr_scan *s, const scanned *b, uint64_t *resume, tl_error *e)
{
    const fdr_index *x = s->index;
    *resume = b->end;
    if (x->version == 1 || b->end == x->size)
        return 0;
    if (b->end < x->size) {
        int byte = byte_at(s, b->end, e);
        if (byte < 0)
            return byte;
        if (byte == FDR_BYTE0(FDR_BUFFER_EXTENTS, x->big))
            return 0;
    }
    return fdr_scan_find(s, b->position + 1, x->size, resume, e);
}

/* Notes damage at b->position and gives up the rest of the buffer. */
TL_COLD TL_PRINTF(5, 6) static int give_up(fdr_scan *s, scanned *b, tl_error *e, const char *rule, const char *format,
                                           ...)
{
    char what[120];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    int status = find_resume(s, b, &b->next, e);
    if (status < 0)
        return status;
    uint64_t to = b->next < s->index->size ? b->next : s->index->size;
    return fdr_found_damage(s, e, b->position, to > b->position ? to - b->position : 0, rule, "%s", what);
}

/* A record that the end of its buffer or of the file cuts. */
TL_COLD static int give_up_truncated(fdr_scan *s, scanned *b, const char *record, uint64_t needs, tl_error *e)
{
    const char *where = b->end > s->index->size ? "file" : "buffer";
    if (b->typed && b->end <= s->index->size)
        return give_up(s, b, e, "fdr.truncated-record",
                       "%s of %" PRIu64 " bytes, but the buffer ends after %" PRIu64
                       ": LLVM's runtime loses 16 for each of its typed events",
                       record, needs, b->stop - b->position);
    return give_up(s, b, e, "fdr.truncated-record", "%s of %" PRIu64 " bytes, but the %s ends after %" PRIu64, record,
                   needs, where, b->stop - b->position);
}

static void see_event(fdr_scan *s, uint64_t tsc)
{
    s->has_event = true;
    if (tsc < s->first)
        s->first = tsc;
    if (tsc > s->last)
        s->last = tsc;
}

/* Checks and sums RUN_BLOCK function records at once. False if one of them is something else, or if time wraps. */
TL_ALWAYS_INLINE bool run_block(fdr_scan *s, scanned *b, const uint8_t *p, bool big, bool live)
{
    /* Neither a metadata record nor an action above 3. */
    const uint32_t forbidden = big ? 0xc0000000u : 0x9u;
    uint32_t seen = 0, unwritten = 0;
    uint64_t sum = 0;
    for (unsigned i = 0; i < RUN_BLOCK; i++) {
        const uint32_t word = tl_load32(p + 8 * i + FDR_FUNCTION_WORD, big);
        const uint32_t delta = tl_load32(p + 8 * i + FDR_FUNCTION_DELTA, big);
        seen |= word;
        sum += delta;
        unwritten |= live && (word | delta) == 0;
    }
    if (unwritten || seen & forbidden || b->tsc > UINT64_MAX - sum)
        return false;
    see_event(s, b->tsc + tl_load32(p + FDR_FUNCTION_DELTA, big));
    b->tsc += sum;
    see_event(s, b->tsc);
    return true;
}

/* Scans function records: as many of the n at p as there are. Returns their number; *bad_action is set if the record
 * after them has an action that is unknown. */
TL_ALWAYS_INLINE size_t scan_run(fdr_scan *s, scanned *b, const uint8_t *p, size_t n, bool big, bool live,
                                 bool *bad_action)
{
    size_t i = 0;
    uint32_t word = 0;
    while (i < n) {
        if (n - i >= RUN_BLOCK && run_block(s, b, p + 8 * i, big, live)) {
            i += RUN_BLOCK;
            word = tl_load32(p + 8 * (i - 1), big);
            continue;
        }
        size_t block = n - i < RUN_BLOCK ? n : i + RUN_BLOCK;
        for (; i < block; i++) {
            uint32_t next = tl_load32(p + 8 * i, big);
            if (FDR_IS_METADATA(p[8 * i], big) || (live && is_unwritten(s->index, p + 8 * i, FDR_FUNCTION_SIZE)))
                goto out;
            if (FDR_WORD_ACTION(next, big) >= FDR_ACTIONS) {
                *bad_action = true;
                goto out;
            }
            word = next;
            b->tsc += tl_load32(p + 8 * i + FDR_FUNCTION_DELTA, big);
            see_event(s, b->tsc);
        }
    }
out:
    if (i) {
        uint32_t action = FDR_WORD_ACTION(word, big);
        b->has_event = true;
        b->after_entry = action == FDR_ENTER || action == FDR_ENTER_ARGS;
    }
    return i;
}

/* The payload of a custom event of our own recorder: 1 if it is no event of the program. */
static int scan_word(fdr_scan *s, uint64_t offset, uint32_t size, tl_error *e)
{
    size_t available = 0;
    const uint8_t *p = tl_window_at(&s->window, offset, FDR_WORD_SIZE, &available, e);
    if (!p || available < FDR_WORD_SIZE)
        return p ? tl_fail(e, TL_EIO, offset, "the file became shorter while it was read") : TL_EIO;
    if (memcmp(p, FDR_WORD_PAD, FDR_WORD_SIZE) == 0)
        return 1;
    if (memcmp(p, FDR_WORD_NOTE, FDR_WORD_SIZE) != 0)
        return 0;
    int status = fdr_found_note(s, offset + FDR_WORD_SIZE, size - FDR_WORD_SIZE, e);
    return status < 0 ? status : 1;
}

/* A custom or typed event: the marker is at p, `available` bytes of the buffer are left. */
static int scan_event(fdr_scan *s, scanned *b, const uint8_t *p, unsigned kind, tl_error *e)
{
    const bool big = s->index->big;
    int32_t size = (int32_t)tl_load32(p + FDR_EVENT_SIZE, big);
    b->typed += kind == FDR_TYPED_EVENT;
    if (size < 0)
        return give_up(s, b, e, "fdr.bad-size", "%s with a payload of %" PRId32 " bytes; expected 0 or more",
                       kind_names[kind], size);
    uint64_t needs = FDR_METADATA_SIZE + (uint64_t)size;
    if (needs > b->stop - b->position)
        return give_up_truncated(s, b, kind_names[kind], needs, e);
    bool adds = kind == FDR_TYPED_EVENT || s->index->version >= 5;
    uint64_t tsc = tl_load64(p + FDR_CUSTOM_TSC, big);
    if (adds)
        tsc = b->tsc += (uint64_t)(int64_t)(int32_t)tl_load32(p + FDR_EVENT_DELTA, big);
    int status = 0;
    if (s->index->marked && kind == FDR_CUSTOM_EVENT && size >= FDR_WORD_SIZE)
        status = scan_word(s, b->position + FDR_METADATA_SIZE, (uint32_t)size, e);
    if (status == 0) {
        b->has_event = true;
        see_event(s, tsc);
    }
    b->position += needs;
    return status < 0 ? status : 1;
}

/* A metadata record in the body of a buffer. 1: go on; 0: the buffer ends here (b->next is set); < 0: error. */
static int scan_metadata(fdr_scan *s, scanned *b, const uint8_t *p, tl_error *e)
{
    const fdr_index *x = s->index;
    const unsigned kind = FDR_KIND(p[0], x->big);
    const bool after_entry = b->after_entry;
    b->after_entry = false;
    switch (kind) {
    case FDR_CALL_ARGUMENT:
        b->after_entry = after_entry;
        if (!after_entry) {
            int status = fdr_found_damage(s, e, b->position, FDR_METADATA_SIZE, "fdr.stray-argument",
                                          "CallArgument that does not follow a function entry");
            if (status < 0)
                return status;
        }
        break;
    case FDR_NEW_CPU_ID:
        b->tsc = tl_load64(p + FDR_NEW_CPU_ID_TSC, x->big);
        break;
    case FDR_TSC_WRAP:
        b->tsc = tl_load64(p + FDR_TSC_WRAP_TSC, x->big);
        break;
    case FDR_CUSTOM_EVENT:
    case FDR_TYPED_EVENT: {
        uint64_t at = b->position;
        int status = scan_event(s, b, p, kind, e);
        return status < 0 ? status : b->position != at;
    }
    case FDR_END_OF_BUFFER:
        if (x->version == 1) {
            b->next = b->end;
            return 0;
        }
        return give_up(s, b, e, "fdr.unexpected-record", "EndOfBuffer, which only version 1 has");
    case FDR_BUFFER_EXTENTS:
        if (x->version > 1 && x->size - b->position >= BUFFER_START) {
            size_t available = 0;
            const uint8_t *start = tl_window_at(&s->window, b->position, BUFFER_START, &available, e);
            if (!start)
                return TL_EIO;
            if (available >= BUFFER_START && is_buffer_start(start, x->big)) {
                b->next = b->position;
                return fdr_found_damage(s, e, b->position, 0, "fdr.bad-extents",
                                        "the next buffer begins %" PRIu64 " bytes before the end that the extents give",
                                        b->end - b->position);
            }
        }
        return give_up(s, b, e, "fdr.unexpected-record", "BufferExtents within a buffer");
    default:
        if (kind < FDR_KINDS)
            return give_up(s, b, e, "fdr.unexpected-record", "%s within a buffer", kind_names[kind]);
        return give_up(s, b, e, "fdr.unknown-kind", "metadata record of kind %u; known are 0 to %u", kind,
                       FDR_KINDS - 1);
    }
    b->position += FDR_METADATA_SIZE;
    return 1;
}

/* The records of a buffer after its preamble. Sets b->next. */
TL_ALWAYS_INLINE int scan_body(fdr_scan *s, scanned *b, bool big, bool live, tl_error *e)
{
    while (b->position < b->stop) {
        if (b->position > s->give_up)
            return tl_fail(e, TL_EUNSUPPORTED, b->position, "the guess where this part begins was wrong");
        size_t available = 0;
        const uint8_t *p = tl_window_at(&s->window, b->position, FDR_METADATA_SIZE, &available, e);
        if (!p)
            return TL_EIO;
        if (available > b->stop - b->position)
            available = (size_t)(b->stop - b->position);
        if (available == 0)
            return tl_fail(e, TL_EIO, b->position, "the file became shorter while it was read");
        if (live && is_unwritten(s->index, p, available)) {
            b->next = b->end;
            return 0;
        }
        if (FDR_IS_METADATA(p[0], big)) {
            if (available < FDR_METADATA_SIZE)
                return give_up_truncated(s, b, "a metadata record", FDR_METADATA_SIZE, e);
            int status = scan_metadata(s, b, p, e);
            if (status <= 0)
                return status;
        } else {
            if (available < FDR_FUNCTION_SIZE)
                return give_up_truncated(s, b, "a function record", FDR_FUNCTION_SIZE, e);
            bool bad_action = false;
            size_t n = scan_run(s, b, p, available / FDR_FUNCTION_SIZE, big, live, &bad_action);
            b->position += n * FDR_FUNCTION_SIZE;
            if (bad_action)
                return give_up(s, b, e, "fdr.unknown-action", "function record with action %u; known are 0 to %u",
                               (unsigned)FDR_WORD_ACTION(tl_load32(p + n * FDR_FUNCTION_SIZE, big), big),
                               FDR_ACTIONS - 1);
        }
    }
    b->next = b->end;
    if (b->end > s->index->size)
        return give_up(s, b, e, "fdr.truncated-buffer",
                       "the file ends within a buffer, %" PRIu64 " bytes before its end", b->end - s->index->size);
    return 0;
}

/* One record of the preamble; *want is the kind that should stand here. Returns 1 to go on, 0 if the buffer was given
 * up. */
static int scan_preamble_record(fdr_scan *s, scanned *b, unsigned *want, tl_error *e)
{
    const bool big = s->index->big;
    if (b->position >= b->stop) {
        if (b->end > s->index->size)
            return give_up(s, b, e, "fdr.truncated-buffer", "the file ends within the first records of a buffer");
        return give_up(s, b, e, "fdr.bad-preamble", "the buffer ends where %s was expected", kind_names[*want]);
    }
    size_t available = 0;
    const uint8_t *p = tl_window_at(&s->window, b->position, FDR_METADATA_SIZE, &available, e);
    if (!p || !available)
        return p ? tl_fail(e, TL_EIO, b->position, "the file became shorter while it was read") : TL_EIO;
    const bool is_metadata = FDR_IS_METADATA(p[0], big);
    const unsigned kind = FDR_KIND(p[0], big);
    if (is_unwritten(s->index, p, b->stop - b->position < available ? b->stop - b->position : available)) {
        b->next = b->end;
        return 0;
    }
    if (is_metadata && *want == FDR_WALLTIME && (kind == FDR_PID || kind == FDR_NEW_CPU_ID)) {
        int status = fdr_found_damage(s, e, b->position, 0, "fdr.missing-walltime",
                                      "%s where WalltimeMarker was expected", kind_names[kind]);
        if (status < 0)
            return status;
        *want = FDR_PID;
    }
    if (is_metadata && *want == FDR_PID && kind == FDR_NEW_CPU_ID)
        *want = FDR_NEW_CPU_ID;
    if (!is_metadata || kind != *want)
        return give_up(s, b, e, "fdr.bad-preamble", "%s where %s was expected",
                       !is_metadata       ? "a function record"
                       : kind < FDR_KINDS ? kind_names[kind]
                                          : "an unknown record",
                       kind_names[*want]);
    if (b->stop - b->position < FDR_METADATA_SIZE)
        return give_up_truncated(s, b, kind_names[kind], FDR_METADATA_SIZE, e);
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

/* One buffer that should reach from position to end; *next is where the next one should begin. */
static int scan_buffer(fdr_scan *s, uint64_t position, uint64_t end, uint64_t *next, tl_error *e)
{
    const uint64_t size = s->index->size;
    scanned b = {.position = position, .end = end, .stop = end < size ? end : size, .next = end};
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
    const bool big = s->index->big;
    int status = s->index->live ? scan_body(s, &b, big, true, e)
                 : big          ? scan_body(s, &b, true, false, e)
                                : scan_body(s, &b, false, false, e);
    if (status < 0)
        return status;
    *next = b.next;
    b.found.end = b.position;
    if (s->index->marked && !b.has_event) /* only notes: no thread */
        return 0;
    return fdr_found_buffer(s, &b.found, e);
}

/* From version 2 on: the BufferExtents record at `position`, and its buffer. */
static int scan_extents(fdr_scan *s, uint64_t position, uint64_t *next, tl_error *e)
{
    const fdr_index *x = s->index;
    size_t available = 0;
    const uint8_t *p = tl_window_at(&s->window, position, FDR_METADATA_SIZE, &available, e);
    if (!p || !available)
        return p ? tl_fail(e, TL_EIO, position, "the file became shorter while it was read") : TL_EIO;
    if (is_unwritten(x, p, available)) {
        const uint64_t page = position - position % FDR_LIVE_PAGE;
        *next = x->size - page > FDR_LIVE_PAGE ? page + FDR_LIVE_PAGE : x->size;
        return 0;
    }
    if (p[0] != FDR_BYTE0(FDR_BUFFER_EXTENTS, x->big)) {
        unsigned found = p[0];
        int status = fdr_scan_find(s, position, x->size, next, e);
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
    while (s->next < until && s->next < x->size) {
        int status;
        if (x->version == 1) {
            uint64_t unused, end = tl_add_saturated(s->next, x->slot);
            status = scan_buffer(s, s->next, end, &unused, e);
            s->next = end;
        } else {
            status = scan_extents(s, s->next, &s->next, e);
        }
        if (status < 0)
            return status;
    }
    return 0;
}
