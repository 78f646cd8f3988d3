/* Text within markup. */
#include "view/markup_text.h"

#include <string.h>

#include "base/text/utf8.h"
#include "base/text/xml_escape.h"

/* U+FFFE and U+FFFF are characters of UTF-8 and not of XML. */
static bool is_no_xml(const char *s, size_t length)
{
    return length == 3 && memcmp(s, "\xef\xbf", 2) == 0 && (unsigned char)s[2] >= 0xbe;
}

void tl_put_markup(tl_output *out, const char *s, size_t n)
{
    for (size_t at = 0, length; at < n; at += length) {
        length = tl_utf8_shown(s + at, n - at);
        const char *escape = length == 1 ? tl_xml_escape(s[at]) : NULL;
        if (length == 0 || is_no_xml(s + at, length))
            escape = "?";
        if (escape)
            tl_output_puts(out, escape);
        else
            tl_output_write(out, s + at, length);
        length = length ? length : tl_utf8_length(s + at, n - at);
        length = length ? length : 1;
    }
}
