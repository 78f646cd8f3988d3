/* Words of SQL. */
#ifndef TL_CLI_QUERY_NAMES_H
#define TL_CLI_QUERY_NAMES_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Is it a byte of a name? */
static inline bool tl_sql_is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
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
