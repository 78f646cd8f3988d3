/* Names of TSDL: each text is stored once, so that names are compared by pointer and looked up in one step. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/grow.h"
#include "base/text/utf8.h"
#include "format/ctf/metadata/tsdl_lexer.h"

static const struct {
    const char *text;
    tsdl_word word;
} words[] = {
    {"align", TSDL_W_ALIGN},         {"callsite", TSDL_W_CALLSITE},
    {"clock", TSDL_W_CLOCK},         {"const", TSDL_W_CONST},
    {"enum", TSDL_W_ENUM},           {"env", TSDL_W_ENV},
    {"event", TSDL_W_EVENT},         {"floating_point", TSDL_W_FLOATING_POINT},
    {"integer", TSDL_W_INTEGER},     {"stream", TSDL_W_STREAM},
    {"string", TSDL_W_STRING},       {"struct", TSDL_W_STRUCT},
    {"trace", TSDL_W_TRACE},         {"typealias", TSDL_W_TYPEALIAS},
    {"typedef", TSDL_W_TYPEDEF},     {"variant", TSDL_W_VARIANT},
    {"char", TSDL_W_ARITHMETIC},     {"double", TSDL_W_ARITHMETIC},
    {"float", TSDL_W_ARITHMETIC},    {"int", TSDL_W_ARITHMETIC},
    {"long", TSDL_W_ARITHMETIC},     {"short", TSDL_W_ARITHMETIC},
    {"signed", TSDL_W_ARITHMETIC},   {"unsigned", TSDL_W_ARITHMETIC},
    {"void", TSDL_W_ARITHMETIC},     {"_Bool", TSDL_W_ARITHMETIC},
    {"_Complex", TSDL_W_ARITHMETIC}, {"_Imaginary", TSDL_W_ARITHMETIC},
};

int tsdl_fail(tsdl_lexer *l, uint64_t position, const char *format, ...)
{
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    /* A truncated name may end inside a character. */
    for (char *c = what; *c;) {
        size_t bytes = tl_utf8_length(c, strlen(c));
        if (bytes == 0)
            *c = '?';
        c += bytes > 0 ? bytes : 1;
    }
    return ctf_metadata_fail(l->e, l->text, l->n, position, "%s", what);
}

int tsdl_count(tsdl_lexer *l, uint32_t items)
{
    if (items > TSDL_ITEMS_MAX - l->items)
        return tsdl_fail(l, l->token.position, "the metadata declares more than %u things", TSDL_ITEMS_MAX);
    l->items += items;
    return 0;
}

static tsdl_name *find(const tsdl_lexer *l, uint64_t hash, const char *s, size_t n)
{
    uint32_t index = tl_hash_get(&l->hash, hash);
    tsdl_name *name = index == TL_HASH_NONE ? NULL : l->name[index];
    while (name && (name->n != n || memcmp(name->text, s, n) != 0))
        name = name->next;
    return name;
}

int tsdl_intern(tsdl_lexer *l, const char *s, size_t n, tsdl_name **out)
{
    uint64_t hash = tl_hash_bytes(s, n);
    *out = find(l, hash, s, n);
    if (*out)
        return 0;
    TSDL_TRY(tsdl_count(l, 1));
    if (!TL_GROW(l->name, l->nname, 1, l->name_capacity))
        return tsdl_no_memory(l);
    tsdl_name *name = tl_arena_zalloc(&l->s->arena, sizeof *name);
    char *text = tl_arena_strndup(&l->s->arena, s, n);
    uint32_t same = tl_hash_get(&l->hash, hash);
    if (!name || !text || !tl_hash_put(&l->hash, hash, l->nname))
        return tsdl_no_memory(l);
    name->text = text;
    name->n = (uint32_t)n; /* the text is shorter than CTF_METADATA_MAX */
    name->id = l->nname;
    name->next = same == TL_HASH_NONE ? NULL : l->name[same];
    l->name[l->nname++] = name;
    *out = name;
    return 0;
}

int tsdl_join(tsdl_lexer *l, const tsdl_name *a, const char *separator, const tsdl_name *b, tsdl_name **out)
{
    size_t between = strlen(separator), n = a->n + between + b->n;
    if (!TL_GROW(l->buffer, 0, n, l->buffer_size))
        return tsdl_no_memory(l);
    memcpy(l->buffer, a->text, a->n);
    memcpy(l->buffer + a->n, separator, between);
    memcpy(l->buffer + a->n + between, b->text, b->n);
    return tsdl_intern(l, l->buffer, n, out);
}

int tsdl_strip(tsdl_lexer *l, tsdl_name *name, tsdl_name **out)
{
    if (!name->stripped) {
        name->stripped = name;
        if (name->text[0] == '_' && name->n > 1)
            TSDL_TRY(tsdl_intern(l, name->text + 1, name->n - 1, &name->stripped));
    }
    *out = name->stripped;
    return 0;
}

int tsdl_lexer_init(tsdl_lexer *l, ctf_schema *s, const char *text, size_t n, tl_error *e)
{
    *l = (tsdl_lexer){.s = s, .text = text, .n = n, .e = e};
    for (size_t i = 0; i < TL_COUNT(words); i++) {
        tsdl_name *name;
        TSDL_TRY(tsdl_intern(l, words[i].text, strlen(words[i].text), &name));
        name->word = (uint8_t)words[i].word;
    }
    return tsdl_next(l);
}

void tsdl_lexer_fini(tsdl_lexer *l)
{
    tl_hash_fini(&l->hash);
    free(l->name);
    free(l->buffer);
}
