/* Words of SQL. */
#ifndef TL_QUERY_QUERY_NAMES_H
#define TL_QUERY_QUERY_NAMES_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Is it a byte of a name? */
static inline bool tl_sql_is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/* Is there a blank, or a comment? */
static inline bool tl_sql_is_blank(const char *p)
{
    return strchr(" \t\n\r", *p) || (p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*');
}

/* Skips a piece of SQL that may hold a semicolon: text, a quoted name, a comment; else a byte. NULL: it has no end. */
static inline const char *tl_sql_skip(const char *p)
{
    if (p[0] == '-' && p[1] == '-')
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        p = strstr(p + 2, "*/");
        return p ? p + 2 : NULL;
    }
    if (*p == '\'' || *p == '"' || *p == '`' || *p == '[') {
        p = strchr(p + 1, *p == '[' ? ']' : *p);
        return p ? p + 1 : NULL;
    }
    return p + 1;
}

/* The second statement of SQL, or NULL. */
static inline const char *tl_sql_second(const char *p)
{
    bool has_first = false, ended = false;
    for (; p && *p; p = tl_sql_skip(p)) {
        if (*p == ';')
            ended = has_first;
        else if (ended && !tl_sql_is_blank(p))
            return p;
        else
            has_first = has_first || !tl_sql_is_blank(p);
    }
    return NULL;
}

/* Is the word in the SQL? */
static inline bool tl_sql_mentions(const char *sql, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = sql; *p;) {
        if (!tl_sql_is_word(*p)) {
            p++;
            continue;
        }
        const char *const begin = p;
        while (tl_sql_is_word(*p))
            p++;
        if ((size_t)(p - begin) == n && strncasecmp(begin, word, n) == 0)
            return true;
    }
    return false;
}

#endif
