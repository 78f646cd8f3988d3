/* Paths in folders, and removing folders. */
#ifndef TL_BASE_FOLDER_TREE_H
#define TL_BASE_FOLDER_TREE_H

#include <stdbool.h>

/* folder/name; free(). NULL without memory. */
char *tl_path_join(const char *folder, const char *name);
/* Is it "." or ".."? */
bool tl_is_dots(const char *name);
/* Removes the files of a folder and of the folders in it, `depth` levels down, then itself. What does not go stays. */
void tl_remove_tree(const char *path, unsigned depth);

#endif
