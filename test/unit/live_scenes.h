/* Images of recorded profiles that the library must read. */
#ifndef TL_TEST_LIVE_SCENES_H
#define TL_TEST_LIVE_SCENES_H

#include "live_fixture.h"

/* One thread with deeper and deeper calls. */
static inline void scene_deep(live_image *m)
{
    enum { DEPTH = 100000 };
    image_init(m);
    image_table(m, 2, 0, 1000, 0x1000);
    uint32_t node = image_lane(m, 1, 1, "", "thread 1");
    for (uint32_t i = 0; i < DEPTH; i++) {
        node = image_node(m, node, 1 + i % 3);
        image_call(m, node, 2 * (uint64_t)(DEPTH - i), 2 * (uint64_t)(DEPTH - i) - 2);
    }
}

/* Counts of several blocks of the same buckets, more than 32 bits together. */
static inline void scene_many_calls(live_image *m)
{
    image_init(m);
    image_table(m, 2, 0, 1000, 0x1000);
    const uint32_t node = image_node(m, image_lane(m, 1, 1, "", "thread 1"), 1);
    image_call(m, node, 100, 0);
    image_call(m, node, 100000, 0);
    image_call(m, node, UINT64_MAX / 2, 7);
    image_count(m, node, tl_hist_bucket(100), 3, 32, false);
    image_count(m, node, tl_hist_bucket(100), 2, 32, true);
    image_count(m, node, tl_hist_bucket(100000), 1, 32, false);
    const uint64_t more = UINT64_C(6) << 32;
    image_add(m, image_at(node) + LIVE_NODE_CALLS, more);
    tl_place_stat *s = &m->p->stat[m->place[node]];
    s->calls += more;
    assert_true(tl_hist_add_slow(&s->hist, tl_hist_bucket(100), UINT64_C(5) << 32));
    assert_true(tl_hist_add_slow(&s->hist, tl_hist_bucket(100000), UINT64_C(1) << 32));
}

/* Six lanes of five threads: two of the same thread, two of several threads each, and one named by a note. */
static inline void scene_lanes(live_image *m, uint32_t root[6], const char *noted, const char *note)
{
    image_init(m);
    image_table(m, 2, 0, 1000, 0x1000);
    root[0] = image_lane(m, 20, 1, "b", "b 20");
    root[1] = image_lane(m, 10, 1, "sixteen letters!", "sixteen letters! 10");
    root[2] = image_lane(m, 30, 3, "c", "3 threads, 1");
    root[3] = image_lane(m, 20, 1, "b", "b 20");
    root[4] = image_lane(m, 40, 3, "d", "3 threads, 2");
    root[5] = image_lane(m, 50, 1, "e", noted);
    image_text(m, note);
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t outer = image_node(m, root[i], 1), inner = image_node(m, outer, 2 + i % 2);
        image_call(m, inner, 10 + i, 0);
        image_call(m, outer, 100 + i, 10 + i);
    }
    assert_int_equal(m->p->ntrack, 5);
}

/* The losses of lane number `i` of a scene. */
static inline void scene_losses(live_image *m, uint32_t root, uint32_t i)
{
    const size_t lane = image_at(root) - LIVE_LANE_SIZE;
    put32(m, lane + LIVE_LANE_OPEN, i);
    tl_store64(m->bytes + lane + LIVE_LANE_LOST, 10 * i, false);
    tl_store64(m->bytes + lane + LIVE_LANE_EXITS, 100 * i, false);
}

/* Two calls are being added: they are in calls and times, but in no histogram. */
static inline void scene_adding(live_image *m)
{
    image_init(m);
    put32(m, LIVE_HEADER_STATE, 0);
    image_table(m, 2, 0, 1000, 0x1000);
    const uint32_t root = image_lane(m, 1, 1, "", "thread 1"), node = image_node(m, root, 1);
    const uint32_t other = image_node(m, root, 2);
    image_call(m, node, 1000, 0);
    image_call(m, node, 2000, 0);
    image_add(m, image_at(node) + LIVE_NODE_CALLS, 1);
    tl_store64(m->bytes + image_at(node) + LIVE_NODE_MIN, 3, false);
    tl_store64(m->bytes + image_at(node) + LIVE_NODE_MAX, 9999, false);
    image_add(m, image_at(other) + LIVE_NODE_CALLS, 1); /* its first one */
    image_add(m, image_at(other) + LIVE_NODE_TOTAL, 5);
    tl_store64(m->bytes + image_at(other) + LIVE_NODE_MIN, 5, false);
    tl_place_stat *s = &m->p->stat[m->place[node]];
    s->min = tl_hist_low(tl_hist_bucket(1000)); /* limited to the first and last bucket */
    s->max = tl_hist_high(tl_hist_bucket(2000));
}

#endif
