/* A profile of samples made by hand, for tests of writers. */
#ifndef TL_TEST_SAMPLED_FIXTURE_H
#define TL_TEST_SAMPLED_FIXTURE_H

#include "profile_fixture.h"

/* One sample every 10 ms. */
static inline void weigh(profiled *f, uint32_t place, uint64_t samples, uint64_t bytes, uint64_t objects)
{
    tl_profile_weigh(f->p, place, TL_WEIGHT_SAMPLES, samples);
    tl_profile_weigh(f->p, place, TL_WEIGHT_TIME, samples * 10);
    tl_profile_weigh(f->p, place, TL_WEIGHT_ALLOC_SPACE, bytes);
    tl_profile_weigh(f->p, place, TL_WEIGHT_ALLOC_OBJECTS, objects);
    f->p->samples.counted += samples;
}

static inline uint32_t sampled_function(profiled *f, int64_t id, const char *name, const char *library, uint32_t flags)
{
    const tl_function made = {.id = id, .name = name, .library = library, .flags = flags};
    const uint32_t index = tl_profile_add_function(f->p, &made);
    assert_int_not_equal(index, TL_HASH_NONE);
    return index;
}

static inline uint32_t sampled_place(profiled *f, uint32_t parent, uint32_t function)
{
    const uint32_t place = tl_profile_child(f->p, parent, function);
    assert_int_not_equal(place, TL_HASH_NONE);
    return place;
}

/* Ticks are ms. By stack, what it has itself:
 *
 *   Main            1 sample
 *   Main;Work       3 samples,  100 bytes in 2 objects
 *   Main;Work;Main  2 samples                           recursion
 *   Main;Work;?     1 sample
 *   Main;0x7                    3000 bytes in 1 object
 *
 * and two samples with an empty stack. */
static inline void sampled_init(profiled *f, const char *weight)
{
    profiled_init(f, 1000);
    assert_int_equal(tl_profile_make_sampled(f->p, tl_sample_weight, TL_SAMPLE_WEIGHTS, NULL), 0);
    const uint32_t work = sampled_function(f, 6, "Work", "/opt/app.exe", TL_FUNCTION_HEX_ID),
                   nameless = sampled_function(f, 7, NULL, NULL, TL_FUNCTION_HEX_ID),
                   main = sampled_function(f, 5, "Main", "/opt/app.exe", TL_FUNCTION_HEX_ID),
                   unknown = sampled_function(f, 0, NULL, NULL, TL_FUNCTION_UNKNOWN);
    const uint32_t outer = sampled_place(f, 0, main), inner = sampled_place(f, outer, work);
    weigh(f, outer, 1, 0, 0);
    weigh(f, inner, 3, 100, 2);
    weigh(f, sampled_place(f, inner, main), 2, 0, 0);
    weigh(f, sampled_place(f, inner, unknown), 1, 0, 0);
    weigh(f, sampled_place(f, outer, nameless), 0, 3000, 1);
    f->p->samples.counted += 2;
    f->p->samples.empty = 2;
    f->p->samples.paused = 9;
    f->p->has_span = true;
    f->p->begin = 20;
    f->p->end = 500;
    assert_int_equal(tl_profile_choose_weight(f->p, weight, NULL), 0);
}

#endif
