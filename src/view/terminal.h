/* The terminal's abilities, and text made to fit it. */
#ifndef TL_VIEW_TERMINAL_H
#define TL_VIEW_TERMINAL_H

#include "model/prose.h"

#define TL_WIDTH_DEFAULT 100u /* without a terminal */
#define TL_WIDTH_MIN     20u  /* narrower windows are treated as this wide */
#define TL_WIDTH_MAX     1000u

typedef enum tl_color { TL_COLOR_AUTO, TL_COLOR_ALWAYS, TL_COLOR_NEVER } tl_color;

/* Looks at a file descriptor and at COLUMNS, NO_COLOR, TERM and the locale (which must have been set). */
void tl_terminal_init(tl_terminal *t, int fd, tl_color color);
/* Settings for a file. */
void tl_terminal_file(tl_terminal *t);

/* A bar of share * width columns (share 0 .. 1); at most size bytes. A share that is not 0 shows at least a trace. */
char *tl_text_bar(const tl_terminal *t, char *buf, size_t size, double share, unsigned width);

#endif
