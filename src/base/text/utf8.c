/* UTF-8: recognition and repair. */
#include "base/text/utf8.h"

#include <string.h>

size_t tl_utf8_length(const char *s, size_t n)
{
    /* The smallest character that needs that many bytes: longer encodings are not allowed. */
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c = (unsigned char)s[0];
    if (c < 0x80)
        return 1;
    const size_t length = c >= 0xf8 ? 0 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;
    if (length == 0 || length > n)
        return 0;
    c &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++) {
        uint32_t byte = (unsigned char)s[i];
        if ((byte & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (byte & 0x3f);
    }
    if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    return length;
}

size_t tl_utf8_shown(const char *s, size_t n)
{
    const unsigned char a = (unsigned char)s[0];
    if (a < 0x80)
        return a >= 0x20 && a != 0x7f;
    const size_t length = tl_utf8_length(s, n);
    if (length == 2 && a == 0xc2)
        return (unsigned char)s[1] < 0xa0 ? 0 : 2;
    if (length == 3 && a == 0xe2) {
        const unsigned char b = (unsigned char)s[1], c = (unsigned char)s[2];
        if ((b == 0x80 && (c == 0x8e || c == 0x8f || (c >= 0xa8 && c <= 0xae))) ||
            (b == 0x81 && c >= 0xa6 && c <= 0xa9))
            return 0;
    }
    return length;
}

size_t tl_utf8_repair(char *out, const char *s, size_t n)
{
    char *p = out;
    while (n > 0) {
        size_t length = tl_utf8_length(s, n);
        if (length > 0) {
            memcpy(p, s, length);
            p += length;
        } else {
            unsigned char byte = (unsigned char)*s;
            *p++ = (char)(0xc0 | byte >> 6);
            *p++ = (char)(0x80 | (byte & 0x3f));
            length = 1;
        }
        s += length;
        n -= length;
    }
    return (size_t)(p - out);
}
