/* Blocks of TSDL: trace, env, clock, stream, event, callsite. Their contents are kept until the whole text was read,
 * since they come in any order. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/metadata/tsdl_parser.h"

typedef struct trace_block {
    uint64_t position, major, minor;
    uint32_t seen;
} trace_block;

enum { T_MAJOR, T_MINOR, T_UUID, T_BYTE_ORDER, T_PACKET_HEADER };

static const char *const trace_words[] = {"major", "minor", "uuid", "byte_order", "packet.header", NULL};

static int set_trace(tsdl_parser *p, void *block, int word, const tsdl_assignment *a)
{
    trace_block *b = block;
    tsdl_name *name;
    if (word == T_PACKET_HEADER)
        return tsdl_wants_struct(p, a, &p->packet_header);
    TSDL_TRY(tsdl_wants_value(p, a));
    switch (word) {
    case T_MAJOR:
        return tsdl_value_u64(p, &a->value, UINT64_MAX, &b->major);
    case T_MINOR:
        return tsdl_value_u64(p, &a->value, UINT64_MAX, &b->minor);
    case T_UUID:
        p->s->has_uuid = true;
        return tsdl_value_uuid(p, &a->value, p->s->uuid);
    default:
        TSDL_TRY(tsdl_value_text(p, &a->value, &name));
        if (strcmp(name->text, "be") != 0 && strcmp(name->text, "le") != 0)
            return tsdl_fail(&p->l, a->value.position, "expected 'be' or 'le', found '%.40s'", name->text);
        p->s->order = name->text[0] == 'b' ? CTF_BE : CTF_LE;
        return 0;
    }
}

static int parse_trace(tsdl_parser *p)
{
    trace_block b = {.position = p->l.token.position};
    if (p->has_trace)
        return tsdl_fail(&p->l, b.position, "a second 'trace' block");
    p->has_trace = true;
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_block(p, trace_words, &b.seen, set_trace, &b));
    for (int word = T_MAJOR; word <= T_MINOR; word++)
        if (!(b.seen & 1u << word))
            return tsdl_fail(&p->l, b.position, "the trace does not say its %s version",
                             word == T_MAJOR ? "major" : "minor");
    if (b.major != 1 || b.minor != 8)
        return tsdl_fail(&p->l, b.position, "version %" PRIu64 ".%" PRIu64 ": only 1.8 is known in this language",
                         b.major, b.minor);
    if (!(b.seen & 1u << T_BYTE_ORDER))
        return tsdl_fail(&p->l, b.position, "the trace does not say its byte order");
    return 0;
}

/* A number as text. */
static int decimal(tsdl_parser *p, const char *sign, uint64_t number, tsdl_name **out)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%s%" PRIu64, sign, number);
    return tsdl_intern(&p->l, text, (size_t)n, out);
}

/* An entry of the environment; a later one of the same name replaces it. */
static int set_env(tsdl_parser *p, void *block, int word, const tsdl_assignment *a)
{
    (void)block;
    (void)word;
    tsdl_name *name;
    tl_property entry = {0};
    TSDL_TRY(tsdl_wants_value(p, a));
    TSDL_TRY(tsdl_intern(&p->l, a->left, strlen(a->left), &name));
    entry.name = name->text;
    if (a->value.kind == TSDL_V_NUMBER && (a->value.negative || a->value.number <= INT64_MAX)) {
        TSDL_TRY(tsdl_value_i64(p, &a->value, &entry.number));
    } else {
        tsdl_name *text = a->value.text;
        if (!text) /* a number above all signed ones */
            TSDL_TRY(decimal(p, "", a->value.number, &text));
        entry.text = text->text;
    }
    if (name->property > 0) {
        p->property[name->property - 1] = entry;
        return 0;
    }
    if (!TL_GROW(p->property, p->nproperty, 1, p->property_capacity))
        return tsdl_no_memory(&p->l);
    p->property[p->nproperty++] = entry;
    name->property = p->nproperty;
    return 0;
}

typedef struct clock_block {
    uint32_t seen;
    tsdl_name *name;
    ctf_clock *clock;
    bool absolute;
} clock_block;

enum { C_NAME, C_UUID, C_DESCRIPTION, C_FREQ, C_PRECISION, C_OFFSET_S, C_OFFSET, C_ABSOLUTE };

/* The same text for every spelling of a UUID. */
static int clock_uuid(tsdl_parser *p, const tsdl_value *v, ctf_clock *clock)
{
    tsdl_name *name;
    TSDL_TRY(tsdl_value_text(p, v, &name));
    char *text = tl_arena_strndup(&p->s->arena, name->text, name->n);
    if (!text)
        return tsdl_no_memory(&p->l);
    for (char *c = text; *c; c++)
        if (*c >= 'A' && *c <= 'F')
            *c = (char)(*c | 0x20);
    clock->uuid = text;
    return 0;
}

static const char *const clock_words[] = {"name",     "uuid",   "description", "freq", "precision",
                                          "offset_s", "offset", "absolute",    NULL};

static int set_clock(tsdl_parser *p, void *block, int word, const tsdl_assignment *a)
{
    clock_block *b = block;
    tsdl_name *name;
    TSDL_TRY(tsdl_wants_value(p, a));
    switch (word) {
    case C_NAME:
        return tsdl_value_text(p, &a->value, &b->name);
    case C_UUID:
        return clock_uuid(p, &a->value, b->clock);
    case C_DESCRIPTION:
        TSDL_TRY(tsdl_value_text(p, &a->value, &name));
        b->clock->description = name->text;
        return 0;
    case C_FREQ:
        TSDL_TRY(tsdl_value_u64(p, &a->value, UINT64_MAX, &b->clock->hz));
        return b->clock->hz > 0 ? 0 : tsdl_fail(&p->l, a->value.position, "a clock of 0 Hz");
    case C_PRECISION:
        return tsdl_value_u64(p, &a->value, UINT64_MAX, &b->clock->precision);
    case C_OFFSET_S:
        return tsdl_value_i64(p, &a->value, &b->clock->offset_s);
    case C_OFFSET:
        return tsdl_value_i64(p, &a->value, &b->clock->offset);
    default:
        return tsdl_value_bool(p, &a->value, &b->absolute);
    }
}

static int parse_clock(tsdl_parser *p)
{
    uint64_t position = p->l.token.position;
    clock_block b = {.clock = tl_arena_zalloc(&p->s->arena, sizeof *b.clock)};
    if (!TL_GROW(p->clock, p->nclock, 1, p->clock_capacity) || !b.clock)
        return tsdl_no_memory(&p->l);
    b.clock->hz = TSDL_HZ_DEFAULT;
    TSDL_TRY(tsdl_count(&p->l, 1));
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_block(p, clock_words, &b.seen, set_clock, &b));
    if (!b.name)
        return tsdl_fail(&p->l, position, "a clock without a name");
    if (b.name->clock > 0)
        return tsdl_fail(&p->l, position, "a second clock with the name '%.60s'", b.name->text);
    b.clock->id = b.clock->name = b.name->text;
    /* Offsets are from the epoch, but an offset of 0 is what tracers write for a clock with an arbitrary begin. */
    b.clock->is_unix = b.absolute || b.clock->offset_s != 0 || b.clock->offset != 0;
    p->clock[p->nclock++] = b.clock;
    b.name->clock = p->nclock;
    return 0;
}

typedef struct stream_block {
    tsdl_stream s;
    uint32_t seen;
} stream_block;

static const char *const stream_words[] = {"id", "packet.context", "event.header", "event.context", NULL};

static int set_stream(tsdl_parser *p, void *block, int word, const tsdl_assignment *a)
{
    stream_block *b = block;
    switch (word) {
    case 0:
        TSDL_TRY(tsdl_wants_value(p, a));
        b->s.has_id = true;
        return tsdl_value_u64(p, &a->value, UINT64_MAX, &b->s.id);
    case 1:
        return tsdl_wants_struct(p, a, &b->s.packet_context);
    case 2:
        return tsdl_wants_struct(p, a, &b->s.event_header);
    default:
        return tsdl_wants_struct(p, a, &b->s.event_context);
    }
}

int tsdl_add_stream(tsdl_parser *p, const tsdl_stream *s)
{
    if (p->nstream == CTF_CLASSES_MAX)
        return tsdl_fail(&p->l, s->position, "more than %u streams", CTF_CLASSES_MAX);
    if (!TL_GROW(p->stream, p->nstream, 1, p->stream_capacity))
        return tsdl_no_memory(&p->l);
    p->stream[p->nstream++] = *s;
    return 0;
}

static int parse_stream(tsdl_parser *p)
{
    stream_block b = {.s.position = p->l.token.position};
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_block(p, stream_words, &b.seen, set_stream, &b));
    return tsdl_add_stream(p, &b.s);
}

typedef struct event_block {
    tsdl_event e;
    uint32_t seen;
} event_block;

enum { E_NAME, E_ID, E_STREAM_ID, E_LOGLEVEL, E_URI, E_CONTEXT, E_FIELDS };

/* The levels of LTTng, the only ones in use, have names. */
static int log_level(tsdl_parser *p, const tsdl_value *v, tsdl_event *e)
{
    static const char *const levels[] = {"EMERG",          "ALERT",         "CRIT",         "ERR",
                                         "WARNING",        "NOTICE",        "INFO",         "DEBUG_SYSTEM",
                                         "DEBUG_PROGRAM",  "DEBUG_PROCESS", "DEBUG_MODULE", "DEBUG_UNIT",
                                         "DEBUG_FUNCTION", "DEBUG_LINE",    "DEBUG"};
    static const tsdl_name front = {.text = "TRACE", .n = 5};
    if (v->kind != TSDL_V_NUMBER) {
        e->level = v->text;
        return 0;
    }
    int64_t level;
    TSDL_TRY(tsdl_value_i64(p, v, &level));
    if (level < INT32_MIN || level > INT32_MAX)
        return tsdl_fail(&p->l, v->position, "a log level of more than 32 bits");
    e->level_value = (int32_t)level;
    if (level < 0 || level >= (int64_t)(sizeof levels / sizeof levels[0]))
        return decimal(p, level < 0 ? "-" : "", v->number, &e->level);
    tsdl_name back = {.text = levels[level], .n = (uint32_t)strlen(levels[level])};
    return tsdl_join(&p->l, &front, "_", &back, &e->level);
}

static const char *const event_words[] = {"name",          "id",      "stream_id", "loglevel",
                                          "model.emf.uri", "context", "fields",    NULL};

static int set_event(tsdl_parser *p, void *block, int word, const tsdl_assignment *a)
{
    event_block *b = block;
    tsdl_event *e = &b->e;
    if (word == E_CONTEXT)
        return tsdl_wants_struct(p, a, &e->context);
    if (word == E_FIELDS)
        return tsdl_wants_struct(p, a, &e->payload);
    TSDL_TRY(tsdl_wants_value(p, a));
    switch (word) {
    case E_NAME:
        return tsdl_value_text(p, &a->value, &e->name);
    case E_ID:
        e->has_id = true;
        return tsdl_value_u64(p, &a->value, UINT64_MAX, &e->id);
    case E_STREAM_ID:
        e->has_stream_id = true;
        return tsdl_value_u64(p, &a->value, UINT64_MAX, &e->stream_id);
    case E_LOGLEVEL:
        return log_level(p, &a->value, e);
    default:
        return tsdl_value_text(p, &a->value, &e->uri);
    }
}

static int parse_event(tsdl_parser *p)
{
    event_block b = {.e.position = p->l.token.position};
    if (p->nevent == CTF_CLASSES_MAX)
        return tsdl_fail(&p->l, b.e.position, "more than %u events", CTF_CLASSES_MAX);
    TSDL_TRY(tsdl_next(&p->l));
    TSDL_TRY(tsdl_block(p, event_words, &b.seen, set_event, &b));
    if (!TL_GROW(p->event, p->nevent, 1, p->event_capacity))
        return tsdl_no_memory(&p->l);
    p->event[p->nevent++] = b.e;
    return 0;
}

static int ignore(tsdl_parser *p, void *block, int word, const tsdl_assignment *a)
{
    (void)p, (void)block, (void)word, (void)a;
    return 0;
}

static int parse_block(tsdl_parser *p)
{
    switch (tsdl_is(&p->l, TSDL_WORD) ? p->l.token.name->word : TSDL_PLAIN) {
    case TSDL_W_TRACE:
        return parse_trace(p);
    case TSDL_W_ENV:
        TSDL_TRY(tsdl_next(&p->l));
        return tsdl_block(p, NULL, NULL, set_env, NULL);
    case TSDL_W_CLOCK:
        return parse_clock(p);
    case TSDL_W_STREAM:
        return parse_stream(p);
    case TSDL_W_EVENT:
        return parse_event(p);
    case TSDL_W_CALLSITE:
        TSDL_TRY(tsdl_next(&p->l));
        return tsdl_block(p, NULL, NULL, ignore, NULL);
    default:
        return tsdl_fail_expected(&p->l, "a block or a declaration");
    }
}

int tsdl_root(tsdl_parser *p)
{
    while (!tsdl_is(&p->l, TSDL_END)) {
        int found = tsdl_declaration(p);
        if (found < 0)
            return found;
        if (found > 0)
            continue;
        TSDL_TRY(parse_block(p));
        TSDL_TRY(tsdl_expect(&p->l, ';'));
    }
    return p->has_trace ? 0 : tsdl_fail(&p->l, p->l.token.position, "no 'trace' block");
}
