/* The image of mode "profile": lanes, nodes, histogram blocks, notes, and the allocation of their room. */
#include "rt/mode/rt_profile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>

#include "rt/mode/rt_profile_image.h"
#include "rt/rt_files.h"
#include "rt/rt_store.h"

static_assert(sizeof(rt_node) == LIVE_NODE_SIZE, "the node of the layout");
static_assert(offsetof(rt_node, calls) == LIVE_NODE_CALLS, "the node of the layout");
static_assert(offsetof(rt_node, max) == LIVE_NODE_MAX, "the node of the layout");
static_assert(offsetof(rt_node, blocks) == LIVE_NODE_BLOCKS, "the node of the layout");
static_assert(sizeof(rt_self) == LIVE_LANE_SIZE, "the lane of the layout");
static_assert(offsetof(rt_self, name) == LIVE_LANE_NAME, "the lane of the layout");
static_assert(offsetof(rt_self, last_ticks) == LIVE_LANE_LAST_TICKS, "the lane of the layout");
static_assert(sizeof(rt_block) == LIVE_BLOCK_SIZE, "the block of the layout");
static_assert(offsetof(rt_block, count) == LIVE_BLOCK_COUNT, "the block of the layout");

enum {
    ROOM_MIN = 4 << 10,
    ROOM_MAX = 1 << 20,
    TEXT_SIZE = 16 << 10,
    RECENT_SIZE = sizeof(rt_recent) << RT_RECENT_BITS,
    OWN_LANES = 256,   /* threads with a tree of their own; later ones continue that of an ended one */
    TABLE_FIRST = 1024 /* room of a new table for nodes and blocks; it has twice as many places */
};

/* Size of the image: default, least to try, and most that references can reach. */
#define LIMIT_USUAL (UINT64_C(1) << 30)
#define LIMIT_LEAST (UINT64_C(1) << 24)
#define LIMIT_MAX   (UINT64_C(1) << 36)
#define BLOCK_KEY   0x80000000u /* greater than every function number */

static rt_store store = {.fd = -1};
static rt_lock lock; /* protects lanes, texts, tables */
static uint32_t nlane;
static char *text; /* the last chunk */
static uint32_t text_room;

static uint32_t *word(char *at)
{
    return (uint32_t *)(void *)at;
}

static uint32_t reference(const void *p)
{
    return (uint32_t)((uint64_t)((const char *)p - store.whole) / LIVE_UNIT);
}

/* Room for what does not come from a lane's. */
static char *take(uint64_t n)
{
    uint64_t offset;
    return tl_rt_store_take(&store, &n, &offset);
}

int tl_rt_profile_start(void)
{
    char path[RT_PATH + 8];
    uint64_t limit = tl_rt.set.limit ? tl_rt.set.limit : LIMIT_USUAL;
    limit = limit > LIMIT_MAX ? LIMIT_MAX : limit;
    tl_rt_files_live(path, RT_MODE_PROFILE);
    int status = tl_rt_store_open(&store, path, limit, true);
    while (status == -ENOMEM && !tl_rt.set.limit && limit > LIMIT_LEAST) { /* RLIMIT_AS */
        limit /= 2;
        status = tl_rt_store_open(&store, path, limit, true);
    }
    if (status < 0)
        return status;
    char *header = take(LIVE_HEADER_SIZE);
    if (!header) {
        status = -store.failed;
        tl_rt_store_close(&store, UINT64_MAX);
        RT_SYS3(SYS_unlinkat, AT_FDCWD, path, 0);
        return status;
    }
    *word(header + LIVE_HEADER_VERSION) = LIVE_VERSION;
    RT_BARRIER();
    rt_copy(header + LIVE_HEADER_MAGIC, LIVE_MAGIC, 8);
    nlane = 0;
    text = NULL;
    lock = (rt_lock){.held = 0};
    return 0;
}

bool tl_rt_profile_note(const char *line, size_t n)
{
    rt_lock_take(&lock);
    bool good = store.fd >= 0 && n < TEXT_SIZE / 2;
    if (good && (!text || *word(text + LIVE_TEXT_USED) + n + 1 > text_room)) {
        char *more = take(TEXT_SIZE);
        good = more != NULL;
        if (good) {
            *word(text ? text + LIVE_TEXT_NEXT : store.whole + LIVE_HEADER_TEXT) = reference(more);
            text = more;
            text_room = TEXT_SIZE - LIVE_TEXT_BYTES;
        }
    }
    if (good) {
        uint32_t *used = word(text + LIVE_TEXT_USED);
        char *at = text + LIVE_TEXT_BYTES + *used;
        rt_copy(at, line, n);
        at[n] = '\n';
        RT_PUBLISH();
        *used += (uint32_t)n + 1;
    }
    rt_lock_give(&lock);
    return good;
}

void tl_rt_profile_table(uint32_t object, uint32_t base, uint32_t count, const uint64_t *address)
{
    if (store.fd < 0)
        return;
    char *table = take(LIVE_TABLE_ADDRESS + count * sizeof *address);
    if (!table)
        return; /* names are lost, numbers are not */
    *word(table + LIVE_TABLE_OBJECT) = object;
    *word(table + LIVE_TABLE_BASE) = base;
    *word(table + LIVE_TABLE_COUNT) = count;
    rt_copy(table + LIVE_TABLE_ADDRESS, address, count * sizeof *address);
    rt_lock_take(&lock);
    *word(table + LIVE_TABLE_NEXT) = *word(store.whole + LIVE_HEADER_TABLES);
    RT_PUBLISH();
    *word(store.whole + LIVE_HEADER_TABLES) = reference(table);
    rt_lock_give(&lock);
}

uint64_t tl_rt_profile_bytes(void)
{
    return store.size;
}

/* Will lane_room() find n bytes? Once the file is full, this saves each event that is lost some system calls. */
static bool has_room(const rt_lane *l, size_t n)
{
    return (size_t)(l->room_end - l->room) >= n || !__atomic_load_n(&store.failed, __ATOMIC_RELAXED);
}

/* n bytes, a multiple of 16, from the lane's own room. */
static void *lane_room(rt_lane *l, size_t n)
{
    if ((size_t)(l->room_end - l->room) < n) {
        uint64_t size = l->room_size ? 2 * l->room_size : ROOM_MIN, offset;
        size = size > ROOM_MAX ? ROOM_MAX : size;
        uint64_t mask = rt_signals_block();
        char *more = tl_rt_store_take(&store, &size, &offset);
        if (more) {
            l->room = more;
            l->room_end = more + size;
            l->room_size = size;
        }
        rt_signals_restore(mask);
        if (!more)
            return NULL;
    }
    void *p = l->room;
    l->room += n;
    return p;
}

/* All nodes of a lane except its root, and all blocks: finds those that no cache has. */
struct rt_place_table {
    uint64_t size; /* of this memory */
    uint32_t n, mask;
    struct rt_place {
        uint32_t parent, function, node; /* node 0: free */
    } place[];
};

static struct rt_place_table *new_table(uint32_t places)
{
    uint64_t size = sizeof(struct rt_place_table) + places * sizeof(struct rt_place);
    struct rt_place_table *t = tl_rt_memory_take(size);
    if (t) {
        t->size = size;
        t->mask = places - 1;
    }
    return t;
}

static struct rt_place *find(struct rt_place_table *t, uint32_t parent, uint32_t function)
{
    uint64_t h = ((uint64_t)parent << 32 | function) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = (uint32_t)(h >> 32) & t->mask;; i = (i + 1) & t->mask) {
        struct rt_place *p = &t->place[i];
        if (!p->node || (p->parent == parent && p->function == function))
            return p;
    }
}

static bool make_room_in_table(rt_lane *l)
{
    struct rt_place_table *old = l->places;
    if (old && old->n < old->mask / 2)
        return true;
    uint64_t mask = rt_signals_block();
    struct rt_place_table *t = new_table(old ? 2 * (old->mask + 1) : TABLE_FIRST);
    if (t && old) {
        for (uint32_t i = 0; i <= old->mask; i++)
            if (old->place[i].node)
                *find(t, old->place[i].parent, old->place[i].function) = old->place[i];
        t->n = old->n;
        tl_rt_memory_give(old, old->size);
    }
    if (t)
        l->places = t;
    rt_signals_restore(mask);
    return t != NULL;
}

static rt_node *new_node(rt_lane *l, uint32_t parent, uint32_t function)
{
    rt_node *n = lane_room(l, sizeof *n);
    if (n) {
        n->function = function;
        n->parent = parent;
        n->min = UINT64_MAX;
    }
    return n;
}

uint32_t tl_rt_profile_node(rt_lane *l, uint32_t parent, uint32_t function)
{
    if (!parent || !make_room_in_table(l))
        return 0;
    struct rt_place *place = find(l->places, parent, function);
    rt_node *p = rt_at(l, parent);
    if (!place->node) {
        if (!has_room(l, sizeof *p))
            return 0;
        uint64_t mask = rt_signals_block(); /* otherwise a handler might leave the node out of the table */
        rt_node *n = new_node(l, parent, function);
        if (n) {
            n->sibling = p->child;
            RT_PUBLISH();
            p->child = reference(n);
            *place = (struct rt_place){.parent = parent, .function = function, .node = p->child};
            l->places->n++;
        }
        rt_signals_restore(mask);
        if (!n)
            return 0;
    }
    p->inside[function % RT_CACHE] = place->node;
    return place->node;
}

static rt_block *new_block(rt_lane *l, rt_node *n, struct rt_place *place, uint32_t tag, uint16_t shift)
{
    if (!has_room(l, sizeof(rt_block)))
        return NULL;
    uint64_t mask = rt_signals_block(); /* otherwise a handler might leave the block out of the table */
    rt_block *b = lane_room(l, sizeof *b);
    if (b) {
        b->next = n->blocks;
        b->tag = (uint16_t)tag;
        b->shift = shift;
        RT_PUBLISH();
        n->blocks = reference(b);
        *place = (struct rt_place){.parent = reference(n), .node = reference(b)};
        place->function = BLOCK_KEY | (uint32_t)shift << 16 | tag;
        l->places->n++;
    }
    rt_signals_restore(mask);
    return b;
}

/* The block of a bucket, made if needed; NULL: no room. */
static rt_block *find_block(rt_lane *l, rt_node *n, uint32_t tag, uint16_t shift)
{
    if (!make_room_in_table(l))
        return NULL;
    /* A node may have a thousand blocks, so these are in the table, too, under numbers that no function has. */
    struct rt_place *place = find(l->places, reference(n), BLOCK_KEY | (uint32_t)shift << 16 | tag);
    return place->node ? rt_at(l, place->node) : new_block(l, n, place, tag, shift);
}

void tl_rt_profile_commit(rt_lane *l)
{
    rt_self *self = (rt_self *)(void *)l->self;
    if (!self || !self->last_node)
        return;
    uint32_t *count = rt_profile_count(l, self->last_node, self->last_ticks);
    if (count) {
        rt_profile_commit_to(l, self, count);
        return;
    }
    rt_node *n = rt_at(l, self->last_node);
    uint32_t bucket = tl_hist_bucket_of(self->last_ticks), tag = bucket / 16;
    rt_block *b = find_block(l, n, tag, 0), *carry = NULL;
    if (b && b->count[bucket % 16] == UINT32_MAX)
        carry = find_block(l, n, tag, 32);
    if (!b || (b->count[bucket % 16] == UINT32_MAX && !carry)) {
        self->last_node = 0;
        l->lost.places++;
        return;
    }
    uint64_t key;
    rt_recent *r = rt_profile_recent(l, self->last_node, tag, &key);
    rt_profile_remember(r, key, reference(b));
    if (carry) { /* a kill between these two stores loses 2^32 calls */
        b->count[bucket % 16] = 0;
        rt_profile_commit_to(l, self, &carry->count[bucket % 16]);
    } else
        rt_profile_commit_to(l, self, &b->count[bucket % 16]);
}

void tl_rt_profile_add(rt_lane *l, uint32_t node, uint64_t ticks, uint64_t inner)
{
    tl_rt_profile_commit(l);
    if (node)
        rt_profile_last((rt_self *)(void *)l->self, node, ticks, inner);
    else
        l->lost.places++;
}

/* A lane in the image, and the root of its tree. */
static bool new_self(rt_lane *l)
{
    if (l->places) {
        tl_rt_memory_give(l->places, l->places->size);
        l->places = NULL;
    }
    l->frame[0].node = l->committed = 0;
    l->live = store.whole;
    if (l->recent)
        rt_zero(l->recent, RECENT_SIZE);
    else
        l->recent = tl_rt_memory_take(RECENT_SIZE);
    if (!l->recent)
        return false;
    char *self = lane_room(l, LIVE_LANE_SIZE);
    rt_node *root = self ? new_node(l, 0, 0) : NULL;
    if (!root)
        return false;
    *word(self + LIVE_LANE_ROOT) = l->frame[0].node = reference(root);
    l->self = self;
    rt_lock_take(&lock);
    nlane++;
    *word(self + LIVE_LANE_NEXT) = *word(store.whole + LIVE_HEADER_LANES);
    RT_PUBLISH();
    *word(store.whole + LIVE_HEADER_LANES) = reference(self);
    rt_lock_give(&lock);
    return true;
}

/* The calls of a node's histogram. */
static uint64_t counted(const rt_lane *l, const rt_node *n)
{
    uint64_t sum = 0;
    for (uint32_t at = n->blocks; at;) {
        const rt_block *b = rt_at(l, at);
        for (int i = 0; i < 16; i++)
            sum += (uint64_t)b->count[i] << b->shift;
        at = b->next;
    }
    return sum;
}

/* Takes out a call that was only half added to its node; it waits again. */
void tl_rt_profile_repair(rt_lane *l)
{
    rt_self *self = (rt_self *)(void *)l->self;
    uint32_t node = self && self->last_node ? self->last_node : l->committed;
    if (!self || !node)
        return;
    rt_node *n = rt_at(l, node);
    if (n->calls == counted(l, n))
        return;
    n->calls--;
    if (!self->last_node) {
        n->total -= self->last_ticks;
        n->inner -= self->last_inner;
    }
    self->last_node = node;
}

bool tl_rt_profile_attach(rt_lane *l)
{
    if (!l->self || nlane < OWN_LANES) {
        if (!new_self(l)) {
            l->self = NULL;
            return false;
        }
        l->told = l->lost.late + l->lost.depth + l->lost.places;
        l->exits_told = l->lost.exits;
    } else
        l->frame[0].node = *word(l->self + LIVE_LANE_ROOT);
    *word(l->self + LIVE_LANE_PID) = l->pid;
    *word(l->self + LIVE_LANE_TID) = l->tid;
    *word(l->self + LIVE_LANE_THREADS) += 1;
    return true;
}

void tl_rt_profile_leave(rt_lane *l)
{
    if (!l->self)
        return;
    tl_rt_profile_commit(l);
    for (const rt_frame *f = l->top; f > l->frame; f--)
        if (f->function)
            *word(l->self + LIVE_LANE_OPEN) += 1;
    uint64_t lost = l->lost.late + l->lost.depth + l->lost.places;
    *(uint64_t *)(void *)(l->self + LIVE_LANE_LOST) += lost - l->told;
    *(uint64_t *)(void *)(l->self + LIVE_LANE_EXITS) += l->lost.exits - l->exits_told;
    l->told = lost;
    l->exits_told = l->lost.exits;
}

/* Names may find room even where something larger did not. */
static void write_names(void)
{
    const int failed = store.failed;
    __atomic_store_n(&store.failed, 0, __ATOMIC_RELAXED);
    tl_rt_profile_name(&(rt_image){store.whole, &store.size});
    __atomic_store_n(&store.failed, failed, __ATOMIC_RELAXED);
}

int tl_rt_profile_flush(const char *path)
{
    if (store.fd < 0)
        return -EBADF;
    write_names();
    return tl_rt_profile_copy(&(rt_image){store.whole, &store.size}, path);
}

int tl_rt_profile_finish(int *named)
{
    if (store.fd < 0)
        return 0;
    for (uint32_t i = 0; i < tl_rt_lanes(); i++) {
        rt_lane *l = tl_rt_lane_get(i);
        if (l->file == tl_rt.file)
            tl_rt_profile_leave(l);
    }
    write_names();
    *word(store.whole + LIVE_HEADER_STATE) = 1;
    int failed = store.failed == ENOBUFS ? 0 : store.failed; /* the losses report the limit */
    tl_rt_store_close(&store, UINT64_MAX);
    *named = tl_rt_files_settle(RT_MODE_PROFILE);
    return -failed;
}

void tl_rt_profile_child(void)
{
    tl_rt_store_forget(&store, tl_rt_lane && tl_rt_lane->busy);
    lock = (rt_lock){.held = 0};
    text = NULL;
}
