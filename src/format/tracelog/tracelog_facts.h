/* What a log says about itself: threads, functions, modules, lines, start and dialect. Collected line by line in the
 * order of the log, by the survey or while reading. */
#ifndef TL_FORMAT_TRACELOG_FACTS_H
#define TL_FORMAT_TRACELOG_FACTS_H

#include "format/tracelog/tracelog_read.h"
#include "format/tracelog/tracelog_scan.h"

typedef struct fact_thread {
    uint64_t iid, os;
    bool has_os;
} fact_thread;

typedef struct fact_function {
    uint64_t iid;
    const char *name; /* the latest, or NULL */
    uint64_t module;
    bool has_module;
} fact_function;

/* Signs of a dialect; and CALLS: lines of samples may be calls. */
enum tracelog_signs { TRACELOG_OLD = 1, TRACELOG_SAVED = 2, TRACELOG_VS = 4, TRACELOG_CALLS = 8 };

typedef struct tracelog_facts {
    tracelog_reader *reader;
    tl_id_map function_of; /* iid -> index */
    fact_function *function;
    uint32_t nfunction, function_capacity;
    tl_hash module_of; /* moduleId -> index */
    const char **module;
    uint32_t nmodule, module_capacity;
    tl_id_map thread_of; /* iid -> index */
    fact_thread *thread;
    uint32_t nthread, thread_capacity;
    bool has_start, has_pid;
    uint64_t pid;
    uint64_t allocated; /* AllocationSampling, until it is told; 0: not given */
    unsigned signs;     /* tracelog_signs */
} tracelog_facts;

/* Does a record have a persistent fact? Only those are taken. */
bool tracelog_is_fact(tracelog_record record);
/* Does a prf cfg, by the text after its words, make changes of stacks calls? A guess that is wrong only if more
 * follows. */
bool tracelog_sets_calls(const uint8_t *p, size_t n);
/* The signs of a dialect in a record, with the flags of its note. */
unsigned tracelog_signs_of(tracelog_record record, unsigned note_flags);
/* Takes the facts of a record: its values as on a tape, and its thread. TL_ENOMEM. */
int tracelog_facts_take(tracelog_facts *f, tracelog_record record, uint64_t thread, const tl_value *v, tl_error *e);
/* Adds a thread with this number. */
int tracelog_facts_thread(tracelog_facts *f, uint64_t iid, tl_error *e);
/* Adds everything to the trace: new tracks in the order of their names; functions; dialect. */
int tracelog_facts_tell(tracelog_facts *f, tl_error *e);
void tracelog_facts_fini(tracelog_facts *f);

#endif
