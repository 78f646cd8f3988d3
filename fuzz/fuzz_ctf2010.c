/* Fuzz target: the dialect of 2010. The bytes are tried as metadata text, as a metadata file, and as packets of a data
 * stream. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "format/ctf/ctf_layout.h"
#include "format/ctf/read/ctf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static void check_type(const ctf_type *t, unsigned depth)
{
    promise(depth <= CTF_DEPTH_MAX, "types are not deeper than the limit");
    promise(t->align >= 1 && t->align <= CTF_ALIGN_MAX && (t->align & (t->align - 1)) == 0,
            "alignments are powers of two");
    promise(t->unit == 0 || (t->unit >= t->bits && (t->unit & (t->unit - 1)) == 0), "units hold their field");
    switch ((ctf_kind)t->kind) {
    case CTF_INT:
        promise(t->bits >= 1 && t->bits <= 64, "integers have 1 to 64 bits");
        for (uint32_t i = 0; i < t->nmapping; i++)
            promise(t->is_signed ? (int64_t)t->mapping[i].low <= (int64_t)t->mapping[i].high
                                 : t->mapping[i].low <= t->mapping[i].high,
                    "ranges are not empty");
        break;
    case CTF_FLOAT:
        promise(t->bits == 32 || t->bits == 64, "floating point numbers have 32 or 64 bits");
        break;
    case CTF_ARRAY:
        promise(t->nmember == 1 && t->dynamic == (t->inline_length != NULL), "lists have a length");
        if (t->inline_length)
            check_type(t->inline_length, depth + 1);
        break;
    default:
        break;
    }
    if (t->kind == CTF_STRUCT)
        promise(ctf_type_alignment(t) == t->align, "a struct is aligned as the largest of its members");
    for (uint32_t i = 0; i < t->nmember; i++) {
        promise(t->kind == CTF_ARRAY || t->member[i].name != NULL, "members have names");
        check_type(t->member[i].type, depth + 1);
    }
}

static void check_schema(const ctf_schema *s)
{
    for (uint32_t i = 0; i < s->nstream; i++) {
        const ctf_stream_class *stream = s->stream[i];
        promise(stream->id == i && stream->name && stream->clock && stream->event_header, "sections are whole");
        check_type(stream->event_header, 0);
        if (stream->event_context)
            check_type(stream->event_context, 0);
        for (uint32_t k = 0; k < stream->nevent; k++) {
            promise(stream->event[k]->name && stream->event[k]->payload->kind == CTF_STRUCT, "events are whole");
            check_type(stream->event[k]->payload, 1);
        }
        int32_t cpu;
        promise(ctf_2010_section(s, stream->name, &cpu) <= i || strchr(stream->name, '/'),
                "a section has the file of its name");
    }
}

static void check_status(int r, const tl_error *e, uint64_t size)
{
    promise(r >= 0 || e->code == r, "an error carries the code that is returned");
    promise(r >= 0 || e->offset <= size || e->offset == TL_NO_OFFSET, "and an offset in the input");
}

static void try_metadata(const uint8_t *data, size_t size)
{
    ctf_schema s = {0};
    tl_error e = {0};
    int r = ctf_2010_parse(&s, (const char *)data, size, &e);
    check_status(r, &e, size);
    if (r >= 0)
        check_schema(&s);
    tl_arena_fini(&s.arena);

    s = (ctf_schema){0};
    tl_input *in = NULL;
    if (tl_input_open_memory(&in, data, size, "metadata", &e) < 0)
        return;
    r = ctf_2010_metadata(&s, in, &e);
    check_status(r, &e, size);
    if (r >= 0)
        check_schema(&s);
    for (uint32_t i = 0; i < s.ndamage; i++)
        promise(s.damage[i].at <= size && s.damage[i].offset <= size && s.damage[i].bytes <= size - s.damage[i].offset,
                "damage lies in the file");
    tl_arena_fini(&s.arena);
    tl_input_close(in);
}

/* Walks through a window of this size; returns a digest of the packets. */
static uint64_t walk(const ctf_file *file, tl_input *in, size_t capacity, tl_trace *report)
{
    tl_window window;
    tl_error e = {0};
    if (tl_window_init(&window, in, capacity, &e) < 0)
        abort();
    ctf_walk w = {.file = file, .window = &window, .report = report, .ahead = capacity / 2};
    ctf_packet p;
    uint64_t end = 0, sum = 0;
    int r;
    while ((r = ctf_2010_walk_next(&w, &p, &e)) > 0) {
        promise(p.offset >= end && p.size <= file->size - p.offset, "packets follow each other in the file");
        promise(p.content / 8 <= p.size && p.content >= 8 * CTF_2010_HEADER, "the content lies in its packet");
        end = p.offset + p.size;
        sum = sum * 31 + p.offset * 7 + p.size * 5 + p.content * 3 + p.number;
        if (!report)
            continue;
        uint8_t *content = NULL;
        size_t n = 0;
        bool skip = false;
        promise(ctf_2010_content(&w, &p, &content, &n, &skip, &e) == 0, "content can be had or not");
        promise(!content || (n >= CTF_2010_HEADER && !skip), "content has its header");
        for (size_t i = 0; content && i < TL_WINDOW_SLACK; i++)
            promise(content[n + i] == 0, "zeros follow the content");
        free(content);
    }
    promise(r == 0, "bytes in memory can be walked over");
    tl_window_fini(&window);
    return sum;
}

static void try_packets(const uint8_t *data, size_t size)
{
    ctf_unit unit = {.schema = {.dialect = CTF_2010}};
    if (size >= CTF_2010_CONTENT_SIZE)
        unit.schema.session = tl_load32(data + CTF_2010_SESSION, size % 2);
    const ctf_file file = {.unit = &unit, .name = "stream", .size = size, .cpu = -1};
    tl_input *in = NULL;
    tl_error e;
    if (tl_input_open_memory(&in, data, size, "stream", &e) < 0)
        return;
    tl_trace trace = {0};
    tl_trace_init(&trace);
    const uint64_t sum = walk(&file, in, 1 << 16, &trace);
    promise(walk(&file, in, 64, NULL) == sum, "the window does not matter");
    for (uint32_t i = 0; i < trace.ndamage; i++) {
        const tl_damage *d = &trace.damage[i];
        promise(d->at <= size && d->offset <= size && d->bytes <= size - d->offset, "damage lies in the file");
    }
    tl_trace_fini(&trace);
    tl_input_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_metadata(data, size);
    try_packets(data, size);
    return 0;
}
