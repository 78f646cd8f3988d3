/* Locates the lengths and tags of TSDL: a name is that of an earlier field in the innermost struct that has one, or of
 * an earlier scope; further names lead into it. Names are tried as written, then with one leading '_' more or less. The
 * result has the names as declared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/ctf/metadata/tsdl_parser.h"

int tsdl_step(tsdl_parser *p, uint64_t position)
{
    if (p->steps == TSDL_STEPS_MAX)
        return tsdl_fail(&p->l, position, "types that are too intricate: more than %u steps", TSDL_STEPS_MAX);
    p->steps++;
    return 0;
}

static uint64_t key(uint32_t id, const tsdl_name *name)
{
    return (uint64_t)id << 32 | name->id;
}

/* Puts the names of all members into the index, under both spellings. */
static int make_index(tsdl_parser *p, tsdl_type *t)
{
    t->shown = p->types++;
    for (uint32_t i = 0; i < t->t.nmember; i++) {
        tsdl_name *stripped;
        TSDL_TRY(tsdl_strip(&p->l, t->name[i], &stripped));
        if (!tl_hash_put(&p->index, key(t->id, t->name[i]), i) ||
            (stripped != t->name[i] && !tl_hash_put(&p->index, key(t->shown, stripped), i)))
            return tsdl_no_memory(&p->l);
    }
    t->indexed = true;
    return 0;
}

/* The member of a struct or variant with a name, in either spelling; TL_HASH_NONE. */
static int member_index(tsdl_parser *p, tsdl_type *t, tsdl_name *name, uint32_t *out)
{
    tsdl_name *stripped;
    TSDL_TRY(tsdl_strip(&p->l, name, &stripped));
    if (!t->indexed)
        TSDL_TRY(make_index(p, t));
    *out = tl_hash_get(&p->index, key(t->id, name));
    if (*out == TL_HASH_NONE)
        *out = tl_hash_get(&p->index, key(t->id, stripped));
    if (*out == TL_HASH_NONE)
        *out = tl_hash_get(&p->index, key(t->shown, name));
    return 0;
}

typedef struct search {
    tsdl_parser *p;
    const tsdl_path *path;
    bool tag;                        /* wants a tag, not a length */
    const char *name[TSDL_PATH_MAX]; /* as declared; NULL: an option, which is not a step in a location */
    tsdl_type *found;
} search;

/* The path, for messages. */
static const char *spell(const tsdl_path *path, char text[80])
{
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < path->n && n < 79; i++)
        n += (size_t)snprintf(text + n, 80 - n, "%s%s", i > 0 ? "." : "", path->name[i]->text);
    return text;
}

static bool same_labels(const tsdl_type *a, const tsdl_type *b)
{
    if (a->t.mapping == b->t.mapping)
        return true;
    if (a->t.nmapping != b->t.nmapping || a->t.is_signed != b->t.is_signed)
        return false;
    for (uint32_t i = 0; i < a->t.nmapping; i++)
        if (a->name[i] != b->name[i] || a->t.mapping[i].low != b->t.mapping[i].low ||
            a->t.mapping[i].high != b->t.mapping[i].high)
            return false;
    return true;
}

/* Handles the end of the path. */
static int arrive(search *s, tsdl_type *t)
{
    char text[80];
    tsdl_lexer *l = &s->p->l;
    uint64_t position = s->path->position;
    bool integer = t->t.kind == CTF_INT;
    if (s->tag && (!integer || !t->is_enum))
        return tsdl_fail(l, position, "the tag '%s' of a variant is not an enumeration", spell(s->path, text));
    if (!s->tag && (!integer || t->t.is_signed))
        return tsdl_fail(l, position, "the length '%s' is not an unsigned integer", spell(s->path, text));
    if (!s->found)
        s->found = t;
    if (!s->tag || s->found == t)
        return 1;
    for (uint32_t i = 0; i < t->t.nmapping; i++)
        TSDL_TRY(tsdl_step(s->p, position));
    if (!same_labels(s->found, t))
        return tsdl_fail(l, position, "the tag '%s' of a variant is one of several enumerations that differ",
                         spell(s->path, text));
    return 1;
}

/* Follows the path from its name number i on: 1; 0: it leads nowhere. In a variant it may name an option; otherwise it
 * continues in all with the name. */
static int descend(search *s, tsdl_type *t, uint32_t i)
{
    uint32_t index;
    int found = 0;
    TSDL_TRY(tsdl_step(s->p, s->path->position));
    while (t->t.kind == CTF_ARRAY && i < s->path->n)
        t = tsdl_type_of(t->t.member[0].type);
    if (i == s->path->n)
        return arrive(s, t);
    if (t->t.kind != CTF_STRUCT && t->t.kind != CTF_VARIANT)
        return 0;
    TSDL_TRY(member_index(s->p, t, s->path->name[i], &index));
    if (index != TL_HASH_NONE) {
        found = descend(s, tsdl_type_of(t->t.member[index].type), i + 1);
        if (found > 0 && t->t.kind == CTF_STRUCT)
            s->name[i] = t->t.member[index].raw;
    }
    if (found != 0 || t->t.kind == CTF_STRUCT)
        return found;
    for (uint32_t option = 0; option < t->t.nmember; option++) {
        int rc = descend(s, tsdl_type_of(t->t.member[option].type), i);
        if (rc < 0)
            return rc;
        found |= rc;
    }
    return found;
}

static int not_found(search *s, const char *why)
{
    char text[80];
    return tsdl_fail(&s->p->l, s->path->position, "'%s' is %s", spell(s->path, text), why);
}

/* The frame where the path begins, and the index of its first member there. */
typedef struct start {
    uint32_t frame, member;
    uint32_t up; /* 0: found by a search through the scopes; otherwise 1 + number of structs to go up */
} start;

/* A type declared where its tag or length was visible refers to that one, even when used inside a struct with another
 * field of that name. */
static int see_declaration(search *s, start *at)
{
    const tsdl_parser *p = s->p;
    if (s->path->scope == TSDL_NONE || p->frame[at->frame].type->scope == s->path->scope)
        return 0;
    for (uint32_t f = p->nframe; f-- > p->base;)
        if (p->frame[f].type->scope == s->path->scope) {
            uint32_t member;
            TSDL_TRY(member_index(s->p, p->frame[f].type, s->path->name[0], &member));
            if (member != TL_HASH_NONE)
                *at = (start){.frame = f, .member = member, .up = p->nframe - f};
            return 0;
        }
    return 0;
}

static int find_start(search *s, start *at)
{
    tsdl_parser *p = s->p;
    const tsdl_path *path = s->path;
    if (path->origin == CTF_FROM_SCOPES) {
        const tsdl_symbol *symbol;
        TSDL_TRY(tsdl_find_field(p, path->name[0], &symbol));
        if (!symbol)
            return not_found(s, "not a field that stands before this one");
        *at = (start){.frame = symbol->scope, .member = symbol->index};
        return see_declaration(s, at);
    }
    for (uint32_t f = p->nframe; f-- > 0;)
        if (p->frame[f].root && p->frame[f].origin == path->origin) {
            *at = (start){.frame = f};
            TSDL_TRY(member_index(p, p->frame[f].type, path->name[0], &at->member));
            return at->member != TL_HASH_NONE ? 0 : not_found(s, "not a field of its scope");
        }
    return not_found(s, "not a field of a scope that stands before this one");
}

/* The location that was found. */
static int make_location(search *s, const tsdl_type *t, const start *at, const ctf_location **out)
{
    const tsdl_path *path = s->path;
    uint32_t up = at->up > 0 ? at->up - 1 : 0, n = 0;
    bool same = at->up == 0;
    for (uint32_t i = 0; i < path->n; i++) {
        n += s->name[i] != NULL;
        same = same && s->name[i] == path->name[i]->text;
    }
    *out = t->t.location;
    if (same)
        return 0;
    ctf_location *location = tl_arena_zalloc(&s->p->s->arena, sizeof *location);
    const char **name = tl_arena_zalloc(&s->p->s->arena, (up + n) * sizeof *name);
    if (!location || !name)
        return tsdl_no_memory(&s->p->l);
    location->origin = at->up > 0 ? CTF_FROM_HERE : (ctf_origin)path->origin;
    location->n = up + n;
    location->path = name;
    location->position = path->position;
    for (uint32_t i = 0, k = up; i < path->n; i++)
        if (s->name[i])
            name[k++] = s->name[i];
    *out = location;
    return 0;
}

/* The values of each label, and the labels by name: those with one name together, so that options share them. */
static int make_labels(tsdl_parser *p, tsdl_type *t, uint32_t *group)
{
    uint32_t n = t->t.nmapping, ngroup = 0;
    tsdl_labels *labels = tl_arena_zalloc(&p->s->arena, sizeof *labels);
    ctf_range *range = tl_arena_alloc(&p->s->arena, n * sizeof *range);
    struct tsdl_label *label = tl_arena_zalloc(&p->s->arena, n * sizeof *label);
    if (!labels || !range || !label)
        return tsdl_no_memory(&p->l);
    *labels = (tsdl_labels){.exact = p->types++, .stripped = p->types++, .label = label};
    for (uint32_t i = 0; i < n; i++) {
        group[i] = tl_hash_get(&p->index, key(labels->exact, t->name[i]));
        if (group[i] == TL_HASH_NONE)
            group[i] = ngroup++;
        label[group[i]].name = t->name[i];
        label[group[i]].n++;
        if (!tl_hash_put(&p->index, key(labels->exact, t->name[i]), group[i]))
            return tsdl_no_memory(&p->l);
    }
    for (uint32_t g = 0; g < ngroup; g++) {
        tsdl_name *stripped;
        label[g].range = range;
        range += label[g].n;
        label[g].n = 0;
        TSDL_TRY(tsdl_strip(&p->l, label[g].name, &stripped));
        if (stripped != label[g].name && !tl_hash_put(&p->index, key(labels->stripped, stripped), g))
            return tsdl_no_memory(&p->l);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct tsdl_label *l = &label[group[i]];
        l->range[l->n++] = (ctf_range){.low = t->t.mapping[i].low, .high = t->t.mapping[i].high};
    }
    t->labels = labels;
    return 0;
}

static int find_labels(tsdl_parser *p, tsdl_type *t, tsdl_labels **out)
{
    int rc = 0;
    if (!t->labels) {
        uint32_t *group = tl_alloc(t->t.nmapping + 1, sizeof *group);
        rc = group ? make_labels(p, t, group) : tsdl_no_memory(&p->l);
        free(group);
    }
    *out = t->labels;
    return rc;
}

int tsdl_locate(tsdl_parser *p, const tsdl_type *t, const ctf_location **out, tsdl_labels **labels)
{
    search s = {.p = p, .path = t->path, .tag = labels != NULL};
    start at = {0};
    TSDL_TRY(find_start(&s, &at));
    const ctf_member *first = &p->frame[at.frame].type->t.member[at.member];
    int rc = descend(&s, tsdl_type_of(first->type), 1);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return not_found(&s, "not a field");
    s.name[0] = first->raw;
    TSDL_TRY(make_location(&s, t, &at, out));
    return labels ? find_labels(p, s.found, labels) : 0;
}

/* Another spelling of a label counts only if that is not another option's label. */
static const struct tsdl_label *other_label(const tsdl_parser *p, const tsdl_type *variant, const tsdl_labels *labels,
                                            uint32_t id, const tsdl_name *name)
{
    uint32_t g = tl_hash_get(&p->index, key(id, name));
    if (g == TL_HASH_NONE || tl_hash_get(&p->index, key(variant->id, labels->label[g].name)) != TL_HASH_NONE)
        return NULL;
    return &labels->label[g];
}

int tsdl_option_ranges(tsdl_parser *p, tsdl_type *variant, const tsdl_labels *labels, uint32_t option, ctf_member *m)
{
    tsdl_name *name = variant->name[option], *stripped;
    TSDL_TRY(tsdl_strip(&p->l, name, &stripped));
    if (!variant->indexed)
        TSDL_TRY(make_index(p, variant));
    uint32_t g = tl_hash_get(&p->index, key(labels->exact, name));
    const struct tsdl_label *label = g == TL_HASH_NONE ? NULL : &labels->label[g];
    if (!label)
        label = other_label(p, variant, labels, labels->exact, stripped);
    if (!label)
        label = other_label(p, variant, labels, labels->stripped, name);
    m->range = label ? label->range : NULL;
    m->nrange = label ? label->n : 0;
    return 0;
}
