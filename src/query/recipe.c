/* Recipes: SQL that ships with the library. The first line of a recipe says what it answers, the lines of comments
 * after it name its parameters: "-- :top 20 how many", without a value if there is no default. */
#include <string.h>

#include "query/recipe_text.h"
#include "traceloom/query.h"

uint32_t tl_recipes(void)
{
    uint32_t n = 0;
    while (tl_recipe_texts[n].name)
        n++;
    return n;
}

const char *tl_recipe_name(uint32_t i)
{
    return i < tl_recipes() ? tl_recipe_texts[i].name : NULL;
}

static const tl_recipe_text *find(const char *name)
{
    for (const tl_recipe_text *r = tl_recipe_texts; r->name; r++)
        if (strcmp(r->name, name) == 0)
            return r;
    return NULL;
}

const char *tl_recipe_sql(const char *name)
{
    const tl_recipe_text *r = find(name);
    return r ? r->sql : NULL;
}

const char *tl_recipe_server(const char *name)
{
    const tl_recipe_text *r = find(name);
    return r ? r->server : NULL;
}
