/* System calls: how often each was made and failed; and, if wanted, a list of all calls with what they were given.
 *
 * A row of arguments without another event between is a call, whose number is the first of them. The next result of
 * the track is its result; what comes after events that were not chosen belongs to no call.
 *
 * The list shows what lies behind pointers as the loads and stores of the track last showed it; what a call may have
 * changed is forgotten behind it. Other threads may have changed it, too: a string is what the track knew.
 *
 * Memory: up to 112 bytes a number, at most TL_SYSCALL_ROWS_MAX; with the list up to 224 bytes and the text of each
 * call, at most TL_SYSCALL_LIST_MAX calls, and up to 80 MiB a worker for memory as it was seen. */
#ifndef TL_ANALYSIS_SYSCALL_TABLE_H
#define TL_ANALYSIS_SYSCALL_TABLE_H

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "analysis/instruction/syscall_text.h"
#include "base/arena.h"
#include "base/hash.h"

#define TL_SYSCALL_ROWS_MAX  (1u << 20) /* different numbers: Linux has some hundred */
#define TL_SYSCALL_LIST_MAX  (1u << 22) /* calls in the list: more is TL_ENOMEM, choose a part */
#define TL_SYSCALL_PAGES_MAX (1u << 14) /* of memory: where there are more, all is forgotten */

typedef struct tl_syscall_row {
    uint64_t number, count, errors;
} tl_syscall_row;

/* A call of the list. */
typedef struct tl_syscall {
    uint64_t ts;   /* instructions of its track before the one that made it, or 0 */
    uint64_t rank; /* where in all tracks, if the trace knows; else 0 */
    uint64_t number, argument[TL_CALL_ARGUMENTS], result;
    const char *path, *track; /* of the trace; name */
    const char *text;         /* without the result */
    uint32_t track_index;
    uint8_t n; /* arguments */
    bool has_result;
} tl_syscall;

typedef struct tl_syscall_options {
    bool list;
} tl_syscall_options;

typedef struct tl_syscalls {
    tl_syscall_row *row; /* in no order */
    uint32_t n, capacity;
    tl_hash index;
    bool list;
    tl_syscall *call;
    uint32_t ncalls, call_capacity;
    tl_arena texts;
    tl_strings names;
    /* While reading: */
    tl_insn_classes classes;
    const tl_trace *trace;
    const char *path;
    bool inside;                      /* the last event was an argument */
    uint32_t waiting;                 /* row of the call that has no result yet; TL_HASH_NONE: none */
    struct tl_syscall_memory *memory; /* of the list, see syscall_memory.h */
    tl_call_values now;               /* of the list: the call that is being told */
    tl_syscall head;                  /* of that: all but its text */
    enum { TL_CALL_NONE, TL_CALL_TOLD, TL_CALL_LISTED } stage; /* listed: it waits for its result only */
} tl_syscalls;

/* Options: a tl_syscall_options, or NULL. With `list` it has to be tl_syscall_list_table, which looks at the tape. */
extern const tl_insn_table tl_syscall_table, tl_syscall_list_table;

/* Indexes of rows, those with most calls first; of calls by trace, and there by rank, or by track and time. To be
 * freed; NULL when memory runs out. */
uint32_t *tl_syscalls_sort(const tl_syscalls *s);
uint32_t *tl_syscalls_sort_list(const tl_syscalls *s);

#endif
