/* Ends reading from outside. */
#ifndef TL_OP_SOURCE_STOP_H
#define TL_OP_SOURCE_STOP_H

#include "traceloom/source.h"

/* Asks `stop` before each batch, from any thread that reads, whether to end with TL_ELIMIT; NULL: never. No cursor is
 * open. A session of SQL over the source replaces it. */
void tl_source_set_stop(tl_source *s, bool (*stop)(void *arg), void *arg);

#endif
