/* Functions and their names from the binaries that the user gave. */
#ifndef TL_OP_GIVEN_FILES_H
#define TL_OP_GIVEN_FILES_H

#include "op/source_impl.h"

/* Reads o->exe and o->object, where the format has a use for them. Each has to be there. */
int tl_given_files(tl_source *s, const tl_open_options *o, tl_error *e);

#endif
