/* Items of a line to values: a function for each kind of item of records.def. Part of tracelog_scan.c.
 *
 * Each takes the text from the space before its item, and returns the end of the item, or NULL if malformed. `store` is
 * a constant at each call: without it only the note is written. */
#ifndef TL_FORMAT_TRACELOG_SCAN_ITEMS_H
#define TL_FORMAT_TRACELOG_SCAN_ITEMS_H

#include "format/tracelog/tracelog_items.h"
#include "format/tracelog/tracelog_scan_tape.h"

/* ---- numbers and ids */

/* An id or ?; *known: which. */
TL_ALWAYS_INLINE const uint8_t *id_at(const uint8_t *p, unsigned expected, uint64_t *id, unsigned *digits, bool *known)
{
    *known = *p != '?';
    return TL_LIKELY(*known) ? tracelog_0x(p, expected, id, digits) : p + 1;
}

/* The same, also without 0x. */
TL_ALWAYS_INLINE const uint8_t *ip_at(const uint8_t *p, uint64_t *ip, unsigned *digits, bool *known)
{
    *known = *p != '?';
    if (TL_UNLIKELY(!*known))
        return p + 1;
    return TL_LIKELY(p[0] == '0' && p[1] == 'x') ? tracelog_hex(p + 2, 16, ip, digits)
                                                 : tracelog_hex(p, 16, ip, digits);
}

TL_NOINLINE static const uint8_t *read_ID(scan *s, const uint8_t *p, const bool store)
{
    uint64_t id = 0;
    unsigned digits = 0;
    bool known;
    if (*p++ != ' ' || !(p = id_at(p, 8, &id, &digits, &known)))
        return NULL;
    if (known)
        put_hex(s, id, digits, store);
    else
        put_null(s, store);
    return p;
}

/* The second of five fields; missing if there are only four. */
TL_NOINLINE static const uint8_t *read_NEWER_ID(scan *s, const uint8_t *p, const bool store)
{
    unsigned fields = 0;
    for (const uint8_t *at = p; *at != '\n'; at++)
        fields += *at == ' ';
    if (fields != 3)
        return read_ID(s, p, store);
    s->note->flags |= TRACELOG_OLDEST;
    put_null(s, store);
    return p;
}

TL_ALWAYS_INLINE const uint8_t *read_THREAD(scan *s, const uint8_t *p, const bool store)
{
    uint64_t id = 0;
    unsigned digits = 0;
    bool known;
    if (*p++ != ' ' || !(p = id_at(p, 8, &id, &digits, &known)))
        return NULL;
    s->note->thread = id;
    if (TL_LIKELY(known)) {
        s->note->flags |= TRACELOG_HAS_THREAD;
        put_hex(s, id, digits, store);
    } else {
        put_null(s, store);
    }
    return p;
}

TL_NOINLINE static const uint8_t *read_ANY_THREAD(scan *s, const uint8_t *p, const bool store)
{
    uint64_t id;
    const uint8_t *end = *p == ' ' ? tracelog_dec(p + 1, UINT64_MAX, &id) : NULL;
    if (end && (*end == ' ' || *end == '\n' || *end == '\r')) {
        s->note->thread = id;
        s->note->flags |= TRACELOG_OS_THREAD;
        put_null(s, store); /* the replay knows */
        put_u64(s, id, store);
        return end;
    }
    p = read_THREAD(s, p, store);
    if (store)
        *s->v++ = (tl_value){.type = TL_ABSENT};
    return p;
}

TL_NOINLINE static const uint8_t *read_AGAIN(scan *s, const uint8_t *p, const bool store)
{
    uint64_t id = 0;
    unsigned digits = 0;
    bool known;
    (void)store;
    if (*p != ' ')
        return p;
    s->note->flags |= TRACELOG_TWICE;
    return id_at(p + 1, 8, &id, &digits, &known);
}

TL_NOINLINE static const uint8_t *read_HEX(scan *s, const uint8_t *p, const bool store)
{
    uint64_t value;
    unsigned digits;
    if (*p++ != ' ' || !(p = tracelog_0x(p, 8, &value, &digits)))
        return NULL;
    put_hex(s, value, digits, store);
    return p;
}

TL_ALWAYS_INLINE const uint8_t *read_number(scan *s, const uint8_t *p, uint64_t most, const bool store)
{
    uint64_t value;
    if (*p++ != ' ' || !(p = tracelog_dec(p, most, &value)))
        return NULL;
    put_u64(s, value, store);
    return p;
}

#define read_DEC(s, p, store) read_number(s, p, UINT64_MAX, store)

/* The difference of two unsigned numbers: a negative one is near 2^64. */
TL_NOINLINE static const uint8_t *read_USAGE(scan *s, const uint8_t *p, const bool store)
{
    uint64_t value;
    if (*p++ != ' ' || !(p = tracelog_dec(p, UINT64_MAX, &value)) || !tracelog_is_usage(value))
        return NULL;
    if (store)
        *s->v++ = (tl_value){.type = TL_I64, .as.u = value};
    return p;
}

TL_ALWAYS_INLINE const uint8_t *read_COUNT(scan *s, const uint8_t *p, const bool store)
{
    uint64_t value;
    if (*p++ != ' ' || !(p = tracelog_dec_short(p, UINT32_MAX, 1, &value)))
        return NULL;
    put_u64(s, value, store);
    return p;
}

TL_ALWAYS_INLINE const uint8_t *read_OLD_COUNT(scan *s, const uint8_t *p, const bool store)
{
    if (p[0] != ' ' || p[1] != '?')
        return read_COUNT(s, p, store);
    put_null(s, store);
    return p + 2;
}

TL_NOINLINE static const uint8_t *read_PID(scan *s, const uint8_t *p, const bool store)
{
    uint64_t id;
    unsigned digits;
    if (*p++ != ' ')
        return NULL;
    p = p[0] == '0' && p[1] == 'x' ? tracelog_hex(p + 2, 8, &id, &digits) : tracelog_dec(p, UINT64_MAX, &id);
    if (!p)
        return NULL;
    s->note->other = id;
    put_u64(s, id, store);
    return p;
}

TL_ALWAYS_INLINE const uint8_t *read_MS(scan *s, const uint8_t *p, const bool store)
{
    if (*p++ != ' ' || !(p = tracelog_dec_like(p, TRACELOG_MS_MAX, &s->ms_digits, &s->ms)))
        return NULL;
    s->note->flags |= TRACELOG_HAS_TIME;
    put_u64(s, s->ms, store);
    return p;
}

/* ---- items that go to the end of the line, and text */

static size_t rest_of_line(const scan *s, const uint8_t *p)
{
    const uint8_t *end = memchr(p, '\n', (size_t)(s->end - p));
    return (size_t)(end - p) - (end > p && end[-1] == '\r');
}

static const uint8_t *read_texts(scan *s, const uint8_t *p, unsigned count, const bool store)
{
    const uint8_t *begin[3];
    size_t size[3];
    if (*p++ != ' ')
        return NULL;
    const size_t n = rest_of_line(s, p);
    if (!tracelog_divide_texts(p, n, count, begin, size))
        return NULL;
    for (unsigned i = 0; i < count; i++)
        if (!put_text(s, begin[i], size[i], store))
            return NULL;
    return p + n;
}

/* The oldest recorders write only the first one. */
static const uint8_t *read_TEXT3(scan *s, const uint8_t *p, const bool store)
{
    const size_t n = *p == ' ' ? rest_of_line(s, p + 1) : 0;
    if (!tracelog_is_one_text(p + 1, n))
        return read_texts(s, p, 3, store);
    p = read_texts(s, p, 1, store);
    put_null(s, store);
    put_null(s, store);
    s->note->flags |= TRACELOG_OLDEST;
    return p;
}

#define read_TEXT(s, p, store)      read_texts(s, p, 1, store)
#define read_TEXT_NEXT(s, p, store) (p) /* was read with the first */

static const uint8_t *read_WORD(scan *s, const uint8_t *p, const bool store)
{
    if (*p++ != ' ')
        return NULL;
    const size_t n = rest_of_line(s, p);
    const uint8_t *space = memchr(p, ' ', n);
    return space && space > p && put_text(s, p, (size_t)(space - p), store) ? space : NULL;
}

static const uint8_t *read_REST(scan *s, const uint8_t *p, const bool store)
{
    const size_t n = rest_of_line(s, ++p);
    return put_text(s, p, n, store) ? p + n : NULL;
}

static const uint8_t *read_TIME(scan *s, const uint8_t *p, const bool store)
{
    int64_t ms;
    bool has_zone;
    if (*p++ != ' ')
        return NULL;
    const size_t n = rest_of_line(s, p);
    return tracelog_parse_time(p, n, &ms, &has_zone) && put_text(s, p, n, store) ? p + n : NULL;
}

static const uint8_t *read_REASON(scan *s, const uint8_t *p, const bool store)
{
    static const char induced[] = "induced";
    if (*p++ != ' ')
        return NULL;
    if (*p == '?') {
        put_null(s, store);
        return p + 1;
    }
    for (size_t i = 0; i < sizeof induced - 1; i++)
        if (p[i] != (uint8_t)induced[i])
            return NULL;
    return put_text(s, p, sizeof induced - 1, store) ? p + sizeof induced - 1 : NULL;
}

static const uint8_t *read_GENERATIONS(scan *s, const uint8_t *p, const bool store)
{
    if (*p++ != ' ')
        return NULL;
    for (size_t i = 0; i < 4; i++)
        if (p[i] != 't' && p[i] != 'f')
            return NULL;
    return put_text(s, p, 4, store) ? p + 4 : NULL;
}

#endif
