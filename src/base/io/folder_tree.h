/* Paths in folders, and removing folders. */
#ifndef TL_BASE_FOLDER_TREE_H
#define TL_BASE_FOLDER_TREE_H

#include <stdbool.h>

/* folder/name; to be freed with free(). NULL without memory. */
char *tl_path_join(const char *folder, const char *name);
/* Is it "." or ".."? */
bool tl_is_dots(const char *name);
/* Removes a folder with its files and `depth` levels of folders. What cannot be removed stays. */
void tl_remove_tree(const char *path, unsigned depth);

#endif
