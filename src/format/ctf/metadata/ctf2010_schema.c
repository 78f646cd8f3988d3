/* The blocks of the metadata of 2010: trace, section, event, clock, and the schema that they make. Names are resolved
 * when all blocks have been seen, so their order does not matter. */
#include "format/ctf/metadata/ctf2010_schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"

#define NS_PER_S 1000000000u

typedef struct section {
    ctf_stream_class *stream;
    ctf2010_header header;
    ctf2010_type context; /* if it has a type */
    tl_hash ids;          /* ids of its events, to find duplicates */
    uint32_t nevent;
} section;

typedef struct event {
    uint32_t section;
    const ctf_event_class *event;
} event;

typedef struct maker {
    ctf2010_source source;
    ctf_schema *schema;
    ctf2010_types types;
    ctf2010_natural natural;
    ctf2010_names section_names;
    section *section;
    uint32_t nsection, section_capacity;
    event *event;
    uint32_t nevent, event_capacity;
    uint64_t fields; /* of all event classes */
} maker;

static int no_memory(maker *m, const ctf2010_node *where)
{
    return tl_fail(m->source.e, TL_ENOMEM, where->position, "no memory for the event classes");
}

static bool is(const maker *m, const ctf2010_node *node, const char *word)
{
    return ctf2010_is(&m->source, node, word);
}

static int text_of(maker *m, const ctf2010_node *node, const char **out)
{
    return ctf2010_text_of(&m->source, node, &m->schema->arena, out);
}

/* --- trace and clock --- */

static int version_part(maker *m, const ctf2010_node *value, unsigned *part)
{
    ctf2010_number number;
    int r = ctf2010_number_of(&m->source, value, &number);
    if (r < 0)
        return r;
    if (number.negative || number.magnitude > UINT16_MAX)
        return ctf2010_fail(&m->source, value->position, "expected a version");
    *part = (unsigned)number.magnitude;
    return 0;
}

static int see_trace(maker *m, const ctf2010_node *word, const ctf2010_node *block)
{
    const ctf2010_node *major = NULL, *minor = NULL;
    for (const ctf2010_node *a = block->first; a; a = a->next) {
        if (is(m, a, "major"))
            major = a->first;
        else if (is(m, a, "minor"))
            minor = a->first;
    }
    ctf_schema *s = m->schema;
    s->major = s->minor = 1;
    int r = major ? version_part(m, major, &s->major) : 0;
    if (r >= 0 && minor)
        r = version_part(m, minor, &s->minor);
    if (r >= 0 && (s->major > 1 || (s->major == 1 && s->minor >= 8)))
        r = ctf2010_fail(&m->source, word->position, "version %u.%u is not of this language, which ends with 1.7",
                         s->major, s->minor);
    return r;
}

/* The block of a clock, as in CTF 1.8; a later addition, so invalid values are ignored. */
static int see_clock(maker *m, ctf_clock *clock, const ctf2010_node *block)
{
    for (const ctf2010_node *a = block->first; a; a = a->next) {
        const ctf2010_node *value = a->first;
        const char **text = is(m, a, "name")          ? &clock->name
                            : is(m, a, "description") ? &clock->description
                            : is(m, a, "uuid")        ? &clock->uuid
                                                      : NULL;
        if (value->kind == CTF2010_NUMBER) {
            ctf2010_number number;
            int r = ctf2010_number_of(&m->source, value, &number);
            if (r < 0)
                return r;
            if (is(m, a, "freq") && !number.negative && number.magnitude > 0)
                clock->hz = number.magnitude;
            else if (is(m, a, "precision") && !number.negative)
                clock->precision = number.magnitude;
            else if (is(m, a, "offset_s"))
                clock->offset_s = ctf2010_to_int64(number);
            else if (is(m, a, "offset"))
                clock->offset = ctf2010_to_int64(number);
            else if (is(m, a, "absolute"))
                clock->is_unix = number.magnitude == 1;
        } else if (is(m, a, "absolute")) {
            clock->is_unix = is(m, value, "true") || is(m, value, "TRUE");
        } else if (text && (value->kind == CTF2010_NAME || value->kind == CTF2010_STRING)) {
            int r = text_of(m, value, text);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int new_clock(maker *m, ctf_clock **out)
{
    ctf_clock *clock = tl_arena_zalloc(&m->schema->arena, sizeof *clock);
    const ctf_clock **list = tl_arena_alloc(&m->schema->arena, sizeof *list);
    if (!clock || !list)
        return tl_fail(m->source.e, TL_ENOMEM, TL_NO_OFFSET, "no memory for a clock");
    *clock = (ctf_clock){.id = "default", .hz = NS_PER_S};
    *list = clock;
    m->schema->clock = list;
    m->schema->nclock = 1;
    *out = clock;
    return 0;
}

/* --- sections --- */

/* context { event_size = true; } */
static int see_event_size(maker *m, const ctf2010_node *word, const ctf2010_node *block, section *s)
{
    const ctf2010_node *wanted = NULL;
    for (const ctf2010_node *a = block->first; a; a = a->next)
        if (is(m, a, "event_size"))
            wanted = a->first;
    if (!wanted || !is(m, wanted, "true"))
        return 0;
    ctf2010_type size;
    int r = ctf2010_types_get(&m->types, "uint16_t", word, &size);
    return r < 0 ? r : ctf2010_types_single(&m->types, "payload_size", &size, &s->context);
}

/* event { header_type = type1; context ... } of a section */
static int see_section_event(maker *m, const ctf2010_node *word, const ctf2010_node *block, section *s)
{
    if (block->kind != CTF2010_BLOCK)
        return ctf2010_fail(&m->source, block->position, "expected the block of an event's header and context");
    for (const ctf2010_node *a = block->first; a; a = a->next) {
        const ctf2010_node *value = a->first;
        int r = 0;
        if (is(m, a, "header_type")) {
            s->header = is(m, value, "type1")   ? CTF2010_TYPE1
                        : is(m, value, "type2") ? CTF2010_TYPE2
                                                : CTF2010_NO_HEADER;
            if (s->header == CTF2010_NO_HEADER)
                r = ctf2010_fail(&m->source, value->position, "unknown header type, expected type1 or type2");
        } else if (is(m, a, "context") && value->kind == CTF2010_BLOCK) {
            r = see_event_size(m, word, value, s);
        } else if (is(m, a, "context") || is(m, a, "context_type")) {
            r = ctf2010_types_of(&m->types, value, &s->context);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

static int finish_section(maker *m, const ctf2010_node *word, section *s)
{
    ctf_stream_class *stream = s->stream;
    if (!stream->name)
        return ctf2010_fail(&m->source, word->position, "a section without a name");
    if (s->header == CTF2010_NO_HEADER)
        return ctf2010_fail(&m->source, word->position, "a section without a header_type");
    const size_t n = strlen(stream->name);
    if (ctf2010_names_find(&m->section_names, stream->name, n) != TL_HASH_NONE)
        return ctf2010_fail(&m->source, word->position, "section %.40s is defined twice", stream->name);
    if (s->context.type && s->context.root != CTF2010_STRUCT)
        return ctf2010_fail(&m->source, word->position, "the context must be a struct");
    if (!ctf2010_names_add(&m->section_names, stream->name, n))
        return no_memory(m, word);
    stream->id = m->nsection;
    stream->clock = m->schema->clock[0];
    stream->event_header = ctf2010_event_header(m->schema, s->header, m->natural);
    stream->event_context = s->context.type ? ctf2010_context(m->schema, s->context.type) : NULL;
    return stream->event_header && (stream->event_context || !s->context.type) ? 0 : no_memory(m, word);
}

static int see_section(maker *m, const ctf2010_node *word, const ctf2010_node *block)
{
    if (m->nsection == CTF_CLASSES_MAX)
        return ctf2010_fail(&m->source, word->position, "more than %u sections (the limit)", CTF_CLASSES_MAX);
    section s = {.stream = tl_arena_zalloc(&m->schema->arena, sizeof *s.stream)};
    if (!s.stream || !TL_GROW(m->section, m->nsection, 1, m->section_capacity))
        return no_memory(m, word);
    for (const ctf2010_node *a = block->first; a; a = a->next) {
        int r = 0;
        if (is(m, a, "name"))
            r = text_of(m, a->first, &s.stream->name);
        else if (is(m, a, "event"))
            r = see_section_event(m, word, a->first, &s);
        if (r < 0)
            return r;
    }
    int r = finish_section(m, word, &s);
    if (r >= 0)
        m->section[m->nsection++] = s;
    return r;
}

/* --- events --- */

typedef struct event_attributes {
    const ctf2010_node *name, *id, *section, *fields, *uri;
} event_attributes;

static int find_section(maker *m, const ctf2010_node *word, const ctf2010_node *value, uint32_t *number)
{
    if (!value) {
        *number = 0;
        return m->nsection == 1 ? 0 : ctf2010_fail(&m->source, word->position, "an event without a section");
    }
    const char *name;
    int r = text_of(m, value, &name);
    if (r < 0)
        return r;
    *number = ctf2010_names_find(&m->section_names, name, strlen(name));
    return *number == TL_HASH_NONE ? ctf2010_fail(&m->source, value->position, "no section %.40s", name) : 0;
}

static int take_id(maker *m, const ctf2010_node *value, section *s, uint64_t *id)
{
    ctf2010_number number;
    int r = ctf2010_number_of(&m->source, value, &number);
    if (r < 0)
        return r;
    *id = number.negative ? 0 - number.magnitude : number.magnitude; /* no header contains a negative one */
    if (tl_hash_get(&s->ids, *id) != TL_HASH_NONE)
        return ctf2010_fail(&m->source, value->position, "event id %.*s is used twice",
                            CTF2010_WORD(&m->source, value));
    return tl_hash_put(&s->ids, *id, 0) ? 0 : no_memory(m, value);
}

static int payload_of(maker *m, const ctf2010_node *word, const ctf2010_node *fields, ctf2010_type *payload)
{
    int r = !fields                          ? ctf2010_types_single(&m->types, NULL, NULL, payload)
            : fields->kind == CTF2010_BRACES ? ctf2010_types_fields(&m->types, fields, payload)
                                             : ctf2010_types_of(&m->types, fields, payload);
    if (r >= 0 && payload->root != CTF2010_STRUCT)
        r = ctf2010_fail(&m->source, word->position, "the fields of an event must be a struct");
    return r;
}

static int add_event(maker *m, const ctf2010_node *word, const event_attributes *a)
{
    event e;
    ctf_event_class *class = tl_arena_zalloc(&m->schema->arena, sizeof *class);
    ctf2010_type payload;
    int r = class ? find_section(m, word, a->section, &e.section) : no_memory(m, word);
    if (r < 0)
        return r;
    section *s = &m->section[e.section];
    if ((r = take_id(m, a->id, s, &class->id)) < 0 || (r = payload_of(m, word, a->fields, &payload)) < 0 ||
        (r = text_of(m, a->name, &class->name)) < 0 || (a->uri && (r = text_of(m, a->uri, &class->uri)) < 0))
        return r;
    m->fields += payload.fields + (uint64_t)(s->context.type ? s->context.fields : 0);
    if (m->fields > CTF2010_FIELDS_ALL_MAX)
        return ctf2010_fail(&m->source, word->position, "more than %u fields in all events together (the limit)",
                            CTF2010_FIELDS_ALL_MAX);
    if (!TL_GROW(m->event, m->nevent, 1, m->event_capacity))
        return no_memory(m, word);
    class->payload = payload.type;
    e.event = class;
    s->nevent++;
    m->event[m->nevent++] = e;
    return 0;
}

static int see_event(maker *m, const ctf2010_node *word, const ctf2010_node *block)
{
    event_attributes attributes = {0};
    for (const ctf2010_node *a = block->first; a; a = a->next) {
        if (is(m, a, "name"))
            attributes.name = a->first;
        else if (is(m, a, "id"))
            attributes.id = a->first;
        else if (is(m, a, "section"))
            attributes.section = a->first;
        else if (is(m, a, "fields"))
            attributes.fields = a->first;
        else if (is(m, a, "uri") && (a->first->kind == CTF2010_STRING || a->first->kind == CTF2010_NAME))
            attributes.uri = a->first; /* a later addition, as in CTF 1.8 */
    }
    if (!attributes.name || !attributes.id)
        return ctf2010_fail(&m->source, word->position, "an event needs a name and an id");
    if (m->nevent == CTF_CLASSES_MAX)
        return ctf2010_fail(&m->source, word->position, "more than %u event classes (the limit)", CTF_CLASSES_MAX);
    return add_event(m, word, &attributes);
}

/* --- everything --- */

/* The first pass: names of types, and everything that needs no names. */
static int see_items(maker *m, const ctf2010_node *root, ctf_clock *clock)
{
    m->schema->major = m->schema->minor = 1;
    for (const ctf2010_node *item = root->first; item; item = item->next) {
        const bool is_type = is(m, item, "type") || is(m, item, "abstract_type");
        const ctf2010_node *block = item->count == 2 ? item->first->next : item->first;
        int r = 0;
        if (is_type && item->count == 2)
            r = ctf2010_types_declare(&m->types, item, item->first, block);
        else if (is_type)
            r = ctf2010_fail(&m->source, item->position, "a type without a name");
        else if (is(m, item, "trace"))
            r = see_trace(m, item, block);
        else if (is(m, item, "clock"))
            r = see_clock(m, clock, block);
        else if (!is(m, item, "section") && !is(m, item, "event"))
            r = ctf2010_fail(&m->source, item->position, "unknown block %.*s", CTF2010_WORD(&m->source, item));
        if (r < 0)
            return r;
    }
    return 0;
}

typedef int see(maker *m, const ctf2010_node *word, const ctf2010_node *block);

static int see_each(maker *m, const ctf2010_node *root, const char *word, see *what)
{
    for (const ctf2010_node *item = root->first; item; item = item->next)
        if (is(m, item, word)) {
            int r = what(m, item, item->first);
            if (r < 0)
                return r;
        }
    return 0;
}

/* Gives each section its events, in the order of the metadata. */
static int share_events(maker *m)
{
    tl_arena *arena = &m->schema->arena;
    const ctf_stream_class **stream = tl_arena_zalloc(arena, m->nsection * sizeof *stream);
    const ctf_event_class **list = tl_arena_zalloc(arena, m->nevent * sizeof *list);
    if (!stream || !list)
        return tl_fail(m->source.e, TL_ENOMEM, TL_NO_OFFSET, "no memory for %u event classes", m->nevent);
    const ctf_event_class **next = list;
    for (uint32_t i = 0; i < m->nsection; i++) {
        stream[i] = m->section[i].stream;
        m->section[i].stream->event = next;
        next += m->section[i].nevent;
    }
    for (uint32_t i = 0; i < m->nevent; i++) {
        ctf_stream_class *s = m->section[m->event[i].section].stream;
        list[(size_t)(s->event - list) + s->nevent++] = m->event[i].event;
    }
    m->schema->stream = stream;
    m->schema->nstream = m->nsection;
    return 0;
}

static int make(maker *m, const ctf2010_node *root)
{
    ctf_clock *clock = NULL;
    int r = new_clock(m, &clock);
    if (r < 0 || (r = see_items(m, root, clock)) < 0 || (r = ctf2010_types_check(&m->types)) < 0 ||
        (r = ctf2010_types_alignment(&m->types, "uint32_t", &m->natural.u32)) < 0 ||
        (r = ctf2010_types_alignment(&m->types, "uint64_t", &m->natural.u64)) < 0 ||
        (r = see_each(m, root, "section", see_section)) < 0 || (r = see_each(m, root, "event", see_event)) < 0)
        return r;
    return share_events(m);
}

int ctf_2010_parse(ctf_schema *s, const char *text, size_t n, tl_error *e)
{
    maker m = {.source = {text, n, e}, .schema = s};
    m.types.source = &m.source;
    m.types.schema = s;
    s->dialect = CTF_2010;
    tl_arena tree = {0};
    const ctf2010_node *root;
    int r = ctf2010_tree(&root, &tree, &m.source);
    if (r >= 0)
        r = make(&m, root);
    tl_arena_fini(&tree);
    ctf2010_types_fini(&m.types);
    ctf2010_names_fini(&m.section_names);
    for (uint32_t i = 0; i < m.nsection; i++)
        tl_hash_fini(&m.section[i].ids);
    free(m.section);
    free(m.event);
    return r < 0 ? r : 0;
}
