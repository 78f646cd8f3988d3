/* The events of a source about a managed runtime, one by one in the order of the input, with their members by role: the
 * tables of this folder are made from these. One pass; nothing is stored here. */
#ifndef TL_ANALYSIS_RUNTIME_EVENTS_H
#define TL_ANALYSIS_RUNTIME_EVENTS_H

#include "traceloom/sink.h"
#include "traceloom/source.h"

#define TL_FIELD_ROLES ((unsigned)TL_FIELD_TYPE_ID + 1)

/* An input being read. */
typedef struct tl_runtime {
    tl_source *source;
    const tl_trace *trace;
    uint64_t origin;      /* the tick that times are counted from */
    bool has_span;        /* anything happened in the selected time: */
    uint64_t first, last; /* ticks of the earliest and latest event, of any class and thread */
} tl_runtime;

typedef struct tl_runtime_event {
    const tl_class *cls;
    uint64_t ts, key;
    uint32_t track;
    bool in_time, on_track;                /* selected by --time and --thread */
    bool chosen;                           /* both */
    bool before;                           /* before the selected time */
    const tl_value *field[TL_FIELD_ROLES]; /* by role; NULL: it has none. Borrowed until the batch ends */
    const tl_value *end;                   /* of its values */
} tl_runtime_event;

/* A list, element by element. */
typedef struct tl_runtime_items {
    const tl_value *at, *end;
    uint32_t left;
    const tl_field *element;
    const tl_value *field[TL_FIELD_ROLES]; /* of the element, by role */
} tl_runtime_items;

/* Receives the events. */
typedef struct tl_runtime_visitor {
    unsigned roles; /* 1 << tl_role of the relevant classes */
    bool samples;   /* also samples with a stack */
    int (*event)(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e);
    void (*batch_end)(void *arg); /* values borrowed by events become invalid after this; or NULL */
} tl_runtime_visitor;

/* Reads all of s, which must have been opened with tl_want.fields. `select` may be NULL; only its times and threads are
 * used. Events outside are passed on, too: they may give names, or end what began inside. Fills *r.
 * Errors: those of reading and of the visitor; TL_ENOMATCH. */
int tl_runtime_read(tl_runtime *r, tl_source *s, const tl_select *select, const tl_runtime_visitor *visitor, void *arg,
                    tl_error *e);

/* A time for reports: ns, or ticks if the clock has no frequency, since the origin; 0 before it. */
uint64_t tl_runtime_time(const tl_runtime *r, uint64_t tick);
const char *tl_runtime_track(const tl_runtime *r, uint32_t track);

/* The elements of the event's field of role TL_FIELD_ITEMS; none if there is no such list. */
tl_runtime_items tl_runtime_items_of(const tl_runtime_event *ev);
bool tl_runtime_items_next(tl_runtime_items *i);

#endif
