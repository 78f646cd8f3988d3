/* What `check` looks for in recordings beyond what reading finds. */
#ifndef TL_XTRACE_CHECK_H
#define TL_XTRACE_CHECK_H

#include "format/xtrace/xtrace_claims.h"

/* The format's check. */
int xtrace_check(void *reader, unsigned threads, tl_error *e);

/* Reads a stream once, to its end or up to damage; with `resync` it goes on after that, where nothing is known of what
 * came before, and claims are ignored. With a trace, adds contradictions in the stream to it, with the name `file` or
 * NULL; with claims of snapshots, checks these and reports errors. */
int xtrace_check_stream(tl_input *in, tl_trace *t, const char *file, xtrace_claims *claims, bool resync, tl_error *e);

#endif
