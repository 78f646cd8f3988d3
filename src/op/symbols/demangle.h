/* Demangling of C++ and Rust names. */
#ifndef TL_OP_DEMANGLE_H
#define TL_OP_DEMANGLE_H

/* The readable form of a linkage name, to be freed by the caller; NULL if it is not mangled, cannot be demangled, or
 * the build has no demangler. */
char *tl_demangle(const char *linkage_name);

#endif
