/* What limits the answer of `report`, on standard error. */
#ifndef TL_CLI_REPORT_LIMITS_H
#define TL_CLI_REPORT_LIMITS_H

#include "cli/verbs.h"
#include "traceloom/profile.h"

typedef struct tl_report_limits {
    const tl_cli *cli;
    const tl_profile *profile; /* of all inputs */
    bool lacks_names;          /* no function of the last input has a name */
    bool explained;            /* an input has reported which names are missing, and why */
    bool of_events;            /* no input holds a profile */
    bool several, by_name;     /* inputs; functions of one name are one */
} tl_report_limits;

void tl_report_say_limits(const tl_report_limits *m);

#endif
