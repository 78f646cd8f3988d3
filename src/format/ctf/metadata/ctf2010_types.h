/* Types of the metadata language of 2010: from the tree of words to types of the schema. */
#ifndef TL_FORMAT_CTF_CTF2010_TYPES_H
#define TL_FORMAT_CTF_CTF2010_TYPES_H

#include "format/ctf/ctf_schema.h"
#include "format/ctf/metadata/ctf2010_names.h"
#include "format/ctf/metadata/ctf2010_parser.h"

/* Types refer to others by name, so a small text can describe a huge tree. These limits bound it: */
#define CTF2010_FIELDS_MAX     65536u       /* types in one type, including itself */
#define CTF2010_FIELDS_ALL_MAX (1u << 20)   /* the same for all event classes together */
#define CTF2010_BYTES_MAX      (128u << 20) /* of all types and names: inherited parts are made again */
#define CTF2010_PARENTS_MAX    64u          /* types that a type inherits from */

/* The root from which a type inherits, which decides its kind. */
typedef enum ctf2010_root {
    CTF2010_INTEGER,
    CTF2010_BITFIELD,
    CTF2010_ENUM,
    CTF2010_STRUCT,
    CTF2010_ARRAY,
    CTF2010_SEQUENCE,
    CTF2010_TEXT,
    CTF2010_FLOAT,
    CTF2010_ROOTS
} ctf2010_root;

/* A finished type. */
typedef struct ctf2010_type {
    const ctf_type *type;  /* its `align` is where it starts */
    uint32_t contribution; /* its share in the alignment of the struct that contains it */
    uint32_t height;       /* levels of types, including itself */
    uint32_t fields;       /* types in it, including itself */
    ctf2010_root root;
} ctf2010_type;

/* Meaningful attributes, in the order of checks. */
typedef enum ctf2010_key {
    CTF2010_SIZE,
    CTF2010_ALIGN,
    CTF2010_UNIT_SIZE,
    CTF2010_LENGTH,
    CTF2010_EXP_DIG,
    CTF2010_MANT_DIG,
    CTF2010_SIGNED,
    CTF2010_BYTE_ORDER,
    CTF2010_MAP,
    CTF2010_FIELDS,
    CTF2010_ELEM_TYPE,
    CTF2010_LENGTH_TYPE,
    CTF2010_PARENT,
    CTF2010_KEYS
} ctf2010_key;

typedef struct ctf2010_attributes {
    const ctf2010_node *value[CTF2010_KEYS]; /* NULL: missing */
} ctf2010_attributes;

/* A type of the metadata that has a name. */
typedef struct ctf2010_named {
    const ctf2010_node *name;
    ctf2010_attributes attributes;
    bool is_abstract, is_open, is_done; /* is_open: in the making */
    ctf2010_type type;
} ctf2010_named;

/* Everything needed to make types. */
typedef struct ctf2010_types {
    const ctf2010_source *source;
    ctf_schema *schema; /* types and names go into its arena */
    ctf2010_names names;
    ctf2010_named *named; /* by number */
    uint32_t named_capacity;
    ctf2010_type integer[2][65]; /* predefined: [signed][bits], if their type is not NULL */
    ctf2010_type text;
    unsigned depth;
} ctf2010_types;

/* Declares type NAME { } or abstract_type NAME { }; resolves nothing. */
int ctf2010_types_declare(ctf2010_types *t, const ctf2010_node *word, const ctf2010_node *name,
                          const ctf2010_node *block);
/* Makes, and so checks, every declared type. */
int ctf2010_types_check(ctf2010_types *t);
/* The alignment of a type if the metadata declares it, else 8; at least 8. */
int ctf2010_types_alignment(ctf2010_types *t, const char *name, uint32_t *align);
/* The type with a name; `where` is for errors. */
int ctf2010_types_get(ctf2010_types *t, const char *name, const ctf2010_node *where, ctf2010_type *out);
/* The type in a value. */
int ctf2010_types_of(ctf2010_types *t, const ctf2010_node *value, ctf2010_type *out);
/* A struct of the fields in braces, as { {type, name}, ... } or { type name; ... }. */
int ctf2010_types_fields(ctf2010_types *t, const ctf2010_node *value, ctf2010_type *out);
/* A struct of one field, or without a name of none. */
int ctf2010_types_single(ctf2010_types *t, const char *name, const ctf2010_type *field, ctf2010_type *out);
void ctf2010_types_fini(ctf2010_types *t);

#endif
