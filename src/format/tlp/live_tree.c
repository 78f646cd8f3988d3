/* The trees of a recorded profile, as places of a tl_profile.
 *
 * A node is accepted if it is within the file, after its parent and before the sibling that led to it, and names its
 * parent. So each is visited once, whatever the references say: it has one parent, and is in one list of children.
 * Trees of different lanes have different roots. The blocks of a node have descending offsets; since no more than fit
 * into the file are accepted, nothing takes longer than reading it.
 *
 * A program may be adding calls meanwhile. The histogram decides how many calls a node has; the other numbers may
 * include a few more, and are adjusted. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/grow.h"
#include "format/tlp/live_format.h"
#include "model/recording.h"

enum { BLOCK_COUNTS = 16, TAGS = TL_HIST_BUCKETS / BLOCK_COUNTS };

/* A node whose children are being read. */
typedef struct frame {
    uint32_t at, sibling; /* sibling: the next one of its parent's list */
    uint32_t place;
    uint64_t when; /* the age of the reference to the sibling */
} frame;

typedef struct walk {
    live_reader *r;
    tl_profile *p;
    tl_error *e;
    bool tells;
    frame *stack;
    uint32_t depth, capacity;
    uint64_t blocks;     /* read so far */
    uint64_t unfinished; /* calls that are in no histogram */
    uint32_t lane;       /* reference of the current one, */
    live_last last;      /* and its last call, before its tree was read */
    uint32_t low, high;  /* tags in use: low .. high - 1 */
    uint64_t *count;     /* [TL_HIST_BUCKETS] of the current node */
    tl_hist_pair *pair;  /* [TL_HIST_BUCKETS] scratch */
} walk;

__attribute__((format(printf, 4, 5))) static int damage(walk *w, uint32_t at, const char *rule, const char *format, ...)
{
    char what[120];
    va_list arguments;
    if (!w->tells)
        return 0;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return tl_trace_add_damage(w->r->trace, w->e, live_offset(at), 0, rule, "%s", what);
}

static int no_memory(walk *w)
{
    return tl_fail(w->e, TL_ENOMEM, TL_NO_OFFSET, "no memory for the call tree (%" PRIu32 " places)", w->p->nplace);
}

/* ---- histograms ---- */

static void use_tag(walk *w, uint32_t tag)
{
    if (w->low >= w->high) {
        w->low = tag;
        w->high = tag + 1;
    }
    w->low = tag < w->low ? tag : w->low;
    w->high = tag >= w->high ? tag + 1 : w->high;
}

static void add_block(walk *w, const uint8_t *block, uint32_t tag, unsigned shift, uint64_t *sum)
{
    use_tag(w, tag);
    for (uint32_t i = 0; i < BLOCK_COUNTS; i++) {
        const uint64_t n = (uint64_t)tl_load32(block + LIVE_BLOCK_COUNT + 4 * i, false) << shift;
        uint64_t *count = &w->count[tag * BLOCK_COUNTS + i];
        *count = tl_add_saturated(*count, n);
        *sum = tl_add_saturated(*sum, n);
    }
}

/* Adds up the blocks of a node in w->count, and in *sum. */
static int read_blocks(walk *w, uint32_t at, uint64_t when, uint64_t *sum)
{
    uint32_t before = UINT32_MAX;
    *sum = 0;
    while (at) {
        uint8_t block[LIVE_BLOCK_SIZE];
        if (at >= before)
            return damage(w, at, "live.bad-reference", "histogram blocks out of order");
        if (w->blocks++ >= tl_input_size(w->r->in) / LIVE_BLOCK_SIZE)
            return damage(w, at, "live.bad-reference", "more blocks of histograms than fit into the file");
        const int status = live_bytes_get(&w->r->bytes, live_offset(at), block, sizeof block, &when, w->e);
        if (status < 0)
            return status;
        if (status == 0)
            return damage(w, at, "live.bad-reference", "a histogram block beyond the end of the file");
        const unsigned tag = tl_load16(block + LIVE_BLOCK_TAG, false),
                       shift = tl_load16(block + LIVE_BLOCK_SHIFT, false);
        if (tag >= TAGS || (shift != 0 && shift != 32)) {
            const int told = damage(w, at, "live.bad-block", "a block of the buckets from %u on, shifted by %u",
                                    tag * BLOCK_COUNTS, shift);
            if (told < 0)
                return told;
        } else {
            add_block(w, block, tag, shift, sum);
        }
        before = at;
        at = tl_load32(block + LIVE_BLOCK_NEXT, false);
    }
    return 0;
}

/* Moves the counts into the histogram of a place, and clears them. False: no memory. */
static bool take_counts(walk *w, tl_place_stat *s)
{
    uint32_t n = 0;
    for (uint32_t b = w->low * BLOCK_COUNTS; b < w->high * BLOCK_COUNTS; b++)
        if (w->count[b]) {
            w->pair[n++] = (tl_hist_pair){.count = w->count[b], .bucket = b};
            w->count[b] = 0;
        }
    w->low = w->high = 0;
    if (n == 0)
        return true;
    if (!s->hist.n && !s->hist.used)
        return tl_hist_assign(&s->hist, w->pair, n);
    tl_hist more = {0};
    const bool ok = tl_hist_assign(&more, w->pair, n) && tl_hist_merge(&s->hist, &more);
    tl_hist_fini(&more);
    return ok;
}

/* ---- the last call of a lane ---- */

/* As it is in the file now: not from an earlier piece, if a program is writing. */
static int read_last(walk *w, live_last *out, uint64_t *when)
{
    uint8_t lane[LIVE_LANE_SIZE];
    *when = w->r->bytes.reads + 1;
    const int status = live_bytes_get(&w->r->bytes, live_offset(w->lane), lane, sizeof lane, when, w->e);
    *out = (live_last){0};
    if (status > 0)
        *out = (live_last){.node = tl_load32(lane + LIVE_LANE_LAST_NODE, false),
                           .ticks = tl_load64(lane + LIVE_LANE_LAST_TICKS, false),
                           .inner = tl_load64(lane + LIVE_LANE_LAST_INNER, false)};
    return status;
}

/* Adds the lane's last call to the counts of a node, unless the writing program has done so meanwhile.
 * 1: it was added. */
static int add_last(walk *w)
{
    live_last now;
    uint64_t when;
    const int status = read_last(w, &now, &when);
    if (status <= 0)
        return status;
    if (now.node != w->last.node || now.ticks != w->last.ticks || now.inner != w->last.inner)
        return 0;
    const uint32_t bucket = tl_hist_bucket(now.ticks);
    use_tag(w, bucket / BLOCK_COUNTS);
    w->count[bucket] = tl_add_saturated(w->count[bucket], 1);
    return 1;
}

/* `self` is the time inside until all nodes are in: see settle(). */
static void add_sums(tl_place_stat *s, uint64_t calls, uint64_t total, uint64_t inner, uint64_t min, uint64_t max)
{
    s->calls = tl_add_saturated(s->calls, calls);
    s->total = tl_add_saturated(s->total, total);
    s->self = tl_add_saturated(s->self, inner < total ? inner : total);
    s->min = min < s->min ? min : s->min;
    s->max = max > s->max ? max : s->max;
}

/* A node with one call more than its histogram: that call, the lane's last one, was being added. The histogram comes
 * last, so its times are already in the sums; or some of them, if the lane still has it.
 * 1: it was added to the counts. */
static int complete(walk *w, uint32_t at, const uint8_t *node)
{
    const uint64_t min = tl_load64(node + LIVE_NODE_MIN, false), max = tl_load64(node + LIVE_NODE_MAX, false);
    const bool partly = w->last.node == at;
    if (!partly && (w->last.node != 0 || w->last.ticks < min || w->last.ticks > max))
        return 0;
    const int status = add_last(w);
    if (status > 0 && !partly)
        w->unfinished--;
    return status;
}

/* Adds the numbers of a node to its place. Without calls a node's times do not count: they belong to a call that is
 * being added. */
static int add_numbers(walk *w, uint32_t at, const uint8_t *node, uint64_t when, uint32_t place)
{
    uint64_t calls;
    int status = read_blocks(w, tl_load32(node + LIVE_NODE_BLOCKS, false), when, &calls);
    if (status < 0)
        return status;
    const uint64_t said = tl_load64(node + LIVE_NODE_CALLS, false);
    if (said > calls)
        w->unfinished = tl_add_saturated(w->unfinished, said - calls);
    tl_place_stat *s = &w->p->stat[place];
    if (said - calls == 1) {
        status = complete(w, at, node);
        if (status < 0)
            return status;
        calls += (uint64_t)status;
    }
    if (calls)
        add_sums(s, calls, tl_load64(node + LIVE_NODE_TOTAL, false), tl_load64(node + LIVE_NODE_INNER, false),
                 tl_load64(node + LIVE_NODE_MIN, false), tl_load64(node + LIVE_NODE_MAX, false));
    status = at == w->last.node && said == calls && status == 0 ? add_last(w) : 0;
    if (status < 0)
        return status;
    if (status > 0)
        add_sums(s, 1, w->last.ticks, w->last.inner, w->last.ticks, w->last.ticks);
    return take_counts(w, s) ? 0 : no_memory(w);
}

static uint64_t held_within(uint64_t v, uint32_t bucket)
{
    const uint64_t low = tl_hist_low(bucket), high = tl_hist_high(bucket);
    return v < low ? low : v > high ? high : v;
}

/* After all nodes: computes self time; puts the shortest and longest call where the histogram begins and ends. */
static void settle(tl_place_stat *s)
{
    if (s->calls == 0)
        return;
    tl_hist_pair pair;
    uint32_t first = tl_hist_next(&s->hist, 0), last = first;
    for (uint32_t at = 0; tl_hist_each(&s->hist, &at, &pair);)
        last = pair.bucket;
    s->self = s->total - s->self;
    s->min = held_within(s->min, first);
    s->max = held_within(s->max, last);
    if (s->max < s->min)
        s->max = s->min;
}

/* ---- nodes ---- */

static bool push(walk *w, frame f)
{
    if (!TL_GROW(w->stack, w->depth, 1, w->capacity))
        return false;
    w->stack[w->depth++] = f;
    return true;
}

/* Reads the node at a reference. 1: read; 0: invalid, which is recorded as damage; < 0: error. */
static int read_node(walk *w, uint32_t at, uint32_t parent, uint32_t before, uint8_t node[static LIVE_NODE_SIZE],
                     uint64_t *when)
{
    if (at <= parent || at >= before)
        return damage(w, at, "live.bad-reference", "a node %s",
                      at <= parent ? "before its parent" : "after the sibling that refers to it");
    const int status = live_bytes_get(&w->r->bytes, live_offset(at), node, LIVE_NODE_SIZE, when, w->e);
    if (status < 0)
        return status;
    if (status == 0)
        return damage(w, at, "live.bad-reference", "a node beyond the end of the file");
    if (tl_load32(node + LIVE_NODE_PARENT, false) != parent)
        return damage(w, at, "live.bad-reference", "a node whose parent is another one");
    return 1;
}

static int add_node(walk *w, uint32_t parent, uint32_t at, const uint8_t *node, uint64_t when, uint32_t *place)
{
    const uint32_t id = tl_load32(node + LIVE_NODE_FUNCTION, false);
    const uint32_t function = tl_profile_intern_function(w->p, w->r->trace, id);
    *place = function == TL_HASH_NONE ? TL_HASH_NONE : tl_profile_child(w->p, parent, function);
    return *place == TL_HASH_NONE ? no_memory(w) : add_numbers(w, at, node, when, *place);
}

/* All nodes below a root, depth-first: children before the next sibling. */
static int read_tree(walk *w, uint32_t root, uint32_t root_place)
{
    uint8_t node[LIVE_NODE_SIZE];
    uint64_t when;
    int got = read_last(w, &w->last, &when);
    if (got >= 0)
        got = live_bytes_get(&w->r->bytes, live_offset(root), node, sizeof node, &when, w->e);
    if (got < 0)
        return got;
    if (got == 0 || root == 0 || tl_load32(node + LIVE_NODE_PARENT, false) != 0)
        return damage(w, root, "live.bad-reference", "bad reference to the root of a thread's tree");
    uint32_t at = tl_load32(node + LIVE_NODE_CHILD, false), before = UINT32_MAX, parent = root, place = root_place;
    w->depth = 0;
    for (;;) {
        uint64_t as_of = when;
        uint32_t found = 0;
        int status = at ? read_node(w, at, parent, before, node, &as_of) : 0;
        if (status > 0)
            status = add_node(w, place, at, node, as_of, &found);
        else if (status == 0 && w->depth == 0)
            return 0;
        else if (status == 0) {
            const frame *f = &w->stack[--w->depth];
            before = parent;
            parent = f->at;
            at = f->sibling;
            place = f->place;
            when = f->when;
            continue;
        }
        if (status < 0)
            return status;
        if (!push(w, (frame){parent, tl_load32(node + LIVE_NODE_SIBLING, false), place, as_of}))
            return no_memory(w);
        parent = at;
        at = tl_load32(node + LIVE_NODE_CHILD, false);
        before = UINT32_MAX;
        place = found;
        when = as_of;
    }
}

/* ---- lanes ---- */

/* The root of a lane's thread in the profile. `several`: number of lanes so far that had several threads. */
static uint32_t thread_root(walk *w, const live_lane *l, uint32_t several)
{
    char text[48];
    const char *name = l->threads > 1 ? NULL : tl_recording_thread(w->r->trace, l->tid);
    if (l->threads > 1)
        snprintf(text, sizeof text, "%" PRIu32 " threads, %" PRIu32, l->threads, several);
    else
        snprintf(text, sizeof text, "%s %" PRIu32, l->name[0] ? l->name : "thread", l->tid);
    const tl_track track = {
        .name = name ? name : text, .pid = l->pid, .tid = l->tid, .has_pid = true, .has_tid = l->threads <= 1};
    return tl_profile_thread_root(w->p, &track);
}

static int read_lanes(walk *w)
{
    tl_hash roots = {0};
    uint32_t several = 0;
    int status = 0;
    for (uint32_t i = 0; status >= 0 && i < w->r->nlane; i++) {
        const live_lane *l = &w->r->lane[i];
        several += l->threads > 1;
        const uint32_t place = thread_root(w, l, several);
        if (tl_hash_get(&roots, l->root) != TL_HASH_NONE)
            status = damage(w, l->at, "live.bad-reference", "two threads have one tree");
        else if (place == TL_HASH_NONE || !tl_hash_put(&roots, l->root, i))
            status = no_memory(w);
        else {
            w->lane = l->at;
            status = read_tree(w, l->root, place);
        }
    }
    tl_hash_fini(&roots);
    return status;
}

/* Reports calls that are in no histogram and so do not count. */
static int tell_unfinished(walk *w)
{
    const tl_damage note = {.offset = TL_NO_OFFSET, .kind = TL_DAMAGE_NOTE, .rule = "live.unfinished"};
    if (!w->tells || !w->unfinished)
        return 0;
    const char *why = w->r->done ? "had no room" : w->unfinished == 1 ? "was being added" : "were being added";
    return tl_trace_report(w->r->trace, w->e, &note, "%" PRIu64 " call%s %s when the program ended; not counted",
                           w->unfinished, w->unfinished == 1 ? "" : "s", why);
}

int live_read_trees(live_reader *r, tl_profile *p, bool tells, tl_error *e)
{
    walk w = {.r = r, .p = p, .e = e, .tells = tells};
    w.count = calloc(TL_HIST_BUCKETS, sizeof *w.count);
    w.pair = tl_alloc(TL_HIST_BUCKETS, sizeof *w.pair);
    p->per_thread = true;
    int status = w.count && w.pair ? read_lanes(&w) : no_memory(&w);
    for (uint32_t i = 1; status >= 0 && i < p->nplace; i++)
        settle(&p->stat[i]);
    if (status >= 0)
        status = tell_unfinished(&w);
    if (status >= 0)
        status = tl_profile_set_outer(p, e);
    free(w.count);
    free(w.pair);
    free(w.stack);
    return status < 0 ? status : 0;
}
