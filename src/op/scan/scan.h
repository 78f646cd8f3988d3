/* Tables that are read while a trace is read: rows of events, of one class, of calls, in blocks of columns.
 *
 * A table is made of the sources of a dataset when that is opened, and does not change. Scans of it are independent.
 * Nothing here knows an engine: a scan is told which columns will be looked at, and which terms every row that matters
 * fulfils. It may use terms to leave rows out, but need not: whoever asked tests the rows again. */
#ifndef TL_OP_SCAN_H
#define TL_OP_SCAN_H

#include "base/arena.h"
#include "model/relation_impl.h"
#include "op/needs.h"
#include "op/source_impl.h"
#include "traceloom/profile.h"
#include "traceloom/relation.h"

/* What tables are made of. All is borrowed. */
typedef struct tl_dataset {
    tl_source *const *source; /* [n]: trace 1 is the first */
    uint32_t n;
    const tl_select *select; /* what counts, or NULL: all */
    unsigned threads;        /* 0: as many as there are processors */
} tl_dataset;

typedef enum tl_term_op {
    TL_TERM_IS,
    TL_TERM_BELOW,
    TL_TERM_AT_MOST,
    TL_TERM_ABOVE,
    TL_TERM_AT_LEAST,
    TL_TERM_GLOB
} tl_term_op;

/* column OP value. Of TL_TERM_IS there may be several values: one of them. */
typedef struct tl_term {
    uint32_t column;
    tl_term_op op;
    const tl_cell *value; /* [n] TL_CELL_INT, TL_CELL_REAL, TL_CELL_TEXT or TL_CELL_NULL, which nothing is */
    uint32_t n;
} tl_term;

/* A part of a table, which may be read while other threads read others. */
typedef struct tl_scan_part {
    uint32_t source, first, n; /* some streams of a source */
    uint64_t weight;           /* about how much work it is */
} tl_scan_part;

typedef struct tl_scan_ask {
    const uint8_t *used; /* [columns of the table]: is looked at. NULL: all */
    const tl_term *term; /* [nterm] */
    uint32_t nterm;
    const tl_scan_part *part; /* NULL: all of it */
    bool alone;               /* other threads read other parts: none decodes ahead for this one */
    const tl_cell *argument;  /* [nargument of the table] TL_CELL_NULL: not given; NULL: none is */
    bool ordered;             /* rows ascend by the table's `order` */
    bool (*glob)(const char *pattern, const char *text); /* of TL_TERM_GLOB; NULL: such terms are not used */
    bool (*stop)(void *arg); /* asked once for each batch that is read: stop with TL_ELIMIT? NULL: never */
    void *stop_arg;
} tl_scan_ask;

#define TL_NO_ORDER UINT32_MAX

struct tl_scan;

typedef struct tl_scan_table {
    tl_table_info info; /* of SQL: its name there */
    const tl_column_info *column;
    uint32_t ncolumn;
    uint32_t nargument; /* the last columns are arguments, which SELECT * leaves out */
    uint32_t order;     /* the column that a scan can order rows by; or TL_NO_ORDER */
    uint64_t rows;      /* about how many there are */
    const void *arg;    /* of the functions below */
    bool is_large;      /* rows are those of events: where many are sorted, the table does it */
    /* Which part of the rows is left if a scan is told such a term; 1: it does not use it. Pure. */
    double (*keeps)(const struct tl_scan_table *t, uint32_t column, tl_term_op op);
    int (*open)(struct tl_scan **out, const struct tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask,
                tl_error *e);
    /* How many parts it has, and the first `most` of them. NULL: it has none. */
    uint32_t (*parts)(const struct tl_scan_table *t, const tl_dataset *d, tl_scan_part *out, uint32_t most);
} tl_scan_table;

/* A scan; embedded in those of each kind. */
typedef struct tl_scan {
    int (*next)(struct tl_scan *s, tl_block *block, tl_error *e);
    void (*close)(struct tl_scan *s);
} tl_scan;

/* Begins to read a table; the ask is copied where it is needed later. *out belongs to the caller. Errors: those of
 * reading. */
static inline int tl_scan_open(tl_scan **out, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask,
                               tl_error *e)
{
    return t->open(out, t, d, ask, e);
}

/* As tl_rows_next(); columns that were not asked for have no arrays. */
static inline int tl_scan_next(tl_scan *s, tl_block *block, tl_error *e)
{
    return s->next(s, block, e);
}

static inline void tl_scan_close(tl_scan *s)
{
    if (s)
        s->close(s);
}

/* The end of a table's open(): hands the scan out, or closes it if status < 0, which it returns. */
static inline int tl_scan_opened(tl_scan **out, tl_scan *s, int status)
{
    if (status < 0) {
        s->close(s);
        return status;
    }
    *out = s;
    return 0;
}

/* keeps() of a table whose scan uses no terms. */
static inline double tl_scan_keeps_all(const tl_scan_table *t, uint32_t column, tl_term_op op)
{
    (void)t;
    (void)column;
    (void)op;
    return 1;
}

#endif
