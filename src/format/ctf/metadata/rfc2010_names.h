/* Names of the metadata of 2010 as keys: name -> number, counted from 0. */
#ifndef TL_FORMAT_CTF_RFC2010_NAMES_H
#define TL_FORMAT_CTF_RFC2010_NAMES_H

#include "base/hash.h"

typedef struct rfc2010_name {
    const char *s; /* borrowed, not terminated */
    size_t n;
} rfc2010_name;

/* A zeroed table is an empty one. */
typedef struct rfc2010_names {
    tl_hash hash;
    rfc2010_name *name; /* by number */
    uint32_t n, capacity;
} rfc2010_names;

/* The number of a name, or TL_HASH_NONE. */
uint32_t rfc2010_names_find(const rfc2010_names *t, const char *s, size_t n);
/* Adds a name that is not there; its number is the count before. False when memory runs out. */
bool rfc2010_names_add(rfc2010_names *t, const char *s, size_t n);
void rfc2010_names_fini(rfc2010_names *t);

#endif
