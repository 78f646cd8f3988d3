/* Parts of man pages in mdoc, shared by the files that make them. */
#ifndef TL_CLI_MANPAGE_H
#define TL_CLI_MANPAGE_H

#include <stdio.h>

/* Copies mdoc; long lines of text are broken, lines of macros (with a dot in front) stay. */
void tl_put_mdoc(FILE *f, const char *text);
/* A line of help as a sentence: with a capital and a full stop. */
void tl_put_summary(FILE *f, const char *summary);
/* All of traceloom-formats(5) behind its title. */
void tl_put_formats_page(FILE *f);
/* The list of tables in the text of --by. */
void tl_put_table_list(FILE *f);
/* All of traceloom-tables(5) behind its title. */
void tl_put_tables_page(FILE *f);
/* What the page says of one format, or NULL: formats_manual.def has nothing about it. */
const char *tl_format_manual(const char *name);

#endif
