/* Fragments of CTF 2 metadata: preamble, aliases, trace class, clocks, data streams, events. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "format/ctf/metadata/json_build.h"

/* ---- preamble ---- */

static void refuse_extension(ctf_json *j, const char *space, const tl_json_value *extension)
{
    char owner[sizeof j->clip];
    snprintf(owner, sizeof owner, "%s", ctf_json_clip(j, space));
    ctf_json_fail(j, TL_EUNSUPPORTED, extension, "the trace needs the extension \"%s\" of \"%s\", which is not known",
                  ctf_json_clip(j, extension->name), owner);
}

/* A declared extension may change the meaning of anything: an unknown one makes the trace unreadable. */
static void refuse_extensions(ctf_json *j, const tl_json_value *fragment)
{
    const tl_json_value *all = ctf_json_get(j, fragment, "extensions", TL_JSON_OBJECT);
    for (const tl_json_value *space = all ? all->as.first : NULL; space && j->rc >= 0; space = space->next) {
        if (space->kind != TL_JSON_OBJECT)
            ctf_json_fail(j, TL_EDAMAGED, space, "\"extensions\": expected an object for each namespace, found %s",
                          tl_json_kind_name(space));
        else if (space->n > 0)
            refuse_extension(j, space->name, space->as.first);
    }
}

static void read_preamble(ctf_json *j, const tl_json_value *f)
{
    const tl_json_value *version = ctf_json_need(j, f, "version");
    if (version && (version->kind != TL_JSON_UINT || version->as.u != 2))
        ctf_json_fail(j, TL_EUNSUPPORTED, version, "\"version\": expected 2");
    refuse_extensions(j, f);
    j->s->has_uuid = ctf_json_uuid(j, f, j->s->uuid);
}

/* ---- aliases and the trace ---- */

static void read_alias(ctf_json *j, const tl_json_value *f)
{
    const char *name = ctf_json_need(j, f, "name") ? ctf_json_word(j, f, "name") : NULL;
    const ctf_json_type made = ctf_json_field_class(j, ctf_json_need(j, f, "field-class"), 0);
    if (j->rc < 0)
        return;
    if (ctf_json_names_find(j, &j->aliases, name) != TL_HASH_NONE)
        ctf_json_fail(j, TL_EDAMAGED, tl_json_find(f, "name"), "a second alias named \"%s\"", ctf_json_clip(j, name));
    if (!TL_GROW(j->alias, j->aliases.n, 1, j->alias_capacity))
        ctf_json_no_memory(j);
    if (j->rc < 0)
        return;
    j->alias[j->aliases.n] = made;
    ctf_json_names_add(j, &j->aliases, name);
}

static void read_environment(ctf_json *j, const tl_json_value *f)
{
    const tl_json_value *all = ctf_json_get(j, f, "environment", TL_JSON_OBJECT);
    if (!all || all->n == 0)
        return;
    tl_property *property = ctf_json_alloc(j, all->n * sizeof *property);
    if (!property)
        return;
    uint32_t n = 0;
    for (const tl_json_value *v = all->as.first; v && j->rc >= 0; v = v->next, n++) {
        char digits[24];
        property[n].name = ctf_json_copy(j, v, v->name, v->name_n);
        if (v->kind == TL_JSON_STRING) {
            property[n].text = ctf_json_copy(j, v, v->as.s, v->n);
        } else if (v->kind == TL_JSON_INT) {
            property[n].number = v->as.i;
        } else if (v->kind == TL_JSON_UINT && v->as.u <= INT64_MAX) {
            property[n].number = (int64_t)v->as.u;
        } else if (v->kind == TL_JSON_UINT) { /* more than the number in a property can be */
            int length = snprintf(digits, sizeof digits, "%" PRIu64, v->as.u);
            property[n].text = ctf_json_copy(j, v, digits, (uint32_t)length);
        } else {
            ctf_json_fail(j, TL_EDAMAGED, v, "\"environment\": expected an integer or a string, found %s",
                          tl_json_kind_name(v));
        }
    }
    j->s->property = property;
    j->s->nproperty = n;
}

static void read_trace(ctf_json *j, const tl_json_value *f)
{
    if (j->has_trace)
        ctf_json_fail(j, TL_EDAMAGED, f, "a second trace-class fragment");
    else if (j->nstream > 0)
        ctf_json_fail(j, TL_EDAMAGED, f, "a trace-class fragment after a data-stream-class fragment");
    j->has_trace = true;
    const char *name = ctf_json_string(j, f, "name");
    j->s->name = name && *name ? name : NULL;
    if (!j->s->has_uuid && tl_json_find(f, "uuid")) /* drafts before 2.0 */
        j->s->has_uuid = ctf_json_uuid(j, f, j->s->uuid);
    read_environment(j, f);
    j->s->packet_header = ctf_json_scope(j, f, "packet-header-field-class");
}

/* ---- clocks ---- */

static bool is_uuid_text(const char *s)
{
    for (unsigned i = 0; i < 36; i++) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s[i] != '-' : !s[i] || !strchr("0123456789abcdefABCDEF", s[i]))
            return false;
    }
    return s[36] == '\0';
}

/* The identity of a clock as text: namespace, name and uid together, or just a uuid. */
static const char *clock_identity(ctf_json *j, const tl_json_value *f, const char *name)
{
    const char *uid = NULL, *space = ctf_json_word(j, f, "namespace");
    char text[640];
    int n;
    uint8_t b[16];
    const tl_json_value *v = tl_json_find(f, "uuid");
    if (v && v->kind == TL_JSON_ARRAY) { /* drafts before 2.0 */
        if (!ctf_json_uuid(j, f, b))
            return NULL;
        n = snprintf(text, sizeof text, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                     b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
        return ctf_json_copy(j, v, text, (uint32_t)n);
    }
    uid = ctf_json_string(j, f, "uid");
    if (!uid || !name || is_uuid_text(uid))
        return uid && name ? uid : NULL;
    n = snprintf(text, sizeof text, "%s/%s/%s", space ? space : "", name, uid);
    return n > 0 && (size_t)n < sizeof text ? ctf_json_copy(j, f, text, (uint32_t)n) : NULL;
}

static void read_offset(ctf_json *j, const tl_json_value *f, const char *name, ctf_clock *c)
{
    const tl_json_value *offset = ctf_json_get(j, f, name, TL_JSON_OBJECT), *v = tl_json_find(offset, "seconds");
    if (!offset)
        return;
    if (v && v->kind == TL_JSON_INT)
        c->offset_s = v->as.i;
    else if (v && v->kind == TL_JSON_UINT && v->as.u <= INT64_MAX)
        c->offset_s = (int64_t)v->as.u;
    else if (v)
        ctf_json_fail(j, TL_EDAMAGED, v, "\"seconds\": expected a signed integer of 64 bits, found %s",
                      v->kind == TL_JSON_UINT ? "one that is too large" : tl_json_kind_name(v));
    const uint64_t most = c->hz - 1 < INT64_MAX ? c->hz - 1 : INT64_MAX;
    c->offset = (int64_t)ctf_json_uint(j, offset, "cycles", 0, most, 0);
}

/* Whether time counts from 1970. Drafts before 2.0 assumed that by default; the name of the offset reveals them. */
static bool is_unix(ctf_json *j, const tl_json_value *f)
{
    const tl_json_value *origin = tl_json_find(f, "origin"), *flag = tl_json_find(f, "origin-is-unix-epoch");
    if (!origin)
        return flag ? flag->kind == TL_JSON_BOOL && flag->as.b : tl_json_find(f, "offset") != NULL;
    if (origin->kind == TL_JSON_OBJECT)
        return false;
    if (origin->kind != TL_JSON_STRING || strcmp(origin->as.s, "unix-epoch") != 0)
        ctf_json_fail(j, TL_EDAMAGED, origin, "\"origin\": expected \"unix-epoch\" or an object");
    return true;
}

static void read_clock(ctf_json *j, const tl_json_value *f)
{
    ctf_clock *c = ctf_json_alloc(j, sizeof *c);
    if (!c)
        return;
    const char *name = ctf_json_string(j, f, "name");
    const bool has_id = tl_json_find(f, "id") || !name; /* drafts before 2.0 had only names */
    const tl_json_value *id = ctf_json_need(j, f, has_id ? "id" : "name");
    c->id = has_id ? ctf_json_string(j, f, "id") : name;
    c->name = name && *name ? name : NULL;
    c->description = ctf_json_string(j, f, "description");
    c->hz = ctf_json_need_uint(j, f, "frequency", 1, UINT64_MAX);
    c->precision = ctf_json_uint(j, f, "precision", 0, UINT64_MAX, 0);
    c->uuid = clock_identity(j, f, c->name);
    if (j->rc < 0)
        return;
    read_offset(j, f, tl_json_find(f, "offset-from-origin") ? "offset-from-origin" : "offset", c);
    c->is_unix = is_unix(j, f);
    if (ctf_json_names_find(j, &j->clocks, c->id) != TL_HASH_NONE)
        ctf_json_fail(j, TL_EDAMAGED, id, "a second clock class with the id \"%s\"", ctf_json_clip(j, c->id));
    if (!TL_GROW(j->clock, j->clocks.n, 1, j->clock_capacity))
        ctf_json_no_memory(j);
    if (j->rc < 0)
        return;
    j->clock[j->clocks.n] = c;
    ctf_json_names_add(j, &j->clocks, c->id);
}

/* ---- data streams ---- */

static const ctf_clock *default_clock(ctf_json *j, const tl_json_value *f)
{
    const char *const property = tl_json_find(f, "default-clock-class-id") ? "default-clock-class-id"
                                                                           : "default-clock-class-name"; /* in drafts */
    const char *id = ctf_json_word(j, f, property);
    if (!id)
        return NULL;
    const uint32_t number = ctf_json_names_find(j, &j->clocks, id);
    if (number != TL_HASH_NONE)
        return j->clock[number];
    ctf_json_fail(j, TL_EDAMAGED, tl_json_find(f, property), "no clock class before this one has the id \"%s\"",
                  ctf_json_clip(j, id));
    return NULL;
}

/* A copy of the packet context whose member cpu_id has its role: CTF 2 has no such role, but tracers use the name. A
 * copy, because aliases share types. */
static const ctf_type *mark_cpu(ctf_json *j, const ctf_type *context)
{
    for (uint32_t i = 0; context && i < context->nmember; i++) {
        const ctf_type *cpu = context->member[i].type;
        if (strcmp(context->member[i].name, "cpu_id") != 0 || (cpu->kind != CTF_INT && cpu->kind != CTF_VARINT))
            continue;
        ctf_type *t = ctf_json_alloc(j, sizeof *t), *copy = ctf_json_alloc(j, sizeof *copy);
        ctf_member *member = ctf_json_alloc(j, context->nmember * sizeof *member);
        if (!t || !copy || !member)
            return NULL;
        *t = *cpu;
        t->roles |= CTF_ROLE_CPU;
        memcpy(member, context->member, context->nmember * sizeof *member);
        member[i].type = t;
        *copy = *context;
        copy->member = member;
        return copy;
    }
    return context;
}

static void read_stream(ctf_json *j, const tl_json_value *f)
{
    ctf_stream_class *c = ctf_json_alloc(j, sizeof *c);
    if (!c)
        return;
    c->id = ctf_json_uint(j, f, "id", 0, UINT64_MAX, 0);
    c->name = ctf_json_string(j, f, "name");
    if (c->name && !*c->name)
        c->name = NULL;
    c->clock = default_clock(j, f);
    c->packet_context = mark_cpu(j, ctf_json_scope(j, f, "packet-context-field-class"));
    c->event_header = ctf_json_scope(j, f, "event-record-header-field-class");
    c->event_context = ctf_json_scope(j, f, "event-record-common-context-field-class");
    if (j->rc < 0)
        return;
    if (tl_hash_get(&j->stream_ids, c->id) != TL_HASH_NONE)
        ctf_json_fail(j, TL_EDAMAGED, f, "a second data stream class with the id %" PRIu64, c->id);
    else if (j->nstream == CTF_CLASSES_MAX)
        ctf_json_fail(j, TL_EUNSUPPORTED, f, "more than %u data stream classes", CTF_CLASSES_MAX);
    if (!TL_GROW(j->stream, j->nstream, 1, j->stream_capacity))
        ctf_json_no_memory(j);
    if (j->rc < 0)
        return;
    if (!tl_hash_put(&j->stream_ids, c->id, j->nstream))
        ctf_json_no_memory(j);
    else
        j->stream[j->nstream++] = (ctf_json_stream){.cls = c};
}

/* ---- events ---- */

/* Names of log levels: in the attribute, and in LTTng's headers and CTF 1.8. The number of a level is its index. */
static const struct {
    const char *attribute, *name;
} levels[] = {{"emergency", "TRACE_EMERG"},
              {"alert", "TRACE_ALERT"},
              {"critical", "TRACE_CRIT"},
              {"error", "TRACE_ERR"},
              {"warning", "TRACE_WARNING"},
              {"notice", "TRACE_NOTICE"},
              {"info", "TRACE_INFO"},
              {"debug:system", "TRACE_DEBUG_SYSTEM"},
              {"debug:program", "TRACE_DEBUG_PROGRAM"},
              {"debug:process", "TRACE_DEBUG_PROCESS"},
              {"debug:module", "TRACE_DEBUG_MODULE"},
              {"debug:unit", "TRACE_DEBUG_UNIT"},
              {"debug:function", "TRACE_DEBUG_FUNCTION"},
              {"debug:line", "TRACE_DEBUG_LINE"},
              {"debug", "TRACE_DEBUG"}};

static void read_level(ctf_json *j, const tl_json_value *v, ctf_event_class *c)
{
    if (v->kind == TL_JSON_UINT && v->as.u <= INT32_MAX) {
        char digits[24];
        const int n = snprintf(digits, sizeof digits, "%" PRIu64, v->as.u);
        c->level_value = (int32_t)v->as.u;
        c->level = v->as.u < TL_COUNT(levels) ? levels[v->as.u].name : ctf_json_copy(j, v, digits, (uint32_t)n);
    }
    for (size_t i = 0; v->kind == TL_JSON_STRING && i < TL_COUNT(levels); i++)
        if (strcmp(v->as.s, levels[i].attribute) == 0) {
            c->level_value = (int32_t)i;
            c->level = levels[i].name;
        }
}

/* Attributes are additions by producers: unknown or odd ones are ignored. */
static void read_attributes(ctf_json *j, const tl_json_value *f, ctf_event_class *c)
{
    static const char *const spaces[] = {"lttng.org,2009", "babeltrace.org,2020"};
    const tl_json_value *all = tl_json_find(f, "attributes");
    if (!all)
        all = tl_json_find(f, "user-attributes"); /* drafts before 2.0 */
    for (size_t i = 0; i < TL_COUNT(spaces); i++) {
        const tl_json_value *space = tl_json_find(all, spaces[i]);
        const tl_json_value *level = tl_json_find(space, "log-level"), *uri = tl_json_find(space, "emf-uri");
        if (level && !c->level)
            read_level(j, level, c);
        if (uri && uri->kind == TL_JSON_STRING && !memchr(uri->as.s, '\0', uri->n) && !c->uri)
            c->uri = ctf_json_copy(j, uri, uri->as.s, uri->n);
    }
}

static void add_event(ctf_json *j, const tl_json_value *f, const ctf_event_class *c, uint64_t stream_id)
{
    const uint32_t number = tl_hash_get(&j->stream_ids, stream_id);
    if (number == TL_HASH_NONE) {
        ctf_json_fail(j, TL_EDAMAGED, f, "no data stream class before this one has the id %" PRIu64, stream_id);
        return;
    }
    ctf_json_stream *stream = &j->stream[number];
    if (tl_hash_get(&stream->ids, c->id) != TL_HASH_NONE)
        ctf_json_fail(j, TL_EDAMAGED, f, "a second event record class with the id %" PRIu64, c->id);
    else if (j->nevent == CTF_CLASSES_MAX)
        ctf_json_fail(j, TL_EUNSUPPORTED, f, "more than %u event record classes", CTF_CLASSES_MAX);
    if (!TL_GROW(stream->event, stream->nevent, 1, stream->capacity))
        ctf_json_no_memory(j);
    if (j->rc < 0)
        return;
    if (!tl_hash_put(&stream->ids, c->id, stream->nevent)) {
        ctf_json_no_memory(j);
        return;
    }
    stream->event[stream->nevent++] = c;
    j->nevent++;
}

static void read_event(ctf_json *j, const tl_json_value *f)
{
    ctf_event_class *c = ctf_json_alloc(j, sizeof *c);
    if (!c)
        return;
    c->id = ctf_json_uint(j, f, "id", 0, UINT64_MAX, 0);
    c->name = ctf_json_string(j, f, "name");
    if (!c->name || !*c->name) {
        char name[32];
        const int n = snprintf(name, sizeof name, "event %" PRIu64, c->id);
        c->name = ctf_json_copy(j, f, name, (uint32_t)n);
    }
    read_attributes(j, f, c);
    c->context = ctf_json_scope(j, f, "specific-context-field-class");
    c->payload = ctf_json_scope(j, f, "payload-field-class");
    const uint64_t stream_id = ctf_json_uint(j, f, "data-stream-class-id", 0, UINT64_MAX, 0);
    if (j->rc >= 0)
        add_event(j, f, c, stream_id);
}

/* ---- all fragments ---- */

void ctf_json_fragment(ctf_json *j, const tl_json_value *f, bool is_first)
{
    static const struct {
        const char *name;
        void (*read)(ctf_json *j, const tl_json_value *f);
    } kinds[] = {{"preamble", read_preamble}, {"field-class-alias", read_alias},  {"trace-class", read_trace},
                 {"clock-class", read_clock}, {"data-stream-class", read_stream}, {"event-record-class", read_event}};
    const tl_json_value *type = ctf_json_need(j, f, "type");
    const char *name = type ? ctf_json_word(j, f, "type") : NULL;
    if (!name)
        return;
    size_t i = 0;
    while (i < TL_COUNT(kinds) && strcmp(name, kinds[i].name) != 0)
        i++;
    if (i == TL_COUNT(kinds))
        ctf_json_fail(j, TL_EUNSUPPORTED, type, "no fragment of the type \"%s\" is known", ctf_json_clip(j, name));
    else if (is_first && i != 0)
        ctf_json_fail(j, TL_EDAMAGED, type, "expected the preamble as the first fragment, found \"%s\"", name);
    else if (!is_first && i == 0)
        ctf_json_fail(j, TL_EDAMAGED, type, "a second preamble");
    else
        kinds[i].read(j, f);
}
