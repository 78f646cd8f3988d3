/* What the events of mode "ctf" refer to: names of functions and tracks (the file "functions"), and where binaries lie
 * in memory (the file "objects"). Each entry is a packet of its own.
 *
 *   packet   0      4     20      24     32   40       48    56 class u16, time u64, payload, zeros
 *            | magic | uuid | class | begin | end | content | size |
 *
 * Nothing of it is mapped: a packet is one write, and no packet of "objects" has more than a page. */
#ifndef TL_RT_CTF_TABLE_H
#define TL_RT_CTF_TABLE_H

#include "rt/mode/rt_ctf_stream.h"
#include "rt/object/rt_objects.h"

enum rt_ctf_stream_class { RT_CTF_STREAM_THREAD, RT_CTF_STREAM_FUNCTIONS, RT_CTF_STREAM_OBJECTS };
enum rt_ctf_function_class { RT_CTF_FUNCTION, RT_CTF_TRACK };
enum rt_ctf_object_class { RT_CTF_BIN_INFO, RT_CTF_BUILD_ID };

#define RT_CTF_FILE_FUNCTIONS "functions"
#define RT_CTF_FILE_OBJECTS   "objects"

/* From anywhere with the lane busy, or without a lane; false: no room, or no file. */
bool tl_rt_ctf_table_function(uint64_t id, const char *name, size_t n);
/* The name of a thread's track, made from the thread's name (may be NULL); `again`: replaces the first. */
bool tl_rt_ctf_table_track(rt_ctf_stream *s, const char *called);
bool tl_rt_ctf_table_object(const rt_object *o);
/* For a new trace, and in a child after fork: both files are empty, and the lock is free. */
void tl_rt_ctf_table_reset(void);

#endif
