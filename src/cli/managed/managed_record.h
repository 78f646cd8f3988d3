/* `traceloom record` of programs of .NET: their runtime, Mono, loads our module, which records samples, or calls. */
#ifndef TL_CLI_MANAGED_RECORD_H
#define TL_CLI_MANAGED_RECORD_H

#include "cli/record/record.h"

/* The option that only such programs obey, if it is given; NULL: none. */
const char *tl_managed_only(const tl_arguments *a);
/* Is the program one, by what it is or by --mono? */
bool tl_managed_is(const tl_record *r);
/* Are samples recorded, and not every call? That is so unless -m or the suffix of -o says otherwise. */
bool tl_managed_samples(const tl_record *r);

/* Finds Mono and the module: r->command, r->library, r->name, and what the program gets. Reports failures; an exit
 * status. Then calls are recorded like those of other programs. */
int tl_managed_look(tl_record *r);
/* The value of TRACELOOM_DOTNET, to be freed. NULL: no memory. */
char *tl_managed_settings(const tl_record *r);

/* A process that runs already (--pid): is it one of CoreCLR? */
bool tl_managed_runs(long pid);
/* Can it be recorded so? Finds the profiler. Reports failures; an exit status. */
int tl_managed_attach_look(tl_record *r);
/* Records it into this file, which does not exist, until the time is over, it ends, or Ctrl-C. */
int tl_managed_attach(const tl_record *r, const char *live);

/* One run with samples, from its names to its report. An exit status of record. */
int tl_managed_record(tl_record *r);

#endif
