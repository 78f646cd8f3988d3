/* Hand-placed spans, instants and counters, and control of the recorder from inside of a program. */
#ifndef TRACELOOM_RT_H
#define TRACELOOM_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A field of what is recorded. */
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

/* A place in the source; static, made by the macros. */
enum tl_rt_kind { TL_RT_SPAN_SITE, TL_RT_INSTANT_SITE, TL_RT_COUNTER_SITE };
struct tl_rt_site {
    const char *name;
    const struct tl_rt_field *field;
    uint32_t nfield, kind;
    uint32_t id; /* given when first used */
    uint32_t line;
    const char *file;
};

#ifdef __cplusplus
}
#endif
#endif
