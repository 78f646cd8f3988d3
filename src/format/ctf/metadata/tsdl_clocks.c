/* Purposes of TSDL fields: from their names, in headers and contexts of packets and in headers of events, and from the
 * clocks that integers are mapped to. After the event header only the mapping counts: every unsigned integer mapped to
 * the stream's clock moves it, for the next events. */
#include <string.h>

#include "base/grow.h"
#include "format/ctf/metadata/tsdl_parser.h"

static const ctf_clock *clock_of(const tsdl_parser *p, const tsdl_type *t)
{
    return t->clock ? p->clock[t->clock->clock - 1] : NULL;
}

static bool is_time(ctf_origin scope, const char *name)
{
    if (scope == CTF_FROM_EVENT_HEADER)
        return strcmp(name, "timestamp") == 0;
    return strcmp(name, "timestamp_begin") == 0 || strcmp(name, "timestamp_end") == 0;
}

/* The clocks found in a scope. */
typedef struct found_clocks {
    const ctf_clock *named;  /* of a field whose name makes it a time */
    const ctf_clock *mapped; /* of any other */
    bool implicit;           /* has a time by name that is not mapped */
} found_clocks;

static bool is_header(ctf_origin scope)
{
    return scope <= CTF_FROM_EVENT_HEADER;
}

/* Visits all integers except those in arrays in headers, which are not times. */
static int search(tsdl_parser *p, ctf_origin scope, const tsdl_type *t, const tsdl_name *name, found_clocks *found)
{
    TSDL_TRY(tsdl_step(p, t->t.position));
    if (t->t.kind == CTF_ARRAY && !is_header(scope))
        return search(p, scope, tsdl_type_of(t->t.member[0].type), NULL, found);
    if (t->t.kind == CTF_STRUCT || t->t.kind == CTF_VARIANT) {
        for (uint32_t i = 0; i < t->t.nmember; i++)
            TSDL_TRY(search(p, scope, tsdl_type_of(t->t.member[i].type), t->name[i], found));
        return 0;
    }
    if (t->t.kind != CTF_INT)
        return 0;
    const ctf_clock *clock = clock_of(p, t);
    bool time = is_header(scope) && is_time(scope, name->text);
    if (clock && time && !found->named)
        found->named = clock;
    if (clock && !time && !found->mapped)
        found->mapped = clock;
    if (!clock && time)
        found->implicit = true;
    return 0;
}

static int default_clock(tsdl_parser *p, const ctf_clock **out)
{
    ctf_clock *clock = tl_arena_zalloc(&p->s->arena, sizeof *clock);
    if (!TL_GROW(p->clock, p->nclock, 1, p->clock_capacity) || !clock)
        return tsdl_no_memory(&p->l);
    clock->id = clock->name = "default";
    clock->hz = TSDL_HZ_DEFAULT;
    p->clock[p->nclock++] = clock;
    *out = clock;
    return 0;
}

/* The clock that a field after the event header is mapped to. */
static int search_events(tsdl_parser *p, const tsdl_stream *stream, const uint32_t *event, found_clocks *found)
{
    if (stream->event_context)
        TSDL_TRY(search(p, CTF_FROM_STREAM_CONTEXT, stream->event_context, NULL, found));
    for (uint32_t i = 0; i < stream->nevent && !found->mapped; i++) {
        const tsdl_event *e = &p->event[event[i]];
        if (e->context)
            TSDL_TRY(search(p, CTF_FROM_EVENT_CONTEXT, e->context, NULL, found));
        if (e->payload && !found->mapped)
            TSDL_TRY(search(p, CTF_FROM_PAYLOAD, e->payload, NULL, found));
    }
    return 0;
}

int tsdl_stream_clock(tsdl_parser *p, const tsdl_stream *stream, const uint32_t *event, const ctf_clock **out)
{
    found_clocks header = {0}, context = {0}, events = {0};
    *out = NULL;
    if (stream->event_header)
        TSDL_TRY(search(p, CTF_FROM_EVENT_HEADER, stream->event_header, NULL, &header));
    if (stream->packet_context)
        TSDL_TRY(search(p, CTF_FROM_PACKET_CONTEXT, stream->packet_context, NULL, &context));
    const ctf_clock *said[] = {header.named, header.mapped, context.named, context.mapped};
    for (size_t i = 0; i < sizeof said / sizeof said[0] && !*out; i++)
        *out = said[i];
    if (!*out && p->nclock > 0) {
        TSDL_TRY(search_events(p, stream, event, &events));
        *out = events.mapped;
    }
    if (*out)
        return 0;
    if (!header.implicit && !context.implicit)
        return 0;
    if (p->nclock == 0)
        return default_clock(p, out);
    if (p->nclock == 1)
        *out = p->clock[0];
    return 0;
}

static uint32_t header_roles(const char *name, const tsdl_type *t)
{
    if (strcmp(name, "magic") == 0 && t->t.bits == 32)
        return CTF_ROLE_MAGIC;
    if (strcmp(name, "stream_id") == 0)
        return CTF_ROLE_STREAM_CLASS;
    return strcmp(name, "stream_instance_id") == 0 ? CTF_ROLE_STREAM : 0;
}

static uint32_t context_roles(const char *name, bool mapped)
{
    static const struct {
        const char *name;
        uint32_t role;
    } known[] = {{"content_size", CTF_ROLE_CONTENT_SIZE},
                 {"packet_size", CTF_ROLE_PACKET_SIZE},
                 {"packet_seq_num", CTF_ROLE_SEQUENCE},
                 {"events_discarded", CTF_ROLE_DISCARDED},
                 {"cpu_id", CTF_ROLE_CPU}};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].role;
    if (!mapped)
        return 0;
    return n >= 4 && strcmp(name + n - 4, "_end") == 0 ? CTF_ROLE_PACKET_END : CTF_ROLE_TIMESTAMP;
}

uint32_t tsdl_roles(const tsdl_parser *p, ctf_origin scope, const tsdl_name *name, const tsdl_type *t)
{
    /* A time without a mapping uses the clock of its stream class. */
    const ctf_clock *clock = clock_of(p, t);
    bool mapped =
        p->stream_clock && (clock ? clock == p->stream_clock : is_header(scope) && is_time(scope, name->text));
    switch (scope) {
    case CTF_FROM_PACKET_HEADER:
        return header_roles(name->text, t);
    case CTF_FROM_PACKET_CONTEXT:
        return context_roles(name->text, mapped);
    case CTF_FROM_EVENT_HEADER:
        return (strcmp(name->text, "id") == 0 ? CTF_ROLE_EVENT_CLASS : 0) | (mapped ? CTF_ROLE_TIMESTAMP : 0);
    default: /* after the headers */
        return clock && clock == p->stream_clock && !t->t.is_signed ? CTF_ROLE_TIMESTAMP : 0;
    }
}
