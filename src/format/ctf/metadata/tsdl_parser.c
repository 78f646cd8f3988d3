/* The front end for the metadata language of CTF 1.8, TSDL: text becomes a schema. See tsdl_parser.h for its parts. */
#include "format/ctf/metadata/tsdl_parser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* LTTng counts from the epoch, whatever its old versions write. */
static void mark_lttng(tsdl_parser *p, const tsdl_name *tracer)
{
    const tl_property *entry = tracer->property > 0 ? &p->property[tracer->property - 1] : NULL;
    if (!entry || !entry->text || strncmp(entry->text, "lttng", 5) != 0)
        return;
    for (uint32_t i = 0; i < p->nclock; i++)
        if (strcmp(p->clock[i]->id, "monotonic") == 0)
            p->clock[i]->is_unix = true;
}

/* Checks that stream ids are unique, and assigns events to streams. */
static int match_streams(tsdl_parser *p, tl_hash *ids)
{
    tsdl_lexer *l = &p->l;
    if (p->nstream == 0)
        TSDL_TRY(tsdl_add_stream(p, &(tsdl_stream){.id = 0}));
    for (uint32_t i = 0; i < p->nstream; i++) {
        const tsdl_stream *s = &p->stream[i];
        if (tl_hash_get(ids, s->id) != TL_HASH_NONE)
            return tsdl_fail(l, s->position, "a second stream with the id %" PRIu64, s->id);
        if (!tl_hash_put(ids, s->id, i))
            return tsdl_no_memory(l);
    }
    for (uint32_t i = 0; i < p->nevent; i++) {
        tsdl_event *e = &p->event[i];
        if (!e->has_stream_id && p->nstream > 1)
            return tsdl_fail(l, e->position, "an event that does not say its stream, of which there are %" PRIu32,
                             p->nstream);
        e->stream = e->has_stream_id ? tl_hash_get(ids, e->stream_id) : 0;
        if (e->stream == TL_HASH_NONE)
            return tsdl_fail(l, e->position, "no stream has the id %" PRIu64, e->stream_id);
        p->stream[e->stream].nevent++;
    }
    return 0;
}

static int make_event(tsdl_parser *p, const tsdl_event *from, ctf_event_class *to)
{
    char text[40];
    if (from->name) {
        to->name = from->name->text;
    } else {
        int n = snprintf(text, sizeof text, "event %" PRIu64, from->id);
        to->name = tl_arena_strndup(&p->s->arena, text, (size_t)n);
        if (!to->name)
            return tsdl_no_memory(&p->l);
    }
    to->id = from->id;
    to->level = from->level ? from->level->text : NULL;
    to->level_value = from->level_value;
    to->uri = from->uri ? from->uri->text : NULL;
    uint32_t frames = p->nframe, symbols = p->nsymbol;
    TSDL_TRY(tsdl_bind_root(p, CTF_FROM_EVENT_CONTEXT, from->context, &to->context));
    TSDL_TRY(tsdl_bind_root(p, CTF_FROM_PAYLOAD, from->payload, &to->payload));
    tsdl_pop(p, symbols);
    p->nframe = frames;
    return 0;
}

/* The events of a stream; event[i] are the indices of all events, grouped by stream. */
static int make_events(tsdl_parser *p, ctf_stream_class *stream, const uint32_t *event, uint32_t n)
{
    ctf_event_class *class = tl_arena_zalloc(&p->s->arena, n * sizeof *class);
    const ctf_event_class **list = tl_arena_alloc(&p->s->arena, n * sizeof *list);
    tl_hash ids = {0};
    int rc = class && list ? 0 : tsdl_no_memory(&p->l);
    for (uint32_t i = 0; rc >= 0 && i < n; i++) {
        const tsdl_event *from = &p->event[event[i]];
        if (tl_hash_get(&ids, from->id) != TL_HASH_NONE)
            rc = tsdl_fail(&p->l, from->position, "a second event with the id %" PRIu64 " in its stream", from->id);
        else if (!tl_hash_put(&ids, from->id, i))
            rc = tsdl_no_memory(&p->l);
        else
            rc = make_event(p, from, &class[i]);
        if (rc >= 0)
            list[i] = &class[i];
    }
    tl_hash_fini(&ids);
    stream->event = list;
    stream->nevent = n;
    return rc;
}

static int make_stream(tsdl_parser *p, const tsdl_stream *from, ctf_stream_class *to, const uint32_t *event)
{
    uint32_t frames = p->nframe, symbols = p->nsymbol;
    to->id = from->id;
    TSDL_TRY(tsdl_stream_clock(p, from, event, &to->clock));
    p->stream_clock = to->clock;
    TSDL_TRY(tsdl_bind_root(p, CTF_FROM_PACKET_CONTEXT, from->packet_context, &to->packet_context));
    TSDL_TRY(tsdl_bind_root(p, CTF_FROM_EVENT_HEADER, from->event_header, &to->event_header));
    TSDL_TRY(tsdl_bind_root(p, CTF_FROM_STREAM_CONTEXT, from->event_context, &to->event_context));
    TSDL_TRY(make_events(p, to, event, from->nevent));
    tsdl_pop(p, symbols);
    p->nframe = frames;
    return 0;
}

/* All streams. order: room for the index of each event, start: for one of each stream. */
static int make_streams(tsdl_parser *p, uint32_t *order, uint32_t *start)
{
    ctf_schema *s = p->s;
    ctf_stream_class *class = tl_arena_zalloc(&s->arena, p->nstream * sizeof *class);
    const ctf_stream_class **list = tl_arena_alloc(&s->arena, p->nstream * sizeof *list);
    if (!class || !list)
        return tsdl_no_memory(&p->l);
    for (uint32_t i = 0, n = 0; i < p->nstream; n += p->stream[i++].nevent)
        start[i] = n;
    for (uint32_t i = 0; i < p->nevent; i++)
        order[start[p->event[i].stream]++] = i;
    TSDL_TRY(tsdl_bind_root(p, CTF_FROM_PACKET_HEADER, p->packet_header, &s->packet_header));
    for (uint32_t i = 0; i < p->nstream; i++) {
        const tsdl_stream *from = &p->stream[i];
        TSDL_TRY(make_stream(p, from, &class[i], order + (start[i] - from->nevent)));
        list[i] = &class[i];
    }
    s->stream = list;
    s->nstream = p->nstream;
    return 0;
}

/* Combines the contents of the blocks. */
static int make_schema(tsdl_parser *p)
{
    ctf_schema *s = p->s;
    tsdl_name *tracer;
    tl_hash ids = {0};
    TSDL_TRY(tsdl_settle(p));
    TSDL_TRY(tsdl_intern(&p->l, "tracer_name", strlen("tracer_name"), &tracer));
    mark_lttng(p, tracer);
    int rc = match_streams(p, &ids);
    tl_hash_fini(&ids);
    if (rc < 0)
        return rc;
    uint32_t *room = tl_alloc((size_t)p->nevent + p->nstream, sizeof *room);
    rc = room ? make_streams(p, room, room + p->nevent) : tsdl_no_memory(&p->l);
    free(room);
    if (rc < 0)
        return rc;
    const ctf_clock **clock = tl_arena_alloc(&s->arena, p->nclock * sizeof *clock);
    tl_property *property = tl_arena_alloc(&s->arena, p->nproperty * sizeof *property);
    if (!clock || !property)
        return tsdl_no_memory(&p->l);
    for (uint32_t i = 0; i < p->nclock; i++)
        clock[i] = p->clock[i];
    for (uint32_t i = 0; i < p->nproperty; i++)
        property[i] = p->property[i];
    s->clock = clock;
    s->nclock = p->nclock;
    s->property = property;
    s->nproperty = p->nproperty;
    return 0;
}

static void parser_fini(tsdl_parser *p)
{
    tsdl_lexer_fini(&p->l);
    tl_hash_fini(&p->index);
    tl_hash_fini(&p->copies);
    free(p->symbol);
    free(p->member);
    free(p->part);
    free(p->mapping);
    free(p->clock);
    free(p->property);
    free(p->stream);
    free(p->event);
    free(p->copy);
    free(p->bound);
}

int ctf_tsdl_parse(ctf_schema *s, const char *text, size_t n, tl_error *e)
{
    tsdl_parser p = {.s = s};
    if (n > CTF_METADATA_MAX)
        return tl_fail(e, TL_EDAMAGED, CTF_METADATA_MAX, "metadata of more than %u bytes", CTF_METADATA_MAX);
    s->dialect = CTF_1_8;
    s->major = 1;
    s->minor = 8;
    int rc = tsdl_lexer_init(&p.l, s, text, n, e);
    if (rc >= 0)
        rc = tsdl_root(&p);
    if (rc >= 0)
        rc = make_schema(&p);
    parser_fini(&p);
    return rc;
}
