/* Scopes: the fields that a location can mean, while a type tree is compiled. */
#include "format/ctf/plan/ctf_scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Fields visited to find lengths and selectors, for all types together: a second or two. Each of thousands
 * of lengths may mean a field in each of thousands of options. */
#define SEARCH_MAX (1u << 26)

void ctf_scopes_init(ctf_scopes *s)
{
    *s = (ctf_scopes){0};
    for (unsigned i = 0; i < CTF_SCOPES; i++)
        s->root[i] = CTF_NO_NODE;
}

void ctf_scopes_fini(ctf_scopes *s)
{
    free(s->node);
    free(s->occurrence);
    ctf_scopes_init(s);
}

uint32_t ctf_scopes_add(ctf_scopes *s, uint32_t parent, const char *name, const char *raw, const ctf_type *type,
                        bool option)
{
    if (!TL_GROW(s->node, s->n, 1, s->capacity)) {
        s->no_memory = true;
        return CTF_NO_NODE;
    }
    const uint32_t index = s->n++;
    s->node[index] = (ctf_node){.name = name,
                                .raw = raw,
                                .type = type,
                                .parent = parent,
                                .first = CTF_NO_NODE,
                                .last = CTF_NO_NODE,
                                .next = CTF_NO_NODE,
                                .occurrence = CTF_NO_NODE,
                                .option = option};
    if (parent != CTF_NO_NODE) {
        ctf_node *p = &s->node[parent];
        if (p->last == CTF_NO_NODE)
            p->first = index;
        else
            s->node[p->last].next = index;
        p->last = index;
    }
    return index;
}

void ctf_scopes_cut(ctf_scopes *s, uint32_t nodes)
{
    s->n = nodes;
}

uint32_t ctf_scopes_number(ctf_scopes *s, uint32_t node, bool conditional, uint32_t *replay)
{
    uint32_t index = replay ? (*replay)++ : s->noccurrence;
    if (!replay) {
        if (!TL_GROW(s->occurrence, s->noccurrence, 1, s->occurrence_capacity)) {
            s->no_memory = true;
            return CTF_NO_NODE;
        }
        s->occurrence[s->noccurrence++] = (ctf_occurrence){.type = node != CTF_NO_NODE ? s->node[node].type : NULL,
                                                           .reg = CTF_NO_REGISTER,
                                                           .conditional = conditional};
    }
    if (node != CTF_NO_NODE)
        s->node[node].occurrence = index;
    return index;
}

bool ctf_same_name(const char *word, const char *name, const char *raw)
{
    if (!name || !raw)
        return name && strcmp(word, name) == 0;
    return strcmp(word, raw) == 0 || strcmp(word, name) == 0 || (*word == '_' && strcmp(word + 1, name) == 0) ||
           (*raw == '_' && strcmp(word, raw + 1) == 0);
}

/* Numbers that a path may mean: one in each option of a variant. */
typedef struct matches {
    uint32_t n;
    const ctf_type *type;  /* of the first */
    uint16_t reg;          /* already assigned to one of them */
    bool several;          /* they have different ones */
    bool closed;           /* an array that has ended was in the way */
    const ctf_type *other; /* something other than a number */
} matches;

/* Runs twice: the first time finds the register, the second time gives it to all matches. */
typedef struct search {
    ctf_scopes *s;
    const ctf_location *l;
    uint16_t give; /* CTF_NO_REGISTER: the first time */
    matches m;
} search;

static void match(search *q, ctf_occurrence *o)
{
    matches *m = &q->m;
    if (m->n++ == 0)
        m->type = o->type;
    if (q->give != CTF_NO_REGISTER) {
        o->reg = q->give;
        o->referenced = true;
    } else if (o->reg != CTF_NO_REGISTER) {
        m->several = m->several || (m->reg != CTF_NO_REGISTER && m->reg != o->reg);
        m->reg = o->reg;
    }
}

static void follow(search *q, uint32_t node, uint32_t word);

/* Searches the members of a node for the word, and those of options and elements without names. An exact name wins over
 * one that only differs by its underscore; of several the last. */
static void among(search *q, uint32_t node, uint32_t word)
{
    ctf_scopes *s = q->s;
    uint32_t found = CTF_NO_NODE;
    bool exact = false;
    for (uint32_t i = s->node[node].first; i != CTF_NO_NODE && s->steps < SEARCH_MAX; i = s->node[i].next) {
        const ctf_node *n = &s->node[i];
        s->steps++;
        if (n->option) {
            if (n->name && word + 1 < q->l->n && ctf_same_name(q->l->path[word], n->name, n->raw))
                follow(q, i, word + 1);
            else
                follow(q, i, word);
        } else if (ctf_same_name(q->l->path[word], n->name, n->raw)) {
            const bool same = strcmp(q->l->path[word], n->raw ? n->raw : n->name) == 0;
            if (found == CTF_NO_NODE || same || !exact)
                found = i;
            exact = exact || same;
        }
    }
    if (found != CTF_NO_NODE)
        follow(q, found, word + 1);
}

/* Follows the words from `word` on, from the node of the previous ones. */
static void follow(search *q, uint32_t node, uint32_t word)
{
    const ctf_node *n = &q->s->node[node];
    if (n->closed) {
        q->m.closed = true;
        return;
    }
    if (word < q->l->n) {
        among(q, node, word);
    } else if (n->occurrence != CTF_NO_NODE) {
        match(q, &q->s->occurrence[n->occurrence]);
    } else if (n->type && (n->type->kind == CTF_VARIANT || n->type->kind == CTF_OPTIONAL)) {
        for (uint32_t i = n->first; i != CTF_NO_NODE && q->s->steps < SEARCH_MAX; i = q->s->node[i].next) {
            q->s->steps++;
            follow(q, i, word);
        }
        if (q->m.n == 0)
            q->m.other = n->type;
    } else {
        q->m.other = n->type;
    }
}

/* The struct that contains a node, or the next one above. */
static uint32_t enclosing_struct(const ctf_scopes *s, uint32_t node)
{
    while (node != CTF_NO_NODE && !(s->node[node].type && s->node[node].type->kind == CTF_STRUCT))
        node = s->node[node].parent;
    return node;
}

static uint32_t struct_above(const ctf_scopes *s, uint32_t node)
{
    return node == CTF_NO_NODE ? node : enclosing_struct(s, s->node[node].parent);
}

static void search_from(search *q, uint32_t here)
{
    const ctf_location *l = q->l;
    ctf_scopes *s = q->s;
    uint32_t start = struct_above(s, here);
    if (l->origin == CTF_FROM_HERE) {
        uint32_t word = 0;
        for (; word < l->n && !l->path[word]; word++)
            start = struct_above(s, start);
        if (start != CTF_NO_NODE && word < l->n)
            follow(q, start, word);
    } else if (l->origin == CTF_FROM_SCOPES) {
        for (; start != CTF_NO_NODE && q->m.n == 0 && !q->m.closed && !q->m.other; start = struct_above(s, start))
            follow(q, start, 0);
        for (unsigned i = CTF_SCOPES; i-- > 0 && q->m.n == 0 && !q->m.closed && !q->m.other;)
            if (s->root[i] != CTF_NO_NODE)
                follow(q, s->root[i], 0);
    } else if (s->root[l->origin] != CTF_NO_NODE) {
        follow(q, s->root[l->origin], 0);
    }
}

static const char *path_text(const ctf_location *l, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < l->n && at + 4 < size; i++) {
        const char *word = l->path[i] ? l->path[i] : "(up)";
        size_t n = strlen(word);
        if (i > 0)
            text[at++] = '.';
        if (n > size - at - 1)
            n = size - at - 1;
        memcpy(text + at, word, n);
        at += n;
        text[at] = 0;
    }
    return text;
}

static int too_many_steps(const ctf_location *l, tl_error *e)
{
    return tl_fail(e, TL_EUNSUPPORTED, l->position, "types that are too intricate: more than %u steps to lengths",
                   SEARCH_MAX);
}

static int not_found(const search *q, tl_error *e)
{
    static const char *const kinds[] = {"an integer",    "a boolean", "a bit map", "an integer",
                                        "a real number", "a string",  "a text",    "a blob",
                                        "a struct",      "an array",  "a variant", "an optional"};
    char path[100];
    path_text(q->l, path, sizeof path);
    if (q->m.closed)
        return tl_fail(e, TL_EDAMAGED, q->l->position,
                       "\"%s\" lies in an array that has ended; expected a field that can be reached", path);
    if (q->m.other)
        return tl_fail(e, TL_EDAMAGED, q->l->position, "\"%s\" is %s; a length or selector must be an integer", path,
                       kinds[q->m.other->kind]);
    return tl_fail(e, TL_EDAMAGED, q->l->position, "there is no field \"%s\" before the one that refers to it", path);
}

int ctf_scopes_find(ctf_scopes *s, const ctf_location *l, uint32_t here, uint16_t *reg, const ctf_type **type,
                    tl_error *e)
{
    search q = {.s = s, .l = l, .give = CTF_NO_REGISTER, .m.reg = CTF_NO_REGISTER};
    search_from(&q, here);
    if (s->steps >= SEARCH_MAX)
        return too_many_steps(l, e);
    if (q.m.n == 0)
        return not_found(&q, e);
    if (q.m.several)
        return tl_fail(e, TL_EUNSUPPORTED, l->position, "a location that means fields of several variants");
    uint16_t chosen = q.m.reg;
    if (chosen == CTF_NO_REGISTER) {
        if (s->registers == CTF_NO_REGISTER)
            return tl_fail(e, TL_EUNSUPPORTED, l->position, "more than %u lengths and selectors", CTF_NO_REGISTER);
        chosen = (uint16_t)s->registers++;
    }
    search all = {.s = s, .l = l, .give = chosen, .m.reg = CTF_NO_REGISTER};
    search_from(&all, here);
    if (s->steps >= SEARCH_MAX)
        return too_many_steps(l, e);
    *reg = chosen;
    *type = q.m.type;
    return 0;
}
