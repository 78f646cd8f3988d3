/* Text for CTF: names as JSON and readers need them. */
#ifndef TL_RT_CTF_TEXT_H
#define TL_RT_CTF_TEXT_H

#include <stdbool.h>

#include "rt/rt_sys.h"

/* Copies n bytes of text and a final zero into `size` bytes, cut between characters; bytes that are not UTF-8, and
 * zeros, become '?'. Returns its length; 0 if size is 0. */
size_t tl_rt_ctf_clean(char *out, size_t size, const char *s, size_t n);

/* Pieces of JSON, one after the other; what does not fit makes it `full`. */
typedef struct rt_json {
    char *text;
    size_t n, size;
    bool full;
} rt_json;
void tl_rt_json_raw(rt_json *j, const char *s);
void tl_rt_json_number(rt_json *j, uint64_t v);
void tl_rt_json_signed(rt_json *j, int64_t v);
/* In quotes, at most `most` bytes of s; control characters become '?'. Then `more`, within the quotes. */
void tl_rt_json_string(rt_json *j, const char *s, size_t most, const char *more);

#endif
