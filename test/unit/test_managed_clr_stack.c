/* Walks over stacks of the profiler for CoreCLR: nothing outside the thread's own stack is read, whatever frame
 * pointers say, also while a handler runs on a stack of its own. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "clr/clr_stack.h"

#include "check.h"

enum { WORDS = 64, PART = 1 << 18 };

static uintptr_t word[WORDS];

static uintptr_t at(int i)
{
    return (uintptr_t)&word[i];
}

/* The array is the stack: frames at 10, 20 and 30. */
static void make_stack(void)
{
    memset(word, 0, sizeof word);
    clr_stack_low = at(0);
    clr_stack_high = at(0) + sizeof word;
    for (int i = 10; i <= 30; i += 10) {
        word[i] = at(i + 10);
        word[i + 1] = 1000u + (uintptr_t)i;
    }
    word[30] = 0;
}

static void test_frames(void **state)
{
    clr_place place = {at(4), at(10)};
    make_stack();
    assert_int_equal(clr_stack_next(&place), 1009);
    assert_int_equal(clr_stack_next(&place), 1019);
    assert_int_equal(clr_stack_next(&place), 1029);
    assert_int_equal(clr_stack_next(&place), 0); /* the end: no frame pointer */
}

/* Every pair of a stack pointer and a frame pointer in and around the stack. */
static void test_bounds(void **state)
{
    const uintptr_t size = sizeof(uintptr_t);
    make_stack();
    for (uintptr_t sp = at(0) - 4 * size; sp <= clr_stack_high + 4 * size; sp += size)
        for (uintptr_t fp = at(0) - 4 * size; fp <= clr_stack_high + 4 * size; fp += size / 2) {
            const bool inside = sp >= at(0) && fp >= sp && fp % size == 0 && fp <= at(WORDS - 2);
            clr_place place = {sp, fp};
            const uintptr_t found = clr_stack_next(&place);
            assert_int_equal(found, inside && *(uintptr_t *)(fp + size) ? *(uintptr_t *)(fp + size) - 1 : 0);
        }
    assert_true(clr_stack_holds(at(0)) && clr_stack_holds(at(WORDS - 1)));
    assert_false(clr_stack_holds(at(0) - size) || clr_stack_holds(at(0) + 1) || clr_stack_holds(clr_stack_high));
    const uintptr_t highest = UINTPTR_MAX - size + 1;
    clr_place place = {at(0), highest};
    assert_int_equal(clr_stack_next(&place), 0);
    clr_stack_low = clr_stack_high = 0; /* not known */
    place = (clr_place){at(4), at(10)};
    assert_int_equal(clr_stack_next(&place), 0);
    assert_false(clr_stack_holds(at(4)));
}

/* ---- real stacks ---- */

/* Two stacks with memory between them that nobody may read. */
static uint8_t *below, *gap, *above;

static void map_stacks(void)
{
    below = mmap(NULL, 3 * PART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(below != MAP_FAILED);
    gap = below + PART;
    above = gap + PART;
    assert_int_equal(mprotect(gap, PART, PROT_NONE), 0);
}

static volatile int walked;

/* Frame pointers of a handler on its own stack may have any value: the walk ends at once. */
static void handle(int number)
{
    uintptr_t forged[4] = {0}, sp = (uintptr_t)forged;
    const uintptr_t fp[] = {sp, (uintptr_t)gap, (uintptr_t)gap + PART / 2, (uintptr_t)gap - 16, (uintptr_t)above - 8};
    (void)number;
    forged[0] = (uintptr_t)gap + 4096;
    forged[1] = 1;
    for (size_t i = 0; i < sizeof fp / sizeof *fp; i++) {
        clr_place place = {sp, fp[i]};
        for (int frames = 0; frames < 100 && clr_stack_next(&place); frames++)
            walked++;
    }
    walked += clr_stack_holds(sp) ? 1000 : 1;
}

/* `stack`: of the handler. */
static void *run(void *stack)
{
    const stack_t own = {.ss_sp = stack, .ss_size = PART};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    clr_stack_low = clr_stack_high = 0;
    clr_stack_measure();
    const uintptr_t here = (uintptr_t)&action;
    if (clr_stack_low > here || clr_stack_high <= here)
        return NULL;
    sigaltstack(&own, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    return (void *)1;
}

static void run_on(uint8_t *own, uint8_t *of_handler)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *fine = NULL;
    walked = 0;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstack(&attributes, own, PART), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run, of_handler), 0);
    pthread_join(thread, &fine);
    pthread_attr_destroy(&attributes);
    assert_non_null(fine);
    assert_int_equal(walked, 1);
}

static void test_stack_of_handler(void **state)
{
    for (int i = 0; i < 2; i++) { /* new ones: valgrind takes what a handler used for out of bounds */
        map_stacks();
        run_on(i ? below : above, i ? above : below);
        munmap(below, 3 * PART);
    }
}

/* What is guessed of a thread lies in what it knows of itself; of the first one, arguments and environment may lie
 * behind that. */
static void *guess(void *behind)
{
    const uintptr_t here = (uintptr_t)&behind;
    clr_stack_low = clr_stack_high = 0;
    clr_stack_measure();
    const uintptr_t low = clr_stack_low, high = clr_stack_high;
    clr_stack_low = clr_stack_high = 0;
    clr_stack_guess(here);
    return (void *)(uintptr_t)(clr_stack_low <= here && clr_stack_high > here &&
                               clr_stack_high <= high + (uintptr_t)behind && low <= here);
}

static void *wait_and_guess(void *gate)
{
    pthread_barrier_wait(gate);
    return guess(NULL);
}

static void test_guess(void **state)
{
    static pthread_barrier_t gate;
    pthread_t thread;
    void *fine = NULL;
    pthread_barrier_init(&gate, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, wait_and_guess, &gate), 0);
    clr_stack_look_around(); /* while it is there */
    pthread_barrier_wait(&gate);
    pthread_join(thread, &fine);
    assert_non_null(fine);
    clr_stack_low = clr_stack_high = 0;
    clr_stack_guess(at(0)); /* no stack */
    clr_stack_guess(0);
    clr_stack_guess(UINTPTR_MAX);
    assert_int_equal(clr_stack_high, 0);
}

/* Does the first thread run on what the kernel calls the process's stack? */
static bool is_on_stack_of_process(void)
{
    uintptr_t low, high;
    char line[512];
    bool is = false;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && fgets(line, sizeof line, f))
        is = is || (strstr(line, "[stack]") && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &low, &high) == 2 &&
                    (uintptr_t)line >= low && (uintptr_t)line < high);
    if (f)
        fclose(f);
    return is;
}

static void test_guess_of_first_thread(void **state)
{
    if (!is_on_stack_of_process())
        skip_because("valgrind has no stack of the process");
    clr_stack_look_around();
    assert_non_null(guess((void *)(uintptr_t)(4 << 20)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_stack_of_handler),
        cmocka_unit_test(test_guess),
        cmocka_unit_test(test_guess_of_first_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
