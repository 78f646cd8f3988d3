/* JSON text into a tree: a strict reader of RFC 8259.
 *
 * Why not a library? Jansson, the obvious one, has no unsigned 64-bit integers and does not report a value's offset.
 * Both are needed here: masks and identifiers use all 64 bits, and errors in files have offsets.
 *
 * Strict means: one value and white space around it, nothing else; UTF-8 without a byte order mark; no comments, no
 * trailing commas, no control characters in strings, no half surrogate pairs; and two members of an object with the
 * same name are an error, which the RFC only advises. Time and memory are linear in the text (except for sorting the
 * names of large objects): the tree takes at most 100 bytes per value, plus the size of the text. */
#ifndef TL_BASE_JSON_READ_H
#define TL_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "traceloom/error.h"

#define TL_JSON_DEPTH_MAX 512u        /* nesting depth: trees are walked by recursion */
#define TL_JSON_TEXT_MAX  0x7fffffffu /* bytes of text, so that offsets take 32 bits */

typedef enum tl_json_kind {
    TL_JSON_NULL,
    TL_JSON_BOOL,
    TL_JSON_UINT, /* an integer from 0 to 2^64 - 1 */
    TL_JSON_INT,  /* an integer from -2^63 to -1 */
    TL_JSON_REAL, /* any other number: with a fraction or exponent, or too large. Only its text is kept */
    TL_JSON_STRING,
    TL_JSON_ARRAY,
    TL_JSON_OBJECT
} tl_json_kind;

/* A value, in the arena given to tl_json_parse(). */
typedef struct tl_json_value {
    uint8_t kind;         /* tl_json_kind */
    uint32_t n;           /* bytes of a string or a real number, elements of an array, members of an object */
    uint32_t offset;      /* of its first byte in the text */
    uint32_t name_offset; /* of a member: where its name begins */
    union {
        bool b;
        uint64_t u;
        int64_t i;
        const char *s;                     /* string or real: unescaped, with a NUL after its n bytes */
        const struct tl_json_value *first; /* of an array or object; NULL: empty */
    } as;
    const struct tl_json_value *next; /* in the array or object */
    const char *name;                 /* of a member: unescaped, NUL-terminated; else NULL */
    uint32_t name_n;                  /* bytes of the name */
} tl_json_value;

/* Parses n bytes of text into a tree of at most values_max values. Errors: TL_EDAMAGED with e->offset in the text and a
 * message without a position ("expected a value, found '}'"); TL_EUNSUPPORTED if it is deeper or longer than the limits
 * above; TL_ENOMEM if memory or values_max are exhausted. After a failure the arena keeps its allocations. */
int tl_json_parse(const tl_json_value **out, tl_arena *arena, const char *text, size_t n, uint32_t values_max,
                  tl_error *e);

/* The member of an object by name; NULL if not there, or if `object` is not an object. */
const tl_json_value *tl_json_find(const tl_json_value *object, const char *name);
/* "an object", "an integer", ...: for messages. Static storage. */
const char *tl_json_kind_name(const tl_json_value *v);

#endif
