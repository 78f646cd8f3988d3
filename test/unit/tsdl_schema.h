/* Metadata of CTF 1.8 for tests, and types as short text, to compare a whole type at once. */
#ifndef TL_TEST_TSDL_SCHEMA_H
#define TL_TEST_TSDL_SCHEMA_H

#include <inttypes.h>

#include "check.h"
#include "format/ctf/ctf_schema.h"

#define TRACE "trace { major = 1; minor = 8; byte_order = le; };\n"
/* u8, u16, u32, u64, i8, i32 of whole bytes; c: characters */
#define TYPES                                                                                                          \
    "typealias integer { size = 8; } := u8; typealias integer { size = 16; } := u16;\n"                                \
    "typealias integer { size = 32; } := u32; typealias integer { size = 64; } := u64;\n"                              \
    "typealias integer { size = 8; signed = true; } := i8; typealias integer { size = 32; signed = true; } := i32;\n"  \
    "typealias integer { size = 8; encoding = UTF8; } := c;\n"

static ctf_schema schema;
static char dumped[1 << 16];
static size_t dumped_n;

__attribute__((format(printf, 1, 2))) static inline void put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(dumped + dumped_n, sizeof dumped - dumped_n, format, arguments);
    va_end(arguments);
    dumped_n += (size_t)n;
    if (dumped_n >= sizeof dumped)
        abort();
}

static inline void put_value(uint64_t value, bool is_signed)
{
    if (is_signed)
        put("%" PRId64, (int64_t)value);
    else
        put("%" PRIu64, value);
}

static inline void put_number(const ctf_type *t)
{
    put("%c%" PRIu32 "%s",
        t->kind == CTF_FLOAT ? 'f'
        : t->is_signed       ? 'i'
                             : 'u',
        t->bits, t->order == CTF_BE ? "be" : "");
    if (t->align != (t->bits % 8 ? 1u : 8u))
        put("@%" PRIu32, t->align);
    if (t->unit)
        put("/%" PRIu32, t->unit);
    if (t->base)
        put("base%u", t->base);
    if (t->encoding)
        put("text");
    if (!t->mapping)
        return;
    put("<");
    for (uint32_t i = 0; i < t->nmapping; i++) {
        put("%s%s=", i ? "," : "", t->mapping[i].label);
        put_value(t->mapping[i].low, t->is_signed);
        if (t->mapping[i].high != t->mapping[i].low) {
            put("..");
            put_value(t->mapping[i].high, t->is_signed);
        }
    }
    put(">");
}

static inline void put_location(const ctf_location *l)
{
    static const char *const origin[] = {"header.", "packet.", "event.", "stream.", "context.", "payload.", "./", ""};
    put("%s", origin[l->origin]);
    for (uint32_t i = 0; i < l->n; i++)
        put("%s%s", i ? "." : "", l->path[i] ? l->path[i] : "^");
}

static inline void put_length(const ctf_type *t)
{
    put("[");
    if (t->dynamic)
        put_location(t->location);
    else
        put("%" PRIu64, t->length);
    put("]");
}

static inline void put_type(const ctf_type *t);

/* `name:type`; an option has the values that choose it, and a raw name that differs from the name. */
static inline void put_members(const ctf_type *t)
{
    for (uint32_t i = 0; i < t->nmember; i++) {
        const ctf_member *m = &t->member[i];
        put("%s%s", i ? " " : "", m->name);
        if (strcmp(m->name, m->raw) != 0)
            put("(%s)", m->raw);
        for (uint32_t r = 0; r < m->nrange; r++) {
            put(r ? "," : "=");
            put_value(m->range[r].low, (int64_t)m->range[r].high < 0 || (int64_t)m->range[r].low < 0);
            if (m->range[r].high != m->range[r].low)
                put("..%" PRId64, (int64_t)m->range[r].high);
        }
        put(":");
        put_type(m->type);
    }
}

static inline void put_type(const ctf_type *t)
{
    static const char *const roles[] = {"magic",    "uuid",      "class", "stream", "size",  "content",
                                        "sequence", "discarded", "time",  "end",    "event", "cpu"};
    switch (t->kind) {
    case CTF_INT:
    case CTF_FLOAT:
        put_number(t);
        break;
    case CTF_STRING:
        put("string");
        break;
    case CTF_TEXT:
    case CTF_BLOB:
        put(t->kind == CTF_TEXT ? "text" : "blob");
        put_length(t);
        break;
    case CTF_ARRAY:
        put_length(t);
        put_type(t->member[0].type);
        break;
    case CTF_STRUCT:
        put("{");
        put_members(t);
        put("}");
        if (t->align != 1)
            put("@%" PRIu32, t->align);
        break;
    case CTF_VARIANT:
        put("<");
        put_location(t->location);
        put(">{");
        put_members(t);
        put("}");
        break;
    default:
        put("?");
    }
    for (unsigned i = 0; i < 12; i++)
        if (t->roles & 1u << i)
            put("#%s", roles[i]);
}

static inline const char *dump(const ctf_type *t)
{
    dumped_n = 0;
    dumped[0] = '\0';
    if (t)
        put_type(t);
    return dumped;
}

/* Parses a copy of exactly the text's size, so that a byte read beyond it is noticed, and nothing can point there. */
static inline int schema_parse_bytes(const char *text, size_t n, tl_error *e)
{
    char *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    memcpy(copy, text, n);
    tl_arena_fini(&schema.arena);
    schema = (ctf_schema){0};
    int rc = ctf_tsdl_parse(&schema, copy, n, e);
    free(copy);
    return rc;
}

/* Parses metadata that must be sound. */
static inline const ctf_schema *schema_of(const char *text)
{
    tl_error e = {0};
    if (schema_parse_bytes(text, strlen(text), &e) < 0)
        fail_msg("%s\n%s", text, e.message);
    return &schema;
}

/* Parses metadata that must fail with this message, at the place of the character `|`. */
static inline void schema_fails(const char *marked, const char *message)
{
    const char *mark = strchr(marked, '|');
    size_t n = strlen(marked), at = (size_t)(mark - marked);
    static char text[1 << 16];
    tl_error e = {0};
    if (!mark || n > sizeof text)
        fail_msg("no mark, or too long: %s", marked);
    memcpy(text, marked, at);
    memcpy(text + at, mark + 1, n - at); /* with the NUL */
    int rc = schema_parse_bytes(text, n - 1, &e);
    if (rc != TL_EDAMAGED || e.code != TL_EDAMAGED)
        fail_msg("%s\nreturns %d, %s", text, rc, e.message);
    const char *what = strstr(e.message, ": ");
    if (!what || strcmp(what + 2, message) != 0)
        fail_msg("%s\nfails with: %s\ninstead of: %s", text, e.message, message);
    if (e.offset != at)
        fail_msg("%s\n%s: at %" PRIu64 ", not %zu", text, e.message, e.offset, at);
    assert_int_equal(schema_parse_bytes(text, n - 1, NULL), TL_EDAMAGED);
}

/* The payload of an event with these members, as text. */
static inline const char *payload_of(const char *members)
{
    static char text[1 << 16];
    snprintf(text, sizeof text, TRACE TYPES "event { name = e; fields := struct { %s }; };", members);
    return dump(schema_of(text)->stream[0]->event[0]->payload);
}

static inline void payload_fails(const char *members, const char *message)
{
    static char text[1 << 16];
    snprintf(text, sizeof text, TRACE TYPES "event { name = e; fields := struct { %s }; };", members);
    schema_fails(text, message);
}

static inline int schema_clean(void **state)
{
    tl_arena_fini(&schema.arena);
    schema = (ctf_schema){0};
    return 0;
}

#endif
