/* What the calls of mode "ctf" have to do with spans by hand. */
#ifndef TL_RT_CTF_SITE_H
#define TL_RT_CTF_SITE_H

#include "rt/mode/rt_ctf_stream.h"

/* Adds what signal handlers put aside, while they do not put more. With the lane busy, or nobody's. */
void tl_rt_ctf_add_late(rt_lane *l, rt_ctf_stream *s);
/* Ends the open spans that lie below `keep`, or there but begun at `since` or later; there is one at least. */
void tl_rt_ctf_end_spans(rt_lane *l, rt_ctf_stream *s, uint64_t time, uintptr_t keep, uint64_t since);

#endif
