/* Tables whose rows are not events, but made of them: spans of two, counters of some or of parts of one.
 *
 * A scan reads the events of a source in the order of time, a log in its own order, and hands each that matters to its
 * kind, which adds the rows that are complete. So rows wait for at most one run of events. */
#ifndef TL_OP_LINE_SCAN_H
#define TL_OP_LINE_SCAN_H

#include "op/scan/event_filter.h"
#include "op/scan/source_walk.h"
#include "op/scan/term_copy.h"
#include "traceloom/events.h"

typedef struct tl_line_scan tl_line_scan;

/* What a table does. */
typedef struct tl_line_kind {
    tl_table_info info;
    const tl_column_info *column; /* [ncolumn] */
    uint32_t ncolumn;
    uint32_t texts;      /* 1 << column of each text that is no part, whose terms `takes` decides */
    size_t size;         /* of its scan, which begins with a tl_line_scan and is zeroed */
    size_t row;          /* of a row that waits, which begins with a tl_line_row */
    const uint8_t *part; /* [ncolumn] tl_event_part whose terms tl_event_filter decides; else TL_EVENT_OTHER */
    /* Can rows begin with events of a class? Terms that are no parts are decided here. */
    bool (*takes)(const tl_line_scan *s, const tl_class *c);
    /* What to do with events of a class: 0 is nothing. */
    uint8_t (*use)(const tl_line_scan *s, const tl_class *c);
    /* All return false when memory runs out. */
    bool (*begin)(tl_line_scan *s); /* a source */
    bool (*event)(tl_line_scan *s, const tl_batch *b, uint32_t i);
    bool (*end)(tl_line_scan *s); /* of the source: adds what is left */
    void (*close)(tl_line_scan *s);
    void (*put)(tl_line_scan *s, const void *row, uint32_t at); /* a row into the block; called once for each */
} tl_line_kind;

typedef struct tl_line_row {
    uint64_t ts;    /* ticks */
    uint32_t track; /* both are what terms of time and thread are about */
} tl_line_row;

struct tl_line_scan {
    tl_scan scan;
    const tl_scan_table *table; /* its arg is the tl_line_kind */
    const tl_line_kind *kind;
    const tl_dataset *dataset;
    tl_term_copy terms;
    tl_scan_ask ask; /* of the copy */
    tl_source_walk walk;
    tl_scan_block block;
    uint64_t last; /* of an ordered scan: the latest tick */
    /* The source that is read: */
    const tl_trace *trace;
    uint32_t number;
    uint64_t origin; /* the tick that times count from */
    tl_event_filter filter;
    uint8_t *use;  /* [ncls] */
    bool is_alone; /* begin(): no row needs events of another time, so that those may be left out */
    bool has_ended;
    tl_select select; /* borrowed by `events` */
    tl_events *events;
    const tl_run *run;
    uint32_t nrun;
    /* Rows that wait: */
    uint8_t *row; /* [nrow] of kind->row bytes */
    uint32_t at, nrow, row_capacity;
};

/* Fills the table of a kind; `order` as tl_scan_table.order. */
void tl_line_table(tl_scan_table *out, const tl_dataset *d, const tl_line_kind *kind, uint32_t order);

/* For kinds. */

/* Do terms of classes leave one? */
static inline bool tl_line_takes(const tl_line_scan *s, const tl_class *c)
{
    return s->kind->takes(s, c) && (!s->filter.cls || s->filter.cls[c->id]);
}
/* Do terms of time and track leave a row? */
bool tl_line_wants(const tl_line_scan *s, uint32_t track, uint64_t ts);
/* Adds a row; what is put into it after its tl_line_row is up to the kind. NULL when memory runs out. */
void *tl_line_add(tl_line_scan *s, uint32_t track, uint64_t ts);
/* Do all terms of a column leave a text? */
bool tl_line_takes_text(const tl_line_scan *s, uint32_t column, const char *text);

#endif
