/* The records of a TraceLog as numbers, words and classes: all made of records.def. */
#ifndef TL_FORMAT_TRACELOG_CLASSES_H
#define TL_FORMAT_TRACELOG_CLASSES_H

#include "model/trace_impl.h"

/* tracelog_sam_str, ...: ids of classes, too. */
typedef enum tracelog_record {
#define RECORD(id, words, kind, key, role, title, other, track, fields) tracelog_##id,
#include "format/tracelog/records.def"
#undef RECORD
    TRACELOG_RECORDS
} tracelog_record;

/* Classes of events that are not lines, behind those of records: calls, see tl_want.calls. */
enum tracelog_call_class { TRACELOG_ENTER = TRACELOG_RECORDS, TRACELOG_EXIT, TRACELOG_CLASSES };

/* What a field of a line is; see records.def. */
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

/* A record as it stands in a line. */
typedef struct tracelog_shape {
    const char *words; /* "sam str" */
    const tracelog_part_of_line *part;
    const tl_field *field; /* of its class: tells that a class is this one */
    uint32_t nparts;
    bool of_process; /* else of the thread that it names */
} tracelog_shape;

extern const tracelog_shape tracelog_shapes[TRACELOG_RECORDS];

#define TRACELOG_MS_MAX           UINT64_C(9223372036854) /* so that a time in ns fits 63 bits */
#define TRACELOG_USAGE_MAX        (TRACELOG_MS_MAX * 1000)
/* In the key of a call: not even the number of its function is known. */
#define TRACELOG_UNKNOWN_FUNCTION INT64_MIN
/* Of samples, in ms: what the recorder takes where a log says none, and the longest that is believed. */
#define TRACELOG_DEFAULT_PERIOD   10u
#define TRACELOG_PERIOD_MAX       3600000u
#define TRACELOG_DEPTH_MAX        65536u /* frames of one stack */
/* A line of a few bytes can ask for thousands of frames that no line told, or for new names of all that its stack has.
 * UNTOLD: so many, and one for each four bytes of the log before it, which is what frames that are told take at least.
 * RENEWED: so many a batch are looked at for new names. RENAMED: as many as UNTOLD may be others by a new name, their
 * own or that of one they were called by; each is a place of its own in a profile. */
#define TRACELOG_UNTOLD_FREE      262144u
#define TRACELOG_RENEWED_MAX      262144u
#define TRACELOG_RENAMED_FREE     262144u
#define TRACELOG_LINE_MAX                                                                                              \
    ((uint64_t)16 << 20) /* bytes of a line: longer ones are skipped; the deepest stack                                \
                            with all its call points takes 2 MiB */

/* Gives the trace its classes, with those of calls or without. */
int tracelog_set_classes(tl_trace *t, bool calls, tl_error *e);

#endif
