/* Sums of objects by type. Memory: 136 bytes per type. */
#ifndef TL_ANALYSIS_TYPE_ROWS_H
#define TL_ANALYSIS_TYPE_ROWS_H

#include "analysis/runtime/latest_names.h"
#include "base/wide_sum.h"

typedef struct tl_type_row {
    uint64_t type; /* its number, if has_type */
    bool has_type;
    const char *name; /* or NULL */
    tl_sum count, bytes;
    tl_sum count_before, bytes_before; /* of growth: the same at the begin */
    uint32_t order;                    /* of first use */
} tl_type_row;

/* A zeroed table is empty. */
typedef struct tl_type_rows {
    tl_type_row *row;
    uint32_t n, capacity;
    tl_hash index;    /* number -> row */
    tl_hash by_name;  /* interned name -> row, see tl_type_rows_merge() */
    uint32_t no_type; /* 1 + the row of objects of unknown type */
} tl_type_rows;

/* The row of a type, new or not; valid until the next. Errors: TL_ENOMEM. */
int tl_type_rows_get(tl_type_rows *t, const tl_value *type, tl_type_row **out, tl_error *e);
/* Forgets all rows. */
void tl_type_rows_clear(tl_type_rows *t);
/* Sets the names of all rows. */
void tl_type_rows_name(tl_type_rows *t, const tl_names *names);
/* Adds rows of another input, merging by name; rows without a name stay separate. Names must be interned in the same
 * set. Errors: TL_ENOMEM. */
int tl_type_rows_merge(tl_type_rows *into, const tl_type_rows *from, tl_error *e);

typedef enum tl_type_order { TL_TYPES_BY_BYTES, TL_TYPES_BY_COUNT, TL_TYPES_BY_NAME, TL_TYPES_BY_GROWTH } tl_type_order;
/* Sorts; afterwards rows cannot be looked up. */
void tl_type_rows_sort(tl_type_rows *t, tl_type_order order);
/* Sums of all rows. */
void tl_type_rows_total(const tl_type_rows *t, tl_sum *count, tl_sum *bytes);
void tl_type_rows_fini(tl_type_rows *t);

#endif
