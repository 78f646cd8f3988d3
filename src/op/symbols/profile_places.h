/* Names for functions of a profile that are only places: "lua5.4+0x8870". */
#ifndef TL_OP_PROFILE_PLACES_H
#define TL_OP_PROFILE_PLACES_H

#include "op/source_impl.h"

/* Is the function's name its place in its binary? */
bool tl_profile_is_place(const tl_function *f);

/* Looks such functions up in the file given by the user, or else in the files that the profile names, if they have the
 * same build-id: debug symbols may have been installed since. Only regular files are opened, and none but the given one
 * if the source was opened with no_names. Functions that are not found keep their place.
 * p->used_exe: the given file is one of its binaries. */
int tl_profile_name_places(tl_profile *p, const tl_source *s, tl_error *e);

#endif
