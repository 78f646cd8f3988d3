/* Spans, instants and counters placed by hand, and control of the recorder from inside of a program.
 *
 *   void load(const char *url)
 *   {
 *       TL_RT_SPAN_F("load page", TL_RT_FIELD(text, "url", url));    from here to the end of the block
 *       if (!cached(url))
 *           TL_RT_INSTANT("cache miss");
 *       TL_RT_COUNTER("open pages", ++pages);
 *   }
 *
 * For C11 and C++11, gcc and clang, Linux on x86-64 and AArch64. Link with traceloom-rt: pkg-config --libs
 * traceloom-rt. Names are string literals, or other constants: what they point at must stay. Any thread and any signal
 * handler may use the macros, which keep errno; each function says where it may be called.
 *
 * While nothing is recorded, each of them costs a load and a branch, and values of fields are not evaluated. With
 * TRACELOOM_RT_DISABLE defined they do nothing: they evaluate no value and need no symbol of the library. */
#ifndef TRACELOOM_RT_H
#define TRACELOOM_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the recorder ---- */

enum tl_rt_record_states {
    TL_RT_OFF,     /* inert: TRACELOOM is not in the environment, and it was not started */
    TL_RT_WAITING, /* not recording: started off, or stopped */
    TL_RT_ON,      /* recording */
    TL_RT_OVER     /* finished: the program ends, or recording failed for good */
};

#ifndef TRACELOOM_RT_DISABLE

#define TL_RT_API __attribute__((visibility("default")))

/* Begins to record, or continues after tl_rt_record_stop(). Options come from the environment variable TRACELOOM;
 * without it, mode profile, PROGRAM.PROCESS.tlp in the current folder. 0, also if it was recording already; -EINVAL:
 * recording is over; else -errno, after a line to standard error that says why, and the program goes on unrecorded. Any
 * thread; not from signal handlers. */
TL_RT_API int tl_rt_record_start(void);
/* Stops recording, and ends the open calls. The file stays open for another start, and gets its final name when the
 * program ends. 0, also if nothing was recorded; else -errno. Any thread; not from signal handlers. */
TL_RT_API int tl_rt_record_stop(void);
/* Writes what was recorded so far, so that it can be read while recording continues. 0 or -errno; -EINVAL: nothing is
 * being recorded. Any thread; not from signal handlers. */
TL_RT_API int tl_rt_record_flush(void);
/* The state of the recorder: one of tl_rt_record_states. From anywhere. */
TL_RT_API int tl_rt_record_state(void);

#else

static inline int tl_rt_record_start(void)
{
    return 0;
}
static inline int tl_rt_record_stop(void)
{
    return 0;
}
static inline int tl_rt_record_flush(void)
{
    return 0;
}
static inline int tl_rt_record_state(void)
{
    return TL_RT_OFF;
}

#endif

/* ---- used by the macros, not directly ---- */

/* A recorded field. */
struct tl_rt_field {
    const char *name;
    uint32_t type; /* enum tl_rt_type */
};
enum tl_rt_type { TL_RT_I64 = 1, TL_RT_U64, TL_RT_F64, TL_RT_TEXT };
union tl_rt_value {
    int64_t i;
    uint64_t u;
    double f;
    const char *s;
};

/* A place in the source: static, made by the macros. */
enum tl_rt_kind { TL_RT_SPAN_SITE, TL_RT_INSTANT_SITE, TL_RT_COUNTER_SITE };
struct tl_rt_site {
    const char *name;
    const struct tl_rt_field *field;
    uint32_t nfield, kind;
    uint32_t id; /* assigned at first use */
    uint32_t line;
    const char *file;
};

/* A span that is open. */
struct tl_rt_span {
    struct tl_rt_site *site; /* NULL: not recorded */
    uintptr_t sp;
};

#ifndef TRACELOOM_RT_DISABLE

extern TL_RT_API uint32_t tl_rt_on; /* 0: nothing is recorded */
TL_RT_API void tl_rt_span_enter(struct tl_rt_site *site, uintptr_t sp, const union tl_rt_value *value);
TL_RT_API void tl_rt_span_leave(struct tl_rt_site *site, uintptr_t sp, uintptr_t keep);
TL_RT_API void tl_rt_event(struct tl_rt_site *site, const union tl_rt_value *value);

#define TL_RT_INLINE static inline __attribute__((always_inline, unused, no_instrument_function))

TL_RT_INLINE int tl_rt_recording(void)
{
    return (int)__builtin_expect(__atomic_load_n(&tl_rt_on, __ATOMIC_RELAXED), 0);
}

/* The end of this function's stack frame: its callees are below. */
TL_RT_INLINE uintptr_t tl_rt_sp(void)
{
#if defined(__x86_64__)
    uintptr_t sp;
    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
    return sp;
#elif defined(__aarch64__)
    uintptr_t sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

TL_RT_INLINE struct tl_rt_span tl_rt_span_begin(struct tl_rt_site *site, const union tl_rt_value *value)
{
    struct tl_rt_span s;
    s.site = site;
    s.sp = tl_rt_sp();
    tl_rt_span_enter(site, s.sp, value);
    return s;
}

TL_RT_INLINE void tl_rt_span_end(struct tl_rt_span *s)
{
    if (__builtin_expect(s->site != NULL, 0)) {
        tl_rt_span_leave(s->site, s->sp, tl_rt_sp());
        s->site = NULL;
    }
}

/* Values of fields, by type. */
TL_RT_INLINE union tl_rt_value tl_rt_value_i64(int64_t v)
{
    union tl_rt_value x;
    x.i = v;
    return x;
}
TL_RT_INLINE union tl_rt_value tl_rt_value_u64(uint64_t v)
{
    union tl_rt_value x;
    x.u = v;
    return x;
}
TL_RT_INLINE union tl_rt_value tl_rt_value_f64(double v)
{
    union tl_rt_value x;
    x.f = v;
    return x;
}
TL_RT_INLINE union tl_rt_value tl_rt_value_text(const char *v)
{
    union tl_rt_value x;
    x.s = v;
    return x;
}

#define TL_RT_TYPE_i64  TL_RT_I64
#define TL_RT_TYPE_u64  TL_RT_U64
#define TL_RT_TYPE_f64  TL_RT_F64
#define TL_RT_TYPE_text TL_RT_TEXT

#endif

#ifdef __cplusplus
}
#endif

/* ---- spans, instants, counters ---- */

/* TL_RT_SPAN(name)              a span from here to the end of the block, however that is left: exceptions included;
 *                               in C, longjmp() out of it ends it at the next event further out
 * TL_RT_SPAN_F(name, field...)  the same with 1 to 8 fields
 * TL_RT_BEGIN(span, name)       declares `span` and begins it ...
 * TL_RT_BEGIN_F(span, name, field...)
 * TL_RT_END(span)               ... and this ends it, in the same function. Without it, the span or call around it does
 * TL_RT_INSTANT(name)           something happened
 * TL_RT_INSTANT_F(name, field...)
 * TL_RT_COUNTER(name, value)    a quantity has a new value: any integer or floating-point number
 * TL_RT_COUNTER_F(name, field...) several quantities that belong together
 *
 * TL_RT_FIELD(type, name, value) is a field; type: i64, u64, f64 or text. Texts end with a zero, are copied, and cut at
 * 1000 bytes; NULL is an empty one. Each macro is a statement, on its own line. */
#ifndef TRACELOOM_RT_DISABLE

#define TL_RT_FIELD(type, name, value) (type, name, value)

#define TL_RT_SPAN(name)                                                                                               \
    TL_RT_SITE_(TL_RT_NAME_(site), name, TL_RT_SPAN_SITE);                                                             \
    TL_RT_SCOPED_ struct tl_rt_scope_ TL_RT_NAME_(span) = {{NULL, 0}};                                                 \
    TL_RT_START_(TL_RT_NAME_(span).span, TL_RT_NAME_(site))
#define TL_RT_SPAN_F(name, ...)                                                                                        \
    TL_RT_SITE_F_(TL_RT_NAME_(site), TL_RT_NAME_(field), name, TL_RT_SPAN_SITE, __VA_ARGS__);                          \
    TL_RT_SCOPED_ struct tl_rt_scope_ TL_RT_NAME_(span) = {{NULL, 0}};                                                 \
    TL_RT_START_F_(TL_RT_NAME_(span).span, TL_RT_NAME_(site), __VA_ARGS__)

#define TL_RT_BEGIN(variable, name)                                                                                    \
    TL_RT_SITE_(TL_RT_NAME_(site), name, TL_RT_SPAN_SITE);                                                             \
    struct tl_rt_span variable = {NULL, 0};                                                                            \
    TL_RT_START_(variable, TL_RT_NAME_(site))
#define TL_RT_BEGIN_F(variable, name, ...)                                                                             \
    TL_RT_SITE_F_(TL_RT_NAME_(site), TL_RT_NAME_(field), name, TL_RT_SPAN_SITE, __VA_ARGS__);                          \
    struct tl_rt_span variable = {NULL, 0};                                                                            \
    TL_RT_START_F_(variable, TL_RT_NAME_(site), __VA_ARGS__)
#define TL_RT_END(variable) tl_rt_span_end(&(variable))

#define TL_RT_INSTANT(name)                                                                                            \
    do {                                                                                                               \
        TL_RT_SITE_(tl_rt_site_, name, TL_RT_INSTANT_SITE);                                                            \
        if (tl_rt_recording())                                                                                         \
            tl_rt_event(&tl_rt_site_, NULL);                                                                           \
    } while (0)
#define TL_RT_INSTANT_F(name, ...) TL_RT_EVENT_F_(name, TL_RT_INSTANT_SITE, __VA_ARGS__)
#define TL_RT_COUNTER(name, value)                                                                                     \
    do {                                                                                                               \
        static const struct tl_rt_field tl_rt_field_[] = {{"value", TL_RT_NUMBER_TYPE_(value)}};                       \
        static struct tl_rt_site tl_rt_site_ = {name, tl_rt_field_, 1, TL_RT_COUNTER_SITE, 0, __LINE__, __FILE__};     \
        if (tl_rt_recording()) {                                                                                       \
            const union tl_rt_value tl_rt_value_ = TL_RT_NUMBER_(value);                                               \
            tl_rt_event(&tl_rt_site_, &tl_rt_value_);                                                                  \
        }                                                                                                              \
    } while (0)
#define TL_RT_COUNTER_F(name, ...) TL_RT_EVENT_F_(name, TL_RT_COUNTER_SITE, __VA_ARGS__)

#ifdef __cplusplus

struct tl_rt_scope_ {
    struct tl_rt_span span;
    __attribute__((always_inline, no_instrument_function)) ~tl_rt_scope_()
    {
        tl_rt_span_end(&span);
    }
};
#define TL_RT_SCOPED_

/* The type and the value of a number. The plus applies the usual promotions: a bool becomes an int, a const or volatile
 * number a plain value. */
template <typename T> struct tl_rt_number_ {
    static const bool is_float = static_cast<T>(0.5) != static_cast<T>(0);
    static const bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    static const uint32_t type = is_float ? TL_RT_F64 : is_signed ? TL_RT_I64 : TL_RT_U64;
};
template <typename T>
static inline __attribute__((always_inline, no_instrument_function)) union tl_rt_value tl_rt_number_of_(T v)
{
    union tl_rt_value x;
    if (tl_rt_number_<T>::is_float)
        x.f = static_cast<double>(v);
    else
        x.u = static_cast<uint64_t>(v);
    return x;
}
#define TL_RT_NUMBER_TYPE_(v) tl_rt_number_<decltype(+(v))>::type
#define TL_RT_NUMBER_(v)      tl_rt_number_of_(+(v))

#else

struct tl_rt_scope_ {
    struct tl_rt_span span;
};
TL_RT_INLINE void tl_rt_scope_end_(struct tl_rt_scope_ *s)
{
    tl_rt_span_end(&s->span);
}
#define TL_RT_SCOPED_ __attribute__((cleanup(tl_rt_scope_end_)))

#define TL_RT_BY_TYPE_(v, f64, u64, i64)                                                                               \
    _Generic((v), float                                                                                                \
             : f64, double                                                                                             \
             : f64, long double                                                                                        \
             : f64, unsigned                                                                                           \
             : u64, unsigned long                                                                                      \
             : u64, unsigned long long                                                                                 \
             : u64, default                                                                                            \
             : i64)
#define TL_RT_NUMBER_TYPE_(v) TL_RT_BY_TYPE_(v, TL_RT_F64, TL_RT_U64, TL_RT_I64)
#define TL_RT_NUMBER_(v)      TL_RT_BY_TYPE_(v, tl_rt_value_f64, tl_rt_value_u64, tl_rt_value_i64)(v)

#endif

/* ---- how the macros are made ---- */

#define TL_RT_PASTE2_(a, b) a##b
#define TL_RT_PASTE_(a, b)  TL_RT_PASTE2_(a, b)
#define TL_RT_NAME_(what)   TL_RT_PASTE_(tl_rt_##what##_, __LINE__)

#define TL_RT_SITE_(site, name, kind) static struct tl_rt_site site = {name, NULL, 0, kind, 0, __LINE__, __FILE__}
#define TL_RT_SITE_F_(site, field, name, kind, ...)                                                                    \
    static const struct tl_rt_field field[] = {TL_RT_EACH_(TL_RT_DECLARE_, __VA_ARGS__)};                              \
    static struct tl_rt_site site = {name, field, sizeof field / sizeof *field, kind, 0, __LINE__, __FILE__}
#define TL_RT_START_(span, site)                                                                                       \
    do {                                                                                                               \
        if (tl_rt_recording())                                                                                         \
            (span) = tl_rt_span_begin(&(site), NULL);                                                                  \
    } while (0)
#define TL_RT_START_F_(span, site, ...)                                                                                \
    do {                                                                                                               \
        if (tl_rt_recording()) {                                                                                       \
            const union tl_rt_value tl_rt_values_[] = {TL_RT_EACH_(TL_RT_VALUE_, __VA_ARGS__)};                        \
            (span) = tl_rt_span_begin(&(site), tl_rt_values_);                                                         \
        }                                                                                                              \
    } while (0)
#define TL_RT_EVENT_F_(name, kind, ...)                                                                                \
    do {                                                                                                               \
        TL_RT_SITE_F_(tl_rt_site_, tl_rt_field_, name, kind, __VA_ARGS__);                                             \
        if (tl_rt_recording()) {                                                                                       \
            const union tl_rt_value tl_rt_values_[] = {TL_RT_EACH_(TL_RT_VALUE_, __VA_ARGS__)};                        \
            tl_rt_event(&tl_rt_site_, tl_rt_values_);                                                                  \
        }                                                                                                              \
    } while (0)

/* A field in brackets: its declaration, and its value. */
#define TL_RT_DECLARE_(field) TL_RT_DECLARE2_ field
#define TL_RT_DECLARE2_(type, name, value)                                                                             \
    {                                                                                                                  \
        name, TL_RT_TYPE_##type                                                                                        \
    }
#define TL_RT_VALUE_(field)              TL_RT_VALUE2_ field
#define TL_RT_VALUE2_(type, name, value) tl_rt_value_##type(value)
#define TL_RT_EACH_(f, ...)                                                                                            \
    TL_RT_PASTE_(TL_RT_EACH, TL_RT_COUNT_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0))(f, __VA_ARGS__)
#define TL_RT_COUNT_(a, b, c, d, e, g, h, i, n, ...) n
#define TL_RT_EACH1(f, a)                            f(a)
#define TL_RT_EACH2(f, a, ...)                       f(a), TL_RT_EACH1(f, __VA_ARGS__)
#define TL_RT_EACH3(f, a, ...)                       f(a), TL_RT_EACH2(f, __VA_ARGS__)
#define TL_RT_EACH4(f, a, ...)                       f(a), TL_RT_EACH3(f, __VA_ARGS__)
#define TL_RT_EACH5(f, a, ...)                       f(a), TL_RT_EACH4(f, __VA_ARGS__)
#define TL_RT_EACH6(f, a, ...)                       f(a), TL_RT_EACH5(f, __VA_ARGS__)
#define TL_RT_EACH7(f, a, ...)                       f(a), TL_RT_EACH6(f, __VA_ARGS__)
#define TL_RT_EACH8(f, a, ...)                       f(a), TL_RT_EACH7(f, __VA_ARGS__)

#else

#define TL_RT_NOTHING_                     ((void)0)
#define TL_RT_FIELD(type, name, value)     TL_RT_NOTHING_
#define TL_RT_SPAN(name)                   TL_RT_NOTHING_
#define TL_RT_SPAN_F(name, ...)            TL_RT_NOTHING_
#define TL_RT_BEGIN(variable, name)        TL_RT_NOTHING_
#define TL_RT_BEGIN_F(variable, name, ...) TL_RT_NOTHING_
#define TL_RT_END(variable)                TL_RT_NOTHING_
#define TL_RT_INSTANT(name)                TL_RT_NOTHING_
#define TL_RT_INSTANT_F(name, ...)         TL_RT_NOTHING_
#define TL_RT_COUNTER(name, value)         TL_RT_NOTHING_
#define TL_RT_COUNTER_F(name, ...)         TL_RT_NOTHING_

#endif
#endif
