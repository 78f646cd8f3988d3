/* Loads one trace: its tables, then the rows that make it visible. */
#ifndef TL_CLI_LOAD_TRACE_H
#define TL_CLI_LOAD_TRACE_H

#include "cli/load/server_link.h"
#include "cli/verbs.h"

/* Sums over all traces of a command. */
typedef struct tl_load_sums {
    uint64_t chunks, missing, wrong;
} tl_load_sums;

/* tables: [n] names that are wanted. Returns a tl_exit, after a message. */
int tl_load_trace(const tl_cli *c, tl_servers *s, const char *path, const char *const *tables, uint32_t n,
                  tl_load_sums *sums);

#endif
