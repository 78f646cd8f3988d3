/* Field classes of CTF 2: numbers, strings and blobs, and aliases. */
#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "format/ctf/metadata/json_build.h"

typedef enum form { BITS, VARIABLE, TERMINATED, TEXT, BLOB } form;

static const struct simple {
    const char *name;
    form form;
    ctf_kind kind;
    bool is_signed, dynamic;
} simple_classes[] = {
    {"fixed-length-unsigned-integer", BITS, CTF_INT, false, false},
    {"fixed-length-signed-integer", BITS, CTF_INT, true, false},
    {"fixed-length-bit-array", BITS, CTF_INT, false, false},
    {"fixed-length-bit-map", BITS, CTF_BITMAP, false, false},
    {"fixed-length-boolean", BITS, CTF_BOOL, false, false},
    {"fixed-length-floating-point-number", BITS, CTF_FLOAT, false, false},
    {"variable-length-unsigned-integer", VARIABLE, CTF_VARINT, false, false},
    {"variable-length-signed-integer", VARIABLE, CTF_VARINT, true, false},
    {"null-terminated-string", TERMINATED, CTF_STRING, false, false},
    {"static-length-string", TEXT, CTF_TEXT, false, false},
    {"dynamic-length-string", TEXT, CTF_TEXT, false, true},
    {"static-length-blob", BLOB, CTF_BLOB, false, false},
    {"dynamic-length-blob", BLOB, CTF_BLOB, false, true},
    /* Drafts before 2.0 had separate classes for integers with mappings. */
    {"fixed-length-unsigned-enumeration", BITS, CTF_INT, false, false},
    {"fixed-length-signed-enumeration", BITS, CTF_INT, true, false},
    {"variable-length-unsigned-enumeration", VARIABLE, CTF_VARINT, false, false},
    {"variable-length-signed-enumeration", VARIABLE, CTF_VARINT, true, false},
};

/* ---- roles ---- */

static const struct {
    const char *name;
    uint32_t role;
} roles[] = {
    {"packet-magic-number", CTF_ROLE_MAGIC},
    {"metadata-stream-uuid", CTF_ROLE_UUID},
    {"trace-class-uuid", CTF_ROLE_UUID}, /* its name in drafts */
    {"data-stream-class-id", CTF_ROLE_STREAM_CLASS},
    {"data-stream-id", CTF_ROLE_STREAM},
    {"packet-total-length", CTF_ROLE_PACKET_SIZE},
    {"packet-content-length", CTF_ROLE_CONTENT_SIZE},
    {"packet-sequence-number", CTF_ROLE_SEQUENCE},
    {"discarded-event-record-counter-snapshot", CTF_ROLE_DISCARDED},
    {"default-clock-timestamp", CTF_ROLE_TIMESTAMP},
    {"packet-end-default-clock-timestamp", CTF_ROLE_PACKET_END},
    {"event-record-class-id", CTF_ROLE_EVENT_CLASS},
};

static void check_role(ctf_json *j, const tl_json_value *v, const ctf_type *t, uint32_t role)
{
    if (role == CTF_ROLE_UUID) {
        if (t->kind != CTF_BLOB || t->dynamic || t->length != 16)
            ctf_json_fail(j, TL_EDAMAGED, v, "the role \"%s\" is for a static-length blob of 16 bytes", v->as.s);
    } else if ((t->kind != CTF_INT && t->kind != CTF_VARINT) || t->is_signed) {
        ctf_json_fail(j, TL_EDAMAGED, v, "the role \"%s\" is for an unsigned integer", v->as.s);
    }
}

/* Unknown roles are ignored. */
static void read_roles(ctf_json *j, const tl_json_value *object, ctf_type *t)
{
    const tl_json_value *list = ctf_json_get(j, object, "roles", TL_JSON_ARRAY);
    for (const tl_json_value *v = list ? list->as.first : NULL; v && j->rc >= 0; v = v->next) {
        if (v->kind != TL_JSON_STRING) {
            ctf_json_fail(j, TL_EDAMAGED, v, "\"roles\": expected a string, found %s", tl_json_kind_name(v));
            return;
        }
        for (size_t i = 0; i < TL_COUNT(roles); i++)
            if (strcmp(v->as.s, roles[i].name) == 0) {
                check_role(j, v, t, roles[i].role);
                t->roles |= roles[i].role;
            }
    }
}

/* ---- numbers ---- */

static void read_base(ctf_json *j, const tl_json_value *object, ctf_type *t)
{
    const uint64_t base = ctf_json_uint(j, object, "preferred-display-base", 2, 16, t->base);
    if (base != 0 && base != 2 && base != 8 && base != 10 && base != 16)
        ctf_json_fail(j, TL_EDAMAGED, tl_json_find(object, "preferred-display-base"),
                      "\"preferred-display-base\": expected 2, 8, 10 or 16, found %" PRIu64, base);
    t->base = (uint8_t)base;
}

/* One of two words; false if it is the first. */
static bool read_choice(ctf_json *j, const tl_json_value *v, const char *name, const char *first, const char *second)
{
    if (v->kind == TL_JSON_STRING && strcmp(v->as.s, second) == 0)
        return true;
    if (v->kind != TL_JSON_STRING || strcmp(v->as.s, first) != 0)
        ctf_json_fail(j, TL_EDAMAGED, v, "\"%s\": expected \"%s\" or \"%s\", found %s", name, first, second,
                      v->kind == TL_JSON_STRING ? ctf_json_clip(j, v->as.s) : tl_json_kind_name(v));
    return false;
}

static void read_order(ctf_json *j, const tl_json_value *object, ctf_type *t)
{
    const tl_json_value *v = ctf_json_need(j, object, "byte-order");
    if (!v)
        return;
    t->order = read_choice(j, v, "byte-order", "little-endian", "big-endian") ? CTF_BE : CTF_LE;
    v = tl_json_find(object, "bit-order");
    if (v) /* first-to-last: from the least significant bit of each byte, natural for little-endian */
        t->reversed = read_choice(j, v, "bit-order", "first-to-last", "last-to-first") != (t->order == CTF_BE);
    if (t->bits > 8)
        *(t->order == CTF_BE ? &j->big : &j->little) += 1;
}

/* Numbers of bits are limited to what this reader supports; the specification has no limit. */
static void read_bits(ctf_json *j, const tl_json_value *object, ctf_type *t)
{
    const tl_json_value *v = ctf_json_need(j, object, "length");
    const uint64_t bits = ctf_json_uint(j, object, "length", 1, UINT64_MAX, 1);
    if (j->rc < 0)
        return;
    if (t->kind == CTF_FLOAT && bits != 32 && bits != 64)
        ctf_json_fail(j, TL_EUNSUPPORTED, v, "a floating-point number of %" PRIu64 " bits; 32 and 64 can be read",
                      bits);
    else if (bits > 64)
        ctf_json_fail(j, TL_EUNSUPPORTED, v, "a number of %" PRIu64 " bits; 1 to 64 can be read", bits);
    t->bits = (uint32_t)bits;
    t->align = ctf_json_align(j, object, "alignment", 1);
    read_order(j, object, t);
}

/* ---- strings and blobs ---- */

static void read_encoding(ctf_json *j, const tl_json_value *object, ctf_type *t)
{
    static const struct {
        const char *name;
        ctf_encoding encoding;
    } encodings[] = {{"utf-8", CTF_UTF8},
                     {"utf-16le", CTF_UTF16LE},
                     {"utf-16be", CTF_UTF16BE},
                     {"utf-32le", CTF_UTF32LE},
                     {"utf-32be", CTF_UTF32BE}};
    const tl_json_value *v = ctf_json_get(j, object, "encoding", TL_JSON_STRING);
    t->encoding = v ? CTF_NO_TEXT : CTF_UTF8;
    for (size_t i = 0; v && i < TL_COUNT(encodings); i++)
        if (strcmp(v->as.s, encodings[i].name) == 0)
            t->encoding = (uint8_t)encodings[i].encoding;
    if (t->encoding == CTF_NO_TEXT)
        ctf_json_fail(j, TL_EUNSUPPORTED, v,
                      "\"encoding\": expected utf-8, utf-16le, utf-16be, utf-32le or utf-32be, found %s",
                      ctf_json_clip(j, v->as.s));
}

static void read_length(ctf_json *j, const tl_json_value *object, ctf_type *t)
{
    if (t->dynamic)
        t->location = ctf_json_location(j, object, "length-field-location");
    else
        t->length = ctf_json_need_uint(j, object, "length", 0, UINT64_MAX);
}

/* ---- everything ---- */

static void fill(ctf_json *j, const tl_json_value *v, const struct simple *c, ctf_type *t)
{
    t->is_signed = c->is_signed;
    t->dynamic = c->dynamic;
    t->align = 8;
    switch (c->form) {
    case BITS:
        read_bits(j, v, t);
        break;
    case VARIABLE:
        t->bits = 64;
        break;
    case TERMINATED:
        read_encoding(j, v, t);
        break;
    case TEXT:
        read_encoding(j, v, t);
        read_length(j, v, t);
        break;
    case BLOB:
        read_length(j, v, t);
        break;
    }
    if (strcmp(c->name, "fixed-length-bit-array") == 0)
        t->base = 16;
    if (t->kind == CTF_INT || t->kind == CTF_VARINT) {
        read_base(j, v, t);
        ctf_json_mappings(j, v, "mappings", t);
    } else if (t->kind == CTF_BITMAP) {
        ctf_json_mappings(j, v, "flags", t);
    }
    if (t->kind == CTF_INT || t->kind == CTF_VARINT || t->kind == CTF_BLOB)
        read_roles(j, v, t);
}

static ctf_json_type find_alias(ctf_json *j, const tl_json_value *v)
{
    const bool whole = strlen(v->as.s) == v->n; /* names of aliases have no NUL */
    const uint32_t number = whole ? ctf_json_names_find(j, &j->aliases, v->as.s) : TL_HASH_NONE;
    if (number == TL_HASH_NONE) {
        ctf_json_fail(j, TL_EDAMAGED, v, "no field class alias before this one is named \"%s\"",
                      ctf_json_clip(j, v->as.s));
        return (ctf_json_type){0};
    }
    return j->alias[number];
}

ctf_json_type ctf_json_field_class(ctf_json *j, const tl_json_value *v, unsigned depth)
{
    const ctf_json_type failed = {0};
    if (j->rc < 0 || !v)
        return failed;
    if (v->kind == TL_JSON_STRING)
        return find_alias(j, v);
    if (v->kind != TL_JSON_OBJECT) {
        ctf_json_fail(j, TL_EDAMAGED, v, "expected a field class: an object or the name of an alias, found %s",
                      tl_json_kind_name(v));
        return failed;
    }
    if (!ctf_json_need(j, v, "type"))
        return failed;
    const char *kind = ctf_json_word(j, v, "type");
    if (!kind)
        return failed;
    bool done = true;
    ctf_json_type compound = ctf_json_compound(j, v, kind, depth, &done);
    if (done)
        return compound;
    for (size_t i = 0; i < TL_COUNT(simple_classes); i++) {
        if (strcmp(kind, simple_classes[i].name) != 0)
            continue;
        ctf_type *t = ctf_type_new(j->s, simple_classes[i].kind, j->base + v->offset);
        if (!t) {
            ctf_json_no_memory(j);
            return failed;
        }
        fill(j, v, &simple_classes[i], t);
        return j->rc < 0 ? failed : (ctf_json_type){.type = t, .fields = 1, .height = 1};
    }
    ctf_json_fail(j, TL_EUNSUPPORTED, tl_json_find(v, "type"), "no field class of the type \"%s\" is known",
                  ctf_json_clip(j, kind));
    return failed;
}
