/* Methods and classes of the runtime, which have numbers of ours (iid) in the log.
 *
 * The runtime tells of a method when it has code for it, and of a class when it is asked; then their lines become
 * facts. The addresses of both may be used again for others. */
#ifndef TL_MANAGED_NAMES_H
#define TL_MANAGED_NAMES_H

#include "managed/managed_thread.h"

/* Where code is in the source: from this offset on, until the next. */
typedef struct managed_place {
    uint32_t offset, line; /* line: iid */
} managed_place;

/* A method that has code now. Texts need not be clean; they are borrowed. */
typedef struct managed_method {
    const void *at, *class, *module;
    uint32_t token;
    uint64_t start, size;
    char *name, *result, *parameters;
    /* Its lines in the source: row, column and file of each offset, ascending. */
    uint32_t nplace;
    const struct managed_source {
        uint32_t offset, row, column;
        const char *file;
    } * place;
} managed_method;

/* Takes locks, like all below; not in a stopped world. */
void managed_method_known(const managed_method *m);
/* A frame as lines have it; the method's number is unknown if the runtime never told of it. */
managed_frame managed_method_frame(const void *method, uint64_t ip);
/* The same for the writer, which is about to write it: with jit=off the method's lines come first. */
managed_frame managed_method_shown(const void *method, uint64_t ip);

/* The number of a class, UINT32_MAX: not known yet. */
uint32_t managed_class_find(const void *class);
/* Makes it known, if it is not. The name is borrowed. */
uint32_t managed_class_known(const void *class, const void *module, uint32_t token, char *name);

#endif
