/* A database in a file of SQLite, made of results: a table for each. The file appears whole or not at all. */
#ifndef TL_QUERY_QUERY_DATABASE_H
#define TL_QUERY_QUERY_DATABASE_H

#include "query/query_result.h"

typedef struct tl_database tl_database;

/* Errors: TL_EEXIST, unless `overwrite`, TL_EIO, TL_ENOMEM, TL_EUNSUPPORTED (no SQLite in this build). */
int tl_database_open(tl_database **out, const char *path, bool overwrite, tl_error *e);
/* Adds a table with the rows of a result, and indexes on `ts` and ids; *rows: how many. Errors: those of the result,
 * and of writing. */
int tl_database_add(tl_database *d, const char *table, tl_result *r, uint64_t *rows, tl_error *e);
/* Gives the file its name; it is to be closed. */
int tl_database_finish(tl_database *d, tl_error *e);
/* Without finish: removes the file. NULL is fine. */
void tl_database_close(tl_database *d);

#endif
