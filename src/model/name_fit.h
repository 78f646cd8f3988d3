/* Names of functions, shortened to the columns there are: what tells them apart stays longest. */
#ifndef TL_MODEL_NAME_FIT_H
#define TL_MODEL_NAME_FIT_H

#include "model/prose.h"

/* Shortens a name of C++, Rust, .NET or Java to `width` columns: inner template arguments go first, then outer ones,
 * then parameters, then leading namespaces; of a last component that is still too long, the middle. A name with
 * brackets that do not match, or a path, is shortened in its middle only; of "A -> B" both sides are shortened.
 * Returns s itself if it fits, else buf (of `size` bytes). */
const char *tl_name_fit(const tl_terminal *t, char *buf, size_t size, const char *s, unsigned width);

#endif
