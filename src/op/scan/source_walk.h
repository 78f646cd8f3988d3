/* Goes over the sources of a dataset for a scan: one after another, each opened, read to its end and closed. */
#ifndef TL_OP_SOURCE_WALK_H
#define TL_OP_SOURCE_WALK_H

#include "op/scan/scan.h"

/* What a scan does with a source. */
typedef struct tl_source_reading {
    int (*open)(void *scan, uint32_t i, tl_error *e); /* begins with source i: 1; 0: it has no rows; < 0 */
    int (*read)(void *scan, tl_error *e);             /* 1: has read something; 0: the source is at its end; < 0 */
    void (*close)(void *scan);                        /* also of one that could not be opened, or is not open */
} tl_source_reading;

typedef struct tl_source_walk {
    const tl_dataset *dataset;
    const tl_scan_ask *ask; /* `stop` of it is asked */
    const tl_source_reading *reading;
    void *scan;    /* of its functions */
    uint32_t next; /* the source to open next */
    bool is_open;
} tl_source_walk;

/* Reads on, in the next source where one is at its end. 1; 0: all are; < 0: error, TL_ELIMIT if the scan has to stop.
 * Whoever uses a walk closes its source in the end. */
int tl_source_walk_read(tl_source_walk *w, tl_error *e);

/* Parts of a table, as of tl_scan_table: the streams of each source, of which `streams` says how many there are. */
uint32_t tl_source_walk_parts(const tl_dataset *d, uint32_t (*streams)(const tl_source *s), tl_scan_part *out,
                              uint32_t most);

/* The error of an ordered scan whose source is in another order. */
int tl_scan_goes_back(const tl_source *s, tl_error *e);

/* The tick that times of a trace count from. */
uint64_t tl_scan_begin(const tl_trace *t);

#endif
