/* Making one type of the metadata of 2010 from what its attributes say: the last step. */
#ifndef TL_FORMAT_CTF_RFC2010_MAKE_H
#define TL_FORMAT_CTF_RFC2010_MAKE_H

#include "format/ctf/metadata/rfc2010_types.h"

#define RFC2010_NUMBERS RFC2010_SIGNED /* the first keys are numbers */

/* What the attributes of a type say. */
typedef struct rfc2010_spec {
    uint64_t position; /* to blame */
    rfc2010_root root;
    bool is_signed;
    ctf_order order;
    unsigned base_bits; /* of the predefined integer that it inherits from; 0: none */
    bool has[RFC2010_NUMBERS];
    rfc2010_number number[RFC2010_NUMBERS];
    const tl_mapping *mapping;
    uint32_t nmapping;
    ctf_member *member; /* of a struct */
    uint32_t nmember;
    uint32_t contribution, height; /* the largest of its fields */
    uint64_t fields;               /* the sum of theirs */
    rfc2010_type element, length;  /* if their type is not NULL */
} rfc2010_spec;

/* Checks and makes it. */
int rfc2010_make(rfc2010_types *t, const rfc2010_spec *spec, rfc2010_type *out);
/* Notes that a struct has a field of this type. */
int rfc2010_make_inner(rfc2010_types *t, rfc2010_spec *spec, const rfc2010_type *inner);
/* Reads a map: { { value, label }, { {low, high}, label }, ... }. The sign must be known. */
int rfc2010_make_map(rfc2010_types *t, const rfc2010_node *value, rfc2010_spec *spec);

#endif
