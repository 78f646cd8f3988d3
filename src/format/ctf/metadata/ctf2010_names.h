/* Names of the metadata of 2010 as keys: name -> number, counted from 0. */
#ifndef TL_FORMAT_CTF_CTF2010_NAMES_H
#define TL_FORMAT_CTF_CTF2010_NAMES_H

#include "base/hash.h"

typedef struct ctf2010_name {
    const char *s; /* borrowed, not terminated */
    size_t n;
} ctf2010_name;

/* A zeroed table is empty. */
typedef struct ctf2010_names {
    tl_hash hash;
    ctf2010_name *name; /* by number */
    uint32_t n, capacity;
} ctf2010_names;

/* The number of a name, or TL_HASH_NONE. */
uint32_t ctf2010_names_find(const ctf2010_names *t, const char *s, size_t n);
/* Adds a new name; its number is the count before. False when memory runs out. */
bool ctf2010_names_add(ctf2010_names *t, const char *s, size_t n);
void ctf2010_names_fini(ctf2010_names *t);

#endif
