/* Comparison of two sides of runs: what became slower or faster from BASE to NEW, matched across builds.
 *
 * Each side is several runs, and a run is one profile: the spread between runs decides what is a difference, not the
 * number of calls. Functions are matched by their names, never by addresses or ids. docs/compare.md has the
 * mathematics.
 *
 *     tl_compare *c;
 *     if (tl_compare_new(&c, base, 10, newer, 10, NULL, &error) < 0) ...
 *     for (size_t i = 0; i < tl_compare_rows(c); i++) {
 *         const tl_compare_row *r = tl_compare_get_row(c, i);
 *         printf("%s of %s: %s\n", r->metric, r->function, tl_compare_verdict_text(r));
 *     }
 *     tl_compare_free(c);
 *
 * Durations are in tl_compare_unit(), counts are plain numbers, shares are 0 .. 1. A change is relative: 0.05 is 5 %
 * more in NEW. Exchanging the sides gives mirrored answers. What is returned is borrowed until tl_compare_free().
 * Thread rule: a tl_compare belongs to one thread at a time; the profiles are only read, and several comparisons may
 * read them at once. */
#ifndef TRACELOOM_COMPARE_H
#define TRACELOOM_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <traceloom/error.h>
#include <traceloom/profile.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct tl_compare tl_compare;

/* One run of a side. */
typedef struct tl_compare_run {
    const tl_profile *profile; /* of the whole run, with a tree; must live, unchanged, as long as the comparison */
    const char *name;          /* the file, for people; copied. NULL: its number */
    int64_t utc_ns;            /* when it was recorded, in ns since 1970, if has_utc: to warn about drift */
    bool has_utc;
} tl_compare_run;

/* What the amounts of the rows are. */
typedef enum tl_compare_per {
    TL_PER_DEFAULT, /* per call; of samples and of profiles without durations of calls, per run */
    TL_PER_CALL,    /* total/call, p1, p50, p99, calls */
    TL_PER_RUN,     /* total, self, calls */
    TL_PER_SHARE    /* total and self as shares of the run, calls */
} tl_compare_per;

typedef struct tl_compare_options {
    double noise;       /* changes up to this do not matter: 0.05 is 5 %, the default */
    double min_share;   /* rows of functions below this share of both sides are left out: 0.005, the default */
    bool has_noise;     /* else the default */
    bool has_min_share; /* else the default */
    bool paths;         /* rows are places in the tree of calls, not functions */
    bool one_run;       /* gates are allowed with fewer than 4 runs a side: they test the estimate */
    tl_compare_per per;
    const char *const *map; /* [nmap] "OLD=NEW": names of one function in both sides */
    size_t nmap;
} tl_compare_options;

typedef enum tl_verdict {
    TL_VERDICT_EXACT,         /* numbers without spread, or the very same ones, that are equal */
    TL_VERDICT_NEW,           /* called in all runs of NEW and in none of BASE */
    TL_VERDICT_GONE,          /* the other way round */
    TL_VERDICT_SAME,          /* the whole interval is within the noise */
    TL_VERDICT_MORE,          /* slower, more, larger: significant, and the whole interval is beyond the noise */
    TL_VERDICT_LESS,          /* faster, fewer, smaller */
    TL_VERDICT_A_LITTLE_MORE, /* significant, but the interval is not wholly beyond the noise */
    TL_VERDICT_A_LITTLE_LESS,
    TL_VERDICT_UNCLEAR, /* none of these: more runs would tell */
    TL_VERDICT_DIFFERS  /* fewer than 4 runs a side: the numbers of these runs differ, which proves nothing */
} tl_verdict;

/* One number of one function or path. */
typedef struct tl_compare_row {
    const char *function;     /* its name in NEW, or in BASE if it is gone */
    const char *was;          /* its name in BASE if that is another, else NULL */
    const char *path;         /* of rows of paths: "main;serve;render"; else NULL */
    const char *inlined_into; /* on the side where it is missing; NULL: not known to be */
    bool maybe_renamed;       /* `was` is a guess: no gate uses it */
    const char *metric;       /* "calls", "total", "self", "percall", "p50", "share" and so on */
    bool is_time;             /* amounts are in tl_compare_unit() */
    bool is_share;            /* amounts are 0 .. 1 */
    const double *base;       /* [tl_compare_runs(c, 0)] of each run; NaN: it has none */
    const double *newer;      /* [tl_compare_runs(c, 1)] */
    double base_median;       /* NaN: no run has one */
    double new_median;
    double change;    /* estimate of Hodges and Lehmann; NaN: unknown, or from 0 */
    double low, high; /* its interval of 95 %; NaN: there are too few runs */
    double p, q;      /* of Mann and Whitney; q adjusted for all rows (Benjamini and Hochberg). NaN: no test */
    bool exact;       /* all runs of a side have the same number: the change is exact */
    bool mix_changed; /* the number of calls changed, too: the calls may be of another kind */
    tl_verdict verdict;
    uint32_t runs; /* of TL_VERDICT_UNCLEAR: about how many runs a side would tell; 0: unknown */
} tl_compare_row;

/* Compares the runs of two sides. options may be NULL (all zero). *out belongs to the caller: tl_compare_free().
 * Errors: TL_EINVAL (no runs, more than TL_COMPARE_RUNS_MAX a side, or a malformed option), TL_EUNSUPPORTED (clocks
 * that cannot be compared, other weights of samples, calls against samples), TL_ENOMEM. */
int tl_compare_new(tl_compare **out, const tl_compare_run *base, size_t nbase, const tl_compare_run *newer, size_t nnew,
                   const tl_compare_options *options, tl_error *e);
#define TL_COMPARE_RUNS_MAX 200u
/* Frees the comparison, not its profiles. NULL is fine. */
void tl_compare_free(tl_compare *c);

/* The unit of durations: "ns", "ticks" and so on, as tl_profile_unit(). Static, never NULL. */
const char *tl_compare_unit(const tl_compare *c);
/* How many runs a side has; 0: BASE, else NEW. */
size_t tl_compare_runs(const tl_compare *c, int side);
/* How many rows there are: several of each function, one for each metric. */
size_t tl_compare_rows(const tl_compare *c);
/* One of them, the most important first: differences that are certain, new and gone, what is unclear, the same. NULL
 * past the end. */
const tl_compare_row *tl_compare_get_row(const tl_compare *c, size_t i);
/* "slower", "same", "unclear" and so on: the word of a verdict depends on the metric. Static. */
const char *tl_compare_verdict_text(const tl_compare_row *row);
/* How many reasons there are to doubt the comparison: another program, losses, too few runs and so on. */
size_t tl_compare_warnings(const tl_compare *c);
/* One of them, a line of text. NULL past the end. */
const char *tl_compare_warning(const tl_compare *c, size_t i);

/* When a gate fails. */
typedef enum tl_gate_when {
    TL_GATE_INTERVAL, /* the whole interval is beyond the amount */
    TL_GATE_ESTIMATE, /* the estimate is */
    TL_GATE_UNCLEAR   /* a part of the interval is: what is not shown to be within fails */
} tl_gate_when;

typedef enum tl_gate_status { TL_GATE_PASSED, TL_GATE_NOT_SHOWN, TL_GATE_FAILED } tl_gate_status;

/* A gate for one number of one function. */
typedef struct tl_gate_case {
    const char *function, *path; /* as in tl_compare_row */
    const char *metric;
    bool is_time, is_share;
    bool of_change; /* relative amounts; else those of the metric: a difference, or the number of NEW */
    double amount, estimate, low, high; /* low, high: NaN if unknown */
    tl_gate_status status; /* TL_GATE_NOT_SHOWN: not failed, but the interval is not wholly within either */
} tl_gate_case;

typedef struct tl_gate {
    const char *text;
    tl_gate_status status; /* the worst of its cases */
    size_t n;
    const tl_gate_case *item; /* [n], the worst first */
} tl_gate;

/* Tests a gate: "p99(render_page) > +5%". docs/compare.md has the grammar. *gate is borrowed as long as the comparison;
 * the text is copied.
 * Errors: TL_ESYNTAX (a mistake in the text: `offset` of the error is its place), TL_ENOMATCH (it is about no function
 * of both sides), TL_EUNSUPPORTED (fewer than 4 runs a side without the option one_run; a metric that the profiles
 * lack), TL_ENOMEM. */
int tl_compare_gate(tl_compare *c, const char *text, tl_gate_when when, const tl_gate **gate, tl_error *e);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
