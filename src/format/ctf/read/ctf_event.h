/* Decoding the events of a packet, for the cursor. */
#ifndef TL_FORMAT_CTF_EVENT_H
#define TL_FORMAT_CTF_EVENT_H

#include "format/ctf/plan/ctf_plan_impl.h"
#include "format/ctf/read/ctf_cursor.h"

/* Decodes events into the batch: 1: it is full; 0: the packet has ended; < 0. */
int ctf_cursor_events(ctf_cursor *c, tl_batch *b, tl_error *e);

/* ctf_quick.c: decodes as many events as it can, with all columns; without a tape into the tally, if any. */
void ctf_read_quickly(ctf_cursor *c, const ctf_stream_plan *s, tl_batch *b, const ctf_time *time, uint64_t *last);

/* ctf_cursor.c: moves the window; see there. */
int ctf_cursor_slide(ctf_cursor *c, uint64_t *at, tl_error *e);
uint64_t ctf_cursor_bit(const ctf_cursor *c, uint64_t at);
/* Ticks of the trace's clock. */
uint64_t ctf_cursor_time(const ctf_cursor *c, uint32_t stream, uint64_t value);

/* ctf_fault.c: reports that the event at bit `start`, with fields at bit `fields`, cannot be decoded; strict: fails. ev
 * is NULL for an error in the header. Positions are relative to the window. */
int ctf_fault_event(ctf_cursor *c, const ctf_event_plan *ev, uint64_t start, uint64_t fields, ctf_run_status status,
                    tl_error *e);
/* An event of a class that the metadata lacks; `resume`: the bit where reading continues. */
int ctf_fault_unknown(ctf_cursor *c, uint64_t id, uint64_t start, uint64_t resume, tl_error *e);
/* The payload differs from its stated size. */
int ctf_fault_payload(ctf_cursor *c, uint64_t begin, uint64_t bytes, uint64_t says, tl_error *e);
/* An event earlier than the previous one: counts it; strict: fails. */
int ctf_fault_regression(ctf_cursor *c, uint64_t start, tl_error *e);
/* Events without bits would never end. */
int ctf_fault_empty(ctf_cursor *c, uint64_t start, tl_error *e);

#endif
