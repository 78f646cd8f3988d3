/* Names of functions without what changes from build to build: numbers of clones, hashes, arguments of templates. */
#ifndef TL_ANALYSIS_NAME_KEY_H
#define TL_ANALYSIS_NAME_KEY_H

#include <stddef.h>

typedef enum tl_key_level {
    TL_KEY_NO_NUMBERS, /* "f.constprop.0" is "f.constprop"; "{lambda()#2}" is "{lambda()#}"; Rust's hash is gone */
    TL_KEY_NO_CLONES   /* "f", and "sort" of "sort<int>" */
} tl_key_level;

/* Writes the key of a name, terminated, into `out`, which has strlen(name) + 1 bytes; returns its length. */
size_t tl_name_key(char *out, const char *name, tl_key_level level);

#endif
