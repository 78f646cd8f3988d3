/* Functions that a runtime compiled, or found precompiled. Times are ns (or ticks, see tl_runtime_time()).
 *
 * Memory: 144 bytes per method, about 100 for each code id and for each open compilation, 24 for each distinct
 * duration. */
#ifndef TL_ANALYSIS_JIT_TABLE_H
#define TL_ANALYSIS_JIT_TABLE_H

#include "analysis/runtime/quantiles.h"
#include "analysis/runtime/runtime_events.h"

/* A code id and a function that it belonged to: ids may be reused. */
typedef struct tl_jit_method {
    uint64_t id, function; /* the runtime's id of the code; the function's number */
    bool has_id, has_function;
    const char *name; /* or NULL */
    uint64_t compiled, searched;
    uint64_t failed; /* of those compiled */
    tl_sum total;    /* of compilations; nested ones count in both */
    uint64_t max;
    tl_sum code_bytes; /* of the last */
    uint64_t order;    /* of first use */
} tl_jit_method;

typedef struct tl_jit_thread {
    const char *name;
    uint64_t compiled, searched, failed;
    tl_sum total;
    uint64_t max;
} tl_jit_thread;

typedef struct tl_jit {
    bool by_name; /* set before the first of several inputs: methods are merged by name, and ids that differ are dropped
                   */
    tl_jit_method *method;
    uint32_t n, capacity;
    tl_jit_thread *thread;
    uint32_t nthread, thread_capacity;
    tl_quantile_set compile; /* durations of all compilations that ended */
    uint64_t stray_ends;
    uint64_t open; /* begins without end: of compilations and of searches */
    uint64_t span; /* see tl_gc */
    tl_strings strings;
    tl_hash methods, threads; /* by name */
    uint64_t order;
} tl_jit;

/* Adds an input. An end outside of the selected time counts as missing; one whose begin was not selected does not
 * count. Names and code count at any time. Errors: as tl_runtime_read(). */
int tl_jit_read(void *table, tl_source *s, const tl_select *select, tl_error *e);

typedef enum tl_jit_order {
    TL_JIT_BY_ID,
    TL_JIT_BY_TOTAL,
    TL_JIT_BY_CALLS,
    TL_JIT_BY_MAX,
    TL_JIT_BY_NAME
} tl_jit_order;
/* After the last input: sorts the methods. */
void tl_jit_sort(tl_jit *t, tl_jit_order order);
void tl_jit_fini(void *table);

#endif
