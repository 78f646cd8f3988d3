/* Making one type of the metadata of 2010 from its attributes: the last step. */
#ifndef TL_FORMAT_CTF_CTF2010_MAKE_H
#define TL_FORMAT_CTF_CTF2010_MAKE_H

#include "format/ctf/metadata/ctf2010_types.h"

#define CTF2010_NUMBERS CTF2010_SIGNED /* the first keys are numbers */

/* The attributes of a type. */
typedef struct ctf2010_spec {
    uint64_t position; /* for errors */
    ctf2010_root root;
    bool is_signed;
    ctf_order order;
    unsigned base_bits; /* of the predefined integer that it inherits from; 0: none */
    bool has[CTF2010_NUMBERS];
    ctf2010_number number[CTF2010_NUMBERS];
    const tl_mapping *mapping;
    uint32_t nmapping;
    ctf_member *member; /* of a struct */
    uint32_t nmember;
    uint32_t contribution, height; /* the largest of its fields */
    uint64_t fields;               /* the sum of theirs */
    ctf2010_type element, length;  /* if their type is not NULL */
} ctf2010_spec;

/* Checks and makes it. */
int ctf2010_make(ctf2010_types *t, const ctf2010_spec *spec, ctf2010_type *out);
/* Records that a struct has a field of this type. */
int ctf2010_make_inner(ctf2010_types *t, ctf2010_spec *spec, const ctf2010_type *inner);
/* Reads a map: { { value, label }, { {low, high}, label }, ... }. The sign must be known. */
int ctf2010_make_map(ctf2010_types *t, const ctf2010_node *value, ctf2010_spec *spec);

#endif
