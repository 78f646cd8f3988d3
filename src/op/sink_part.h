/* A sink that is one of several outputs, for tl_split: it may get no event that its format holds. */
#ifndef TL_OP_SINK_PART_H
#define TL_OP_SINK_PART_H

#include "traceloom/sink.h"

/* tl_sink_open(), but finishing it does not fail when all of its events were dropped. */
int tl_sink_open_part(tl_sink **out, const char *path, const tl_trace *t, const tl_write_options *options, tl_error *e);

#endif
