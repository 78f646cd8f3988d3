/* Tries all of patching on four functions in a page of our own, before the first function of the program is touched: a
 * system that does not let code be changed, and faults of the recorder, are found here. */
#include <errno.h>
#include <sys/mman.h>

#include "rt/object/rt_ids.h"
#include "rt/patch/rt_patch_process.h"
#include "rt/patch/rt_patch_space.h"
#include "rt/patch/rt_patch_write.h"
#include "rt/rt_core.h"
#include "rt/rt_sys.h"

enum { PAGE = PATCH_PAGE, FUNCTIONS = 4, ROW = 32, FIRST = RT_ID_MAX - FUNCTIONS };
#define FAR_AWAY UINT64_C(0x200000000000) /* where windows of jumps are likely to be free */

#if defined(__x86_64__)

#pragma GCC visibility push(hidden)
/* patch_stub_x86_64.S */
extern const char tl_rt_patch_enter_0[], tl_rt_patch_enter_1[], tl_rt_patch_enter_2[], tl_rt_patch_enter_3[],
    tl_rt_patch_enter_4[], tl_rt_patch_enter_5[], tl_rt_patch_enter_6[];
extern const char tl_rt_patch_exit[], tl_rt_patch_tail[], tl_rt_patch_leave[];
#pragma GCC visibility pop

const patch_machine *tl_rt_patch_machine(void)
{
    return &patch_x86_64;
}

void tl_rt_patch_stubs(patch_stubs *out)
{
    *out = (patch_stubs){.enter = {(uintptr_t)tl_rt_patch_enter_0, (uintptr_t)tl_rt_patch_enter_1,
                                   (uintptr_t)tl_rt_patch_enter_2, (uintptr_t)tl_rt_patch_enter_3,
                                   (uintptr_t)tl_rt_patch_enter_4, (uintptr_t)tl_rt_patch_enter_5,
                                   (uintptr_t)tl_rt_patch_enter_6},
                         .exit = (uintptr_t)tl_rt_patch_exit,
                         .tail = (uintptr_t)tl_rt_patch_tail,
                         .leave = (uintptr_t)tl_rt_patch_leave};
}

bool tl_rt_patch_shadow(void)
{
    enum { ARCH_SHSTK_STATUS = 0x5005, SHADOW = 1 };
    uint64_t features = 0;
    return RT_SYS2(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features) == 0 && (features & SHADOW);
}

static const uint8_t code[FUNCTIONS][ROW] = {
    /* one(): endbr64; mov $1, %eax; ret; a long nop, which is dead */
    {0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 1, 0, 0, 0, 0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0},
    /* next(x): push %rbx; mov %edi, %ebx; lea 1(%rbx), %eax; pop %rbx; ret */
    {0x53, 0x89, 0xfb, 0x8d, 0x43, 1, 0x5b, 0xc3},
    /* third(x): add $2, %edi; jmp next */
    {0x83, 0xc7, 2, 0xe9, 0xd8, 0xff, 0xff, 0xff},
    /* zero(x): test %edi, %edi; je 1f; sub $1, %edi; jmp zero; 1: mov %edi, %eax; ret */
    {0x85, 0xff, 0x74, 0x05, 0x83, 0xef, 1, 0xeb, 0xf7, 0x89, 0xf8, 0xc3},
};
static const uint8_t size[FUNCTIONS] = {16, 8, 8, 12};

#else

#pragma GCC visibility push(hidden)
extern const rt_handlers *tl_rt_start_handlers; /* rt_object_start.c: what trampolines follow */
extern const char tl_rt_trampoline_entry[], tl_rt_trampoline_exit[], tl_rt_trampoline_tail[];
#pragma GCC visibility pop

const patch_machine *tl_rt_patch_machine(void)
{
    return &patch_aarch64;
}

/* Blocks do as sleds do. */
void tl_rt_patch_stubs(patch_stubs *out)
{
    tl_rt_start_handlers = &tl_rt_handlers;
    *out = (patch_stubs){.enter = {(uintptr_t)tl_rt_trampoline_entry},
                         .tail = (uintptr_t)tl_rt_trampoline_tail,
                         .leave = (uintptr_t)tl_rt_trampoline_exit};
}

bool tl_rt_patch_shadow(void)
{
    return false;
}

static const uint32_t code[FUNCTIONS][ROW / 4] = {
    {0xd503245f, 0x52800020, 0xd65f03c0},             /* one(): bti c; mov w0, 1; ret */
    {0x10000001, 0x11000400, 0xd65f03c0},             /* next(x): adr x1, .; add w0, w0, 1; ret */
    {0x11000800, 0x17fffff7},                         /* third(x): add w0, w0, 2; b next */
    {0x34000060, 0x51000400, 0x17fffffe, 0xd65f03c0}, /* zero(x): cbz w0, 1f; sub w0, w0, 1; b zero; 1: ret */
};
static const uint8_t size[FUNCTIONS] = {12, 12, 8, 16};

#endif

static uint32_t entered[FUNCTIONS], left[FUNCTIONS];

static void count_enter(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    (void)sp, (void)keep;
    if (id - FIRST < FUNCTIONS)
        entered[id - FIRST]++;
}

static void count_exit(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    (void)sp, (void)keep;
    if (id - FIRST < FUNCTIONS)
        left[id - FIRST]++;
}

static int call(uintptr_t page, unsigned function, int x)
{
    int (*f)(int) = (int (*)(int))(page + (uintptr_t)function * ROW);
    return f(x);
}

/* Do the functions do what they do, and are they counted? */
static bool works(uintptr_t page, uint32_t times)
{
    static const uint32_t calls[FUNCTIONS] = {1, 2, 1, 1};
    bool good = true;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        entered[i] = left[i] = 0;
    good &= call(page, 0, 7) == 1;
    good &= call(page, 1, 41) == 42;
    good &= call(page, 2, 5) == 8;
    good &= call(page, 3, 3) == 0;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        good &= entered[i] == times * calls[i] && left[i] == times * calls[i];
    return good;
}

static uintptr_t make_page(int *error)
{
    long p = RT_SYS6(SYS_mmap, FAR_AWAY, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (RT_IS_ERROR(p)) {
        *error = (int)-p;
        return 0;
    }
    for (unsigned i = 0; i < PAGE; i++)
        ((volatile uint8_t *)p)[i] = 0xcc;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        rt_copy((uint8_t *)p + (size_t)i * ROW, code[i], size[i]);
    *error = (int)-RT_SYS3(SYS_mprotect, p, PAGE, PROT_READ | PROT_EXEC);
    if (*error == 0)
        return (uintptr_t)p;
    RT_SYS2(SYS_munmap, p, PAGE);
    return 0;
}

static const char *try_code(uintptr_t page, const patch_image *image, patch_plan *plan, patch_code *c, int *error)
{
    uint8_t on[FUNCTIONS * 8], wanted[FUNCTIONS + 1];
    uint64_t where;
    rt_patch_text t = {.image = image, .code = c, .functions = plan->functions, .on = on, .wanted = wanted};
    for (size_t i = 0; i < sizeof on; i++)
        ((volatile uint8_t *)on)[i] = 0;
    for (size_t i = 0; i < sizeof wanted; i++)
        ((volatile uint8_t *)wanted)[i] = 1;
    if (c->counts.patched != FUNCTIONS || c->counts.ends_patched != c->counts.ends || c->changes > sizeof on)
        return "functions of the test find no room";
    if (!patch_check(c, plan, &where))
        return "its jumps are wrong";
    *error = -tl_rt_patch_space_seal();
    if (*error)
        return "pages cannot be made executable";
    *error = -tl_rt_patch_write(&t, true, RT_PATCH_LOADING);
    bool good = *error || works(page, 1);
    int taken = -tl_rt_patch_write(&t, false, RT_PATCH_LOADING);
    *error = *error ? *error : taken;
    if (*error)
        return "code cannot be changed";
    return good && works(page, 0) ? NULL : "patched functions of the test do not work";
}

static const char *try_page(uintptr_t page, int *error)
{
    const patch_image image = {.part = {{.address = page, .size = PAGE, .bytes = (const uint8_t *)page, .code = true}},
                               .parts = 1};
    patch_stubs stubs;
    const patch_order order = {.stubs = &stubs, .alone = true, .shadow = tl_rt_patch_shadow()};
    const patch_named named = {.nevers = 0};
    patch_range range[FUNCTIONS];
    patch_plan plan;
    patch_code c;
    const char *wrong = "the functions of the test cannot be planned";
    tl_rt_patch_stubs(&stubs);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        range[i] = (patch_range){page + (uint64_t)i * ROW, size[i]};
    if (!patch_plan_make(&plan, &image, tl_rt_patch_machine(), &tl_rt_patch_memory, &named, range, FUNCTIONS))
        return wrong;
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan.functions && n < FUNCTIONS; i++)
        if (plan.function[i].why == PATCH_OK)
            plan.function[i].number = FIRST + n++;
    if (n == FUNCTIONS && plan.functions == FUNCTIONS + 1 && patch_place(&c, &plan, tl_rt_patch_space(), &order)) {
        wrong = try_code(page, &image, &plan, &c, error);
        patch_code_drop(&c, tl_rt_patch_space());
    }
    patch_plan_free(&plan);
    return wrong;
}

const char *tl_rt_patch_selftest(int *error)
{
    const rt_handlers before = tl_rt_handlers;
    *error = -tl_rt_patch_space_look();
    if (*error)
        return "the process's memory cannot be seen";
    uintptr_t page = make_page(error);
    if (!page)
        return "code cannot be made";
    *error = -tl_rt_patch_space_look();
    ((volatile rt_handlers *)&tl_rt_handlers)->enter = count_enter;
    ((volatile rt_handlers *)&tl_rt_handlers)->exit = count_exit;
    ((volatile rt_handlers *)&tl_rt_handlers)->tail = count_exit;
    const char *wrong = try_page(page, error);
    ((volatile rt_handlers *)&tl_rt_handlers)->enter = before.enter;
    ((volatile rt_handlers *)&tl_rt_handlers)->exit = before.exit;
    ((volatile rt_handlers *)&tl_rt_handlers)->tail = before.tail;
    RT_SYS2(SYS_munmap, page, PAGE);
    return wrong;
}
