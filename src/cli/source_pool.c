/* A list of open sources: there are few, since few kinds of reading exist. */
#include "cli/source_pool.h"

#include <stdlib.h>
#include <string.h>

#include "cli/inputs.h"
#include "op/checkpoints.h"
#include "op/source_stop.h"

typedef struct pooled {
    tl_source *source;
    char *path;
    tl_want want;
    uint64_t done;
    struct pooled *next;
} pooled;

struct tl_source_pool {
    pooled *first;
    bool (*stop)(void *arg);
    void *arg;
};

tl_source_pool *tl_source_pool_new(bool (*stop)(void *arg), void *arg)
{
    tl_source_pool *p = calloc(1, sizeof *p);
    if (p)
        *p = (tl_source_pool){.stop = stop, .arg = arg};
    return p;
}

static void free_one(pooled *one)
{
    tl_source_close(one->source);
    free(one->path);
    free(one);
}

void tl_source_pool_empty(tl_source_pool *p)
{
    while (p->first) {
        pooled *one = p->first;
        p->first = one->next;
        free_one(one);
    }
}

void tl_source_pool_free(tl_source_pool *p)
{
    if (p)
        tl_source_pool_empty(p);
    free(p);
}

static bool is_same(const tl_want *a, const tl_want *b)
{
    return a->fields == b->fields && a->cpu == b->cpu && a->packets == b->packets && a->strict == b->strict &&
           a->resync == b->resync && a->companions == b->companions && a->calls == b->calls && a->threads == b->threads;
}

/* A source is read more than once, so that nothing about it may be found late. */
static int open_one(pooled **out, const tl_cli *c, const char *path, const tl_want *want, tl_error *e)
{
    pooled *one = calloc(1, sizeof *one);
    char *copy = strdup(path);
    if (!one || !copy) {
        free(one);
        free(copy);
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for an input");
    }
    one->path = copy;
    one->want = *want;
    one->want.late = false;
    tl_open_options options = tl_reading_options(c, &one->want);
    options.progress = &one->done;
    const int status = tl_source_open(&one->source, path, &options, e);
    if (status < 0) {
        free_one(one);
        return status;
    }
    *out = one;
    return 0;
}

/* Without memory for them, answers take longer. */
static void keep_checkpoints(const tl_source_pool *p, const pooled *one)
{
    for (const pooled *other = p->first; other; other = other->next)
        if (strcmp(other->path, one->path) == 0)
            tl_source_share_checkpoints(one->source, other->source);
    (void)tl_source_keep_checkpoints(one->source);
}

int tl_source_pool_get(tl_source_pool *p, const tl_cli *c, const char *path, const tl_want *want, tl_source **out,
                       uint64_t **done, tl_error *e)
{
    pooled *one = p->first;
    while (one && !(strcmp(one->path, path) == 0 && is_same(&one->want, want)))
        one = one->next;
    if (!one) {
        const int status = open_one(&one, c, path, want, e);
        if (status < 0)
            return status;
        keep_checkpoints(p, one);
        one->next = p->first;
        p->first = one;
    }
    tl_source_set_stop(one->source, p->stop, p->arg); /* sessions of SQL replace it */
    *out = one->source;
    *done = &one->done;
    return 0;
}
