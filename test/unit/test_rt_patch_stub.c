/* What blocks of patched code call: unwinding that begins in the recorder finds the callers of the function. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE && defined(__x86_64__)
#include <execinfo.h>

#include "rt/rt_core.h"

enum { NUMBER = 4711, FRAMES = 64, LONGEST = 64 /* bytes of a function */ };

rt_handlers tl_rt_handlers;
static uint32_t number;
static uintptr_t place, kept;
static void *frame[FRAMES];
static int frames;

/* Blocks keep no alignment of the stack. */
__attribute__((force_align_arg_pointer)) static void look(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    number = id;
    place = sp;
    kept = keep;
    frames = backtrace(frame, FRAMES);
}

/* As in blocks, nothing says how to unwind here. */
#define BLOCK(name, how)                                                                                               \
    __asm__(".text\n"                                                                                                  \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n" #name ":\n"                                                                 \
            "    movl $4711, -16(%rsp)\n"                                                                              \
            "    " how "\n"                                                                                            \
            "    ret\n"                                                                                                \
            ".size " #name ", . - " #name "\n");                                                                       \
    void name(void);
BLOCK(block_enter, "call tl_rt_patch_enter_0")
BLOCK(block_tail, "call tl_rt_patch_tail")
BLOCK(block_leave, "call tl_rt_patch_leave")
__asm__(".text\n"
        ".globl block_exit\n"
        ".type block_exit, @function\n"
        "block_exit:\n"
        "    movl $4711, -8(%rsp)\n"
        "    jmp tl_rt_patch_exit\n"
        ".size block_exit, . - block_exit\n");
void block_exit(void);

static void *caller[FRAMES];
static int callers; /* of outer() */

__attribute__((noipa)) static void outer(void (*block)(void))
{
    callers = backtrace(caller, FRAMES);
    block();
    __asm__ volatile("" ::: "memory");
}

static void check_block(void (*block)(void), unsigned above)
{
    frames = 0;
    number = 0;
    outer(block);
    assert_int_equal(number, NUMBER);
    assert_int_equal(kept - place, above);
    /* All but the call in outer() itself are the same. */
    int same = 0;
    while (same < callers && same < frames && caller[callers - 1 - same] == frame[frames - 1 - same])
        same++;
    assert_true(same > 2);
    const uintptr_t before = (uintptr_t)caller[callers - 1 - same], at = (uintptr_t)frame[frames - 1 - same];
    assert_in_range(at, before + 1, before + LONGEST);
}

static void test_callers_of_a_begin(void **state)
{
    tl_rt_handlers.enter = look;
    check_block(block_enter, 1);
}

static void test_callers_of_ends(void **state)
{
    tl_rt_handlers.exit = tl_rt_handlers.tail = look;
    check_block(block_exit, 0);
    check_block(block_tail, 0);
    check_block(block_leave, 0);
}
#else
RT_SKIPPED_BECAUSE(test_callers_of_a_begin, "these blocks are for x86-64")
RT_SKIPPED_BECAUSE(test_callers_of_ends, "these blocks are for x86-64")
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_callers_of_a_begin),
                                       cmocka_unit_test(test_callers_of_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
