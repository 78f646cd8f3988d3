/* Matches begins and ends of classes whose names pair: open begins in lists by their hash and by age. */
#include "analysis/event/class_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define TRIES 8u /* occurrences of a word in a name */

bool tl_class_pair_names(const char *begin, unsigned way, char *end, char *name)
{
    static const char *const word[][2] = {
        {"begin", "end"}, {"start", "stop"}, {"start", "end"}, {"entry", "exit"}, {"enter", "exit"}};
    for (size_t i = 0; i < TL_COUNT(word); i++) {
        const size_t n = strlen(word[i][0]);
        unsigned tries = 0;
        for (const char *at = strstr(begin, word[i][0]); at && tries < TRIES;
             at = strstr(at + 1, word[i][0]), tries++) {
            const size_t before = (size_t)(at - begin);
            const bool is_part = (at == begin || strchr("_:.-/", at[-1])) && (!at[n] || strchr("_:.-/", at[n]));
            if (!is_part || way-- != 0)
                continue;
            memcpy(end, begin, before);
            strcpy(strcpy(end + before, word[i][1]) + strlen(word[i][1]), at + n);
            memcpy(name, begin, before);
            strcpy(name + (before && !at[n] ? before - 1 : before), at + n + (at[n] ? 1 : 0));
            return true;
        }
    }
    return false;
}

/* ---- open begins ---- */

/* Circular lists through arrays of links. */
typedef struct links {
    uint32_t next, before;
} links;

enum { BY_AGE = TL_PAIRS_OPEN_MAX, FREE, LISTS }; /* heads of lists of `age` */

typedef struct tl_open_begins {
    struct {
        uint64_t ts, thread;
        uint32_t pair;
    } begin[TL_PAIRS_OPEN_MAX];
    links age[LISTS];                    /* newest first */
    links bucket[2 * TL_PAIRS_OPEN_MAX]; /* the same of equal hashes; heads are the second half */
    uint64_t seed;
} open_begins;

static void put(links *l, uint32_t head, uint32_t i)
{
    l[i] = (links){l[head].next, head};
    l[l[head].next].before = i;
    l[head].next = i;
}

static void take(links *l, uint32_t i)
{
    l[l[i].before].next = l[i].next;
    l[l[i].next].before = l[i].before;
}

static open_begins *new_open_begins(void)
{
    open_begins *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->seed = tl_hash_seed(o);
    o->age[BY_AGE] = (links){BY_AGE, BY_AGE};
    o->age[FREE] = (links){FREE, FREE};
    for (uint32_t i = 0; i < TL_PAIRS_OPEN_MAX; i++) {
        o->bucket[TL_PAIRS_OPEN_MAX + i] = (links){TL_PAIRS_OPEN_MAX + i, TL_PAIRS_OPEN_MAX + i};
        put(o->age, FREE, i);
    }
    return o;
}

static uint32_t bucket_of(const open_begins *o, uint32_t pair, uint64_t thread)
{
    /* The file says the thread, so a pair must not change it in a way that is known. */
    const uint64_t key = thread ^ tl_hash_spread(pair + 1, o->seed);
    return TL_PAIRS_OPEN_MAX + tl_hash_place(key, o->seed) % TL_PAIRS_OPEN_MAX;
}

static void close_begin(open_begins *o, uint32_t i)
{
    take(o->age, i);
    take(o->bucket, i);
    put(o->age, FREE, i);
}

int tl_class_pairs_begin(tl_class_pairs *p, uint32_t pair, uint64_t thread, uint64_t ts, tl_error *e)
{
    open_begins *o = p->open ? p->open : (p->open = new_open_begins());
    if (!o)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory to match begins and ends");
    if (o->age[FREE].next == FREE) {
        const uint32_t oldest = o->age[BY_AGE].before;
        p->pair[o->begin[oldest].pair].no_end++;
        close_begin(o, oldest);
    }
    const uint32_t i = o->age[FREE].next;
    take(o->age, i);
    put(o->age, BY_AGE, i);
    put(o->bucket, bucket_of(o, pair, thread), i);
    o->begin[i].ts = ts;
    o->begin[i].thread = thread;
    o->begin[i].pair = pair;
    return 0;
}

int tl_class_pairs_end(tl_class_pairs *p, uint32_t pair, uint64_t thread, uint64_t ts, tl_error *e)
{
    open_begins *o = p->open;
    tl_class_pair *r = &p->pair[pair];
    const uint32_t head = o ? bucket_of(o, pair, thread) : 0;
    uint32_t i = o ? o->bucket[head].next : head;
    while (i != head && (o->begin[i].pair != pair || o->begin[i].thread != thread))
        i = o->bucket[i].next;
    if (i == head) {
        r->no_begin++;
        return 0;
    }
    const uint64_t took = ts > o->begin[i].ts ? ts - o->begin[i].ts : 0;
    close_begin(o, i);
    r->shortest = !r->any || took < r->shortest ? took : r->shortest;
    r->longest = took > r->longest ? took : r->longest;
    r->total = tl_add_saturated(r->total, took);
    r->any = true;
    r->pairs++;
    return tl_hist_add(&r->duration, took) ? 0 : tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "no memory for latencies");
}

void tl_class_pairs_finish(tl_class_pairs *p)
{
    for (uint32_t i = p->open ? p->open->age[BY_AGE].next : BY_AGE; i != BY_AGE; i = p->open->age[i].next)
        p->pair[p->open->begin[i].pair].no_end++;
    for (tl_class_pair *r = p->pair; r < p->pair + p->n; r++) {
        r->p50 = tl_hist_percentile(&r->duration, 500, r->shortest, r->longest);
        r->p90 = tl_hist_percentile(&r->duration, 900, r->shortest, r->longest);
        r->p99 = tl_hist_percentile(&r->duration, 990, r->shortest, r->longest);
    }
}

void tl_class_pairs_fini(tl_class_pairs *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        tl_hist_fini(&p->pair[i].duration);
    free(p->pair);
    free(p->open);
}
