/* Lists of a line to values: tables of code and allocations, and stacks. Part of tracelog_scan.c. */
#ifndef TL_FORMAT_TRACELOG_SCAN_LISTS_H
#define TL_FORMAT_TRACELOG_SCAN_LISTS_H

#include <stdlib.h>

#include "format/tracelog/tracelog_scan_items.h"

/* ---- lists */

/* The slot of a list that begins here, as an index, since the tape may move. */
TL_ALWAYS_INLINE uint32_t begin_list(scan *s, const bool store)
{
    if (!store)
        return 0;
    *s->v++ = (tl_value){.type = TL_LIST};
    return (uint32_t)(s->v - s->part->batch.v) - 1;
}

TL_ALWAYS_INLINE bool begin_item(scan *s, uint32_t list, uint32_t members, const bool store)
{
    if (!store)
        return true;
    if (!need(s, members + 1 + VALUES_OF_A_LINE))
        return false;
    s->part->batch.v[list].n++;
    *s->v++ = (tl_value){.type = TL_STRUCT, .n = members};
    return true;
}

/* classIid:allocCount:memSize, and [:ip] of allocations. */
TL_ALWAYS_INLINE const uint8_t *read_items(scan *s, const uint8_t *p, const bool has_ip, const bool store)
{
    const uint32_t list = begin_list(s, store);
    while (*p == ' ') {
        uint64_t type = 0, count, bytes, ip = 0;
        unsigned digits = 0, ip_digits = 0;
        bool known, ip_known = false;
        if (!(p = id_at(p + 1, 2, &type, &digits, &known)) || *p++ != ':' ||
            !(p = tracelog_dec(p, UINT64_MAX, &count)) || *p++ != ':' || !(p = tracelog_dec(p, UINT64_MAX, &bytes)))
            return NULL;
        if (has_ip && *p == ':' && !(p = ip_at(p + 1, &ip, &ip_digits, &ip_known)))
            return NULL;
        if (!begin_item(s, list, has_ip ? 4 : 3, store))
            return NULL;
        if (known)
            put_hex(s, type, digits, store);
        else
            put_null(s, store);
        put_u64(s, count, store);
        put_u64(s, bytes, store);
        if (has_ip && ip_known)
            put_hex(s, ip, ip_digits, store);
        else if (has_ip)
            put_null(s, store);
    }
    return p;
}

TL_NOINLINE static const uint8_t *read_ALT(scan *s, const uint8_t *p, const bool store)
{
    return read_items(s, p, false, store);
}

#define read_ALLOC(s, p, store) read_items(s, p, true, store)

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static const uint8_t *read_SIZES(scan *s, const uint8_t *p, const bool store)
{
    const uint32_t list = begin_list(s, store);
    for (int i = 0; i < 4; i++) {
        uint64_t used, reserved;
        if (*p++ != ' ')
            return NULL;
        const uint8_t *name = p;
        while (is_word(*p))
            p++;
        const uint8_t *name_end = p;
        if (name_end == name || *p++ != ':' || !(p = tracelog_dec(p, UINT64_MAX, &used)) || *p++ != ':' ||
            !(p = tracelog_dec(p, UINT64_MAX, &reserved)))
            return NULL;
        if (!begin_item(s, list, 3, store) || !put_text(s, name, (size_t)(name_end - name), store))
            return NULL;
        put_u64(s, used, store);
        put_u64(s, reserved, store);
    }
    return p;
}

/* code_info items have one colon, il_map items two; these come last. */
static const uint8_t *read_CODE(scan *s, const uint8_t *p, const bool store)
{
    uint32_t list = begin_list(s, store);
    bool maps = false;
    while (*p == ' ') {
        uint64_t a, b, c = 0;
        unsigned da, db, dc = 0;
        if (!(p = tracelog_0x(p + 1, 16, &a, &da)) || *p++ != ':' || !(p = tracelog_0x(p, 3, &b, &db)))
            return NULL;
        const bool is_map = *p == ':';
        if ((is_map && !(p = tracelog_0x(p + 1, 3, &c, &dc))) || (!is_map && maps))
            return NULL;
        if (is_map && !maps) {
            maps = true;
            list = begin_list(s, store);
        }
        if (!begin_item(s, list, is_map ? 3 : 2, store))
            return NULL;
        put_hex(s, a, da, store);
        put_hex(s, b, db, store);
        if (is_map)
            put_hex(s, c, dc, store);
    }
    if (!maps)
        begin_list(s, store);
    return p;
}

/* ---- stacks */

enum { FRAMES_AT_ONCE = 512 };

/* More room for the frames of a line; moves the n existing ones before `at`. Returns the place of the next. */
TL_NOINLINE static tl_frame *grow_frames(tracelog_part *part, const tl_frame *at, uint32_t n)
{
    const size_t room = n < FRAMES_AT_ONCE / 2 ? FRAMES_AT_ONCE : 2 * (size_t)n;
    tl_frame *larger = tl_arena_alloc(part->batch.arena, room * sizeof *larger);
    if (!larger) {
        part->no_memory = true;
        return NULL;
    }
    if (n > 0)
        memcpy(larger, at - n, n * sizeof *larger);
    part->frame = larger; /* for the next line, in case this one is malformed */
    part->frame_end = larger + room;
    return larger + n;
}

TL_ALWAYS_INLINE const uint8_t *read_frames(scan *s, const uint8_t *p, const bool store)
{
    tl_frame *at = s->part->frame, *end = s->part->frame_end;
    uint32_t n = 0;
    while (*p == ' ') {
        uint64_t function = 0, ip = 0;
        unsigned digits;
        bool known, ip_known = false;
        if (!(p = id_at(p + 1, 2, &function, &digits, &known)))
            return NULL;
        if (*p == ':' && !(p = ip_at(p + 1, &ip, &digits, &ip_known)))
            return NULL;
        if (store) {
            if (TL_UNLIKELY(at == end)) {
                at = grow_frames(s->part, at, n);
                if (!at)
                    return NULL;
                end = s->part->frame_end;
            }
            at->function = function;
            at->ip = ip;
            at->flags = (known ? TL_FRAME_FUNCTION : 0u) | (ip_known ? TL_FRAME_IP : 0u);
            at->memo = at->lasts = 0;
            at++;
        }
        n++;
    }
    s->note->nframes = n;
    if (store && n > 0) {
        s->note->frame = at - n;
        s->part->frame = at;
    }
    return p;
}

TL_ALWAYS_INLINE const uint8_t *read_STACK(scan *s, const uint8_t *p, const bool store)
{
    tracelog_note *note = s->note;
    uint64_t kept, size;
    unsigned digits;
    bool known;
    if (*p++ != ' ' || !(p = tracelog_dec_short(p, TRACELOG_DEPTH_MAX, 2, &kept)) || *p++ != ':' ||
        !(p = tracelog_dec_short(p, TRACELOG_DEPTH_MAX, 2, &size)))
        return NULL;
    if (*p == ':') {
        if (kept == 0 || !(p = ip_at(p + 1, &note->other, &digits, &known)))
            return NULL;
        note->flags |= TRACELOG_MOVED | (known ? TRACELOG_HAS_IP : 0u);
    }
    note->kept = (uint32_t)kept;
    note->size = (uint32_t)size;
    put_u64(s, kept, store);
    if (store)
        *s->v++ = (tl_value){.type = TL_STACK};
    if (kept > size || !(p = read_frames(s, p, store)))
        return NULL;
    return note->nframes <= TRACELOG_DEPTH_MAX - kept ? p : NULL;
}

#endif
