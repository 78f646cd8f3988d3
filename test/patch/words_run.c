/* Patches the functions of words_code.S in this process, for AArch64, and compares: what they return, how often each is
 * entered and left, with what they do unpatched and with what is known of them. Takes it all back, and compares again.
 *
 * The planner and the placer are the product's; the stubs are its trampolines. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "patch/patch_place.h"
#include "rt/rt_core.h"

extern const char words_begin[], words_end[];
long call_one(const void *function, long x);
long call_all(void);

// clang-format off
#define EACH(X) \
    X(f_literal_w) X(f_literal_x) X(f_literal_sw) X(f_literal_s) X(f_literal_d) \
    X(f_literal_q) X(f_prefetch) X(f_condition) X(f_cbz) X(f_tbnz) \
    X(f_jump) X(f_call) X(f_nops) X(f_bti) X(f_signed) \
    X(f_signed_return) X(f_ret) X(f_self) X(f_self_signed) X(f_tail) \
    X(f_only_tail) X(f_maybe_tail) X(f_first_maybe_tail) X(f_leave_x0) X(f_leave_x1) \
    X(f_leave_x2) X(f_leave_x5) X(f_leave_x16) X(f_leave_x17) X(f_stay_x0) \
    X(f_stay_x1) X(f_stay_x2) X(f_stay_x5) X(f_stay_x16) X(f_stay_x17) \
    X(get_return_address) X(f_three) X(f_sum)
// clang-format on
#define DECLARE(f) extern const char f[];
#define LIST(f)    {#f, f},
EACH(DECLARE)
static const struct {
    const char *name, *code;
} function[] = {EACH(LIST)};
enum {
    FUNCTIONS = sizeof function / sizeof *function,
    ARGUMENTS = 5,
    ROOM = 256,
    LOOP = 100,
    SUM = FUNCTIONS - 1 /* only call_all() calls it */
};
static const long argument[ARGUMENTS] = {0, 1, 4, 7, (long)1 << 33};

/* Calls of others that a call with one argument makes, in all. */
static const struct {
    const char *from, *to;
    unsigned calls; /* for all arguments */
} inner[] = {{"f_call", "get_return_address", 5}, {"f_signed", "f_ret", 5},     {"f_tail", "f_bti", 5},
             {"f_only_tail", "f_tail", 5},        {"f_only_tail", "f_bti", 5},  {"f_maybe_tail", "f_bti", 5},
             {"f_first_maybe_tail", "f_bti", 3},  {"f_leave_x0", "f_three", 5}, {"f_leave_x1", "f_three", 5},
             {"f_leave_x2", "f_three", 5},        {"f_leave_x5", "f_three", 5}, {"f_leave_x16", "f_three", 5},
             {"f_leave_x17", "f_three", 5}};

/* ---- handlers ---- */

static unsigned entered[ROOM], left[ROOM];

static void enter(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    (void)sp, (void)keep;
    entered[id % ROOM]++;
}

static void leave(uint32_t id, uintptr_t sp, uintptr_t keep)
{
    (void)sp, (void)keep;
    left[id % ROOM]++;
}

static const rt_handlers handlers = {.enter = enter, .exit = leave, .tail = leave};
const rt_handlers *tl_rt_start_handlers = &handlers;
extern const char tl_rt_trampoline_entry[], tl_rt_trampoline_exit[], tl_rt_trampoline_tail[];
void tl_rt_start_custom(void);
void tl_rt_start_typed(void);

void tl_rt_start_custom(void)
{
    abort();
}

void tl_rt_start_typed(void)
{
    abort();
}

/* ---- memory ---- */

static void *take(size_t n)
{
    return calloc(1, n);
}

static void give(void *p, size_t n)
{
    (void)n;
    free(p);
}

static void *grow(void *p, size_t from, size_t to)
{
    char *q = realloc(p, to);
    if (q)
        memset(q + from, 0, to - from);
    return q;
}

static const patch_memory memory = {take, give, grow, NULL};

static uint8_t *space_take(patch_space *s, uint64_t address, uint64_t size)
{
    (void)s;
    void *p = mmap((void *)address, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == (void *)address)
        return p;
    munmap(p, size);
    return NULL;
}

static void space_give(patch_space *s, uint64_t address, uint64_t size)
{
    (void)s;
    munmap((void *)address, size);
}

static uint64_t space_find(patch_space *s, uint64_t low, uint64_t high, uint64_t near, uint64_t size)
{
    for (uint64_t at = (near + 0xfffff) & ~UINT64_C(0xfffff); at <= high; at += 0x100000)
        if (at >= low && space_take(s, at, size)) {
            space_give(s, at, size);
            return at;
        }
    return 0;
}

static patch_space space = {space_take, space_give, space_find};

/* ---- the program ---- */

static int find_image(struct dl_phdr_info *info, size_t size, void *arg)
{
    patch_image *image = arg;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_GNU_EH_FRAME)
            image->frame_header = info->dlpi_addr + p->p_vaddr;
        else if (p->p_type == PT_LOAD)
            image->part[image->parts++] = (patch_part){.address = info->dlpi_addr + p->p_vaddr,
                                                       .size = p->p_filesz,
                                                       .bytes = (const uint8_t *)(info->dlpi_addr + p->p_vaddr),
                                                       .code = (p->p_flags & PF_X) != 0};
    }
    return 1;
}

static int index_of(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(function[i].name, name) == 0)
            return i;
    return -1;
}

/* Does its argument say how often it jumps to its own begin? */
static bool is_loop(int f)
{
    return strncmp(function[f].name, "f_self", strlen("f_self")) == 0;
}

/* Results of all calls; the last one is of call_all(). */
static void run(long result[FUNCTIONS * ARGUMENTS + 1])
{
    memset(entered, 0, sizeof entered);
    memset(left, 0, sizeof left);
    for (int i = 0; i < FUNCTIONS; i++)
        for (int k = 0; k < ARGUMENTS; k++)
            if (i != SUM && (!is_loop(i) || argument[k] < LOOP))
                result[i * ARGUMENTS + k] = call_one(function[i].code, argument[k]);
    result[FUNCTIONS * ARGUMENTS] = call_all();
}

static int compare(const char *when, const long *got, const long *expected)
{
    int bad = 0;
    for (int i = 0; i <= FUNCTIONS * ARGUMENTS; i++)
        if (got[i] != expected[i]) {
            printf("%s: %s(%ld) is %ld, not %ld\n", when,
                   i < FUNCTIONS * ARGUMENTS ? function[i / ARGUMENTS].name : "all", argument[i % ARGUMENTS], got[i],
                   expected[i]);
            bad++;
        }
    return bad;
}

static unsigned calls_of(int f)
{
    unsigned n = f == SUM ? 0 : is_loop(f) ? ARGUMENTS - 1 : ARGUMENTS;
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        n += index_of(inner[i].to) == f ? inner[i].calls : 0;
    return n + (f == SUM || strcmp(function[f].name, "f_ret") == 0);
}

static int compare_counts(bool on)
{
    int bad = 0;
    for (int i = 0; i < FUNCTIONS; i++) {
        const unsigned expected = on ? calls_of(i) : 0;
        if (entered[i] != expected || left[i] != expected) {
            printf("%s is entered %u times and left %u times, not %u\n", function[i].name, entered[i], left[i],
                   expected);
            bad++;
        }
    }
    return bad;
}

static void make_changes(const patch_code *code, bool on)
{
    const uintptr_t low = (uintptr_t)words_begin & -4096ul, high = ((uintptr_t)words_end + 4095) & -4096ul;
    mprotect((void *)low, high - low, PROT_READ | PROT_WRITE);
    for (uint32_t i = 0; i < code->changes; i++)
        memcpy((void *)code->change[i].address, on ? code->change[i].now : code->change[i].was, code->change[i].size);
    mprotect((void *)low, high - low, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)low, (char *)high);
}

/* Only the listed functions are wanted, and each must be patched. */
static int choose(patch_plan *plan)
{
    int found = 0;
    for (uint32_t i = 0; i < plan->functions; i++) {
        patch_function *f = &plan->function[i];
        const uint8_t why = f->why;
        if (f->why == PATCH_OK)
            f->why = PATCH_NOT_WANTED;
        for (int k = 0; k < FUNCTIONS; k++)
            if (f->begin == (uintptr_t)function[k].code) {
                if (why != PATCH_OK)
                    printf("%s: %s\n", function[k].name, patch_why_text((patch_why)why));
                f->why = why;
                f->number = (uint32_t)k;
                found += why == PATCH_OK;
            }
    }
    return FUNCTIONS - found;
}

int main(void)
{
    static long before[FUNCTIONS * ARGUMENTS + 1], now[FUNCTIONS * ARGUMENTS + 1];
    patch_image image = {.parts = 0};
    patch_plan plan;
    patch_code code;
    const patch_stubs stubs = {.enter = {(uintptr_t)tl_rt_trampoline_entry},
                               .tail = (uintptr_t)tl_rt_trampoline_tail,
                               .leave = (uintptr_t)tl_rt_trampoline_exit};
    const patch_order order = {.stubs = &stubs, .alone = true};
    uint64_t where = 0;
    dl_iterate_phdr(find_image, &image);
    run(before);
    if (!patch_plan_make(&plan, &image, &patch_aarch64, &memory, NULL, NULL, 0))
        return puts("no plan"), 1;
    int bad = choose(&plan);
    if (!patch_place(&code, &plan, &space, &order))
        return puts("not placed"), 1;
    if (!patch_check(&code, &plan, &where))
        return printf("the check fails at %s + %ld\n", "words_begin", (long)(where - (uintptr_t)words_begin)), 1;
    if (code.counts.patched != FUNCTIONS || code.counts.late != 0)
        bad += printf("%u of %d functions are patched, %u without an end\n", code.counts.patched, FUNCTIONS,
                      code.counts.late);
    for (uint32_t i = 0; i < code.regions; i++)
        mprotect(code.region[i].bytes, code.region[i].size, PROT_READ | PROT_EXEC);
    make_changes(&code, true);
    run(now);
    bad += compare("patched", now, before) + compare_counts(true);
    make_changes(&code, false);
    run(now);
    bad += compare("taken back", now, before) + compare_counts(false);
    printf("%u functions, %u ends, %u changes, %d faults\n", code.counts.patched, code.counts.ends_patched,
           code.changes, bad);
    patch_code_drop(&code, &space);
    patch_plan_free(&plan);
    return bad != 0;
}
