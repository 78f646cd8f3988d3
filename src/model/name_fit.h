/* Names of functions, shortened to the available columns: the most distinctive parts stay longest. */
#ifndef TL_MODEL_NAME_FIT_H
#define TL_MODEL_NAME_FIT_H

#include "model/prose.h"

/* Shortens a name of C++, Rust, .NET or Java to `width` columns: first drops inner template arguments, then outer ones,
 * parameters, leading namespaces, and last the middle of the last component. A path, or a name with unmatched brackets,
 * only loses its middle; "A -> B" is shortened on both sides.
 * Returns s itself if it fits, else buf (of `size` bytes). */
const char *tl_name_fit(const tl_terminal *t, char *buf, size_t size, const char *s, unsigned width);

#endif
