/* Names for the functions of a recording, which names their binaries itself. */
#ifndef TL_OP_OBJECT_SYMBOLS_H
#define TL_OP_OBJECT_SYMBOLS_H

#include "op/source_impl.h"

/* Reads the files of the objects that the notes name (model/recording.h), with o->exe replacing one of them. If a file
 * is missing, or has another build-id than the recorded one, a note says so. Only o->exe must exist.
 * Functions with an address that stay without a name are called by it, "lua5.4+0x8870", unless o->no_names. */
int tl_object_symbols(tl_source *s, const tl_open_options *o, tl_error *e);

#endif
