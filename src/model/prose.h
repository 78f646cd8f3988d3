/* Text for people: where it goes, and how it may look there. */
#ifndef TL_MODEL_PROSE_H
#define TL_MODEL_PROSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/io/output.h"

typedef struct tl_terminal {
    bool tty;
    bool fit; /* tables fit the width: columns are left out and names cut; else they are shown in full */
    bool color;
    bool unicode; /* the locale can show block and line characters */
    unsigned width;
} tl_terminal;

typedef enum tl_style { TL_PLAIN_TEXT, TL_STRONG, TL_HEADER, TL_ACCENT, TL_FAINT } tl_style;
/* The sequence that switches a style on, or "" without colour; TL_PLAIN_TEXT resets. */
const char *tl_style_on(const tl_terminal *t, tl_style style);

/* Where the sentences of an answer go. */
typedef struct tl_prose {
    tl_output *out;
    const tl_terminal *terminal;
    bool markdown; /* escape names for Markdown */
} tl_prose;

/* "1 call", "1,204 calls" */
void tl_say_count(const tl_prose *p, uint64_t n, const char *one, const char *many);
/* The text, cleaned, in a style. */
void tl_say_styled(const tl_prose *p, tl_style style, const char *text);

/* "... 30 more methods; --top 0 shows all", faint, as a line; nothing if n is 0. rest: what does, if not --top 0. */
void tl_say_left_out(const tl_prose *p, uint64_t n, const char *of, const char *rest);

/* Columns of n bytes of text, which must have gone through tl_text_clean(). */
unsigned tl_text_width(const char *s, size_t n);
/* The bytes of the first character, and its columns; n > 0. */
size_t tl_text_character(const char *s, size_t n, unsigned *columns);

/* Copies text for people: control characters and bytes that are not UTF-8 become "?". A name from a file must neither
 * break a line nor control the terminal. Writes at most size bytes, terminated; returns buf. */
char *tl_text_clean(char *buf, size_t size, const char *s);
/* The same, written to an output, however long it is. */
void tl_text_put_clean(tl_output *out, const char *s);

/* Shortens text to `width` columns by replacing its middle. Returns s itself if it fits, else buf (of `size` bytes). */
const char *tl_text_fit(const tl_terminal *t, char *buf, size_t size, const char *s, unsigned width);

/* The same for Markdown: escapes everything with a meaning there or in HTML. */
void tl_text_put_markdown(tl_output *out, const char *s);

/* A line that shows n values, each between 0 and 1; below 0: unknown, and at or below -2: a gap. buf needs 4 * n + 1
 * bytes. Returns buf. */
char *tl_text_spark(const tl_terminal *t, char *buf, const double *value, unsigned n);

#endif
