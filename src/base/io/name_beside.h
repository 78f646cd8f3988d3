/* Names for temporary files and folders beside their final place. */
#ifndef TL_BASE_NAME_BESIDE_H
#define TL_BASE_NAME_BESIDE_H

/* Names to try before giving up; a second one is hardly ever needed. */
#define TL_NAME_TRIES 100u

/* The path with room for a dot and letters after it, for tl_name_try(); to be freed. NULL without memory. */
char *tl_name_beside(const char *path);
/* Fills in letters, different ones at each try. They need not be unique: creating the file detects that. */
void tl_name_try(char *name, unsigned try);

#endif
