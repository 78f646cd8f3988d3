/* Names for temporary files and folders beside their final place. */
#ifndef TL_BASE_NAME_BESIDE_H
#define TL_BASE_NAME_BESIDE_H

#include "traceloom/error.h"

/* Names to try before giving up; a second one is hardly ever needed. */
#define TL_NAME_TRIES 100u

/* The path with room for a dot and letters after it, for tl_name_try(); to be freed. NULL without memory. */
char *tl_name_beside(const char *path);
/* Fails because no `kind` ("file", "folder") can be created beside `path`, which messages call `shown`. */
int tl_fail_beside(tl_error *e, int number, const char *shown, const char *path, const char *kind);
/* Fills in letters, different ones at each try. They need not be unique: creating the file detects that. */
void tl_name_try(char *name, unsigned try);

#endif
