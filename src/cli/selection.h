/* From --time, --insns, -t, --cpu, -F, -N, -D, --min-dur, --class, --el and --pc to a tl_select. */
#ifndef TL_CLI_SELECTION_H
#define TL_CLI_SELECTION_H

#include "cli/options.h"
#include "traceloom/profile.h"
#include "traceloom/trace.h"

/* One end of --time. */
typedef struct tl_when {
    enum {
        TL_WHEN_OPEN,
        TL_WHEN_PLAIN,
        TL_WHEN_UNIT,
        TL_WHEN_UTC,
        TL_WHEN_DAY
    } kind;         /* open end; number; with a unit; date and time of day; time of day alone */
    uint64_t value; /* ns (of PLAIN: or ticks) since the trace began; of UTC: ns since 1970; of DAY: since midnight */
    int64_t ahead;  /* of DAY: ns that its midnight is before that of UTC */
} tl_when;

typedef struct tl_selection {
    tl_select select; /* what tl_profile_from_source() takes; after tl_selection_apply() */
    bool any;         /* something is selected */
    tl_when from, to, min_dur;
    const char *insns_only; /* the option, if one is given that only traces of instructions know; or NULL */
    int32_t *cpu;
    bool *matched;
} tl_selection;

/* Reads the options. Errors: TL_EINVAL, TL_ENOMEM. Either way tl_selection_fini() has to be called. */
int tl_selection_parse(tl_selection *s, const tl_arguments *a, tl_error *e);
/* For several traces one after the other: a pattern need not match in all of them. See tl_select_check(). */
int tl_selection_keep_score(tl_selection *s, tl_error *e);
/* Turns times into ticks of this trace. Errors: TL_EINVAL: a time of day, or a unit, that the trace's clock does not
 * know; an option that is of instructions, and the trace has none. */
int tl_selection_apply(tl_selection *s, const tl_trace *t, tl_error *e);
void tl_selection_fini(tl_selection *s);

/* Appends what is selected to a text, as in " (--time 2s..3s, -F main)": nothing if all is. `size` bytes at most. */
void tl_selection_describe(const tl_arguments *a, char *text, size_t size);

/* Reads a time as an end of --time is one. Errors: TL_EINVAL; the message names the option. */
int tl_parse_when(tl_when *w, const char *option, const char *text, tl_error *e);
/* Ticks of a duration, or since the trace began. Errors: TL_EINVAL: see tl_selection_apply(). */
int tl_when_ticks(const tl_when *w, const tl_trace *t, uint64_t *ticks, tl_error *e);

/* Reads "2026-01-31T12:00:00.5Z" (seconds, fraction and Z may be missing; UTC, unless it ends in an offset such as
 * +01:00) to ns since 1970. */
bool tl_parse_utc(const char *s, size_t n, uint64_t *ns);

#endif
