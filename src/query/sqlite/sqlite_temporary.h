/* Temporary files of SQLite, in memory: what it sorts or keeps never reaches a disk, and there are no other files.
 *
 * If SQLite keeps such content in memory itself (temp_store), it sorts all rows at once, in one step that nothing can
 * interrupt, which takes seconds for some million rows. With files it sorts a few megabytes at a time, and merges these
 * piece by piece. */
#ifndef TL_QUERY_SQLITE_TEMPORARY_H
#define TL_QUERY_SQLITE_TEMPORARY_H

#include <stdbool.h>

/* The name of the file system for sqlite3_open_v2(); NULL when it cannot be made known. */
const char *tl_sqlite_temporary(void);

#endif
