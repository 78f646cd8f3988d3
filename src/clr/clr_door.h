/* The profiler that CoreCLR loads: its parts. */
#ifndef TL_CLR_DOOR_H
#define TL_CLR_DOOR_H

#include "clr/clr_abi.h"
#include "managed/managed_thread.h"

/* A function of the table of callbacks. */
typedef void clr_callback_function(void);
#define CLR_CALLBACK(f) ((clr_callback_function *)(f))

/* Each puts its callbacks into the table, and returns what the runtime is to tell. */
uint32_t clr_events_begin(clr_callback_function **table);
/* Makes a function known that has code. */
void clr_function_know(clr_id function);
/* Places of a function's code in its source, ascending, to be freed; the names of files stay. NULL: none. */
struct managed_source *clr_lines(clr_id function, clr_id module, uint32_t token, uint32_t *n);
/* The function whose code an address is in, which is made known; 0: none. Takes locks. */
clr_id clr_function_at(uint64_t ip);
/* A frame as lines have it; `method` is the function, or NULL. Only from the writer. */
managed_frame clr_frame(const void *method, uint64_t ip);

/* The calling thread, made known if it is not; NULL: no memory. */
managed_thread *clr_thread_here(void);
/* Allocations, as clr_events_begin(); nothing unless they are asked for. */
uint32_t clr_allocations_begin(clr_callback_function **table);
/* Makes a class known that has an object. */
void clr_class_know(const void *class);
/* What lives, after collections of all generations; nothing unless it is asked for. */
uint32_t clr_heap_begin(clr_callback_function **table);
void clr_heap_collection(bool full); /* one begins */

/* Samples: a timer of each thread's processor time. False: there is no signal for it, after a message. */
bool clr_samples_begin(void);
void clr_samples_thread(managed_thread *t);     /* which was just made known */
void clr_samples_thread_end(managed_thread *t); /* ... and ends */

/* Makes the log, with managed_set. */
bool clr_log_open(void);

/* A process that runs: the callbacks that are called first; and what was loaded before, with its threads. */
void clr_attach_offer(clr_callback_function **table);
void clr_events_catch_up(void);

/* Calls, in place of all these. False: the recorder of calls has nothing to do here. */
bool clr_calls_wanted(void);
bool clr_calls_begin(clr_callback_function **table);

#endif
