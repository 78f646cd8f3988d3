/* Writing CTF in all three dialects: the interface, and what the files of the writer share.
 *
 * A class of events is lowered to forms once: trees that say how the file holds each value of the tape. Forms are
 * what the metadata of every dialect is printed from, and what events are written by, so that the two cannot disagree.
 * Everything is little-endian and begins at whole bytes.
 *
 *   classes -> ctf_write_open.c -> ctf_shape.c, ctf_form.c (forms) -> write_tsdl.c, write_json.c, write_ctf2010.c
 *   batch -> ctf_write.c -> ctf_write_stream.c (which file) -> ctf_write_event.c (values) -> ctf_write_packet.c */
#ifndef TL_FORMAT_CTF_WRITE_H
#define TL_FORMAT_CTF_WRITE_H

#include "base/digest.h"
#include "base/io/decompress.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/read/ctf_table.h"
#include "format/ctf/write/ctf_form.h"
#include "model/format_impl.h"

/* Most packets, and most bytes, being filled at a time: beyond that, the one that has waited longest for an event is
 * written. */
#define CTF_WRITE_OPEN_MAX    256u
#define CTF_WRITE_OPEN_BYTES  ((size_t)64 << 20)
/* Size at which a packet is closed: large enough that its header costs nothing, small enough to seek to. */
#define CTF_WRITE_PACKET      (64u << 10)
/* Packets of the source are preserved up to this size, otherwise divided. */
#define CTF_WRITE_PACKET_KEPT (4u << 20)
/* 2010: packets are padded to pages. */
#define CTF_WRITE_PAGE        4096u

/* Bytes of packet headers and contexts of 1.8 and 2: places of numbers filled in at the end. */
enum ctf_written_packet {
    CTF_WRITTEN_UUID = 4,
    CTF_WRITTEN_STREAM = 20,
    CTF_WRITTEN_INSTANCE = 24,
    CTF_WRITTEN_BEGIN = 32,
    CTF_WRITTEN_END = 40,
    CTF_WRITTEN_CONTENT_SIZE = 48,
    CTF_WRITTEN_PACKET_SIZE = 56,
    CTF_WRITTEN_SEQUENCE = 64,
    CTF_WRITTEN_DISCARDED = 72,
    CTF_WRITTEN_HEADER = 80, /* then processor, process and thread if the stream class has them, and other fields */
    CTF_WRITTEN_TIMES = 16   /* bytes of begin and end, missing in packets without times */
};

/* An event class of the source, as written. */
typedef struct ctf_written_class {
    const tl_class *cls;
    uint32_t shape, id;      /* id: within the shape */
    const ctf_form *context; /* of this class only */
    const ctf_form *payload;
    const char *uri;                   /* kind and key for our reader; or NULL */
    bool keeps, is_packet;             /* is_packet: not an event, but the begin of a packet of the source */
    bool calls;                        /* its key is a function */
    bool shows_context, shows_payload; /* even if they are empty */
} ctf_written_class;

/* A stream class of the output. */
typedef struct ctf_written_stream_class {
    uint32_t shape;
    char *name;     /* the source's name for it, as far as names of tracks show it; 2010: of the section; or "" */
    uint32_t track; /* the track it was made for: its name has the same prefix */
    bool own;       /* 2010: for that track only */
    uint64_t id;
    bool has_cpu, has_pid, has_tid; /* members of its packet context; not 2010 */
    bool timeless;                  /* events have an id and no time; packets have no time either */
    bool large;                     /* the event header with a 16-bit id */
    bool first;                     /* the first of its shape: lists the classes that never occur */
    uint64_t *used;                 /* bits by event id */
} ctf_written_stream_class;

/* A packet of the source. */
typedef struct ctf_given {
    uint64_t begin, end, discarded, sequence;
    unsigned discarded_bits, sequence_bits;
    bool has_begin, has_end, has_discarded, has_sequence;
    bool rest; /* the rest of a divided one */
    int32_t cpu;
} ctf_given;

/* A stream: one file. */
typedef struct ctf_stream {
    uint32_t track, cls; /* cls: index of its stream class */
    uint32_t next;       /* of the same track; UINT32_MAX: none */
    uint32_t file;       /* of the output folder */
    char *name;
    ctf_room room;          /* the packet being filled; data is NULL if none */
    uint32_t newer, older;  /* neighbours among the open ones */
    size_t context, header; /* bytes before the fields of the source's packet context, and after them */
    size_t accounted;       /* of the room, as counted in the total */
    uint64_t events;        /* in the packet */
    uint64_t clock;         /* last time written */
    uint64_t end;           /* of the previous packet */
    uint64_t begin, latest; /* of the packet: its begin, and the latest event */
    ctf_given given;        /* the source's packet, ... */
    bool has_given;
    ctf_given waiting; /* ... and the one that begins with the next event */
    bool has_waiting;
    int32_t cpu;
    uint8_t tail;                             /* bits of the last byte that belong to no field */
    uint64_t packets, bytes;                  /* written */
    uint64_t sequence, discarded;             /* of the last packet; as written */
    uint64_t given_sequence, given_discarded; /* the source's latest ones */
    uint64_t discarded_base;                  /* 2010: the part that does not count */
    bool any_sequence, any_discarded, counts_first;
    uint8_t *last_context; /* fields of the source in the last packet context */
    size_t nlast_context;
    uint8_t context_tail;              /* of it: as `tail` */
    uint8_t (*index)[CTF_INDEX_ENTRY]; /* entries not written yet */
    uint32_t nindex, index_capacity, index_file;
} ctf_stream;

/* 2010: processing of complete packets. */
typedef struct ctf_sealing {
    tl_codec codec;
    tl_digest_kind digest;
    uint8_t compression, checksum; /* schemes; 0: none */
    ctf_room room;                 /* the last compressed packet */
} ctf_sealing;

/* A track of the source. */
typedef struct ctf_written_track {
    uint32_t first, last; /* streams: the first in the chain, the last one used; UINT32_MAX */
    ctf_given *pending;   /* packets before the first event */
    uint32_t npending, capacity;
} ctf_written_track;

typedef struct ctf_writer {
    tl_write_context context;
    ctf_dialect dialect;
    uint8_t uuid[16];
    bool scales;           /* 2010: times are ns since context.options->begin, else as they are */
    uint64_t base, latest; /* 1.8: subtracted from times; and the latest time after that */
    bool packets;          /* the source has begins of packets */
    bool from_ctf;         /* it is of this format */
    bool one_section;      /* 2010: see write_names.c */
    ctf_forms forms;
    ctf_written_class *cls; /* [trace->ncls + CTF_TABLE_CLASSES]: the last ones are those of the table */
    uint32_t ncls;
    tl_class table_class[CTF_TABLE_CLASSES];

    ctf_written_stream_class *sc;
    uint32_t nsc, sc_capacity;
    ctf_stream *stream;
    uint32_t nstream, stream_capacity;
    uint32_t table; /* the stream of the table; UINT32_MAX: none yet */
    uint32_t newest, oldest, nopen;
    size_t open_bytes;
    ctf_room spare, scratch;  /* scratch: the packet context of the current event */
    uint8_t packet_tail;      /* of it: bits of the last byte that belong to no field */
    ctf_written_track *track; /* [ntrack]: of the trace; more may be added while reading */
    uint32_t ntrack;
    tl_strings names, sections; /* taken names */
    ctf_put put;
    ctf_sealing sealing;
    uint64_t misfits, large, lost_cpus, lost_contexts, made_contexts;
    uint64_t made_times, back, far; /* 1.8 */

    tl_hash called; /* functions that occurred */
    int64_t *call;
    uint32_t ncall, call_capacity;
    uint64_t recent[64]; /* the same, as a cache */
} ctf_writer;

/* The format's interface. */
int ctf_create(void *writer, const tl_write_context *context, tl_error *e);
tl_accept ctf_accept(void *writer, const tl_class *c);
int ctf_write(void *writer, const tl_batch *b, uint32_t from, uint32_t to, tl_error *e);
int ctf_finish(void *writer, tl_error *e);
uint64_t ctf_written(const void *writer);
void ctf_discard(void *writer);

/* ctf_write_open.c: lowers all classes, and makes an identity for the trace. */
int ctf_write_open(ctf_writer *w, tl_error *e);
/* Room for n tracks. False without memory. */
bool ctf_write_tracks(ctf_writer *w, uint32_t n);
/* A time on the output's clock. */
uint64_t ctf_write_time(const ctf_writer *w, uint64_t ts);

/* Writes one event of a class, for which there is room (ctf_stream_ready()). v: its values from the stream context on;
 * w->put has their end and the key. */
int ctf_write_event(ctf_writer *w, ctf_stream *s, const ctf_written_class *c, uint64_t ts, const tl_value *v,
                    tl_error *e);
/* write_table.c: writes the table as a stream. */
int ctf_table_write(ctf_writer *w, tl_error *e);

/* Streams: ctf_write_stream.c. The stream of a track (UINT32_MAX: the table's) for events of a shape, made if
 * needed. */
int ctf_stream_find(ctf_writer *w, uint32_t track, uint32_t shape, int32_t cpu, ctf_stream **out, tl_error *e);
void ctf_stream_free(ctf_stream *s);

/* 2010, ctf2010_seal.c: checks the options for compression and checksums. TL_EINVAL for unknown ones, and for any in
 * the other dialects; TL_EUNSUPPORTED for what this build lacks. */
int ctf_seal_open(ctf_writer *w, tl_error *e);
/* 2010: completes a packet of *n bytes: compresses its content if that makes it smaller (then *packet changes, until
 * the next call; never for metadata), and fills sizes and checksum into its header. *padding: zeros to write after
 * it. */
int ctf_seal(ctf_sealing *s, bool metadata, uint8_t **packet, size_t *n, size_t *padding, tl_error *e);

/* Files with LTTng's index of packets: write_index.c. Adds the packet just written at `offset`. */
int ctf_index_add(ctf_writer *w, ctf_stream *s, uint64_t offset, const uint8_t *packet, tl_error *e);
int ctf_index_end(ctf_writer *w, ctf_stream *s, tl_error *e);

/* Names of tracks and files: write_names.c. */

/* Does the name of a track end in this processor's number? */
bool ctf_names_processor(const ctf_writer *w, uint32_t track, int32_t cpu);
/* What tracks must share to share a stream class: n bytes of text. UINT32_MAX: the table's. */
const char *ctf_class_text(const ctf_writer *w, uint32_t track, size_t *n);
/* The name of a new stream class, "" for none; 2010: a unique one of a section (own: for this track only). To be freed;
 * NULL without memory. */
char *ctf_class_name(ctf_writer *w, uint32_t track, bool own);
/* A unique name of a file; 2010: of a section, with the number of a processor unless negative. To be freed; NULL
 * without memory. */
char *ctf_file_name(ctf_writer *w, uint32_t track, const char *section, int32_t cpu);
/* 2010: whether a section has a file with this number. */
bool ctf_file_exists(const ctf_writer *w, const char *section, int32_t cpu);
/* Replaces everything except letters, digits and '-' by '_'. */
void ctf_safe_name(char *s);

/* Metadata: each prints all of it. */
void ctf_metadata_tsdl(ctf_writer *w, tl_output *out);
void ctf_metadata_json(ctf_writer *w, tl_output *out);
int ctf_metadata_2010(ctf_writer *w, tl_output *out, tl_error *e);
/* Is a class in the metadata of a stream class? */
bool ctf_class_listed(const ctf_writer *w, const ctf_written_stream_class *sc, const ctf_written_class *c);
/* Tick 0 of a clock in ns since 1970, or since the clock's own origin (may be NULL); 0 if unknown. */
int64_t ctf_origin_ns(const tl_clock *c, const tl_origin *origin);
/* The same with the remainder of a ns if the origin has it, as seconds and cycles of the clock's frequency (1 GHz if
 * unknown). */
void ctf_clock_offset(const tl_clock *c, const tl_origin *origin, int64_t *seconds, uint64_t *cycles);
#define CTF_WRITE_HZ(clock)   ((clock)->hz ? (clock)->hz : 1000000000u)
#define CTF_CLOCK_NAME(clock) ((clock)->name ? (clock)->name : "clock")
/* Property that marks a clock with ticks of unknown length. */
#define CTF_TICKS_PROPERTY    "traceloom_clock_unit"

#endif
