/* Text of a written line: handles what would end it early, or is not UTF-8. */
#include "format/tracelog/tracelog_write_text.h"

#include <string.h>

#include "base/text/utf8.h"

void tracelog_put_text(tl_text_writer *tw, const char *s, size_t n, uint64_t *breaks)
{
    while (n > 0) {
        const char *at = memchr(s, '\n', n);
        const size_t part = at ? (size_t)(at - s) : n;
        tl_text_raw(tw, s, part);
        s += part;
        n -= part;
        if (at) {
            tl_text_char(tw, ' ');
            s++;
            n--;
            ++*breaks;
        }
    }
}

/* Appends the text, repaired. Returns how many bytes were not UTF-8. */
static uint64_t repair(tl_pb *out, const char *s, size_t n)
{
    uint64_t bad = 0;
    size_t good = 0; /* bytes before s that can be copied unchanged */
    while (n > 0) {
        const size_t length = tl_utf8_length(s, n);
        if (length == 0) {
            char two[2];
            tl_pb_raw(out, s - good, good);
            tl_pb_raw(out, two, tl_utf8_repair(two, s, 1));
            good = 0;
            bad++;
        } else {
            good += length;
        }
        s += length ? length : 1;
        n -= length ? length : 1;
    }
    tl_pb_raw(out, s - good, good);
    return bad;
}

bool tracelog_put_name(tl_text_writer *tw, const char *name, tl_pb *scratch, uint64_t *breaks, uint64_t *bad)
{
    tl_pb_clear(scratch);
    if (name)
        *bad += repair(scratch, name, strlen(name));
    if (scratch->failed)
        return false;
    tl_text_char(tw, '"');
    tracelog_put_text(tw, (const char *)scratch->data, scratch->n, breaks);
    tl_text_char(tw, '"');
    return true;
}
