/* Text for people: styles, width in columns, and small pictures. */
#include "model/prose.h"

#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/compiler.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

#define PART_SIZE 512u /* of the parts in which text is cleaned */

const char *tl_style_on(const tl_terminal *t, tl_style style)
{
    static const char *const sequence[] = {"\033[0m", "\033[1m", "\033[1;4m", "\033[36m", "\033[2m"};
    return t->color ? sequence[style] : "";
}

/* Decodes one character of at most n bytes; returns its length, 0 if it is not valid UTF-8. */
static size_t decode(const char *s, size_t n, uint32_t *out)
{
    size_t length = n ? tl_utf8_length(s, n) : 0;
    if (length == 0)
        return 0;
    uint32_t c = (unsigned char)s[0];
    if (length > 1)
        c &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3fu);
    *out = c;
    return length;
}

static unsigned character_width(uint32_t c)
{
    if (c < 0x300)
        return 1;
    int width = wcwidth((wchar_t)c); /* -1 if the locale does not know the character */
    return width < 0 ? 1 : (unsigned)width;
}

size_t tl_text_character(const char *s, size_t n, unsigned *columns)
{
    uint32_t c = 0;
    const size_t length = (unsigned char)*s < 0x80 ? 1 : decode(s, n, &c); /* ASCII is most of it */
    *columns = length && c ? character_width(c) : 1;
    return length ? length : 1;
}

unsigned tl_text_width(const char *s, size_t n)
{
    unsigned width = 0, columns;
    for (size_t i = 0; i < n; width += columns)
        i += tl_text_character(s + i, n - i, &columns);
    return width;
}

char *tl_text_clean(char *buf, size_t size, const char *s)
{
    size_t at = 0, n = strlen(s);
    for (size_t i = 0; i < n;) {
        const size_t shown = tl_utf8_shown(s + i, n - i), put = shown ? shown : 1;
        if (put >= size - at)
            break;
        if (shown) {
            memcpy(buf + at, s + i, shown);
            i += shown;
        } else {
            const size_t hidden = tl_utf8_length(s + i, n - i);
            buf[at] = '?';
            i += hidden ? hidden : 1;
        }
        at += put;
    }
    buf[at] = 0;
    return buf;
}

void tl_text_put_clean(tl_output *out, const char *s)
{
    char part[PART_SIZE], clean[PART_SIZE];
    while (*s) {
        size_t n = strnlen(s, PART_SIZE - 1);
        while (s[n] && n > PART_SIZE - 4 && ((unsigned char)s[n] & 0xc0) == 0x80)
            n--; /* not within a character */
        memcpy(part, s, n);
        part[n] = 0;
        tl_output_puts(out, tl_text_clean(clean, sizeof clean, part));
        s += n;
    }
}

void tl_text_put_markdown(tl_output *out, const char *s)
{
    for (size_t n = strlen(s); n > 0;) {
        const size_t shown = tl_utf8_shown(s, n), hidden = shown ? 0 : tl_utf8_length(s, n);
        const size_t length = shown ? shown : hidden ? hidden : 1;
        if (!shown)
            tl_output_puts(out, "?");
        else if (strchr("\\`*_{}[]<>#|&~$!", *s))
            tl_output_printf(out, "\\%c", *s);
        else
            tl_output_write(out, s, shown);
        s += length;
        n -= length;
    }
}

/* Bytes of the longest prefix of s that takes at most `width` columns. */
static size_t beginning(const char *s, size_t n, unsigned width)
{
    size_t i = 0;
    unsigned used = 0;
    while (i < n) {
        unsigned columns;
        const size_t length = tl_text_character(s + i, n - i, &columns);
        if (columns > width - used)
            break;
        used += columns;
        i += length;
    }
    return i;
}

const char *tl_text_fit(const tl_terminal *t, char *buf, size_t size, const char *s, unsigned width)
{
    size_t n = strlen(s);
    unsigned full = tl_text_width(s, n);
    if (full <= width)
        return s;
    const char *gap = t->unicode ? "…" : "..";
    unsigned gap_width = t->unicode ? 1 : 2;
    size_t head, tail;
    if (width <= gap_width + 1) {
        gap = "";
        head = beginning(s, n, width);
        tail = n;
    } else {
        unsigned left = (width - gap_width + 1) / 2, right = width - gap_width - left;
        head = beginning(s, n, left);
        tail = beginning(s, n, full - right); /* leaves out a wide character at the edge: */
        while (tail < n && tl_text_width(s + tail, n - tail) > right)
            tail += beginning(s + tail, n - tail, 2);
    }
    size_t gap_bytes = strlen(gap);
    if (head + gap_bytes + (n - tail) + 1 > size)
        return s; /* the caller's buffer is too small for any shortening */
    memcpy(buf, s, head);
    memcpy(buf + head, gap, gap_bytes);
    memcpy(buf + head + gap_bytes, s + tail, n - tail + 1);
    return buf;
}

char *tl_text_spark(const tl_terminal *t, char *buf, const double *value, unsigned n)
{
    static const char *const block[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letter[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    char *p = buf;
    for (unsigned i = 0; i < n; i++) {
        const char *text = " ";
        if (value[i] >= 0) {
            const unsigned step = value[i] >= 1 ? 7 : (unsigned)(value[i] * 8);
            text = (t->unicode ? block : letter)[step];
        } else if (value[i] <= -2) {
            text = t->unicode ? "╌" : "~";
        }
        const size_t length = strlen(text);
        memcpy(p, text, length);
        p += length;
    }
    *p = 0;
    return buf;
}

void tl_say_count(const tl_prose *p, uint64_t n, const char *one, const char *many)
{
    char text[32];
    tl_output_printf(p->out, "%s %s", tl_human_grouped(text, sizeof text, n), n == 1 ? one : many);
}

void tl_say_styled(const tl_prose *p, tl_style style, const char *text)
{
    tl_output_puts(p->out, tl_style_on(p->terminal, style));
    (p->markdown ? tl_text_put_markdown : tl_text_put_clean)(p->out, text);
    tl_output_puts(p->out, tl_style_on(p->terminal, TL_PLAIN_TEXT));
}

void tl_say_left_out(const tl_prose *p, uint64_t n, const char *of, const char *rest)
{
    char number[32];
    if (n)
        tl_output_printf(p->out, "%s%s %s more %s; %s%s\n", tl_style_on(p->terminal, TL_FAINT),
                         p->terminal->unicode ? "…" : "...", tl_human_grouped(number, sizeof number, n), of,
                         rest ? rest : "--top 0 shows all", tl_style_on(p->terminal, TL_PLAIN_TEXT));
}
