/* Cutting a log into blocks of whole lines, each of which can be found without the others.
 *
 * Block n has the lines that begin in bytes n * size .. (n + 1) * size - 1. */
#ifndef TL_FORMAT_TRACELOG_CUT_H
#define TL_FORMAT_TRACELOG_CUT_H

#include "base/io/input.h"
#include "format/tracelog/tracelog_scan.h"

/* The text of a block, in memory that is reused for the next. Zeroed is empty. */
typedef struct tracelog_text {
    uint8_t *data;
    size_t capacity;
} tracelog_text;

/* Where damage in a block is reported, if at all. */
typedef struct tracelog_cutting {
    tl_input *in;
    uint64_t size;   /* bytes of a block */
    tl_trace *trace; /* gets damage, or NULL */
    bool strict;     /* damage is an error */
} tracelog_cutting;

/* Reads block `number` into *text; *lines are its whole lines, if any. 1; 0 after the end of the log; < 0 error:
 * TL_EIO, TL_ENOMEM, and TL_EDAMAGED if strict, with the lines before the damage in *lines. Reports unterminated lines
 * and those longer than TRACELOG_LINE_MAX. */
int tracelog_cut(const tracelog_cutting *c, uint64_t number, tracelog_text *text, tracelog_lines *lines, tl_error *e);
/* For a log that is still being written: whole lines from *offset on, as many as there are (at most about a block, or
 * none of one that is too long), and advances it. 0: there is no whole line. */
int tracelog_cut_at(const tracelog_cutting *c, uint64_t *offset, tracelog_text *text, tracelog_lines *lines,
                    tl_error *e);
/* When no more will come: reports the rest from `offset` as an unterminated line. 0, or as tracelog_cut(). */
int tracelog_cut_rest(const tracelog_cutting *c, uint64_t offset, tl_error *e);
void tracelog_text_fini(tracelog_text *t);

#endif
