/* Sleds: the numbers of functions, the instructions written, and code that runs meanwhile. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "rt/hook/rt_patch.c"
#include "rt/hook/rt_sled_aarch64.c"
#include "rt/hook/rt_sled_x86_64.c"

/* The messages. */
static char said[512];

void tl_rt_line_text(rt_line *l, const char *s)
{
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%s", s);
}

void tl_rt_line_number(rt_line *l, uint64_t v)
{
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%u", (unsigned)v);
}

void tl_rt_say(const rt_line *l, int sys_errno, bool error)
{
    (void)sys_errno, (void)error;
    strcat(said, l->text);
}

void tl_rt_say_error(const char *what, const char *path, int sys_errno)
{
    (void)path;
    sprintf(said + strlen(said), "%s (%d)", what, sys_errno);
}

/* Trampolines that count in `entered` and `left`. */
extern uint32_t entered, left;
extern const char trampoline_in[], trampoline_out[];
uint32_t entered, left;
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl trampoline_in, trampoline_out\n"
        "trampoline_in: lock incl entered(%rip)\n ret\n"
        "trampoline_out: lock incl left(%rip)\n ret\n");

/* int f(int x) { return x + 1; }, as clang compiles it. */
static const uint8_t function[] = {0xeb, 9,    0x66, 0x0f, 0x1f, 0x84, 0,    0, 2, 0, 0, 0x8d, 0x47,
                                   1,    0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
enum { EXIT_AT = 14, EACH = 4096 - 2 }; /* sometimes a sled spans two pages */
#else
#define COUNT(counter)                                                                                                 \
    " stp x14, x15, [sp, -16]!\n adrp x14, " counter "\n add x14, x14, :lo12:" counter "\n 1: ldxr w15, [x14]\n"       \
    " add w15, w15, 1\n stlxr w17, w15, [x14]\n cbnz w17, 1b\n ldp x14, x15, [sp], 16\n ret\n"
__asm__(".text\n"
        ".globl trampoline_in, trampoline_out\n"
        "trampoline_in:" COUNT("entered") "trampoline_out:" COUNT("left"));
static const uint32_t function[] = {0x14000008, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f,
                                    0xd503201f, 0xd503201f, 0xd503201f, 0x11000400, /* add w0, w0, 1 */
                                    0x14000008, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f,
                                    0xd503201f, 0xd503201f, 0xd503201f, 0xd65f03c0};
enum { EXIT_AT = 36, EACH = 4096 - 16 };
#endif

enum { FUNCTIONS = 12, PAGES = 1 << 16 };
static _Alignas(PAGES) char code[PAGES]; /* within the trampolines' reach */
static char map_bytes[1 + FUNCTIONS * 2 * SLED_BYTES];
static const rt_handlers *handlers;
static rt_sled_map map;
static volatile uint8_t wanted[FUNCTIONS];
static rt_object object;

static void put_sled(char *p, const void *at, const void *of, unsigned kind, unsigned version)
{
    uintptr_t a = (uintptr_t)at, f = (uintptr_t)of;
    if (version >= RELATIVE) {
        a -= (uintptr_t)p + SLED_AT;
        f -= (uintptr_t)p + SLED_FUNCTION;
    }
    memset(p, 0xa5, SLED_BYTES);
    memcpy(p + SLED_AT, &a, sizeof a);
    memcpy(p + SLED_FUNCTION, &f, sizeof f);
    p[SLED_KIND] = (char)kind;
    p[SLED_VERSION] = (char)version;
}

static void *place(int i)
{
    return code + i * EACH;
}

static void build(void)
{
    assert_int_equal(mprotect(code, sizeof code, PROT_READ | PROT_WRITE), 0);
    memset(code, 0xcc, sizeof code);
    for (int i = 0; i < FUNCTIONS; i++) {
        char *p = map_bytes + 1 + i * 2 * SLED_BYTES, *f = place(i); /* the map is unaligned */
        memcpy(f, function, sizeof function);
        put_sled(p, f, f, RT_SLED_ENTRY, 2);
        put_sled(p + SLED_BYTES, f + EXIT_AT, f, RT_SLED_EXIT, 2);
        wanted[i] = 1;
    }
    map = (rt_sled_map){.version = RT_START_VERSION,
                        .begin = map_bytes + 1,
                        .end = map_bytes + sizeof map_bytes,
                        .trampoline = {trampoline_in, trampoline_out, trampoline_out, trampoline_in},
                        .handlers = &handlers};
    memset(&object, 0, sizeof object);
    object.map = &map;
    object.base = 70000;
    object.count = FUNCTIONS;
    object.wanted = wanted;
    said[0] = '\0';
    entered = left = 0;
    tl_rt_sled_sync((uintptr_t)code, (uintptr_t)code + sizeof code);
    assert_int_equal(mprotect(code, sizeof code, PROT_READ | PROT_EXEC), 0);
}

static int call(int i)
{
    int (*f)(int);
    void *p = place(i);
    memcpy(&f, &p, sizeof f);
    return f(41);
}

static void call_all(uint32_t expected)
{
    entered = left = 0;
    for (int i = 0; i < FUNCTIONS; i++)
        assert_int_equal(call(i), 42);
    assert_int_equal(entered, expected);
    assert_int_equal(left, expected);
}

static void test_functions_are_runs(void **state)
{
    static char bytes[1 + 7 * SLED_BYTES];
    static const int of[7] = {1, 1, 1, 2, 3, 3, 1}; /* the last one is a function of its own again */
    for (unsigned version = 0; version <= 2; version++) {
        uint64_t address[8] = {0};
        for (int i = 0; i < 7; i++)
            put_sled(bytes + 1 + i * SLED_BYTES, code + i, code + 100 * of[i], (unsigned)i % 3, version);
        /* An incomplete sled at the end is none. */
        assert_int_equal(tl_rt_map_functions(bytes + 1, bytes + sizeof bytes, 0, NULL), 4);
        assert_int_equal(tl_rt_map_functions(bytes + 1, bytes + sizeof bytes - 1, 0, NULL), 3);
        assert_int_equal(tl_rt_map_functions(bytes + 1, bytes + sizeof bytes, (uintptr_t)code, address), 4);
        assert_int_equal(address[0], 100);
        assert_int_equal(address[1], 200);
        assert_int_equal(address[2], 300);
        assert_int_equal(address[3], 100);
        assert_int_equal(address[4], 0);
    }
    assert_int_equal(tl_rt_map_functions(NULL, NULL, 0, NULL), 0);
}

#if defined(__x86_64__)
static void test_instructions(void **state)
{
    static _Alignas(16) uint8_t p[32];
    uintptr_t at = (uintptr_t)p;
    memcpy(p, function, 11);
    assert_int_equal(tl_rt_sled_state(at, RT_SLED_ENTRY), RT_SLED_OFF);
    tl_rt_sled_prepare(at, 0x0fedcba9, at + 11 + 0x12345678, RT_SLED_ENTRY);
    assert_memory_equal(p, ((uint8_t[]){0xeb, 9, 0xa9, 0xcb, 0xed, 0x0f, 0xe8, 0x78, 0x56, 0x34, 0x12, 0}), 12);
    tl_rt_sled_switch(at, RT_SLED_ENTRY, true);
    assert_memory_equal(p, ((uint8_t[]){0x41, 0xba, 0xa9}), 3);
    assert_int_equal(tl_rt_sled_state(at, RT_SLED_ENTRY), RT_SLED_ON);
    tl_rt_sled_switch(at, RT_SLED_ENTRY, false);
    assert_memory_equal(p, ((uint8_t[]){0xeb, 9, 0xa9}), 3);
    memcpy(p, function + EXIT_AT, 11);
    assert_int_equal(tl_rt_sled_state(at, RT_SLED_EXIT), RT_SLED_OFF);
    tl_rt_sled_prepare(at, 1, at - 100, RT_SLED_EXIT);
    tl_rt_sled_switch(at, RT_SLED_EXIT, true);
    assert_memory_equal(p, ((uint8_t[]){0x41, 0xba, 1, 0, 0, 0, 0xe9, 0x91, 0xff, 0xff, 0xff, 0}), 12);
    tl_rt_sled_switch(at, RT_SLED_EXIT, false);
    assert_memory_equal(p, ((uint8_t[]){0xc3, 0x2e, 1}), 3);
    memcpy(p, ((uint8_t[]){0xeb, 0x0f, 0x57}), 3);
    assert_int_equal(tl_rt_sled_state(at, RT_SLED_CUSTOM), RT_SLED_OFF);
    assert_int_equal(tl_rt_sled_state(at, RT_SLED_TYPED), RT_SLED_ODD);
    tl_rt_sled_switch(at, RT_SLED_CUSTOM, true);
    assert_memory_equal(p, ((uint8_t[]){0x66, 0x90, 0x57}), 3);
    assert_int_equal(tl_rt_sled_state(at, RT_SLED_CUSTOM), RT_SLED_ON);
    tl_rt_sled_switch(at, RT_SLED_TYPED, false);
    assert_memory_equal(p, ((uint8_t[]){0xeb, 0x14, 0x57}), 3);
    assert_int_equal(tl_rt_sled_state(at + 1, RT_SLED_ENTRY), RT_SLED_ODD);
}

static void test_reach(void **state)
{
    uintptr_t at = UINT64_C(0x100000000), next = at + 11;
    assert_true(tl_rt_sled_reaches(at, next + INT32_MAX));
    assert_false(tl_rt_sled_reaches(at, next + INT32_MAX + 1));
    assert_true(tl_rt_sled_reaches(at, next - (UINT64_C(1) << 31)));
    assert_false(tl_rt_sled_reaches(at, next - (UINT64_C(1) << 31) - 1));
}
#else
static void test_instructions(void **state)
{
    static uint32_t p[8];
    uintptr_t at = (uintptr_t)p;
    memcpy(p, function, sizeof p);
    assert_int_equal(tl_rt_sled_state(at, RT_SLED_ENTRY), RT_SLED_OFF);
    tl_rt_sled_prepare(at, 0x0fedcba9, ((at + 16) & ~(uintptr_t)0xfff) + 0x12345678, RT_SLED_ENTRY);
    assert_int_equal(p[0], 0x14000008);
    assert_int_equal(p[1], 0xa9bf7bf1);     /* stp x17, x30, [sp, -16]! */
    assert_int_equal(p[2], 0x52997531);     /* mov w17, 0xcba9 */
    assert_int_equal(p[3], 0x72a1fdb1);     /* movk w17, 0xfed, lsl 16 */
    assert_int_equal(p[4], 0xb0091a3e | 0); /* adrp x30, 0x12345000 */
    assert_int_equal(p[5], 0x9119e3de);     /* add x30, x30, 0x678 */
    assert_int_equal(p[6], 0xd63f03c0);     /* blr x30 */
    assert_int_equal(p[7], 0xa8c17bf1);     /* ldp x17, x30, [sp], 16 */
    tl_rt_sled_switch(at, RT_SLED_ENTRY, true);
    assert_int_equal(p[0], 0xd503201f);
    assert_int_equal(tl_rt_sled_state(at, RT_SLED_ENTRY), RT_SLED_ON);
    tl_rt_sled_switch(at, RT_SLED_ENTRY, false);
    assert_int_equal(p[0], 0x14000008);
    tl_rt_sled_switch(at, RT_SLED_CUSTOM, false);
    assert_int_equal(p[0], 0x14000006);
    assert_int_equal(tl_rt_sled_state(at, RT_SLED_TYPED), RT_SLED_ODD);
    tl_rt_sled_switch(at, RT_SLED_TYPED, false);
    assert_int_equal(p[0], 0x14000009);
    assert_int_equal(tl_rt_sled_state(at + 1, RT_SLED_TYPED), RT_SLED_ODD);
}

static void test_reach(void **state)
{
    uintptr_t at = UINT64_C(0x200000000);
    assert_true(tl_rt_sled_reaches(at, at + UINT64_C(0xffffffff)));
    assert_false(tl_rt_sled_reaches(at, at + UINT64_C(0x100000000)));
    assert_true(tl_rt_sled_reaches(at, at - UINT64_C(0x100000000)));
    assert_false(tl_rt_sled_reaches(at, at - UINT64_C(0x100000001)));
}
#endif

/* Patched functions call the hook with their number; the pages become as before. */
static void test_patch_and_unpatch(void **state)
{
    build();
    call_all(0);
    for (int turn = 0; turn < 3; turn++) {
        tl_rt_patch(&object, true);
        call_all(FUNCTIONS);
        tl_rt_patch(&object, true); /* once more changes nothing */
        call_all(FUNCTIONS);
        tl_rt_patch(&object, false);
        call_all(0);
    }
    assert_string_equal(said, "");
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(read(ends[0], code, 1), -1); /* not writable */
    close(ends[0]);
    close(ends[1]);
}

static void test_only_wanted_functions(void **state)
{
    build();
    for (int i = 0; i < FUNCTIONS; i++)
        wanted[i] = i == 3 || i == 8;
    tl_rt_patch(&object, true);
    call_all(2);
    entered = 0;
    call(3);
    assert_int_equal(entered, 1);
    for (int i = 0; i < FUNCTIONS; i++) /* others, while patching is on */
        wanted[i] = i == 3 || i < 2;
    tl_rt_patch(&object, true);
    call_all(3);
    tl_rt_patch(&object, false);
    call_all(0);
}

static void test_odd_and_distant_sleds_are_told(void **state)
{
    build();
    char *elsewhere = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(elsewhere != MAP_FAILED);
    if (tl_rt_sled_reaches((uintptr_t)elsewhere, (uintptr_t)trampoline_in))
        skip_because("the program lies beside its heap, as one that is not position-independent may");
    memcpy(elsewhere, function, sizeof function);
    put_sled(map_bytes + 1, elsewhere, elsewhere, RT_SLED_ENTRY, 2);
    put_sled(map_bytes + 1 + SLED_BYTES, elsewhere + EXIT_AT, elsewhere, RT_SLED_EXIT, 2);
    put_sled(map_bytes + 1 + 2 * SLED_BYTES, (char *)place(1) + EXIT_AT - 4, place(1), RT_SLED_ENTRY, 2);
    put_sled(map_bytes + 1 + 4 * SLED_BYTES, place(2), place(2), 99, 2);
    tl_rt_patch(&object, true);
    assert_contains(said, "2 sleds of '' are not as");
    assert_contains(said, "2 sleds of '' are too far");
    assert_memory_equal(elsewhere, function, sizeof function);
    entered = left = 0;
    assert_int_equal(call(1), 42);
    assert_int_equal(call(2), 42);
    assert_int_equal(call(3), 42);
    assert_int_equal(entered, 1);
    assert_int_equal(left, 3);
    said[0] = '\0';
    tl_rt_patch(&object, false);
    tl_rt_patch(&object, true);
    assert_string_equal(said, ""); /* once is enough */
    tl_rt_patch(&object, false);
    munmap(elsewhere, PAGES);
}

/* If code cannot be made writable there is one message, and nothing is patched. */
static void test_code_that_stays_as_it_is(void **state)
{
    build();
    char path[] = "/tmp/tl-rt-sled-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, code, sizeof code), sizeof code);
    close(fd);
    fd = open(path, O_RDONLY);
    unlink(path);
    assert_true(mmap(code, sizeof code, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == code);
    close(fd);
    tl_rt_patch(&object, true);
    assert_contains(said, "cannot make code writable");
    assert_contains(said, "(13)"); /* EACCES */
    assert_true(object.refused);
    said[0] = '\0';
    tl_rt_patch(&object, true);
    tl_rt_patch(&object, false);
    assert_string_equal(said, "");
    assert_memory_equal(place(0), function, sizeof function);
    assert_true(mmap(code, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                code);
}

static void test_unloaded_objects_are_left_alone(void **state)
{
    build();
    object.gone = true;
    map.begin = map.end = NULL; /* nothing of it may be read */
    object.map = NULL;
    tl_rt_patch(&object, true);
    call_all(0);
}

static bool over;

static void *calls(void *arg)
{
    uintptr_t wrong = 0;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        for (int i = 0; i < FUNCTIONS; i++)
            wrong += call(i) != 42;
    (void)arg;
    return (void *)wrong;
}

static void test_threads_run_on(void **state)
{
    enum { THREADS = 3, TURNS = 300 };
    pthread_t thread[THREADS];
    build();
    over = false;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, calls, NULL), 0);
    for (int i = 0; i < TURNS; i++) {
        tl_rt_patch(&object, true);
        tl_rt_patch(&object, false);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    assert_string_equal(said, "");
    call_all(0);
}

#else
RT_SKIPPED(test_functions_are_runs)
RT_SKIPPED(test_instructions)
RT_SKIPPED(test_reach)
RT_SKIPPED(test_patch_and_unpatch)
RT_SKIPPED(test_only_wanted_functions)
RT_SKIPPED(test_odd_and_distant_sleds_are_told)
RT_SKIPPED(test_code_that_stays_as_it_is)
RT_SKIPPED(test_unloaded_objects_are_left_alone)
RT_SKIPPED(test_threads_run_on)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_are_runs),
        cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_patch_and_unpatch),
        cmocka_unit_test(test_only_wanted_functions),
        cmocka_unit_test(test_odd_and_distant_sleds_are_told),
        cmocka_unit_test(test_code_that_stays_as_it_is),
        cmocka_unit_test(test_unloaded_objects_are_left_alone),
        cmocka_unit_test(test_threads_run_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
