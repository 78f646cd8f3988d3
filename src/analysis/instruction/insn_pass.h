/* One pass over the instructions of one or several sources, by several threads: what the tables of this folder are
 * made by.
 *
 * Every worker has a table of its own and takes whole streams; tables are added up at the end. A table that wants all
 * streams in one order (a cache that threads share) is made by one worker, from merged streams. */
#ifndef TL_ANALYSIS_INSN_PASS_H
#define TL_ANALYSIS_INSN_PASS_H

#include "traceloom/sink.h"
#include "traceloom/source.h"

typedef struct tl_insn_table {
    size_t size;    /* of the table: zeroed by the pass */
    bool fields;    /* looks at the tape */
    bool one_order; /* wants the streams merged, in one table */
    /* `options` is what tl_insn_pass() was given. Errors: TL_ENOMEM. May be NULL. */
    int (*init)(void *table, const void *options, tl_error *e);
    /* Events of another stream begin: what came before has nothing to do with them. May be NULL. */
    int (*begin)(void *table, const tl_trace *t, tl_error *e);
    /* Events from .. to-1 of a batch; `gap`: events before them, since the last call, were not chosen. */
    int (*events)(void *table, const tl_batch *b, uint32_t from, uint32_t to, bool gap, tl_error *e);
    /* The stream has ended. May be NULL. */
    int (*end)(void *table, tl_error *e);
    /* Adds a table to another; `from` is thrown away afterwards. The order must not matter. NULL if one_order. */
    int (*merge)(void *into, void *from, tl_error *e);
    void (*fini)(void *table);
} tl_insn_table;

/* Fills `table`, table->size bytes of the caller, which has to call fini in the end, also on failure: it may be called
 * once for each of several sources (init only if `first`). `select` may be NULL: time, thread, levels and pc count. A
 * trace without instructions, which is not read, adds nothing.
 * Errors: those of reading and of the table; TL_ENOMATCH; TL_EUNSUPPORTED if the source is a profile. */
int tl_insn_pass(void *table, const tl_insn_table *how, const void *options, bool first, tl_source *s,
                 const tl_select *select, unsigned threads, tl_error *e);

#endif
