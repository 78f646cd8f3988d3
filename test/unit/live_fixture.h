/* Images of recorded profiles for tests, put together like the recorder's; and the profile that each stands for, kept
 * beside it call by call and independent of the image. */
#ifndef TL_TEST_LIVE_FIXTURE_H
#define TL_TEST_LIVE_FIXTURE_H

#include "random_profile.h"

#include "base/endian.h"
#include "format/tlp/live_layout.h"
#include "traceloom/source.h"

#define LIVE_TEST_CLOCK "clock name=tsc hz=2500000000 ticks=5000000001 raw=7 unix=1790000000000000000\n"

typedef struct live_image {
    uint8_t *bytes;
    size_t size, capacity;
    uint32_t text;   /* the last chunk */
    tl_profile *p;   /* the profile it stands for */
    uint32_t *place; /* [capacity / 16] by reference of a node: its place in p */
} live_image;

static inline void put32(live_image *m, size_t at, uint32_t v)
{
    tl_store32(m->bytes + at, v, false);
}

static inline uint32_t get32(const live_image *m, size_t at)
{
    return tl_load32(m->bytes + at, false);
}

static inline size_t image_at(uint32_t reference)
{
    return (size_t)reference * LIVE_UNIT;
}

/* n zero bytes; returns their reference. */
static inline uint32_t image_take(live_image *m, size_t n)
{
    const size_t at = m->size;
    n = (n + LIVE_UNIT - 1) / LIVE_UNIT * LIVE_UNIT;
    while (m->capacity - m->size < n) {
        m->bytes = realloc(m->bytes, 2 * m->capacity);
        m->place = realloc(m->place, 2 * m->capacity / LIVE_UNIT * sizeof *m->place);
        assert_true(m->bytes && m->place);
        memset(m->bytes + m->capacity, 0, m->capacity);
        m->capacity *= 2;
    }
    m->size += n;
    return (uint32_t)(at / LIVE_UNIT);
}

static inline void image_text(live_image *m, const char *lines)
{
    const size_t n = strlen(lines);
    const uint32_t text = image_take(m, LIVE_TEXT_BYTES + n);
    put32(m, m->text ? image_at(m->text) + LIVE_TEXT_NEXT : LIVE_HEADER_TEXT, text);
    put32(m, image_at(text) + LIVE_TEXT_USED, (uint32_t)n);
    memcpy(m->bytes + image_at(text) + LIVE_TEXT_BYTES, lines, n);
    m->text = text;
}

/* An image with a clock, a program "/bin/app" of build-id c0ffee with functions 1 .. 1000, and a library. */
static inline void image_init(live_image *m)
{
    *m = (live_image){.capacity = 1 << 16, .size = LIVE_HEADER_SIZE};
    m->bytes = calloc(1, m->capacity);
    m->place = calloc(m->capacity / LIVE_UNIT, sizeof *m->place);
    assert_true(m->bytes && m->place);
    memcpy(m->bytes, LIVE_MAGIC, 8);
    put32(m, LIVE_HEADER_VERSION, LIVE_VERSION);
    put32(m, LIVE_HEADER_STATE, 1);
    const tl_clock clock = {
        .name = "tsc", .hz = 2500000000, .has_utc = true, .utc_offset_ns = 1790000000000000000 - 2000000000};
    assert_int_equal(tl_profile_new(&m->p, &clock, NULL), 0);
    m->p->per_thread = true;
    m->p->build_id = tl_profile_intern(m->p, "c0ffee");
    m->p->exe = tl_profile_intern(m->p, "/bin/no such app");
    image_text(m, "traceloom version=1\n"
                  "process pid=4711 parent=1 start=1790000000000000000 exe=/bin/no such app\n");
    image_text(m, "clock name=tsc hz=1 ticks=0 raw=0 unix=0\n");
    image_text(m, "object id=2 base=0 count=1000 bias=0x0 hooks=sleds build-id=c0ffee path=/bin/no such app\n"
                  "object id=3 base=1000 count=100 bias=0x0 hooks=sleds build-id=- path=/lib/nothing.so\n");
    image_text(m, LIVE_TEST_CLOCK);
}

static inline void image_fini(live_image *m)
{
    free(m->bytes);
    free(m->place);
    tl_profile_free(m->p);
}

/* A table of addresses; the first function, base + 1, has `address`, each next one 16 more. */
static inline void image_table(live_image *m, uint32_t object, uint32_t base, uint32_t count, uint64_t address)
{
    const uint32_t table = image_take(m, LIVE_TABLE_ADDRESS + (size_t)count * 8);
    const size_t at = image_at(table);
    put32(m, at + LIVE_TABLE_NEXT, get32(m, LIVE_HEADER_TABLES));
    put32(m, LIVE_HEADER_TABLES, table);
    put32(m, at + LIVE_TABLE_OBJECT, object);
    put32(m, at + LIVE_TABLE_BASE, base);
    put32(m, at + LIVE_TABLE_COUNT, count);
    for (uint32_t i = 0; i < count; i++)
        tl_store64(m->bytes + at + LIVE_TABLE_ADDRESS + 8 * (size_t)i, address + 16 * (uint64_t)i, false);
}

/* A lane; returns its root, just after the lane. `label`: the thread's name in the profile. */
static inline uint32_t image_lane(live_image *m, uint32_t tid, uint32_t threads, const char *name, const char *label)
{
    const uint32_t lane = image_take(m, LIVE_LANE_SIZE), root = image_take(m, LIVE_NODE_SIZE);
    const size_t at = image_at(lane);
    put32(m, at + LIVE_LANE_NEXT, get32(m, LIVE_HEADER_LANES));
    put32(m, LIVE_HEADER_LANES, lane);
    put32(m, at + LIVE_LANE_ROOT, root);
    put32(m, at + LIVE_LANE_PID, 4711);
    put32(m, at + LIVE_LANE_TID, tid);
    put32(m, at + LIVE_LANE_THREADS, threads);
    memcpy(m->bytes + at + LIVE_LANE_NAME, name, strlen(name));
    const tl_track track = {.name = label, .pid = 4711, .tid = tid, .has_pid = true, .has_tid = threads == 1};
    m->place[root] = tl_profile_thread_root(m->p, &track);
    assert_true(m->place[root] != TL_HASH_NONE);
    return root;
}

/* The function with a number, as made by the notes and tables of these tests. */
static inline uint32_t image_function(live_image *m, uint32_t id)
{
    tl_function f = {.id = id};
    char name[40];
    if (id <= 1000) {
        f.module = "c0ffee";
        f.address = 0x1000 + 16 * (uint64_t)(id - 1);
        snprintf(name, sizeof name, "no such app+0x%x", (unsigned)f.address);
        f.name = name; /* its place */
    } else if (id <= 1100) {
        f.library = "/lib/nothing.so";
        f.address = 0x2000 + 16 * (uint64_t)(id - 1001);
        snprintf(name, sizeof name, "nothing.so+0x%x", (unsigned)f.address);
        f.name = name;
    } else {
        snprintf(name, sizeof name, "span %u", id);
        f.name = f.linkage_name = name;
    }
    const uint32_t index = tl_profile_add_function(m->p, &f);
    assert_true(index != TL_HASH_NONE);
    return index;
}

/* The node for a function below another node, made if need be. */
static inline uint32_t image_node(live_image *m, uint32_t parent, uint32_t id)
{
    const size_t head = image_at(parent) + LIVE_NODE_CHILD;
    for (uint32_t n = get32(m, head); n; n = get32(m, image_at(n) + LIVE_NODE_SIBLING))
        if (get32(m, image_at(n) + LIVE_NODE_FUNCTION) == id)
            return n;
    const uint32_t node = image_take(m, LIVE_NODE_SIZE);
    const size_t at = image_at(node);
    put32(m, at + LIVE_NODE_FUNCTION, id);
    put32(m, at + LIVE_NODE_PARENT, parent);
    put32(m, at + LIVE_NODE_SIBLING, get32(m, image_at(parent) + LIVE_NODE_CHILD));
    put32(m, image_at(parent) + LIVE_NODE_CHILD, node);
    tl_store64(m->bytes + at + LIVE_NODE_MIN, UINT64_MAX, false);
    m->place[node] = tl_profile_child(m->p, m->place[parent], image_function(m, id));
    assert_true(m->place[node] != TL_HASH_NONE);
    return node;
}

static inline void image_add(live_image *m, size_t at, uint64_t v)
{
    tl_store64(m->bytes + at, tl_load64(m->bytes + at, false) + v, false);
}

/* Adds to the count of a bucket in the image only: sometimes in a block of its own, since blocks add up. */
static inline void image_count(live_image *m, uint32_t node, uint32_t bucket, uint32_t n, unsigned shift, bool apart)
{
    uint32_t block = get32(m, image_at(node) + LIVE_NODE_BLOCKS);
    while (block && (tl_load16(m->bytes + image_at(block) + LIVE_BLOCK_TAG, false) != bucket / 16 ||
                     tl_load16(m->bytes + image_at(block) + LIVE_BLOCK_SHIFT, false) != shift))
        block = get32(m, image_at(block) + LIVE_BLOCK_NEXT);
    if (!block || apart) {
        block = image_take(m, LIVE_BLOCK_SIZE);
        const size_t at = image_at(block);
        put32(m, at + LIVE_BLOCK_NEXT, get32(m, image_at(node) + LIVE_NODE_BLOCKS));
        tl_store16(m->bytes + at + LIVE_BLOCK_TAG, (uint16_t)(bucket / 16), false);
        tl_store16(m->bytes + at + LIVE_BLOCK_SHIFT, (uint16_t)shift, false);
        put32(m, image_at(node) + LIVE_NODE_BLOCKS, block);
    }
    const size_t at = image_at(block) + LIVE_BLOCK_COUNT + 4 * (size_t)(bucket % 16);
    put32(m, at, get32(m, at) + n);
}

/* Adds a call of `ticks`, part of them in its callees, to image and profile. */
static inline void image_call(live_image *m, uint32_t node, uint64_t ticks, uint64_t inner)
{
    const size_t at = image_at(node);
    image_add(m, at + LIVE_NODE_CALLS, 1);
    image_add(m, at + LIVE_NODE_TOTAL, ticks);
    image_add(m, at + LIVE_NODE_INNER, inner);
    if (ticks < tl_load64(m->bytes + at + LIVE_NODE_MIN, false))
        tl_store64(m->bytes + at + LIVE_NODE_MIN, ticks, false);
    if (ticks > tl_load64(m->bytes + at + LIVE_NODE_MAX, false))
        tl_store64(m->bytes + at + LIVE_NODE_MAX, ticks, false);
    image_count(m, node, tl_hist_bucket(ticks), 1, 0, ticks % 7 == 0);
    fixture_call(m->p, m->place[node], ticks, ticks - inner, false);
}

/* The last call, which waits in its lane. */
static inline void image_last(live_image *m, uint32_t root, uint32_t node, uint64_t ticks, uint64_t inner)
{
    const size_t lane = image_at(root) - LIVE_LANE_SIZE;
    put32(m, lane + LIVE_LANE_LAST_NODE, node);
    tl_store64(m->bytes + lane + LIVE_LANE_LAST_TICKS, ticks, false);
    tl_store64(m->bytes + lane + LIVE_LANE_LAST_INNER, inner, false);
    fixture_call(m->p, m->place[node], ticks, ticks - inner, false);
}

/* The profile that it stands for, as a .tlp file. */
static inline uint8_t *image_expected(live_image *m, size_t *n)
{
    assert_int_equal(tl_profile_set_outer(m->p, NULL), 0);
    return fixture_save(m->p, n);
}

/* The profile that the library reads from the image; damage only if expected. */
static inline tl_profile *image_read(const live_image *m, bool damaged)
{
    tl_source *s = NULL;
    tl_profile *p = NULL;
    tl_error e = {0};
    must(tl_source_open_memory(&s, m->bytes, m->size, "image", NULL, &e), &e);
    assert_string_equal(tl_trace_format(tl_source_trace(s)), "tlp-live");
    if (!damaged && tl_trace_damages(tl_source_trace(s)))
        fail_msg("%s", tl_trace_damage(tl_source_trace(s), 0)->what);
    assert_int_equal(tl_trace_damages(tl_source_trace(s)) > 0, damaged);
    must(tl_profile_from_source(&p, s, NULL, &e), &e);
    tl_source_close(s);
    return p;
}

/* A random program: threads that call each other's functions to some depth, sometimes recursively. */
static inline void image_random(live_image *m, uint64_t *seed, uint32_t threads, uint32_t calls)
{
    enum { DEEPEST = 40 };
    struct {
        uint32_t node[DEEPEST + 1], depth;
        uint64_t inner[DEEPEST + 1];
    } *t = calloc(threads, sizeof *t);
    assert_non_null(t);
    image_table(m, 2, 0, 1000, 0x1000);
    image_table(m, 3, 1000, 100, 0x2000);
    for (uint32_t i = 0; i < threads; i++) {
        char label[40];
        const char *name = i % 3 ? "worker" : "";
        const uint32_t tid = 5000 - i;
        snprintf(label, sizeof label, "%s %u", *name ? name : "thread", tid);
        t[i].node[0] = image_lane(m, tid, 1, name, label);
    }
    for (uint32_t i = 0; i < calls; i++) {
        const uint32_t k = (uint32_t)(fixture_random(seed) % threads);
        uint32_t *depth = &t[k].depth;
        if (*depth < DEEPEST && (*depth == 0 || fixture_random(seed) % 2)) {
            const uint64_t r = fixture_random(seed);
            const uint32_t id = 1 + (uint32_t)(r % 20 < 17    ? r / 20 % 7
                                               : r % 20 == 17 ? 1000 + r / 20 % 5
                                                              : 1200 + r / 20 % 3);
            t[k].node[*depth + 1] = image_node(m, t[k].node[*depth], id);
            t[k].inner[++*depth] = 0;
        } else {
            const uint64_t r = fixture_random(seed), self = r >> (1 + r % 60 % 50);
            const uint64_t ticks = t[k].inner[*depth] + (self >> 12);
            image_call(m, t[k].node[*depth], ticks, t[k].inner[*depth]);
            t[k].inner[--*depth] += ticks;
        }
    }
    for (uint32_t i = 0; i < threads; i += 2) /* some wait in their lanes */
        if (t[i].depth)
            image_last(m, t[i].node[0], t[i].node[t[i].depth], t[i].inner[t[i].depth] + 5, t[i].inner[t[i].depth]);
    for (uint32_t i = 1201; i <= 1203; i++) {
        char line[80];
        snprintf(line, sizeof line, "function id=%u name=span %u\n", i, i);
        image_text(m, line);
    }
    free(t);
}

#endif
