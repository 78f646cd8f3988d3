/* Sections are lines of their own, and no text of a trace can look like one: "<" is escaped in all of them. */
#include "view/page/section_scan.h"

#include <string.h>

static const char json[] = "<script type=\"application/json\" data-section=\"";
static const char octets[] = "<script type=\"application/octet-stream\" data-section=\"";
static const char number[] = "\" data-n=\"", open_end[] = "\">", close_tag[] = "</script>";

static bool begins(const char *at, const char *end, const char *with)
{
    const size_t n = strlen(with);
    return (size_t)(end - at) >= n && memcmp(at, with, n) == 0;
}

/* The text up to a mark, which *at moves behind; false: there is no mark. */
static bool take(const char **at, const char *end, const char *mark, const char **text, size_t *n)
{
    const char *found = memmem(*at, (size_t)(end - *at), mark, strlen(mark));
    if (!found)
        return false;
    *text = *at;
    *n = (size_t)(found - *at);
    *at = found + strlen(mark);
    return true;
}

bool tl_html_scan(const char **at, const char *end, tl_html_scanned *out)
{
    for (const char *line = *at; line < end; line++) {
        const bool is_json = begins(line, end, json), is_octets = begins(line, end, octets);
        if (is_json || is_octets) {
            *out = (tl_html_scanned){0};
            line += is_json ? strlen(json) : strlen(octets);
            const bool found = take(&line, end, is_json ? open_end : number, &out->name, &out->name_n) &&
                               (is_json || take(&line, end, open_end, &out->n, &out->n_n)) &&
                               take(&line, end, close_tag, &out->text, &out->text_n);
            *at = line;
            return found;
        }
        line = memchr(line, '\n', (size_t)(end - line));
        if (!line)
            break;
    }
    return false;
}
