/* The mode "ctf": a folder with a trace of CTF 2, a stream for each thread; docs/format/recording-ctf.md. Called from
 * rt_record.c and hook_spans.c, with the lane busy. */
#ifndef TL_RT_CTF_H
#define TL_RT_CTF_H

#include "rt/rt_lane.h"
#include "traceloom/rt.h"

/* The folder tl_rt.path + ".live" with its metadata. 0 or -errno. Not from hooks. */
int tl_rt_ctf_start(void);
/* Ends all packets, closes the files, and gives the folder its final name; see tl_rt_fdr_finish(). Not from hooks. */
int tl_rt_ctf_finish(int *named);
void tl_rt_ctf_child(void); /* after fork, in the child: forgets the parent's files without writing to them */
uint64_t tl_rt_ctf_bytes(void);

/* Sets up a lane for its thread; false: no room, counted. */
bool tl_rt_ctf_attach(rt_lane *l);
bool tl_rt_ctf_repair(rt_lane *l); /* see tl_rt_lane_repair() */
void tl_rt_ctf_enter(rt_lane *l, uint64_t time, uint32_t function);
void tl_rt_ctf_exit(rt_lane *l, uint64_t time, uint32_t function);

/* An event of a site of traceloom/rt.h: a span begins (or an instant or counter happens), or it ends. A span's place is
 * `sp`; spans below `keep` can no longer exist. */
enum rt_ctf_phase { RT_CTF_BEGIN, RT_CTF_END };
typedef struct rt_ctf_place {
    uintptr_t sp, keep;
} rt_ctf_place;
void tl_rt_ctf_site(rt_lane *l, uint64_t time, const struct tl_rt_site *site, int phase, const rt_ctf_place *at,
                    const union tl_rt_value *value);
/* The same, while the lane is busy with what a signal handler interrupted: the event is put aside, and added before the
 * next one. */
void tl_rt_ctf_site_late(rt_lane *l, uint64_t time, const struct tl_rt_site *site, int phase,
                         const union tl_rt_value *value);
bool tl_rt_ctf_note(const char *line, size_t n); /* see rt_note.h */

#endif
