/* Opening the inputs of a verb, with messages and a progress bar. */
#ifndef TL_CLI_INPUTS_H
#define TL_CLI_INPUTS_H

#include "base/io/base_name.h"
#include "base/progress.h"
#include "cli/verbs.h"
#include "traceloom/source.h"

/* An open input, and its progress bar. */
typedef struct tl_reading {
    tl_source *source;
    const tl_trace *trace;
    const char *path;
    uint64_t done;
    uint64_t *count; /* of the bytes read: done, or that of a pool */
    bool is_lent;    /* the source belongs to a pool */
    tl_progress *bar;
} tl_reading;

/* Opens a file of the command line according to its options. 0, or an exit status after a message.
 * r must not move until tl_reading_close(). */
int tl_reading_open(tl_reading *r, const tl_cli *c, const char *path, const tl_want *want);
/* The same for one that was opened with tl_reading_options(); takes it over. */
void tl_reading_take(tl_reading *r, const tl_cli *c, const char *path, tl_source *s);
/* Says that the binary of -e is not used, unless it is; `used`: by the profile that was read. */
void tl_reading_say_exe(const tl_reading *r, const tl_cli *c, bool used);
tl_open_options tl_reading_options(const tl_cli *c, const tl_want *want);
/* Shows a bar from now on: everything will be read once. */
void tl_reading_start(tl_reading *r, const tl_cli *c, const char *what);
void tl_reading_stop(tl_reading *r); /* before other messages */
void tl_reading_close(tl_reading *r);

/* Checks --from, and that there are inputs: "the input file is missing" and TL_EXIT_USAGE; else 0. */
int tl_check_inputs(const tl_cli *c);
/* Threads to work with. */
unsigned tl_threads(const tl_cli *c);

#endif
