/* Pairs of functions: by the first key, from the strictest to the loosest, that only one function of each side has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare_impl.h"
#include "analysis/compare/name_key.h"
#include "base/grow.h"
#include "base/io/base_name.h"

/* A key of a function, interned: NULL, not there; or without memory, when *failed is set. */
typedef const char *key_of(tl_compare *c, const tl_side_function *f, bool *failed);

/* Texts with a separator between them. */
static const char *joined(tl_compare *c, const char *a, const char *b, const char *d, bool *failed)
{
    const size_t n = strlen(a) + strlen(b) + strlen(d) + 3;
    char *text = malloc(n);
    const int length = text ? snprintf(text, n, "%s\1%s\1%s", a, b, d) : 0;
    const char *key = text ? tl_strings_get(&c->strings, text, (size_t)length) : NULL;
    *failed = *failed || !key;
    free(text);
    return key;
}

static const char *by_all(tl_compare *c, const tl_side_function *f, bool *failed)
{
    return joined(c, f->name, f->file ? f->file : "", f->library ? f->library : "", failed);
}

static const char *by_linkage(tl_compare *c, const tl_side_function *f, bool *failed)
{
    (void)c;
    (void)failed;
    return f->linkage;
}

static const char *by_name_and_file(tl_compare *c, const tl_side_function *f, bool *failed)
{
    return f->file && !f->unnamed ? joined(c, f->name, tl_base_name(f->file), "", failed) : NULL;
}

static const char *by_name(tl_compare *c, const tl_side_function *f, bool *failed)
{
    (void)c;
    (void)failed;
    return f->unnamed ? NULL : f->name;
}

static const char *by_key(tl_compare *c, const tl_side_function *f, tl_key_level level, bool *failed)
{
    const size_t n = strlen(f->name);
    char *text = f->unnamed ? NULL : malloc(n + 1);
    if (!text) {
        *failed = *failed || !f->unnamed;
        return NULL;
    }
    const char *key = tl_strings_get(&c->strings, text, tl_name_key(text, f->name, level));
    *failed = *failed || !key;
    free(text);
    return key;
}

static const char *without_numbers(tl_compare *c, const tl_side_function *f, bool *failed)
{
    return by_key(c, f, TL_KEY_NO_NUMBERS, failed);
}

static const char *without_clones(tl_compare *c, const tl_side_function *f, bool *failed)
{
    return by_key(c, f, TL_KEY_NO_CLONES, failed);
}

static const char *by_line(tl_compare *c, const tl_side_function *f, bool *failed)
{
    char line[16];
    if (!f->file || !f->line)
        return NULL;
    snprintf(line, sizeof line, "%u", (unsigned)f->line);
    return joined(c, tl_base_name(f->file), line, "", failed);
}

static const struct level {
    key_of *key;
    bool among_all; /* unique among matched functions, too: keys that drop a part of the name */
} levels[] = {{by_all, false},  {by_linkage, false},     {by_name_and_file, false},
              {by_name, false}, {without_numbers, true}, {without_clones, true},
              {by_line, true}};

#define SEVERAL (UINT32_MAX - 1)

uint32_t tl_compare_add_subject(tl_compare *c, uint32_t of_base, uint32_t of_new)
{
    if (!TL_GROW(c->subject, c->nsubject, 1, c->subject_capacity))
        return TL_NO_SUBJECT;
    c->subject[c->nsubject] = (tl_subject){.function = {of_base, of_new}, .inlined = TL_NO_SUBJECT};
    if (of_base != TL_NO_SUBJECT)
        c->side[0].function[of_base].subject = c->nsubject;
    if (of_new != TL_NO_SUBJECT)
        c->side[1].function[of_new].subject = c->nsubject;
    return c->nsubject++;
}

/* The keys of a side's functions -> the function, or SEVERAL. False without memory. */
static bool collect(tl_compare *c, const tl_side *s, const struct level *l, tl_hash *keys)
{
    bool failed = false;
    for (uint32_t i = 0; i < s->nfunction && !failed; i++) {
        const tl_side_function *f = &s->function[i];
        const char *key = f->subject == TL_NO_SUBJECT || l->among_all ? l->key(c, f, &failed) : NULL;
        const bool again = key && tl_hash_get(keys, (uintptr_t)key) != TL_HASH_NONE;
        failed = failed || (key && !tl_hash_put(keys, (uintptr_t)key, again ? SEVERAL : i));
    }
    return !failed;
}

/* Pairs what has the same key. */
static bool pair(tl_compare *c, const struct level *l)
{
    tl_hash keys[2] = {{0}};
    bool failed = !collect(c, &c->side[0], l, &keys[0]) || !collect(c, &c->side[1], l, &keys[1]);
    for (uint32_t i = 0; i < c->side[0].nfunction && !failed; i++) {
        const tl_side_function *f = &c->side[0].function[i];
        const char *key = f->subject == TL_NO_SUBJECT ? l->key(c, f, &failed) : NULL;
        const uint32_t here = key ? tl_hash_get(&keys[0], (uintptr_t)key) : TL_HASH_NONE;
        const uint32_t there = key ? tl_hash_get(&keys[1], (uintptr_t)key) : TL_HASH_NONE;
        if (here == i && there < c->side[1].nfunction && c->side[1].function[there].subject == TL_NO_SUBJECT)
            failed = tl_compare_add_subject(c, i, there) == TL_NO_SUBJECT;
    }
    tl_hash_fini(&keys[0]);
    tl_hash_fini(&keys[1]);
    return !failed;
}

/* The first function of a side that has this name and no partner. */
static uint32_t find_name(const tl_side *s, const char *name, size_t n)
{
    for (uint32_t i = 0; i < s->nfunction; i++)
        if (s->function[i].subject == TL_NO_SUBJECT && strlen(s->function[i].name) == n &&
            memcmp(s->function[i].name, name, n) == 0)
            return i;
    return TL_NO_SUBJECT;
}

/* Names may have '=' themselves ("operator=="): the first place where both sides are there counts. */
static int map(tl_compare *c, const char *text, tl_error *e)
{
    for (const char *equal = strchr(text, '='); equal; equal = strchr(equal + 1, '=')) {
        const uint32_t old = find_name(&c->side[0], text, (size_t)(equal - text));
        const uint32_t newer = find_name(&c->side[1], equal + 1, strlen(equal + 1));
        if (old == TL_NO_SUBJECT || newer == TL_NO_SUBJECT)
            continue;
        return tl_compare_add_subject(c, old, newer) == TL_NO_SUBJECT
                   ? tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match functions")
                   : 0;
    }
    return tl_fail(e, TL_EINVAL, TL_NO_OFFSET,
                   "map %.100s: expected OLD=NEW, the name of a function in BASE and of one in NEW", text);
}

int tl_compare_match(tl_compare *c, tl_error *e)
{
    int status = 0;
    for (size_t i = 0; i < c->options.nmap && status == 0; i++)
        status = map(c, c->options.map[i], e);
    for (size_t i = 0; i < TL_COUNT(levels) && status == 0; i++)
        if (!pair(c, &levels[i]))
            status = tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match functions");
    return status;
}
