/* Merges equal event classes of several metadata files into one class of the model. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/same_text.h"
#include "format/ctf/plan/ctf_plan_impl.h"
#include "format/ctf/read/ctf_same.h"

/* Limits recursion: fields come from types of at most CTF_DEPTH_MAX levels. */
static bool same_fields(const tl_field *a, const tl_field *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!tl_same_text(a[i].name, b[i].name) || a[i].type != b[i].type || a[i].nmember != b[i].nmember ||
            a[i].bits != b[i].bits || a[i].base != b[i].base || a[i].context != b[i].context ||
            a[i].flags != b[i].flags || a[i].length != b[i].length || a[i].governor != b[i].governor ||
            a[i].nmapping != b[i].nmapping)
            return false;
        for (uint32_t k = 0; k < a[i].nmapping; k++)
            if (!tl_same_text(a[i].mapping[k].label, b[i].mapping[k].label) ||
                a[i].mapping[k].low != b[i].mapping[k].low || a[i].mapping[k].high != b[i].mapping[k].high)
                return false;
        if (!same_fields(a[i].member, b[i].member, a[i].nmember))
            return false;
    }
    return true;
}

static bool same_class(const tl_class *a, const tl_class *b)
{
    return a->kind == b->kind && a->key == b->key && strcmp(a->name, b->name) == 0 && a->nfield == b->nfield &&
           a->ncontext == b->ncontext && tl_same_text(a->level, b->level) && a->level_value == b->level_value &&
           a->flags == b->flags && a->scopes == b->scopes && same_fields(a->field, b->field, a->nfield);
}

/* A number that classes with the same name and fields share. */
static uint64_t class_key(const tl_class *c)
{
    tl_hasher h = tl_hasher_begin();
    tl_hasher_text(&h, c->name);
    tl_hasher_add(&h, c->ncontext);
    for (uint32_t i = 0; i < c->nfield; i++) {
        tl_hasher_text(&h, c->field[i].name);
        tl_hasher_add(&h, c->field[i].bits);
    }
    return tl_hasher_end(h);
}

/* The number of an equal earlier class, or TL_HASH_NONE. Of several with one key only the latest is compared: more is
 * not worth the time. */
static uint32_t find_same(const ctf_class_list *l, const tl_class *c, const tl_hash *known)
{
    const uint32_t i = tl_hash_get(known, class_key(c));
    return i != TL_HASH_NONE && same_class(&l->cls[i], c) ? i : TL_HASH_NONE;
}

static void renumber(ctf_plans *plans, uint32_t first, const uint32_t *number)
{
    for (unsigned set = 0; set < 2; set++)
        for (uint32_t i = 0; plans->set[set].stream && i < plans->schema->nstream; i++) {
            ctf_stream_plan *s = &plans->set[set].stream[i];
            for (uint32_t k = 0; k < s->nevent; k++)
                if (s->event[k].cls >= first)
                    s->event[k].cls = number[s->event[k].cls - first];
            ctf_quick *quick = (ctf_quick *)(uintptr_t)s->quick; /* not const: it is in the arena of the plans */
            for (uint32_t k = 0; quick && k < s->ndense; k++)
                if (s->dense[k] != CTF_NO_NODE)
                    quick[k].cls = s->event[s->dense[k]].cls;
        }
}

int ctf_same_classes(ctf_class_list *l, uint32_t first, ctf_plans *plans, tl_hash *known, tl_error *e)
{
    uint32_t *number = tl_alloc(l->n - first + 1, sizeof *number);
    bool ok = number != NULL;
    uint32_t n = first;
    for (uint32_t i = first; ok && i < l->n; i++) {
        const uint32_t same = find_same(l, &l->cls[i], known);
        number[i - first] = same == TL_HASH_NONE ? n : same;
        if (same != TL_HASH_NONE)
            continue;
        l->cls[n] = l->cls[i];
        l->cls[n].id = n;
        ok = tl_hash_put(known, class_key(&l->cls[n]), n);
        n++;
    }
    if (ok) {
        renumber(plans, first, number);
        l->n = n;
    }
    free(number);
    return ok ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the event classes");
}
