/* The rows of a tl_call_scan, of which another thread makes some ahead of the one that takes them. The rows, and the
 * error, are the same. */
#ifndef TL_OP_CALL_AHEAD_H
#define TL_OP_CALL_AHEAD_H

#include "op/call_scan.h"

typedef struct tl_call_ahead tl_call_ahead;

/* Of a scan from which nothing was taken; nobody else uses it until close. Errors: TL_ENOMEM. */
int tl_call_ahead_open(tl_call_ahead **out, tl_call_scan *scan, tl_error *e);
/* As tl_call_scan_next(), but with any number of rows. */
int tl_call_ahead_next(tl_call_ahead *a, tl_call_rows *rows, tl_error *e);
void tl_call_ahead_close(tl_call_ahead *a); /* NULL is fine */

#endif
