/* Base64: three bytes become four letters. */
#include "view/pack/base64.h"

enum { PART = 768 }; /* bytes that are written at once */

static void put_three(char to[static 4], const uint8_t *from, size_t n)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits = (uint32_t)from[0] << 16 | (n > 1 ? (uint32_t)from[1] << 8 : 0) | (n > 2 ? from[2] : 0);
    to[0] = letter[bits >> 18];
    to[1] = letter[bits >> 12 & 63];
    to[2] = n > 1 ? letter[bits >> 6 & 63] : '=';
    to[3] = n > 2 ? letter[bits & 63] : '=';
}

void tl_base64_put(tl_pb *out, const uint8_t *data, size_t n)
{
    char text[PART / 3 * 4];
    while (n > 0) {
        size_t at = 0, used = 0;
        for (; at < n && at < PART; at += 3, used += 4)
            put_three(text + used, data + at, n - at);
        tl_pb_raw(out, text, used);
        at = at < n ? at : n;
        data += at;
        n -= at;
    }
}
