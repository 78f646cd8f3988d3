/* A data stream of the mode "ctf": a file of one thread, in packets that are filled in place.
 *
 *   file     packet | packet | ... | packet, the last one up to the end of the file
 *
 *   packet   0      4     20      24        32     40   48       56    64        72         80   84   88         104
 *            | magic | uuid | class | instance | begin | end | content | size | sequence | discarded | pid | tid | name
 * | then events, then zeros
 *
 *   event    | class u16 | time u32 (low bits) | payload
 *            | 65535 u16 | class u32 | time u64 | payload       after more than 2^32 ticks, or a class beyond
 *
 * An event is reserved, filled, and committed by one store to the content's size. The last packet always reaches to the
 * end of the file, and a new one is complete before one store shortens its predecessor: so the file is valid at any
 * moment, even if the program is killed. The file ends far beyond the used part, since its size cannot change together
 * with the packet: the hole in between takes no room, and is cut off at the end. */
#ifndef TL_RT_CTF_STREAM_H
#define TL_RT_CTF_STREAM_H

#include "rt/rt_lane.h"

enum rt_ctf_packet {
    RT_CTF_AT_MAGIC = 0,
    RT_CTF_AT_UUID = 4,
    RT_CTF_AT_CLASS = 20,
    RT_CTF_AT_INSTANCE = 24,
    RT_CTF_AT_BEGIN = 32,
    RT_CTF_AT_END = 40,
    RT_CTF_AT_CONTENT = 48, /* bits, as all sizes */
    RT_CTF_AT_SIZE = 56,
    RT_CTF_AT_SEQUENCE = 64,
    RT_CTF_AT_DISCARDED = 72,
    RT_CTF_AT_PID = 80,
    RT_CTF_AT_TID = 84,
    RT_CTF_AT_NAME = 88,
    RT_CTF_NAME = 16,
    RT_CTF_HEADER = 104
};

enum {
    RT_CTF_SHORT = 6,        /* bytes of a short event header, */
    RT_CTF_LONG = 14,        /* and of a full one */
    RT_CTF_LONG_ID = 0xffff, /* the class that marks a full one */
    RT_CTF_LATE = 16384      /* bytes of events put aside */
};

/* An open span. */
typedef struct rt_ctf_span {
    uintptr_t sp;
    uint64_t begin;
    const struct tl_rt_site *site;
} rt_ctf_span;
enum { RT_CTF_OPEN = 256 }; /* deeper ones are not tracked: longjmp leaves them open */

typedef struct rt_ctf_stream {
    char *at, *end; /* where the next event goes; equal: no packet */
    uint64_t time;  /* of the last event */
    char *packet;   /* mapped; NULL: none yet */
    uint64_t size, offset;
    uint64_t file_size;
    uint64_t sequence;
    uint64_t lost_before; /* losses of the lane that earlier streams reported */
    uint32_t number;      /* index among all streams of the trace */
    uint32_t tid, pid;
    uint32_t file;          /* tl_rt.file that it belongs to */
    uint32_t deaf, wait;    /* after a failure: events to drop without trying, and how many the next time */
    uint32_t copy;          /* part of the file's name: how many earlier threads had the same number */
    uint64_t row, row_time; /* its entry in the table of tracks: where, and its time */
    bool has_row;
    uint32_t nopen, beyond; /* beyond: how many more are open but not tracked */
    rt_ctf_span open[RT_CTF_OPEN];
    volatile uint32_t late_used;
    char late[RT_CTF_LATE];
} rt_ctf_stream;

extern uint8_t tl_rt_ctf_uuid[16];
/* Bytes of all files; the first failure (an errno; EFBIG: the settings' limit). */
extern uint64_t tl_rt_ctf_taken;
extern int tl_rt_ctf_failed;
extern uint64_t tl_rt_ctf_homeless; /* lost events of threads that got no packet to report them */
extern uint64_t tl_rt_ctf_page;     /* the kernel's page: size of a file's first packet; all are multiples of it */

/* The path of a file in the trace's folder; "": of the folder. A new file has a suffix that no reader takes for a
 * trace, and gets its final name when the metadata is there. */
#define RT_CTF_NEW ".new"
extern bool tl_rt_ctf_is_new;
void tl_rt_ctf_path(char out[static RT_PATH + 64], const char *name);
/* "stream_4711" or "stream_4711_2". */
void tl_rt_ctf_stream_name(const rt_ctf_stream *s, char out[static 64]);

/* Room for n bytes of payload after an event header; NULL: the event was dropped and counted. With the lane busy. */
char *tl_rt_ctf_room(rt_lane *l, rt_ctf_stream *s, uint64_t *time, uint32_t class, size_t n);
/* Counts an event that found no room. error: -errno of an attempt, or 0. */
RT_COLD void tl_rt_ctf_drop(rt_lane *l, rt_ctf_stream *s, long error);
/* Ends the last packet, and the file, after the last event. The lane's losses from here on are reported by its next
 * stream. */
void tl_rt_ctf_stream_end(const rt_lane *l, rt_ctf_stream *s);
/* Writes a file with one packet without events, which reports the lost events that no stream could. */
void tl_rt_ctf_stream_tell_lost(void);
/* Forgets the file without changing it. */
void tl_rt_ctf_stream_forget(rt_ctf_stream *s);

/* Numbers at unaligned addresses. */
typedef uint16_t rt_u16 __attribute__((aligned(1), may_alias));
typedef uint32_t rt_u32 __attribute__((aligned(1), may_alias));
typedef uint64_t rt_u64 __attribute__((aligned(1), may_alias));

RT_INLINE void rt_put16(char *p, uint16_t v)
{
    *(rt_u16 *)(void *)p = v;
}
RT_INLINE void rt_put32(char *p, uint32_t v)
{
    *(rt_u32 *)(void *)p = v;
}
RT_INLINE void rt_put64(char *p, uint64_t v)
{
    *(rt_u64 *)(void *)p = v;
}

/* Stores a word of a packet's header, visible after all earlier stores. */
RT_INLINE void rt_ctf_tell(char *packet, unsigned at, uint64_t v)
{
    __atomic_store_n((uint64_t *)(void *)(packet + at), v, __ATOMIC_RELEASE);
}

/* Events that the lane lost, in this mode. */
RT_INLINE uint64_t rt_ctf_lost(const rt_lane *l)
{
    return l->lost.late + l->lost.depth + l->lost.memory + l->lost.disk;
}

RT_INLINE char *rt_ctf_reserve(rt_lane *l, rt_ctf_stream *s, uint64_t *time, uint32_t class, size_t n)
{
    uint64_t now = *time;
    if (RT_UNLIKELY(now - s->time > UINT32_MAX || (size_t)(s->end - s->at) < RT_CTF_SHORT + n ||
                    class >= RT_CTF_LONG_ID))
        return tl_rt_ctf_room(l, s, time, class, n);
    rt_put16(s->at, (uint16_t) class);
    rt_put32(s->at + 2, (uint32_t)now);
    return s->at + RT_CTF_SHORT;
}

/* Ends the reserved event. If this is interrupted, the size of the content says whether the event counts; `time` and
 * `at` are stored after it, in this order: see tl_rt_ctf_repair(). */
RT_INLINE void rt_ctf_commit(rt_ctf_stream *s, uint64_t time, char *end)
{
    rt_ctf_tell(s->packet, RT_CTF_AT_END, time);
    rt_ctf_tell(s->packet, RT_CTF_AT_CONTENT, (uint64_t)(end - s->packet) * 8);
    RT_BARRIER();
    RT_STORE(s->time, time);
    RT_STORE(s->at, end);
}

#endif
