/* One line of notes while it is read: its pairs of key and value, and what is wrong with it. */
#ifndef TL_MODEL_RECORDING_LINE_H
#define TL_MODEL_RECORDING_LINE_H

#include "base/compiler.h"
#include "model/recording.h"

/* A piece of a line, not terminated. */
typedef struct piece {
    const char *p;
    size_t n;
} piece;

/* A key that a line may have, and where its value goes. */
typedef struct pair_spec {
    const char *key;
    bool needed;
    uint64_t *number; /* or */
    piece *text;
    bool seen;
} pair_spec;

/* The line at hand. */
typedef struct note {
    tl_trace *t;
    tl_recording *r;
    tl_error *e;
    const char *p, *end; /* what is left of it */
    const char *last;    /* the key whose value goes to the end of the line; NULL: no value holds blanks */
    uint64_t offset, bytes;
} note;

bool tl_piece_is(piece a, const char *s);
bool tl_piece_is_hex(piece s); /* digits of a build-id, at least one */

/* The next pair of the line: 1; 0: the line ends; -1: there is something else. */
int tl_note_pair(note *l, piece *key, piece *value);
/* Reads the pairs of a line; keys that are not known are of a later recorder. 1: all is there; 0: it is not, which is
 * damage now; < 0: error. */
int tl_note_pairs(note *l, pair_spec *spec, size_t n);
/* A value as it was before it was escaped, of the trace; NULL when memory runs out. */
const char *tl_note_text(const note *l, piece s);

/* Damage at the line: 0, or a negative code. */
int tl_note_bad(const note *l, const char *rule, const char *format, ...) TL_PRINTF(3, 4);
/* Told once: what comes after is left out in the same way. */
int tl_note_too_many(const note *l, const char *what, uint32_t most);
int tl_note_no_memory(tl_error *e);

/* Room for one more in an array that doubles; NULL when memory runs out. */
void *tl_note_grow(void *array, uint32_t n, uint32_t *capacity, size_t element);

#endif
