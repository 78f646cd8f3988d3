/* The calls of a source as rows, whatever they are made of: entries and exits of streams, function traces whose
 * functions are addresses and whose threads are named by events, or instructions. The rules of matching, and the
 * numbers of unmatched entries and exits, are those of profiles (op/callstack.h, op/insn_calls.h).
 *
 * Rows come stream by stream, within a stream in the order of the calls' ends; the order does not depend on threads.
 * Calls that never ended come last. Several scans of one source may be open at once, and scans of different parts may
 * be used by different threads. */
#ifndef TL_OP_CALL_SCAN_H
#define TL_OP_CALL_SCAN_H

#include "op/call_places.h"
#include "op/call_rows.h"
#include "op/source_impl.h"

typedef struct tl_call_scan tl_call_scan;

typedef struct tl_call_scan_options {
    const tl_select *select;      /* calls that are given, or NULL: all. The patterns are not settled */
    const tl_call_places *places; /* or NULL: `place` is TL_CALL_NONE */
    unsigned without;             /* enum tl_call_parts: columns that are not filled. With ids, nothing is skipped */
    bool alone;                   /* no other thread decodes ahead */
    bool all;                     /* calls that are not selected are given, too: TL_CALL_LEFT_OUT */
} tl_call_scan_options;

/* Does the trace have calls? Else there is nothing to scan. */
bool tl_call_scan_wanted(const tl_trace *t);
/* Are its calls those that stacks tell, if any? Only reading tells: tl_source.told_calls, after tl_call_scan_prepare().
 */
bool tl_call_scan_is_told(const tl_trace *t);
/* Once before the first scan of a source, from one thread: finds functions and threads if only events say them. Errors:
 * as tl_discover(). */
int tl_call_scan_prepare(tl_source *s, tl_error *e);
/* The number of parts: streams, or 1 if threads run on any stream. */
uint32_t tl_call_scan_parts(const tl_source *s);
/* The parts first .. first+n-1. All but the source is borrowed until close. Errors: TL_ENOMEM, TL_EUNSUPPORTED if there
 * are no calls, or the selection cannot be applied. */
int tl_call_scan_open(tl_call_scan **out, tl_source *s, uint32_t first, uint32_t n, const tl_call_scan_options *o,
                      tl_error *e);
/* 1: *rows are the next 1 .. TL_CALL_ROWS_MOST calls, borrowed until the next call; 0: there are no more; < 0: error.
 */
int tl_call_scan_next(tl_call_scan *c, tl_call_rows *rows, tl_error *e);
/* The same, but *rows takes as many as there are, in place of what it had: rows of the caller, zeroed at first. Use
 * either of both for a scan. */
int tl_call_scan_take(tl_call_scan *c, tl_call_rows *rows, tl_error *e);
/* The profile that `function` of the rows is an index in: it has functions, and so far unmatched entries and exits.
 * Other scans have other indices. */
const tl_profile *tl_call_scan_profile(const tl_call_scan *c);
void tl_call_scan_close(tl_call_scan *c); /* NULL is fine */

#endif
