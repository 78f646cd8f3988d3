/* Tests of patch/patch_place.h by running what it makes: functions of random instructions, lengths and distances are
 * called, then patched and called again. Results and memory must be the same, and each function's begins and ends are
 * counted as often as in a second copy of it that counts by itself. x86-64 alone. */
#include "patch/patch_place.h"
#include "patch_fixture.h"
#include "thorough.h"

#if defined(__x86_64__)
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define FUNCTIONS 160
#define CODE_SIZE (64 << 10)

/* ---- random code ---- */

static struct {
    uint64_t random;
    bool counted;  /* the copy that counts by itself */
    uint64_t base; /* where the code is written */
    uint8_t *code;
    size_t n;
    uint64_t begin[FUNCTIONS], end[FUNCTIONS];
    patch_bytes frames;
    uint32_t begins[FUNCTIONS + 1], ends[FUNCTIONS + 1], *expected;
    patch_code patched;
    patch_plan plan;
} t;

static uint32_t any(uint32_t below)
{
    t.random = t.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(t.random >> 33) % below;
}

static void put_code(const char *hex)
{
    for (const char *p = hex; *p; p += strcspn(p, " "), p += strspn(p, " "))
        t.code[t.n++] = (uint8_t)strtoul(p, NULL, 16);
}

static void put_value(unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++)
        t.code[t.n++] = (uint8_t)(v >> 8 * i);
}

static uint64_t here(void)
{
    return t.base + t.n;
}

static void put_to(uint64_t target)
{
    put_value(4, target - (here() + 4));
}

static void put_nops(unsigned n)
{
    static const char *const nop[] = {"90", "66 90", "0f 1f 00", "0f 1f 40 00", "0f 1f 44 00 00", "66 0f 1f 44 00 00"};
    while (n > 0) {
        const unsigned length = n < 6 ? n : 6;
        put_code(nop[length - 1]);
        n -= length;
    }
}

/* eax and rdx are results; edi counts down, and decides. Nothing depends on where code is. */
static void put_work(void)
{
    static const char *const work[] = {"83 c0 07",
                                       "69 c0 0d 01 00 00",
                                       "8d 44 78 05",
                                       "31 f8",
                                       "01 d0",
                                       "48 8d 54 02 11",
                                       "f7 d2",
                                       "ba 21 43 00 00",
                                       "41 b8 07 00 00 00",
                                       "44 01 c0",
                                       "c1 c0 05",
                                       "48 0f af d0",
                                       "66 0f ef c0",
                                       "f2 0f 2a c0",
                                       "0f b6 d0",
                                       "89 c1",
                                       "50 58",
                                       "9c 9d",
                                       "48 c7 c1 05 00 00 00",
                                       "29 c8"};
    put_code(work[any(sizeof work / sizeof *work)]);
}

static const char *const pushes[] = {"53", "55", "41 54", "41 55", "41 56", "41 57"};
static const char *const pops[] = {"5b", "5d", "41 5c", "41 5d", "41 5e", "41 5f"};

typedef struct frame {
    unsigned saved, room; /* registers that were pushed; bytes below them */
} frame;

static void put_epilogue(const frame *f)
{
    if (f->room) {
        put_code("48 83 c4");
        put_value(1, f->room);
    }
    for (unsigned i = f->saved; i-- > 0;)
        put_code(pops[i]);
}

/* A conditional jump over what follows, of either length; returns where its displacement is. */
static size_t put_branch(bool near)
{
    static const char *const test[] = {"40 f6 c7 01", "83 ff 03", "39 c7", "a8 04"};
    put_code(test[any(4)]);
    const uint8_t condition = (uint8_t)any(16);
    if (near) {
        put_value(1, 0x70 | condition);
        put_value(1, 0);
        return t.n;
    }
    put_value(1, 0x0f);
    put_value(1, 0x80 | condition);
    put_value(4, 0);
    return t.n;
}

static void land(size_t from, bool near)
{
    const size_t d = t.n - from;
    for (unsigned i = 0; i < (near ? 1u : 4u); i++)
        t.code[from - (near ? 1 : 4) + i] = (uint8_t)(d >> 8 * i);
}

static void put_return(const frame *f)
{
    put_epilogue(f);
    put_code(any(8) ? "c3" : "f3 c3");
}

/* To a function with a lower number: so everything ends. */
static void put_tail(unsigned self, const frame *f)
{
    const uint64_t target = t.begin[any(self)];
    put_epilogue(f);
    if (any(4) == 0 && f->saved == 0) { /* through a register */
        put_code("4c 8d 1d");
        put_to(target);
        put_code("41 ff e3");
        return;
    }
    put_code("e9");
    put_to(target);
}

/* A jump through a register that stays inside; memory below rsp must not be touched by anybody. */
static void put_inside_jump(void)
{
    put_code(any(2) ? "b1 7f 80 c1 01" : "b1 7f 80 c1 81"); /* flags are kept, too: mov $127, %cl; add $1 or -127 */
    put_code("89 7c 24 f8 4c 8d 1d 03 00 00 00 41 ff e3");  /* mov %edi, -8(%rsp); lea 3(%rip), %r11; jmp *%r11 */
    put_code("0f 90 c1 0f b6 c9 7a 02 01 c8");              /* seto %cl; movzbl %cl, %ecx; jp; add %ecx, %eax */
    put_code("33 44 24 f8");                                /* xor -8(%rsp), %eax */
}

static void put_body(unsigned self, const frame *f)
{
    for (unsigned i = any(4); i > 0; i--) {
        put_work();
        if (self > 0 && f->saved % 2 == 1 && any(3) == 0) {     /* a call that may not be made too often */
            put_code("83 ff 02 7e 11 ff cf 57 48 83 ec 08 e8"); /* cmp $2, %edi; jle; dec; push; sub $8; call */
            put_to(t.begin[any(self)]);
            put_code("48 83 c4 08 5f"); /* add $8, %rsp; pop %rdi */
        }
        if (any(6) == 0)
            put_code("a8 04 74 01 2e 83 c0 09"); /* test; je over a prefix: into an instruction */
        if (f->saved == 0 && f->room == 0 && any(5) == 0)
            put_inside_jump();
        if (any(3) == 0) {
            const bool near = any(2);
            const size_t from = put_branch(near);
            put_work();
            const unsigned then = any(3);
            if (then == 1 || (then == 2 && self == 0))
                put_return(f);
            else if (then == 2)
                put_tail(self, f);
            land(from, near);
        }
        if (self > 0 && f->saved == 0 && f->room == 0 && any(4) == 0) { /* a conditional tail call */
            put_code("a8 03 0f 84");
            put_to(t.begin[any(self)]);
        }
    }
}

static void put_function(unsigned self)
{
    const frame f = {any(3) ? any(7) : 0, any(2) ? 8 * any(4) : 0};
    t.begin[self] = here();
    if (any(4) == 0)
        put_code("f3 0f 1e fa");
    if (t.counted) {
        put_code("9c ff 05"); /* pushf; incl; popf */
        put_to((uint64_t)(uintptr_t)&t.expected[self + 1]);
        put_code("9d");
    }
    const uint64_t begin = here();
    if (any(12) == 0)
        put_nops(1 + any(7));
    for (unsigned i = 0; i < f.saved; i++)
        put_code(pushes[i]);
    if (f.room) {
        put_code("48 83 ec");
        put_value(1, f.room);
    }
    put_body(self, &f);
    if (f.saved == 0 && f.room == 0 && any(6) == 0) { /* a loop to the own begin */
        put_code("ff cf 83 ff 01 0f 8f");
        put_to(begin);
    }
    if (f.saved == 0 && f.room == 0 &&
        any(6) == 0) /* lea 8(%rip), %r11; jmp *%r11; mov $7, %eax: to the return behind */
        put_code("4c 8d 1d 08 00 00 00 41 ff e3 b8 07 00 00 00 c3");
    if (self > 0 && f.saved == 0 && f.room == 0 && any(6) == 0) { /* a call right before a return */
        put_code("83 ff 02 7e 08 ff cf e8");
        put_to(t.begin[any(self)]);
        put_code("c3");
    }
    if (self > 0 && any(5) == 0)
        put_tail(self, &f);
    else
        put_return(&f);
    t.end[self] = here();
    put_nops(any(3) ? any(9) : any(24));
}

static uint8_t *map_at(uint64_t at, size_t n)
{
    void *p = mmap((void *)(uintptr_t)at, n, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != (void *)(uintptr_t)at && p != MAP_FAILED)
        munmap(p, n);
    return p == (void *)(uintptr_t)at ? p : NULL;
}

static void make(uint64_t seed, bool counted, uint64_t base)
{
    t.random = seed;
    t.counted = counted;
    t.base = base;
    t.n = 0;
    t.code = map_at(base, CODE_SIZE);
    assert_non_null(t.code);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        put_function(i);
    assert_true(t.n < CODE_SIZE);
}

/* ---- what blocks call ---- */

enum { DEPTH = 4096 };

static struct {
    uint32_t id;
    uint64_t place;
} open_call[DEPTH];
static unsigned depth;

static void told(uint32_t id, uint64_t place, uint32_t begins)
{
    assert_in_range(id, 1, FUNCTIONS);
    while (depth > 0 && open_call[depth - 1].place < place + begins) /* its end was not told */
        depth--;
    if (begins) {
        assert_true(depth < DEPTH);
        t.begins[id]++;
        open_call[depth].id = id;
        open_call[depth++].place = place;
        return;
    }
    t.ends[id]++;
    assert_true(depth > 0);
    depth--;
    assert_int_equal(open_call[depth].id, id);
    assert_true(open_call[depth].place == place);
}

/* As in the recorder; flags, and memory below the stack, are spoilt. */
static uint64_t put_stub(uint32_t begins, unsigned pushes_done, bool jumped)
{
    const uint64_t at = here();
    put_code("48 8d 64 24");
    put_value(1, jumped ? 0xf0 : 0xf8);                          /* lea -8(%rsp), %rsp */
    put_code("50 51 52 56 57 41 50 41 51 41 52 41 53 8b 7c 24"); /* push ...; mov ..(%rsp), %edi */
    put_value(1, jumped ? 80 : 72);
    put_code("48 8d b4 24"); /* lea ..(%rsp), %rsi */
    put_value(4, 88 + 8 * pushes_done);
    put_code("ba");
    put_value(4, begins);
    put_code("48 b8");
    put_value(8, (uint64_t)(uintptr_t)told);
    put_code("55 48 89 e5 48 83 e4 f0 ff d0 48 89 ec 5d");       /* on an aligned stack: call *%rax */
    put_code("41 5b 41 5a 41 59 41 58 5f 5e 5a 59 58 48 85 e4"); /* pop ...; test %rsp, %rsp */
    put_code("48 c7 44 24 80 ff ff ff ff");                      /* movq $-1, -128(%rsp) */
    put_code("48 8d 64 24");
    put_value(1, jumped ? 16 : 8);
    put_code("c3");
    return at;
}

/* ---- patching ---- */

static uint8_t *take(patch_space *space, uint64_t at, uint64_t n)
{
    (void)space;
    return at < 0x10000 || at >> 46 ? NULL : map_at(at, n);
}

static void give(patch_space *space, uint64_t at, uint64_t n)
{
    (void)space;
    munmap((void *)(uintptr_t)at, n);
}

static uint64_t find(patch_space *space, uint64_t low, uint64_t high, uint64_t near, uint64_t n)
{
    (void)space;
    for (uint64_t at = (near + 0xfffff) & ~(uint64_t)0xfffff; at <= high; at += 1 << 20)
        if (at >= low && map_at(at, n)) {
            munmap((void *)(uintptr_t)at, n);
            return at;
        }
    return 0;
}

static void plan(patch_image *image)
{
    t.frames = begin_frames();
    const size_t usual = put_usual_common(&t.frames);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        put_frame(&t.frames, usual, t.begin[i], t.end[i] - t.begin[i], "");
    put_number(&t.frames, 4, 0);
    *image = image_of(&t.frames);
    image->part[image->parts++] = (patch_part){t.base, CODE_SIZE, t.code, true};
    assert_true(patch_plan_make(&t.plan, image, &patch_x86_64, &fixture_memory, NULL, NULL, 0));
    for (uint32_t i = 0; i < t.plan.functions; i++)
        for (unsigned f = 0; f < FUNCTIONS; f++)
            if (t.plan.function[i].begin == t.begin[f])
                t.plan.function[i].number = f + 1;
}

static void write_changes(bool on)
{
    for (uint32_t i = 0; i < t.patched.changes; i++) {
        const patch_change *c = &t.patched.change[i];
        memcpy((void *)(uintptr_t)c->address, on ? c->now : c->was, c->size);
    }
}

typedef struct result {
    uint64_t a, c, d, s, n, r8, r9, r10;
} result;

static result run(uint64_t function, uint64_t argument)
{
    register uint64_t r8 __asm__("r8") = 0x88;
    register uint64_t r9 __asm__("r9") = 0x99;
    register uint64_t r10 __asm__("r10") = 0x1010;
    uint64_t a = 5, c = 1, d = 3, s = 0x51, n = argument;
    __asm__ volatile("subq $136, %%rsp\n\tcall *%8\n\taddq $136, %%rsp"
                     : "+a"(a), "+c"(c), "+d"(d), "+S"(s), "+D"(n), "+r"(r8), "+r"(r9), "+r"(r10)
                     : "b"(function)
                     : "r11", "xmm0", "memory", "cc");
    return (result){a, c, d, s, n, r8, r9, r10};
}

static void run_all(result out[FUNCTIONS])
{
    for (unsigned i = 0; i < FUNCTIONS; i++)
        out[i] = run(t.begin[i], i % 7);
}

/* Ends that could not be patched are missing, and so may be the entries of functions that were left out. */
static void compare_counts(const patch_plan *p)
{
    for (uint32_t i = 0; i < p->functions; i++) {
        const patch_function *f = &p->function[i];
        const uint32_t id = f->number;
        if (!id)
            continue;
        assert_int_equal(t.begins[id], f->why == PATCH_OK ? t.expected[id] : 0);
        if (!f->late)
            assert_int_equal(t.ends[id], t.begins[id]);
        assert_true(t.ends[id] <= t.begins[id]);
    }
}

/* Each way must have been taken by some site. */
static struct {
    uint32_t functions, patched, direct, punned, evicted, several, hops, prefixed, aside;
} sum;

static void add_up(const patch_code *code)
{
    sum.functions += code->counts.functions;
    sum.patched += code->counts.patched;
    sum.direct += code->counts.direct;
    sum.punned += code->counts.punned;
    sum.evicted += code->counts.evicted;
    sum.several += code->counts.several;
    for (uint32_t i = 0; i < code->changes; i++) {
        const patch_change *c = &code->change[i];
        const uint64_t begin = t.plan.function[c->function].begin + t.plan.function[c->function].entry;
        sum.hops += c->live == 0;
        sum.prefixed += c->now[0] == 0x2e;
        sum.aside += c->address != begin && (c->was[0] & 0xf0) == 0x50; /* a push, or a pop */
    }
}

static void one_program(uint64_t seed, uint64_t base, bool alone)
{
    enum { STUBS_AT = 8 << 20, COUNTS_AT = 9 << 20, COPY_AT = 10 << 20 };
    static result before[FUNCTIONS], counted[FUNCTIONS], after[FUNCTIONS];
    static uint8_t original[CODE_SIZE];
    uint64_t where;
    patch_image image;
    patch_space space = {take, give, find};
    patch_stubs stubs;
    memset(&t, 0, sizeof t);
    t.expected = (uint32_t *)(void *)map_at(base + COUNTS_AT, 4096);
    make(seed, true, base + COPY_AT);
    run_all(counted);
    munmap(t.code, CODE_SIZE);
    uint8_t *const stub_code = map_at(base + STUBS_AT, 4096);
    t.code = stub_code;
    t.base = base + STUBS_AT;
    t.n = 0;
    for (unsigned i = 0; i < PATCH_STUB_ENTERS; i++)
        stubs.enter[i] = put_stub(1, i, false);
    stubs.exit = put_stub(0, 0, true);
    stubs.tail = put_stub(0, 0, false);
    stubs.leave = put_stub(0, 0, false);
    make(seed, false, base);
    run_all(before);
    assert_memory_equal(before, counted, sizeof before);
    memcpy(original, t.code, CODE_SIZE);
    plan(&image);
    assert_true(patch_place(&t.patched, &t.plan, &space, &(patch_order){.stubs = &stubs, .alone = alone}));
    assert_memory_equal(original, t.code, CODE_SIZE);
    assert_true(patch_check(&t.patched, &t.plan, &where));
    write_changes(true);
    run_all(after);
    assert_memory_equal(before, after, sizeof before);
    compare_counts(&t.plan);
    add_up(&t.patched);
    write_changes(false);
    assert_memory_equal(original, t.code, CODE_SIZE);
    patch_code_drop(&t.patched, &space);
    patch_plan_free(&t.plan);
    free(t.frames.at);
    munmap(t.code, CODE_SIZE);
    munmap(stub_code, 4096);
    munmap(t.expected, 4096);
}

static void test_programs(void **state)
{
    for (unsigned i = 0; i < 400 / one_in(20); i++) {
        one_program(i + 1, 0x10000000, true);
        one_program(i + 1, 0x10000000, false);
        one_program(i + 1, 0x60000000, i % 2);
    }
    print_message("%u of %u functions; direct %u, hops %u, prefixed %u, punned %u, evicted %u, several %u, aside %u\n",
                  sum.patched, sum.functions, sum.direct, sum.hops, sum.prefixed, sum.punned, sum.evicted, sum.several,
                  sum.aside);
    assert_true(sum.patched > sum.functions * 9 / 10);
    assert_true(sum.direct && sum.hops && sum.prefixed && sum.punned && sum.evicted && sum.several && sum.aside);
}
#else
static void test_programs(void **state)
{
    skip_because("this is not x86-64, whose code it runs");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
