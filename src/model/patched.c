/* Keeps the counts of patched objects, from the notes of a recording to the profile that is made of it. */
#include "model/patched.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io/base_name.h"
#include "base/text/same_text.h"

const tl_patched *tl_trace_patched(const tl_trace *t, uint32_t *n)
{
    *n = t->npatched;
    return t->patched;
}

static bool keep_text(tl_strings *strings, const char **s)
{
    return !*s || (*s = tl_strings_get(strings, *s, strlen(*s)));
}

/* Copies a list, and its texts into the strings of its owner. False when memory runs out. */
static bool copy_list(tl_patched *copy, const tl_patched *list, uint32_t n, tl_strings *strings)
{
    bool ok = copy || !n;
    for (uint32_t i = 0; ok && i < n; i++) {
        copy[i] = list[i];
        ok = keep_text(strings, &copy[i].path) && keep_text(strings, &copy[i].why);
    }
    return ok;
}

static int no_memory(tl_error *e)
{
    return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the counts of patched functions");
}

int tl_trace_set_patched(tl_trace *t, const tl_patched *list, uint32_t n, tl_error *e)
{
    tl_patched *copy = n ? tl_arena_zalloc(&t->strings.arena, (size_t)n * sizeof *copy) : NULL;
    if (!copy_list(copy, list, n, &t->strings))
        return no_memory(e);
    t->patched = copy;
    t->npatched = n;
    return 0;
}

int tl_profile_set_patched(tl_profile *p, const tl_patched *list, uint32_t n, tl_error *e)
{
    tl_patched *copy = n ? tl_alloc(n, sizeof *copy) : NULL;
    if (!copy_list(copy, list, n, &p->strings)) {
        free(copy);
        return no_memory(e);
    }
    free(p->patched);
    p->patched = copy;
    p->npatched = n;
    return 0;
}

bool tl_profile_same_patched(const tl_profile *a, const tl_profile *b)
{
    bool same = a->npatched == b->npatched;
    for (uint32_t i = 0; same && i < a->npatched; i++) {
        const tl_patched *x = &a->patched[i], *y = &b->patched[i];
        same = tl_same_text(x->path, y->path) && tl_same_text(x->why, y->why) && x->functions == y->functions &&
               x->patched == y->patched && x->late == y->late;
    }
    return same;
}

const char *tl_patched_text(char buf[static TL_PATCHED_TEXT], const tl_patched *p)
{
    int n = snprintf(buf, TL_PATCHED_TEXT, "%.255s: %" PRIu64 " of %" PRIu64 " functions",
                     p->path ? tl_base_name(p->path) : "?", p->patched, p->functions);
    if (p->late)
        n += snprintf(buf + n, (size_t)(TL_PATCHED_TEXT - n), "; %" PRIu64 " may end late", p->late);
    if (p->why)
        snprintf(buf + n, (size_t)(TL_PATCHED_TEXT - n), "; left out: %s", p->why);
    return buf;
}
