/* Reading one line of notes: its key-value pairs, and its mistakes. */
#ifndef TL_MODEL_RECORDING_LINE_H
#define TL_MODEL_RECORDING_LINE_H

#include "base/compiler.h"
#include "model/recording.h"

/* A piece of a line, not terminated. */
typedef struct piece {
    const char *p;
    size_t n;
} piece;

/* A key that a line may have, and the destination of its value. */
typedef struct pair_spec {
    const char *key;
    bool needed;
    uint64_t *number; /* or */
    piece *text;
    bool seen;
} pair_spec;

/* The current line. */
typedef struct note {
    tl_trace *t;
    tl_recording *r;
    tl_error *e;
    const char *p, *end; /* the rest of it */
    const char *last;    /* the key whose value extends to the end of the line; NULL: no value contains blanks */
    uint64_t offset, bytes;
    size_t kept; /* where the line is in the recording's text */
} note;

bool tl_piece_is(piece a, const char *s);
bool tl_piece_is_hex(piece s); /* digits of a build-id, at least one */
/* Takes hexadecimal digits from the begin of a piece. False: there is none, or the number has over 64 bits. */
bool tl_piece_take_hex(piece *s, uint64_t *out);

/* The next pair of the line: 1; 0: end of line; -1: malformed. */
int tl_note_pair(note *l, piece *key, piece *value);
/* Reads the pairs of a line; ignores unknown keys, which are from a later recorder. 1: complete; 0: not, which is
 * recorded as damage; < 0: error. */
int tl_note_pairs(note *l, pair_spec *spec, size_t n);
/* A value with escapes undone, in the trace; NULL when memory runs out. */
const char *tl_note_text(const note *l, piece s);

/* Records damage at the line: 0, or a negative code. */
int tl_note_bad(const note *l, const char *rule, const char *format, ...) TL_PRINTF(3, 4);
/* Reported once: the rest is left out in the same way. */
int tl_note_too_many(const note *l, const char *what, uint32_t most);
int tl_note_no_memory(tl_error *e);

/* Lines about patched functions (recording_frames.c); as other lines: 1 good, 0 damage, < 0 an error. */
int tl_note_take_frames(note *l);
int tl_note_take_patched(note *l);
/* Adds the functions of all lines "frames" to the trace. */
int tl_recording_fill_frames(tl_trace *t, tl_error *e);

#endif
