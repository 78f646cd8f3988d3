/* Builds small traces of version 1.8 in memory, for tests: metadata with the parts that a test needs, packets with any
 * values in their headers, and blocks in place of folders. */
#ifndef TEST_MAKE_CTF_H
#define TEST_MAKE_CTF_H

#include <stdbool.h>

#include "base/endian.h"
#include "check.h"

/* Optional parts of packet headers and contexts. */
enum ctf_made_parts {
    MADE_MAGIC = 1,
    MADE_UUID = 2,
    MADE_STREAM = 4,
    MADE_INSTANCE = 8,
    MADE_SIZES = 16,
    MADE_TIMES = 32,
    MADE_COUNTERS = 64,
    MADE_BEGIN_ONLY = 128, /* no timestamp_end */
    MADE_ALL = 127
};

static const uint8_t ctf_made_uuid[16] = {0x2a, 0x64, 0x22, 0xd0, 0x6c, 0xee, 0x11, 0xe0,
                                          0x8c, 0x08, 0xcb, 0x07, 0xd7, 0xb3, 0xa5, 0x64};

/* What differs between traces. */
typedef struct ctf_made {
    unsigned parts;
    unsigned streams;    /* stream classes 0 .. streams-1; 0: one */
    const char *clock;   /* members of the clock besides its name; NULL: "freq = 1000000000;" */
    const char *name;    /* of the clock; NULL: "mono" */
    const char *env;     /* members of the environment */
    const char *context; /* members of packet contexts before all others */
    bool other_uuid;     /* the last digits of the uuid are 65 */
} ctf_made;

/* Bytes under construction. */
typedef struct ctf_bytes {
    uint8_t *data;
    size_t n, capacity;
} ctf_bytes;

static inline void made_put(ctf_bytes *b, const void *p, size_t n)
{
    if (!b->data || n > b->capacity - b->n) {
        b->capacity = 2 * (b->n + n) + 4096;
        b->data = realloc(b->data, b->capacity);
        assert_non_null(b->data);
    }
    if (n)
        memcpy(b->data + b->n, p, n);
    b->n += n;
}

static inline void made_zeros(ctf_bytes *b, size_t n)
{
    static const uint8_t zeros[4096];
    for (; n > sizeof zeros; n -= sizeof zeros)
        made_put(b, zeros, sizeof zeros);
    made_put(b, zeros, n);
}

static inline void made_u32(ctf_bytes *b, uint32_t v)
{
    uint8_t p[4];
    tl_store32(p, v, false);
    made_put(b, p, sizeof p);
}

static inline void made_u64(ctf_bytes *b, uint64_t v)
{
    uint8_t p[8];
    tl_store64(p, v, false);
    made_put(b, p, sizeof p);
}

static inline void made_text(ctf_bytes *b, const char *format, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, format);
    const int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    assert_true(n >= 0 && (size_t)n < sizeof text);
    made_put(b, text, (size_t)n);
}

/* Everything is little-endian and aligned to bytes. An event: u8 id, u64 timestamp, u32 value. */
static inline void made_metadata(ctf_bytes *b, const ctf_made *m)
{
    const unsigned parts = m->parts;
    const char *clock = m->name ? m->name : "mono";
    made_text(b, "/* CTF 1.8 */\n"
                 "typealias integer { size = 8; align = 8; } := u8;\n"
                 "typealias integer { size = 32; align = 8; } := u32;\n"
                 "typealias integer { size = 64; align = 8; } := u64;\n");
    made_text(b, "clock { name = %s; %s };\ntypealias integer { size = 64; align = 8; map = clock.%s.value; } := ts;\n",
              clock, m->clock ? m->clock : "freq = 1000000000;", clock);
    made_text(b, "trace { major = 1; minor = 8; uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a5%s\"; byte_order = le;\n",
              m->other_uuid ? "65" : "64");
    made_text(b, "packet.header := struct { %s %s %s %s }; };\n", parts & MADE_MAGIC ? "u32 magic;" : "",
              parts & MADE_UUID ? "u8 uuid[16];" : "", parts & MADE_STREAM ? "u32 stream_id;" : "",
              parts & MADE_INSTANCE ? "u64 stream_instance_id;" : "");
    if (m->env)
        made_text(b, "env { %s };\n", m->env);
    for (unsigned i = 0; i < (m->streams ? m->streams : 1); i++) {
        made_text(b, "stream { id = %u; event.header := struct { u8 id; ts timestamp; };\n", i);
        made_text(b, "packet.context := struct { %s %s %s %s %s }; };\n", m->context ? m->context : "",
                  parts & MADE_TIMES ? "ts timestamp_begin;" : "",
                  (parts & MADE_TIMES) && !(parts & MADE_BEGIN_ONLY) ? "ts timestamp_end;" : "",
                  parts & MADE_SIZES ? "u64 content_size; u64 packet_size;" : "",
                  parts & MADE_COUNTERS ? "u64 packet_seq_num; u64 events_discarded;" : "");
        made_text(b, "event { id = 0; name = \"e%u\"; stream_id = %u; fields := struct { u32 v; }; };\n", i, i);
    }
}

typedef struct ctf_made_packet {
    uint32_t magic;  /* 0: the right one */
    bool other_uuid; /* its last byte is 0x65 */
    uint32_t stream;
    uint64_t instance, begin, end, sequence, discarded;
    unsigned events;       /* at begin, begin + 1, ... */
    unsigned padding;      /* bytes */
    int64_t content_error; /* bits added to content_size */
    int64_t size_error;    /* bits added to packet_size */
} ctf_made_packet;

/* Bytes of header and context. */
static inline size_t made_header_size(unsigned parts)
{
    const struct {
        unsigned part;
        size_t size;
    } sizes[] = {{MADE_MAGIC, 4},     {MADE_UUID, 16}, {MADE_STREAM, 4}, {MADE_INSTANCE, 8},
                 {MADE_COUNTERS, 16}, {MADE_TIMES, 8}, {MADE_SIZES, 16}};
    size_t n = (parts & MADE_TIMES) && !(parts & MADE_BEGIN_ONLY) ? 8 : 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        n += parts & sizes[i].part ? sizes[i].size : 0;
    return n;
}

/* Returns the offset of the packet. */
static inline size_t made_packet(ctf_bytes *b, unsigned parts, ctf_made_packet p)
{
    const size_t begin = b->n;
    const uint64_t content = 8 * (made_header_size(parts) + 13 * (uint64_t)p.events);
    if (parts & MADE_MAGIC)
        made_u32(b, p.magic ? p.magic : 0xc1fc1fc1);
    if (parts & MADE_UUID) {
        made_put(b, ctf_made_uuid, 15);
        made_put(b, p.other_uuid ? "\x65" : "\x64", 1);
    }
    if (parts & MADE_STREAM)
        made_u32(b, p.stream);
    if (parts & MADE_INSTANCE)
        made_u64(b, p.instance);
    if (parts & MADE_TIMES)
        made_u64(b, p.begin);
    if ((parts & MADE_TIMES) && !(parts & MADE_BEGIN_ONLY))
        made_u64(b, p.end);
    if (parts & MADE_SIZES) {
        made_u64(b, content + (uint64_t)p.content_error);
        made_u64(b, content + 8 * (uint64_t)p.padding + (uint64_t)p.size_error);
    }
    if (parts & MADE_COUNTERS) {
        made_u64(b, p.sequence);
        made_u64(b, p.discarded);
    }
    for (unsigned i = 0; i < p.events; i++) {
        made_put(b, "", 1);
        made_u64(b, p.begin + i);
        made_u32(b, i);
    }
    made_zeros(b, p.padding);
    return begin;
}

/* A file of a block in place of a folder. Frees the content. */
static inline void made_file(ctf_bytes *folder, const char *name, ctf_bytes *content)
{
    made_put(folder, name, strlen(name) + 1);
    made_u32(folder, (uint32_t)content->n);
    made_put(folder, content->data, content->n);
    free(content->data);
    *content = (ctf_bytes){0};
}

/* Metadata of function traces: the part before the streams, and the events of calls, 1 and 2. */
#define MADE_CALLS_HEAD                                                                                                \
    "/* CTF 1.8 */\n"                                                                                                  \
    "typealias integer { size = 8; align = 8; } := u8;\n"                                                              \
    "typealias integer { size = 64; align = 8; } := u64;\n"                                                            \
    "trace { major = 1; minor = 8; byte_order = le; };\n"                                                              \
    "clock { name = mono; freq = 1000000000; };\n"                                                                     \
    "typealias integer { size = 64; align = 8; map = clock.mono.value; } := stamp;\n"
#define MADE_CALLS_EVENTS                                                                                              \
    "event { name = \"lttng_ust_cyg_profile:func_entry\"; id = 1; fields := struct { u64 addr; }; };\n"                \
    "event { name = \"lttng_ust_cyg_profile:func_exit\"; id = 2; fields := struct { u64 addr; }; };\n"

/* A block of metadata and one stream; frees the stream. */
static inline ctf_bytes made_trace(const char *metadata, ctf_bytes *stream)
{
    ctf_bytes folder = {0}, text = {0};
    made_put(&text, metadata, strlen(metadata));
    made_file(&folder, "metadata", &text);
    made_file(&folder, "stream", stream);
    return folder;
}

/* A folder in it with metadata. */
static inline void made_unit(ctf_bytes *folder, const char *path, const ctf_made *m)
{
    ctf_bytes text = {0};
    char name[256];
    made_metadata(&text, m);
    snprintf(name, sizeof name, "%s%smetadata", path, *path ? "/" : "");
    made_file(folder, name, &text);
}

#endif
