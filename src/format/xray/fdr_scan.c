/* The scan of the records of an FDR buffer: checks every one, and notes damage.
 *
 * A buffer (see fdr_layout.h) is trusted record by record. At damage, the records before it are kept, and reading goes
 * on at the end of its extents if plausible, else at the next place that looks like a buffer. */
#include "format/xray/fdr_scan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "format/xray/fdr_layout.h"

enum { RUN_BLOCK = 32 /* function records checked at once */ };

const char *const fdr_kind_name[FDR_KINDS] = {
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

/* Where to continue after damage at b->position. */
static int find_resume(fdr_scan *s, const fdr_scanned *b, uint64_t *resume, tl_error *e)
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
        fdr_header ignored;
        const int header = fdr_scan_header(s, b->end, &ignored, e);
        if (header != 0)
            return header < 0 ? header : 0;
    }
    return fdr_scan_find(s, b->position + 1, x->size, resume, e);
}

TL_COLD int fdr_give_up(fdr_scan *s, fdr_scanned *b, tl_error *e, const char *rule, const char *format, ...)
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

TL_COLD int fdr_give_up_truncated(fdr_scan *s, fdr_scanned *b, const char *record, uint64_t needs, tl_error *e)
{
    const char *where = b->end > s->index->size ? "file" : "buffer";
    if (b->typed && b->end <= s->index->size)
        return fdr_give_up(s, b, e, "fdr.truncated-record",
                           "%s of %" PRIu64 " bytes, but the buffer ends after %" PRIu64
                           ": LLVM's runtime loses 16 for each of its typed events",
                           record, needs, b->stop - b->position);
    return fdr_give_up(s, b, e, "fdr.truncated-record", "%s of %" PRIu64 " bytes, but the %s ends after %" PRIu64,
                       record, needs, where, b->stop - b->position);
}

static void see_event(fdr_scan *s, uint64_t tsc)
{
    s->has_event = true;
    if (tsc < s->first)
        s->first = tsc;
    if (tsc > s->last)
        s->last = tsc;
}

/* Checks and adds up RUN_BLOCK function records at once. False if one of them is of another kind, or if time wraps. */
TL_ALWAYS_INLINE bool run_block(fdr_scan *s, fdr_scanned *b, const uint8_t *p, bool big, bool live, bool old)
{
    /* Neither a metadata record nor an action above 3. */
    const uint32_t forbidden = big ? 0xc0000000u : 0x9u;
    uint32_t seen = 0, unwritten = 0, zero = 0;
    uint64_t sum = 0;
    for (unsigned i = 0; i < RUN_BLOCK; i++) {
        const uint32_t word = tl_load32(p + 8 * i + FDR_FUNCTION_WORD, big);
        const uint32_t delta = tl_load32(p + 8 * i + FDR_FUNCTION_DELTA, big);
        seen |= word;
        sum += delta;
        unwritten |= live && (word | delta) == 0;
        zero |= old && FDR_WORD_ID(word, big) == 0;
    }
    if (unwritten || seen & forbidden || b->tsc > UINT64_MAX - sum)
        return false;
    see_event(s, b->tsc + tl_load32(p + FDR_FUNCTION_DELTA, big));
    b->tsc += sum;
    b->zero_id |= zero != 0;
    see_event(s, b->tsc);
    return true;
}

/* Scans function records: up to n at p. Returns their number; *bad_action is set if the next record has an unknown
 * action. */
TL_ALWAYS_INLINE size_t scan_run(fdr_scan *s, fdr_scanned *b, const uint8_t *p, size_t n, bool big, bool live, bool old,
                                 bool *bad_action)
{
    size_t i = 0;
    uint32_t word = 0;
    while (i < n) {
        if (n - i >= RUN_BLOCK && run_block(s, b, p + 8 * i, big, live, old)) {
            i += RUN_BLOCK;
            word = tl_load32(p + 8 * (i - 1), big);
            continue;
        }
        size_t block = n - i < RUN_BLOCK ? n : i + RUN_BLOCK;
        for (; i < block; i++) {
            uint32_t next = tl_load32(p + 8 * i, big);
            if (FDR_IS_METADATA(p[8 * i], big) || (live && fdr_is_unwritten(s->index, p + 8 * i, FDR_FUNCTION_SIZE)))
                goto out;
            if (FDR_WORD_ACTION(next, big) >= FDR_ACTIONS) {
                *bad_action = true;
                goto out;
            }
            word = next;
            b->zero_id |= old && FDR_WORD_ID(word, big) == 0;
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

/* The payload of a custom event of our own recorder: 1 if it is not an event of the program. */
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
static int scan_event(fdr_scan *s, fdr_scanned *b, const uint8_t *p, unsigned kind, tl_error *e)
{
    const fdr_index *x = s->index;
    const bool big = x->big;
    int32_t size = (int32_t)tl_load32(p + FDR_EVENT_SIZE, big);
    b->typed += kind == FDR_TYPED_EVENT;
    if (size < 0)
        return fdr_give_up(s, b, e, "fdr.bad-size", "%s with a payload of %" PRId32 " bytes; expected 0 or more",
                           fdr_kind_name[kind], size);
    if (size > 0 && !b->has_payload) {
        b->has_payload = true;
        b->payload = b->position;
    }
    if (b->overwritten) {
        if (x->version > 1) { /* the extents count overwritten bytes */
            b->end = b->end - b->position > (uint64_t)size ? b->end - (uint64_t)size : b->position;
            b->stop = b->end < b->stop ? b->end : b->stop;
        }
        size = 0;
    }
    uint64_t needs = FDR_METADATA_SIZE + (uint64_t)size;
    if (needs > b->stop - b->position)
        return fdr_give_up_truncated(s, b, fdr_kind_name[kind], needs, e);
    uint64_t tsc = tl_load64(p + FDR_EVENT_TSC, big);
    if (x->version >= 5)
        tsc = b->tsc += (uint64_t)(int64_t)(int32_t)tl_load32(p + FDR_EVENT_DELTA, big);
    int status = 0;
    if (x->marked && kind == FDR_CUSTOM_EVENT && size >= FDR_WORD_SIZE)
        status = scan_word(s, b->position + FDR_METADATA_SIZE, (uint32_t)size, e);
    if (status == 0) {
        b->has_event = true;
        see_event(s, tsc);
    }
    b->position += needs;
    return status < 0 ? status : 1;
}

/* Scans a metadata record in the body of a buffer. 1: go on; 0: the buffer ends here (b->next is set); < 0: error. */
static int scan_metadata(fdr_scan *s, fdr_scanned *b, const uint8_t *p, tl_error *e)
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
        return fdr_give_up(s, b, e, "fdr.unexpected-record", "EndOfBuffer, which only version 1 has");
    case FDR_BUFFER_EXTENTS:
        if (x->version > 1) {
            int status = fdr_scan_is_buffer(s, b->position, e);
            if (status < 0)
                return status;
            if (status > 0) {
                b->next = b->position;
                return fdr_found_damage(s, e, b->position, 0, "fdr.bad-extents",
                                        "the next buffer begins %" PRIu64 " bytes before the end that the extents give",
                                        b->end - b->position);
            }
        }
        return fdr_give_up(s, b, e, "fdr.unexpected-record", "BufferExtents within a buffer");
    default:
        if (kind < FDR_KINDS)
            return fdr_give_up(s, b, e, "fdr.unexpected-record", "%s within a buffer", fdr_kind_name[kind]);
        return fdr_give_up(s, b, e, "fdr.unknown-kind", "metadata record of kind %u; known are 0 to %u", kind,
                           FDR_KINDS - 1);
    }
    b->position += FDR_METADATA_SIZE;
    return 1;
}

/* Scans the records of a buffer after its preamble. Sets b->next. */
TL_ALWAYS_INLINE int scan_body(fdr_scan *s, fdr_scanned *b, bool big, bool live, bool old, tl_error *e)
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
        if (live && fdr_is_unwritten(s->index, p, available)) {
            b->next = b->end;
            return 0;
        }
        if (FDR_IS_METADATA(p[0], big)) {
            if (available < FDR_METADATA_SIZE)
                return fdr_give_up_truncated(s, b, "a metadata record", FDR_METADATA_SIZE, e);
            int status = scan_metadata(s, b, p, e);
            if (status <= 0)
                return status;
        } else {
            if (available < FDR_FUNCTION_SIZE)
                return fdr_give_up_truncated(s, b, "a function record", FDR_FUNCTION_SIZE, e);
            bool bad_action = false;
            size_t n = scan_run(s, b, p, available / FDR_FUNCTION_SIZE, big, live, old, &bad_action);
            b->position += n * FDR_FUNCTION_SIZE;
            if (bad_action)
                return fdr_give_up(s, b, e, "fdr.unknown-action", "function record with action %u; known are 0 to %u",
                                   (unsigned)FDR_WORD_ACTION(tl_load32(p + n * FDR_FUNCTION_SIZE, big), big),
                                   FDR_ACTIONS - 1);
        }
    }
    b->next = b->end;
    if (b->end > s->index->size)
        return fdr_give_up(s, b, e, "fdr.truncated-buffer",
                           "the file ends within a buffer, %" PRIu64 " bytes before its end", b->end - s->index->size);
    return 0;
}

int fdr_scan_body(fdr_scan *s, fdr_scanned *b, tl_error *e)
{
    const fdr_index *x = s->index;
    if (x->live)
        return x->big ? scan_body(s, b, true, true, false, e) : scan_body(s, b, false, true, false, e);
    if (x->version <= FDR_OVERWRITES_MAX)
        return x->big ? scan_body(s, b, true, false, true, e) : scan_body(s, b, false, false, true, e);
    return x->big ? scan_body(s, b, true, false, false, e) : scan_body(s, b, false, false, false, e);
}
