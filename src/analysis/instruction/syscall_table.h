/* System calls: how often each was made and failed; optionally, a list of all calls with their arguments.
 *
 * Consecutive arguments are a call, the first of them its number. The next result of
 * the track is its result; results after unselected events belong to no call.
 *
 * The list shows the targets of pointers as last seen in the track's loads and stores, and forgets what a call may have
 * changed. Other threads may have changed it, too: a string is what the track last saw.
 *
 * Memory: up to 112 bytes per number, at most TL_SYSCALL_ROWS_MAX; with the list up to 224 bytes plus its text per
 * call, at most TL_SYSCALL_LIST_MAX calls, and up to 80 MiB per worker for the memory seen. */
#ifndef TL_ANALYSIS_SYSCALL_TABLE_H
#define TL_ANALYSIS_SYSCALL_TABLE_H

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "analysis/instruction/syscall_text.h"
#include "base/arena.h"
#include "base/hash.h"

#define TL_SYSCALL_ROWS_MAX  (1u << 20) /* distinct numbers: Linux has a few hundred */
#define TL_SYSCALL_LIST_MAX  (1u << 22) /* calls in the list: more is TL_ENOMEM; select a part */
#define TL_SYSCALL_PAGES_MAX (1u << 14) /* of memory: beyond this, everything is forgotten */

typedef struct tl_syscall_row {
    uint64_t number, count, errors;
} tl_syscall_row;

/* A call in the list. */
typedef struct tl_syscall {
    uint64_t ts;   /* instructions of its track before the one that made it, or 0 */
    uint64_t rank; /* its position in all tracks, if the trace knows; else 0 */
    uint64_t number, argument[TL_CALL_ARGUMENTS], result;
    const char *path, *track; /* of the trace; name */
    const char *text;         /* without the result */
    uint32_t track_index;
    uint8_t n; /* arguments */
    bool has_result;
} tl_syscall;

typedef struct tl_syscall_options {
    bool list;
    uint32_t most; /* calls in the list; 0: TL_SYSCALL_LIST_MAX. More is TL_ELIMIT */
} tl_syscall_options;

typedef struct tl_syscalls {
    tl_syscall_row *row; /* unordered */
    uint32_t n, capacity;
    tl_hash index;
    bool list;
    uint32_t most; /* as in the options */
    tl_syscall *call;
    uint32_t ncalls, call_capacity;
    tl_arena texts;
    tl_strings names;
    /* State of reading: */
    tl_insn_classes classes;
    const tl_trace *trace;
    const char *path;
    bool inside;                      /* the last event was an argument */
    uint32_t waiting;                 /* row of the call without a result so far; TL_HASH_NONE: none */
    struct tl_syscall_memory *memory; /* for the list, see syscall_memory.h */
    tl_call_values now;               /* for the list: the current call */
    tl_syscall head;                  /* of that: everything but its text */
    enum { TL_CALL_NONE, TL_CALL_TOLD, TL_CALL_LISTED } stage; /* listed: only its result is missing */
} tl_syscalls;

/* Options: a tl_syscall_options, or NULL. With `list`, use tl_syscall_list_table, which reads the tape. */
extern const tl_insn_table tl_syscall_table, tl_syscall_list_table;

/* Indexes of rows, most calls first; of calls by trace, then by rank, or by track and time. The caller frees them; NULL
 * when memory runs out. */
uint32_t *tl_syscalls_sort(const tl_syscalls *s);
uint32_t *tl_syscalls_sort_list(const tl_syscalls *s);

#endif
