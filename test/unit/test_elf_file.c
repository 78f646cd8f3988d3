/* Tests of base/elf/elf_file.h: contents of sound files, and errors of broken ones. */
#include <elf.h>

#include "base/elf/elf_file.h"
#include "build_elf.h"
#include "check.h"

static const char names[] = "\0alpha\0beta\0gamma";
enum { ALPHA = 1, BETA = 7, GAMMA = 12 };
enum { TEXT = 1, NOTE, LINK, STRTAB, DYNSYM, SYMTAB, RELA, BSS, SHSTRTAB };

/* A file with one of everything. */
static void build_all(struct built *b, bool big)
{
    static uint8_t text[] = {1, 2, 3, 4, 5};
    uint8_t note[64] = {0}, link[16] = "app.debug", symtab[72], dynsym[48], rela[48];
    size_t n = 0;
    /* A note of another owner first, whose 5 bytes are padded to 8. */
    tl_store32(note, 2, big);
    tl_store32(note + 4, 5, big);
    tl_store32(note + 8, NT_GNU_BUILD_ID, big);
    memcpy(note + 12, "X\0\0\0hello\0\0\0", 12);
    n = 24;
    tl_store32(note + n, 4, big);
    tl_store32(note + n + 4, 6, big);
    tl_store32(note + n + 8, NT_GNU_BUILD_ID, big);
    memcpy(note + n + 12, "GNU\0\x01\xab\xcd\xef\x00\x99", 10);
    n += 22;
    tl_store32(link + 12, 0xdeadbeef, big);
    put_symbol(symtab, big, 0, 0, 0, 0, 0);
    put_symbol(symtab + 24, big, ALPHA, STB_LOCAL, STT_FUNC, TEXT, 0x1000);
    put_symbol(symtab + 48, big, BETA, STB_GLOBAL, STT_OBJECT, TEXT, 0x2000);
    put_symbol(dynsym, big, 0, 0, 0, 0, 0);
    put_symbol(dynsym + 24, big, GAMMA, STB_WEAK, STT_GNU_IFUNC, TEXT, 0x3000);
    put_rela(rela, big, 0x4000, 0, 8, -16);
    put_rela(rela + 24, big, 0x4008, 2, 1, 7);
    const struct build_section s[] = {
        {.name = ".text", .type = SHT_PROGBITS, .flags = 6, .address = 0x1000, .data = text, .size = sizeof text},
        {.name = ".note.gnu.build-id", .type = SHT_NOTE, .data = note, .size = n},
        {.name = ".gnu_debuglink", .type = SHT_PROGBITS, .data = link, .size = 16},
        {.name = ".strtab", .type = SHT_STRTAB, .data = names, .size = sizeof names},
        {.name = ".dynsym", .type = SHT_DYNSYM, .link = STRTAB, .entry_size = 24, .data = dynsym, .size = 48},
        {.name = ".symtab", .type = SHT_SYMTAB, .link = STRTAB, .entry_size = 24, .data = symtab, .size = 72},
        {.name = ".rela.dyn", .type = SHT_RELA, .link = SYMTAB, .info = 3, .entry_size = 24, .data = rela, .size = 48},
        {.name = ".bss", .type = SHT_NOBITS, .address = 0x9000, .size = 1u << 30},
    };
    build_elf(b, big, ET_DYN, EM_X86_64, s, TL_COUNT(s));
}

/* Opens a copy of exactly the size, so that a sanitizer sees any byte read beyond it. */
static int open_copy(tl_elf **elf, const struct built *b, size_t size, uint8_t **copy, tl_error *e)
{
    *copy = malloc(size ? size : 1);
    assert_non_null(*copy);
    memcpy(*copy, b->bytes, size);
    return tl_elf_open_memory(elf, *copy, size, "test.elf", e);
}

struct seen {
    unsigned n, stop_at;
    char text[256];
};

static int see_symbol(void *arg, const tl_elf_symbol *s)
{
    struct seen *seen = arg;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%s:%#x/%u/%u/%u ", s->name, (unsigned)s->value, s->type,
             s->binding, s->section);
    return ++seen->n == seen->stop_at ? 77 : 0;
}

static int see_rela(void *arg, uint32_t section, uint64_t place, uint32_t type, uint64_t value, int64_t addend)
{
    struct seen *seen = arg;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%u@%#x:%u=%#x%+d ", section, (unsigned)place, type,
             (unsigned)value, (int)addend);
    return ++seen->n == seen->stop_at ? 77 : 0;
}

static void test_reads_both_byte_orders(void **state)
{
    static struct built b;
    for (int big = 0; big < 2; big++) {
        tl_elf *elf;
        const uint8_t *data;
        size_t size;
        uint32_t crc = 0;
        build_all(&b, big);
        assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
        assert_string_equal(tl_elf_path(elf), "test.elf");
        assert_int_equal(tl_elf_big_endian(elf), big);
        assert_int_equal(tl_elf_machine(elf), EM_X86_64);
        assert_int_equal(tl_elf_type(elf), ET_DYN);
        assert_string_equal(tl_elf_build_id(elf), "01abcdef0099");
        assert_string_equal(tl_elf_debuglink(elf, &crc), "app.debug");
        assert_int_equal(crc, 0xdeadbeef);

        assert_int_equal(tl_elf_sections(elf), 10);
        assert_string_equal(tl_elf_section_get(elf, 0)->name, "");
        assert_null(tl_elf_section_get(elf, 10));
        assert_null(tl_elf_section_find(elf, ".tex"));
        const tl_elf_section *text = tl_elf_section_find(elf, ".text");
        assert_ptr_equal(text, tl_elf_section_get(elf, TEXT));
        assert_int_equal(text->address, 0x1000);
        assert_int_equal(text->flags, 6);
        assert_int_equal(text->offset, 64);
        assert_int_equal(tl_elf_section_data(elf, text, &data, &size, NULL), TL_OK);
        assert_int_equal(size, 5);
        assert_memory_equal(data, "\1\2\3\4\5", 5);
        const tl_elf_section *rela = tl_elf_section_find(elf, ".rela.dyn");
        assert_int_equal(rela->link, SYMTAB);
        assert_int_equal(rela->info, 3);
        assert_int_equal(rela->entry_size, 24);
        assert_int_equal(tl_elf_section_data(elf, tl_elf_section_find(elf, ".bss"), &data, &size, NULL), TL_OK);
        assert_int_equal(size, 0);
        tl_elf_close(elf);
    }
}

static void test_symbols_come_in_order(void **state)
{
    static struct built b;
    for (int big = 0; big < 2; big++) {
        tl_elf *elf;
        struct seen all = {0}, some = {.stop_at = 2};
        build_all(&b, big);
        assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
        assert_int_equal(tl_elf_each_symbol(elf, see_symbol, &all, NULL), 0);
        /* .symtab before .dynsym, though it comes later in the file */
        assert_string_equal(all.text, ":0/0/0/0 alpha:0x1000/2/0/1 beta:0x2000/1/1/1 :0/0/0/0 gamma:0x3000/10/2/1 ");
        assert_int_equal(tl_elf_each_symbol(elf, see_symbol, &some, NULL), 77);
        assert_int_equal(some.n, 2);
        tl_elf_close(elf);
    }
}

static void test_relocations(void **state)
{
    static struct built b;
    for (int big = 0; big < 2; big++) {
        tl_elf *elf;
        struct seen all = {0}, some = {.stop_at = 1};
        build_all(&b, big);
        assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
        assert_int_equal(tl_elf_each_rela(elf, see_rela, &all, NULL), 0);
        assert_string_equal(all.text, "3@0x4000:8=0-16 3@0x4008:1=0x2000+7 ");
        assert_int_equal(tl_elf_each_rela(elf, see_rela, &some, NULL), 77);
        assert_int_equal(some.n, 1);
        tl_elf_close(elf);
    }
}

/* Little-endian MIPS writes the symbol and four types of one byte instead of one u64. */
static void test_relocations_of_little_endian_mips(void **state)
{
    static struct built b;
    tl_elf *elf;
    struct seen all = {0};
    build_all(&b, false);
    tl_store16(b.bytes + 18, EM_MIPS, false);
    for (int i = 0; i < 2; i++)
        memcpy(b.bytes + b.data[RELA] + 24 * i + 8, "\2\0\0\0\0\0\x12\x03", 8);
    assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
    assert_int_equal(tl_elf_each_rela(elf, see_rela, &all, NULL), 0);
    assert_string_equal(all.text, "3@0x4000:4611=0x2000-16 3@0x4008:4611=0x2000+7 ");
    tl_elf_close(elf);
}

static void expect_failure(const void *data, size_t size, int code, uint64_t offset, const char *part)
{
    tl_error e = {0};
    tl_elf *elf = NULL;
    assert_int_equal(tl_elf_open_memory(&elf, data, size, "test.elf", &e), code);
    assert_null(elf);
    assert_int_equal(e.code, code);
    assert_int_equal(e.offset, offset);
    assert_contains(e.message, part);
    assert_contains(e.message, "test.elf: ");
    assert_int_equal(tl_elf_open_memory(&elf, data, size, "test.elf", NULL), code); /* no details wanted */
}

static void test_other_files_are_no_elf(void **state)
{
    expect_failure("", 0, TL_EFORMAT, 0, "not an ELF file");
    expect_failure("\x7f"
                   "EL",
                   3, TL_EFORMAT, 0, "not an ELF file");
    expect_failure("\xcf\xfa\xed\xfe\7\0\0\1\3\0\0\0\1\0\0\0", 16, TL_EFORMAT, 0, "not an ELF file");
    tl_error e = {0};
    tl_elf *elf = NULL;
    assert_int_equal(tl_elf_open(&elf, "/nonexistent/app", &e), TL_EIO);
    assert_null(elf);
}

static void test_broken_headers(void **state)
{
    static struct built good, b;
    build_all(&good, false);
    b = good;
    b.bytes[4] = 1;
    expect_failure(b.bytes, b.size, TL_EUNSUPPORTED, 4, "32-bit ELF");
    expect_failure(b.bytes, 52, TL_EUNSUPPORTED, 4, "32-bit ELF");
    b.bytes[4] = 3;
    expect_failure(b.bytes, b.size, TL_EDAMAGED, 4, "class 3");
    b = good;
    b.bytes[5] = 0;
    expect_failure(b.bytes, b.size, TL_EDAMAGED, 5, "byte order 0");
    expect_failure(good.bytes, 63, TL_EDAMAGED, 63, "ends inside its ELF header");
    b = good;
    tl_store16(b.bytes + 58, 40, false);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, 58, "of 40 bytes, expected 64");
    b = good;
    tl_store16(b.bytes + 60, 11, false); /* one more than there are */
    expect_failure(b.bytes, b.size, TL_EDAMAGED, b.headers, "11 section headers");
    b = good;
    tl_store16(b.bytes + 62, 10, false);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, 62, "section 10 of 10");
    b = good;
    tl_store64(b.bytes + 40, b.size + 1, false);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, 40, "section headers are said to be at");
    b = good;
    tl_store64(b.bytes + 40, UINT64_MAX - 8, false);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, 40, "section headers are said to be at");
    b = good;
    tl_store32(section_field(&b, NOTE, 0), 4000, false);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, b.headers + 64 * NOTE, "the name of section 2");
    b = good;
    tl_store64(section_field(&b, SHSTRTAB, 32), UINT64_MAX, false);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, b.data[SHSTRTAB], "the file ends at");
}

static void test_many_sections_are_counted_in_section_0(void **state)
{
    static struct built b;
    tl_elf *elf;
    build_all(&b, true);
    tl_store16(b.bytes + 60, 0, true);
    tl_store16(b.bytes + 62, SHN_XINDEX, true);
    tl_store64(section_field(&b, 0, 32), 10, true);
    tl_store32(section_field(&b, 0, 40), SHSTRTAB, true);
    assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
    assert_int_equal(tl_elf_sections(elf), 10);
    assert_non_null(tl_elf_section_find(elf, ".rela.dyn"));
    tl_elf_close(elf);
    tl_store64(section_field(&b, 0, 32), UINT64_MAX / 64 + 2, true);
    expect_failure(b.bytes, b.size, TL_EDAMAGED, b.headers, "do not fit");
}

static void test_no_section_headers(void **state)
{
    static struct built b;
    tl_elf *elf;
    struct seen seen = {0};
    build_all(&b, false);
    tl_store64(b.bytes + 40, 0, false);
    assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
    assert_int_equal(tl_elf_sections(elf), 0);
    assert_null(tl_elf_section_get(elf, 0));
    assert_null(tl_elf_build_id(elf));
    assert_null(tl_elf_debuglink(elf, NULL));
    assert_int_equal(tl_elf_each_symbol(elf, see_symbol, &seen, NULL), 0);
    assert_int_equal(tl_elf_each_rela(elf, see_rela, &seen, NULL), 0);
    assert_int_equal(seen.n, 0);
    tl_elf_close(elf);
}

static void expect_broken_symbols(const struct built *b, uint64_t offset, const char *part)
{
    tl_elf *elf;
    tl_error e = {0};
    struct seen seen = {0};
    assert_int_equal(tl_elf_open_memory(&elf, b->bytes, b->size, "test.elf", NULL), TL_OK);
    assert_int_equal(tl_elf_each_symbol(elf, see_symbol, &seen, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, offset);
    assert_contains(e.message, part);
    tl_elf_close(elf);
}

static void test_broken_symbols(void **state)
{
    static struct built good, b;
    build_all(&good, false);
    b = good;
    tl_store64(section_field(&b, SYMTAB, 56), 16, false);
    expect_broken_symbols(&b, b.data[SYMTAB], "entries of 16 bytes, expected 24");
    b = good;
    tl_store32(section_field(&b, SYMTAB, 40), TEXT, false);
    expect_broken_symbols(&b, b.data[SYMTAB], "which is not a string table");
    b = good;
    tl_store32(section_field(&b, SYMTAB, 40), 99, false);
    expect_broken_symbols(&b, b.data[SYMTAB], "which is not a string table");
    b = good;
    tl_store32(b.bytes + b.data[SYMTAB] + 24, sizeof names, false);
    expect_broken_symbols(&b, b.data[SYMTAB] + 24, "the name of symbol 1");
    b = good;
    tl_store64(section_field(&b, SYMTAB, 24), b.size - 71, false);
    expect_broken_symbols(&b, b.size - 71, "the file ends at");
    b = good; /* the last name of the table has no terminator */
    tl_store64(section_field(&b, STRTAB, 32), sizeof names - 2, false);
    expect_broken_symbols(&b, b.data[DYNSYM] + 24, "of 12 bytes of names");
}

static void test_broken_relocations(void **state)
{
    static struct built b;
    tl_elf *elf;
    tl_error e = {0};
    struct seen seen = {0};
    build_all(&b, false);
    put_rela(b.bytes + b.data[RELA] + 24, false, 0, 3, 1, 0);
    assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
    assert_int_equal(tl_elf_each_rela(elf, see_rela, &seen, &e), TL_EDAMAGED);
    assert_int_equal(seen.n, 1);
    assert_int_equal(e.offset, b.data[RELA] + 24);
    assert_contains(e.message, "symbol 3 of 3");
    tl_elf_close(elf);
}

static void test_sections_that_cannot_be_read(void **state)
{
    static struct built b;
    tl_elf *elf;
    tl_error e = {0};
    const uint8_t *data = NULL;
    size_t size = 4711;
    build_all(&b, false);
    tl_store64(section_field(&b, TEXT, 8), SHF_COMPRESSED, false);
    tl_store64(section_field(&b, STRTAB, 24), UINT64_MAX - 3, false);
    assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
    assert_int_equal(tl_elf_section_data(elf, tl_elf_section_get(elf, TEXT), &data, &size, &e), TL_EUNSUPPORTED);
    assert_contains(e.message, "compressed");
    assert_int_equal(tl_elf_section_data(elf, tl_elf_section_get(elf, STRTAB), &data, &size, &e), TL_EDAMAGED);
    assert_int_equal(e.offset, UINT64_MAX - 3);
    assert_null(data);
    assert_int_equal(size, 4711);
    tl_elf_close(elf);
}

/* Many sections that each are the whole file would make a small file cost the square of its size. */
static void test_overlapping_sections_end(void **state)
{
    static struct built b;
    tl_elf *elf;
    tl_error e = {0};
    int rc = TL_OK;
    build_all(&b, false);
    for (size_t i = STRTAB; i <= RELA; i++) {
        tl_store32(section_field(&b, i, 4), SHT_PROGBITS, false);
        tl_store64(section_field(&b, i, 24), 0, false);
        tl_store64(section_field(&b, i, 32), b.size, false);
    }
    assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
    unsigned read = 0;
    for (uint32_t i = STRTAB; rc >= 0 && i <= RELA; i++) {
        const uint8_t *data;
        size_t size;
        rc = tl_elf_section_data(elf, tl_elf_section_get(elf, i), &data, &size, &e);
        read += rc >= 0;
    }
    assert_int_equal(rc, TL_EDAMAGED);
    assert_int_equal(read, 1); /* names and notes were read before, which leaves less than two whole files */
    assert_contains(e.message, "overlap");
    tl_elf_close(elf);
}

static void test_broken_notes_are_as_none(void **state)
{
    static struct built good, b;
    tl_elf *elf;
    build_all(&good, false);
    const size_t lengths[] = {0, 4, 24, 28}; /* of name and content of both notes */
    for (size_t i = 0; i < TL_COUNT(lengths); i++) {
        b = good;
        tl_store32(b.bytes + b.data[NOTE] + lengths[i], 0xfffffffe, false);
        tl_store32(b.bytes + b.data[LINK] + 8, 0x41414141, false); /* no terminator, and no room for the sum */
        memset(b.bytes + b.data[LINK], 'A', 16);
        assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
        assert_null(tl_elf_build_id(elf));
        assert_null(tl_elf_debuglink(elf, NULL));
        tl_elf_close(elf);
    }
    b = good;
    tl_store64(section_field(&b, LINK, 32), 15, false); /* the sum is cut */
    assert_int_equal(tl_elf_open_memory(&elf, b.bytes, b.size, "test.elf", NULL), TL_OK);
    assert_null(tl_elf_debuglink(elf, NULL));
    tl_elf_close(elf);
}

/* Everything that can be asked of a file. */
static void use_all(tl_elf *elf)
{
    struct seen seen = {0};
    const uint8_t *data;
    size_t size;
    uint32_t crc;
    volatile uint8_t sum = 0;
    for (uint32_t i = 0; i < tl_elf_sections(elf); i++)
        if (tl_elf_section_data(elf, tl_elf_section_get(elf, i), &data, &size, NULL) >= 0)
            for (size_t k = 0; k < size; k++)
                sum = (uint8_t)(sum + data[k]);
    (void)tl_elf_section_find(elf, "nothing");
    (void)tl_elf_each_symbol(elf, see_symbol, &seen, NULL);
    memset(&seen, 0, sizeof seen);
    (void)tl_elf_each_rela(elf, see_rela, &seen, NULL);
    (void)tl_elf_build_id(elf);
    (void)tl_elf_debuglink(elf, &crc);
}

static void test_every_truncation_is_noticed(void **state)
{
    static struct built b;
    build_all(&b, false);
    for (size_t size = 0; size < b.size; size++) {
        tl_elf *elf = NULL;
        tl_error e = {0};
        uint8_t *copy;
        int rc = open_copy(&elf, &b, size, &copy, &e);
        assert_int_equal(rc, size < 4 ? TL_EFORMAT : TL_EDAMAGED); /* the section headers stand at the end */
        assert_true(e.offset <= b.size);
        free(copy);
    }
}

static void test_every_broken_byte_is_survived(void **state)
{
    static struct built b;
    static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x55};
    unsigned opened = 0, refused = 0;
    build_all(&b, true);
    for (size_t at = 0; at < b.size; at++)
        for (size_t i = 0; i < sizeof changes; i++) {
            tl_elf *elf = NULL;
            uint8_t *copy;
            b.bytes[at] ^= changes[i];
            int rc = open_copy(&elf, &b, b.size, &copy, NULL);
            b.bytes[at] ^= changes[i];
            if (rc >= 0)
                use_all(elf);
            tl_elf_close(elf);
            free(copy);
            opened += rc >= 0;
            refused += rc < 0;
        }
    assert_true(opened > refused && refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_both_byte_orders),
        cmocka_unit_test(test_symbols_come_in_order),
        cmocka_unit_test(test_relocations),
        cmocka_unit_test(test_relocations_of_little_endian_mips),
        cmocka_unit_test(test_other_files_are_no_elf),
        cmocka_unit_test(test_broken_headers),
        cmocka_unit_test(test_many_sections_are_counted_in_section_0),
        cmocka_unit_test(test_no_section_headers),
        cmocka_unit_test(test_broken_symbols),
        cmocka_unit_test(test_broken_relocations),
        cmocka_unit_test(test_sections_that_cannot_be_read),
        cmocka_unit_test(test_overlapping_sections_end),
        cmocka_unit_test(test_broken_notes_are_as_none),
        cmocka_unit_test(test_every_truncation_is_noticed),
        cmocka_unit_test(test_every_broken_byte_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
