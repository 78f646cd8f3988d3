/* Writes .tlp files, part: lanes become threads, and their nodes places.
 *
 * Lanes of one thread (same numbers, same name) become one tree, as the library does it; so a place has a list of
 * nodes, mostly of one. */
#include <errno.h>

#include "rt/mode/rt_tlp_impl.h"
#include "rt/rt_say.h"

enum { PLACES_MAX = (1 << 26) - 2 }; /* a reader's limit */

/* ---- lanes ---- */

static void add_text(char *out, uint32_t *n, const char *s)
{
    for (; *s; s++)
        out[(*n)++] = *s;
}

static void add_number(char *out, uint32_t *n, uint32_t v)
{
    char digit[10];
    uint32_t digits = 0;
    do
        digit[digits++] = (char)('0' + v % 10);
    while (v /= 10);
    while (digits)
        out[(*n)++] = digit[--digits];
}

/* What a thread is called: "worker 4711", "thread 4711" without a name; "3 threads, 1" is the first lane of several
 * threads. */
static const char *thread_name(tlp_writer *m, const uint8_t *lane, uint32_t threads, uint32_t tid, uint32_t number)
{
    enum { NAME = 16, ROOM = 48 };
    char text[ROOM];
    uint32_t n = 0;
    const tlp_note *note = tl_rt_tlp_find(m->named, m->nnamed, tid);
    if (threads > 1) {
        add_number(text, &n, threads);
        add_text(text, &n, " threads, ");
        add_number(text, &n, number);
        return tl_rt_tlp_copy(m, text, n);
    }
    const size_t length = note && note->name ? rt_length(note->name) : 0;
    char *out = tl_rt_tlp_take(m, length + ROOM);
    if (!out)
        return NULL;
    if (length)
        add_text(out, &n, note->name);
    for (uint32_t i = 0; !length && i < NAME && lane[LIVE_LANE_NAME + i]; i++)
        out[n++] = (char)lane[LIVE_LANE_NAME + i];
    if (!n)
        add_text(out, &n, "thread");
    add_text(out, &n, " ");
    add_number(out, &n, tid);
    return out;
}

static void read_lane(tlp_writer *m, tlp_lane *l, uint32_t *several)
{
    const uint8_t *p = tlp_at(m, l->at, LIVE_LANE_SIZE);
    const uint32_t threads = tlp_load32(p + LIVE_LANE_THREADS);
    *several += threads > 1;
    l->key.pid = tlp_load32(p + LIVE_LANE_PID);
    l->key.has_tid = threads <= 1;
    l->key.tid = l->key.has_tid ? tlp_load32(p + LIVE_LANE_TID) : 0;
    l->key.name = tl_rt_tlp_string(m, thread_name(m, p, threads, l->key.tid, *several));
    m->open = tlp_add(m->open, tlp_load32(p + LIVE_LANE_OPEN));
    m->exits = tlp_add(m->exits, tlp_load64(p + LIVE_LANE_EXITS));
    m->lost = tlp_add(m->lost, tlp_load64(p + LIVE_LANE_LOST));
}

static int compare_lanes(const tlp_writer *m, const tlp_thread *a, const tlp_thread *b)
{
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->has_tid != b->has_tid)
        return a->has_tid ? 1 : -1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return tl_rt_tlp_compare(m, a->name, b->name);
}

static bool lane_after(const tlp_writer *m, uint32_t a, uint32_t b)
{
    return compare_lanes(m, &m->lane[a].key, &m->lane[b].key) > 0;
}

/* Lanes in the order of the file, those of one thread side by side: they get one number. */
static void find_threads(tlp_writer *m)
{
    uint32_t *order = tl_rt_tlp_numbers(m, m->nlane);
    m->thread = tl_rt_tlp_take(m, m->nlane * (uint64_t)sizeof *m->thread);
    if (!order || !m->thread)
        return;
    tl_rt_tlp_sort(m, order, order + m->nlane, m->nlane, lane_after);
    for (uint32_t i = 0; i < m->nlane; i++) {
        tlp_lane *l = &m->lane[order[i]];
        if (!i || lane_after(m, order[i], order[i - 1]))
            m->thread[m->nthread++] = l->key;
        l->thread = m->nthread - 1;
    }
}

void tl_rt_tlp_read_lanes(tlp_writer *m)
{
    live_chain chain = {0};
    const uint8_t *p;
    for (uint32_t at = tlp_load32(m->image + LIVE_HEADER_LANES);
         (p = tlp_at(m, at, LIVE_LANE_SIZE)) && !live_circles(&chain, at); at = tlp_load32(p + LIVE_LANE_NEXT)) {
        if (!tl_rt_tlp_grow(m, &m->lane, m->nlane, sizeof *m->lane))
            return;
        m->lane[m->nlane++] = (tlp_lane){.at = at};
    }
    for (uint32_t i = 0; i < m->nlane / 2; i++) { /* the chain begins with the last one */
        tlp_lane *a = &m->lane[i], *b = &m->lane[m->nlane - 1 - i], c = *a;
        *a = *b;
        *b = c;
    }
    uint32_t several = 0;
    for (uint32_t i = 0; i < m->nlane; i++)
        read_lane(m, &m->lane[i], &several);
    if (!m->error)
        find_threads(m);
}

/* ---- nodes ---- */

/* A node's field that is a reference, or its function. */
static uint32_t field(const tlp_writer *m, uint32_t node, uint32_t offset)
{
    return tlp_load32(m->image + (uint64_t)node * LIVE_UNIT + offset);
}

/* A node, if it is one: it lies in the image, and its parent is the one that names it. Else 0. */
static uint32_t child_of(const tlp_writer *m, uint32_t node, uint32_t parent)
{
    return node > parent && tlp_at(m, node, LIVE_NODE_SIZE) && field(m, node, LIVE_NODE_PARENT) == parent ? node : 0;
}

/* The node after another one: a child, a sibling, or a sibling of a node that is `up` levels further up. 0: that was
 * the last one. */
static uint32_t next_node(const tlp_writer *m, uint32_t root, uint32_t at, uint32_t *up)
{
    *up = 0;
    uint32_t next = child_of(m, field(m, at, LIVE_NODE_CHILD), at);
    while (!next && at != root) {
        const uint32_t sibling = field(m, at, LIVE_NODE_SIBLING), parent = field(m, at, LIVE_NODE_PARENT);
        next = sibling < at ? child_of(m, sibling, parent) : 0;
        at = parent;
        ++*up;
    }
    return next;
}

static uint32_t root_of(const tlp_writer *m, const tlp_lane *l)
{
    const uint32_t root = tlp_load32(tlp_at(m, l->at, LIVE_LANE_SIZE) + LIVE_LANE_ROOT);
    return tlp_at(m, root, LIVE_NODE_SIZE) ? root : 0;
}

/* The slot of a place, or of a function where parent is TLP_NONE; a free one if it is not known. */
static uint32_t *slot_of(const tlp_writer *m, uint32_t parent, uint32_t what)
{
    const uint64_t h = ((uint64_t)parent << 32 | what) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = (uint32_t)(h >> 32) & m->known_mask;; i = (i + 1) & m->known_mask) {
        const uint32_t found = m->known[i];
        if (!found)
            return &m->known[i];
        if (parent == TLP_NONE
                ? (found & TLP_FUNCTION) && m->function[found & ~TLP_FUNCTION].id == what
                : !(found & TLP_FUNCTION) && m->place[found].parent == parent && m->place[found].function == what)
            return &m->known[i];
    }
}

/* Index of a function by its number; TLP_NONE: no memory. */
static uint32_t function_of(tlp_writer *m, uint32_t id)
{
    uint32_t *slot = slot_of(m, TLP_NONE, id);
    if (!*slot) {
        if (!tl_rt_tlp_grow(m, &m->function, m->nfunction, sizeof *m->function))
            return TLP_NONE;
        m->function[m->nfunction] = (tlp_function){.id = id};
        *slot = m->nfunction++ | TLP_FUNCTION;
    }
    return *slot & ~TLP_FUNCTION;
}

/* Adds a node to its place; 0: there is no room. */
static uint32_t add_node(tlp_writer *m, uint32_t parent, uint32_t node, uint32_t lane)
{
    const uint32_t function = m->nnode < m->capacity ? function_of(m, field(m, node, LIVE_NODE_FUNCTION)) : TLP_NONE;
    if (function == TLP_NONE)
        return 0;
    uint32_t *slot = slot_of(m, parent, function);
    if (!*slot) {
        m->place[m->nplace] = (tlp_place){.parent = parent, .function = function, .nodes = TLP_NONE};
        *slot = m->nplace++;
    }
    m->node[m->nnode] = (tlp_node){.at = node, .next = m->place[*slot].nodes, .lane = lane};
    m->place[*slot].nodes = m->nnode++;
    return *slot;
}

/* What was added to the tree since it was counted, and does not fit, is left for the next time. */
static void read_lane_tree(tlp_writer *m, const tlp_lane *l)
{
    const uint32_t root = root_of(m, l);
    uint32_t place = 1 + l->thread, up;
    for (uint32_t at = root; at && (at = next_node(m, root, at, &up));) {
        for (; up; up--)
            place = m->place[place].parent;
        place = add_node(m, place, at, l->at);
        if (!place)
            return;
    }
}

void tl_rt_tlp_read_tree(tlp_writer *m)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < m->nlane; i++) {
        const uint32_t root = root_of(m, &m->lane[i]);
        uint32_t up;
        for (uint32_t at = root; at && n <= PLACES_MAX && (at = next_node(m, root, at, &up));)
            n++;
    }
    n += n / 8 + 64;
    if (n + m->nthread > PLACES_MAX) {
        tl_rt_tlp_fail(m, -EFBIG);
        return;
    }
    m->capacity = (uint32_t)n;
    uint64_t slots = 64;
    while (slots < 3 * n) /* at most two entries a node */
        slots *= 2;
    m->known_mask = (uint32_t)(slots - 1);
    m->place = tl_rt_tlp_take(m, (n + m->nthread + 1) * sizeof *m->place);
    m->node = tl_rt_tlp_take(m, n * sizeof *m->node);
    m->known = tl_rt_tlp_take(m, slots * sizeof *m->known);
    if (!m->place || !m->node || !m->known)
        return;
    m->place[m->nplace++] = (tlp_place){.function = TLP_NONE, .nodes = TLP_NONE};
    for (uint32_t i = 0; i < m->nthread; i++)
        m->place[m->nplace++] = (tlp_place){.function = i, .nodes = TLP_NONE};
    for (uint32_t i = 0; i < m->nlane; i++)
        read_lane_tree(m, &m->lane[i]);
}
