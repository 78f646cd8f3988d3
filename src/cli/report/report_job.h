/* What `report` works on: its inputs one after the other, and what is known of them at their end. */
#ifndef TL_CLI_REPORT_JOB_H
#define TL_CLI_REPORT_JOB_H

#include "analysis/function/profile_answer.h"
#include "cli/inputs.h"
#include "cli/report/profiles_ahead.h"
#include "cli/report/report_page.h"
#include "cli/report/report_plan.h"
#include "cli/selection.h"
#include "op/fleet/profile_files.h"
#include "op/fleet/profile_fit.h"
#include "traceloom/profile.h"

#define TL_REPORT_SUBJECT_SIZE 512u

typedef struct tl_report_job {
    const tl_cli *cli;
    tl_selection selection;
    tl_profile_options options;
    tl_profile_fit fit;
    tl_profile_files *files;
    bool walks;          /* inputs are found in folders: what cannot be read is left out, unless --strict */
    uint64_t nread;      /* inputs whose profile was added */
    uint64_t unread;     /* those left out */
    bool is_unread;      /* the last one */
    tl_profile *profile; /* of the inputs read so far */
    tl_profile *whole;   /* the same by function, if `profile` is by line; see whole_functions() */
    tl_profile_table table;
    tl_catalog damage;
    tl_html_inputs inputs;  /* of a page */
    tl_html_tables *tables; /* of a page, or NULL */
    tl_reading kept;        /* the only input of a page, which is read again for what happened when */
    bool has_kept;
    char subject[TL_REPORT_SUBJECT_SIZE]; /* the file and its format, or "3 files"; what is selected */
    bool lacks_names;                     /* no function of the last input has a name */
    bool explained;                       /* an input has reported which names are missing, and why */
    size_t unfit;                         /* inputs that the table cannot be made from */
    bool of_events;                       /* no input holds a profile */
    const tl_report_plan *plan;
    bool instead;             /* a table of events was shown instead */
    tl_profiles_ahead *ahead; /* of the inputs after the first, or NULL */
} tl_report_job;

/* How detailed the profile must be. */
void tl_report_set_options(tl_report_job *m);
/* Adds up all inputs, and reports what is wrong with them. An exit status; *losses becomes that of what they lack. */
int tl_report_read_inputs(tl_report_job *m, int *losses);
/* The same, but whether there is anything to show is for the caller to find out. *n: how many inputs there were. */
int tl_report_read_all(tl_report_job *m, int *losses, uint64_t *n);
/* Reports how many inputs of `n` were left out, and those that are the output. */
void tl_report_say_files(const tl_report_job *m, uint64_t n);

/* Adds to the error of tl_profile_merge() which option helps; its code. */
int tl_report_explain_merge(const tl_profile *into, const tl_profile *from, tl_error *e);

#endif
