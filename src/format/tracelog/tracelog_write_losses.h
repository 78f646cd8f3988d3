/* What a written log could not hold, or only inexactly. */
#ifndef TL_FORMAT_TRACELOG_WRITE_LOSSES_H
#define TL_FORMAT_TRACELOG_WRITE_LOSSES_H

#include "model/format_impl.h"

typedef struct tracelog_losses {
    uint64_t status;                                 /* of fun cmf, which fun inf cannot hold */
    uint64_t odd;                                    /* values with a type other than their field's */
    uint64_t breaks;                                 /* line breaks in text */
    uint64_t bad_text;                               /* bytes that are not UTF-8 */
    uint64_t too_deep;                               /* stacks beyond TRACELOG_DEPTH_MAX */
    uint64_t same_iid;                               /* threads of several logs that have the same number */
    uint64_t rounded, before_begin, too_late, moved; /* times */
    uint64_t unmatched_exits, closed_early, fields;  /* calls */
    uint64_t no_begin;                               /* frames that become calls beginning at their line */
    uint64_t no_number;                              /* frames with only a name */
    uint64_t thread_name, other_process, source_line;
    uint64_t ticks; /* 1: the clock has no frequency */
} tracelog_losses;

void tracelog_losses_report(const tracelog_losses *l, tl_drops *drops);

#endif
