/* The only list of tables, and how one is found in it. */
#include <string.h>

#include "analysis/table_kind.h"

#define TL_TABLE(symbol) extern const tl_table_kind symbol;
#include "tables.def"
#undef TL_TABLE

static const tl_table_kind *const all[] = {
#define TL_TABLE(symbol) &symbol,
#include "tables.def"
#undef TL_TABLE
};

const tl_table_kind *const *tl_table_kinds(size_t *n)
{
    *n = TL_COUNT(all);
    return all;
}

const tl_table_kind *tl_table_find(const char *name)
{
    for (size_t i = 0; i < TL_COUNT(all); i++)
        if (strcmp(all[i]->info.name, name) == 0)
            return all[i];
    return NULL;
}
