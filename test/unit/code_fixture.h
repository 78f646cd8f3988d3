/* A file with functions at addresses that the test chooses, in a scratch directory. */
#ifndef TL_TEST_CODE_FIXTURE_H
#define TL_TEST_CODE_FIXTURE_H

#include <elf.h>

#include "build_elf.h"
#include "check.h"

enum { CODE_SYMTAB = 1, CODE_STRTAB, CODE_TEXT, CODE_SYMBOLS = 64 };

typedef struct code_symbol {
    const char *name;
    uint64_t value, size;
    unsigned type, binding;
} code_symbol;

#define CODE_FUNC(name, value, size)                                                                                   \
    {                                                                                                                  \
        (name), (value), (size), STT_FUNC, STB_GLOBAL                                                                  \
    }

/* One whose .text is at 0x1000 .. 0x2fff. */
static inline void code_write(const char *path, const code_symbol *symbol, size_t n)
{
    static struct built b;
    static uint8_t symtab[24 * CODE_SYMBOLS];
    char strings[1024] = "";
    size_t used = 1;
    assert_true(n <= CODE_SYMBOLS);
    for (size_t i = 0; i < n; i++) {
        put_symbol(symtab + 24 * i, false, (uint32_t)used, symbol[i].binding, symbol[i].type, CODE_TEXT,
                   symbol[i].value);
        tl_store64(symtab + 24 * i + 16, symbol[i].size, false);
        assert_true(used + strlen(symbol[i].name) + 1 <= sizeof strings);
        memcpy(strings + used, symbol[i].name, strlen(symbol[i].name) + 1);
        used += strlen(symbol[i].name) + 1;
    }
    const struct build_section s[] = {
        {.name = ".symtab", .type = SHT_SYMTAB, .link = CODE_STRTAB, .entry_size = 24, .data = symtab, .size = n * 24},
        {.name = ".strtab", .type = SHT_STRTAB, .data = strings, .size = used},
        {.name = ".text", .type = SHT_NOBITS, .address = 0x1000, .size = 0x2000}};
    build_elf(&b, false, ET_EXEC, EM_AARCH64, s, sizeof s / sizeof *s);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.bytes, 1, b.size, f), b.size);
    assert_int_equal(fclose(f), 0);
}

#endif
