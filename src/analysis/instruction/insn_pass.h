/* One pass over the instructions of one or several sources, by several threads: the way the tables of this folder are
 * made by.
 *
 * Every worker has a table of its own and takes whole streams; tables are added up at the end. A table that needs all
 * streams in one order (a cache that threads share) is made by one worker, from merged streams. */
#ifndef TL_ANALYSIS_INSN_PASS_H
#define TL_ANALYSIS_INSN_PASS_H

#include "traceloom/sink.h"
#include "traceloom/source.h"

typedef struct tl_insn_table {
    size_t size;    /* of the table, zeroed by the pass */
    bool fields;    /* reads the tape */
    bool one_order; /* needs the streams merged, in one table */
    /* `options` as given to tl_insn_pass(). Errors: TL_ENOMEM. May be NULL. */
    int (*init)(void *table, const void *options, tl_error *e);
    /* Events of another stream begin, unrelated to earlier ones. May be NULL. */
    int (*begin)(void *table, const tl_trace *t, tl_error *e);
    /* Events from .. to-1 of a batch; `gap`: events since the last call were left out. */
    int (*events)(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e);
    /* The stream has ended. May be NULL. */
    int (*end)(void *table, tl_error *e);
    /* Adds a table to another; `from` is discarded afterwards. The order must not matter. NULL if one_order. */
    int (*merge)(void *into, void *from, tl_error *e);
    void (*fini)(void *table);
} tl_insn_table;

/* A table to be filled. */
typedef struct tl_insn_fill {
    void *table; /* how->size bytes */
    const tl_insn_table *how;
    const void *options;
    bool first; /* it is zeroed and initialised before; else it has other sources already */
} tl_insn_fill;

/* Fills `table`, table->size bytes of the caller, which has to call fini in the end, even on failure. May be called for
 * each of several sources (init only if `first`). `select` may be NULL; uses time, thread, levels and pc. A trace
 * without instructions is not read and adds nothing.
 * Errors: those of reading and of the table; TL_ENOMATCH. */
int tl_insn_pass(void *table, const tl_insn_table *how, const void *options, bool first, tl_source *s,
                 const tl_select *select, unsigned threads, tl_error *e);
/* The same for several tables at once: everything is read and decoded once for all of them. After an error, tables
 * whose turn did not come are zeroed. */
int tl_insn_pass_together(const tl_insn_fill *fill, uint32_t n, tl_source *s, const tl_select *select, unsigned threads,
                          tl_error *e);

#endif
