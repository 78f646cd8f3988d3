/* The places of each trace of a dataset, made on first use: its profile, in canonical order. */
#ifndef TL_OP_TRACE_PLACES_H
#define TL_OP_TRACE_PLACES_H

#include "base/protobuf.h"
#include "op/call_places.h"
#include "op/scan/scan.h"

typedef struct tl_trace_places {
    tl_profile *profile;   /* NULL: the trace has none */
    uint32_t *order;       /* places in canonical order; [0] is the root of all */
    uint32_t *number;      /* by place: its index in `order` */
    uint32_t *depth;       /* by place: 1 of the outermost functions */
    tl_call_places *calls; /* of a trace of calls, else NULL */
} tl_trace_places;

/* Makes the places of each source that can have them, of what is selected; no cursor is open. out[i] is zeroed. */
int tl_trace_places_make(tl_trace_places *out, const tl_dataset *d, uint32_t i, tl_error *e);
void tl_trace_places_fini(tl_trace_places *p);

/* Appends the path of a place, "main;work;step". */
void tl_place_path(const tl_profile *p, uint32_t place, tl_pb *text);
/* The same with another separator. */
void tl_place_text(const tl_profile *p, uint32_t place, const char *separator, tl_pb *text);

#endif
