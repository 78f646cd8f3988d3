/* Patterns for functions by address: this program's own functions, by their names. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <link.h>

#include "base/compiler.h"

#include "rt/object/rt_wanted.c"
#include "scratch.h"

rt_core tl_rt;
static rt_object program = {.id = 1, .path = "/proc/self/exe"};

/* The compiler must not merge them. */
__attribute__((noinline)) int wanted_apple(int x);
__attribute__((noinline)) int wanted_pear(int x);
__attribute__((noinline)) int other_plum(int x);
int _ZN5fruit3figEi(int x);

int wanted_apple(int x)
{
    return x + 1;
}
int wanted_pear(int x)
{
    return x + 2;
}
int other_plum(int x)
{
    return x + 3;
}
int _ZN5fruit3figEi(int x)
{
    return x + 4;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    program.bias = info->dlpi_addr;
    return 1;
}

static int begin(void **state)
{
    dl_iterate_phdr(first_object, NULL);
    tl_rt.set.nfunc = tl_rt.set.nnot = 0;
    tl_rt_wanted_forget();
    return 0;
}

static void func(const char *glob)
{
    tl_rt.set.func[tl_rt.set.nfunc++] = glob;
}

static void not(const char *glob)
{
    tl_rt.set.not_func[tl_rt.set.nnot++] = glob;
}

/* Which of the four are wanted: one digit each. */
static const char *which(void)
{
    static char text[8];
    int (*const f[])(int) = {wanted_apple, wanted_pear, other_plum, _ZN5fruit3figEi};
    for (unsigned i = 0; i < 4; i++)
        text[i] = tl_rt_wanted(&program, (uintptr_t)f[i]) ? '1' : '0';
    return text;
}

static void test_without_patterns(void **state)
{
    assert_false(tl_rt_wanted_patterns());
    assert_string_equal(which(), "1111");
    assert_true(tl_rt_wanted(NULL, 1));
}

static void test_func(void **state)
{
    func("wanted_*");
    assert_string_equal(which(), "1100");
    assert_false(tl_rt_wanted(&program, (uintptr_t)wanted_apple + 1));
    assert_false(tl_rt_wanted(NULL, (uintptr_t)wanted_apple));
}

static void test_not(void **state)
{
    not("*_pear");
    assert_string_equal(which(), "1011");
    assert_true(tl_rt_wanted(&program, (uintptr_t)wanted_pear + 1)); /* has no name */
    assert_true(tl_rt_wanted(NULL, (uintptr_t)wanted_pear));
}

static void test_both(void **state)
{
    func("wanted_*");
    func("*plum");
    not("wanted_p*");
    assert_string_equal(which(), "1010");
}

static void test_names_of_cplusplus(void **state)
{
    func("fruit::*");
    assert_string_equal(which(), "0001");
    tl_rt.set.nfunc = 0;
    func("_ZN5fruit*");
    tl_rt_wanted_forget();
    assert_string_equal(which(), "0001");
}

/* "object:function"; two colons are C++'s. */
static void test_patterns_with_an_object(void **state)
{
    static const struct {
        const char *func, *which;
    } cases[] = {
        {"exe:wanted_*", "1100"},     {"ex?:*", "1111"},       {"*:fruit::*", "0001"},
        {"e*:_ZN5fruit*", "0001"},    {"exe:", "0000"},        {"lib*:wanted_*", "0000"},
        {"/proc/self/exe:*", "0000"}, {":wanted_*", "0000"},   {"fruit::fig", "0001"},
        {"fruit:fig", "0000"},        {"fruit:::fig", "0000"}, {"exe:wanted_apple:", "0000"},
        {"exe:fruit::*", "0001"},     {"*", "1111"},           {"[ef]xe:*plum", "0010"},
    };
    for (unsigned i = 0; i < TL_COUNT(cases); i++) {
        tl_rt.set.nfunc = 0;
        func(cases[i].func);
        tl_rt_wanted_forget();
        if (strcmp(which(), cases[i].which) != 0)
            fail_msg("%s selects %s", cases[i].func, which());
    }
    tl_rt.set.nfunc = 0;
    not("exe:*_pear");
    not("lib*:*");
    tl_rt_wanted_forget();
    assert_string_equal(which(), "1011");
    static char longer[600];
    memset(longer, '*', sizeof longer - 1);
    longer[500] = ':';
    not(longer);
    tl_rt_wanted_forget();
    assert_string_equal(which(), "1011");
}

/* Functions without a name are called by their place in the file. */
static void test_places(void **state)
{
    char place[64];
    const uintptr_t nameless = (uintptr_t)wanted_apple + 1;
    snprintf(place, sizeof place, "exe+0x%llx", (unsigned long long)(nameless - program.bias));
    func(place);
    assert_string_equal(which(), "0000");
    assert_true(tl_rt_wanted(&program, nameless));
    assert_false(tl_rt_wanted(&program, nameless + 1));
    tl_rt.set.func[0] = "exe:exe+0x*";
    assert_true(tl_rt_wanted(&program, nameless + 1));
    tl_rt.set.nfunc = 0;
    not(place);
    tl_rt_wanted_forget();
    assert_string_equal(which(), "1111");
    assert_false(tl_rt_wanted(&program, nameless));
    /* The extremes of addresses, and of names of files. */
    static rt_object o = {.id = 9};
    tl_rt.set.nnot = 0;
    func("a+0x0");
    func("*+0xffffffffffffffff");
    strcpy(o.path, "/nonexistent/a");
    tl_rt_wanted_forget();
    assert_true(tl_rt_wanted(&o, 0));
    assert_true(tl_rt_wanted(&o, UINTPTR_MAX));
    assert_false(tl_rt_wanted(&o, 16));
    memset(o.path, 'n', sizeof o.path - 1);
    assert_true(tl_rt_wanted(&o, UINTPTR_MAX));
    o.path[0] = '\0';
    assert_true(tl_rt_wanted(&o, UINTPTR_MAX));
}

/* All functions of an object at once. */
static void test_select(void **state)
{
    uint64_t address[] = {(uintptr_t)wanted_apple - program.bias, (uintptr_t)wanted_pear - program.bias,
                          (uintptr_t)other_plum - program.bias, 1};
    volatile uint8_t wanted[4] = {7, 7, 7, 7};
    program.function = address;
    program.wanted = wanted;
    program.count = 4;
    assert_int_equal(tl_rt_select(&program), 4);
    assert_int_equal(wanted[0] + wanted[1] + wanted[2] + wanted[3], 4);
    func("wanted_*");
    func("exe+0x1");
    tl_rt_wanted_forget();
    assert_int_equal(tl_rt_select(&program), 3);
    assert_int_equal(wanted[0] << 3 | wanted[1] << 2 | wanted[2] << 1 | wanted[3], 13);
    program.function = NULL;
    program.wanted = NULL;
    program.count = 0;
}

/* Names once read are kept until the patterns change. */
static void test_forget(void **state)
{
    func("wanted_apple");
    assert_string_equal(which(), "1000");
    tl_rt.set.func[0] = "wanted_pear";
    assert_string_equal(which(), "1000");
    tl_rt_wanted_forget();
    assert_string_equal(which(), "0100");
}

static void test_counts(void **state)
{
    rt_wanted_count all = {0, 0}, some = {0, 0}, others = {0, 0}, none = {0, 0};
    tl_rt_wanted_add(&all, &program);
    assert_true(all.known > 4);
    assert_int_equal(all.wanted, all.known);
    tl_rt_wanted_forget();
    func("wanted_*");
    tl_rt_wanted_add(&some, &program);
    assert_int_equal(some.wanted, 2);
    assert_int_equal(some.known, all.known);
    tl_rt_wanted_forget();
    tl_rt.set.nfunc = 0;
    not("wanted_*");
    tl_rt_wanted_add(&others, &program);
    assert_int_equal(others.wanted, all.known - 2);
    tl_rt_wanted_forget();
    tl_rt.set.nnot = 0;
    func("no_such_function");
    tl_rt_wanted_add(&none, &program);
    assert_int_equal(none.wanted, 0);
}

static void test_imports(void **state)
{
    bool linked_to_libc = tl_rt_symbols_import("/proc/self/exe", "dl_iterate_phdr");
    if (!linked_to_libc) {
        skip_because("this test is linked statically");
    }
    assert_false(tl_rt_symbols_import("/proc/self/exe", "wanted_apple")); /* its own */
    assert_false(tl_rt_symbols_import("/proc/self/exe", "no_such_function"));
    assert_false(tl_rt_symbols_import("/no/such/file", "dl_iterate_phdr"));
}

static char *read_program(size_t *size)
{
    FILE *f = fopen("/proc/self/exe", "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *size = (size_t)ftell(f);
    rewind(f);
    char *p = malloc(*size);
    assert_non_null(p);
    assert_int_equal(fread(p, 1, *size, f), *size);
    fclose(f);
    return p;
}

static void write_file(const char *path, const char *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
}

static uint32_t known_in(const char *path)
{
    static rt_object o = {.id = 2};
    rt_wanted_count c = {0, 0};
    strcpy(o.path, path);
    tl_rt_wanted_forget();
    tl_rt_wanted_add(&c, &o);
    return c.known;
}

/* Truncated or inconsistent files have no names, and do no harm. */
static void test_damaged_files(void **state)
{
    size_t size;
    char *p = read_program(&size);
    Elf64_Ehdr h;
    memcpy(&h, p, sizeof h);
    func("*");
    write_file("whole", p, size);
    assert_true(known_in("whole") > 4);
    const size_t cuts[] = {0, 1, 63, 64, 1000, size / 2, (size_t)h.e_shoff, (size_t)h.e_shoff + 100, size - 1};
    for (unsigned i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        write_file("cut", p, cuts[i]);
        assert_int_equal(known_in("cut"), 0);
    }
    for (unsigned i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s, bad;
        memcpy(&s, p + h.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type != SHT_SYMTAB && s.sh_type != SHT_DYNSYM && s.sh_type != SHT_STRTAB)
            continue;
        for (unsigned k = 0; k < 4; k++) {
            bad = s;
            bad.sh_offset = k == 0 ? UINT64_MAX - 8 : s.sh_offset;
            bad.sh_size = k == 1 ? UINT64_MAX / 2 : k == 2 ? s.sh_size - 1 : s.sh_size;
            bad.sh_link = k == 3 ? 0xffff : s.sh_link;
            memcpy(p + h.e_shoff + i * sizeof s, &bad, sizeof bad);
            write_file("bad", p, size);
            known_in("bad");
        }
        memcpy(p + h.e_shoff + i * sizeof s, &s, sizeof s);
    }
    free(p);
    unlink("whole");
    unlink("cut");
    unlink("bad");
}

static int enter_folder(void **state)
{
    int status = scratch_enter(state);
    return status ? status : begin(state);
}
#define leave_folder scratch_leave

#else
RT_SKIPPED(test_without_patterns)
RT_SKIPPED(test_func)
RT_SKIPPED(test_not)
RT_SKIPPED(test_both)
RT_SKIPPED(test_names_of_cplusplus)
RT_SKIPPED(test_patterns_with_an_object)
RT_SKIPPED(test_places)
RT_SKIPPED(test_select)
RT_SKIPPED(test_forget)
RT_SKIPPED(test_counts)
RT_SKIPPED(test_imports)
RT_SKIPPED(test_damaged_files)
#define begin        NULL
#define enter_folder NULL
#define leave_folder NULL
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_without_patterns, begin),
        cmocka_unit_test_setup(test_func, begin),
        cmocka_unit_test_setup(test_not, begin),
        cmocka_unit_test_setup(test_both, begin),
        cmocka_unit_test_setup(test_names_of_cplusplus, begin),
        cmocka_unit_test_setup(test_patterns_with_an_object, begin),
        cmocka_unit_test_setup(test_places, begin),
        cmocka_unit_test_setup(test_select, begin),
        cmocka_unit_test_setup(test_forget, begin),
        cmocka_unit_test_setup(test_counts, begin),
        cmocka_unit_test_setup(test_imports, begin),
        cmocka_unit_test_setup_teardown(test_damaged_files, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
