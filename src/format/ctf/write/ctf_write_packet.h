/* Packets of the output, see ctf_write_packet.c. */
#ifndef TL_FORMAT_CTF_WRITE_PACKET_H
#define TL_FORMAT_CTF_WRITE_PACKET_H

#include "format/ctf/write/ctf_write.h"

/* Room for an event at time `ts` (of the output's clock): opens a packet if there is none, or if the current one cannot
 * take it. context: the source's fields in the packet context, or NULL. */
int ctf_stream_ready(ctf_writer *w, ctf_stream *s, uint64_t ts, int32_t cpu, const ctf_room *context, tl_error *e);
/* Whether an event at `ts` precedes the begin of the current packet, so that it needs another. In CTF 1.8 its time is
 * changed instead. */
TL_ALWAYS_INLINE bool ctf_stream_precedes(const ctf_writer *w, const ctf_stream *s, uint64_t ts)
{
    return TL_UNLIKELY(ts < s->begin) && s->room.data && w->dialect != CTF_1_8 && !w->sc[s->cls].timeless;
}

/* After an event: closes the packet if it is full, and others if there are too many. */
int ctf_stream_added(ctf_writer *w, ctf_stream *s, tl_error *e);
/* A packet of the source begins. */
int ctf_stream_given(ctf_writer *w, ctf_stream *s, const ctf_given *g, tl_error *e);
/* Writes the rest of a stream. */
int ctf_stream_end(ctf_writer *w, ctf_stream *s, tl_error *e);

#endif
