/* Functions and their names from the binaries given by the user. */
#ifndef TL_OP_GIVEN_FILES_H
#define TL_OP_GIVEN_FILES_H

#include "op/source_impl.h"

/* Adds the functions of a binary's map, with ids from `base` on and this build-id and file (NULL: unknown). */
int tl_add_functions_of(tl_trace *t, const tl_trace *map, int64_t base, const char *module, const char *library,
                        tl_error *e);
/* Reads o->exe and o->object, if the format can use them. Each must exist. */
int tl_given_files(tl_source *s, const tl_open_options *o, tl_error *e);

#endif
