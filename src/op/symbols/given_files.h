/* Functions and their names from the binaries that the user gave. */
#ifndef TL_OP_GIVEN_FILES_H
#define TL_OP_GIVEN_FILES_H

#include "op/source_impl.h"

/* Adds the functions of a binary's map, with ids from `base` on, as those of this build-id and file (NULL: not known).
 */
int tl_add_functions_of(tl_trace *t, const tl_trace *map, int64_t base, const char *module, const char *library,
                        tl_error *e);
/* Reads o->exe and o->object, where the format has a use for them. Each has to be there. */
int tl_given_files(tl_source *s, const tl_open_options *o, tl_error *e);

#endif
