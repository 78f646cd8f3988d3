/* A day of samples, allocations, collections and threads, by a simulated clock: nothing grows, and nothing is lost. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "managed/managed_writer.c" /* its turns, one by one */

#include "check.h"

enum { METHODS = 40, DEPTH = 20, SAMPLES = 4, SECONDS = 24 * 3600 };

static uint64_t elapsed; /* ns since the machine began */
static char code[METHODS], class_of[4];

/* In place of libc's: all of processor time is used by whoever asks. */
int clock_gettime(clockid_t which, struct timespec *t)
{
    const uint64_t now = elapsed + (which == CLOCK_REALTIME ? UINT64_C(1790000000000000000) : 0);
    *t = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    return 0;
}

static managed_frame resolve_any(const void *method, uint64_t ip)
{
    return managed_method_frame(method, ip);
}

static void sample(unsigned number)
{
    managed_walk w;
    managed_walk_begin(&w, managed_self, &managed_self->samples);
    for (unsigned i = 0; i < DEPTH; i++)
        managed_walk_frame(&w, &code[(i * i + (i < 5 ? number : 0)) % METHODS], 0);
    assert_true(managed_walk_end(&w, managed_now(), MANAGED_SAMPLE, 1));
}

static void allocate(unsigned number)
{
    managed_stack *s = managed_sites_stack(managed_self);
    const void *class = &class_of[number % 4];
    s->n = 2;
    s->frame[0].method = &code[number % METHODS];
    s->frame[1].method = &code[0];
    if (!managed_sites_add(managed_self, s, class, 24, false)) {
        char name[] = "Space.Class";
        managed_class_known(class, NULL, 1, name);
        assert_true(managed_sites_add(managed_self, s, class, 24, true));
    }
}

/* A thread that lives for a moment, besides the calling one. */
static void pass_by(unsigned number)
{
    managed_thread *self = managed_self;
    assert_non_null(managed_thread_begin(number));
    allocate(number);
    sample(number);
    managed_thread_end();
    managed_self = self;
}

static void live_a_second(unsigned second)
{
    for (unsigned i = 0; i < SAMPLES; i++) {
        elapsed += 1000000000 / SAMPLES;
        sample(second * SAMPLES + i);
        allocate(i);
    }
    if (second % 10 == 0) {
        managed_event(MANAGED_GC_BEGIN, 1);
        managed_event(MANAGED_GC_END, 0);
    }
    if (second % 60 == 0)
        pass_by(second);
    turn();
}

static uint64_t resident(void)
{
    unsigned long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &size, &pages), 2);
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void test_a_day(void **state)
{
    char error[256];
    uint64_t warm = 0, bytes = 0;
    const unsigned seconds = rounds(SECONDS), begun = seconds / 12;
    assert_true(managed_settings_read(&managed_set, "out=/dev/null:alloc=on", error));
    elapsed = 1000000000;
    assert_true(managed_log_open("test", "none"));
    resolve = resolve_any;
    assert_non_null(managed_thread_begin(1));
    for (unsigned i = 0; i < METHODS; i++) {
        char name[16], result[] = "void", parameters[] = "";
        snprintf(name, sizeof name, "Class:M%u", i);
        managed_method_known(&(managed_method){
            .at = &code[i], .start = i, .size = 1, .name = name, .result = result, .parameters = parameters});
    }
    for (unsigned second = 0; second < seconds; second++) {
        live_a_second(second);
        if (second == begun) {
            warm = resident();
            bytes = managed_log_bytes();
        }
    }
    assert_true(managed_on);
    assert_true(resident() < warm + (1 << 20));
    /* As many bytes in each hour, but for longer times. */
    const double share = (double)bytes / (double)managed_log_bytes();
    assert_true(share > 0.95 / 12 && share < 1.03 / 12);
    assert_int_equal(lost_samples + lost_events + cut_stacks, 0);
    assert_int_equal(managed_self->samples.lost + managed_self->events.lost, 0);
    assert_ptr_equal(managed_threads, managed_self); /* of all others none is left */
    assert_null(managed_self->next);
    managed_log_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_day)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
