/* What the columns of tables of events say: the same part of an event is the same column in each. */
#ifndef TL_MODEL_EVENT_PARTS_H
#define TL_MODEL_EVENT_PARTS_H

#include "model/batch.h"
#include "model/field_text.h"
#include "model/scan_block.h"
#include "model/trace_impl.h"

typedef enum tl_event_part {
    TL_EVENT_TRACE,
    TL_EVENT_ID,
    TL_EVENT_TS,
    TL_EVENT_UTC,
    TL_EVENT_TICKS,
    TL_EVENT_RANK,
    TL_EVENT_TRACK,
    TL_EVENT_THREAD,
    TL_EVENT_PID,
    TL_EVENT_TID,
    TL_EVENT_CPU,
    TL_EVENT_CLASS,
    TL_EVENT_NAME,
    TL_EVENT_KIND,
    TL_EVENT_KEY,
    TL_EVENT_AUX,
    TL_EVENT_FUNCTION,
    TL_EVENT_FUNCTION_NAME,
    TL_EVENT_FIELDS,
    TL_EVENT_CONTEXT,
    TL_EVENT_PC, /* from here on: of tables of instructions and accesses, not of `events` */
    TL_EVENT_OPCODE,
    TL_EVENT_LEVEL,
    TL_EVENT_CODE_CLASS,
    TL_EVENT_CODE_NAME, /* these two are put by op/scan/event_scan.c, which knows the code */
    TL_EVENT_CODE_OFFSET,
    TL_EVENT_ACCESS,
    TL_EVENT_ACCESS_PC, /* of the instruction before: put by op/scan/access_pcs.h */
    TL_EVENT_ADDRESS,
    TL_EVENT_SIZE,
    TL_EVENT_VALUE,
    TL_EVENT_PARTS,
    TL_EVENT_OTHER = TL_EVENT_PARTS /* a field of a class */
} tl_event_part;

/* Their names and descriptions, by part. */
extern const tl_column_info tl_event_part_column[TL_EVENT_PARTS];

/* The columns of the table `events`. */
#define TL_EVENTS_PARTS 20u
extern const uint8_t tl_events_part[TL_EVENTS_PARTS];

/* What the columns of one source are made from. */
typedef struct tl_event_view {
    const tl_trace *trace;
    uint64_t begin;                 /* the tick that times count from */
    uint32_t number;                /* of the trace, from 1 */
    const struct tl_code_map *code; /* of the traced binary, or NULL */
    tl_fields *json;
    tl_enum_texts *labels; /* of enumerations, joined by | */
} tl_event_view;

/* Puts a part of n events of a batch, whose indices are at[], into rows `row` and after. */
void tl_event_part_put(tl_event_part part, const tl_event_view *v, const tl_batch *b, const uint32_t *at, uint32_t n,
                       tl_scan_block *block, uint32_t column, uint32_t row);
/* Appends the fields of event i as a JSON object: its payload or, if `context`, what precedes that. False: it has no
 * context. v->json and out say when memory runs out. */
bool tl_event_object(const tl_event_view *v, const tl_batch *b, uint32_t i, bool context, tl_pb *out);
/* Whether it needs the fields of events, or their processor. */
static inline bool tl_event_part_wants_fields(tl_event_part part)
{
    return part == TL_EVENT_FIELDS || part == TL_EVENT_CONTEXT || part == TL_EVENT_OTHER || part == TL_EVENT_VALUE ||
           part == TL_EVENT_KEY; /* some readers find a key that is for analyses in the fields */
}

/* ns since 1970; false: not known. */
static inline bool tl_event_utc(const tl_trace *t, uint64_t ticks, int64_t *utc)
{
    const tl_clock *clock = tl_trace_clock(t);
    const uint64_t ns = tl_scale_ns(&t->scale, ticks);
    return clock->has_utc && ns <= INT64_MAX && !__builtin_add_overflow(clock->utc_offset_ns, (int64_t)ns, utc);
}

/* Puts that, if somebody looks at the column. */
static inline void tl_list_utc(tl_scan_block *b, uint32_t column, uint32_t row, const tl_trace *t, uint64_t ticks)
{
    int64_t utc = 0;
    const bool has = tl_scan_has(b, column) && tl_event_utc(t, ticks, &utc);
    tl_list_int(b, column, row, has, utc);
}

/* ns since `begin`, negative before it; exact as tl_trace_time(). */
static inline int64_t tl_event_ts(const tl_trace *t, uint64_t begin, uint64_t ticks)
{
    const uint64_t ns = ticks >= begin ? tl_scale_ns(&t->scale, ticks - begin) : tl_scale_ns(&t->scale, begin - ticks);
    const int64_t v = ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
    return ticks >= begin ? v : -v;
}

#endif
