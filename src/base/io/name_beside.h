/* Names for files and folders that stand beside another until they take its place. */
#ifndef TL_BASE_NAME_BESIDE_H
#define TL_BASE_NAME_BESIDE_H

/* Names to try before giving up; a second one is hardly ever needed. */
#define TL_NAME_TRIES 100u

/* The path with room for a dot and letters behind it, for tl_name_try(); the caller frees it. NULL without memory. */
char *tl_name_beside(const char *path);
/* Fills in letters, others at each try. They only have to be unlikely: whoever creates the file finds out. */
void tl_name_try(char *name, unsigned try);

#endif
