/* UTF-8: recognition and repair. */
#ifndef TL_BASE_UTF8_H
#define TL_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at s, of at most n (n > 0); 0 if it is not valid: a stray continuation byte, a truncated or
 * overlong sequence, a surrogate, or beyond U+10FFFF. */
size_t tl_utf8_length(const char *s, size_t n);

/* The same for a character that is safe on a terminal: 0 also for control characters (C0, DEL, C1) and for invisible
 * ones that change the direction of text or break lines (U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069). */
size_t tl_utf8_shown(const char *s, size_t n);

/* Copies n bytes to out (room for 2 * n); bytes that are not UTF-8 become the characters U+0080 to U+00FF. Returns the
 * number of bytes written. */
size_t tl_utf8_repair(char *out, const char *s, size_t n);

#endif
