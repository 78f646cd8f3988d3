/* Tests of format/xray/instr_map.h: versions, byte orders, relocations, the rule of ids, broken maps; and, if the
 * corpus is there, that every binary of it is read as by the reference. */
#include <elf.h>
#include <inttypes.h>

#include "build_elf.h"
#include "check.h"
#include "format/xray/instr_map.h"
#include "op/symbols/symbolize.h"

enum { MAP = 1, RELA, SYMTAB, STRTAB, SLEDS_MAX = 16, MAP_AT = 0x2535e };

/* A map under construction. */
struct sleds {
    uint8_t bytes[32 * SLEDS_MAX];
    size_t n;
    bool big;
};

static void add(struct sleds *s, uint64_t function, uint8_t version)
{
    uint64_t place = MAP_AT + s->n * 32;
    assert_true(s->n < SLEDS_MAX);
    if (version >= 2) /* relative to its own field */
        function -= place + 8;
    put_sled(s->bytes + s->n * 32, s->big, 0x77, function, (uint8_t)(s->n % 6), version);
    s->n++;
}

static void build_map(struct built *b, const struct sleds *s, uint16_t type, uint16_t machine, const uint8_t *rela,
                      size_t relas)
{
    static const char names[] = "";
    uint8_t symbols[72];
    put_symbol(symbols, s->big, 0, 0, 0, 0, 0);
    put_symbol(symbols + 24, s->big, 0, STB_LOCAL, STT_SECTION, 1, 0x100);
    put_symbol(symbols + 48, s->big, 0, STB_GLOBAL, STT_FUNC, 1, 0x300);
    const struct build_section sections[] = {
        {.name = "xray_instr_map",
         .type = SHT_PROGBITS,
         .address = type == ET_REL ? 0 : MAP_AT,
         .data = s->bytes,
         .size = s->n * 32},
        {.name = ".rela",
         .type = SHT_RELA,
         .link = SYMTAB,
         .info = MAP,
         .entry_size = 24,
         .data = rela,
         .size = relas * 24},
        {.name = ".symtab", .type = SHT_SYMTAB, .link = STRTAB, .entry_size = 24, .data = symbols, .size = 72},
        {.name = ".strtab", .type = SHT_STRTAB, .data = names, .size = 1},
    };
    build_elf(b, s->big, type, machine, sections, TL_COUNT(sections));
}

static int read_bytes(const void *bytes, size_t size, tl_trace *t, tl_error *e)
{
    tl_elf *elf;
    int rc = tl_elf_open_memory(&elf, bytes, size, "app", e);
    if (rc < 0)
        return rc;
    rc = xray_instr_map_read(elf, t, e);
    tl_elf_close(elf);
    return rc;
}

/* The map has exactly these functions, with ids from 1 on. */
static void expect_functions(const struct built *b, const uint64_t *address, uint32_t n)
{
    tl_trace t = {0};
    tl_error e = {0};
    tl_trace_init(&t);
    must(read_bytes(b->bytes, b->size, &t, &e), &e);
    assert_int_equal(t.nfunction, n);
    for (uint32_t i = 0; i < n; i++) {
        const tl_function *f = tl_trace_function(&t, (int64_t)i + 1);
        assert_non_null(f);
        assert_int_equal(f->id, i + 1);
        assert_int_equal(f->address, address[i]);
        assert_null(f->name);
    }
    tl_trace_fini(&t);
}

static void expect_failure(const void *bytes, size_t size, int code, uint64_t offset, const char *part)
{
    tl_trace t = {0};
    tl_error e = {0};
    tl_trace_init(&t);
    assert_int_equal(read_bytes(bytes, size, &t, &e), code);
    assert_int_equal(e.code, code);
    assert_int_equal(e.offset, offset);
    assert_contains(e.message, part);
    assert_int_equal(t.nfunction, 0);
    tl_trace_fini(&t);
}

static void test_versions_and_byte_orders(void **state)
{
    static struct built b;
    for (int big = 0; big < 2; big++)
        for (uint8_t version = 0; version <= 3; version++) {
            struct sleds s = {.big = big};
            static const uint64_t address[] = {0x401000, 0x401080, UINT64_MAX};
            for (size_t i = 0; i < TL_COUNT(address); i++)
                for (size_t k = 0; k <= i; k++)
                    add(&s, address[i], version);
            build_map(&b, &s, ET_EXEC, EM_X86_64, NULL, 0);
            expect_functions(&b, address, TL_COUNT(address));
        }
}

static void test_versions_may_be_mixed(void **state)
{
    static struct built b;
    struct sleds s = {0};
    static const uint64_t address[] = {0x1000, 0x2000};
    add(&s, 0x1000, 2);
    add(&s, 0x1000, 0); /* the same function, expressed the other way */
    add(&s, 0x2000, 1);
    build_map(&b, &s, ET_EXEC, EM_X86_64, NULL, 0);
    expect_functions(&b, address, 2);
}

/* Ids count runs: a function that comes again after another has a second id. */
static void test_ids_count_runs(void **state)
{
    static struct built b;
    struct sleds s = {0};
    static const uint64_t address[] = {0x3000, 0x1000, 0x3000, 0x2000};
    static const unsigned sleds[] = {2, 7, 1, 3};
    for (size_t i = 0; i < TL_COUNT(address); i++)
        for (unsigned k = 0; k < sleds[i]; k++)
            add(&s, address[i], 2);
    build_map(&b, &s, ET_DYN, EM_X86_64, NULL, 0);
    expect_functions(&b, address, TL_COUNT(address));
}

static void test_position_independent_binaries(void **state)
{
    static const struct {
        uint16_t machine, relative;
        bool big;
    } cases[] = {{EM_X86_64, 8, false}, {EM_AARCH64, 1027, false}, {EM_AARCH64, 1027, true},
                 {EM_S390, 12, true},   {EM_PPC64, 22, false},     {EM_RISCV, 3, false}};
    static struct built b;
    for (size_t c = 0; c < TL_COUNT(cases); c++) {
        struct sleds s = {.big = cases[c].big};
        uint8_t rela[24 * 8];
        static const uint64_t address[] = {0x11000, 0x12000, 0x13000};
        add(&s, 0, 0);
        add(&s, 0, 1);
        add(&s, 0x12000, 0); /* stored beside its relocation: unchanged */
        add(&s, 0, 0);
        add(&s, 0x13000, 2);
        put_rela(rela, s.big, MAP_AT, 0, cases[c].relative, 0x1234); /* the address of the sled */
        put_rela(rela + 24, s.big, MAP_AT + 8, 0, cases[c].relative, 0x11000);
        put_rela(rela + 48, s.big, MAP_AT + 64 + 8, 0, cases[c].relative, 0x99999);
        put_rela(rela + 72, s.big, MAP_AT + 32 + 8, 0, cases[c].relative, 0x11000);
        put_rela(rela + 96, s.big, MAP_AT + 96 + 8, 0, cases[c].relative, 0x12000);
        put_rela(rela + 120, s.big, MAP_AT + 96 + 8, 0, cases[c].relative + 1, 0x55555); /* of another type */
        put_rela(rela + 144, s.big, MAP_AT - 24, 0, cases[c].relative, 0x66666);         /* before the map */
        put_rela(rela + 168, s.big, MAP_AT + 160 + 8, 0, cases[c].relative, 0x77777);    /* after it */
        build_map(&b, &s, ET_DYN, cases[c].machine, rela, 8);
        expect_functions(&b, address, TL_COUNT(address));
    }
}

static void test_object_files(void **state)
{
    static const struct {
        uint16_t machine;
        uint32_t absolute, relative;
    } cases[] = {{EM_X86_64, 1, 24}, {EM_AARCH64, 257, 260}};
    static struct built b;
    for (size_t c = 0; c < TL_COUNT(cases); c++) {
        struct sleds s = {0};
        uint8_t rela[24 * 4];
        static const uint64_t address[] = {0x120, 0x300, 0x308};
        add(&s, 0, 0);
        add(&s, 0, 0);
        put_sled(s.bytes + 64, false, 0, 0, 0, 2);
        put_sled(s.bytes + 96, false, 0, 0, 1, 2);
        s.n = 4;
        put_rela(rela, false, 8, 1, cases[c].absolute, 0x20);
        put_rela(rela + 24, false, 32 + 8, 2, cases[c].absolute, 0);
        put_rela(rela + 48, false, 64 + 8, 2, cases[c].relative, 0);
        put_rela(rela + 72, false, 96 + 8, 2, cases[c].relative, 8);
        build_map(&b, &s, ET_REL, cases[c].machine, rela, 4);
        expect_functions(&b, address, TL_COUNT(address));
        /* The same places in another section mean nothing. */
        tl_store32(section_field(&b, RELA, 44), SYMTAB, false);
        static const uint64_t unresolved[] = {0, 64 + 8, 96 + 8};
        expect_functions(&b, unresolved, TL_COUNT(unresolved));
    }
}

static void test_unknown_machine(void **state)
{
    static struct built b;
    struct sleds s = {0};
    static const uint64_t address[] = {0x1000};
    add(&s, 0x1000, 0);
    build_map(&b, &s, ET_DYN, 4711, NULL, 0);
    expect_functions(&b, address, 1); /* nothing to relocate, so the machine does not matter */
    add(&s, 0, 0);
    build_map(&b, &s, ET_DYN, 4711, NULL, 0);
    expect_failure(b.bytes, b.size, TL_EUNSUPPORTED, TL_NO_OFFSET, "machine 4711");
}

static void test_no_map(void **state)
{
    static struct built b;
    struct sleds s = {0};
    add(&s, 0x1000, 2);
    build_map(&b, &s, ET_EXEC, EM_X86_64, NULL, 0);
    tl_store32(section_field(&b, MAP, 4), SHT_NOBITS, false);
    expect_failure(b.bytes, b.size, TL_EUNSUPPORTED, TL_NO_OFFSET, "separate debug file");
    tl_store32(section_field(&b, MAP, 0), 0, false);
    expect_failure(b.bytes, b.size, TL_EUNSUPPORTED, TL_NO_OFFSET, "not built with -fxray-instrument");
    b.bytes[4] = 1;
    expect_failure(b.bytes, b.size, TL_EUNSUPPORTED, 4, "32-bit ELF");
    expect_failure("\xcf\xfa\xed\xfe", 4, TL_EFORMAT, 0, "not an ELF file");
}

static void test_empty_map(void **state)
{
    static struct built b;
    struct sleds s = {0};
    build_map(&b, &s, ET_EXEC, EM_X86_64, NULL, 0);
    expect_functions(&b, NULL, 0);
}

static void test_broken_maps(void **state)
{
    static struct built b;
    struct sleds s = {0};
    uint8_t rela[24];
    add(&s, 0x1000, 2);
    add(&s, 0, 0);
    put_rela(rela, false, MAP_AT + 40, 3, 8, 0);
    build_map(&b, &s, ET_EXEC, EM_X86_64, rela, 1);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, b.data[RELA], "symbol 3 of 3");
    tl_store64(section_field(&b, MAP, 32), 63, false);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, b.data[MAP] + 32, "63 bytes, expected a multiple of 32");
    tl_store64(section_field(&b, MAP, 32), UINT64_C(1) << 62, false);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, b.data[MAP], "the file ends at");
}

/* A later file replaces the facts about an id. */
static void test_ids_that_are_known_already(void **state)
{
    static struct built b;
    struct sleds s = {0};
    tl_trace t = {0};
    tl_trace_init(&t);
    assert_int_equal(tl_trace_add_function(&t, &(tl_function){.id = 1, .name = "old"}, NULL), 0);
    add(&s, 0x1000, 2);
    build_map(&b, &s, ET_EXEC, EM_X86_64, NULL, 0);
    assert_int_equal(read_bytes(b.bytes, b.size, &t, NULL), 0);
    assert_int_equal(t.nfunction, 1);
    assert_int_equal(t.function[0].address, 0x1000);
    tl_trace_fini(&t);
}

/* A small file with everything that reading a map touches. */
static void build_small(struct built *b, bool big)
{
    struct sleds s = {.big = big};
    uint8_t rela[24];
    add(&s, 0, 0);
    add(&s, 0x2000, 2);
    put_rela(rela, big, MAP_AT + 8, 1, 1, 0);
    build_map(b, &s, ET_DYN, EM_X86_64, rela, 1);
}

static int read_copy(const struct built *b, size_t size)
{
    tl_trace t = {0};
    uint8_t *copy = malloc(size + 1);
    assert_non_null(copy);
    memmove(copy + 1, b->bytes, size); /* nothing may depend on alignment either */
    tl_trace_init(&t);
    int rc = read_bytes(copy + 1, size, &t, NULL);
    tl_trace_fini(&t);
    free(copy);
    return rc;
}

static void test_every_truncation_is_noticed(void **state)
{
    static struct built b;
    build_small(&b, false);
    assert_int_equal(read_copy(&b, b.size), TL_OK);
    for (size_t size = 0; size < b.size; size++)
        assert_true(read_copy(&b, size) < 0);
}

static void test_every_broken_byte_is_survived(void **state)
{
    static struct built b;
    unsigned read = 0, refused = 0;
    build_small(&b, true);
    for (size_t at = 0; at < b.size; at++)
        for (unsigned change = 1; change < 256; change += change < 16 ? 5 : 23) {
            b.bytes[at] ^= (uint8_t)change;
            int rc = read_copy(&b, b.size);
            b.bytes[at] ^= (uint8_t)change;
            read += rc >= 0;
            refused += rc < 0;
        }
    assert_true(read > 0 && refused > 0);
}

static void test_a_million_functions(void **state)
{
    enum { N = 1000000 };
    uint8_t *sleds = malloc((size_t)N * 32), *file = malloc((size_t)N * 32 + 4096);
    assert_true(sleds && file);
    /* An empty file of the builder; its map is then put after its end. */
    static struct built b;
    struct sleds none = {0};
    tl_trace t = {0};
    build_map(&b, &none, ET_DYN, EM_X86_64, NULL, 0);
    for (uint64_t i = 0; i < N; i++) /* 64 bits, like distances to lower addresses */
        put_sled(sleds + i * 32, false, 0, 0x100000 + i * 16 - (MAP_AT + i * 32 + 8), 0, 2);
    tl_store64(section_field(&b, MAP, 24), b.size, false);
    tl_store64(section_field(&b, MAP, 32), (uint64_t)N * 32, false);
    memcpy(file, b.bytes, b.size);
    memcpy(file + b.size, sleds, (size_t)N * 32);
    tl_trace_init(&t);
    assert_int_equal(read_bytes(file, b.size + (size_t)N * 32, &t, NULL), TL_OK);
    assert_int_equal(t.nfunction, N);
    assert_int_equal(tl_trace_function(&t, N)->address, 0x100000 + (N - 1) * 16);
    tl_trace_fini(&t);
    free(sleds);
    free(file);
}

/* Writes a binary's map and symbols in the format of the reference. False if it cannot be read. */
static bool describe(const char *path, char *text, size_t room)
{
    tl_trace t = {0};
    tl_elf *elf = NULL;
    size_t used = 0;
    tl_trace_init(&t);
    bool ok = tl_elf_open(&elf, path, NULL) >= 0 && xray_instr_map_read(elf, &t, NULL) >= 0 &&
              tl_symbolize(&t, elf, false, false, NULL) >= 0;
    text[0] = '\0';
    for (uint32_t i = 0; ok && i < t.nfunction; i++) {
        const tl_function *f = &t.function[i];
        used += (size_t)snprintf(text + used, room - used, "%" PRId64 " 0x%" PRIx64 " %s\n", f->id, f->address,
                                 f->name ? f->name : "None");
        assert_true(used < room);
    }
    tl_elf_close(elf);
    tl_trace_fini(&t);
    return ok;
}

static void test_corpus_equals_the_reference(void **state)
{
    static const char *const files[] = {
        "llvm/Inputs/elf64-example.bin",
        "llvm/Inputs/elf64-pie.bin",
        "llvm/Inputs/elf64-sample-o2.bin",
        "llvm/Inputs/elf64-objcopied-instrmap.bin",
        "llvm/Inputs/elf64-badentrysizes.bin",
        "llvm/Inputs/elf64-noinstr-map.bin",
        "llvm/Inputs/all-sleds.o",
        "generated/names-sleds-v0.elf",
        "generated/names-sleds-v0-pie.elf",
        "generated/names-sleds-v2.elf",
        "recorded/fdrev-19",
        "recorded/fibmt-14",
        "recorded/fibmt-19",
        "llvm/Inputs/instr-map-mach.o",
    };
    static char expected[65536], got[65536];
    const char *shared = getenv("TL_SHARED");
    if (!shared || system("python3 -c '' 2>/dev/null") != 0) {
        skip_because("needs TL_SHARED and python3");
    }
    unsigned read = 0;
    for (size_t i = 0; i < TL_COUNT(files); i++) {
        char path[1024], command[4096];
        snprintf(path, sizeof path, "%s/corpus/xray/%s", shared, files[i]);
        snprintf(command, sizeof command, "python3 '%s/tools/xray_reference.py' functions '%s' 2>/dev/null", shared,
                 path);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        size_t n = fread(expected, 1, sizeof expected - 1, pipe);
        expected[n] = '\0';
        bool reference_reads = pclose(pipe) == 0;
        assert_int_equal(describe(path, got, sizeof got), reference_reads);
        assert_string_equal(got, expected);
        read += reference_reads;
    }
    assert_int_equal(read, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_and_byte_orders),
        cmocka_unit_test(test_versions_may_be_mixed),
        cmocka_unit_test(test_ids_count_runs),
        cmocka_unit_test(test_position_independent_binaries),
        cmocka_unit_test(test_object_files),
        cmocka_unit_test(test_unknown_machine),
        cmocka_unit_test(test_no_map),
        cmocka_unit_test(test_empty_map),
        cmocka_unit_test(test_broken_maps),
        cmocka_unit_test(test_ids_that_are_known_already),
        cmocka_unit_test(test_every_truncation_is_noticed),
        cmocka_unit_test(test_every_broken_byte_is_survived),
        cmocka_unit_test(test_a_million_functions),
        cmocka_unit_test(test_corpus_equals_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
