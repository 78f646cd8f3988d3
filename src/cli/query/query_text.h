/* The words of `query`: inputs, SQL and the values of its parameters. */
#ifndef TL_CLI_QUERY_TEXT_H
#define TL_CLI_QUERY_TEXT_H

#include "cli/verbs.h"
#include "traceloom/query.h"

typedef struct tl_query_parameter {
    char *name;
    tl_sql_value value; /* text belongs to `name` */
} tl_query_parameter;

typedef struct tl_query_text {
    const char *const *file; /* [nfile] borrowed */
    size_t nfile;
    const char *const *table; /* [ntable] of --schema and --export: patterns of tables. Borrowed */
    size_t ntable;
    char *sql;          /* one or several statements */
    const char *name;   /* of what they were read from; NULL: the command line. Borrowed */
    const char *recipe; /* or NULL */
    bool is_for_server; /* there are no files */
    bool is_shell;      /* there is no SQL, but a terminal to type it at */
    tl_query_parameter *parameter;
    size_t nparameter;
} tl_query_text;

/* Takes apart the command line, and reads the SQL. Says what is wrong; a tl_exit. fini is needed in any case. */
int tl_query_text_read(tl_query_text *t, const tl_cli *c);
/* Reads a recipe, by its name and n words name=value; the name is borrowed. In place of tl_query_text_read(). */
int tl_query_text_recipe(tl_query_text *t, const char *name, const char *const *word, size_t n);
void tl_query_text_fini(tl_query_text *t);
/* The value of a parameter; NULL: it has none. */
const tl_sql_value *tl_query_text_parameter(const tl_query_text *t, const char *name);
/* The default of a recipe's parameter; its text is in `room`. False: it has none. */
bool tl_query_text_default(const tl_query_text *t, const char *name, char *room, size_t size, tl_sql_value *out);

#endif
