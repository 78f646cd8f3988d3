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
/* One run with samples, from its names to its report. An exit status of record. */
int tl_managed_record(tl_record *r);

#endif
