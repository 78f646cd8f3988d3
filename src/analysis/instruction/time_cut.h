/* Where to cut threads of instructions that were recorded together, at one TIME of the counter that orders their
 * accesses: docs/format/xtrace.md has the rule. */
#ifndef TL_ANALYSIS_TIME_CUT_H
#define TL_ANALYSIS_TIME_CUT_H

#include "traceloom/sink.h"
#include "traceloom/source.h"

typedef enum tl_cut_kind {
    TL_CUT_NONE,  /* the track is not selected, or has no instructions */
    TL_CUT_HERE,  /* it has TIMEs before and after the cut */
    TL_CUT_BEGIN, /* all its TIMEs are later: it is not cut, but begins later */
    TL_CUT_ENDED  /* none is later: nothing of it is left */
} tl_cut_kind;

typedef struct tl_time_cut {
    tl_cut_kind kind;
    uint64_t at;          /* instructions before the cut; the first one with a later TIME follows it */
    uint64_t first, last; /* TIMEs: the first of the track; the last one examined */
} tl_time_cut;

/* Fills cut[0 .. ntrack-1] for the tracks that `select` (may be NULL) selects by thread and processor. Reads each
 * stream up to the cut. Errors: those of reading; TL_ENOMATCH: all TIMEs are later, or none is; TL_EUNSUPPORTED: a
 * stream without TIMEs. */
int tl_time_cuts_find(tl_time_cut *cut, tl_source *s, const tl_select *select, uint64_t time, tl_error *e);

/* How many tracks with instructions `select` selects, as far as known before reading. */
uint32_t tl_time_cut_tracks(const tl_source *s, const tl_select *select);

#endif
