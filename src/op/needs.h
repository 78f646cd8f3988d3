/* What tables are made from, and whether a source has it: one list of needs for all tables. */
#ifndef TL_OP_NEEDS_H
#define TL_OP_NEEDS_H

#include "op/source_impl.h"
#include "traceloom/profile.h"

/* What there may be in a source. */
enum tl_has {
    TL_HAS_EVENTS = 1,
    TL_HAS_CALLS = 2,     /* also those that stacks tell */
    TL_HAS_DURATIONS = 8, /* of each call */
    TL_HAS_SAMPLES = 16,
    TL_HAS_RUNTIME = 32,
    TL_HAS_INSNS = 64,
    TL_HAS_SNAPSHOTS = 128,
    TL_HAS_SPANS = 256,
    TL_HAS_COUNTERS = 512,
    TL_HAS_THREADS = 1024, /* are distinguished */
    TL_HAS_SWITCHES = 2048
};

/* tl_table_info.needs: words for people, which are also how a table says what it needs. */
#define TL_NEEDS_NOTHING   "any trace or profile"
#define TL_NEEDS_EVENTS    "events"
#define TL_NEEDS_CALLS     "calls"
#define TL_NEEDS_DURATIONS "durations of calls"
#define TL_NEEDS_SAMPLES   "samples"
#define TL_NEEDS_STACKS    "calls or samples"
#define TL_NEEDS_RUNTIME   "a managed runtime"
#define TL_NEEDS_INSNS     "instructions"
#define TL_NEEDS_SNAPSHOTS "snapshots of registers"
#define TL_NEEDS_SPANS     "begins and ends"
#define TL_NEEDS_SLICES    "calls, or begins and ends"
#define TL_NEEDS_COUNTERS  "counters"
#define TL_NEEDS_SWITCHES  "switches of threads"

/* What a source has by its classes and, of calls and samples, by the profile that was made from it, or NULL. */
unsigned tl_source_has(const tl_source *s, const tl_profile *p);
/* The same without instructions that are declared but not there: reads up to the first event of one. No cursor is
 * open. */
unsigned tl_source_really_has(tl_source *s, const tl_profile *p);
/* Does a source that has that have what a table needs? */
bool tl_needs_met(const char *needs, unsigned has);
/* Is it about a machine: an instruction, what it did, or a snapshot? */
static inline bool tl_class_of_machine(const tl_class *c)
{
    return c->role >= TL_ROLE_A64 && c->role <= TL_ROLE_SNAPSHOT;
}
/* Reads up to the first event of a class that counts, with all processors: is there one? Errors: those of reading, if
 * none was found before. */
int tl_source_find_event(tl_source *s, bool (*counts)(const tl_class *c), bool *found, tl_error *e);
/* The same; true if the source cannot be read. */
bool tl_source_any_event(tl_source *s, bool (*counts)(const tl_class *c));

#endif
