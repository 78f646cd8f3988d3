/* Lines to events, as far as that needs no knowledge of the lines before: what may be done by several threads.
 *
 * A part is a batch whose values are in place but for those that depend on what came before (times of records that have
 * none, tracks, stacks), and a note for each event with what the replay (tracelog_replay.h) needs to put these in. */
#ifndef TL_FORMAT_TRACELOG_SCAN_H
#define TL_FORMAT_TRACELOG_SCAN_H

#include "format/tracelog/tracelog_classes.h"
#include "model/batch.h"

enum tracelog_note_flags {
    TRACELOG_HAS_TIME = 1,
    TRACELOG_HAS_THREAD = 2, /* `thread` is its iid ... */
    TRACELOG_OS_THREAD = 4,  /* ... or this: the id of a thread of the system */
    TRACELOG_MOVED = 8,      /* the call point of the last kept frame changed, ... */
    TRACELOG_HAS_IP = 16,    /* ... to `other`; else to unknown */
    TRACELOG_TWICE = 32,     /* thr dst with two fields */
    TRACELOG_HAS_ID = 64,    /* `other` is known */
    TRACELOG_OLDEST = 128    /* cls ldf without iid, fun nam with one text */
};

typedef struct tracelog_note {
    uint64_t offset; /* of the line */
    uint64_t thread;
    uint64_t other; /* of thr aos the id of the system; of jit the functionId; of sam str the new call point */
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

/* want: what the batch is to hold. */
int tracelog_part_init(tracelog_part *p, const tl_trace *t, const tl_want *want, tl_error *e);
void tracelog_part_fini(tracelog_part *p);
void tracelog_part_clear(tracelog_part *p);

/* Lines being scanned: from `at` up to `end`, behind the last one's '\n'; 16 more bytes may be read. */
typedef struct tracelog_lines {
    const uint8_t *text; /* begins at this offset of the file: */
    uint64_t offset;
    const uint8_t *at, *end;
    tl_trace *trace; /* gets damage; NULL: lines that do not read are passed over in silence */
    bool strict;     /* the first line that does not read is an error */
} tracelog_lines;

/* Scans lines until the part is full or the lines are used up (then lines->at == lines->end). Errors: TL_ENOMEM;
 * TL_EDAMAGED if strict, behind the events before it. */
int tracelog_scan(tracelog_lines *lines, tracelog_part *part, tl_error *e);

/* Why a line (without its end) does not read: its rule (static), and a text. Written for people, not for speed. */
const char *tracelog_find_fault(const uint8_t *line, size_t n, char what[static 160]);

/* Does a line that does not read show a dialect all the same? tracelog_signs. It goes from `line` to `next`. */
unsigned tracelog_signs_of_fault(tracelog_record record, const uint8_t *line, const uint8_t *next);
/* Milliseconds since 1970 (UTC if it has a zone, else as if it were) of the text of a prf stm. False: no real date. */
bool tracelog_parse_time(const uint8_t *p, size_t n, int64_t *ms, bool *has_zone);
/* The number of a decimal text that is nothing else; false if it is none. Too large ones become UINT64_MAX. */
bool tracelog_parse_number(const char *p, size_t n, uint64_t *out);
/* Where n texts in quotes, the last thing of a line, are divided: false if they are not. begin[i] and size[i] are
 * without the quotes. */
bool tracelog_divide_texts(const uint8_t *p, size_t n, unsigned count, const uint8_t **begin, size_t *size);
/* Is it a text in quotes that cannot be divided? */
bool tracelog_is_one_text(const uint8_t *p, size_t n);

/* May a number be processor time? From 2^63 on it is negative. */
static inline bool tracelog_is_usage(uint64_t value)
{
    return value <= TRACELOG_USAGE_MAX || value >> 63;
}

#endif
