/* Labels of integers as ready-made text. */
#include "model/enum_text.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/enum_ranges.h"

struct tl_enum_text {
    const tl_mapping *mapping;
    uint32_t n;
    bool is_flags;
    uint64_t bias;   /* makes signed values sort as unsigned ones */
    uint32_t *group; /* of each mapping: index of the first one with the same label */
    uint32_t *seen;  /* of each group: the last text with it */
    uint32_t *first; /* of each group in that text: the first mapping that matched */
    uint32_t *found; /* [nfound] groups in that text */
    uint32_t nfound, round;
    tl_enum_ranges ranges; /* of values, or of bits */
    uint64_t *start;       /* begins of the pieces of the number line, biased; the first is 0 */
    tl_label *text;        /* of each piece; for flags only [0], for last_value */
    uint32_t nstart;
    uint64_t last_value;
};

void tl_enum_texts_init(tl_enum_texts *t, tl_enum_make *make, void *arg)
{
    t->make = make;
    t->arg = arg;
}

void tl_enum_texts_fini(tl_enum_texts *t)
{
    tl_arena_fini(&t->arena);
    tl_arena_fini(&t->text);
    tl_hash_fini(&t->known);
    tl_pb_fini(&t->scratch);
    free(t->all);
    free(t->match);
    *t = (tl_enum_texts){0};
}

bool tl_enum_has_labels(const tl_field *f)
{
    return f->nmapping > 0 && f->mapping[0].label && (f->type == TL_U64 || f->type == TL_I64 || f->type == TL_HEX);
}

/* A label and its index, to find equal ones by sorting. */
typedef struct place {
    const char *label;
    uint32_t index;
} place;

static const char *label_of(const tl_mapping *m)
{
    return m->label ? m->label : "";
}

static int compare_places(const void *a_, const void *b_)
{
    const place *a = a_, *b = b_;
    int order = strcmp(a->label, b->label);
    return order != 0 ? order : TL_COMPARE(a->index, b->index);
}

static bool find_groups(tl_enum_text *e)
{
    place *p = tl_alloc(e->n, sizeof *p);
    if (!p)
        return false;
    for (uint32_t i = 0; i < e->n; i++)
        p[i] = (place){label_of(&e->mapping[i]), i};
    qsort(p, e->n, sizeof *p, compare_places);
    for (uint32_t i = 0, first = 0; i < e->n; i++) {
        if (strcmp(p[i].label, p[first].label) != 0)
            first = i;
        e->group[p[i].index] = p[first].index;
    }
    free(p);
    return true;
}

/* Cuts the number line: a piece begins at 0, where a range begins, and after one ends. */
static void cut(tl_enum_text *e)
{
    uint32_t n = 0;
    e->start[n++] = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        const uint64_t low = e->mapping[i].low ^ e->bias, high = e->mapping[i].high ^ e->bias;
        if (low > high)
            continue;
        e->start[n++] = low;
        if (high < UINT64_MAX)
            e->start[n++] = high + 1;
    }
    qsort(e->start, n, sizeof *e->start, tl_compare_u64);
    e->nstart = 1;
    for (uint32_t i = 1; i < n; i++)
        if (e->start[i] != e->start[e->nstart - 1])
            e->start[e->nstart++] = e->start[i];
}

static tl_enum_text *make_table(tl_enum_texts *t, const tl_field *f)
{
    const uint32_t n = f->nmapping;
    tl_arena *a = &t->arena;
    tl_enum_text *e = tl_arena_zalloc(a, sizeof *e);
    if (!e || n > UINT32_MAX / 4)
        return NULL;
    e->mapping = f->mapping;
    e->n = n;
    e->is_flags = f->flags & TL_FIELD_FLAGS;
    e->bias = f->type == TL_I64 && !e->is_flags ? (uint64_t)1 << 63 : 0;
    const size_t pieces = e->is_flags ? 1 : 2 * (size_t)n + 1;
    e->group = tl_arena_alloc(a, n * sizeof *e->group);
    e->seen = tl_arena_zalloc(a, n * sizeof *e->seen);
    e->first = tl_arena_alloc(a, n * sizeof *e->first);
    e->found = tl_arena_alloc(a, n * sizeof *e->found);
    e->start = tl_arena_alloc(a, pieces * sizeof *e->start);
    e->text = tl_arena_zalloc(a, pieces * sizeof *e->text);
    if (!e->group || !e->seen || !e->first || !e->found || !e->start || !e->text || !find_groups(e) ||
        !tl_enum_ranges_make(&e->ranges, a, e->mapping, e->group, n, e->bias, e->is_flags ? 63 : UINT64_MAX))
        return NULL;
    if (!e->is_flags)
        cut(e);
    return e;
}

tl_enum_text *tl_enum_texts_get(tl_enum_texts *t, const tl_field *f)
{
    const uint64_t key = (uintptr_t)f->mapping;
    const uint32_t known = tl_hash_get(&t->known, key);
    const bool is_flags = f->flags & TL_FIELD_FLAGS;
    if (known != TL_HASH_NONE) {
        tl_enum_text *e = t->all[known];
        if (e->n == f->nmapping && e->is_flags == is_flags && (is_flags || (e->bias != 0) == (f->type == TL_I64)))
            return e;
    }
    if (!TL_GROW(t->all, t->n, 1, t->capacity) || !TL_GROW(t->match, 0, f->nmapping, t->most))
        return NULL;
    tl_enum_text *e = make_table(t, f);
    if (!e || !tl_hash_put(&t->known, key, t->n))
        return NULL;
    return t->all[t->n++] = e;
}

static void found(void *arg, uint32_t mapping)
{
    tl_enum_text *e = arg;
    const uint32_t group = e->group[mapping];
    if (e->seen[group] != e->round) {
        e->seen[group] = e->round;
        e->first[group] = mapping;
        e->found[e->nfound++] = group;
    } else if (mapping < e->first[group]) {
        e->first[group] = mapping;
    }
}

/* The mappings with the labels of a value, each label once: found[0 .. nfound-1], in order. */
static void match(tl_enum_text *e, uint64_t value)
{
    e->nfound = 0;
    e->round++;
    if (e->round == 0) { /* wrapped around: very old marks would count again */
        memset(e->seen, 0, e->n * sizeof *e->seen);
        e->round = 1;
    }
    if (!e->is_flags)
        tl_enum_ranges_find(&e->ranges, value ^ e->bias, found, e);
    for (uint32_t bit = 0; e->is_flags && bit < 64; bit++)
        if (value >> bit & 1)
            tl_enum_ranges_find(&e->ranges, bit, found, e);
    for (uint32_t i = 0; i < e->nfound; i++)
        e->found[i] = e->first[e->found[i]];
    qsort(e->found, e->nfound, sizeof *e->found, tl_compare_u32);
}

/* Makes the text of a value and stores it in *slot. */
static TL_COLD tl_label make_label(tl_enum_texts *t, tl_enum_text *e, tl_label *slot, uint64_t value)
{
    match(e, value);
    const uint32_t n = e->nfound;
    for (uint32_t i = 0; i < n; i++)
        t->match[i] = label_of(&e->mapping[e->found[i]]);
    tl_pb_clear(&t->scratch);
    t->make(t->arg, t->match, n, &t->scratch);
    if (t->text.total > TL_ENUM_BYTES_MAX) {
        tl_arena_fini(&t->text);
        for (uint32_t i = 0; i < t->n; i++)
            memset(t->all[i]->text, 0, (t->all[i]->is_flags ? 1 : t->all[i]->nstart) * sizeof(tl_label));
    }
    char *copy = t->scratch.failed ? NULL : tl_arena_alloc(&t->text, t->scratch.n + 1);
    if (!copy)
        return (tl_label){0};
    if (t->scratch.n > 0)
        memcpy(copy, t->scratch.data, t->scratch.n);
    return *slot = (tl_label){copy, t->scratch.n};
}

tl_label tl_enum_label(tl_enum_texts *t, tl_enum_text *e, uint64_t value)
{
    tl_label *slot = e->text;
    if (e->is_flags) {
        if (!slot->p || e->last_value != value) {
            e->last_value = value;
            slot->p = NULL;
        }
    } else {
        uint32_t low = 0, high = e->nstart; /* start[low] <= v, and start[high] > v or past the end */
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (e->start[middle] <= (value ^ e->bias))
                low = middle;
            else
                high = middle;
        }
        slot += low;
    }
    return TL_LIKELY(slot->p != NULL) ? *slot : make_label(t, e, slot, value);
}
