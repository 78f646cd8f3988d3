/* The facts that `info` collects, and its two ways of showing them. */
#ifndef TL_CLI_VERB_INFO_H
#define TL_CLI_VERB_INFO_H

#include "base/hash.h"
#include "base/io/output.h"
#include "base/text/json_write.h"
#include "cli/verbs.h"
#include "traceloom/source.h"

/* Classes with the same name and kind: a format may have several, with different fields. */
typedef struct tl_class_count {
    const char *name;
    tl_kind kind;
    uint64_t events;
} tl_class_count;

typedef struct tl_facts {
    const tl_trace *trace;
    tl_count count;      /* of events; empty for a profile */
    tl_class_count *cls; /* [ncls]: those with events, in the order of the trace */
    uint32_t ncls;
    bool not_counted; /* only the times of events are known */
    bool is_profile;
    bool profile_sampled, profile_inclusive; /* as in the trace */
    uint64_t profile_trees, profile_threads, profile_paths, profile_calls, profile_self,
        profile_clamped; /* self in ticks */
} tl_facts;

/* For people, `info` does not read larger inputs whose reader knows the times beforehand. */
#define TL_INFO_READ_MAX (UINT64_C(1) << 30)

/* Does `info` have to read all events? */
bool tl_info_counts(const tl_arguments *a, const tl_trace *t);
/* Fills `cls` from `count`. False when memory runs out. */
bool tl_facts_sum_classes(tl_facts *f);
void tl_facts_fini(tl_facts *f);
/* Is the track worth a line: has it events, or a time that it covers? */
bool tl_facts_lists_track(const tl_facts *f, uint32_t track);
/* The next property whose name has not occurred before, from *next on, which is advanced; NULL at the end. `seen` is a
 * zeroed table of the caller, to be finished by tl_hash_fini(). */
const tl_property *tl_facts_property(const tl_facts *f, uint32_t *next, tl_hash *seen);

void tl_info_json(const tl_facts *f, tl_output *out);
/* The member "notes" of an object, if there are notes: for info and check. */
void tl_notes_json(tl_json *j, const tl_trace *t);
/* The header of the trace: as members of an object; and as a line for each member, by `line`. */
void tl_header_json(tl_json *j, const tl_trace *t);
void tl_header_text(const tl_trace *t, void (*line)(void *arg, const char *label, const char *text), void *arg);
/* False: memory ran out. */
bool tl_info_text(const tl_facts *f, const tl_cli *c, tl_output *out);

/* The tick that times are counted from: that of the first event, or tick 0 if the clock says so. */
uint64_t tl_facts_zero(const tl_facts *f);

/* The time of day of a tick, UTC, as "2026-01-31T12:00:00.500000000Z"; for a clock that counts ms as "12:00:00.500Z".
 * Returns buf. */
char *tl_utc_text(char *buf, size_t size, const tl_trace *t, uint64_t ticks);

#endif
