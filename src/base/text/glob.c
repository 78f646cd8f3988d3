/* Glob patterns: one pass that backtracks only to the last star. Giving an earlier star more text never helps, since
 * the last one can take the same text. */
#include "base/text/glob.h"

#include <stddef.h>

/* One character of a class, after an optional backslash. */
static unsigned char class_char(const char **p)
{
    if (**p == '\\' && (*p)[1])
        ++*p;
    return (unsigned char)*(*p)++;
}

/* Does the class at p (after its '[') contain c? *end: after its ']'; NULL if that is missing: then '[' matches
 * itself. */
static bool match_class(const char *p, unsigned char c, const char **end)
{
    bool negated = *p == '!' || *p == '^', found = false;
    if (negated)
        p++;
    /* A ']' at the beginning is a member. */
    for (const char *first = p; *p && (*p != ']' || p == first);) {
        unsigned char low = class_char(&p), high = low;
        if (*p == '-' && p[1] && p[1] != ']') {
            p++;
            high = class_char(&p);
        }
        if (low <= c && c <= high)
            found = true;
    }
    *end = *p == ']' ? p + 1 : NULL;
    return found != negated;
}

/* The length of the UTF-8 character at t, so that ? matches a whole one; 1 for anything else. */
static size_t char_length(const char *t)
{
    size_t n = 1;
    if ((unsigned char)*t >= 0xc0)
        while (n < 4 && ((unsigned char)t[n] & 0xc0) == 0x80)
            n++;
    return n;
}

/* Matches one pattern element other than a star; advances both. */
static bool match_one(const char **pattern, const char **text)
{
    const char *p = *pattern, *t = *text, *end;
    if (*p == '?') {
        p++;
        t += char_length(t);
    } else if (*p == '[') {
        bool found = match_class(p + 1, (unsigned char)*t, &end);
        if (end ? !found : *t != '[')
            return false;
        p = end ? end : p + 1;
        t++;
    } else {
        if (*p == '\\' && p[1])
            p++;
        if (*p != *t)
            return false;
        p++;
        t++;
    }
    *pattern = p;
    *text = t;
    return true;
}

bool tl_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL; /* after the last star, and where its match ends */
    while (*text) {
        if (*pattern == '*') {
            while (*pattern == '*')
                pattern++;
            if (!*pattern)
                return true;
            star = pattern;
            resume = text;
        } else if (*pattern && match_one(&pattern, &text)) {
            continue;
        } else if (star) {
            pattern = star;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
