/* Sums of parts of the inputs of `report -o`, which are made apart and put together in any order: what is written in
 * the end is what one report writes. */
#ifndef TL_CLI_REPORT_SUM_H
#define TL_CLI_REPORT_SUM_H

#include "cli/report/report_plan.h"
#include "cli/verbs.h"
#include "op/fleet/profile_files.h"
#include "traceloom/profile.h"

typedef struct tl_report_sum {
    tl_profile *profile;          /* NULL: nothing could be read */
    uint64_t files, read, unread; /* inputs; those whose profiles were added; those left out */
    uint64_t last;                /* number of the last part, from 0: the caller's */
    int losses;                   /* the exit status for what the inputs lack */
    bool lacks_names, explained, of_events;
} tl_report_sum;

/* Adds up all files of the list, which says which were found in folders. An exit status; those below: unless
 * TL_EXIT_DONE, messages have said why. *s is the caller's in any case: free the profile. */
int tl_report_sum_make(tl_report_sum *s, const tl_cli *c, const tl_report_plan *p, tl_profile_files *files);
/* Adds `from` to `into`; takes its profile if `into` has none. 0; or < 0, errors: those of tl_profile_merge(). */
int tl_report_sum_add(tl_report_sum *into, tl_report_sum *from, tl_error *e);
/* Reports what limits the whole, and writes it; `files`: the list of all. An exit status, without
 * that of the losses. */
int tl_report_sum_write(tl_report_sum *s, const tl_cli *c, const tl_report_plan *p, tl_profile_files *files);

#endif
