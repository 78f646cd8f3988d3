/* The output of convert: one, or several (--split). */
#ifndef TL_CLI_TARGET_OUT_H
#define TL_CLI_TARGET_OUT_H

#include "cli/verbs.h"
#include "traceloom/split.h"

/* The parsed --split. */
typedef struct tl_split_how {
    bool set;
    tl_split_by by;
    uint64_t each; /* ns or bytes */
} tl_split_how;

/* Parses --split; reports mistakes and returns an exit status. */
int tl_split_how_parse(tl_split_how *h, const tl_arguments *a);
/* Whether events must be in the order of time. */
bool tl_split_how_ordered(const tl_split_how *h, bool format_wants_order);

typedef struct tl_out {
    tl_split_how how;
    tl_sink *sink; /* one of the two */
    tl_split *split;
    const char *path;
} tl_out;

int tl_out_open(tl_out *o, const char *path, const tl_trace *t, const tl_write_options *options, tl_error *e);
int tl_out_write(tl_out *o, const tl_run *run, uint32_t n, tl_error *e);
/* Lets readers see the output so far; does nothing for several outputs. */
int tl_out_flush(tl_out *o, tl_error *e);
int tl_out_finish(tl_out *o, tl_error *e);
/* Reports what was written, and what was not. */
void tl_out_say(const tl_out *o, const tl_cli *c);
void tl_out_close(tl_out *o);

#endif
