/* `convert --slice-at`: a part of an instruction trace that begins with a snapshot, for one thread (N -n M) or several
 * that are cut at the same TIME. */
#ifndef TL_CLI_CONVERT_SLICE_H
#define TL_CLI_CONVERT_SLICE_H

#include "analysis/instruction/cut_snapshot.h"
#include "analysis/instruction/time_cut.h"
#include "cli/inputs.h"
#include "cli/selection.h"
#include "cli/target_out.h"
#include "model/format_impl.h"

/* The remaining part of each track when a trace is cut by TIME; zeroed: everything. */
typedef struct tl_slice {
    bool by_time;
    uint32_t ntrack;
    tl_time_cut *cut;          /* [ntrack] */
    tl_cut_snapshot *snapshot; /* [ntrack]: written before the first event */
    uint64_t insns;            /* of each track; UINT64_MAX: all */
} tl_slice;

/* The format for a slice if the command line names none; or NULL. */
const tl_format *tl_slice_format(void);
/* Are the options compatible? 0, or TL_EXIT_USAGE after a message. */
int tl_slice_check(const tl_arguments *a);
/* Finds the snapshot, or the cut of each thread, and selects the time from there on. `f`: the output format. 0, or an
 * exit status after a message. Call tl_slice_fini() in every case. */
int tl_slice_select(tl_slice *slice, tl_selection *s, const tl_cli *c, const tl_format *f, tl_reading *r);
/* Writes the slice's part of n runs, and adds its number of events to *events. */
int tl_slice_write(tl_slice *slice, tl_out *out, const tl_run *run, uint32_t n, uint64_t *events, tl_error *e);
void tl_slice_fini(tl_slice *slice);

#endif
