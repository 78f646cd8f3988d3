/* Text for CTF, without libc. */
#include "rt/mode/rt_ctf_text.h"

#include "rt/rt_say.h"

/* Bytes of the UTF-8 character at s, of n that are left; 0: not UTF-8. */
static size_t character(const unsigned char *s, size_t n)
{
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool odd = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
               (s[0] == 0xf4 && s[1] > 0x8f);
    return odd ? 0 : length;
}

size_t tl_rt_ctf_clean(char *out, size_t size, const char *s, size_t n)
{
    const unsigned char *from = (const unsigned char *)s;
    size_t to = 0;
    if (size == 0)
        return 0;
    for (size_t i = 0; i < n;) {
        size_t length = from[i] ? character(from + i, n - i) : 0;
        size_t take = length ? length : 1;
        if (to + take >= size)
            break;
        if (length)
            rt_copy(out + to, s + i, length);
        else
            out[to] = '?';
        to += take;
        i += take;
    }
    out[to] = '\0';
    return to;
}

static void put(rt_json *j, const char *s, size_t n)
{
    if (n > j->size - j->n) {
        j->full = true;
        return;
    }
    rt_copy(j->text + j->n, s, n);
    j->n += n;
}

void tl_rt_json_raw(rt_json *j, const char *s)
{
    put(j, s, rt_length(s));
}

void tl_rt_json_number(rt_json *j, uint64_t v)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_number(&l, v);
    put(j, l.text, l.n);
}

void tl_rt_json_signed(rt_json *j, int64_t v)
{
    rt_line l;
    rt_line_begin(&l);
    tl_rt_line_signed(&l, v);
    put(j, l.text, l.n);
}

void tl_rt_json_string(rt_json *j, const char *s, size_t most, const char *more)
{
    size_t n = 0;
    put(j, "\"", 1);
    while (n < most && s[n])
        n++;
    const unsigned char *from = (const unsigned char *)s;
    for (size_t i = 0; i < n;) {
        size_t length = character(from + i, rt_length(s + i));
        if (length > n - i) /* it would be cut in two */
            break;
        if (s[i] == '"' || s[i] == '\\')
            put(j, "\\", 1);
        if (length == 0 || from[i] < 0x20 || from[i] == 0x7f)
            put(j, "?", 1);
        else
            put(j, s + i, length);
        i += length ? length : 1;
    }
    tl_rt_json_raw(j, more);
    put(j, "\"", 1);
}
