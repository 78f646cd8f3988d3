/* Sums allocations by stack and class. */
#include "managed/managed_sites.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SLOTS = 1 << 10, /* pairs of a stack and a class, until the next flush */
    FULL = SLOTS / 4 * 3,
    STACKS = 256,
    WORDS = 1 << 14, /* of all these stacks */
    FLUSH_MS = 50,
    TRIES = 10000
};

typedef struct site {
    const void *class;
    uint32_t stack; /* number + 1; 0: free */
    uint32_t next;  /* of the same stack: place + 1; 0: the last */
    uint64_t count, bytes;
} site;

struct managed_sites {
    _Atomic bool busy; /* its thread is at it, or the end of the recording is */
    uint64_t flushed;  /* ns */
    uint32_t nstack, nword, nsite;
    site slot[SLOTS];
    site left[FULL]; /* for which the ring had no room */
    struct {
        uint64_t hash;
        uint32_t at, n; /* words */
        uint32_t first; /* site, as `next` */
        bool cut;
    } stack[STACKS];
    uint64_t word[WORDS];
    managed_stack walked;
};

static struct managed_sites *sites_of(managed_thread *t)
{
    if (t->sites)
        return t->sites;
    struct managed_sites *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s == MAP_FAILED)
        return NULL;
    s->flushed = managed_now();
    return t->sites = s;
}

managed_stack *managed_sites_stack(managed_thread *t)
{
    struct managed_sites *s = sites_of(t);
    return s ? &s->walked : NULL;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static uint64_t hash_of(const managed_stack *s)
{
    uint64_t h = s->n;
    for (uint32_t i = 0; i < s->n; i++)
        h = mix(mix(h, (uint64_t)(uintptr_t)s->frame[i].method), s->frame[i].ip);
    return h;
}

/* The number of the stack, or of a new one; UINT32_MAX: no room. */
static uint32_t stack_of(struct managed_sites *a, const managed_stack *s)
{
    const uint64_t hash = hash_of(s);
    const uint32_t words = 2 * s->n;
    for (uint32_t i = a->nstack; i-- > 0;)
        if (a->stack[i].hash == hash && a->stack[i].n == words &&
            memcmp(a->word + a->stack[i].at, s->frame, words * sizeof *a->word) == 0)
            return i;
    if (a->nstack == STACKS || WORDS - a->nword < words)
        return UINT32_MAX;
    memcpy(a->word + a->nword, s->frame, words * sizeof *a->word);
    a->stack[a->nstack].hash = hash;
    a->stack[a->nstack].at = a->nword;
    a->stack[a->nstack].n = words;
    a->stack[a->nstack].cut = s->cut;
    a->stack[a->nstack].first = 0;
    a->nword += words;
    return a->nstack++;
}

/* The place of the pair, or a free one; NULL: no room. */
static site *slot_of(struct managed_sites *a, uint32_t stack, const void *class)
{
    uint32_t i = (uint32_t)(mix(stack, (uint64_t)(uintptr_t) class)) & (SLOTS - 1);
    if (a->nsite >= FULL)
        return NULL;
    while (a->slot[i].stack && (a->slot[i].stack != stack + 1 || a->slot[i].class != class))
        i = (i + 1) & (SLOTS - 1);
    return &a->slot[i];
}

/* Adds objects of a stack, at its place. */
static void add_at(struct managed_sites *a, site *at, uint32_t stack, const site *objects)
{
    if (!at->stack) {
        *at = (site){.class = objects->class, .stack = stack + 1, .next = a->stack[stack].first};
        a->stack[stack].first = (uint32_t)(at - a->slot) + 1;
        a->nsite++;
    }
    at->count += objects->count;
    at->bytes += objects->bytes;
}

/* One stack with its classes. False: the ring has no room. */
static bool send_stack(managed_thread *t, const struct managed_sites *a, uint32_t stack)
{
    managed_walk w;
    uint32_t classes = 0;
    managed_walk_begin(&w, t, &t->events);
    w.cut = a->stack[stack].cut;
    w.n = a->stack[stack].n / 2;
    for (uint32_t i = 0; i < a->stack[stack].n; i++)
        managed_walk_word(&w, a->word[a->stack[stack].at + i]);
    for (uint32_t i = a->stack[stack].first; i; i = a->slot[i - 1].next) {
        const site *s = &a->slot[i - 1];
        managed_walk_word(&w, (uint64_t)(uintptr_t)s->class);
        managed_walk_word(&w, s->count);
        managed_walk_word(&w, s->bytes);
        classes++;
    }
    return !classes || managed_walk_end(&w, managed_now(), MANAGED_ALLOCATED, classes);
}

/* What finds no room stays, without its stack: numbers of classes are right in any case. */
static void flush(managed_thread *t, struct managed_sites *a)
{
    static const managed_stack none;
    uint32_t nleft = 0;
    for (uint32_t i = 0; i < a->nstack; i++)
        if (!send_stack(t, a, i))
            for (uint32_t k = a->stack[i].first; k; k = a->slot[k - 1].next)
                a->left[nleft++] = a->slot[k - 1];
    memset(a->slot, 0, sizeof a->slot);
    a->nstack = a->nword = a->nsite = 0;
    for (uint32_t i = 0; i < nleft; i++) {
        const uint32_t stack = stack_of(a, &none);
        add_at(a, slot_of(a, stack, a->left[i].class), stack, &a->left[i]);
    }
    a->flushed = managed_now();
}

void managed_sites_flush(managed_thread *t)
{
    struct managed_sites *a = t->sites;
    if (!a)
        return;
    for (int i = 0; atomic_exchange(&a->busy, true); i++) {
        if (i == TRIES) { /* it was stopped there: its last allocations are missing */
            t->events.lost++;
            return;
        }
        sched_yield();
    }
    flush(t, a);
    a->busy = false;
}

void managed_sites_free(managed_thread *t)
{
    if (t->sites)
        munmap(t->sites, sizeof *t->sites);
}

bool managed_sites_add(managed_thread *t, const managed_stack *s, const void *class, uint64_t bytes, bool known)
{
    struct managed_sites *a = sites_of(t);
    if (!a || atomic_exchange(&a->busy, true)) /* the end */
        return true;
    if (managed_now() - a->flushed > FLUSH_MS * UINT64_C(1000000))
        flush(t, a);
    uint32_t stack = stack_of(a, s);
    site *at = stack == UINT32_MAX ? NULL : slot_of(a, stack, class);
    if (!at) {
        flush(t, a);
        stack = stack_of(a, s);
        at = slot_of(a, stack, class);
        t->events.lost += !at;
    }
    const bool add = !at || at->stack || known;
    if (at && add) {
        const uint64_t objects = managed_sampler_hit(&t->sampler, managed_set.alloc, bytes);
        add_at(a, at, stack, &(site){.class = class, .count = objects, .bytes = objects * bytes});
    }
    a->busy = false;
    return add;
}
