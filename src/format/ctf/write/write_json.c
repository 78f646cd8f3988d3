/* Metadata of CTF 2: prints forms as a sequence of JSON objects, each after a record separator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/text/json_write.h"
#include "format/ctf/write/ctf_write.h"

static void put_class(tl_json *j, const ctf_form *f);

static void begin_fragment(tl_json *j, tl_output *out, const char *type)
{
    tl_output_puts(out, "\x1e");
    tl_json_init(j, out);
    tl_json_object(j);
    tl_json_key_string(j, "type", type);
}

static void end_fragment(tl_json *j)
{
    tl_json_object_end(j);
    tl_output_puts(j->out, "\n");
}

/* --- field classes --- */

static void put_bound(tl_json *j, uint64_t v, bool is_signed)
{
    if (is_signed)
        tl_json_i64(j, (int64_t)v);
    else
        tl_json_u64(j, v);
}

static void put_range(tl_json *j, const tl_mapping *m, bool is_signed)
{
    tl_json_array(j);
    put_bound(j, m->low, is_signed);
    put_bound(j, m->high, is_signed);
    tl_json_array_end(j);
}

static const char *label_of(const tl_mapping *m)
{
    return m->label ? m->label : "";
}

/* The first mapping from `at` on with the label of mapping i; f->nmapping: none. */
static uint32_t same_label(const ctf_form *f, uint32_t i, uint32_t at)
{
    while (at < f->nmapping && strcmp(label_of(&f->mapping[at]), label_of(&f->mapping[i])) != 0)
        at++;
    return at;
}

/* There may be very many mappings: the first of each label, and the next one of each mapping. */
typedef struct label_index {
    tl_strings labels; /* equal ones are the same pointer */
    tl_hash first;
    uint32_t *next; /* of the same label; f->nmapping: none */
} label_index;

/* False without memory. */
static bool index_labels(const ctf_form *f, label_index *x)
{
    const uint32_t n = f->nmapping;
    x->next = tl_alloc(n, sizeof *x->next);
    for (uint32_t i = n; x->next && i-- > 0;) {
        const char *label = tl_strings_get(&x->labels, label_of(&f->mapping[i]), strlen(label_of(&f->mapping[i])));
        const uint32_t behind = label ? tl_hash_get(&x->first, (uintptr_t)label) : TL_HASH_NONE;
        x->next[i] = behind == TL_HASH_NONE ? n : behind;
        if (!label || !tl_hash_put(&x->first, (uintptr_t)label, i))
            return false;
    }
    return x->next != NULL;
}

static uint32_t first_of_label(label_index *x, const tl_mapping *m)
{
    return tl_hash_get(&x->first, (uintptr_t)tl_strings_get(&x->labels, label_of(m), strlen(label_of(m))));
}

/* Labels, each with all its ranges: the source may have several with the same text. */
static void put_mappings(tl_json *j, const char *key, const ctf_form *f)
{
    const uint32_t n = f->nmapping;
    label_index x = {0};
    const bool indexed = index_labels(f, &x);
    tl_json_key(j, key);
    tl_json_object(j);
    for (uint32_t i = 0; i < n; i++) {
        if ((indexed ? first_of_label(&x, &f->mapping[i]) : same_label(f, i, 0)) < i)
            continue;
        tl_json_key(j, label_of(&f->mapping[i]));
        tl_json_array(j);
        for (uint32_t k = i; k < n; k = indexed ? x.next[k] : same_label(f, i, k + 1))
            put_range(j, &f->mapping[k], f->is_signed);
        tl_json_array_end(j);
    }
    free(x.next);
    tl_hash_fini(&x.first);
    tl_strings_fini(&x.labels);
    tl_json_object_end(j);
}

static void begin_number(tl_json *j, const char *type, unsigned bits)
{
    tl_json_key_string(j, "type", type);
    tl_json_key_u64(j, "length", bits);
    tl_json_key_string(j, "byte-order", "little-endian");
    tl_json_key_u64(j, "alignment", 8);
}

static void put_int(tl_json *j, const ctf_form *f)
{
    begin_number(j,
                 f->is_bool     ? "fixed-length-boolean"
                 : f->is_flags  ? "fixed-length-bit-map"
                 : f->is_signed ? "fixed-length-signed-integer"
                                : "fixed-length-unsigned-integer",
                 f->bits);
    if (f->is_bool)
        return;
    if (f->base != 10 && !f->is_flags)
        tl_json_key_u64(j, "preferred-display-base", f->base);
    if (f->nmapping > 0)
        put_mappings(j, f->is_flags ? "flags" : "mappings", f);
}

/* The field that counts or selects. */
static void put_location(tl_json *j, const char *key, const ctf_form *f)
{
    static const char *const origin[] = {[TL_SCOPE_PACKET] = "packet-context",
                                         [TL_SCOPE_STREAM] = "event-record-common-context",
                                         [TL_SCOPE_EVENT] = "event-record-specific-context",
                                         [TL_SCOPE_PAYLOAD] = "event-record-payload"};
    tl_json_key(j, key);
    tl_json_object(j);
    if (f->elsewhere)
        tl_json_key_string(j, "origin", origin[f->by->scope]);
    tl_json_key(j, "path");
    tl_json_array(j);
    tl_json_string(j, f->by->name);
    tl_json_array_end(j);
    tl_json_object_end(j);
}

static void put_counted(tl_json *j, const ctf_form *f, const char *what)
{
    char type[40];
    const bool fixed = f->counted == CTF_COUNTED_FIXED;
    snprintf(type, sizeof type, "%s-length-%s", fixed ? "static" : "dynamic", what);
    tl_json_key_string(j, "type", type);
    if (fixed)
        tl_json_key_u64(j, "length", f->length);
    else
        put_location(j, "length-field-location", f);
}

static void put_part(tl_json *j, const char *name, const ctf_form *f)
{
    tl_json_object(j);
    tl_json_key_string(j, "name", name);
    tl_json_key(j, "field-class");
    put_class(j, f);
    tl_json_object_end(j);
}

static void put_members(tl_json *j, const ctf_form *f)
{
    for (uint32_t i = 0; i < f->npart; i++)
        if (f->part[i].source != CTF_PART_PASSED)
            put_part(j, f->part[i].name, f->part[i].form);
}

static void put_options(tl_json *j, const ctf_form *f)
{
    tl_json_key_string(j, "type", "variant");
    put_location(j, "selector-field-location", f);
    tl_json_key(j, "options");
    tl_json_array(j);
    for (uint32_t i = 0; i < f->npart; i++) {
        const ctf_part *p = &f->part[i];
        tl_json_object(j);
        tl_json_key_string(j, "name", p->name);
        tl_json_key(j, "field-class");
        put_class(j, p->form);
        tl_json_key(j, "selector-field-ranges");
        tl_json_array(j);
        for (uint32_t k = 0; k < p->nchooser; k++)
            put_range(j, &p->chooser[k], f->by->form->is_signed);
        tl_json_array_end(j);
        tl_json_object_end(j);
    }
    tl_json_array_end(j);
}

static void put_inside(tl_json *j, const ctf_form *f)
{
    switch ((ctf_form_kind)f->kind) {
    case CTF_FORM_INT:
        put_int(j, f);
        break;
    case CTF_FORM_FLOAT:
        begin_number(j, "fixed-length-floating-point-number", f->bits);
        break;
    case CTF_FORM_STRING:
        tl_json_key_string(j, "type", "null-terminated-string");
        break;
    case CTF_FORM_TEXT:
        put_counted(j, f, "string");
        break;
    case CTF_FORM_BLOB:
        put_counted(j, f, "blob");
        break;
    case CTF_FORM_LIST:
        put_counted(j, f, "array");
        tl_json_key(j, "element-field-class");
        put_class(j, f->part[0].form);
        break;
    case CTF_FORM_VARIANT:
        put_options(j, f);
        break;
    case CTF_FORM_OPTIONAL:
        tl_json_key_string(j, "type", "optional");
        put_location(j, "selector-field-location", f);
        tl_json_key(j, "field-class");
        put_class(j, f->part[0].form);
        break;
    case CTF_FORM_STRUCT:
    case CTF_FORM_NOTHING:
        tl_json_key_string(j, "type", "structure");
        tl_json_key(j, "member-classes");
        tl_json_array(j);
        put_members(j, f);
        tl_json_array_end(j);
        break;
    }
}

static void put_class(tl_json *j, const ctf_form *f)
{
    tl_json_object(j);
    put_inside(j, f);
    tl_json_object_end(j);
}

/* A member that we define ourselves. */
static void put_member(tl_json *j, const char *name, unsigned bits, bool is_signed, const char *role)
{
    tl_json_object(j);
    tl_json_key_string(j, "name", name);
    tl_json_key(j, "field-class");
    tl_json_object(j);
    begin_number(j, is_signed ? "fixed-length-signed-integer" : "fixed-length-unsigned-integer", bits);
    if (role) {
        tl_json_key(j, "roles");
        tl_json_array(j);
        tl_json_string(j, role);
        tl_json_array_end(j);
    }
    tl_json_object_end(j);
    tl_json_object_end(j);
}

/* Constant parts. */
static void put_raw(tl_json *j, const char *key, const char *json)
{
    tl_json_key(j, key);
    tl_output_puts(j->out, json);
    j->comma = true;
}

#define LITTLE "\"byte-order\":\"little-endian\""
#define UINT(bits, align, more)                                                                                        \
    "{\"type\":\"fixed-length-unsigned-integer\",\"length\":" #bits "," LITTLE ",\"alignment\":" #align more "}"
#define MEMBER(name, class) "{\"name\":\"" name "\",\"field-class\":" class "}"
#define STRUCTURE(members)  "{\"type\":\"structure\",\"member-classes\":[" members "]}"
#define ROLE(role)          ",\"roles\":[\"" role "\"]"
#define TIME(bits, align)   MEMBER("timestamp", UINT(bits, align, ROLE("default-clock-timestamp")))
#define EVENT_ID            ROLE("event-record-class-id")
#define OPTION(name, range, members)                                                                                   \
    "{\"name\":\"" name "\",\"selector-field-ranges\":[[" range "]],\"field-class\":" STRUCTURE(members) "}"
/* The two forms of an event header: a short id and time in one word, or an escape followed by both in full. */
#define EVENT_HEADER(id_bits, last, mark, time_bits, time_align)                                                       \
    STRUCTURE(MEMBER(                                                                                                  \
        "id",                                                                                                          \
        UINT(                                                                                                          \
            id_bits, 8,                                                                                                \
            ",\"mappings\":{\"compact\":[[0," #last "]],\"extended\":[[" #mark "," #mark                               \
            "]]}" EVENT_ID)) "," MEMBER("v",                                                                           \
                                        "{\"type\":\"variant\",\"selector-field-location\":{\"path\":[\"id\"]},"       \
                                        "\"options\":[" OPTION(                                                        \
                                            "compact", "0," #last,                                                     \
                                            TIME(time_bits,                                                            \
                                                 time_align)) "," OPTION("extended", #mark "," #mark,                  \
                                                                         MEMBER("id", UINT(32, 8, EVENT_ID)) "," TIME( \
                                                                             64, 8)) "]}"))

static const char packet_header[] = STRUCTURE(MEMBER("magic", UINT(32, 8, ROLE("packet-magic-number"))) "," MEMBER(
    "uuid",
    "{\"type\":\"static-length-blob\",\"length\":16" ROLE(
        "metadata-stream-uuid") "}") "," MEMBER("stream_id",
                                                UINT(32, 8,
                                                     ROLE("data-stream-class-id"))) "," MEMBER("stream_instance_id",
                                                                                               UINT(64, 8,
                                                                                                    ROLE("data-stream-"
                                                                                                         "id"))));

/* --- fragments --- */

static void put_uuid(tl_json *j, const uint8_t *u)
{
    tl_json_array(j);
    for (int i = 0; i < 16; i++)
        tl_json_u64(j, u[i]);
    tl_json_array_end(j);
}

static void put_environment(tl_json *j, const tl_trace *t)
{
    tl_strings names = {0};
    tl_json_key(j, "environment");
    tl_json_object(j);
    for (uint32_t i = 0; i < t->nproperty; i++) {
        const tl_property *p = &t->property[i];
        if (tl_strings_has(&names, p->name, strlen(p->name)))
            continue;
        tl_strings_get(&names, p->name, strlen(p->name)); /* without memory a key may occur twice */
        if (p->text)
            tl_json_key_string(j, p->name, p->text);
        else
            tl_json_key_i64(j, p->name, p->number);
    }
    if (!t->clock.hz)
        tl_json_key_string(j, CTF_TICKS_PROPERTY, "ticks");
    tl_json_object_end(j);
    tl_strings_fini(&names);
}

static void put_trace(const ctf_writer *w, tl_json *j, tl_output *out)
{
    char uid[40];
    const uint8_t *u = w->uuid;
    snprintf(uid, sizeof uid, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2],
             u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    begin_fragment(j, out, "preamble");
    tl_json_key_u64(j, "version", 2);
    tl_json_key(j, "uuid");
    put_uuid(j, u);
    end_fragment(j);

    begin_fragment(j, out, "trace-class");
    tl_json_key_string(j, "uid", uid);
    put_environment(j, w->context.trace);
    put_raw(j, "packet-header-field-class", packet_header);
    end_fragment(j);
}

static void put_clock(const ctf_writer *w, tl_json *j, tl_output *out)
{
    const tl_clock *c = &w->context.trace->clock;
    int64_t seconds;
    uint64_t cycles;
    ctf_clock_offset(c, &w->context.trace->origin, &seconds, &cycles);
    begin_fragment(j, out, "clock-class");
    tl_json_key_string(j, "id", CTF_CLOCK_NAME(c));
    tl_json_key_string(j, "name", CTF_CLOCK_NAME(c));
    tl_json_key_u64(j, "frequency", CTF_WRITE_HZ(c));
    if (c->has_utc)
        tl_json_key_string(j, "origin", "unix-epoch");
    if (c->has_utc || seconds || cycles) {
        tl_json_key(j, "offset-from-origin");
        tl_json_object(j);
        tl_json_key_i64(j, "seconds", seconds);
        tl_json_key_u64(j, "cycles", cycles);
        tl_json_object_end(j);
    }
    end_fragment(j);
}

static void put_packet_context(const ctf_writer *w, tl_json *j, const ctf_written_stream_class *sc)
{
    static const char *const known[][2] = {{"timestamp_begin", "default-clock-timestamp"},
                                           {"timestamp_end", "packet-end-default-clock-timestamp"},
                                           {"content_size", "packet-content-length"},
                                           {"packet_size", "packet-total-length"},
                                           {"packet_seq_num", "packet-sequence-number"},
                                           {"events_discarded", "discarded-event-record-counter-snapshot"}};
    tl_json_key(j, "packet-context-field-class");
    tl_json_object(j);
    tl_json_key_string(j, "type", "structure");
    tl_json_key(j, "member-classes");
    tl_json_array(j);
    for (size_t i = sc->timeless ? 2 : 0; i < TL_COUNT(known); i++)
        put_member(j, known[i][0], 64, false, known[i][1]);
    if (sc->has_cpu)
        put_part(j, "cpu_id", w->forms.shape[sc->shape].cpu);
    if (sc->has_pid)
        put_member(j, "pid", 64, true, NULL);
    if (sc->has_tid)
        put_member(j, "tid", 64, true, NULL);
    put_members(j, w->forms.shape[sc->shape].packet);
    tl_json_array_end(j);
    tl_json_object_end(j);
}

static void put_stream(const ctf_writer *w, tl_json *j, tl_output *out, const ctf_written_stream_class *sc)
{
    const ctf_form *context = w->forms.shape[sc->shape].stream;
    uint64_t number;
    begin_fragment(j, out, "data-stream-class");
    tl_json_key_u64(j, "id", sc->id);
    if (*sc->name && !(tl_parse_u64(sc->name, &number) && number == sc->id))
        tl_json_key_string(j, "name", sc->name);
    if (!sc->timeless)
        tl_json_key_string(j, "default-clock-class-id", CTF_CLOCK_NAME(&w->context.trace->clock));
    put_packet_context(w, j, sc);
    put_raw(j, "event-record-header-field-class",
            sc->timeless ? STRUCTURE(MEMBER("id", UINT(32, 8, EVENT_ID)))
            : sc->large  ? EVENT_HEADER(16, 65534, 65535, 32, 8)
                         : EVENT_HEADER(5, 30, 31, 27, 1));
    if (context->npart > 0 || w->forms.shape[sc->shape].shows_stream) {
        tl_json_key(j, "event-record-common-context-field-class");
        put_class(j, context);
    }
    end_fragment(j);
}

/* Names of log levels by their number. */
static const char *const levels[] = {"emergency",    "alert",      "critical",       "error",         "warning",
                                     "notice",       "info",       "debug:system",   "debug:program", "debug:process",
                                     "debug:module", "debug:unit", "debug:function", "debug:line",    "debug"};

static void put_attributes(tl_json *j, const ctf_written_class *c)
{
    if (!c->uri && !c->cls->level)
        return;
    tl_json_key(j, "attributes");
    tl_json_object(j);
    tl_json_key(j, "babeltrace.org,2020");
    tl_json_object(j);
    const int32_t level = c->cls->level_value;
    if (c->cls->level && level >= 0 && level < (int32_t)TL_COUNT(levels))
        tl_json_key_string(j, "log-level", levels[level]);
    if (c->uri)
        tl_json_key_string(j, "emf-uri", c->uri);
    tl_json_object_end(j);
    tl_json_object_end(j);
}

static void put_event(tl_json *j, tl_output *out, const ctf_written_stream_class *sc, const ctf_written_class *c)
{
    begin_fragment(j, out, "event-record-class");
    tl_json_key_u64(j, "id", c->id);
    tl_json_key_u64(j, "data-stream-class-id", sc->id);
    tl_json_key_string(j, "name", c->cls->name);
    put_attributes(j, c);
    if (c->context->npart > 0 || c->shows_context) {
        tl_json_key(j, "specific-context-field-class");
        put_class(j, c->context);
    }
    if (c->payload->npart > 0 || c->shows_payload) {
        tl_json_key(j, "payload-field-class");
        put_class(j, c->payload);
    }
    end_fragment(j);
}

void ctf_metadata_json(ctf_writer *w, tl_output *out)
{
    tl_json j;
    put_trace(w, &j, out);
    put_clock(w, &j, out);
    for (uint32_t i = 0; i < w->nsc; i++) {
        put_stream(w, &j, out, &w->sc[i]);
        for (uint32_t k = 0; k < w->ncls; k++)
            if (ctf_class_listed(w, &w->sc[i], &w->cls[k]))
                put_event(&j, out, &w->sc[i], &w->cls[k]);
    }
}
