/* Shared by the parts of the reader: the survey fills it on opening, cursors read it. */
#ifndef TL_FORMAT_TRACELOG_READ_H
#define TL_FORMAT_TRACELOG_READ_H

#include <pthread.h>

#include "base/id_map.h"
#include "base/io/input.h"
#include "format/tracelog/tracelog_code.h"
#include "model/trace_impl.h"

#define TRACELOG_CHUNK ((uint64_t)128 << 10) /* of the survey: fits a second-level cache */

typedef struct tracelog_reader {
    tl_input *in;
    tl_trace *trace;
    tl_want want;
    bool follow;
    bool late;                 /* what the log says about itself only becomes known while reading */
    tl_id_map track;           /* iid of a thread -> track */
    uint32_t process, unknown; /* tracks of the process, and of unknown threads */
    bool makes_calls;          /* for changes of stacks, see tl_want.calls */
    bool has_lines;            /* a saved session: an ip is a line number */
    uint64_t *floor;           /* [nfloor] by chunk: the smallest time in it and all later ones, ms */
    size_t nfloor;
    tracelog_code code;
    pthread_mutex_t lock; /* protects: */
    tl_strings names;     /* of functions, for frames: they outlive the cursor that found them */
} tracelog_reader;

/* Adds the two tracks that every log has, when there is no survey. */
int tracelog_add_tracks(tracelog_reader *r, tl_error *e);
/* Reads the whole log once, with up to want.threads threads: threads, names, code, dialect, start. Leaves damage to the
 * cursors. Errors: TL_EIO, TL_ENOMEM. */
int tracelog_survey(tracelog_reader *r, uint64_t *progress, tl_error *e);
/* A name for frames; NULL when memory runs out. Any thread. */
const char *tracelog_intern_name(tracelog_reader *r, const char *name, size_t n);
/* The track of a thread that appeared after the survey. */
int tracelog_add_track(tracelog_reader *r, uint64_t iid, uint32_t *track, tl_error *e);

#endif
