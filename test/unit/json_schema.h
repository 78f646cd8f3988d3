/* CTF 2 metadata for tests, written without backslashes: ' stands for " and @ for the record separator. */
#ifndef TL_TEST_JSON_SCHEMA_H
#define TL_TEST_JSON_SCHEMA_H

#include "check.h"
#include "format/ctf/ctf_schema.h"

#define PREAMBLE "@{'type':'preamble','version':2}\n"
#define STREAM   "@{'type':'data-stream-class'}\n"

/* Types of a few bytes, around the one under test. */
#define U8  "{'type':'fixed-length-unsigned-integer','length':8,'byte-order':'little-endian'}"
#define I8  "{'type':'fixed-length-signed-integer','length':8,'byte-order':'little-endian'}"
#define U32 "{'type':'fixed-length-unsigned-integer','length':32,'byte-order':'little-endian','alignment':32}"

static ctf_schema schema;

/* The text with its ' and @ replaced, in memory of exactly its size; belongs to the caller. */
static inline char *json_text(const char *text)
{
    const size_t n = strlen(text);
    char *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    for (size_t i = 0; i < n; i++)
        copy[i] = (char)(text[i] == '\'' ? '"' : text[i] == '@' ? 0x1e : text[i]);
    return copy;
}

static inline int schema_parse(const char *text, tl_error *e)
{
    char *copy = json_text(text);
    tl_arena_fini(&schema.arena);
    schema = (ctf_schema){0};
    int rc = ctf_json_parse(&schema, copy, strlen(text), e);
    free(copy); /* nothing in the schema may point there */
    return rc;
}

/* Parses metadata that must be valid. */
static inline const ctf_schema *schema_of(const char *text)
{
    tl_error e = {0};
    if (schema_parse(text, &e) < 0)
        fail_msg("%s: %s", text, e.message);
    return &schema;
}

/* Parses metadata that must fail like this; the message may be longer. */
static inline void schema_fails(const char *text, int code, const char *message)
{
    tl_error e = {0};
    int rc = schema_parse(text, &e);
    if (rc != code || (int)e.code != code || !strstr(e.message, message))
        fail_msg("%s: %d: %s; expected %s", text, rc, e.message, message);
    unsigned line, column;
    if (sscanf(e.message, "line %u, column %u: ", &line, &column) != 2)
        fail_msg("no place in: %s", e.message);
    for (uint64_t i = e.offset; i > 0 && text[i - 1] != '\n'; i--)
        column--;
    assert_int_equal(column, 1);
    assert_int_equal(schema_parse(text, NULL), code);
}

/* An event whose payload is a structure of these members. */
static inline const ctf_type *payload_of(const char *members)
{
    static char text[(1 << 16) + 512];
    snprintf(text, sizeof text,
             PREAMBLE STREAM "@{'type':'event-record-class','payload-field-class':{'type':'structure',"
                             "'member-classes':[%s]}}",
             members);
    return schema_of(text)->stream[0]->event[0]->payload;
}

static inline void payload_fails(const char *members, int code, const char *message)
{
    static char text[(1 << 16) + 512];
    snprintf(text, sizeof text,
             PREAMBLE STREAM "@{'type':'event-record-class','payload-field-class':{'type':'structure',"
                             "'member-classes':[%s]}}",
             members);
    schema_fails(text, code, message);
}

/* The type that a field class becomes. */
static inline const ctf_type *type_of(const char *field_class)
{
    static char member[1 << 16];
    snprintf(member, sizeof member, "{'name':'x','field-class':%s}", field_class);
    return payload_of(member)->member[0].type;
}

static inline void type_fails(const char *field_class, int code, const char *message)
{
    static char member[1 << 16];
    snprintf(member, sizeof member, "{'name':'x','field-class':%s}", field_class);
    payload_fails(member, code, message);
}

static inline int schema_clean(void **state)
{
    tl_arena_fini(&schema.arena);
    return 0;
}

#endif
