/* What all metadata front ends need: new types, alignments, and errors with line and column. */
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
