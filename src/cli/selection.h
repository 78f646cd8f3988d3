/* Converts --time, --insns, -t, --cpu, -F, -N, -D, --min-dur, --class, --el and --pc to a tl_select. */
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
    } kind;         /* open end; number; with a unit; date and time of day; only time of day */
    uint64_t value; /* ns (PLAIN: or ticks) since the trace began; UTC: ns since 1970; DAY: since midnight */
    int64_t ahead;  /* for DAY: ns by which its midnight is before that of UTC */
} tl_when;

typedef struct tl_selection {
    tl_select select; /* what tl_profile_from_source() takes; after tl_selection_apply() */
    bool any;         /* something is selected */
    tl_when from, to, min_dur;
    const char *insns_only; /* a given option that only instruction traces support, or NULL */
    int32_t *cpu;
    bool *matched;
    size_t missed; /* number of the pattern that matches nothing; SIZE_MAX: none */
} tl_selection;

/* Reads the options. Errors: TL_EINVAL, TL_ENOMEM. Either way call tl_selection_fini(). */
int tl_selection_parse(tl_selection *s, const tl_arguments *a, tl_error *e);
/* For several traces in turn: a pattern need not match in all of them. See tl_select_check(). */
int tl_selection_keep_score(tl_selection *s, tl_error *e);
/* Converts times to ticks of this trace. Errors: TL_EINVAL: a time of day, or a unit, that the trace's clock lacks; an
 * option for instructions, and the trace has none. */
int tl_selection_apply(tl_selection *s, const tl_trace *t, tl_error *e);
void tl_selection_fini(tl_selection *s);

/* Tells the options that select, one by one: "-F", "main". */
void tl_selection_each(const tl_arguments *a, void (*tell)(void *arg, const char *option, const char *value),
                       void *arg);

/* Appends the selection to a text, as in " (--time 2s..3s, -F main)", or nothing if there is none. `size` bytes at
 * most. */
void tl_selection_describe(const tl_arguments *a, char *text, size_t size);

/* Reads a time like an end of --time. Errors: TL_EINVAL; the message names the option. */
int tl_parse_when(tl_when *w, const char *option, const char *text, tl_error *e);
/* Ticks of a duration, or since the trace began. Errors: TL_EINVAL: see tl_selection_apply(). */
int tl_when_ticks(const tl_when *w, const tl_trace *t, uint64_t *ticks, tl_error *e);

#endif
