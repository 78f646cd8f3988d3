/* The runs of events that scans read: one source after another, each selected, filtered, and in the order of time on
 * request. */
#ifndef TL_OP_EVENT_READER_H
#define TL_OP_EVENT_READER_H

#include "op/scan/event_filter.h"
#include "op/scan/event_scan.h"
#include "op/scan/source_walk.h"
#include "op/scan/term_copy.h"
#include "traceloom/events.h"

typedef struct tl_event_reader {
    const tl_dataset *dataset;
    const tl_event_table *kind;
    tl_term_copy terms;
    tl_scan_ask ask; /* of the copy */
    tl_scan_part part;
    bool wants_fields, wants_cpu;
    bool skips_none; /* events outside of the time come, too; the filter leaves them out */
    bool whole;      /* all events come, also those that are not selected: the caller tests them */
    tl_source_walk walk;
    /* The source that is read: */
    tl_events *events;
    tl_select select;
    tl_event_view view;
    tl_event_filter filter;
    tl_fields json;
    tl_enum_texts labels;
    bool has_json;
    const tl_run *run; /* [nrun] the caller takes them away, from the front */
    uint32_t nrun;
} tl_event_reader;

/* Of a table whose arg begins with a tl_event_table. After zeroing; fini is needed in any case. */
int tl_event_reader_init(tl_event_reader *r, const tl_scan_table *t, const tl_dataset *d, const tl_scan_ask *ask,
                         tl_error *e);
void tl_event_reader_fini(tl_event_reader *r);
/* 1: there are runs; `view` says of which source. 0: the end. < 0: error; TL_ELIMIT if the ask says stop. */
int tl_event_reader_next(tl_event_reader *r, tl_error *e);

#endif
