/* What `report` makes: a table, a profile, a page. */
#ifndef TL_CLI_REPORT_PLAN_H
#define TL_CLI_REPORT_PLAN_H

#include "analysis/table_kind.h"
#include "cli/answer_target.h"
#include "cli/formats_of.h"
#include "cli/verbs.h"

/* What to make from the profile. */
typedef struct tl_report_plan {
    const tl_table_kind *kind; /* the table; NULL: of instructions, or of a runtime */
    const tl_format *format;   /* of a profile to write, or NULL */
    bool page;                 /* a page is written */
    bool table;                /* a table is shown ... */
    tl_target to;              /* ... here */
} tl_report_plan;

/* -o is for a profile, for a page, or for the table. Exit status, after a message. */
int tl_report_make_plan(const tl_cli *c, tl_report_plan *p);

#endif
