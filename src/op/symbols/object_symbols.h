/* Names for the functions of a recording, which says itself which binaries they are in. */
#ifndef TL_OP_OBJECT_SYMBOLS_H
#define TL_OP_OBJECT_SYMBOLS_H

#include "op/source_impl.h"

/* Reads the files of the objects that the notes name (model/recording.h), in place of one of them o->exe. A file that
 * is not there, or is not the one that was recorded (its build-id is another), leaves its functions unnamed, and a note
 * says so. Only o->exe has to be there. */
int tl_object_symbols(tl_source *s, const tl_open_options *o, tl_error *e);

#endif
