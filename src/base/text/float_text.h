/* Floating-point numbers as text. */
#ifndef TL_BASE_FLOAT_TEXT_H
#define TL_BASE_FLOAT_TEXT_H

#include <stdbool.h>

/* Most bytes that the functions below write. */
#define TL_FLOAT_TEXT_MAX 32u

/* Writes the shortest decimal text that reads back as the same number, always with a point or an exponent. Returns the
 * end. Only for finite numbers. */
char *tl_put_double(char *p, double v);
/* The same for a number that came from a float. */
char *tl_put_float(char *p, float v);
/* Any number, by one of these two, or NaN, Infinity, -Infinity. */
char *tl_put_real(char *p, double v, bool single);
/* As printf("%g") in the C locale: six digits. Any number. */
char *tl_put_six(char *p, double v);

#endif
