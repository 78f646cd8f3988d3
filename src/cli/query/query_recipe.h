/* Recipes of the command: those that ship, and the user's own, NAME.sql in a folder. */
#ifndef TL_CLI_QUERY_RECIPE_H
#define TL_CLI_QUERY_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

/* The SQL of a recipe by name: of the folder in $TRACELOOM_RECIPES, of traceloom/recipes in the user's configuration,
 * or one that ships. Also the path of a file that ends in .sql. Returns a tl_exit, after a message; *sql is the
 * caller's. */
int tl_recipe_read(const char *name, char **sql);
/* The same, as a server of ClickHouse takes it: what follows the line "-- ClickHouse" if there is one, behind the
 * comments at the top. Behind "-- ClickHouse: " is the reason why it does not run there. */
int tl_recipe_read_for_server(const char *name, char **sql);
/* The default of a parameter in a recipe's comments, `size` bytes at most; "" if it has none. False: the recipe has no
 * such parameter. */
bool tl_recipe_default(const char *sql, const char *name, char *value, size_t size);
/* Whether its SQL has the parameter :name. */
bool tl_recipe_uses(const char *sql, const char *name);
/* Prints all recipes that ship, with what they answer and their parameters. */
void tl_recipe_list(void);

#endif
