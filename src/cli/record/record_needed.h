/* Which libraries a program needs, found as the loader finds them, without running it. */
#ifndef TL_CLI_RECORD_NEEDED_H
#define TL_CLI_RECORD_NEEDED_H

#include "traceloom/error.h"

typedef struct tl_needed {
    char **path; /* of files that exist, in the order of loading */
    size_t n, room;
    size_t direct; /* the first ones: those that the program itself names */
} tl_needed;

/* Libraries of the program, and theirs, that are found; some others may be missing. TL_ENOMEM. To be freed. */
int tl_needed_find(tl_needed *out, const char *program, tl_error *e);
void tl_needed_free(tl_needed *n);

#endif
