/* Rows of calls, in columns: what a tl_callstack gives instead of adding calls to a profile. */
#ifndef TL_OP_CALL_ROWS_H
#define TL_OP_CALL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define TL_CALL_NONE      UINT32_MAX /* no caller, no known place */
#define TL_CALL_NO_ID     UINT64_MAX /* no parent; or no exit: an outer call's exit closed it, or nothing */
#define TL_CALL_ROWS_MOST 2048u      /* rows of a block that is handed on */

enum tl_call_flags {
    TL_CALL_OUTERMOST = 1, /* no call of the same function is further out */
    TL_CALL_OPEN = 2,      /* it never ended: `end` is `begin`, and `self` 0 */
    TL_CALL_LEFT_OUT = 4   /* not selected, but asked for: tl_call_rows.all */
};

/* The columns. Ids of events are those of tl_event_id(), unless the caller of the matcher has others. */
#define TL_CALL_COLUMNS(X)                                                                                             \
    X(uint64_t, id)       /* of the entry's event */                                                                   \
    X(uint64_t, exit)     /* of the exit, or TL_CALL_NO_ID */                                                          \
    X(uint64_t, parent)   /* of the caller's entry, or TL_CALL_NO_ID */                                                \
    X(uint64_t, begin)    /* ticks */                                                                                  \
    X(uint64_t, end)      /* ticks; `begin` where the clock went back */                                               \
    X(uint64_t, self)     /* ticks without callees */                                                                  \
    X(uint32_t, function) /* index in the matcher's profile */                                                         \
    X(uint32_t, caller)   /* the same, or TL_CALL_NONE */                                                              \
    X(uint32_t, place)    /* number in the profile's canonical order, or TL_CALL_NONE */                               \
    X(uint32_t, track)                                                                                                 \
    X(uint32_t, depth) /* 1: outermost */                                                                              \
    X(int32_t, cpu)    /* of the entry; -1: unknown */                                                                 \
    X(uint8_t, flags)

/* Columns that a reader may do without, so that they are not filled. */
enum tl_call_parts {
    TL_CALL_IDS = 1,       /* id, exit, parent, cpu */
    TL_CALL_TIMES = 2,     /* begin, end, self */
    TL_CALL_FUNCTIONS = 4, /* function, caller */
    TL_CALL_POSITIONS = 8, /* place, track, depth */
    TL_CALL_FLAGS = 16,
    TL_CALL_ALL_PARTS = 31 /* the rows are only counted */
};

/* A zeroed one is empty. */
typedef struct tl_call_rows {
    uint32_t n, capacity;
    unsigned without; /* enum tl_call_parts */
    bool all;         /* calls that are not selected are rows, too */
#define TL_CALL_MEMBER(type, name) type *name;
    TL_CALL_COLUMNS(TL_CALL_MEMBER)
#undef TL_CALL_MEMBER
    void *memory; /* of all columns; NULL: they are borrowed */
} tl_call_rows;

/* Makes room for more rows. False when memory runs out. */
bool tl_call_rows_grow(tl_call_rows *r);
/* Borrows rows from .. from+n-1. */
tl_call_rows tl_call_rows_part(const tl_call_rows *r, uint32_t from, uint32_t n);
/* Empties it, and gives back memory that only an unusual number of rows needed. */
void tl_call_rows_clear(tl_call_rows *r);
void tl_call_rows_fini(tl_call_rows *r);

#endif
