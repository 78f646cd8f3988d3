/* Types of the metadata language of 2010: from the tree of words to types of the schema. */
#ifndef TL_FORMAT_CTF_RFC2010_TYPES_H
#define TL_FORMAT_CTF_RFC2010_TYPES_H

#include "format/ctf/ctf_schema.h"
#include "format/ctf/metadata/rfc2010_names.h"
#include "format/ctf/metadata/rfc2010_parser.h"

/* Types refer to others by name, so that a small text can describe a huge tree. These bound it: */
#define RFC2010_FIELDS_MAX     65536u       /* types in one type, itself included */
#define RFC2010_FIELDS_ALL_MAX (1u << 20)   /* the same, of all event classes together */
#define RFC2010_BYTES_MAX      (128u << 20) /* of all types and names: what is inherited is made again */
#define RFC2010_PARENTS_MAX    64u          /* types that a type inherits from */

/* What a type inherits from in the end, and so is. */
typedef enum rfc2010_root {
    RFC2010_INTEGER,
    RFC2010_BITFIELD,
    RFC2010_ENUM,
    RFC2010_STRUCT,
    RFC2010_ARRAY,
    RFC2010_SEQUENCE,
    RFC2010_TEXT,
    RFC2010_FLOAT,
    RFC2010_ROOTS
} rfc2010_root;

/* A finished type. */
typedef struct rfc2010_type {
    const ctf_type *type;  /* its `align` is where it starts */
    uint32_t contribution; /* what it asks of the struct that holds it */
    uint32_t height;       /* levels of types, itself included */
    uint32_t fields;       /* types in it, itself included */
    rfc2010_root root;
} rfc2010_type;

/* Attributes that say something, in the order in which they are looked at. */
typedef enum rfc2010_key {
    RFC2010_SIZE,
    RFC2010_ALIGN,
    RFC2010_UNIT_SIZE,
    RFC2010_LENGTH,
    RFC2010_EXP_DIG,
    RFC2010_MANT_DIG,
    RFC2010_SIGNED,
    RFC2010_BYTE_ORDER,
    RFC2010_MAP,
    RFC2010_FIELDS,
    RFC2010_ELEM_TYPE,
    RFC2010_LENGTH_TYPE,
    RFC2010_PARENT,
    RFC2010_KEYS
} rfc2010_key;

typedef struct rfc2010_attributes {
    const rfc2010_node *value[RFC2010_KEYS]; /* NULL: not there */
} rfc2010_attributes;

/* A type of the metadata that has a name. */
typedef struct rfc2010_named {
    const rfc2010_node *name;
    rfc2010_attributes attributes;
    bool is_abstract, is_open, is_done; /* open: being made */
    rfc2010_type type;
} rfc2010_named;

/* All that is needed to make types. */
typedef struct rfc2010_types {
    const rfc2010_source *source;
    ctf_schema *schema; /* types and names go into its arena */
    rfc2010_names names;
    rfc2010_named *named; /* by number */
    uint32_t named_capacity;
    rfc2010_type integer[2][65]; /* predefined: [signed][bits], if their type is not NULL */
    rfc2010_type text;
    unsigned depth;
} rfc2010_types;

/* Notes type NAME { } or abstract_type NAME { }; resolves nothing. */
int rfc2010_types_declare(rfc2010_types *t, const rfc2010_node *word, const rfc2010_node *name,
                          const rfc2010_node *block);
/* Makes, and so checks, every type declared. */
int rfc2010_types_check(rfc2010_types *t);
/* The alignment of a type if the metadata declares it, else 8; at least 8. */
int rfc2010_types_alignment(rfc2010_types *t, const char *name, uint32_t *align);
/* The type of a name; `where` is blamed. */
int rfc2010_types_get(rfc2010_types *t, const char *name, const rfc2010_node *where, rfc2010_type *out);
/* The type that a value says. */
int rfc2010_types_of(rfc2010_types *t, const rfc2010_node *value, rfc2010_type *out);
/* A struct of the fields in braces, as { {type, name}, ... } or { type name; ... }. */
int rfc2010_types_fields(rfc2010_types *t, const rfc2010_node *value, rfc2010_type *out);
/* A struct of one field, or with no name of none. */
int rfc2010_types_single(rfc2010_types *t, const char *name, const rfc2010_type *field, rfc2010_type *out);
void rfc2010_types_fini(rfc2010_types *t);

#endif
