/* Where objects were allocated: the function on top of the stack of the track's last sample and, if the allocation has
 * it, the place in it. Memory: about 150 bytes per place and 48 per track. */
#ifndef TL_ANALYSIS_ALLOC_PLACES_H
#define TL_ANALYSIS_ALLOC_PLACES_H

#include "analysis/runtime/latest_names.h"
#include "analysis/runtime/runtime_events.h"
#include "base/wide_sum.h"

/* Places as shown: those with the same name and source are merged. */
typedef struct tl_alloc_place {
    const char *name;   /* of a function, "0x5" without a name, "?" without a number; NULL: unknown stack */
    const char *source; /* "Work.cs:12" or "" */
    tl_sum count, bytes;
} tl_alloc_place;

typedef struct tl_alloc_places {
    tl_alloc_place *place;
    uint32_t n, capacity;
    tl_hash index; /* by label, interned */
    tl_strings strings;
} tl_alloc_places;

/* State for one input. */
typedef struct tl_alloc_sites {
    struct tl_alloc_top {      /* of a track: the innermost frame of its last sample */
        const tl_frame *frame; /* of this batch, not copied yet */
        uint64_t function;
        const char *name; /* of the frame, if it has no number */
        uint32_t flags;   /* tl_frame_flags */
        bool known, listed;
    } * top;
    uint32_t ntop;
    uint32_t *changed; /* tracks whose frame belongs to this batch */
    uint32_t nchanged, changed_capacity;
    struct tl_alloc_site {
        struct tl_alloc_top top;
        uint64_t ip;
        bool has_ip;
        tl_sum count, bytes;
    } * site;
    uint32_t n, capacity;
    tl_hash functions, ips, index;
    tl_strings strings;
    uint32_t line_flag; /* TL_FRAME_LINE once a frame had it: then ips of allocations are line numbers, too */
    bool failed;
} tl_alloc_sites;

/* A sample of a stack. Errors: TL_ENOMEM. */
int tl_alloc_sites_sample(tl_alloc_sites *s, const tl_runtime_event *ev, tl_error *e);
/* An allocation on a track. Errors: TL_ENOMEM. */
int tl_alloc_sites_add(tl_alloc_sites *s, uint32_t track, const tl_value *ip, uint64_t count, uint64_t bytes,
                       tl_error *e);
void tl_alloc_sites_batch_end(tl_alloc_sites *s);
/* At the end of the input: names its sites and adds them to the places. Errors: TL_ENOMEM. */
int tl_alloc_places_add(tl_alloc_places *p, const tl_alloc_sites *s, const tl_runtime *r, const tl_names *functions,
                        tl_error *e);
void tl_alloc_places_sort(tl_alloc_places *p); /* by bytes */
void tl_alloc_sites_fini(tl_alloc_sites *s);
void tl_alloc_places_fini(tl_alloc_places *p);

#endif
