/* The format that the command line means: by --to, --from or the suffix of -o. */
#ifndef TL_CLI_FORMATS_OF_H
#define TL_CLI_FORMATS_OF_H

#include "cli/verbs.h"
#include "model/format_impl.h"

/* Is `name` a format that can do one of `can`? If not, says so, with the nearest one that can, and returns
 * TL_EXIT_USAGE. */
int tl_check_format_name(const char *option, const char *name, unsigned can);

/* The output format, or NULL for text tables: by --to, else by the suffix of -o, first among formats that can do
 * `first`, then among all that write. 0, or an exit status after a message. */
int tl_output_format(const tl_cli *c, unsigned first, const tl_format **out);

/* Refuses an output that exists, without -f; and, even with it, one that is an input: a part of a trace would replace
 * the whole. Reports that and returns TL_EXIT_USAGE, else 0. Better before than after a long read. */
int tl_check_output(const tl_cli *c);

/* "wrote app.svg (34 KiB)" */
void tl_say_written(const tl_cli *c, const char *path);

#endif
