/* A schema: the contents of one metadata file. Made by the front end of its language, immutable afterwards. */
#ifndef TL_FORMAT_CTF_SCHEMA_H
#define TL_FORMAT_CTF_SCHEMA_H

#include "base/arena.h"
#include "base/io/folder.h"
#include "format/ctf/ctf_type.h"
#include "traceloom/error.h"

#define CTF_METADATA_MAX (16u << 20) /* bytes of metadata text: ten times the largest seen */
#define CTF_CLASSES_MAX  65536u      /* event classes of a trace, and stream classes */
#define CTF_MEMBERS_MAX  4096u       /* members of one struct; the search for names among them takes quadratic time */

typedef enum ctf_dialect { CTF_2010, CTF_1_8, CTF_2 } ctf_dialect;

typedef struct ctf_clock {
    const char *id;   /* for references by fields and stream classes */
    const char *name; /* for output; or NULL */
    const char *description;
    const char *uuid; /* text: two clocks of the same uuid are one; or NULL */
    uint64_t hz;      /* >= 1 */
    int64_t offset_s; /* of value 0 from the origin, in seconds ... */
    int64_t offset;   /* ... and cycles */
    uint64_t precision;
    bool is_unix; /* the origin is 1970-01-01 00:00 UTC */
} ctf_clock;

typedef struct ctf_event_class {
    uint64_t id;
    const char *name;  /* never NULL: "event 5" if the metadata has no name */
    const char *level; /* log level as a word ("TRACE_DEBUG"), or NULL */
    int32_t level_value;
    const char *uri;         /* model.emf.uri, or NULL */
    const ctf_type *context; /* structs, or NULL */
    const ctf_type *payload;
} ctf_event_class;

typedef struct ctf_stream_class {
    uint64_t id;
    const char *name;       /* of the section or stream class; NULL: it has only an id */
    const ctf_clock *clock; /* default clock; NULL: events have no time */
    const ctf_type *packet_context, *event_header, *event_context; /* structs, or NULL */
    const ctf_event_class *const *event;                           /* ids are unique */
    uint32_t nevent;
} ctf_stream_class;

/* The place of a piece of metadata text in the file; it ends where the next one begins. */
typedef struct ctf_text_part {
    uint64_t text, file;
} ctf_text_part;

typedef struct ctf_schema {
    tl_arena arena; /* owns everything here */
    ctf_dialect dialect;
    unsigned major, minor; /* "1.8", "2.0", "1.1" */
    ctf_order order;       /* trace.byte_order; in 2 that of most integers, for `info`; in 2010 that of the metadata */
    bool has_uuid;
    uint8_t uuid[16];              /* that packet headers must repeat */
    uint32_t session;              /* 2010: session_id of the packets */
    const char *name;              /* or NULL */
    const ctf_type *packet_header; /* struct, or NULL */
    const ctf_clock *const *clock;
    uint32_t nclock;
    const ctf_stream_class *const *stream; /* ids (2010: names) are unique */
    uint32_t nstream;
    const tl_property *property; /* environment */
    uint32_t nproperty;
    const char *text;          /* the metadata, for messages with line and column ... */
    size_t ntext;              /* ... or NULL */
    const ctf_text_part *part; /* of a text in packets; see ctf_metadata_offset() */
    uint32_t npart;
    const tl_damage *damage; /* 2010: problems of metadata packets that did not stop it, without file names: the reader
                                of the trace reports them */
    uint32_t ndamage;
} ctf_schema;

/* The front ends. They fill a zeroed schema from n bytes of text; the caller frees its arena, also after failure.
 * Errors: TL_EDAMAGED with the offset in the text and a message "line 3, column 7: expected ';', found '}'"; TL_ENOMEM.
 * Unknown attributes and properties are ignored. */
int ctf_tsdl_parse(ctf_schema *s, const char *text, size_t n, tl_error *e); /* CTF 1.8 */
int ctf_json_parse(ctf_schema *s, const char *text, size_t n, tl_error *e); /* CTF 2: RFC 7464 sequence of JSON */
int ctf_2010_parse(ctf_schema *s, const char *text, size_t n, tl_error *e); /* proposal of 2010 */
/* The same for a file of packets of the 2010 dialect; e->offset is in the file. */
int ctf_2010_metadata(ctf_schema *s, tl_input *in, tl_error *e);

/* Shared by all front ends. */
ctf_type *ctf_type_new(ctf_schema *s, ctf_kind kind, uint64_t position); /* zeroed except kind, position and align 1 */
/* Fails with "line L, column C: " in front of the message; position: offset in the text. Returns TL_EDAMAGED. */
__attribute__((format(printf, 5, 6))) int ctf_metadata_fail(tl_error *e, const char *text, size_t n, uint64_t position,
                                                            const char *format, ...);
/* The largest alignment that a type and its parts need from their container (a variant needs none). */
uint32_t ctf_type_alignment(const ctf_type *t);
/* The alignment of a type's begin: for a struct the former, for an array that of its element (or of the length before
 * it), otherwise its own. */
uint32_t ctf_type_start(const ctf_type *t);
/* Whether a type that begins at a whole byte always ends at one; whether it may take no bits at all. */
bool ctf_type_is_bytewise(const ctf_type *t);
bool ctf_type_may_be_empty(const ctf_type *t);
/* Whether a type or a part of it has a role. */
bool ctf_type_has_role(const ctf_type *t, uint32_t role);

/* Reads a metadata file in any container (text, packets of 1.8 and 2, packets of 2010), and parses it. On failure
 * e->offset is an offset in the file, if known. `index`: its number in the folder. Messages do not name the file. */
int ctf_metadata_read(ctf_schema *s, const tl_folder *folder, uint32_t index, tl_error *e);
/* The file offset of a position in the text that ctf_metadata_read() extracted. */
uint64_t ctf_metadata_offset(const ctf_schema *s, uint64_t position);

#endif
