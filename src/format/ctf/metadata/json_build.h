/* Inside of the CTF 2 front end: from the JSON fragments of a metadata text to a schema.
 *
 * Errors are sticky: the first one is kept in `rc`, getters then return 0 or NULL, and loops end. So callers check `rc`
 * only before they store something permanently. */
#ifndef TL_FORMAT_CTF_JSON_BUILD_H
#define TL_FORMAT_CTF_JSON_BUILD_H

#include "base/hash.h"
#include "base/text/json_read.h"
#include "format/ctf/ctf_schema.h"

#define CTF_JSON_VALUES_MAX 1048576u /* JSON values of one fragment: an enumeration may have 200,000 labels */
/* Fields of all classes of a trace, with aliases expanded at each use. Plain text cannot reach this limit; without it,
 * a chain of aliases that each use the previous one twice would make 2^64 fields. */
#define CTF_JSON_FIELDS_MAX 1048576u

/* A type with what must be known to use it in another one. */
typedef struct ctf_json_type {
    const ctf_type *type; /* NULL: failed */
    uint32_t fields;      /* in it, including itself */
    uint32_t height;      /* levels of types; 1: contains no other */
} ctf_json_type;

/* Numbers of things by name. */
typedef struct ctf_json_names {
    tl_hash number; /* by address of the interned name */
    uint32_t n;
} ctf_json_names;

typedef struct ctf_json_stream {
    ctf_stream_class *cls;
    tl_hash ids; /* of its event classes */
    const ctf_event_class **event;
    uint32_t nevent, capacity;
} ctf_json_stream;

typedef struct ctf_json {
    ctf_schema *s;
    const char *text;
    size_t n;
    uint64_t base; /* where the fragment begins in the text */
    tl_error *e;
    int rc;            /* < 0: has failed */
    tl_arena fragment; /* the tree of the current fragment */
    tl_strings strings;
    ctf_json_names aliases, clocks;
    ctf_json_type *alias; /* by number in `aliases` */
    uint32_t alias_capacity;
    const ctf_clock **clock; /* by number in `clocks` */
    uint32_t clock_capacity;
    tl_hash stream_ids;
    ctf_json_stream *stream;
    uint32_t nstream, stream_capacity;
    uint32_t nevent;      /* of all streams */
    uint64_t fields;      /* of all classes */
    uint32_t little, big; /* numbers of more than a byte, by byte order */
    tl_hash member_seen;  /* by address of the interned name: number of the last struct that had it */
    uint32_t structs;     /* counted for member_seen */
    bool has_trace;       /* a trace-class fragment was seen */
    char clip[64];        /* see ctf_json_clip() */
} ctf_json;

/* ---- json_property.c ---- */

/* Fails at a value of the fragment, unless it has already failed. Returns j->rc. */
__attribute__((format(printf, 4, 5))) int ctf_json_fail(ctf_json *j, tl_code code, const tl_json_value *at,
                                                        const char *format, ...);
int ctf_json_no_memory(ctf_json *j);
/* Zeroed memory that lives as long as the schema; NULL, and an error, if there is none, or after an earlier error. */
void *ctf_json_alloc(ctf_json *j, size_t n);
/* A name shortened for a message; valid until the next call. */
const char *ctf_json_clip(ctf_json *j, const char *name);

/* A property of an object, or NULL; it must have the kind. */
const tl_json_value *ctf_json_get(ctf_json *j, const tl_json_value *object, const char *name, tl_json_kind kind);
/* A required property of any kind. */
const tl_json_value *ctf_json_need(ctf_json *j, const tl_json_value *object, const char *name);
/* An unsigned integer from low to high; `missing` if it does not exist. */
uint64_t ctf_json_uint(ctf_json *j, const tl_json_value *object, const char *name, uint64_t low, uint64_t high,
                       uint64_t missing);
/* The same for a required one. */
uint64_t ctf_json_need_uint(ctf_json *j, const tl_json_value *object, const char *name, uint64_t low, uint64_t high);
/* A string as a C string in the arena of the fragment; NULL if it does not exist. Fails if it contains a NUL. */
const char *ctf_json_word(ctf_json *j, const tl_json_value *object, const char *name);
/* The same in the arena of the schema. */
const char *ctf_json_string(ctf_json *j, const tl_json_value *object, const char *name);
/* A string of the tree, copied into the arena of the schema. Fails if it contains a NUL. */
const char *ctf_json_copy(ctf_json *j, const tl_json_value *at, const char *s, uint32_t n);
/* An alignment in bits. */
uint32_t ctf_json_align(ctf_json *j, const tl_json_value *object, const char *name, uint32_t missing);
/* A uuid as an array of 16 integers; false if it does not exist. */
bool ctf_json_uuid(ctf_json *j, const tl_json_value *object, uint8_t uuid[16]);

/* The number of a name, or TL_HASH_NONE. */
uint32_t ctf_json_names_find(ctf_json *j, const ctf_json_names *names, const char *name);
/* Gives a new name the next number. */
void ctf_json_names_add(ctf_json *j, ctf_json_names *names, const char *name);

/* ---- json_types.c, json_compound.c ---- */

/* The type of a field class (an object, or the name of an alias). `depth`: types around it. */
ctf_json_type ctf_json_field_class(ctf_json *j, const tl_json_value *v, unsigned depth);
/* Types that contain others: structure, arrays, optional, variant. *done is cleared if v is not one of them. */
ctf_json_type ctf_json_compound(ctf_json *j, const tl_json_value *v, const char *kind, unsigned depth, bool *done);
/* A scope, which must be a structure. NULL if the property does not exist. */
const ctf_type *ctf_json_scope(ctf_json *j, const tl_json_value *fragment, const char *name);
/* The location in a required property. */
const ctf_location *ctf_json_location(ctf_json *j, const tl_json_value *object, const char *name);
/* Labels of ranges: {"label": [[low, high], ...], ...}. */
void ctf_json_mappings(ctf_json *j, const tl_json_value *object, const char *name, ctf_type *t);

/* ---- json_fragment.c ---- */

void ctf_json_fragment(ctf_json *j, const tl_json_value *fragment, bool is_first);

#endif
