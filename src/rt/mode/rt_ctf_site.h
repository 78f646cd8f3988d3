/* What the calls of mode "ctf" need from spans placed by hand. */
#ifndef TL_RT_CTF_SITE_H
#define TL_RT_CTF_SITE_H

#include "rt/mode/rt_ctf_stream.h"

/* Adds what signal handlers put aside, until nothing is left. With the lane busy, or without an owner. */
void tl_rt_ctf_add_late(rt_lane *l, rt_ctf_stream *s);
/* Ends the open spans below `keep`, or at `keep` but begun at `since` or later; there is at least one. */
void tl_rt_ctf_end_spans(rt_lane *l, rt_ctf_stream *s, uint64_t time, uintptr_t keep, uint64_t since);

#endif
