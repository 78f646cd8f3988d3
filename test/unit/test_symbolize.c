/* Tests of op/symbols/symbolize.h, names: which symbol wins, and what stays as it is. Lines and debug files:
 * test_debug_file.c. */
#include <elf.h>

#include "build_elf.h"
#include "check.h"
#include "op/symbols/symbolize.h"

enum { SYMTAB = 1, DYNSYM, STRTAB, SYMBOLS_MAX = 16 };

static const char strings[] = "\0a\0b\0c\0_ZN3foo3barEi\0d";
enum { A = 1, B = 3, C = 5, FOO_BAR = 7, D = 21 };

struct symbols {
    uint8_t bytes[24 * SYMBOLS_MAX];
    size_t n;
};

static void add(struct symbols *s, uint32_t name, unsigned binding, unsigned type, uint16_t section, uint64_t value)
{
    assert_true(s->n < SYMBOLS_MAX);
    put_symbol(s->bytes + 24 * s->n++, false, name, binding, type, section, value);
}

static void build_symbols(struct built *b, uint16_t type, const struct symbols *symtab, const struct symbols *dynsym)
{
    const struct build_section s[] = {
        {.name = ".symtab",
         .type = SHT_SYMTAB,
         .link = STRTAB,
         .entry_size = 24,
         .data = symtab->bytes,
         .size = symtab->n * 24},
        {.name = ".dynsym",
         .type = SHT_DYNSYM,
         .link = STRTAB,
         .entry_size = 24,
         .data = dynsym->bytes,
         .size = dynsym->n * 24},
        {.name = ".strtab", .type = SHT_STRTAB, .data = strings, .size = sizeof strings},
    };
    build_elf(b, false, type, EM_X86_64, s, TL_COUNT(s));
}

/* A trace with a function for each address; ids count from 1. */
static void begin_trace(tl_trace *t, const uint64_t *address, size_t n)
{
    memset(t, 0, sizeof *t);
    tl_trace_init(t);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tl_trace_add_function(t, &(tl_function){.id = (int64_t)i + 1, .address = address[i]}, NULL),
                         0);
}

static int symbolize(tl_trace *t, const struct built *b, bool demangle, tl_error *e)
{
    tl_elf *elf;
    assert_int_equal(tl_elf_open_memory(&elf, b->bytes, b->size, "/nonexistent/app", NULL), TL_OK);
    int rc = tl_symbolize(t, elf, demangle, true, e);
    tl_elf_close(elf);
    return rc;
}

static void expect_name(const tl_trace *t, int64_t id, const char *linkage_name, const char *name)
{
    const tl_function *f = tl_trace_function(t, id);
    assert_non_null(f);
    if (!name) {
        assert_null(f->name);
        assert_null(f->linkage_name);
        return;
    }
    assert_non_null(f->name);
    assert_string_equal(f->name, name);
    assert_string_equal(f->linkage_name, linkage_name);
    assert_null(f->file);
    assert_int_equal(f->line, 0);
}

static void test_global_before_weak_before_local(void **state)
{
    static const struct {
        unsigned binding[3];
        const char *name;
    } cases[] = {
        {{STB_LOCAL, STB_WEAK, STB_GLOBAL}, "c"},           {{STB_LOCAL, STB_WEAK, STB_LOCAL}, "b"},
        {{STB_GLOBAL, STB_WEAK, STB_GLOBAL}, "a"},          {{STB_LOCAL, STB_LOCAL, STB_LOCAL}, "a"},
        {{STB_GNU_UNIQUE, STB_LOCAL, STB_GNU_UNIQUE}, "b"}, {{STB_GNU_UNIQUE, STB_GNU_UNIQUE, STB_GNU_UNIQUE}, "a"},
    };
    static struct built b;
    for (size_t i = 0; i < TL_COUNT(cases); i++) {
        struct symbols s = {0}, none = {0};
        tl_trace t;
        begin_trace(&t, (uint64_t[]){0x1000}, 1);
        add(&s, A, cases[i].binding[0], STT_FUNC, 1, 0x1000);
        add(&s, B, cases[i].binding[1], STT_FUNC, 1, 0x1000);
        add(&s, C, cases[i].binding[2], STT_GNU_IFUNC, 1, 0x1000);
        build_symbols(&b, ET_EXEC, &s, &none);
        assert_int_equal(symbolize(&t, &b, false, NULL), TL_OK);
        expect_name(&t, 1, cases[i].name, cases[i].name);
        tl_trace_fini(&t);
    }
}

static void test_only_defined_functions_of_exactly_the_address(void **state)
{
    static struct built b;
    struct symbols s = {0}, dynamic = {0};
    tl_trace t;
    begin_trace(&t, (uint64_t[]){0x1000, 0x1008, 0x2000, 0x3000, 0x4000, 0}, 6);
    add(&s, 0, STB_LOCAL, STT_NOTYPE, 0, 0);
    add(&s, A, STB_GLOBAL, STT_FUNC, 1, 0x1000);
    add(&s, B, STB_GLOBAL, STT_OBJECT, 1, 0x2000);
    add(&s, B, STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0x2000);
    add(&s, 0, STB_GLOBAL, STT_FUNC, 1, 0x2000); /* no name at all */
    add(&s, D, STB_LOCAL, STT_FUNC, 1, 0x4000);
    add(&s, A, STB_GLOBAL, STT_FUNC, 1, 0);
    add(&dynamic, C, STB_GLOBAL, STT_FUNC, 1, 0x3000);
    add(&dynamic, C, STB_LOCAL, STT_FUNC, 1, 0x4000); /* after .symtab */
    build_symbols(&b, ET_DYN, &s, &dynamic);
    assert_int_equal(symbolize(&t, &b, true, NULL), TL_OK);
    expect_name(&t, 1, "a", "a");
    expect_name(&t, 2, NULL, NULL);
    expect_name(&t, 3, NULL, NULL);
    expect_name(&t, 4, "c", "c");
    expect_name(&t, 5, "d", "d");
    expect_name(&t, 6, NULL, NULL); /* address 0: unknown */
    tl_trace_fini(&t);
    /* In an object file it is an address. */
    begin_trace(&t, (uint64_t[]){0, 0x1000}, 2);
    build_symbols(&b, ET_REL, &s, &dynamic);
    assert_int_equal(symbolize(&t, &b, true, NULL), TL_OK);
    expect_name(&t, 1, "a", "a");
    expect_name(&t, 2, "a", "a");
    tl_trace_fini(&t);
}

static void test_functions_in_any_order_and_twice(void **state)
{
    static struct built b;
    struct symbols s = {0}, none = {0};
    tl_trace t;
    begin_trace(&t, (uint64_t[]){0x3000, 0x1000, UINT64_MAX, 0x2000, 0x1000}, 5);
    add(&s, A, STB_GLOBAL, STT_FUNC, 1, 0x1000);
    add(&s, B, STB_GLOBAL, STT_FUNC, 1, 0x2000);
    add(&s, C, STB_GLOBAL, STT_FUNC, 1, 0x3000);
    add(&s, D, STB_GLOBAL, STT_FUNC, 1, UINT64_MAX);
    build_symbols(&b, ET_EXEC, &s, &none);
    assert_int_equal(symbolize(&t, &b, true, NULL), TL_OK);
    static const char *const names[] = {"c", "a", "d", "b", "a"};
    for (int i = 0; i < 5; i++)
        expect_name(&t, i + 1, names[i], names[i]);
    tl_trace_fini(&t);
}

static void test_demangled_if_asked(void **state)
{
    static struct built b;
    struct symbols s = {0}, none = {0};
    add(&s, FOO_BAR, STB_GLOBAL, STT_FUNC, 1, 0x1000);
    build_symbols(&b, ET_EXEC, &s, &none);
    for (int demangle = 0; demangle < 2; demangle++) {
        tl_trace t;
        const char *name = "_ZN3foo3barEi";
        begin_trace(&t, (uint64_t[]){0x1000}, 1);
        assert_int_equal(symbolize(&t, &b, demangle, NULL), TL_OK);
#ifdef TL_HAVE_DEMANGLE
        if (demangle)
            name = "foo::bar(int)";
#endif
        expect_name(&t, 1, "_ZN3foo3barEi", name);
        tl_trace_fini(&t);
    }
}

static void test_names_that_are_there_stay(void **state)
{
    static struct built b;
    struct symbols s = {0}, none = {0};
    tl_trace t;
    begin_trace(&t, (uint64_t[]){0x1000}, 1);
    assert_int_equal(tl_trace_add_function(&t, &(tl_function){.id = 9, .address = 0x1000, .name = "known"}, NULL), 0);
    add(&s, A, STB_GLOBAL, STT_FUNC, 1, 0x1000);
    build_symbols(&b, ET_EXEC, &s, &none);
    assert_int_equal(symbolize(&t, &b, true, NULL), TL_OK);
    expect_name(&t, 1, "a", "a");
    assert_string_equal(tl_trace_function(&t, 9)->name, "known");
    assert_null(tl_trace_function(&t, 9)->linkage_name);
    tl_trace_fini(&t);
}

static void test_nothing_to_do(void **state)
{
    static struct built b;
    struct symbols s = {0}, none = {0};
    tl_trace t;
    begin_trace(&t, NULL, 0);
    build_symbols(&b, ET_EXEC, &s, &none);
    assert_int_equal(symbolize(&t, &b, true, NULL), TL_OK);
    tl_trace_fini(&t);
    begin_trace(&t, (uint64_t[]){0x1000}, 1);
    assert_int_equal(symbolize(&t, &b, true, NULL), TL_OK);
    expect_name(&t, 1, NULL, NULL);
    tl_trace_fini(&t);
}

static void test_broken_symbols_are_an_error(void **state)
{
    static struct built b;
    struct symbols s = {0}, none = {0};
    tl_trace t;
    tl_error e = {0};
    begin_trace(&t, (uint64_t[]){0x1000}, 1);
    add(&s, 1000, STB_GLOBAL, STT_FUNC, 1, 0x1000);
    build_symbols(&b, ET_EXEC, &s, &none);
    assert_int_equal(symbolize(&t, &b, true, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, b.data[SYMTAB]);
    expect_name(&t, 1, NULL, NULL);
    tl_trace_fini(&t);
}

/* A name of excessive length stays unknown, and does not keep others from theirs. */
static void test_very_long_names(void **state)
{
    static struct built b;
    static char text[40000];
    uint8_t symbols[48];
    tl_trace t;
    memset(text + 1, 'x', sizeof text - 2);
    put_symbol(symbols, false, 1, STB_GLOBAL, STT_FUNC, 1, 0x1000);
    put_symbol(symbols + 24, false, sizeof text - 4, STB_GLOBAL, STT_FUNC, 1, 0x2000);
    const struct build_section s[] = {
        {.name = ".symtab", .type = SHT_SYMTAB, .link = 2, .entry_size = 24, .data = symbols, .size = 48},
        {.name = ".strtab", .type = SHT_STRTAB, .data = text, .size = sizeof text},
    };
    build_elf(&b, false, ET_EXEC, EM_X86_64, s, TL_COUNT(s));
    begin_trace(&t, (uint64_t[]){0x1000, 0x2000}, 2);
    assert_int_equal(symbolize(&t, &b, true, NULL), TL_OK);
    assert_int_equal(strlen(tl_trace_function(&t, 1)->name), sizeof text - 2); /* long, but within the limit */
    expect_name(&t, 2, "xxx", "xxx");
    tl_trace_fini(&t);

    /* The same table twice in a row: 80,000 bytes. */
    uint8_t *file = malloc(b.size + 80001);
    assert_non_null(file);
    tl_store64(section_field(&b, 2, 24), b.size, false);
    tl_store64(section_field(&b, 2, 32), 80001, false);
    memcpy(file, b.bytes, b.size);
    memset(file + b.size, 'x', 80000);
    file[b.size + 80000] = 0;
    tl_elf *elf;
    assert_int_equal(tl_elf_open_memory(&elf, file, b.size + 80001, "/nonexistent/app", NULL), TL_OK);
    begin_trace(&t, (uint64_t[]){0x1000, 0x2000}, 2);
    assert_int_equal(tl_symbolize(&t, elf, true, false, NULL), TL_OK);
    expect_name(&t, 1, NULL, NULL);
    assert_int_equal(strlen(tl_trace_function(&t, 2)->name), 80000 - (sizeof text - 4));
    tl_trace_fini(&t);
    tl_elf_close(elf);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_global_before_weak_before_local),
        cmocka_unit_test(test_only_defined_functions_of_exactly_the_address),
        cmocka_unit_test(test_functions_in_any_order_and_twice),
        cmocka_unit_test(test_demangled_if_asked),
        cmocka_unit_test(test_names_that_are_there_stay),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_broken_symbols_are_an_error),
        cmocka_unit_test(test_very_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
