/* The records of a TraceLog as numbers, words and classes, all from records.def. */
#ifndef TL_FORMAT_TRACELOG_CLASSES_H
#define TL_FORMAT_TRACELOG_CLASSES_H

#include "model/trace_impl.h"

/* tracelog_sam_str, ...: also ids of classes. */
typedef enum tracelog_record {
#define RECORD(id, words, kind, key, role, title, other, track, fields) tracelog_##id,
#include "format/tracelog/records.def"
#undef RECORD
    TRACELOG_RECORDS
} tracelog_record;

/* Classes of events that are not lines, after those of records: calls, see tl_want.calls. */
enum tracelog_call_class { TRACELOG_ENTER = TRACELOG_RECORDS, TRACELOG_EXIT, TRACELOG_CLASSES };

/* Kinds of fields in a line; see records.def. */
typedef enum tracelog_item {
    TRACELOG_THREAD,
    TRACELOG_ANY_THREAD,
    TRACELOG_ID,
    TRACELOG_HEX,
    TRACELOG_PID,
    TRACELOG_DEC,
    TRACELOG_USAGE,
    TRACELOG_MS,
    TRACELOG_COUNT,
    TRACELOG_OLD_COUNT,
    TRACELOG_TEXT,
    TRACELOG_TEXT3,
    TRACELOG_TEXT_NEXT,
    TRACELOG_WORD,
    TRACELOG_REST,
    TRACELOG_TIME,
    TRACELOG_REASON,
    TRACELOG_GENERATIONS,
    TRACELOG_STACK,
    TRACELOG_CODE,
    TRACELOG_ALT,
    TRACELOG_ALLOC,
    TRACELOG_SIZES,
    TRACELOG_AGAIN,
    TRACELOG_NEWER_ID
} tracelog_item;

typedef struct tracelog_part_of_line {
    const char *name;
    tracelog_item item;
} tracelog_part_of_line;

/* The form of a record in a line. */
typedef struct tracelog_shape {
    const char *words; /* "sam str" */
    const tracelog_part_of_line *part;
    const tl_field *field; /* of its class: identifies the class */
    uint32_t nparts;
    bool of_process; /* otherwise of the thread that it names */
} tracelog_shape;

extern const tracelog_shape tracelog_shapes[TRACELOG_RECORDS];

#define TRACELOG_MS_MAX           UINT64_C(9223372036854) /* so that a time in ns fits 63 bits */
#define TRACELOG_USAGE_MAX        (TRACELOG_MS_MAX * 1000)
/* Key of a call whose function does not even have a known number. */
#define TRACELOG_UNKNOWN_FUNCTION INT64_MIN
/* Sampling periods in ms: the recorder's default, for logs that do not say theirs, and the longest one accepted. */
#define TRACELOG_DEFAULT_PERIOD   10u
#define TRACELOG_PERIOD_MAX       3600000u
#define TRACELOG_DEPTH_MAX        65536u /* frames of one stack */
/* A line of a few bytes can ask for thousands of frames that no line gave, or rename functions on its whole stack.
 * UNTOLD: this many such frames, and one for each four bytes of the log before it, the least that real frames take.
 * RENEWED: this many frames per batch are checked for new names. RENAMED: as many as UNTOLD may change by a new name,
 * their own or a caller's; each is a place of its own in a profile. */
#define TRACELOG_UNTOLD_FREE      262144u
#define TRACELOG_RENEWED_MAX      262144u
#define TRACELOG_RENAMED_FREE     262144u
#define TRACELOG_LINE_MAX                                                                                              \
    ((uint64_t)16 << 20) /* bytes of a line: longer ones are skipped; the deepest stack                                \
                            with all its call points takes 2 MiB */

/* Gives the trace its classes, with those of calls or without. */
int tracelog_set_classes(tl_trace *t, bool calls, tl_error *e);

#endif
