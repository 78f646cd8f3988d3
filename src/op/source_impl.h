/* The inside of a source and its cursors, for the rest of op. */
#ifndef TL_OP_SOURCE_IMPL_H
#define TL_OP_SOURCE_IMPL_H

#include "model/format_impl.h"
#include "traceloom/source.h"

struct tl_source {
    tl_trace trace;
    tl_input *in;
    const tl_format *format;
    void *reader;
    tl_want want;
    tl_cursor *cursor; /* of tl_source_next() */
    uint32_t stream;   /* that it reads next */
};

struct tl_cursor {
    tl_source *source;
    void *state;
    tl_batch batch;
};

/* Stream numbers, heaviest first, so that threads end at about the same time. To be freed; NULL when memory runs out.
 */
uint32_t *tl_source_by_weight(tl_source *s);

#endif
