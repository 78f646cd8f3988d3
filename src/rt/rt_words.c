/* Reads the values of settings: numbers, sizes, times, and patterns of names. */
#include "rt/rt_say.h"

/* One more digit; false: v would not fit 64 bits. */
static bool add_digit(uint64_t *v, unsigned base, unsigned digit)
{
    if (*v > (UINT64_MAX - digit) / base)
        return false;
    *v = *v * base + digit;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static unsigned hex_digit(char c)
{
    if (is_digit(c))
        return (unsigned)(c - '0');
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

/* The digits at s; NULL if there are none, or too many. */
static const char *read_digits(const char *s, uint64_t *out)
{
    unsigned base = 10;
    if (s[0] == '0' && (s[1] | 0x20) == 'x') {
        base = 16;
        s += 2;
    }
    uint64_t v = 0;
    const char *first = s;
    for (unsigned d; (d = hex_digit(*s)) < base; s++)
        if (!add_digit(&v, base, d))
            return NULL;
    *out = v;
    return s == first ? NULL : s;
}

bool tl_rt_read_number(const char *s, uint64_t *out)
{
    const char *end = read_digits(s, out);
    return end && !*end;
}

bool tl_rt_read_size(const char *s, uint64_t *out)
{
    uint64_t v;
    const char *p = read_digits(s, &v);
    if (!p)
        return false;
    unsigned shift = 0;
    switch (*p | 0x20) {
    case 'k':
        shift = 10;
        break;
    case 'm':
        shift = 20;
        break;
    case 'g':
        shift = 30;
        break;
    case 't':
        shift = 40;
        break;
    default:
        break;
    }
    if (shift && *++p == 'i') /* K means KiB anyway */
        p++;
    if ((*p | 0x20) == 'b')
        p++;
    if (*p || v > UINT64_MAX >> shift)
        return false;
    *out = v << shift;
    return true;
}

bool tl_rt_same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

const char *tl_rt_base(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        if (*path == '/' && path[1])
            base = path + 1;
    return base;
}

bool tl_rt_read_time(const char *s, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } unit[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    uint64_t v, fraction = 0, scale = 1;
    const char *p = read_digits(s, &v);
    if (!p)
        return false;
    if (*p == '.') {
        for (p++; is_digit(*p) && scale < 1000000000; p++) {
            fraction = fraction * 10 + (uint64_t)(*p - '0');
            scale *= 10;
        }
        if (scale == 1 || is_digit(*p))
            return false;
    }
    for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++)
        if (tl_rt_same(p, unit[i].name)) {
            if (v > UINT64_MAX / unit[i].ns - 1 || fraction * unit[i].ns % scale)
                return false; /* also less than a nanosecond */
            *ns = v * unit[i].ns + fraction * unit[i].ns / scale;
            return true;
        }
    return false;
}

/* Does a class match c? p is after its '['. Returns the place after its ']'; NULL: unterminated. */
static const char *read_class(const char *p, char c, bool *takes)
{
    bool other = *p == '!' || *p == '^', in = false;
    if (other)
        p++;
    const char *first = p;
    while (*p && (*p != ']' || p == first)) {
        if (*p == '\\' && p[1])
            p++;
        unsigned char low = (unsigned char)*p++, high = low;
        if (p[0] == '-' && p[1] && p[1] != ']') {
            p += p[1] == '\\' && p[2] ? 2 : 1;
            high = (unsigned char)*p++;
        }
        in |= low <= (unsigned char)c && (unsigned char)c <= high;
    }
    if (!*p)
        return NULL;
    *takes = in != other;
    return p + 1;
}

/* The rest of the pattern if its first element matches the character c, else NULL. */
static const char *take_one(const char *p, char c)
{
    if (*p == '?')
        return p + 1;
    if (*p == '[') {
        bool takes = false;
        const char *end = read_class(p + 1, c, &takes);
        if (end)
            return takes ? end : NULL;
    }
    if (*p == '\\' && p[1])
        p++;
    return *p && *p == c ? p + 1 : NULL;
}

/* Only the last star needs to backtrack: it can match whatever an earlier one could. */
bool tl_rt_glob(const char *pattern, const char *s)
{
    const char *star = NULL, *taken = NULL;
    while (*s) {
        if (*pattern == '*') {
            star = ++pattern;
            taken = s;
            continue;
        }
        const char *next = take_one(pattern, *s);
        if (next) {
            /* '?' matches a whole UTF-8 character. */
            bool whole = *pattern == '?' && (unsigned char)*s >= 0xc0;
            pattern = next;
            s++;
            for (int i = 0; whole && i < 3 && ((unsigned char)*s & 0xc0) == 0x80; i++)
                s++;
        } else if (star) {
            pattern = star;
            s = ++taken;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
