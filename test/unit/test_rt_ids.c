/* Numbers of functions by address: found again, noted, left out; requested by threads and signal handlers at once. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <pthread.h>

#include "rt/object/rt_ids.c"

/* ---- the rest of the recorder, as far as numbers need it ---- */

rt_core tl_rt;
__thread rt_lane *tl_rt_lane;
static rt_lane *given; /* to a thread that has no lane */
static uint32_t nnote;
static char last_note[1024];
static uint8_t noted[4096]; /* by number */
static bool patterns;
static uintptr_t unwanted;
static bool leaves; /* the object is just being unloaded */

rt_lane *tl_rt_lane_attach(void)
{
    tl_rt_lane = given;
    if (given)
        given->busy = UINTPTR_MAX;
    return given;
}

bool tl_rt_note(const rt_line *l)
{
    static rt_lock lock;
    rt_lock_take(&lock);
    nnote++;
    memcpy(last_note, l->text, l->n + 1);
    uint64_t id = strtoull(l->text + strlen("function id="), NULL, 10);
    if (id < sizeof noted)
        noted[id]++;
    rt_lock_give(&lock);
    return true;
}

const rt_object *tl_rt_object_at(uintptr_t address)
{
    static rt_object object = {.id = 3, .bias = 0x1000};
    object.gone = leaves;
    return address >= 0x1000 ? &object : NULL;
}

bool tl_rt_wanted_patterns(void)
{
    return patterns;
}

bool tl_rt_wanted(const rt_object *o, uintptr_t address)
{
    (void)o;
    return !patterns || address != unwanted;
}

/* What a hook does. */
static uint32_t id_of(uintptr_t address)
{
    const rt_address_slot *s = rt_address_at_home(tl_rt_address_slots, address);
    uint32_t id = s ? __atomic_load_n(&s->id, __ATOMIC_RELAXED) : 0;
    return id && !(id & RT_ID_FLAGGED) ? id : tl_rt_ids_of_address_slow(address);
}

static int begin(void **state)
{
    static rt_lane lane;
    memset(&lane, 0, sizeof lane);
    given = NULL;
    tl_rt_lane = &lane;
    tl_rt.state = RT_ON;
    patterns = leaves = false;
    nnote = 0;
    memset(noted, 0, sizeof noted);
    nslot = last = 0;
    if (tl_rt_address_slots)
        tl_rt_memory_give(tl_rt_address_slots, RT_ADDRESS_SLOTS * sizeof *tl_rt_address_slots);
    tl_rt_address_slots = NULL;
    return tl_rt_ids_begin() ? 0 : -1;
}

static void test_ranges_follow_each_other(void **state)
{
    assert_int_equal(tl_rt_ids_take(3), 0);
    assert_int_equal(tl_rt_ids_take(0), 3);
    assert_int_equal(tl_rt_ids_take(1), 3);
    assert_int_equal(tl_rt_ids_take(RT_ID_MAX - 4), 4);
    assert_int_equal(tl_rt_ids_take(1), UINT32_MAX);
    assert_int_equal(tl_rt_ids_take(0), RT_ID_MAX);
}

static void test_an_address_keeps_its_number(void **state)
{
    tl_rt_ids_take(10);
    assert_int_equal(id_of(0x401000), 11);
    assert_int_equal(id_of(0x401040), 12);
    assert_int_equal(id_of(0x401000), 11);
    assert_int_equal(nnote, 2);
    assert_string_equal(last_note, "function id=12 object=3 address=0x400040");
    id_of(0x40); /* in no object */
    assert_string_equal(last_note, "function id=13 object=0 address=0x40");
}

/* Addresses with the same home come after each other, also across the end of the table. */
static void test_shared_homes(void **state)
{
    enum { SAME = 5 };
    uintptr_t base[] = {0x555555554000, (uintptr_t)(RT_ADDRESS_SLOTS - 1) << 5};
    for (unsigned b = 0; b < 2; b++) {
        uintptr_t a[SAME];
        for (uintptr_t i = 0, low = base[b]; i < SAME; i++, low += (uintptr_t)1 << 25) {
            /* The bits above 25 are folded onto the lower ones; this undoes it. */
            a[i] = low ^ ((low >> 25 ^ base[b] >> 25) & (RT_ADDRESS_SLOTS - 1)) << 5;
            assert_int_equal(rt_address_home(a[i]), rt_address_home(base[b]));
        }
        uint32_t before = last;
        for (unsigned i = 0; i < SAME; i++)
            assert_int_equal(id_of(a[i]), before + 1 + i);
        for (unsigned i = 0; i < SAME; i++)
            assert_int_equal(id_of(a[i]), before + 1 + i);
    }
}

static void test_patterns_leave_out(void **state)
{
    patterns = true;
    unwanted = 0x2000;
    assert_int_equal(id_of(0x2000), 0);
    assert_int_equal(id_of(0x2000), 0);
    assert_int_equal(id_of(0x3000), 1);
    assert_int_equal(nnote, 1);
    unwanted = 0x3000;
    tl_rt_ids_decide_again();
    assert_int_equal(id_of(0x2000), 2);
    assert_int_equal(id_of(0x3000), 0);
    unwanted = 0;
    tl_rt_ids_decide_again();
    assert_int_equal(id_of(0x3000), 1); /* its own number again */
    assert_int_equal(last, 2);
}

static void test_objects_come_and_go(void **state)
{
    assert_int_equal(id_of(0x2000), 1);
    assert_int_equal(id_of(0x3000), 2);
    assert_int_equal(id_of(0x4000), 3);
    rt_address_at_home(tl_rt_address_slots, 0x2000)->first = 8;
    tl_rt_ids_unload(0x2000, 0x4000);
    assert_int_equal(rt_address_at_home(tl_rt_address_slots, 0x2000)->first, UINT32_MAX);
    assert_int_equal(id_of(0x4000), 3);
    assert_int_equal(nnote, 3);
    tl_rt_ids_load(0x2000, 0x4000, true);
    assert_int_equal(id_of(0x2000), 1); /* noted again: its object may have another number */
    assert_int_equal(nnote, 4);
    tl_rt_ids_unload(0x2000, 0x4000);
    tl_rt_ids_load(0x2000, 0x4000, false);
    assert_int_equal(id_of(0x2000), 4);
    assert_int_equal(nnote, 5);
    tl_rt_ids_unload(0x2000, 0x4000);
    tl_rt_ids_load(0x2000, 0x4000, true);
    assert_int_equal(id_of(0x2000), 4);
    assert_int_equal(id_of(0x3000), 5); /* not its number of two objects ago */
    /* A signal handler that interrupts the recorder cannot know what was loaded. */
    tl_rt_ids_unload(0x2000, 0x4000);
    tl_rt_lane->busy = 0x7fff0000;
    assert_int_equal(id_of(0x2000), 6);
    tl_rt_lane->busy = 0;
    /* Unloaded functions stay so, whatever the patterns become. */
    tl_rt_ids_decide_again();
    assert_int_equal(id_of(0x3000), 7);
    assert_int_equal(id_of(0x4000), 3);
}

/* The last destructors of an unloaded object are known by their numbers, but not the next object's functions. */
static void test_functions_of_an_object_that_leaves(void **state)
{
    assert_int_equal(id_of(0x2000), 1);
    tl_rt_ids_unload(0x2000, 0x4000);
    leaves = true;
    assert_int_equal(id_of(0x2000), 1);
    assert_int_equal(nnote, 1);
    assert_int_equal(id_of(0x3000), 2);
    assert_int_equal(id_of(0x3000), 2);
    assert_int_equal(nnote, 2);
    patterns = true;
    unwanted = 0x2000;
    assert_int_equal(id_of(0x2000), 0);
    unwanted = 0x3800;
    assert_int_equal(id_of(0x3800), 0);
    patterns = leaves = false;
    tl_rt_ids_load(0x2000, 0x4000, false);
    assert_int_equal(id_of(0x2000), 3);
    assert_int_equal(id_of(0x3000), 4);
    assert_int_equal(id_of(0x3800), 5);
}

/* Functions that patterns left out are decided again. */
static void test_left_out_objects_come_and_go(void **state)
{
    assert_int_equal(id_of(0x2000), 1);
    patterns = true;
    unwanted = 0x2000;
    tl_rt_ids_decide_again();
    assert_int_equal(id_of(0x2000), 0);
    assert_int_equal(id_of(0x3000), 2);
    unwanted = 0x3000;
    tl_rt_ids_unload(0x2000, 0x4000);
    assert_int_equal(id_of(0x3000), 0);
    unwanted = 0;
    tl_rt_ids_decide_again();
    assert_int_equal(id_of(0x2000), 3);
    assert_int_equal(id_of(0x3000), 4);
}

/* A signal handler that interrupts the recorder. */
static void test_inside_of_the_recorder(void **state)
{
    tl_rt_lane->busy = 0x7fff0000;
    assert_int_equal(id_of(0x2000), 1);
    assert_int_equal(id_of(0x2000), 1);
    assert_int_equal(tl_rt_lane->busy, 0x7fff0000);
    assert_int_equal(nnote, 0);
    tl_rt_lane->busy = 0;
    tl_rt_ids_note_late();
    assert_int_equal(nnote, 1);
    tl_rt_ids_note_late();
    assert_int_equal(nnote, 1);
    assert_int_equal(id_of(0x2000), 1);
    assert_int_equal(nnote, 1);
    /* With patterns, the decision is still open. */
    patterns = true;
    unwanted = 0;
    tl_rt_lane->busy = 1;
    assert_int_equal(id_of(0x4000), 0);
    tl_rt_lane->busy = 0;
    assert_int_equal(id_of(0x4000), 2);
}

static void test_first_event_of_a_thread(void **state)
{
    rt_lane *lane = tl_rt_lane;
    tl_rt_lane = NULL; /* and there is none left */
    assert_int_equal(id_of(0x2000), 1);
    assert_int_equal(nnote, 0);
    given = lane;
    assert_int_equal(id_of(0x2000), 1);
    assert_int_equal(nnote, 1);
    assert_ptr_equal(tl_rt_lane, lane);
    assert_int_equal(lane->busy, 0);
}

/* Recording is over, and the file closed: no number and no note. */
static void test_after_the_end(void **state)
{
    tl_rt.state = RT_OVER;
    assert_int_equal(id_of(0x2000), 0);
    assert_int_equal(nnote, 0);
}

enum { THREADS = 8, FUNCTIONS = 3000 };
static uint32_t seen[THREADS][FUNCTIONS];

static void *see_all(void *arg)
{
    static rt_lane lanes[THREADS];
    uint32_t *mine = arg;
    uintptr_t t = (uintptr_t)(mine - seen[0]) / FUNCTIONS;
    tl_rt_lane = &lanes[t];
    for (uintptr_t i = 0; i < FUNCTIONS; i++) {
        uintptr_t k = t & 1 ? FUNCTIONS - 1 - i : i;
        mine[k] = id_of(0x10000 + 48 * k);
    }
    return NULL;
}

static void test_threads_agree(void **state)
{
    pthread_t thread[THREADS];
    for (unsigned t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, see_all, seen[t]), 0);
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (unsigned t = 1; t < THREADS; t++)
        assert_memory_equal(seen[t], seen[0], sizeof seen[0]);
    static uint8_t used[sizeof noted];
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        assert_in_range(seen[0][i], 1, sizeof used - 1);
        assert_int_equal(used[seen[0][i]]++, 0);
        assert_true(noted[seen[0][i]] >= 1);
    }
}

static void add(void *arg, uint32_t id, uintptr_t address)
{
    uint64_t *sum = arg;
    sum[0]++;
    sum[1] += id;
    sum[2] += address;
}

static void test_each_address(void **state)
{
    uint64_t sum[3] = {0, 0, 0};
    patterns = true;
    unwanted = 0x9000;
    id_of(0x2000);
    id_of(0x9000);
    id_of(0x3000);
    tl_rt_ids_each_address(add, sum);
    assert_int_equal(sum[0], 2);
    assert_int_equal(sum[1], 3);
    assert_int_equal(sum[2], 0x5000);
    nnote = 0;
    tl_rt_ids_note();
    assert_int_equal(nnote, 2);
}

static void test_a_full_table(void **state)
{
    for (uintptr_t i = 0; i < RT_ADDRESS_MAX; i++)
        if (id_of(0x100000 + 64 * i) != i + 1)
            fail_msg("number %zu is another", (size_t)i + 1);
    assert_int_equal(tl_rt_lane->lost.memory, 0);
    tl_rt.set.modes = RT_MODE_FDR;
    assert_int_equal(id_of(0x20), 0);
    assert_int_equal(tl_rt_lane->lost.memory, 1);
    assert_int_equal(tl_rt_lane->lost.places, 0);
    tl_rt.set.modes = RT_MODE_PROFILE;
    assert_int_equal(id_of(0x20), 0);
    assert_int_equal(tl_rt_lane->lost.memory, 1);
    assert_int_equal(tl_rt_lane->lost.places, 1);
    assert_int_equal(id_of(0x100000), 1);
}

#else
RT_SKIPPED(test_ranges_follow_each_other)
RT_SKIPPED(test_an_address_keeps_its_number)
RT_SKIPPED(test_shared_homes)
RT_SKIPPED(test_patterns_leave_out)
RT_SKIPPED(test_objects_come_and_go)
RT_SKIPPED(test_functions_of_an_object_that_leaves)
RT_SKIPPED(test_left_out_objects_come_and_go)
RT_SKIPPED(test_inside_of_the_recorder)
RT_SKIPPED(test_first_event_of_a_thread)
RT_SKIPPED(test_after_the_end)
RT_SKIPPED(test_threads_agree)
RT_SKIPPED(test_each_address)
RT_SKIPPED(test_a_full_table)
#define begin NULL
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_ranges_follow_each_other, begin),
        cmocka_unit_test_setup(test_an_address_keeps_its_number, begin),
        cmocka_unit_test_setup(test_shared_homes, begin),
        cmocka_unit_test_setup(test_patterns_leave_out, begin),
        cmocka_unit_test_setup(test_objects_come_and_go, begin),
        cmocka_unit_test_setup(test_functions_of_an_object_that_leaves, begin),
        cmocka_unit_test_setup(test_left_out_objects_come_and_go, begin),
        cmocka_unit_test_setup(test_inside_of_the_recorder, begin),
        cmocka_unit_test_setup(test_first_event_of_a_thread, begin),
        cmocka_unit_test_setup(test_after_the_end, begin),
        cmocka_unit_test_setup(test_threads_agree, begin),
        cmocka_unit_test_setup(test_each_address, begin),
        cmocka_unit_test_setup(test_a_full_table, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
