/* The metadata of mode "ctf": fragments of CTF 2, appended as needed. */
#ifndef TL_RT_CTF_METADATA_H
#define TL_RT_CTF_METADATA_H

#include <stdbool.h>

#include "traceloom/rt.h"

/* Classes of thread streams. Those of sites follow, two for each: its begin (or the event itself), and its end. */
enum { RT_CTF_CLASS_ENTRY, RT_CTF_CLASS_EXIT, RT_CTF_CLASS_SITES = 16 };

/* Creates the file with everything known at the start. 0 or -errno. Not from hooks. */
int tl_rt_ctf_metadata_start(void);
/* Rewrites the clock with the current calibration. */
void tl_rt_ctf_metadata_clock(void);
/* Classes of a site; with the lane busy, before an event of the site. 0 or -errno. */
long tl_rt_ctf_metadata_site(const struct tl_rt_site *site);
void tl_rt_ctf_metadata_child(void); /* after fork: no lock is held */

#endif
