/* Parts of man pages in mdoc, shared by the files that make them. */
#ifndef TL_CLI_MANPAGE_H
#define TL_CLI_MANPAGE_H

#include <stdio.h>

/* Copies mdoc; wraps long lines of text, but not lines of macros (with a dot in front). */
void tl_put_mdoc(FILE *f, const char *text);
/* A line of help as a sentence: with a capital and a full stop. */
void tl_put_summary(FILE *f, const char *summary);
/* All of traceloom-formats(5) after its title. */
void tl_put_formats_page(FILE *f);
/* The list of tables in the text of --by. */
void tl_put_table_list(FILE *f);
/* All of traceloom-tables(5) after its title. */
void tl_put_tables_page(FILE *f);
/* All of traceloom-schema(5) after its title. */
void tl_put_schema_page(FILE *f);
/* The text about a format, or NULL if formats_manual.def has none. */
const char *tl_format_manual(const char *name);

#endif
