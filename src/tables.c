/* The only list of tables, and lookup in it. */
#include <string.h>

#include "analysis/table_kind.h"

static const tl_table_kind *const all[] = {
#define TL_TABLE(word)           &tl_table_##word,
#define TL_TABLE_OF_SOME(symbol) TL_TABLE(symbol)
#include "tables.def"
};

const tl_table_kind *const *tl_table_kinds(size_t *n)
{
    *n = TL_COUNT(all);
    return all;
}

const tl_table_kind *tl_table_find(const char *name, const tl_trace *trace)
{
    const tl_table_kind *found = NULL;
    for (size_t i = 0; i < TL_COUNT(all); i++) {
        if (strcmp(all[i]->info.name, name) != 0)
            continue;
        if (all[i]->only_of && trace && all[i]->only_of(trace))
            return all[i];
        if (!all[i]->only_of)
            found = all[i];
    }
    return found;
}

const tl_table_kind *tl_table_without_profile(const tl_trace *t)
{
    bool any = tl_trace_classes(t) == 0;
    for (uint32_t i = 0; !any && i < tl_trace_classes(t); i++) {
        const tl_class *c = tl_trace_class(t, i);
        any = c->kind == TL_SAMPLE || c->kind == TL_INSN || c->key == TL_KEY_FUNCTION;
    }
    return any ? NULL : &tl_table_class;
}
