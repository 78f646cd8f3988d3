/* What `traceloom record -p` and the profiler that it has a runtime load agree on. */
#ifndef TL_MANAGED_LAYOUT_H
#define TL_MANAGED_LAYOUT_H

/* The profiler's answers are statuses of the runtime; these are its own: the error of a system call is in the lowest
 * 16 bits. The bits above say: a failure, and not one of Microsoft's. */
#define MANAGED_FAILED_BY 0xa0540000u
/* The last line of a log that is whole. */
#define MANAGED_LAST_LINE "prf cfg CutStacks "

enum { MANAGED_SETTINGS_MOST = 16384 /* bytes, of TRACELOOM_DOTNET's form */ };

#endif
