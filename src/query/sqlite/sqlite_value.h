/* Arguments and results of functions of SQL. */
#ifndef TL_QUERY_SQLITE_VALUE_H
#define TL_QUERY_SQLITE_VALUE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

static inline bool tl_value_is_int(sqlite3_value *v)
{
    return sqlite3_value_type(v) == SQLITE_INTEGER;
}

static inline bool tl_value_is_number(sqlite3_value *v)
{
    return tl_value_is_int(v) || sqlite3_value_type(v) == SQLITE_FLOAT;
}

/* A number as an int64_t, rounded and clamped. */
static inline int64_t tl_value_whole(sqlite3_value *v)
{
    if (tl_value_is_int(v))
        return sqlite3_value_int64(v);
    const double d = sqlite3_value_double(v);
    return d >= 9.2e18 ? INT64_MAX : d <= -9.2e18 ? INT64_MIN : (int64_t)(d < 0 ? d - 0.5 : d + 0.5);
}

/* A copy of the text. */
static inline void tl_give_text(sqlite3_context *c, const char *text)
{
    sqlite3_result_text(c, text, -1, SQLITE_TRANSIENT);
}

#endif
