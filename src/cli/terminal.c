/* Width and abilities of the terminal, and text made to fit it. */
#include "cli/terminal.h"

#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/text/number.h"
#include "base/text/utf8.h"

#define PART_SIZE 512u /* of a text that is made clean part by part */

static unsigned window_width(int fd)
{
    uint64_t columns = 0;
    const char *text = getenv("COLUMNS");
    if (!text || !tl_parse_u64(text, &columns) || columns == 0) {
        struct winsize size;
        if (ioctl(fd, TIOCGWINSZ, &size) == 0)
            columns = size.ws_col;
    }
    if (columns == 0)
        return TL_WIDTH_DEFAULT;
    if (columns < TL_WIDTH_MIN)
        return TL_WIDTH_MIN;
    return columns > TL_WIDTH_MAX ? TL_WIDTH_MAX : (unsigned)columns;
}

static bool is_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void tl_terminal_init(tl_terminal *t, int fd, tl_color color)
{
    t->tty = isatty(fd) == 1;
    t->unicode = is_utf8();
    t->width = t->tty ? window_width(fd) : TL_WIDTH_DEFAULT;
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    bool automatic = t->tty && !(none && *none) && term && *term && strcmp(term, "dumb") != 0;
    t->color = color == TL_COLOR_ALWAYS || (color == TL_COLOR_AUTO && automatic);
}

void tl_terminal_file(tl_terminal *t)
{
    *t = (tl_terminal){.unicode = is_utf8(), .width = TL_WIDTH_DEFAULT};
}

const char *tl_style_on(const tl_terminal *t, tl_style style)
{
    static const char *const sequence[] = {"\033[0m", "\033[1m", "\033[1;4m", "\033[36m", "\033[2m"};
    return t->color ? sequence[style] : "";
}

/* Decodes one character of at most n bytes; returns its length, 0 if it is no valid UTF-8. */
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
    int width = wcwidth((wchar_t)c); /* -1 where the locale does not know the character */
    return width < 0 ? 1 : (unsigned)width;
}

unsigned tl_text_width(const char *s, size_t n)
{
    unsigned width = 0;
    for (size_t i = 0; i < n;) {
        uint32_t c = 0;
        size_t length = decode(s + i, n - i, &c);
        width += length ? character_width(c) : 1;
        i += length ? length : 1;
    }
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

/* Bytes of the longest beginning of s that takes at most `width` columns. */
static size_t beginning(const char *s, size_t n, unsigned width)
{
    size_t i = 0;
    unsigned used = 0;
    while (i < n) {
        uint32_t c = 0;
        size_t length = decode(s + i, n - i, &c);
        unsigned columns = length ? character_width(c) : 1;
        if (columns > width - used)
            break;
        used += columns;
        i += length ? length : 1;
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
        tail = beginning(s, n, full - right); /* a wide character on the edge stays out: */
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

char *tl_text_bar(const tl_terminal *t, char *buf, size_t size, double share, unsigned width)
{
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const unsigned steps = t->unicode ? 8 : 1;
    const char *full = t->unicode ? "█" : "#";
    if (!(share > 0))
        share = 0;
    if (share > 1)
        share = 1;
    unsigned n = (unsigned)(share * width * steps + 0.5);
    if (n == 0 && share > 0 && t->unicode)
        n = 1;
    size_t at = 0;
    for (unsigned i = 0; i < n / steps && at + strlen(full) < size; i++) {
        memcpy(buf + at, full, strlen(full));
        at += strlen(full);
    }
    const char *rest = t->unicode ? eighth[n % steps] : "";
    if (*rest && at + strlen(rest) < size) {
        memcpy(buf + at, rest, strlen(rest));
        at += strlen(rest);
    }
    buf[at] = 0;
    return buf;
}
