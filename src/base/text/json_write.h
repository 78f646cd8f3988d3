/* JSON text: escaping, and a small writer that sets the commas. */
#ifndef TL_BASE_JSON_WRITE_H
#define TL_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/io/output.h"

/* Writes n bytes as a JSON string with quotes to p (room for 6*n + 2); returns the end. Bytes that are not UTF-8 become
 * \u00XX one by one; their number is added to *bad (may be NULL). */
char *tl_json_put_string(char *p, const char *s, size_t n, uint64_t *bad);

typedef struct tl_json {
    tl_output *out;
    unsigned depth;
    bool comma; /* the current level has a value already */
} tl_json;

void tl_json_init(tl_json *j, tl_output *out);
void tl_json_object(tl_json *j);     /* { */
void tl_json_object_end(tl_json *j); /* } */
void tl_json_array(tl_json *j);
void tl_json_array_end(tl_json *j);
void tl_json_key(tl_json *j, const char *key);
void tl_json_key_n(tl_json *j, const char *key, size_t n);
/* The same of a name of our own that needs no escapes: ASCII without quotes, shorter than TL_OUTPUT_ROOM. */
void tl_json_name(tl_json *j, const char *name, size_t n);
void tl_json_string(tl_json *j, const char *s); /* NULL: null */
void tl_json_string_n(tl_json *j, const char *s, size_t n);
void tl_json_u64(tl_json *j, uint64_t v);
void tl_json_i64(tl_json *j, int64_t v);
void tl_json_bool(tl_json *j, bool v);
void tl_json_null(tl_json *j);
void tl_json_raw(tl_json *j, const char *text); /* a value that is JSON already */
/* Key and value in one. */
void tl_json_key_string(tl_json *j, const char *key, const char *s);
void tl_json_key_u64(tl_json *j, const char *key, uint64_t v);
void tl_json_key_i64(tl_json *j, const char *key, int64_t v);
void tl_json_key_null(tl_json *j, const char *key);

#endif
