/* Fuzz target: the JSON reader. What it accepts is a valid tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VALUES_MAX = 100000 };

static void promise(bool kept, const char *what)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

static void check_value(const tl_json_value *v, size_t size, unsigned depth)
{
    promise(depth <= TL_JSON_DEPTH_MAX, "values are not deeper than the limit");
    promise(v->offset < size, "a value stands in the text");
    if (v->kind == TL_JSON_STRING || v->kind == TL_JSON_REAL)
        promise(v->as.s[v->n] == 0 && v->n <= size, "a text ends, and is no longer than the file");
    if (v->kind != TL_JSON_ARRAY && v->kind != TL_JSON_OBJECT)
        return;
    uint32_t n = 0;
    for (const tl_json_value *m = v->as.first; m; m = m->next, n++) {
        promise((m->name != NULL) == (v->kind == TL_JSON_OBJECT), "members have names, elements have none");
        promise(m->offset > v->offset, "what is inside stands behind the begin");
        /* Longer lists would take quadratic time; a name with a NUL in it cannot be looked up. */
        if (m->name && n < 16 && strlen(m->name) == m->name_n)
            promise(tl_json_find(v, m->name) == m, "each name is there once");
        check_value(m, size, depth + 1);
    }
    promise(n == v->n, "members are counted");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_arena arena = {0};
    const tl_json_value *v = NULL;
    tl_error e = {0};
    const int status = tl_json_parse(&v, &arena, (const char *)data, size, VALUES_MAX, &e);
    promise(status >= 0 || e.code == status, "an error carries the code that is returned");
    promise(status >= 0 || status == TL_ENOMEM || e.offset <= size, "an error is inside the text");
    promise(arena.total <= 110 * size + 65536, "memory is bounded by the size of the text");
    if (status >= 0)
        check_value(v, size, 0);
    tl_arena_fini(&arena);
    return 0;
}
