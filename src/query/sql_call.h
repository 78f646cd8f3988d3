/* A call of a function of SQL, whichever engine makes it. */
#ifndef TL_QUERY_SQL_CALL_H
#define TL_QUERY_SQL_CALL_H

#include "base/protobuf.h"
#include "query/query_impl.h"

/* The caller zeroes it, and sets the first three; tl_sql_call_fini() is needed in any case. Without a result it is
 * null. */
typedef struct tl_sql_call {
    tl_query *query;
    const tl_sql_value *argument; /* [n] */
    uint32_t n;
    /* Of a function that keeps something for a constant first argument: what it kept, and how to free it. The caller
     * passes both on from call to call, and drops them where the argument may be another one. */
    void *kept;
    void (*drop)(void *kept);
    tl_value_kind kind; /* of the result */
    int64_t i64;
    tl_pb bytes;   /* text without NUL, or a blob; of an error its message */
    bool is_error; /* the arguments are wrong */
    bool no_memory;
} tl_sql_call;

static inline void tl_sql_call_fini(tl_sql_call *c)
{
    tl_pb_fini(&c->bytes);
}

static inline bool tl_sql_failed(const tl_sql_call *c)
{
    return c->no_memory || c->bytes.failed || c->is_error;
}

/* Empty for the next call with the same `kept`. */
static inline void tl_sql_call_again(tl_sql_call *c)
{
    tl_pb_clear(&c->bytes);
    c->kind = TL_VALUE_NULL;
    c->is_error = c->no_memory = false;
}

static inline bool tl_value_is_int(const tl_sql_value *v)
{
    return v->kind == TL_VALUE_INTEGER;
}

static inline bool tl_value_is_number(const tl_sql_value *v)
{
    return v->kind == TL_VALUE_INTEGER || v->kind == TL_VALUE_REAL;
}

static inline double tl_value_real(const tl_sql_value *v)
{
    return v->kind == TL_VALUE_INTEGER ? (double)v->i64 : v->kind == TL_VALUE_REAL ? v->real : 0;
}

/* A number as an int64_t, rounded and clamped. */
static inline int64_t tl_value_whole(const tl_sql_value *v)
{
    if (tl_value_is_int(v))
        return v->i64;
    const double d = tl_value_real(v);
    return d >= 9.2e18 ? INT64_MAX : d <= -9.2e18 ? INT64_MIN : (int64_t)(d < 0 ? d - 0.5 : d + 0.5);
}

/* Text, or bytes as text; NULL of null. Numbers come as text from engines where a function takes only that. */
static inline const char *tl_value_text(const tl_sql_value *v)
{
    return v->kind == TL_VALUE_TEXT || v->kind == TL_VALUE_BLOB ? v->text : NULL;
}

static inline void tl_give_int(tl_sql_call *c, int64_t v)
{
    c->kind = TL_VALUE_INTEGER;
    c->i64 = v;
}

static inline void tl_give_text(tl_sql_call *c, const char *text)
{
    c->kind = TL_VALUE_TEXT;
    tl_pb_text(&c->bytes, text);
}

static inline void tl_sql_call_fail(tl_sql_call *c, const char *message)
{
    tl_pb_clear(&c->bytes);
    tl_pb_text(&c->bytes, message);
    c->is_error = true;
}

#define TL_SQL_ARGUMENTS 4u /* more has none of sql_functions.def */

/* A function over all rows of a group has a state of *size bytes, zeroed at first. */
typedef struct tl_sql_function {
    const char *name;
    int arguments;         /* -1: one or two */
    tl_value_kind returns; /* if not null */
    uint32_t texts;        /* 1 << i: argument i is used as text, whatever it is */
    void (*call)(tl_sql_call *c);
    /* For aggregates only: */
    void (*add)(tl_sql_call *c, void *state);
    void (*merge)(tl_sql_call *c, void *into, const void *from);
    void (*give)(tl_sql_call *c, void *state);
    void (*drop)(void *state);
    const size_t *size;
} tl_sql_function;

extern const tl_sql_function tl_sql_functions[];
extern const uint32_t tl_sql_nfunction;

/* Those of sql_functions.def. */
#define TL_SQL_FUNCTION(name, returns, texts, call, arguments, what) void tl_sql_##name(tl_sql_call *c);
#define TL_SQL_AGGREGATE(name, returns, call, arguments, what)                                                         \
    void tl_sql_##name##_add(tl_sql_call *c, void *state);                                                             \
    void tl_sql_##name##_merge(tl_sql_call *c, void *into, const void *from);                                          \
    void tl_sql_##name##_give(tl_sql_call *c, void *state);                                                            \
    void tl_sql_##name##_drop(void *state);                                                                            \
    extern const size_t tl_sql_##name##_size;
#include "query/sql_functions.def"
#undef TL_SQL_FUNCTION
#undef TL_SQL_AGGREGATE

#endif
