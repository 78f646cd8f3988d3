/* Messages of the recorder: one line to standard error, "traceloom-rt: " in front. No stdio, no malloc. */
#ifndef TL_RT_SAY_H
#define TL_RT_SAY_H

#include <stdbool.h>

#include "rt/rt_sys.h"

/* A line built piece by piece; what does not fit is cut. */
typedef struct rt_line {
    char text[1024];
    size_t n;
} rt_line;

/* An empty line. Not `= {0}`: that is a call of libc's memset, which hooks must not make. */
RT_INLINE void rt_line_begin(rt_line *l)
{
    l->n = 0;
    l->text[0] = 0;
}

void tl_rt_line_text(rt_line *l, const char *s); /* NULL: "(null)" */
void tl_rt_line_number(rt_line *l, uint64_t v);
void tl_rt_line_signed(rt_line *l, int64_t v);
void tl_rt_line_hex(rt_line *l, uint64_t v); /* without 0x */
/* A text at the end of a note: line feeds become \n, backslashes are doubled. */
void tl_rt_line_escaped(rt_line *l, const char *s);

/* Prints a message. A nonzero errno is appended in words; with "quiet" only if `error`. */
void tl_rt_say(const rt_line *l, int sys_errno, bool error);
/* The usual one: "WHAT 'PATH': No space left on device". Each `what` is printed once per process. */
void tl_rt_say_error(const char *what, const char *path, int sys_errno);
const char *tl_rt_errno_text(int sys_errno); /* in English, static */

/* A whole number with 0x allowed; size with k M G (powers of 1024) and time with ns us ms s. False: malformed. */
bool tl_rt_read_number(const char *s, uint64_t *out);
bool tl_rt_read_size(const char *s, uint64_t *out);
bool tl_rt_read_time(const char *s, uint64_t *ns);
bool tl_rt_glob(const char *pattern, const char *s); /* * and ? and [a-z]; linear space, quadratic time */
bool tl_rt_same(const char *a, const char *b);
const char *tl_rt_base(const char *path); /* its last part */

#endif
