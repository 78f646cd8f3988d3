/* Sentences about what a trace lost, for messages and for reports that are passed on. */
#ifndef TL_OP_LOSS_LINES_H
#define TL_OP_LOSS_LINES_H

#include "traceloom/trace.h"

/* Told each sentence, in the order of importance. file: the one of the trace's folder that it is about, or NULL. */
typedef struct tl_loss_lines {
    void (*say)(void *arg, const tl_trace *t, const char *file, const char *text);
    void *arg;
} tl_loss_lines;

/* Events and packets that were lost; events: how many the trace has, 0: unknown. */
void tl_lost_events_lines(const tl_loss_lines *l, const tl_trace *t, uint64_t events);
/* Places with bytes that were given up. Whether there are any. */
bool tl_lost_places_lines(const tl_loss_lines *l, const tl_trace *t);
/* Places that break a rule of the format, though nothing was lost. */
void tl_harmless_lines(const tl_loss_lines *l, const tl_trace *t);
/* Events that go back in time. */
void tl_out_of_order_lines(const tl_loss_lines *l, const tl_trace *t);
/* What else limits the answer. */
void tl_notes_lines(const tl_loss_lines *l, const tl_trace *t);
/* Which files of a folder were read as parts of the trace, and which were not. */
void tl_contents_lines(const tl_loss_lines *l, const tl_trace *t);

#endif
