/* Properties of JSON objects in CTF 2 metadata, with checks and errors that say what was expected. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/utf8.h"
#include "format/ctf/metadata/json_build.h"

TL_COLD int ctf_json_fail(ctf_json *j, tl_code code, const tl_json_value *at, const char *format, ...)
{
    if (j->rc < 0)
        return j->rc;
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    ctf_metadata_fail(j->e, j->text, j->n, j->base + at->offset, "%s", what);
    if (j->e)
        j->e->code = code;
    return j->rc = code;
}

TL_COLD int ctf_json_no_memory(ctf_json *j)
{
    if (j->rc >= 0)
        j->rc = tl_fail(j->e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the metadata");
    return j->rc;
}

void *ctf_json_alloc(ctf_json *j, size_t n)
{
    void *p = j->rc < 0 ? NULL : tl_arena_zalloc(&j->s->arena, n);
    if (!p)
        ctf_json_no_memory(j);
    return p;
}

const char *ctf_json_clip(ctf_json *j, const char *name)
{
    const size_t n = strlen(name);
    size_t at = 0, length;
    while (at < n && (length = tl_utf8_length(name + at, n - at)) > 0 && at + length < sizeof j->clip - 4)
        at += length;
    snprintf(j->clip, sizeof j->clip, "%.*s%s", (int)at, name, at < n ? "..." : "");
    return j->clip;
}

/* ---- values ---- */

static const char *kind_wanted(tl_json_kind kind)
{
    const tl_json_value v = {.kind = (uint8_t)kind};
    return tl_json_kind_name(&v);
}

const tl_json_value *ctf_json_get(ctf_json *j, const tl_json_value *object, const char *name, tl_json_kind kind)
{
    const tl_json_value *v = j->rc < 0 ? NULL : tl_json_find(object, name);
    if (v && v->kind != kind) {
        ctf_json_fail(j, TL_EDAMAGED, v, "\"%s\": expected %s, found %s", name, kind_wanted(kind),
                      tl_json_kind_name(v));
        return NULL;
    }
    return v;
}

const tl_json_value *ctf_json_need(ctf_json *j, const tl_json_value *object, const char *name)
{
    const tl_json_value *v = j->rc < 0 ? NULL : tl_json_find(object, name);
    if (!v && j->rc >= 0)
        ctf_json_fail(j, TL_EDAMAGED, object, "expected an object with the property \"%s\", found %s", name,
                      object->kind == TL_JSON_OBJECT ? "one without it" : tl_json_kind_name(object));
    return v;
}

static uint64_t check_uint(ctf_json *j, const tl_json_value *v, const char *name, uint64_t low, uint64_t high)
{
    if (v->kind == TL_JSON_UINT && v->as.u >= low && v->as.u <= high)
        return v->as.u;
    char found[32];
    if (v->kind == TL_JSON_UINT)
        snprintf(found, sizeof found, "%" PRIu64, v->as.u);
    else
        snprintf(found, sizeof found, "%s", tl_json_kind_name(v));
    if (high == UINT64_MAX)
        ctf_json_fail(j, TL_EDAMAGED, v, "\"%s\": expected an integer of %" PRIu64 " or more, found %s", name, low,
                      found);
    else
        ctf_json_fail(j, TL_EDAMAGED, v, "\"%s\": expected an integer from %" PRIu64 " to %" PRIu64 ", found %s", name,
                      low, high, found);
    return 0;
}

uint64_t ctf_json_uint(ctf_json *j, const tl_json_value *object, const char *name, uint64_t low, uint64_t high,
                       uint64_t missing)
{
    const tl_json_value *v = j->rc < 0 ? NULL : tl_json_find(object, name);
    return v ? check_uint(j, v, name, low, high) : missing;
}

uint64_t ctf_json_need_uint(ctf_json *j, const tl_json_value *object, const char *name, uint64_t low, uint64_t high)
{
    const tl_json_value *v = ctf_json_need(j, object, name);
    return v ? check_uint(j, v, name, low, high) : 0;
}

uint32_t ctf_json_align(ctf_json *j, const tl_json_value *object, const char *name, uint32_t missing)
{
    const uint64_t align = ctf_json_uint(j, object, name, 1, CTF_ALIGN_MAX, missing);
    if (j->rc < 0)
        return 1;
    if (align & (align - 1))
        ctf_json_fail(j, TL_EDAMAGED, tl_json_find(object, name), "\"%s\": expected a power of two, found %" PRIu64,
                      name, align);
    return (uint32_t)align;
}

/* ---- strings ---- */

/* Names become C strings: a NUL in one would cut it off. */
static bool check_string(ctf_json *j, const tl_json_value *at, const char *s, uint32_t n)
{
    if (memchr(s, '\0', n))
        ctf_json_fail(j, TL_EDAMAGED, at, "a string with a NUL character, where none can be");
    return j->rc >= 0;
}

const char *ctf_json_word(ctf_json *j, const tl_json_value *object, const char *name)
{
    const tl_json_value *v = ctf_json_get(j, object, name, TL_JSON_STRING);
    return v && check_string(j, v, v->as.s, v->n) ? v->as.s : NULL;
}

const char *ctf_json_copy(ctf_json *j, const tl_json_value *at, const char *s, uint32_t n)
{
    if (j->rc < 0 || !check_string(j, at, s, n))
        return NULL;
    const char *copy = tl_arena_strndup(&j->s->arena, s, n);
    if (!copy)
        ctf_json_no_memory(j);
    return copy;
}

const char *ctf_json_string(ctf_json *j, const tl_json_value *object, const char *name)
{
    const tl_json_value *v = ctf_json_get(j, object, name, TL_JSON_STRING);
    return v ? ctf_json_copy(j, v, v->as.s, v->n) : NULL;
}

bool ctf_json_uuid(ctf_json *j, const tl_json_value *object, uint8_t uuid[16])
{
    const tl_json_value *v = ctf_json_get(j, object, "uuid", TL_JSON_ARRAY);
    if (!v)
        return false;
    if (v->n != 16) {
        ctf_json_fail(j, TL_EDAMAGED, v, "\"uuid\": expected 16 integers, found %" PRIu32, v->n);
        return false;
    }
    uint8_t bytes[16];
    unsigned i = 0;
    for (const tl_json_value *byte = v->as.first; byte && j->rc >= 0; byte = byte->next)
        bytes[i++] = (uint8_t)check_uint(j, byte, "uuid", 0, 255);
    if (j->rc < 0)
        return false;
    memcpy(uuid, bytes, sizeof bytes);
    return true;
}

/* ---- names and arrays ---- */

static const char *intern(ctf_json *j, const char *name)
{
    const char *s = j->rc < 0 ? NULL : tl_strings_get(&j->strings, name, strlen(name));
    if (!s)
        ctf_json_no_memory(j);
    return s;
}

uint32_t ctf_json_names_find(ctf_json *j, const ctf_json_names *names, const char *name)
{
    const char *s = intern(j, name);
    return s ? tl_hash_get(&names->number, (uintptr_t)s) : TL_HASH_NONE;
}

void ctf_json_names_add(ctf_json *j, ctf_json_names *names, const char *name)
{
    const char *s = intern(j, name);
    if (s && !tl_hash_put(&names->number, (uintptr_t)s, names->n++))
        ctf_json_no_memory(j);
}
