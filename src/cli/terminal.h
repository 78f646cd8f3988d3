/* What is known of the terminal that text goes to, and text that suits it: width, colour, bars, safe characters. */
#ifndef TL_CLI_TERMINAL_H
#define TL_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/io/output.h"
#include "cli/options.h"

#define TL_WIDTH_DEFAULT 100u /* where there is no terminal */
#define TL_WIDTH_MIN     20u  /* narrower windows are treated as this wide */
#define TL_WIDTH_MAX     1000u

typedef struct tl_terminal {
    bool tty;
    bool color;
    bool unicode; /* the locale can show block and line characters */
    unsigned width;
} tl_terminal;

/* Looks at a file descriptor and at COLUMNS, NO_COLOR, TERM and the locale (which must have been set). */
void tl_terminal_init(tl_terminal *t, int fd, tl_color color);
/* What suits a file. */
void tl_terminal_file(tl_terminal *t);

typedef enum tl_style { TL_PLAIN_TEXT, TL_STRONG, TL_HEADER, TL_ACCENT, TL_FAINT } tl_style;
/* The sequence that switches a style on, or "" without colour; TL_PLAIN_TEXT switches back. */
const char *tl_style_on(const tl_terminal *t, tl_style style);

/* Columns that n bytes of text take. Text must have gone through tl_text_clean(). */
unsigned tl_text_width(const char *s, size_t n);

/* Copies text for people: control characters and bytes that are no UTF-8 become "?". A name from a file must neither
 * break a line nor command the terminal. Writes at most size bytes, terminated; returns buf. */
char *tl_text_clean(char *buf, size_t size, const char *s);

/* The same, written to an output, however long it is. */
void tl_text_put_clean(tl_output *out, const char *s);

/* Shortens text to `width` columns by replacing its middle. Returns s itself if it fits, else buf (of `size` bytes). */
const char *tl_text_fit(const tl_terminal *t, char *buf, size_t size, const char *s, unsigned width);

/* A bar of share * width columns (share 0 .. 1); at most size bytes. A share that is not 0 shows at least a trace. */
char *tl_text_bar(const tl_terminal *t, char *buf, size_t size, double share, unsigned width);

#endif
