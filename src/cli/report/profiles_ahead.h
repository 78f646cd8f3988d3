/* Other threads read the profiles of many files ahead of their turn. */
#ifndef TL_CLI_PROFILES_AHEAD_H
#define TL_CLI_PROFILES_AHEAD_H

#include "cli/verbs.h"
#include "op/fleet/profile_files.h"
#include "op/fleet/profile_fit.h"
#include "traceloom/profile.h"
#include "traceloom/source.h"

typedef struct tl_profiles_ahead tl_profiles_ahead;

/* For the files of the list from number `first` on; everything must stay in place. Nobody asks for earlier ones any
 * more. NULL when memory runs out: they are then read in their turn. */
tl_profiles_ahead *tl_profiles_ahead_open(const tl_cli *c, tl_profile_files *files, uint64_t first, const tl_want *want,
                                          const tl_profile_options *options, const tl_profile_fit *fit);
/* The next file. NULL: not read, because it is not a small file with a profile, or something is wrong with it; opening
 * it will show. Otherwise the source belongs to the caller, and *profile is lent until the next call. */
tl_source *tl_profiles_ahead_next(tl_profiles_ahead *a, tl_profile **profile);
/* Makes the profile that was lent last the caller's. */
void tl_profiles_ahead_keep(tl_profiles_ahead *a);
void tl_profiles_ahead_close(tl_profiles_ahead *a); /* NULL is fine */

#endif
