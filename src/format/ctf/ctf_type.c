/* Shared by all metadata front ends: new types, alignments, and errors with line and column. */
#include <stdarg.h>
#include <stdio.h>

#include "format/ctf/ctf_schema.h"

ctf_type *ctf_type_new(ctf_schema *s, ctf_kind kind, uint64_t position)
{
    ctf_type *t = tl_arena_zalloc(&s->arena, sizeof *t);
    if (t) {
        t->kind = (uint8_t)kind;
        t->align = 1;
        t->position = position;
    }
    return t;
}

int ctf_metadata_fail(tl_error *e, const char *text, size_t n, uint64_t position, const char *format, ...)
{
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < n && i < position; i++) {
        column++;
        if (text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return tl_fail(e, TL_EDAMAGED, position, "line %u, column %u: %s", line, column, what);
}

static uint32_t alignment(const ctf_type *t, unsigned depth)
{
    uint32_t most = t->unit > t->align ? t->unit : t->align;
    if (depth == CTF_DEPTH_MAX || t->kind == CTF_VARIANT || t->kind == CTF_OPTIONAL)
        return most;
    if (t->inline_length) {
        uint32_t a = alignment(t->inline_length, depth + 1);
        most = a > most ? a : most;
    }
    for (uint32_t i = 0; i < t->nmember; i++) {
        uint32_t a = alignment(t->member[i].type, depth + 1);
        most = a > most ? a : most;
    }
    return most;
}

uint32_t ctf_type_alignment(const ctf_type *t)
{
    return alignment(t, 0);
}

uint32_t ctf_type_start(const ctf_type *t)
{
    uint32_t most = t->align;
    for (unsigned depth = 0; depth < CTF_DEPTH_MAX && t->kind == CTF_ARRAY; depth++) {
        if (t->inline_length)
            return t->inline_length->align > most ? t->inline_length->align : most;
        t = t->member[0].type;
        most = t->align > most ? t->align : most;
    }
    const uint32_t whole = t->kind == CTF_STRUCT ? ctf_type_alignment(t) : 1;
    return whole > most ? whole : most;
}

static bool has_role(const ctf_type *t, uint32_t role, unsigned depth)
{
    if (t->roles & role)
        return true;
    for (uint32_t i = 0; depth < CTF_DEPTH_MAX && i < t->nmember; i++)
        if (has_role(t->member[i].type, role, depth + 1))
            return true;
    return false;
}

bool ctf_type_has_role(const ctf_type *t, uint32_t role)
{
    return has_role(t, role, 0);
}

static bool is_bytewise(const ctf_type *t, unsigned depth)
{
    if (depth > CTF_DEPTH_MAX || t->unit)
        return false;
    if (t->kind <= CTF_FLOAT && t->kind != CTF_VARINT && t->bits % 8)
        return false;
    if (t->inline_length && !is_bytewise(t->inline_length, depth + 1))
        return false;
    for (uint32_t i = 0; i < t->nmember; i++)
        if (!is_bytewise(t->member[i].type, depth + 1))
            return false;
    return true;
}

bool ctf_type_is_bytewise(const ctf_type *t)
{
    return is_bytewise(t, 0);
}

static bool may_be_empty(const ctf_type *t, unsigned depth)
{
    if (depth > CTF_DEPTH_MAX)
        return true;
    switch ((ctf_kind)t->kind) {
    case CTF_TEXT:
    case CTF_BLOB:
        return t->dynamic || t->length == 0;
    case CTF_STRUCT:
        for (uint32_t i = 0; i < t->nmember; i++)
            if (!may_be_empty(t->member[i].type, depth + 1))
                return false;
        return true;
    case CTF_ARRAY:
        return t->inline_length ? false : t->dynamic || t->length == 0 || may_be_empty(t->member[0].type, depth + 1);
    case CTF_VARIANT:
    case CTF_OPTIONAL:
        return true;
    default:
        return false;
    }
}

bool ctf_type_may_be_empty(const ctf_type *t)
{
    return may_be_empty(t, 0);
}
