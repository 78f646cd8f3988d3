/* Reads the words of -e: PATH, the traced binary; N=PATH, the shared library that ids have as object N; or a file
 * NAME.yaml, which maps numbers to paths. These shapes of YAML are read, a pair for each object:
 *
 *     1: /usr/lib/libfoo.so               - { id: 1, path: /usr/lib/libfoo.so }             - id: 1
 *                                                                                             path: /usr/lib/libfoo.so
 */
#include "cli/exe_files.h"

#include <string.h>

#include "base/io/input.h"
#include "base/text/number.h"
#include "cli/message.h"
#include "cli/verbs.h"

#define MAP_BYTES_MAX (1u << 20) /* 256 paths need far less */

/* A pair, whose halves are read one after the other. */
typedef struct pair {
    tl_exe_files *files;
    tl_arguments *a;
    const char *map; /* the file being read */
    size_t line;
    bool has_object;
    uint64_t object;
    const char *path;
} pair;

static int add_object(tl_exe_files *f, tl_arguments *a, uint64_t object, const char *path)
{
    bool twice = object == 0 && a->exe;
    for (size_t i = 0; i < f->n; i++)
        twice = twice || f->object[i].object == object;
    if (twice) {
        tl_say_error(NULL,
                     object ? "-e: object %u is given twice"
                            : "-e: the traced binary is given twice; those of "
                              "its libraries are N=PATH",
                     (unsigned)object);
        return TL_EXIT_USAGE;
    }
    if (object == 0)
        a->exe = path;
    else
        f->object[f->n++] = (tl_object_file){(uint32_t)object, path};
    return TL_EXIT_DONE;
}

/* An object number: 0 to 255. */
static bool parse_object(const char *text, uint64_t *object)
{
    return tl_parse_u64(text, object) && *object < TL_OBJECTS_MAX;
}

/* Strips blanks and one pair of quotes from both ends. */
static char *trim(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n > 0 && strchr(" \t\r", s[n - 1]))
        s[--n] = 0;
    if (n > 1 && (*s == '"' || *s == '\'') && s[n - 1] == *s) {
        s[n - 1] = 0;
        s++;
    }
    return s;
}

static int bad_line(const pair *p, const char *text)
{
    tl_say_error(p->map,
                 "line %zu: found \"%s\", expected a number from 0 to 255 and a path, as in 1: /usr/lib/libfoo.so",
                 p->line, text);
    return TL_EXIT_USAGE;
}

/* "1: path", "id: 1" or "path: path". */
static int take_entry(pair *p, char *text)
{
    char *colon = strchr(text, ':');
    if (!colon)
        return bad_line(p, text);
    *colon = 0;
    const char *key = trim(text), *value = trim(colon + 1);
    bool good = *value != 0;
    if (!p->has_object && tl_word_place(key, "id object object-id") >= 0) {
        p->has_object = parse_object(value, &p->object);
        good = good && p->has_object;
    } else if (!p->path && tl_word_place(key, "path file binary") >= 0) {
        p->path = value;
    } else if (!p->has_object && !p->path && parse_object(key, &p->object)) {
        p->has_object = true;
        p->path = value;
    } else {
        good = false;
    }
    if (!good)
        return bad_line(p, key);
    if (!p->has_object || !p->path)
        return TL_EXIT_DONE;
    const char *path = p->path;
    p->path = NULL;
    p->has_object = false;
    return add_object(p->files, p->a, p->object, path);
}

static int take_line(pair *p, char *line)
{
    char *text = trim(line);
    if (*text == 0 || *text == '#' || strcmp(text, "---") == 0 || strcmp(text, "...") == 0)
        return TL_EXIT_DONE;
    if (*text == '-' && (text[1] == ' ' || text[1] == '\t')) {
        if (p->has_object || p->path)
            return bad_line(p, text);
        text = trim(text + 1);
    }
    const size_t n = strlen(text);
    if (*text != '{' || text[n - 1] != '}')
        return take_entry(p, text);
    text[n - 1] = 0;
    int status = TL_EXIT_DONE;
    char *next = text + 1;
    while (status == TL_EXIT_DONE && next) {
        char *entry = next, *comma = strchr(entry, ',');
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = 0;
        status = take_entry(p, entry);
    }
    return status;
}

/* The whole file as text that lives as long as f; NULL, after a message, if it cannot be read. */
static char *read_map(tl_exe_files *f, const char *path)
{
    tl_input *in = NULL;
    tl_error e = {0};
    size_t got = 0;
    char *text = NULL;
    int status = tl_input_open(&in, path, &e);
    if (status == 0 && tl_input_size(in) > MAP_BYTES_MAX)
        status = tl_fail(&e, TL_EFORMAT, TL_NO_OFFSET, "a map of objects has at most %u bytes", MAP_BYTES_MAX);
    if (status == 0 && !(text = tl_arena_alloc(&f->arena, (size_t)tl_input_size(in) + 1)))
        status = tl_fail(&e, TL_ENOMEM, TL_NO_OFFSET, "no memory for it");
    if (status == 0)
        status = tl_input_read(in, 0, text, (size_t)tl_input_size(in), &got, &e);
    tl_input_close(in);
    if (status < 0) {
        (void)tl_say_failure(path, &e);
        return NULL;
    }
    text[got] = 0;
    return text;
}

static int take_map(tl_exe_files *f, tl_arguments *a, const char *path)
{
    pair p = {.files = f, .a = a, .map = path};
    char *next = read_map(f, path);
    int status = next ? TL_EXIT_DONE : TL_EXIT_USAGE;
    while (status == TL_EXIT_DONE && next) {
        char *line = next, *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end)
            *end = 0;
        p.line++;
        status = take_line(&p, line);
    }
    if (status == TL_EXIT_DONE && (p.has_object || p.path))
        status = bad_line(&p, p.path ? p.path : "the end");
    return status;
}

static bool is_map(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

int tl_exe_files_read(tl_exe_files *f, tl_arguments *a)
{
    int status = TL_EXIT_DONE;
    for (size_t i = 0; status == TL_EXIT_DONE && i < a->exe_word.n; i++) {
        const char *word = a->exe_word.word[i];
        const size_t digits = strspn(word, "0123456789");
        char number[4] = "";
        uint64_t object = 0;
        if (is_map(word)) {
            status = take_map(f, a, word);
        } else if (digits == 0 || word[digits] != '=') {
            status = add_object(f, a, 0, word);
        } else if (digits < sizeof number && parse_object(memcpy(number, word, digits), &object) && word[digits + 1]) {
            status = add_object(f, a, object, word + digits + 1);
        } else {
            tl_say_error(NULL, "-e %s: expected PATH, or N=PATH with a number from 0 to 255", word);
            status = TL_EXIT_USAGE;
        }
    }
    return status;
}

void tl_exe_files_fini(tl_exe_files *f)
{
    tl_arena_fini(&f->arena);
}
