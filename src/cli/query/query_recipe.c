/* Recipes of the command. */
#include "cli/query/query_recipe.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"
#include "cli/nearest.h"
#include "query/recipe_text.h"
#include "traceloom/query.h"

#define SQL_MOST   (1u << 20)
#define PATH_ROOM  4096u
#define FOR_SERVER "-- ClickHouse"

static int no_memory(void)
{
    tl_say_error(NULL, "no memory for the SQL");
    return TL_EXIT_DAMAGED;
}

static int read_file(const char *path, char **sql)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return errno == ENOENT ? TL_EXIT_NO : TL_EXIT_USAGE;
    char *text = malloc(SQL_MOST + 1);
    const size_t n = text ? fread(text, 1, SQL_MOST, f) : 0;
    const bool whole = text && feof(f) && !memchr(text, '\0', n);
    fclose(f);
    if (!whole) {
        free(text);
        errno = EFBIG;
        return TL_EXIT_USAGE;
    }
    text[n] = '\0';
    *sql = text;
    return TL_EXIT_DONE;
}

/* A recipe of the user; TL_EXIT_NO: there is none. */
static int read_own(const char *name, char **sql)
{
    const char *folder = getenv("TRACELOOM_RECIPES"), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char path[PATH_ROOM];
    int n = -1, status = TL_EXIT_NO;
    if (strchr(name, '/'))
        return TL_EXIT_NO;
    if (folder && *folder)
        n = snprintf(path, sizeof path, "%s/%s.sql", folder, name);
    if (n > 0 && (size_t)n < sizeof path)
        status = read_file(path, sql);
    if (status != TL_EXIT_NO)
        return status;
    n = config && *config ? snprintf(path, sizeof path, "%s/traceloom/recipes/%s.sql", config, name)
        : home && *home   ? snprintf(path, sizeof path, "%s/.config/traceloom/recipes/%s.sql", home, name)
                          : -1;
    return n > 0 && (size_t)n < sizeof path ? read_file(path, sql) : TL_EXIT_NO;
}

static int say_unknown(const char *name)
{
    const char *candidate[64];
    size_t n = 0;
    for (uint32_t i = 0; i < tl_recipes() && n < TL_COUNT(candidate); i++)
        candidate[n++] = tl_recipe_name(i);
    const char *nearest = tl_nearest(name, candidate, n);
    if (nearest)
        tl_say_error(NULL, "--recipe %s: there is no such recipe; did you mean %s?", name, nearest);
    else
        tl_say_error(NULL, "--recipe %s: there is no such recipe; --recipes lists them", name);
    return TL_EXIT_USAGE;
}

/* A recipe with all that its file has. */
static int read_whole(const char *name, char **sql)
{
    const size_t n = strlen(name);
    const bool is_path = n > 4 && strcmp(name + n - 4, ".sql") == 0;
    int status = is_path ? read_file(name, sql) : read_own(name, sql);
    if (status == TL_EXIT_USAGE || (is_path && status == TL_EXIT_NO)) {
        tl_say_error(name, "%s", strerror(errno));
        return TL_EXIT_USAGE;
    }
    if (status == TL_EXIT_DONE)
        return status;
    const char *text = tl_recipe_sql(name);
    if (!text)
        return say_unknown(name);
    const char *server = tl_recipe_server(name);
    const size_t size = strlen(text) + strlen(server) + 1;
    *sql = malloc(size);
    if (*sql)
        snprintf(*sql, size, "%s%s", text, server);
    return *sql ? TL_EXIT_DONE : no_memory();
}

static char *find_server(char *sql)
{
    char *line = strstr(sql, "\n" FOR_SERVER);
    return line ? line + 1 : NULL;
}

int tl_recipe_read(const char *name, char **sql)
{
    const int status = read_whole(name, sql);
    char *server = status == TL_EXIT_DONE ? find_server(*sql) : NULL;
    if (server)
        *server = '\0';
    return status;
}

int tl_recipe_read_for_server(const char *name, char **sql)
{
    const int status = read_whole(name, sql);
    char *server = status == TL_EXIT_DONE ? find_server(*sql) : NULL;
    if (!server)
        return status;
    if (strncmp(server, FOR_SERVER ": ", strlen(FOR_SERVER) + 2) == 0) {
        char *why = server + strlen(FOR_SERVER) + 2;
        why[strcspn(why, "\n")] = '\0';
        tl_say_error(NULL, "recipe %s does not run on a server: %s", name, why);
        return TL_EXIT_USAGE;
    }
    char *comments = *sql;
    while (strncmp(comments, "--", 2) == 0 && comments < server)
        comments += strcspn(comments, "\n") + 1;
    server += strcspn(server, "\n");
    server += *server == '\n';
    memmove(comments, server, strlen(server) + 1);
    return status;
}

/* The parameter of a line "-- :name default what": its name and default, not terminated. False: it has none. */
static bool parameter_of(const char *line, size_t *name_size, const char **value, size_t *value_size)
{
    if (strncmp(line, "-- :", 4) != 0)
        return false;
    *name_size = strcspn(line + 4, " \n");
    const char *v = line + 4 + *name_size;
    v += *v == ' ';
    *value = v;
    if (*v == '\'') {
        const char *end = strchr(v + 1, '\'');
        *value = v + 1;
        *value_size = end ? (size_t)(end - v - 1) : 0;
    } else {
        const bool is_number = *v >= '0' && *v <= '9';
        *value_size = is_number ? strcspn(v, " \n") : 0;
    }
    return true;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

bool tl_recipe_default(const char *sql, const char *name, char *value, size_t size)
{
    const char *v;
    size_t name_size, value_size;
    for (const char *line = sql; strncmp(line, "--", 2) == 0; line = next_line(line))
        if (parameter_of(line, &name_size, &v, &value_size) && strlen(name) == name_size &&
            memcmp(line + 4, name, name_size) == 0) {
            snprintf(value, size, "%.*s", (int)value_size, v);
            return true;
        }
    return false;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool tl_recipe_uses(const char *sql, const char *name)
{
    const size_t n = strlen(name);
    while (strncmp(sql, "--", 2) == 0)
        sql = next_line(sql);
    for (const char *p = sql; (p = strpbrk(p, ":@$")) != NULL; p++)
        if (strncmp(p + 1, name, n) == 0 && !is_word(p[1 + n]))
            return true;
    return false;
}

void tl_recipe_list(void)
{
    for (uint32_t i = 0; i < tl_recipes(); i++) {
        const char *sql = tl_recipe_sql(tl_recipe_name(i)), *v;
        size_t name_size, value_size;
        printf("%-20s%.*s\n", tl_recipe_name(i), (int)(strcspn(sql, "\n") - 3), sql + 3);
        for (const char *line = next_line(sql); strncmp(line, "--", 2) == 0; line = next_line(line))
            if (parameter_of(line, &name_size, &v, &value_size))
                printf("%20s  %.*s\n", "", (int)(strcspn(line, "\n") - 4), line + 4);
    }
}
