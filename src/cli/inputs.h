/* Opening the inputs of a verb, with messages and a progress bar. */
#ifndef TL_CLI_INPUTS_H
#define TL_CLI_INPUTS_H

#include "base/io/base_name.h"
#include "base/progress.h"
#include "cli/verbs.h"
#include "traceloom/source.h"

/* An open input, and what shows how far reading it is. */
typedef struct tl_reading {
    tl_source *source;
    const tl_trace *trace;
    const char *path;
    uint64_t done;
    tl_progress *bar;
} tl_reading;

/* Opens a file of the command line as its options say. 0, or an exit status after a message.
 * r must stay where it is until tl_reading_close(). */
int tl_reading_open(tl_reading *r, const tl_cli *c, const char *path, const tl_want *want);
/* The same for one that is open already, as tl_reading_options() say; takes it over. */
void tl_reading_take(tl_reading *r, const tl_cli *c, const char *path, tl_source *s);
tl_open_options tl_reading_options(const tl_cli *c, const tl_want *want);
/* Shows a bar from now on: everything is going to be read once. */
void tl_reading_start(tl_reading *r, const tl_cli *c, const char *what);
void tl_reading_stop(tl_reading *r); /* before other messages */
void tl_reading_close(tl_reading *r);

/* "the input file is missing": TL_EXIT_USAGE; else 0. Also checks --from. */
int tl_check_inputs(const tl_cli *c);
/* Threads to work with. */
unsigned tl_threads(const tl_cli *c);

#endif
