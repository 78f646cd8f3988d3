/* Internals of a tl_trace, for format readers and op; all others use traceloom/trace.h. */
#ifndef TL_MODEL_TRACE_IMPL_H
#define TL_MODEL_TRACE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/text/number.h"
#include "traceloom/error.h"
#include "traceloom/trace.h"

#define TL_DAMAGE_KEPT 10000u     /* damage entries kept; further ones are only counted */
#define TL_DAMAGE_TOLD (1u << 20) /* remembered entries: a second pass over the input does not count these again */
#define TL_TRACKS_MAX  (1u << 20) /* tracks of one trace: more suggests a damaged file */

/* The time of tick 0 on the tracer's own clock, whose origin need not be 1970: whole ns, and the rest in units of
 * 1 / hz ns. For writers that show times as the tracer's own tools do. */
typedef struct tl_origin {
    bool known;
    int64_t ns;
    uint64_t rest;
} tl_origin;

#define TL_CONTENTS_NAMED 3u

/* Contents of a folder: how many, and the names of the first. */
typedef struct tl_contents {
    uint32_t n;
    const char *name[TL_CONTENTS_NAMED];
} tl_contents;

/* See patched.h. */
typedef struct tl_patched tl_patched;

struct tl_trace {
    tl_strings strings; /* owns every string below */
    const char *path, *format, *version, *byte_order, *build_id, *exe;
    uint64_t bytes;
    tl_clock clock;
    tl_scale scale; /* of clock.hz */
    tl_origin origin;

    tl_class *cls;
    uint32_t ncls;
    bool has_aux, ranked; /* batches have these columns */
    bool unsorted;        /* the format is unsorted (tl_reader.unsorted), or that of a joined trace */
    bool shared_tracks;   /* several streams may have events of one track, which are in order only when merged */
    tl_track *track;
    uint32_t ntrack, track_capacity;

    tl_function *function;
    uint32_t nfunction, function_capacity;
    tl_hash function_index; /* id -> index */

    bool has_range;
    uint64_t begin, end; /* ticks */

    tl_damage *damage; /* faults and losses; `lock` guards it while cursors read */
    uint32_t ndamage, damage_capacity;
    uint64_t damage_count;
    tl_strings
        damage_known; /* identities of entries, up to a limit, so that a second pass over the input adds nothing */
    tl_damage *note;
    uint32_t nnote, note_capacity;
    pthread_mutex_t lock;
    uint64_t lost_events, lost_packets;
    _Atomic uint64_t out_of_order;

    tl_property *property;
    uint32_t nproperty, property_capacity;
    const tl_field *header_field; /* see tl_trace_header() */
    uint32_t nheader;
    tl_value *header;
    const tl_patched *patched; /* objects that the recorder patched; in the arena of strings */
    uint32_t npatched;
    struct tl_recording *recording; /* what our recorder says about itself (recording.h), or NULL; owned */

    bool objects_read;    /* the files of tl_open_options.object were useful */
    tl_contents parts;    /* in a folder: traces that are read as one */
    tl_contents not_read; /* ... and files that belong to no trace */

    /* Filled by readers of profiles: */
    bool profile_sampled;   /* made of samples: profile_calls counts these */
    bool profile_inclusive; /* its times include those of callees; profile_clamped: places that have less than these */
    uint64_t profile_trees; /* trees of threads: fewer than threads if several used one. 0: as many */
    uint64_t profile_threads, profile_paths, profile_calls, profile_self, profile_clamped;
};

void tl_trace_init(tl_trace *t); /* after zeroing */
void tl_trace_fini(tl_trace *t);

/* Sets clock and scale. name is static or interned. */
void tl_trace_set_clock(tl_trace *t, const char *name, uint64_t hz);
/* Copies n classes; their ids become 0 .. n-1. Names and fields are static or live as long as the trace. */
int tl_trace_set_classes(tl_trace *t, const tl_class *c, uint32_t n, tl_error *e);
/* Adds a track; its index is returned in *index. The name is copied. */
int tl_trace_add_track(tl_trace *t, const tl_track *track, uint32_t *index, tl_error *e);
/* Adds a function, or replaces the one with the same id. Strings are copied. */
int tl_trace_add_function(tl_trace *t, const tl_function *f, tl_error *e);
/* Adds damage; the text is copied. TL_ENOMEM when memory runs out. */
__attribute__((format(printf, 6, 7))) int tl_trace_add_damage(tl_trace *t, tl_error *e, uint64_t offset, uint64_t bytes,
                                                              const char *rule, const char *format, ...);
/* The same with everything in *d but `what`; file is copied, too. An entry with the same place and rule is added once.
 * A note goes to the list of notes. Thread-safe. */
__attribute__((format(printf, 4, 5))) int tl_trace_report(tl_trace *t, tl_error *e, const tl_damage *d,
                                                          const char *format, ...);
/* Sorts damage by file and offset (stable). Thread-safe. */
void tl_trace_sort_damage(tl_trace *t);
/* Adds the number of events that go back in time in a part of the trace (a stream, a file), once for each part.
 * Thread-safe. */
void tl_trace_add_out_of_order(tl_trace *t, uint64_t part, uint64_t n);
/* The property of a trace whose allocations are estimates: its recorder took one object for so many bytes. */
#define TL_PROPERTY_ALLOCATION_SAMPLING "allocation_sampling"
uint64_t tl_trace_allocation_sampling(const tl_trace *t); /* 0: it has none */
/* Strings are copied. */
int tl_trace_add_property(tl_trace *t, const char *name, const char *text, int64_t number, tl_error *e);
/* Adds one to `to`, a member of the trace; its name has n bytes and is copied. */
int tl_trace_add_content(tl_trace *t, tl_contents *to, const char *name, size_t n, tl_error *e);
/* See tl_trace_header(): n fields, which must live as long as the trace, and `slots` values, which are copied, but not
 * their contents. */
int tl_trace_set_header(tl_trace *t, const tl_field *field, uint32_t n, const tl_value *v, uint32_t slots, tl_error *e);
/* The unit of ticks: "instructions" or "ticks" without a frequency, else "ns", which they are converted to. */
const char *tl_clock_unit(const tl_clock *c);
/* Whether both can be the same clock: same name, and frequencies that differ no more than two measurements do. */
bool tl_same_clock(const tl_clock *a, const tl_clock *b);
/* Does the trace have instructions, and does its clock count them? Then times are numbers of instructions. */
bool tl_trace_counts_insns(const tl_trace *t);
/* A copy that lives as long as the trace. NULL when memory runs out. Thread-safe. */
const char *tl_trace_intern(tl_trace *t, const char *s);

/* "enter", "instant", ... */
const char *tl_kind_name(tl_kind kind);
/* What a role is called in tables; NULL: it is TL_ROLE_NONE. */
const char *tl_role_name(tl_role role);

#endif
