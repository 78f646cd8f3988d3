/* The reader's inside: traces in a folder, their data stream files, and the walk over the packets of a file. */
#ifndef TL_FORMAT_CTF_FILE_H
#define TL_FORMAT_CTF_FILE_H

#include "base/io/window.h"
#include "format/ctf/plan/ctf_plan.h"

/* One metadata file with its streams. A folder may have several. */
typedef struct ctf_unit {
    ctf_schema schema;
    ctf_plans *plans;
    const char *metadata;        /* its file name in the folder */
    const struct ctf_unit *like; /* an earlier one, whose classes and plans it shares: it has only its own clocks, uuid
                                    and session; or NULL */
} ctf_unit;

/* Maps clock values of a stream class to the clock of the trace: ticks = value + shift, or, if frequencies differ, ns =
 * value and rest in ns, rounded down, + shift (wrapping arithmetic). */
typedef struct ctf_time {
    bool scaled;
    tl_scale scale;
    uint64_t shift, rest;
} ctf_time;

TL_ALWAYS_INLINE uint64_t ctf_ticks(const ctf_time *t, uint64_t value)
{
    return (t->scaled ? tl_scale_ns_down(&t->scale, value, t->rest) : value) + t->shift;
}

/* A data stream file. Files of one stream (ctf_joined.c) are a chain, in order of time, and have the same track. */
typedef struct ctf_file {
    const ctf_unit *unit;
    struct ctf_file *first, *next; /* of the stream; `next` is NULL for the last one */
    size_t stem;                   /* of a first one: length of the common prefix of names; 0: the whole name */
    const tl_folder *folder;
    uint32_t index;          /* in the folder */
    const char *name;        /* relative to the folder */
    uint64_t size;           /* bytes */
    uint32_t *track;         /* [nstream]: track of each stream class, UINT32_MAX if it has none yet */
    ctf_time *time;          /* [nstream] */
    uint32_t section;        /* 2010: index of the stream class in its name */
    int32_t cpu;             /* 2010: from its name; -1 */
    bool regresses;          /* times of packets go back */
    bool has_begin;          /* every packet has a begin: it can be decoded on its own */
    struct ctf_point *point; /* index: some of the packets, in order */
    uint32_t npoint;
} ctf_file;

/* A place where decoding can start. */
typedef struct ctf_point {
    uint64_t offset, number; /* of the packet */
    uint64_t latest;         /* no earlier packet of the file ends later: ticks of the trace's clock */
} ctf_point;

/* A walk over the packets of a file. The caller owns the window, which need not be large. */
typedef struct ctf_walk {
    const ctf_file *file;
    tl_window *window;
    tl_trace *report; /* destination of problems of packets; NULL: none */
    uint64_t offset;  /* of the next packet */
    uint64_t number;
    size_t ahead;  /* bytes to read at once; 0: as many as the window holds */
    uint64_t work; /* bytes of headers examined so far: bounds the search in damaged files */
} ctf_walk;

/* 1: *p is the next usable packet; 0: the end of the file; < 0: error (also TL_EDAMAGED at a problem if `strict`).
 * Unusable packets are skipped by the rules in docs/format/ctf.md. */
int ctf_walk_next(ctf_walk *w, ctf_packet *p, tl_error *e);
/* The same for the dialect of 2010; ctf_walk_next() calls it. */
int ctf_2010_walk_next(ctf_walk *w, ctf_packet *p, tl_error *e);

/* The first bit of the field with a role (CTF_ROLE_UUID, CTF_ROLE_PACKET_SIZE) in a packet that begins at `data`; 0 if
 * there is none. Slow: for messages. TL_ENOMEM. */
int ctf_header_bit(const ctf_plans *p, const uint8_t *data, size_t n, uint32_t role, uint64_t *bit, tl_error *e);

/* 2010: the section whose name a file has, and the processor after it (-1: none). UINT32_MAX: no section. */
uint32_t ctf_2010_section(const ctf_schema *s, const char *file, int32_t *cpu);

/* 2010: verifies the checksum and decompresses. *content: malloc'ed bytes that begin with 48 bytes for the header, so
 * that the content is at bit 384 as in the packet, *n their number including these; NULL: the plain bytes of the file
 * are the content; or, with *skip set, the content is unreadable (encrypted, broken compression: reported). */
int ctf_2010_content(ctf_walk *w, const ctf_packet *p, uint8_t **content, size_t *n, bool *skip, tl_error *e);

/* 2010: the index of the section of a file, by its name, or UINT32_MAX: none. *cpu: the number after the name, or
 * -1. */
uint32_t ctf_2010_section(const ctf_schema *s, const char *file, int32_t *cpu);

/* Reports a problem of a packet. kind: tl_damage_kinds; at, offset: bytes in the file. */
__attribute__((format(printf, 8, 9))) int ctf_report(tl_trace *t, const ctf_file *f, unsigned kind, uint64_t at,
                                                     uint64_t offset, uint64_t bytes, const char *rule,
                                                     const char *format, ...);

#endif
