/* The thread of ours that empties the rings into the log. */
#ifndef TL_MANAGED_WRITER_H
#define TL_MANAGED_WRITER_H

#include "managed/managed_thread.h"

/* What the runtime has of its own: a frame as lines have it, from the two words of a ring. */
typedef managed_frame managed_resolve(const void *method, uint64_t ip);

/* Begins the thread, with all signals blocked. False: it cannot be made. */
bool managed_writer_begin(managed_resolve *resolve);
/* What happens first if nobody wants the recording any more (managed_log_is_left()), which ends it. */
void managed_writer_when_left(void (*f)(void));
/* The end of the recording: stops the thread, writes what is left, and closes the log. Later calls do nothing. */
void managed_writer_end(void);

#endif
