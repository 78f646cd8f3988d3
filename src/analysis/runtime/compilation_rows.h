/* Compilations of functions, and searches for precompiled code, one by one in the order of their begins.
 *
 * Memory: 64 bytes for each, and the names of functions. */
#ifndef TL_ANALYSIS_COMPILATION_ROWS_H
#define TL_ANALYSIS_COMPILATION_ROWS_H

#include "analysis/runtime/latest_names.h"
#include "analysis/runtime/open_begins.h"
#include "analysis/runtime/runtime_events.h"

typedef struct tl_compilation {
    uint64_t begin, end;  /* ticks */
    uint64_t code;        /* the runtime's id */
    uint64_t function;    /* its number: of the first code with this id after the begin, or else of the latest before */
    uint32_t track, next; /* next: that waits for the same code; 0: none, else 1 + its index */
    bool has_code, has_function, ended, is_search, is_failed;
} tl_compilation;

typedef struct tl_compilations {
    tl_compilation *row;
    uint32_t n, capacity;
    tl_names names; /* of functions */
    tl_begins open;
    tl_hash waiting; /* id of code -> 1 + the last row that waits for it */
    tl_hash latest;  /* id of code -> index in function */
    uint64_t *function;
    uint32_t nfunction, function_capacity;
    tl_strings strings;
} tl_compilations;

/* Reads one input into a zeroed table; fini is needed in any case. An end outside of the selected time counts as
 * missing; one whose begin was not selected does not count. Errors: as tl_runtime_read(). */
int tl_compilations_read(tl_compilations *c, tl_source *s, const tl_select *select, tl_error *e);
void tl_compilations_fini(tl_compilations *c);

#endif
