/* Addresses of the test program's own functions in its file. */
#ifndef TL_TEST_OWN_SYMBOL_H
#define TL_TEST_OWN_SYMBOL_H

#include "base/elf/elf_file.h"
#include "check.h"

typedef struct own_symbol {
    const char *name;
    uint64_t address;
} own_symbol;

static inline int find_own(void *arg, const tl_elf_symbol *s)
{
    own_symbol *wanted = arg;
    if (strcmp(s->name, wanted->name) == 0)
        wanted->address = s->value;
    return 0;
}

/* Include after cmocka.h. */
static inline uint64_t address_of(const char *name)
{
    own_symbol wanted = {.name = name};
    tl_elf *elf = NULL;
    const int status = tl_elf_open(&elf, "/proc/self/exe", NULL);
    if (status == TL_EUNSUPPORTED)
        skip_because("this program is no 64-bit ELF file");
    assert_int_equal(status, 0);
    assert_int_equal(tl_elf_each_symbol(elf, find_own, &wanted, NULL), 0);
    tl_elf_close(elf);
    assert_true(wanted.address > 0);
    return wanted.address;
}

#endif
