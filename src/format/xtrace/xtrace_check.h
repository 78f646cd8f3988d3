/* What `check` looks for in recordings, beyond what reading finds. */
#ifndef TL_XTRACE_CHECK_H
#define TL_XTRACE_CHECK_H

#include "format/xtrace/xtrace_claims.h"

/* The format's check. */
int xtrace_check(void *reader, unsigned threads, tl_error *e);

/* Goes through a stream once, up to its end or to where it is damaged; with `resync` it goes on behind that, where
 * nothing is known of what was before, and no claims are looked at any more. With a trace, tells what contradicts
 * itself in it, with the name `file` or NULL; with claims of snapshots, looks at these and tells what is wrong with
 * them. */
int xtrace_check_stream(tl_input *in, tl_trace *t, const char *file, xtrace_claims *claims, bool resync, tl_error *e);

#endif
