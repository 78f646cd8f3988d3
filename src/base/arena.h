/* Arena: memory that is freed all at once. Not thread-safe, but several threads may hold a shared one. */
#ifndef TL_BASE_ARENA_H
#define TL_BASE_ARENA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tl_arena {
    struct tl_arena_chunk *chunk; /* newest first */
    size_t used;                  /* bytes used in the newest */
    size_t total;                 /* bytes of all chunks */
    uint64_t contents;            /* identifies the contents, across all arenas; 0: never had any */
    struct tl_shared_arena *held; /* the contents may point into it; NULL: none */
} tl_arena;

/* Contents shared by several arenas. One thread writes to it; its last holder frees it. */
typedef struct tl_shared_arena {
    tl_arena arena;
    atomic_uint holders;
} tl_shared_arena;

/* 16-byte aligned, not zeroed; NULL when memory runs out. A zeroed tl_arena is an empty one. */
void *tl_arena_alloc(tl_arena *a, size_t size);
void *tl_arena_zalloc(tl_arena *a, size_t size);
/* A NUL-terminated copy of n bytes. */
char *tl_arena_strndup(tl_arena *a, const char *s, size_t n);
/* Forgets all contents, but keeps the memory as one chunk, so that a steady state allocates nothing. */
void tl_arena_reset(tl_arena *a);
void tl_arena_fini(tl_arena *a);

/* Empty, and held by the caller; NULL when memory runs out. */
tl_shared_arena *tl_shared_arena_new(void);
void tl_shared_arena_release(tl_shared_arena *s); /* NULL is fine */
/* Holds it until the next reset, instead of what was held before. */
void tl_arena_hold(tl_arena *a, tl_shared_arena *s);
/* As tl_arena.contents, for the held arena; 0: nothing held. */
static inline uint64_t tl_arena_held(const tl_arena *a)
{
    return a->held ? a->held->arena.contents : 0;
}

#endif
