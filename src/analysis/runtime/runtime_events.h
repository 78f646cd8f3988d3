/* The events of a source that are about a managed runtime, one by one in the order of the input, with their members
 * found by role: what the tables of this folder are made from. One pass; nothing is kept here. */
#ifndef TL_ANALYSIS_RUNTIME_EVENTS_H
#define TL_ANALYSIS_RUNTIME_EVENTS_H

#include "traceloom/sink.h"
#include "traceloom/source.h"

#define TL_FIELD_ROLES ((unsigned)TL_FIELD_TYPE_ID + 1)

/* An input that is being read. */
typedef struct tl_runtime {
    tl_source *source;
    const tl_trace *trace;
    uint64_t origin;      /* the tick that times are counted from */
    bool has_span;        /* something happened in the chosen time: */
    uint64_t first, last; /* ticks of the earliest and latest event, of whatever class and thread */
} tl_runtime;

typedef struct tl_runtime_event {
    const tl_class *cls;
    uint64_t ts, key;
    uint32_t track;
    bool in_time, on_track;                /* what --time and --thread say of it */
    bool chosen;                           /* both */
    bool before;                           /* earlier than the chosen time */
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

/* Who wants to know. */
typedef struct tl_runtime_visitor {
    unsigned roles; /* 1 << tl_role of the classes that matter */
    bool samples;   /* and those of samples with a stack */
    int (*event)(void *arg, const tl_runtime *r, const tl_runtime_event *ev, tl_error *e);
    void (*batch_end)(void *arg); /* what the events borrowed is gone after this; or NULL */
} tl_runtime_visitor;

/* Reads all of s, which must have been opened with tl_want.fields. `select`: only its times and threads are looked at;
 * may be NULL. Events outside are handed out, too: they may give names, or end what began inside. *r is filled.
 * Errors: those of reading and of the visitor; TL_ENOMATCH; TL_EUNSUPPORTED if s holds a profile, not events. */
int tl_runtime_read(tl_runtime *r, tl_source *s, const tl_select *select, const tl_runtime_visitor *visitor, void *arg,
                    tl_error *e);

/* A time as reports show it: ns, or ticks where the clock has no frequency, since the origin; 0 for what is before. */
uint64_t tl_runtime_time(const tl_runtime *r, uint64_t tick);
const char *tl_runtime_track(const tl_runtime *r, uint32_t track);

/* The elements of the event's field of role TL_FIELD_ITEMS; none if there is no such list. */
tl_runtime_items tl_runtime_items_of(const tl_runtime_event *ev);
bool tl_runtime_items_next(tl_runtime_items *i);

#endif
