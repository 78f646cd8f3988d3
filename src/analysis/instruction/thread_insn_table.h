/* What each track executed. */
#ifndef TL_ANALYSIS_THREAD_INSN_TABLE_H
#define TL_ANALYSIS_THREAD_INSN_TABLE_H

#include "analysis/instruction/insn_classes.h"
#include "analysis/instruction/insn_pass.h"
#include "analysis/instruction/mix_table.h"
#include "base/hash.h"

/* A track; tracks of several traces with the same name and tid are merged. */
typedef struct tl_thread_insns {
    const char *name;
    int64_t tid;
    bool has_tid;
    bool is_cpu;                    /* a processor, whose number is tid; has_tid is false */
    uint64_t level[TL_INSN_LEVELS]; /* instructions */
    uint64_t loads, load_bytes, stores, store_bytes;
    uint64_t branches;
    uint64_t calls; /* system calls: runs of arguments */
} tl_thread_insns;

typedef struct tl_threads_insns {
    tl_strings strings;
    tl_hash index; /* address of an interned key -> row */
    tl_thread_insns *row;
    uint32_t n, capacity;

    /* State of reading. */
    tl_insn_classes classes;
    const tl_trace *trace;
    uint32_t track, current; /* events of `track` go to row `current`; TL_HASH_NONE: none so far */
    bool in_call;            /* the previous event was an argument */
} tl_threads_insns;
extern const tl_insn_table tl_threads_insns_table;

uint64_t tl_thread_insns_all(const tl_thread_insns *t); /* instructions */
/* All rows, most instructions first, ties by name and tid; the caller frees them. NULL when memory runs out. Their
 * number is t->n. */
tl_thread_insns *tl_threads_insns_rows(const tl_threads_insns *t);

#endif
