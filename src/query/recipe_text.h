/* The texts of recipes, made of src/query/recipes/NAME.sql by the build. */
#ifndef TL_QUERY_RECIPE_TEXT_H
#define TL_QUERY_RECIPE_TEXT_H

#include <stddef.h>

typedef struct tl_recipe_text {
    const char *name, *sql;
    const char *server; /* "-- ClickHouse" and what follows it; "": nothing */
} tl_recipe_text;

extern const tl_recipe_text tl_recipe_texts[]; /* ends with a NULL name */

/* That of a recipe; NULL: there is none of that name. Not of the library's interface. */
const char *tl_recipe_server(const char *name);

#endif
