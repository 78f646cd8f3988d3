/* Lines to events, as far as possible without the preceding lines: this part can run on several threads.
 *
 * A part is a batch with all values except those that depend on earlier lines (times of records without one, tracks,
 * stacks), and a note for each event with what the replay (tracelog_replay.h) needs to add these. */
#ifndef TL_FORMAT_TRACELOG_SCAN_H
#define TL_FORMAT_TRACELOG_SCAN_H

#include "format/tracelog/tracelog_classes.h"
#include "model/batch.h"

enum tracelog_note_flags {
    TRACELOG_HAS_TIME = 1,
    TRACELOG_HAS_THREAD = 2, /* `thread` is its iid ... */
    TRACELOG_OS_THREAD = 4,  /* ... or this: the id of a thread of the system */
    TRACELOG_MOVED = 8,      /* the call point of the last kept frame changed, ... */
    TRACELOG_HAS_IP = 16,    /* ... to `other`; otherwise to unknown */
    TRACELOG_TWICE = 32,     /* thr dst with two fields */
    TRACELOG_HAS_ID = 64,    /* `other` is known */
    TRACELOG_OLDEST = 128    /* cls ldf without iid, fun nam with one text */
};

typedef struct tracelog_note {
    uint64_t offset; /* of the line */
    uint64_t thread;
    uint64_t other; /* thr aos: the system's id; jit: the functionId; sam str: the new call point */
    uint32_t kept, size;
    uint32_t nframes;  /* of sam str: new frames, ... */
    uint32_t bad_text; /* bytes that are not UTF-8 */
    uint32_t flags;
    tl_frame *frame; /* ... in the batch's memory, outermost first, without caller, name and depth */
} tracelog_note;

typedef struct tracelog_part {
    tl_batch batch;
    tracelog_note *note;         /* [TL_BATCH_MAX] */
    tl_frame *frame, *frame_end; /* room for the next frames */
    bool no_memory;
} tracelog_part;

/* want: the content of the batch. */
int tracelog_part_init(tracelog_part *p, const tl_trace *t, const tl_want *want, tl_error *e);
void tracelog_part_fini(tracelog_part *p);
void tracelog_part_clear(tracelog_part *p);

/* Lines being scanned: from `at` up to `end`, after the last '\n'; 16 more bytes are readable. */
typedef struct tracelog_lines {
    const uint8_t *text; /* begins at this file offset: */
    uint64_t offset;
    const uint8_t *at, *end;
    tl_trace *trace; /* gets damage; NULL: malformed lines are skipped silently */
    bool strict;     /* the first malformed line is an error */
} tracelog_lines;

/* Scans lines until the part is full or the lines are used up (then lines->at == lines->end). Errors: TL_ENOMEM;
 * TL_EDAMAGED if strict, after the events before it. */
int tracelog_scan(tracelog_lines *lines, tracelog_part *part, tl_error *e);

/* Why a line (without its end) is malformed: its rule (static), and a text. Written for people, not for speed. */
const char *tracelog_find_fault(const uint8_t *line, size_t n, char what[static 160]);

/* The dialect that a malformed line from `line` to `next` still shows: tracelog_signs. */
unsigned tracelog_signs_of_fault(tracelog_record record, const uint8_t *line, const uint8_t *next);
/* Milliseconds since 1970 (UTC, or taken as UTC if it has no zone) of the text of a prf stm. False: invalid date. */
bool tracelog_parse_time(const uint8_t *p, size_t n, int64_t *ms, bool *has_zone);
/* Parses a text that is only a decimal number; false otherwise. Too large ones become UINT64_MAX. */
bool tracelog_parse_number(const char *p, size_t n, uint64_t *out);
/* Splits n quoted texts at the end of a line: false if malformed. begin[i] and size[i] are without the quotes. */
bool tracelog_divide_texts(const uint8_t *p, size_t n, unsigned count, const uint8_t **begin, size_t *size);
/* Is it a quoted text that cannot be split? */
bool tracelog_is_one_text(const uint8_t *p, size_t n);

/* May a number be processor time? From 2^63 on it is negative. */
static inline bool tracelog_is_usage(uint64_t value)
{
    return value <= TRACELOG_USAGE_MAX || value >> 63;
}

#endif
