/* Reading one line of notes: its key-value pairs, and its mistakes. */
#include "model/recording_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int tl_note_no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the notes of the recording");
}

TL_COLD int tl_note_bad(const note *l, const char *rule, const char *format, ...)
{
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return tl_trace_add_damage(l->t, l->e, l->offset, l->bytes, rule, "%s", what);
}

TL_COLD int tl_note_too_many(const note *l, const char *what, uint32_t most)
{
    if (l->r->full)
        return 0;
    l->r->full = true;
    return tl_note_bad(l, "note.too-many", "more than %" PRIu32 " %s; further ones are left out", most, what);
}

bool tl_piece_is(piece a, const char *s)
{
    return a.n == strlen(s) && memcmp(a.p, s, a.n) == 0;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* A whole number, decimal or hexadecimal with 0x. */
static bool read_number(piece s, uint64_t *out)
{
    unsigned base = 10;
    uint64_t v = 0;
    if (s.n > 2 && s.p[0] == '0' && s.p[1] == 'x') {
        base = 16;
        s.p += 2;
        s.n -= 2;
    }
    for (size_t i = 0; i < s.n; i++) {
        const unsigned digit = (unsigned)digit_of(s.p[i]);
        if (digit >= base || v > (UINT64_MAX - digit) / base)
            return false;
        v = v * base + digit;
    }
    *out = v;
    return s.n > 0;
}

int tl_note_pair(note *l, piece *key, piece *value)
{
    while (l->p < l->end && *l->p == ' ')
        l->p++;
    if (l->p == l->end)
        return 0;
    const char *equals = memchr(l->p, '=', (size_t)(l->end - l->p));
    if (!equals || equals == l->p || memchr(l->p, ' ', (size_t)(equals - l->p)))
        return -1;
    *key = (piece){l->p, (size_t)(equals - l->p)};
    l->p = equals + 1;
    const char *blank = l->last && tl_piece_is(*key, l->last) ? NULL : memchr(l->p, ' ', (size_t)(l->end - l->p));
    *value = (piece){l->p, (size_t)((blank ? blank : l->end) - l->p)};
    l->p += value->n;
    return 1;
}

int tl_note_pairs(note *l, pair_spec *spec, size_t n)
{
    piece key, value;
    int more;
    while ((more = tl_note_pair(l, &key, &value)) > 0)
        for (size_t i = 0; i < n; i++) {
            if (!tl_piece_is(key, spec[i].key))
                continue;
            if (spec[i].number && !read_number(value, spec[i].number))
                return tl_note_bad(l, "note.bad-line", "%s is not a number", spec[i].key);
            if (spec[i].text)
                *spec[i].text = value;
            spec[i].seen = true;
        }
    if (more < 0)
        return tl_note_bad(l, "note.bad-line", "words without key=value");
    for (size_t i = 0; i < n; i++)
        if (spec[i].needed && !spec[i].seen)
            return tl_note_bad(l, "note.bad-line", "%s is missing", spec[i].key);
    return 1;
}

const char *tl_note_text(const note *l, piece s)
{
    char plain[TL_RECORDING_LINE_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '\\' && i + 1 < s.n) {
            c = s.p[++i];
            if (c == 'n')
                c = '\n';
        }
        plain[n++] = c;
    }
    plain[n] = '\0';
    return tl_trace_intern(l->t, plain);
}

bool tl_piece_take_hex(piece *s, uint64_t *out)
{
    uint64_t v = 0;
    size_t n = 0;
    for (int digit; n < s->n && (digit = digit_of(s->p[n])) < 16; n++) {
        if (v >> 60)
            return false;
        v = v << 4 | (unsigned)digit;
    }
    s->p += n;
    s->n -= n;
    *out = v;
    return n > 0;
}

bool tl_piece_is_hex(piece s)
{
    for (size_t i = 0; i < s.n; i++)
        if (digit_of(s.p[i]) > 15)
            return false;
    return s.n > 0;
}
