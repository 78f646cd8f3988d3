/* A walk over the profiles in a folder, in the order of their names: of a tree of any size it holds only the names of
 * the folders on the way to the current file. */
#ifndef TL_OP_PROFILE_WALK_H
#define TL_OP_PROFILE_WALK_H

#include <stdbool.h>

#include "traceloom/error.h"

typedef struct tl_profile_walk tl_profile_walk;

#define TL_WALK_DEPTH_MAX 16u /* folders in each other, as of a trace */

/* Files whose name matches `glob`; NULL: those that hold a profile, by their suffix or else by content. Hidden ones are
 * left out; links are followed to files, not to folders. glob must stay in place. Errors: TL_EIO, TL_ENOMEM. */
int tl_profile_walk_open(tl_profile_walk **out, const char *folder, const char *glob, tl_error *e);
/* The next file, borrowed until the next call: 1, or 0 at the end. < 0: a folder could not be listed, or a file not be
 * read, and is passed over: errors as above, and TL_EUNSUPPORTED (deeper than the limit). */
int tl_profile_walk_next(tl_profile_walk *w, const char **path, tl_error *e);
void tl_profile_walk_close(tl_profile_walk *w); /* NULL is fine */

#endif
