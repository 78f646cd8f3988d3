/* A table of names by number. */
#include "analysis/runtime/latest_names.h"

#include <stdlib.h>

#include "base/grow.h"

const char *tl_value_text(const tl_value *v, tl_strings *strings, bool *failed)
{
    if (!v || v->type != TL_STRING)
        return NULL;
    const char *copy = tl_strings_get_text(strings, v->n ? v->as.p : "", v->n);
    *failed = *failed || !copy;
    return copy;
}

int tl_names_set(tl_names *t, tl_strings *strings, const tl_value *number, const tl_value *name, tl_error *e)
{
    bool failed = false;
    if (!tl_value_is_number(number) || !name || name->type != TL_STRING)
        return 0;
    uint32_t i = tl_hash_get(&t->index, number->as.u);
    if (i == TL_HASH_NONE) {
        if (!TL_GROW(t->name, t->n, 1, t->capacity) || !tl_hash_put(&t->index, number->as.u, t->n))
            return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for names");
        i = t->n++;
        t->name[i] = NULL;
    }
    const char *copy = tl_value_text(name, strings, &failed);
    if (failed)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for names");
    t->name[i] = copy;
    return 0;
}

const char *tl_names_get(const tl_names *t, uint64_t number)
{
    const uint32_t i = tl_hash_get(&t->index, number);
    return i == TL_HASH_NONE ? NULL : t->name[i];
}

void tl_names_fini(tl_names *t)
{
    free(t->name);
    tl_hash_fini(&t->index);
    *t = (tl_names){0};
}
