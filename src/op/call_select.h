/* Which calls a selection contains: everything about names is decided once for each function, track and class. */
#ifndef TL_OP_CALL_SELECT_H
#define TL_OP_CALL_SELECT_H

#include "model/profile_impl.h"
#include "model/trace_impl.h"
#include "traceloom/profile.h"

typedef struct tl_call_select {
    const tl_select *select;
    const tl_trace *trace;
    uint64_t from, to; /* absolute ticks: [from, to) */
    uint8_t *function; /* by profile function: 0 undecided, 1 selected, 2 not */
    uint32_t nfunction;
    bool *track, *cls;   /* by trace track and class */
    uint32_t ntrack;     /* known tracks: more may be added while reading */
    bool *hit, *hit_not; /* by glob: it matched something */
} tl_call_select;

/* `select` is borrowed; begin is the tick that its times count from. */
int tl_call_select_init(tl_call_select *s, const tl_select *select, const tl_trace *t, uint64_t begin, tl_error *e);
void tl_call_select_fini(tl_call_select *s);

/* Is the function selected? p is the profile that `function` is an index of. If memory fails, yes. */
bool tl_call_select_function(tl_call_select *s, const tl_profile *p, uint32_t function);
/* Is the track selected, even one added later? */
bool tl_call_select_track(const tl_call_select *s, uint32_t track);
/* Does the label pass the globs of the selection? hit and hit_not (may be NULL) note which matched. */
bool tl_select_label(const tl_select *s, const char *label, bool *hit, bool *hit_not);
/* A track that is a processor is matched by its number (tl_select.cpu) and its name, but not as a thread of this id. */
bool tl_select_track(const tl_select *s, const tl_track *t);
/* The same for a stream of instructions, whose processor is only known from its track. */
bool tl_select_insn_track(const tl_select *s, const tl_track *t);
/* TL_EUNSUPPORTED if instructions are selected by processor, but no stream belongs to one. */
int tl_select_check_insn_cpu(const tl_select *s, const tl_trace *t, tl_error *e);
/* As tl_select_track() by thread alone; hit[i] becomes true if pattern i matches. */
bool tl_select_track_hits(const tl_select *s, const tl_track *t, bool *hit);
bool tl_select_cpu(const tl_select *s, int32_t cpu);
/* Is event i of the batch on a selected processor? For tracks that are processors, the track has decided. */
bool tl_call_select_cpu(const tl_call_select *s, const tl_batch *b, uint32_t i);

/* Records whether pattern number i of tl_select.matched was found, or returns TL_ENOMATCH, as `matched` asks. Not from
 * several threads at once. */
int tl_select_settle(const tl_select *s, size_t i, bool found, tl_error *e);
/* Settles the patterns of threads. */
int tl_select_settle_tracks(const tl_select *s, const tl_track *track, uint32_t n, tl_error *e);
int tl_select_settle_classes(const tl_select *s, const tl_trace *t, tl_error *e);
/* Settles the patterns of threads and classes. */
int tl_select_settle_names(const tl_select *s, const tl_trace *t, tl_error *e);

#endif
