/* Tables with arguments: "FROM call_stats('function', 1000000)". Their rows are made for values of these, by a pass
 * over each source, and kept as long as a scan reads them, or until others are made. */
#ifndef TL_OP_MADE_SCAN_H
#define TL_OP_MADE_SCAN_H

#include "model/scan_block.h"
#include "op/scan/scan.h"
#include "op/scan/trace_places.h"

#define TL_MADE_ARGUMENTS 2u /* most of a table */

struct tl_made_table;

/* What such a table is. */
typedef struct tl_made_kind {
    tl_table_info info;
    const tl_column_info *column; /* [ncolumn] the last `nargument` are the arguments: integers, text, bytes */
    uint32_t ncolumn, nargument;
    const void *arg;            /* of its own */
    bool of_any;                /* rows of profiles are made, too */
    bool of_calls;              /* sources need tl_call_scan_prepare() */
    bool of_places;             /* places have to be made before */
    const char *word_of_places; /* if its first argument may have this word, places have to be made before; or NULL */
    /* Rows of a source that is a trace; *out is NULL at first, and stays so if it has none. Arguments that were not
     * given are TL_CELL_NULL. Errors: TL_EINVAL (a value that an argument cannot have), those of reading. */
    int (*make)(void **out, const struct tl_made_table *t, uint32_t source, const tl_cell *argument, tl_error *e);
    void (*free_rows)(void *rows);
    uint64_t (*count)(const void *rows);
    /* Puts row i into row `row` of the block, every column that somebody looks at but the arguments. */
    void (*put)(const struct tl_made_table *t, const void *rows, uint32_t source, uint64_t i, tl_scan_block *b,
                uint32_t row);
} tl_made_kind;

typedef struct tl_made_table {
    const tl_made_kind *kind;
    const tl_dataset *dataset;
    const tl_trace_places *places; /* [sources] filled before the first scan that names them */
    uint64_t memory;               /* most bytes of one result */
    struct tl_made_cache *cache;
} tl_made_table;

/* All but the cache is set. *t must not move; fini is needed in any case. Errors: TL_ENOMEM. */
int tl_made_table_init(tl_made_table *t, tl_scan_table *out, tl_error *e);
void tl_made_table_fini(tl_made_table *t);

/* The kinds. */
extern const tl_made_kind tl_call_stats_kind, tl_event_counts_kind, tl_hist_buckets_kind, tl_sample_stats_kind,
    tl_stack_kind;

/* The words of an argument, separated by spaces or commas, as bits of their places in `word` [n]. False, with an error,
 * if there are others. */
bool tl_made_words(const tl_cell *argument, const char *table, const char *const *word, uint32_t n, unsigned *out,
                   tl_error *e);
/* The length of a step; 0: none. */
bool tl_made_step(const tl_cell *argument, const char *table, uint64_t *out, tl_error *e);

#endif
