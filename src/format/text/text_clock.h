/* Which times the styles of text show: tl_write_options.clock. */
#ifndef TL_FORMAT_TEXT_CLOCK_H
#define TL_FORMAT_TEXT_CLOCK_H

#include "model/format_impl.h"

/* In the order of the words. */
typedef enum text_clock { TEXT_CLOCK_RELATIVE, TEXT_CLOCK_DELTA, TEXT_CLOCK_WALL, TEXT_CLOCK_DATE } text_clock;

#define TEXT_SECOND_SIZE 48u /* bytes of text_second() */

/* The style asked for, if any; `words` lists those that the format has. Errors: TL_EINVAL for another one,
 * TL_EUNSUPPORTED for a time of day that the clock does not know. */
int text_clock_choose(text_clock *out, const tl_write_context *context, const char *words, tl_error *e);
/* "19:57:48.", with `date` "2026-01-31 19:57:48.": a second in UTC, counted from 1970. Returns the end. */
char *text_second(char *p, int64_t second, bool date);

#endif
