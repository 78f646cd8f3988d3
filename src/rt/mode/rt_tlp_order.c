/* Writes .tlp files, part: places in the order of the file, depth-first and siblings by thread or function; and their
 * numbers. */
#include "model/hist_layout.h"
#include "rt/mode/rt_tlp_impl.h"

enum {
    BLOCK_COUNTS = 16,
    TAGS = TL_HIST_BUCKETS / BLOCK_COUNTS,
    PIECE = 1 << 16 /* bytes of a column that are taken at once */
};

/* ---- order ---- */

static uint32_t code_of(const tlp_writer *m, uint32_t place)
{
    return place <= m->nthread ? place - 1 : m->function_code[m->place[place].function];
}

/* All places but the root by code, by counting; as many go into sorted[]. */
static bool sort_places(tlp_writer *m, uint32_t *sorted)
{
    const uint32_t codes = m->nthread + m->nfunction;
    uint32_t *start = tl_rt_tlp_take(m, (codes + 1) * (uint64_t)sizeof *start);
    if (!start)
        return false;
    for (uint32_t i = 1; i < m->nplace; i++)
        start[code_of(m, i) + 1]++;
    for (uint32_t i = 0; i < codes; i++)
        start[i + 1] += start[i];
    for (uint32_t i = 1; i < m->nplace; i++)
        sorted[start[code_of(m, i)]++] = i;
    return true;
}

void tl_rt_tlp_order(tlp_writer *m)
{
    const uint64_t bytes = m->nplace * (uint64_t)sizeof(uint32_t);
    uint32_t *first = tl_rt_tlp_take(m, bytes), *next = tl_rt_tlp_take(m, bytes); /* child, sibling; 0: none */
    m->order = tl_rt_tlp_take(m, bytes);
    m->least = tl_rt_tlp_take(m, bytes);
    if (!first || !next || !m->order || !m->least || !sort_places(m, m->order))
        return;
    for (uint32_t i = m->nplace - 1; i > 0; i--) {
        const uint32_t place = m->order[i - 1], parent = m->place[place].parent;
        next[place] = first[parent];
        first[parent] = place;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->nplace; i++) {
        m->order[i] = at;
        if (first[at]) {
            at = first[at];
            continue;
        }
        while (at && !next[at])
            at = m->place[at].parent;
        at = next[at];
    }
}

/* ---- numbers ---- */

typedef struct histogram {
    uint32_t low, high; /* tags in use: low .. high - 1 */
    uint64_t count[TL_HIST_BUCKETS];
} histogram;

static uint64_t bucket_begin(uint32_t b)
{
    return b < 2 * TL_HIST_SUB ? b : (uint64_t)(TL_HIST_SUB + b % TL_HIST_SUB) << (b / TL_HIST_SUB - 1);
}

static uint64_t bucket_end(uint32_t b) /* the last value */
{
    return b < 2 * TL_HIST_SUB ? b : bucket_begin(b) + ((uint64_t)1 << (b / TL_HIST_SUB - 1)) - 1;
}

static void use_tag(histogram *h, uint32_t tag)
{
    if (h->low >= h->high) {
        h->low = tag;
        h->high = tag + 1;
    }
    h->low = tag < h->low ? tag : h->low;
    h->high = tag >= h->high ? tag + 1 : h->high;
}

/* Adds the blocks of a node; returns the sum of their counts. */
static uint64_t add_blocks(const tlp_writer *m, histogram *h, uint32_t at)
{
    uint64_t sum = 0;
    live_chain chain = {0};
    const uint8_t *p;
    for (; (p = tlp_at(m, at, LIVE_BLOCK_SIZE)) && !live_circles(&chain, at); at = tlp_load32(p + LIVE_BLOCK_NEXT)) {
        const uint32_t word = tlp_load32(p + LIVE_BLOCK_TAG), tag = word & 0xffff, shift = word >> 16;
        if (tag >= TAGS || (shift != 0 && shift != 32))
            continue;
        use_tag(h, tag);
        for (uint32_t i = 0; i < BLOCK_COUNTS; i++) {
            const uint64_t n = (uint64_t)tlp_load32(p + LIVE_BLOCK_COUNT + 4 * i) << shift;
            uint64_t *count = &h->count[tag * BLOCK_COUNTS + i];
            *count = tlp_add(*count, n);
            sum = tlp_add(sum, n);
        }
    }
    return sum;
}

static void add_sums(tlp_numbers *s, uint64_t calls, uint64_t total, uint64_t inner, uint64_t min, uint64_t max)
{
    s->calls = tlp_add(s->calls, calls);
    s->total = tlp_add(s->total, total);
    s->inner = tlp_add(s->inner, inner < total ? inner : total);
    s->min = min < s->min ? min : s->min;
    s->max = max > s->max ? max : s->max;
}

/* The call that ended last in a lane, and waits to be added to its node. */
typedef struct last_call {
    uint32_t node;
    uint64_t ticks, inner;
} last_call;

static last_call last_of(const tlp_writer *m, uint32_t lane)
{
    const uint8_t *p = tlp_at(m, lane, LIVE_LANE_SIZE);
    last_call c = {.node = tlp_load32(p + LIVE_LANE_LAST_NODE)};
    c.ticks = tlp_load64(p + LIVE_LANE_LAST_TICKS);
    c.inner = tlp_load64(p + LIVE_LANE_LAST_INNER);
    return c;
}

/* Adds what a node has at this moment. Its calls are the sum of its histogram; one without has no times either: they
 * are of a call that is being added. The lane's last call is added, too, if it waited all the while: it is the same
 * before and after, and the node's calls were as many as in its histogram, and did not change. */
static void add_node_numbers(const tlp_writer *m, histogram *h, tlp_numbers *s, const tlp_node *node)
{
    const uint8_t *p = tlp_at(m, node->at, LIVE_NODE_SIZE);
    const last_call before = last_of(m, node->lane);
    const uint64_t said = tlp_load64(p + LIVE_NODE_CALLS);
    const uint64_t calls = add_blocks(m, h, tlp_load32(p + LIVE_NODE_BLOCKS));
    if (calls)
        add_sums(s, calls, tlp_load64(p + LIVE_NODE_TOTAL), tlp_load64(p + LIVE_NODE_INNER),
                 tlp_load64(p + LIVE_NODE_MIN), tlp_load64(p + LIVE_NODE_MAX));
    if (before.node != node->at || said != calls)
        return;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (tlp_load64(p + LIVE_NODE_CALLS) != said)
        return;
    const last_call now = last_of(m, node->lane);
    if (now.node != before.node || now.ticks != before.ticks || now.inner != before.inner)
        return;
    const uint32_t bucket = tl_hist_bucket_of(now.ticks);
    use_tag(h, bucket / BLOCK_COUNTS);
    h->count[bucket] = tlp_add(h->count[bucket], 1);
    add_sums(s, 1, now.ticks, now.inner, now.ticks, now.ticks);
}

static uint64_t held_within(uint64_t v, uint32_t bucket)
{
    const uint64_t low = bucket_begin(bucket), high = bucket_end(bucket);
    return v < low ? low : v > high ? high : v;
}

static void put_byte(tlp_writer *m, uint8_t byte)
{
    if (!m->bucket_last || m->bucket_last->used == PIECE) {
        tlp_bytes *more = tl_rt_tlp_take(m, sizeof *more + PIECE);
        if (!more)
            return;
        if (m->bucket_last)
            m->bucket_last->next = more;
        else
            m->bucket_first = more;
        m->bucket_last = more;
    }
    m->bucket_last->byte[m->bucket_last->used++] = byte;
}

static void put_number(tlp_writer *m, uint64_t v)
{
    uint8_t byte[10];
    const uint32_t n = tl_rt_tlp_varint(v, byte);
    for (uint32_t i = 0; i < n; i++)
        put_byte(m, byte[i]);
}

/* min and max lie in the first and the last bucket; if that is one bucket, there is nothing more to say. */
static void put_histogram(tlp_writer *m, const histogram *h, tlp_numbers *s)
{
    uint32_t first = h->low * BLOCK_COUNTS, last = h->high * BLOCK_COUNTS - 1;
    while (!h->count[first])
        first++;
    while (!h->count[last])
        last--;
    s->min = held_within(s->min, first);
    s->max = held_within(s->max, last);
    if (s->max < s->min)
        s->max = s->min;
    if (first == last)
        return;
    put_number(m, h->count[first]);
    for (uint32_t b = first + 1, before = first; b <= last; b++)
        if (h->count[b]) {
            put_number(m, b - before);
            put_number(m, h->count[b]);
            before = b;
        }
}

/* Ticks of calls that lie in no other call of the same function: all of a place or none. A place whose calls never
 * ended hides nothing. */
static void find_outer(tlp_writer *m)
{
    uint32_t *open = tl_rt_tlp_take(m, (m->nfunction + 1) * (uint64_t)sizeof *open); /* of each function on the stack */
    uint32_t *position = m->least;
    for (uint32_t i = 1; open && i < m->nplace; i++) {
        const tlp_place *at = &m->place[m->order[i]];
        position[m->order[i]] = i;
        for (uint32_t last = m->order[i - 1]; last != at->parent; last = m->place[last].parent)
            if (last > m->nthread && m->numbers[position[last]].calls)
                open[m->place[last].function]--;
        if (m->order[i] <= m->nthread)
            continue;
        m->numbers[i].outer = open[at->function] ? 0 : m->numbers[i].total;
        open[at->function] += m->numbers[i].calls != 0;
    }
}

void tl_rt_tlp_read_numbers(tlp_writer *m)
{
    histogram *h = tl_rt_tlp_take(m, sizeof *h);
    m->numbers = tl_rt_tlp_take(m, m->nplace * (uint64_t)sizeof *m->numbers);
    if (!h || !m->numbers)
        return;
    for (uint32_t i = 1; i < m->nplace && !m->error; i++) {
        tlp_numbers *s = &m->numbers[i];
        s->min = UINT64_MAX;
        for (uint32_t n = m->place[m->order[i]].nodes; n != TLP_NONE; n = m->node[n].next)
            add_node_numbers(m, h, s, &m->node[n]);
        if (s->calls)
            put_histogram(m, h, s);
        if (h->low < h->high)
            rt_zero(h->count + h->low * BLOCK_COUNTS, (h->high - h->low) * BLOCK_COUNTS * sizeof h->count[0]);
        h->low = h->high = 0;
    }
    find_outer(m);
}
