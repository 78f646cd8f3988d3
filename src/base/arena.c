/* Arena: a list of growing chunks, allocated from the front. */
#include "base/arena.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* Chunks grow with the arena to keep their number small, up to a size where another one costs nothing to speak of. */
#define ALIGNMENT   16u
#define CHUNK_LEAST ((size_t)4096)
#define CHUNK_MOST  ((size_t)1 << 20)

struct tl_arena_chunk {
    struct tl_arena_chunk *next; /* older */
    size_t size;                 /* bytes of data */
};

/* The data follows the header at the next multiple of ALIGNMENT: malloc() alone aligns to 8 on some 32-bit systems. */
#define OVERHEAD (sizeof(struct tl_arena_chunk) + ALIGNMENT - 1)

static char *chunk_data(struct tl_arena_chunk *c)
{
    uintptr_t after = (uintptr_t)(c + 1);
    return (char *)(c + 1) + (-after & (ALIGNMENT - 1));
}

static struct tl_arena_chunk *chunk_new(size_t size)
{
    if (size > SIZE_MAX - OVERHEAD)
        return NULL;
    struct tl_arena_chunk *c = malloc(OVERHEAD + size);
    if (c) {
        c->next = NULL;
        c->size = size;
    }
    return c;
}

/* A number that identifies contents, so that remembered addresses can be checked. */
static uint64_t new_contents(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

TL_COLD static bool grow(tl_arena *a, size_t size)
{
    size_t wanted = a->total < CHUNK_LEAST ? CHUNK_LEAST : a->total > CHUNK_MOST ? CHUNK_MOST : a->total;
    if (wanted < size)
        wanted = size;
    struct tl_arena_chunk *c = chunk_new(wanted);
    if (!c && wanted > size)
        c = chunk_new(wanted = size);
    if (!c)
        return false;
    c->next = a->chunk;
    a->chunk = c;
    a->used = 0;
    a->total += wanted;
    a->contents = a->contents ? a->contents : new_contents();
    return true;
}

void *tl_arena_alloc(tl_arena *a, size_t size)
{
    if (TL_UNLIKELY(size > SIZE_MAX / 2))
        return NULL;
    /* Even an empty allocation gets an address of its own. */
    size = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (TL_UNLIKELY(!a->chunk || size > a->chunk->size - a->used))
        if (!grow(a, size))
            return NULL;
    void *p = chunk_data(a->chunk) + a->used;
    a->used += size;
    return p;
}

void *tl_arena_zalloc(tl_arena *a, size_t size)
{
    void *p = tl_arena_alloc(a, size);
    return p ? memset(p, 0, size) : NULL;
}

char *tl_arena_strndup(tl_arena *a, const char *s, size_t n)
{
    if (n == SIZE_MAX)
        return NULL;
    char *copy = tl_arena_alloc(a, n + 1);
    if (!copy)
        return NULL;
    if (n > 0)
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

static void free_chunks(struct tl_arena_chunk *c)
{
    while (c) {
        struct tl_arena_chunk *next = c->next;
        free(c);
        c = next;
    }
}

/* Replaces several chunks by one of their total size: the same contents then fit without allocating. Keeping only the
 * largest as it is would allocate again in every round. */
TL_COLD static void merge_chunks(tl_arena *a)
{
    struct tl_arena_chunk *keep = chunk_new(a->total), **link = &a->chunk;
    if (!keep) {
        struct tl_arena_chunk **largest = link;
        for (; *link; link = &(*link)->next)
            if ((*link)->size > (*largest)->size)
                largest = link;
        keep = *largest;
        *largest = keep->next;
        keep->next = NULL;
    }
    free_chunks(a->chunk);
    a->chunk = keep;
    a->total = keep->size;
}

void tl_arena_reset(tl_arena *a)
{
    if (a->chunk && a->chunk->next)
        merge_chunks(a);
    a->used = 0;
    a->contents = a->chunk ? new_contents() : 0;
    tl_shared_arena_release(a->held);
    a->held = NULL;
}

void tl_arena_fini(tl_arena *a)
{
    free_chunks(a->chunk);
    tl_shared_arena_release(a->held);
    *a = (tl_arena){0};
}

tl_shared_arena *tl_shared_arena_new(void)
{
    tl_shared_arena *s = calloc(1, sizeof *s);
    if (s)
        atomic_init(&s->holders, 1);
    return s;
}

void tl_shared_arena_release(tl_shared_arena *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->holders, 1, memory_order_acq_rel) > 1)
        return;
    tl_arena_fini(&s->arena);
    free(s);
}

void tl_arena_hold(tl_arena *a, tl_shared_arena *s)
{
    atomic_fetch_add_explicit(&s->holders, 1, memory_order_relaxed);
    tl_shared_arena_release(a->held);
    a->held = s;
}
