/* Functions of SQL that SQLite lacks: numbers as text and back, intervals, percentiles. A wrong type gives NULL, as in
 * SQLite's own functions; a value that cannot be meant is an error. */
#ifdef TL_HAVE_SQLITE

#include "query/sqlite/sqlite_functions.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/text/number.h"
#include "base/text/utc_text.h"
#include "query/sqlite/sqlite_value.h"

#define TEXT_ROOM        64u
#define PERCENTILE_BYTES ((size_t)64 << 20) /* of the values of one percentile() */
#define NS_IN_S          INT64_C(1000000000)

/* With a minus sign where it is negative. */
static void give_shown(sqlite3_context *c, int64_t v, char *(*show)(char *buf, size_t n, uint64_t value))
{
    char text[TEXT_ROOM];
    text[0] = '-';
    show(text + (v < 0), sizeof text - 1, v < 0 ? -(uint64_t)v : (uint64_t)v);
    tl_give_text(c, text);
}

static char *show_ns(char *buf, size_t n, uint64_t value)
{
    return tl_human_time(buf, n, value, true);
}

static char *show_ticks(char *buf, size_t n, uint64_t value)
{
    return tl_human_time(buf, n, value, false);
}

void tl_sql_human(sqlite3_context *c, int n, sqlite3_value **v)
{
    const char *unit = n > 1 ? (const char *)sqlite3_value_text(v[1]) : "ns";
    if (n < 1 || n > 2)
        sqlite3_result_error(c, "wrong number of arguments to function human()", -1);
    else if (unit && tl_value_is_number(v[0]))
        give_shown(c, tl_value_whole(v[0]), strcmp(unit, "ns") == 0 ? show_ns : show_ticks);
}

void tl_sql_bytes(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    if (tl_value_is_number(v[0]))
        give_shown(c, tl_value_whole(v[0]), tl_human_bytes);
}

void tl_sql_hex64(sqlite3_context *c, int n, sqlite3_value **v)
{
    char text[TEXT_ROOM];
    (void)n;
    if (!tl_value_is_int(v[0]))
        return;
    snprintf(text, sizeof text, "0x%" PRIx64, (uint64_t)sqlite3_value_int64(v[0]));
    tl_give_text(c, text);
}

void tl_sql_u64(sqlite3_context *c, int n, sqlite3_value **v)
{
    char text[TEXT_ROOM];
    (void)n;
    if (!tl_value_is_int(v[0]))
        return;
    snprintf(text, sizeof text, "%" PRIu64, (uint64_t)sqlite3_value_int64(v[0]));
    tl_give_text(c, text);
}

/* The multiple of `step` at or below v. */
static bool floor_of(int64_t v, int64_t step, int64_t *out)
{
    int64_t rest = v % step;
    rest += rest < 0 ? step : 0;
    return !__builtin_sub_overflow(v, rest, out);
}

void tl_sql_floor_to(sqlite3_context *c, int n, sqlite3_value **v)
{
    int64_t out;
    (void)n;
    if (!tl_value_is_number(v[0]) || !tl_value_is_number(v[1]))
        return;
    const int64_t step = tl_value_whole(v[1]);
    if (step <= 0)
        sqlite3_result_error(c, "floor_to: the step is not above 0", -1);
    else if (floor_of(tl_value_whole(v[0]), step, &out))
        sqlite3_result_int64(c, out);
}

/* ns that two intervals share; one without an end goes on. */
void tl_sql_overlap(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    if (!tl_value_is_number(v[0]) || !tl_value_is_number(v[2]) ||
        (!tl_value_is_number(v[1]) && !tl_value_is_number(v[3])))
        return;
    const int64_t begin = tl_value_whole(v[0]) > tl_value_whole(v[2]) ? tl_value_whole(v[0]) : tl_value_whole(v[2]);
    const int64_t end_a = tl_value_is_number(v[1]) ? tl_value_whole(v[1]) : INT64_MAX,
                  end_b = tl_value_is_number(v[3]) ? tl_value_whole(v[3]) : INT64_MAX;
    const int64_t end = end_a < end_b ? end_a : end_b;
    int64_t out;
    sqlite3_result_int64(c, end <= begin || __builtin_sub_overflow(end, begin, &out) ? 0 : out);
}

/* '1.5ms' -> 1500000 */
void tl_sql_ns(sqlite3_context *c, int n, sqlite3_value **v)
{
    uint64_t out;
    (void)n;
    const char *text = (const char *)sqlite3_value_text(v[0]);
    if (!text)
        return;
    if (!tl_parse_duration(text, &out) || out > INT64_MAX)
        sqlite3_result_error(c, "ns: not a duration such as '1.5ms'", -1);
    else
        sqlite3_result_int64(c, (sqlite3_int64)out);
}

/* '2026-01-31T12:00:00Z' -> 1769860800000000000 */
void tl_sql_utc_ns(sqlite3_context *c, int n, sqlite3_value **v)
{
    uint64_t out;
    (void)n;
    const char *text = (const char *)sqlite3_value_text(v[0]);
    if (!text)
        return;
    if (!tl_parse_utc(text, strlen(text), &out) || out > INT64_MAX)
        sqlite3_result_error(c, "utc_ns: not a date such as '2026-01-31T12:00:00Z'", -1);
    else
        sqlite3_result_int64(c, (sqlite3_int64)out);
}

/* 2026-01-31T12:00:00.000000000Z */
void tl_sql_utc(sqlite3_context *c, int n, sqlite3_value **v)
{
    char text[TEXT_ROOM], day[32];
    struct tm tm;
    int64_t second;
    (void)n;
    if (!tl_value_is_int(v[0]) || !floor_of(sqlite3_value_int64(v[0]), NS_IN_S, &second))
        return;
    const time_t t = (time_t)(second / NS_IN_S);
    if (!gmtime_r(&t, &tm) || strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        return;
    snprintf(text, sizeof text, "%s.%09uZ", day, (unsigned)(sqlite3_value_int64(v[0]) - second));
    tl_give_text(c, text);
}

/* 1:02:03.000000004, of any sign */
void tl_sql_hms(sqlite3_context *c, int n, sqlite3_value **v)
{
    char text[TEXT_ROOM];
    (void)n;
    if (!tl_value_is_number(v[0]))
        return;
    const int64_t time = tl_value_whole(v[0]);
    const uint64_t size = time < 0 ? -(uint64_t)time : (uint64_t)time, second = size / (uint64_t)NS_IN_S;
    snprintf(text, sizeof text, "%s%" PRIu64 ":%02u:%02u.%09u", time < 0 ? "-" : "", second / 3600,
             (unsigned)(second / 60 % 60), (unsigned)(second % 60), (unsigned)(size % (uint64_t)NS_IN_S));
    tl_give_text(c, text);
}

static void free_regex(void *regex)
{
    regfree(regex);
    free(regex);
}

/* X REGEXP Y: regexp(Y, X); POSIX extended. Compiled once for a constant pattern. */
void tl_sql_regexp(sqlite3_context *c, int n, sqlite3_value **v)
{
    enum { PATTERN_MOST = 256 };
    (void)n;
    const char *pattern = (const char *)sqlite3_value_text(v[0]), *text = (const char *)sqlite3_value_text(v[1]);
    regex_t *regex = sqlite3_get_auxdata(c, 0);
    if (!pattern || !text)
        return;
    if (!regex) {
        regex = malloc(sizeof *regex);
        if (!regex) {
            sqlite3_result_error_nomem(c);
            return;
        }
        if (strlen(pattern) > PATTERN_MOST || strpbrk(pattern, "{\\") ||
            regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
            free(regex);
            sqlite3_result_error(c, "regexp: not a pattern, or one with { or \\, or of more than 256 bytes", -1);
            return;
        }
        sqlite3_result_int(c, regexec(regex, text, 0, NULL, 0) == 0);
        sqlite3_set_auxdata(c, 0, regex, free_regex);
        return;
    }
    sqlite3_result_int(c, regexec(regex, text, 0, NULL, 0) == 0);
}

/* The values of a percentile(); SQLite frees the struct, xFinal the array. */
typedef struct values {
    int64_t *value;
    size_t n, capacity;
    double p;
    bool failed;
} values;

void tl_sql_percentile_add(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    values *a = sqlite3_aggregate_context(c, sizeof *a);
    if (!a || a->failed)
        return;
    a->p = sqlite3_value_double(v[1]);
    if (!tl_value_is_number(v[1]) || !(a->p >= 0 && a->p <= 100)) {
        a->failed = true;
        sqlite3_result_error(c, "percentile: the second argument is not between 0 and 100", -1);
        return;
    }
    if (!tl_value_is_number(v[0]))
        return;
    if (a->n >= PERCENTILE_BYTES / sizeof *a->value || !TL_GROW(a->value, a->n, 1, a->capacity)) {
        a->failed = true;
        sqlite3_result_error(c, "percentile: more values than fit into 64 MiB; p50 .. p99 of function_stats need none",
                             -1);
        return;
    }
    a->value[a->n++] = tl_value_whole(v[0]);
}

/* The value of a rank, from 0: the bucket of its highest byte, of the next one, ... Values of other buckets go. That is
 * one pass over all values, and seven over few, whatever they are. */
static int64_t value_of_rank(int64_t *value, size_t n, size_t rank)
{
    const uint64_t sign = UINT64_C(1) << 63; /* as unsigned numbers, negative ones come first */
    for (unsigned shift = 64; shift > 0 && n > 1;) {
        size_t count[256] = {0}, kept = 0;
        uint64_t byte = 0;
        shift -= 8;
        for (size_t i = 0; i < n; i++)
            count[((uint64_t)value[i] ^ sign) >> shift & 255]++;
        for (; rank >= count[byte]; byte++)
            rank -= count[byte];
        for (size_t i = 0; i < n && count[byte] < n; i++)
            if ((((uint64_t)value[i] ^ sign) >> shift & 255) == byte)
                value[kept++] = value[i];
        n = count[byte];
    }
    return value[0];
}

/* Nearest rank: number ceil(p n / 100), from 1. */
void tl_sql_percentile_give(sqlite3_context *c)
{
    values *a = sqlite3_aggregate_context(c, 0);
    if (!a)
        return;
    if (a->n > 0 && !a->failed) {
        const double rank = a->p * (double)a->n / 100;
        size_t at = (size_t)rank;
        at += (double)at < rank;
        at = at < a->n ? at : a->n;
        sqlite3_result_int64(c, value_of_rank(a->value, a->n, at > 0 ? at - 1 : 0));
    }
    free(a->value);
    *a = (values){0};
}

static const struct {
    const char *name;
    int arguments;
    void (*call)(sqlite3_context *c, int n, sqlite3_value **v);
    void (*final)(sqlite3_context *c); /* of an aggregate */
} functions[] = {
#define TL_SQL_FUNCTION(name, call, arguments, what)  {#name, arguments, tl_sql_##name, NULL},
#define TL_SQL_AGGREGATE(name, call, arguments, what) {#name, arguments, tl_sql_##name##_add, tl_sql_##name##_give},
#include "query/sql_functions.def"
#undef TL_SQL_FUNCTION
#undef TL_SQL_AGGREGATE
};

int tl_sqlite_add_functions(tl_query *q, tl_error *e)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    for (size_t i = 0; i < TL_COUNT(functions); i++)
        if (sqlite3_create_function_v2(q->db, functions[i].name, functions[i].arguments, flags, q,
                                       functions[i].final ? NULL : functions[i].call,
                                       functions[i].final ? functions[i].call : NULL, functions[i].final,
                                       NULL) != SQLITE_OK)
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for functions");
    return 0;
}

#endif
