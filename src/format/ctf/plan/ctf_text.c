/* Text of any encoding as UTF-8. */
#include "format/ctf/plan/ctf_text.h"

#include <string.h>

#include "base/endian.h"

enum { REPLACEMENT = 0xfffd };

unsigned ctf_text_unit(ctf_encoding e)
{
    switch (e) {
    case CTF_UTF16LE:
    case CTF_UTF16BE:
        return 2;
    case CTF_UTF32LE:
    case CTF_UTF32BE:
        return 4;
    default:
        return 1;
    }
}

size_t ctf_text_length(const uint8_t *p, size_t n, ctf_encoding e)
{
    const unsigned unit = ctf_text_unit(e);
    if (unit == 1) {
        const uint8_t *nul = memchr(p, 0, n);
        return nul ? (size_t)(nul - p) : n;
    }
    size_t i = 0;
    for (; n - i >= unit; i += unit)
        if (unit == 2 ? p[i] == 0 && p[i + 1] == 0 : tl_load32(p + i, false) == 0)
            return i;
    return i;
}

static char *put(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

static size_t from_utf16(char *out, const uint8_t *p, size_t n, bool big)
{
    char *start = out;
    for (size_t i = 0; n - i >= 2; i += 2) {
        uint32_t c = tl_load16(p + i, big);
        if (c >= 0xd800 && c < 0xe000) {
            uint32_t low = c < 0xdc00 && n - i >= 4 ? tl_load16(p + i + 2, big) : 0;
            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                i += 2;
            } else {
                c = REPLACEMENT;
            }
        }
        out = put(out, c);
    }
    return (size_t)(out - start);
}

size_t ctf_text_utf8(char *out, const uint8_t *p, size_t n, ctf_encoding e)
{
    if (ctf_text_unit(e) == 1) {
        memcpy(out, p, n);
        return n;
    }
    if (e == CTF_UTF16LE || e == CTF_UTF16BE)
        return from_utf16(out, p, n, e == CTF_UTF16BE);
    char *start = out;
    for (size_t i = 0; n - i >= 4; i += 4) {
        uint32_t c = tl_load32(p + i, e == CTF_UTF32BE);
        out = put(out, c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? REPLACEMENT : c);
    }
    return (size_t)(out - start);
}
