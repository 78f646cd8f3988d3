/* `convert --slice-at N -n M`: a part of a trace of instructions that begins with a snapshot. */
#ifndef TL_CLI_CONVERT_SLICE_H
#define TL_CLI_CONVERT_SLICE_H

#include "cli/inputs.h"
#include "cli/selection.h"
#include "model/format_impl.h"

/* The format that holds a slice, where the command line names none; or NULL. */
const tl_format *tl_slice_format(void);
/* Do the options go together? 0, or TL_EXIT_USAGE after a message. */
int tl_slice_check(const tl_arguments *a);
/* Finds the snapshot, and selects the time from there on. 0, or an exit status after a message. */
int tl_slice_select(tl_selection *s, const tl_arguments *a, tl_reading *r);

#endif
