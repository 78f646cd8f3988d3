/* Functions of SQL that engines lack: numbers as text and back, intervals, percentiles; and the list of all. A wrong
 * type gives NULL, as in SQLite's own functions; a value that cannot be meant is an error. */

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
#include "query/sql_call.h"

#define TEXT_ROOM        64u
#define PERCENTILE_BYTES ((size_t)64 << 20) /* of the values of one percentile() */
#define NS_IN_S          INT64_C(1000000000)
_Static_assert(TL_VALUE_NULL == 0, "a zeroed call gives null");

/* With a minus sign where it is negative. */
static void give_shown(tl_sql_call *c, int64_t v, char *(*show)(char *buf, size_t n, uint64_t value))
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

void tl_sql_human(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    const char *unit = c->n > 1 ? tl_value_text(&v[1]) : "ns";
    if (c->n < 1 || c->n > 2)
        tl_sql_call_fail(c, "wrong number of arguments to function human()");
    else if (unit && tl_value_is_number(&v[0]))
        give_shown(c, tl_value_whole(&v[0]), strcmp(unit, "ns") == 0 ? show_ns : show_ticks);
}

void tl_sql_bytes(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    if (tl_value_is_number(&v[0]))
        give_shown(c, tl_value_whole(&v[0]), tl_human_bytes);
}

void tl_sql_hex64(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    char text[TEXT_ROOM];
    if (!tl_value_is_int(&v[0]))
        return;
    snprintf(text, sizeof text, "0x%" PRIx64, (uint64_t)v[0].i64);
    tl_give_text(c, text);
}

void tl_sql_u64(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    char text[TEXT_ROOM];
    if (!tl_value_is_int(&v[0]))
        return;
    snprintf(text, sizeof text, "%" PRIu64, (uint64_t)v[0].i64);
    tl_give_text(c, text);
}

/* The multiple of `step` at or below v. */
static bool floor_of(int64_t v, int64_t step, int64_t *out)
{
    int64_t rest = v % step;
    rest += rest < 0 ? step : 0;
    return !__builtin_sub_overflow(v, rest, out);
}

void tl_sql_floor_to(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    int64_t out;
    if (!tl_value_is_number(&v[0]) || !tl_value_is_number(&v[1]))
        return;
    const int64_t step = tl_value_whole(&v[1]);
    if (step <= 0)
        tl_sql_call_fail(c, "floor_to: the step is not above 0");
    else if (floor_of(tl_value_whole(&v[0]), step, &out))
        tl_give_int(c, out);
}

/* ns that two intervals share; one without an end goes on. */
void tl_sql_overlap(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    if (!tl_value_is_number(&v[0]) || !tl_value_is_number(&v[2]) ||
        (!tl_value_is_number(&v[1]) && !tl_value_is_number(&v[3])))
        return;
    const int64_t begin = tl_value_whole(&v[0]) > tl_value_whole(&v[2]) ? tl_value_whole(&v[0]) : tl_value_whole(&v[2]);
    const int64_t end_a = tl_value_is_number(&v[1]) ? tl_value_whole(&v[1]) : INT64_MAX,
                  end_b = tl_value_is_number(&v[3]) ? tl_value_whole(&v[3]) : INT64_MAX;
    const int64_t end = end_a < end_b ? end_a : end_b;
    int64_t out;
    tl_give_int(c, end <= begin || __builtin_sub_overflow(end, begin, &out) ? 0 : out);
}

/* '1.5ms' -> 1500000 */
void tl_sql_ns(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    uint64_t out;
    const char *text = tl_value_text(&v[0]);
    if (!text)
        return;
    if (!tl_parse_duration(text, &out) || out > INT64_MAX)
        tl_sql_call_fail(c, "ns: not a duration such as '1.5ms'");
    else
        tl_give_int(c, (int64_t)out);
}

/* '2026-01-31T12:00:00Z' -> 1769860800000000000 */
void tl_sql_utc_ns(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    uint64_t out;
    const char *text = tl_value_text(&v[0]);
    if (!text)
        return;
    if (!tl_parse_utc(text, strlen(text), &out) || out > INT64_MAX)
        tl_sql_call_fail(c, "utc_ns: not a date such as '2026-01-31T12:00:00Z'");
    else
        tl_give_int(c, (int64_t)out);
}

/* 2026-01-31T12:00:00.000000000Z */
void tl_sql_utc(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    char text[TEXT_ROOM], day[32];
    struct tm tm;
    int64_t second;
    if (!tl_value_is_int(&v[0]) || !floor_of(v[0].i64, NS_IN_S, &second))
        return;
    const time_t t = (time_t)(second / NS_IN_S);
    if (!gmtime_r(&t, &tm) || strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        return;
    snprintf(text, sizeof text, "%s.%09uZ", day, (unsigned)(v[0].i64 - second));
    tl_give_text(c, text);
}

/* 1:02:03.000000004, of any sign */
void tl_sql_hms(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    char text[TEXT_ROOM];
    if (!tl_value_is_number(&v[0]))
        return;
    const int64_t time = tl_value_whole(&v[0]);
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
void tl_sql_regexp(tl_sql_call *c)
{
    const tl_sql_value *v = c->argument;
    enum { PATTERN_MOST = 256 };
    const char *pattern = tl_value_text(&v[0]), *text = tl_value_text(&v[1]);
    regex_t *regex = c->kept;
    if (!pattern || !text)
        return;
    if (!regex) {
        regex = malloc(sizeof *regex);
        if (!regex) {
            c->no_memory = true;
            return;
        }
        if (strlen(pattern) > PATTERN_MOST || strpbrk(pattern, "{\\") ||
            regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
            free(regex);
            tl_sql_call_fail(c, "regexp: not a pattern, or one with { or \\, or of more than 256 bytes");
            return;
        }
        c->kept = regex;
        c->drop = free_regex;
    }
    tl_give_int(c, regexec(regex, text, 0, NULL, 0) == 0);
}

/* The values of a percentile(). */
typedef struct values {
    int64_t *value;
    size_t n, capacity;
    double p;
    bool failed;
} values;

const size_t tl_sql_percentile_size = sizeof(values);

/* Makes room for n values more. */
static bool grow(tl_sql_call *c, values *a, size_t n)
{
    if (n <= PERCENTILE_BYTES / sizeof *a->value - a->n && TL_GROW(a->value, a->n, n, a->capacity))
        return true;
    a->failed = true;
    tl_sql_call_fail(c, "percentile: more values than fit into 64 MiB; p50 .. p99 of function_stats need none");
    return false;
}

void tl_sql_percentile_add(tl_sql_call *c, void *state)
{
    const tl_sql_value *v = c->argument;
    values *a = state;
    if (a->failed)
        return;
    a->p = tl_value_real(&v[1]);
    if (!tl_value_is_number(&v[1]) || !(a->p >= 0 && a->p <= 100)) {
        a->failed = true;
        tl_sql_call_fail(c, "percentile: the second argument is not between 0 and 100");
        return;
    }
    if (tl_value_is_number(&v[0]) && grow(c, a, 1))
        a->value[a->n++] = tl_value_whole(&v[0]);
}

void tl_sql_percentile_merge(tl_sql_call *c, void *into, const void *from)
{
    values *a = into;
    const values *b = from;
    a->failed = a->failed || b->failed;
    if (a->failed || b->n == 0 || !grow(c, a, b->n))
        return;
    memcpy(a->value + a->n, b->value, b->n * sizeof *b->value);
    a->n += b->n;
    a->p = b->p;
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
void tl_sql_percentile_give(tl_sql_call *c, void *state)
{
    values *a = state;
    if (a->n == 0 || a->failed)
        return;
    const double rank = a->p * (double)a->n / 100;
    size_t at = (size_t)rank;
    at += (double)at < rank;
    at = at < a->n ? at : a->n;
    tl_give_int(c, value_of_rank(a->value, a->n, at > 0 ? at - 1 : 0));
}

void tl_sql_percentile_drop(void *state)
{
    free(((values *)state)->value);
}

/* ---- all of them ---- */

const tl_sql_function tl_sql_functions[] = {
#define TL_SQL_FUNCTION(name, returns, texts, call, arguments, what)                                                   \
    {#name, arguments, TL_VALUE_##returns, texts, tl_sql_##name, NULL, NULL, NULL, NULL, NULL},
#define TL_SQL_AGGREGATE(name, returns, call, arguments, what)                                                         \
    {#name,                                                                                                            \
     arguments,                                                                                                        \
     TL_VALUE_##returns,                                                                                               \
     0,                                                                                                                \
     NULL,                                                                                                             \
     tl_sql_##name##_add,                                                                                              \
     tl_sql_##name##_merge,                                                                                            \
     tl_sql_##name##_give,                                                                                             \
     tl_sql_##name##_drop,                                                                                             \
     &tl_sql_##name##_size},
#include "query/sql_functions.def"
#undef TL_SQL_FUNCTION
#undef TL_SQL_AGGREGATE
};
const uint32_t tl_sql_nfunction = TL_COUNT(tl_sql_functions);
