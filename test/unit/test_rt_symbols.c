/* Names of functions found by the recorder: the same as the library's, and none in broken files. */
#include "check.h"
#include "rt_host.h"

#if RT_HERE
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_elf.h"
#include "op/symbols/symbolize.h"
#include "scratch.h"
#define RT_DEBUG_ROOT "debug"
#include "rt/object/rt_elf.c"
#include "rt/object/rt_maps.c"
#include "rt/object/rt_plain.c"
#include "rt/object/rt_symbols.c"

rt_core tl_rt;

/* Of exact size, so that a sanitizer sees any byte beyond it. */
void *tl_rt_memory_take(size_t n)
{
    return calloc(1, n);
}

void tl_rt_memory_give(void *p, size_t n)
{
    (void)n;
    free(p);
}

bool tl_rt_same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

enum { SYMTAB = 1, DYNSYM, STRTAB, NOTE, SYMBOLS = 8 };
static const char strings[] = "\0a\0b\0c\0d";
enum { A = 1, B = 3, C = 5, D = 7 };

static rt_object object;

/* Writes the file and opens its symbols. */
static rt_symbols *open_built(const struct built *b, size_t size)
{
    char path[] = "/tmp/tl-rt-symbols-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, b->bytes, size), size);
    close(fd);
    snprintf(object.path, sizeof object.path, "%s", path);
    rt_symbols *s = tl_rt_symbols_open(&object);
    unlink(path);
    return s;
}

static void build(struct built *b)
{
    static uint8_t symtab[SYMBOLS * 24], dynsym[3 * 24];
    memset(symtab, 0, 24);
    put_symbol(symtab + 24, false, A, STB_LOCAL, STT_FUNC, 1, 0x1000);
    put_symbol(symtab + 48, false, B, STB_WEAK, STT_FUNC, 1, 0x1000);
    put_symbol(symtab + 72, false, C, STB_GLOBAL, STT_OBJECT, 1, 0x1000);
    put_symbol(symtab + 96, false, C, STB_LOCAL, STT_FUNC, 1, 0x500);
    put_symbol(symtab + 120, false, A, STB_LOCAL, STT_GNU_IFUNC, 1, 0x500);
    put_symbol(symtab + 144, false, A, STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0x2000);
    put_symbol(symtab + 168, false, 0, STB_GLOBAL, STT_FUNC, 1, 0x2000);
    memset(dynsym, 0, 24);
    put_symbol(dynsym + 24, false, D, STB_GLOBAL, STT_FUNC, 1, 0x1000);
    put_symbol(dynsym + 48, false, D, STB_GLOBAL, STT_FUNC, 1, UINT64_C(0xffffffff00000000));
    const struct build_section s[] = {
        {.name = ".symtab",
         .type = SHT_SYMTAB,
         .link = STRTAB,
         .entry_size = 24,
         .data = symtab,
         .size = sizeof symtab},
        {.name = ".dynsym",
         .type = SHT_DYNSYM,
         .link = STRTAB,
         .entry_size = 24,
         .data = dynsym,
         .size = sizeof dynsym},
        {.name = ".strtab", .type = SHT_STRTAB, .data = strings, .size = sizeof strings},
    };
    build_elf(b, false, ET_DYN, EM_X86_64, s, TL_COUNT(s));
}

static void test_best_symbol_of_an_address(void **state)
{
    static struct built b;
    build(&b);
    rt_symbols *s = open_built(&b, b.size);
    assert_non_null(s);
    assert_string_equal(tl_rt_symbols_name(s, 0x1000), "d"); /* global, even if in the second table */
    assert_string_equal(tl_rt_symbols_name(s, 0x500), "c");  /* the first of two */
    assert_string_equal(tl_rt_symbols_name(s, UINT64_C(0xffffffff00000000)), "d");
    assert_null(tl_rt_symbols_name(s, 0x2000)); /* undefined, and without a name */
    assert_null(tl_rt_symbols_name(s, 0x1001));
    assert_null(tl_rt_symbols_name(s, 0));
    assert_null(tl_rt_symbols_name(s, UINT64_MAX));
    tl_rt_symbols_close(s);
}

static void test_weak_before_local_without_a_second_table(void **state)
{
    static struct built b;
    build(&b);
    tl_store32(section_field(&b, DYNSYM, 4), SHT_PROGBITS, false);
    rt_symbols *s = open_built(&b, b.size);
    assert_string_equal(tl_rt_symbols_name(s, 0x1000), "b");
    tl_rt_symbols_close(s);
}

/* This very program: the library's answer for each function. */
static void test_names_are_those_of_the_library(void **state)
{
    tl_elf *elf;
    tl_trace t;
    unsigned named = 0;
    memset(&t, 0, sizeof t);
    tl_trace_init(&t);
    ssize_t n = readlink("/proc/self/exe", object.path, sizeof object.path - 1);
    assert_true(n > 0);
    object.path[n] = '\0';
    rt_symbols *s = tl_rt_symbols_open(&object);
    assert_non_null(s);
    for (size_t i = 0; i < s->n; i++) /* and one byte further, without a name */
        for (uint64_t k = 0; k < 2; k++)
            if (s->sorted[i].address + k != 0)
                assert_int_equal(
                    tl_trace_add_function(
                        &t, &(tl_function){.id = (int64_t)(2 * i + k + 1), .address = s->sorted[i].address + k}, NULL),
                    TL_OK);
    assert_int_equal(tl_elf_open(&elf, object.path, NULL), TL_OK);
    assert_int_equal(tl_symbolize(&t, elf, false, false, NULL), TL_OK);
    for (uint32_t i = 0; i < t.nfunction; i++) {
        const char *name = tl_rt_symbols_name(s, t.function[i].address);
        assert_int_equal(name != NULL, t.function[i].linkage_name != NULL);
        if (name)
            assert_string_equal(name, t.function[i].linkage_name);
        named += name != NULL;
    }
    assert_true(named > 100);
    tl_elf_close(elf);
    tl_trace_fini(&t);
    tl_rt_symbols_close(s);
}

static void use(rt_symbols *s)
{
    static const uint64_t address[] = {0, 0x500, 0x1000, 0x2000, UINT64_C(0xffffffff00000000)};
    for (size_t i = 0; s && i < TL_COUNT(address); i++) {
        const char *name = tl_rt_symbols_name(s, address[i]);
        assert_true(!name || strlen(name) < 100);
    }
    if (s)
        tl_rt_symbols_close(s);
}

static void test_cut_files(void **state)
{
    static struct built b;
    build(&b);
    for (size_t size = 0; size < b.size; size++) /* the headers of the sections are at the end */
        assert_null(open_built(&b, size));
    rt_symbols *s = open_built(&b, b.size);
    assert_non_null(s);
    tl_rt_symbols_close(s);
}

static void test_damaged_files(void **state)
{
    static struct built b;
    static const uint64_t bad[] = {0, 1, 24, 0x7fffffff, UINT64_MAX, UINT64_MAX - 100, UINT64_C(1) << 32, 999};
    uint64_t random = 1;
    build(&b);
    for (size_t section = 0; section < 5; section++) /* every field of every header */
        for (size_t field = 0; field < 64; field += 8)
            for (size_t i = 0; i < TL_COUNT(bad); i++) {
                build(&b);
                tl_store64(section_field(&b, section, field), bad[i], false);
                use(open_built(&b, b.size));
            }
    for (int i = 0; i < 2000; i++) {
        build(&b);
        for (int k = 0; k < 3; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            b.bytes[(random >> 33) % b.size] = (uint8_t)(random >> 24);
        }
        use(open_built(&b, b.size));
    }
    build(&b);
    b.bytes[b.data[STRTAB] + sizeof strings - 1] = 'x'; /* names without a terminator */
    rt_symbols *s = open_built(&b, b.size);
    assert_non_null(s);
    assert_string_equal(tl_rt_symbols_name(s, 0x1000), "b"); /* d has no terminator */
    tl_rt_symbols_close(s);
}

/* A program reinstalled while the old one runs. */
static void test_another_build_has_no_names(void **state)
{
    ssize_t n = readlink("/proc/self/exe", object.path, sizeof object.path - 1);
    assert_true(n > 0);
    object.path[n] = '\0';
    rt_object *here = calloc(1, sizeof *here);
    uintptr_t header = 0;
    assert_true(tl_rt_maps_find((uintptr_t)strings, &header, here->path));
    assert_true(tl_rt_image_read(here, header));
    if (!here->build_id[0]) {
        free(here);
        skip_because("the linker wrote no build-id");
    }
    rt_symbols *s = tl_rt_symbols_open(here);
    assert_non_null(s);
    tl_rt_symbols_close(s);
    here->build_id[0] ^= 1;
    assert_null(tl_rt_symbols_open(here));
    free(here);
}

/* A file with one table: `a` in it is a local function at 0x1000. `id`: the last byte of its build-id; 0: it has none.
 */
static void write_with_id(const char *path, uint32_t type, uint8_t id)
{
    static struct built b;
    static uint8_t table[48],
        note[20] = {4, 0, 0, 0, 4, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd};
    put_symbol(table + 24, false, type == SHT_SYMTAB ? A : B, STB_LOCAL, STT_FUNC, 1, 0x1000);
    note[19] = id;
    const struct build_section s[] = {
        {.name = ".t", .type = type, .link = 2, .entry_size = 24, .data = table, .size = sizeof table},
        {.name = ".strtab", .type = SHT_STRTAB, .data = strings, .size = sizeof strings},
        {.name = ".note.gnu.build-id", .type = id ? SHT_NOTE : SHT_PROGBITS, .data = note, .size = sizeof note},
    };
    build_elf(&b, false, ET_DYN, EM_X86_64, s, TL_COUNT(s));
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.bytes, 1, b.size, f), b.size);
    fclose(f);
}

static void check_name(const char *expected)
{
    rt_symbols *s = tl_rt_symbols_open(&object);
    if (!expected) {
        assert_null(s);
        return;
    }
    assert_non_null(s);
    assert_string_equal(tl_rt_symbols_name(s, 0x1000), expected);
    tl_rt_symbols_close(s);
}

/* The symbol table of a stripped file is in its debug file, if that has the same build-id. */
static void test_debug_files(void **state)
{
    static const char debug[] = "debug/.build-id/ab/cd0007.debug";
    mkdir("debug", 0777);
    mkdir("debug/.build-id", 0777);
    mkdir("debug/.build-id/ab", 0777);
    snprintf(object.path, sizeof object.path, "stripped");
    strcpy(object.build_id, "abcd0007");
    write_with_id("stripped", SHT_DYNSYM, 7);
    check_name("b");
    write_with_id(debug, SHT_SYMTAB, 7);
    check_name("a"); /* of two local ones that of .symtab */
    write_with_id(debug, SHT_SYMTAB, 8);
    check_name("b");
    write_with_id(debug, SHT_SYMTAB, 0);
    check_name("b");
    write_with_id(debug, SHT_DYNSYM, 7);
    check_name("b");
    write_with_id(debug, SHT_SYMTAB, 7);
    write_with_id("stripped", SHT_DYNSYM, 9); /* it was replaced; the debug file is that of what runs */
    check_name("a");
    unlink("stripped");
    check_name("a");
    write_with_id("stripped", SHT_SYMTAB, 7); /* nothing is missing */
    write_with_id(debug, SHT_DYNSYM, 7);
    check_name("a");
    unlink(debug);
    assert_int_equal(mkfifo(debug, 0600), 0); /* does not block */
    unlink("stripped");
    check_name(NULL);
    strcpy(object.build_id, "ab");
    check_name(NULL);
    object.build_id[0] = '\0';
    unlink(debug);
    rmdir("debug/.build-id/ab");
    rmdir("debug/.build-id");
}

static void test_imports(void **state)
{
    write_with_id("exports", SHT_DYNSYM, 0);
    assert_false(tl_rt_symbols_import("exports", "b"));
    assert_false(tl_rt_symbols_import("missing", "b"));
    static struct built b;
    build(&b);
    tl_store16(b.bytes + b.data[DYNSYM] + 24 + 6, SHN_UNDEF, false); /* d, of the second table */
    FILE *f = fopen("imports", "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.bytes, 1, b.size, f), b.size);
    fclose(f);
    assert_true(tl_rt_symbols_import("imports", "d"));
    assert_false(tl_rt_symbols_import("imports", "a")); /* undefined in the first table alone */
}

static void test_no_file(void **state)
{
    snprintf(object.path, sizeof object.path, "/nonexistent/traceloom");
    assert_null(tl_rt_symbols_open(&object));
    snprintf(object.path, sizeof object.path, "/");
    assert_null(tl_rt_symbols_open(&object));
    object.path[0] = '\0';
    assert_null(tl_rt_symbols_open(&object));
}

static void test_plain_names(void **state)
{
    static const char *const name[][2] = {
        {"_ZN3net6Reader4readEi", "net::Reader::read"},
        {"_ZNK3net6Reader4sizeEv", "net::Reader::size"},
        {"_Z3fooi", "foo"},
        {"_ZL3foov", "foo"},
        {"_Z3fooi.isra.0", "foo"},
        {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"},
        {"_ZSt4sortIPiEvT_S1_", "std::sort"},
        {"_ZNSs6appendEPKc", "std::string::append"},
        {"_ZNSsC1Ev", "std::string::string"},
        {"_ZNSaIcED2Ev", "std::allocator::~allocator"},
        {"_ZN1AC2Ev", "A::A"},
        {"_ZN1AD0Ev", "A::~A"},
        {"_ZN1AIiEC1Ev", "A::A"},
        {"_ZNK1AclEv", "A::operator()"},
        {"_ZplRK1AS1_", "operator+"},
        {"_ZN1AnwEm", "A::operator new"},
        {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"},
        {"_ZN3fooILi5EE3barEv", "foo::bar"},
        {"_ZN3fooILin5ELb1ELN1B1EE2EE3barEv", NULL},
        {"_ZN1AIcSt11char_traitsIcEE3barB5cxx11Ev", "A::bar"},
        {"_ZN1AIN1B1CIiEEE1fEv", "A::f"},
        {"_ZN1AIFvvEE1fEv", "A::f"},
        {"_ZN1AIJidEE1fEv", "A::f"},
        {"_ZZ4mainENKUlvE_clEv", NULL},
        {"_ZTV1A", NULL},
        {"main", NULL},
        {"_Z", NULL},
        {"_ZN", NULL},
        {"_ZN3foo", NULL},
        {"_ZN99999999999999999999fooEv", NULL},
        {"", NULL},
    };
    char out[64];
    for (size_t i = 0; i < TL_COUNT(name); i++) {
        bool is = tl_rt_symbols_plain(name[i][0], out, sizeof out);
        if (is != (name[i][1] != NULL) || (is && strcmp(out, name[i][1]) != 0))
            fail_msg("%s became %s", name[i][0], is ? out : "nothing");
    }
}

/* Each part of a name, in a copy of exactly its size; and each size of the result. */
static void test_plain_names_that_are_cut(void **state)
{
    static const char whole[] = "_ZN1AIN1B1CIiEELi5EFvvEJidEDpT0_A5_cE1BB5cxx114readIiEC2ESt6vectorIiSaIiEE";
    for (size_t n = 0; n < sizeof whole; n++) {
        char *s = calloc(1, n + 1), *out = malloc(64);
        assert_true(s && out);
        memcpy(s, whole, n);
        tl_rt_symbols_plain(s, out, 64);
        free(s);
        free(out);
    }
    for (size_t size = 0; size < 24; size++) {
        char *out = malloc(size ? size : 1);
        assert_non_null(out);
        assert_int_equal(tl_rt_symbols_plain("_ZN3net6Reader4readEi", out, size), size > 17);
        free(out);
    }
}

#else
RT_SKIPPED(test_best_symbol_of_an_address)
RT_SKIPPED(test_weak_before_local_without_a_second_table)
RT_SKIPPED(test_names_are_those_of_the_library)
RT_SKIPPED(test_cut_files)
RT_SKIPPED(test_damaged_files)
RT_SKIPPED(test_another_build_has_no_names)
RT_SKIPPED(test_debug_files)
RT_SKIPPED(test_imports)
RT_SKIPPED(test_no_file)
#define scratch_enter NULL
#define scratch_leave NULL
RT_SKIPPED(test_plain_names)
RT_SKIPPED(test_plain_names_that_are_cut)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_symbol_of_an_address),
        cmocka_unit_test(test_weak_before_local_without_a_second_table),
        cmocka_unit_test(test_names_are_those_of_the_library),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_another_build_has_no_names),
        cmocka_unit_test_setup_teardown(test_debug_files, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_imports, scratch_enter, scratch_leave),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_plain_names),
        cmocka_unit_test(test_plain_names_that_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
