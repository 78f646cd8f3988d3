/* The symbols and relocations of an ELF64 file, one after the other.
 *
 * A symbol has 24 bytes and a relocation with addend (RELA) has 24:
 *
 *     0          4      5       6         8                16               24
 *     +----------+------+-------+---------+----------------+----------------+
 *     | name     | info | other | section | value          | size           |   info: binding << 4 | type
 *     +----------+------+-------+---------+----------------+----------------+
 *     | place                             | symbol | type  | addend         |   in one u64: symbol << 32 | type
 *     +-----------------------------------+----------------+----------------+
 *
 * The name is an offset in the string table that the symbol table's section links to; the symbol of a relocation
 * is an index in the symbol table that the relocation's section names. */
#include <elf.h>
#include <inttypes.h>

#include "base/elf/elf_file.h"
#include "base/endian.h"

enum { SYMBOL_NAME = 0, SYMBOL_INFO = 4, SYMBOL_SECTION = 6, SYMBOL_VALUE = 8, SYMBOL_SIZE = 16, SYMBOL_BYTES = 24 };

enum { RELA_PLACE = 0, RELA_SYMBOL_TYPE = 8, RELA_ADDEND = 16, RELA_BYTES = 24 };

/* The entries of a table section, without an incomplete one at the end. */
static int table(tl_elf *elf, const tl_elf_section *s, size_t entry, const uint8_t **data, size_t *n, tl_error *e)
{
    size_t size = 0;
    int rc = tl_elf_section_data(elf, s, data, &size, e);
    if (rc < 0)
        return rc;
    if (size > 0 && s->entry_size != entry)
        return tl_fail(e, TL_EDAMAGED, s->offset, "%s: section %s has entries of %" PRIu64 " bytes, expected %zu",
                       tl_elf_path(elf), s->name, s->entry_size, entry);
    *n = size / entry;
    return TL_OK;
}

/* The string table of a symbol table, up to its last terminated string. */
static int strings(tl_elf *elf, const tl_elf_section *s, const char **text, size_t *size, tl_error *e)
{
    const uint8_t *data = NULL;
    const tl_elf_section *link = tl_elf_section_get(elf, s->link);
    if (!link || link->type != SHT_STRTAB)
        return tl_fail(e, TL_EDAMAGED, s->offset,
                       "%s: section %s is said to have its names in section %" PRIu32 ", which is not a string table",
                       tl_elf_path(elf), s->name, s->link);
    int rc = tl_elf_section_data(elf, link, &data, size, e);
    if (rc < 0)
        return rc;
    *text = (const char *)data;
    while (*size > 0 && (*text)[*size - 1] != '\0')
        --*size;
    return TL_OK;
}

static int each_symbol_of(tl_elf *elf, const tl_elf_section *s, int (*visit)(void *arg, const tl_elf_symbol *s),
                          void *arg, tl_error *e)
{
    bool big = tl_elf_big_endian(elf);
    const uint8_t *data = NULL;
    const char *text = NULL;
    size_t n = 0, size = 0;
    int rc = table(elf, s, SYMBOL_BYTES, &data, &n, e);
    if (rc < 0 || n == 0)
        return rc;
    rc = strings(elf, s, &text, &size, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const uint8_t *p = data + i * SYMBOL_BYTES;
        uint32_t name = tl_load32(p + SYMBOL_NAME, big);
        if (name >= size && name != 0)
            return tl_fail(e, TL_EDAMAGED, s->offset + i * SYMBOL_BYTES,
                           "%s: the name of symbol %zu of %s is said to be at %" PRIu32 " of %zu bytes of names",
                           tl_elf_path(elf), i, s->name, name, size);
        tl_elf_symbol symbol = {
            .name = name < size ? text + name : "",
            .value = tl_load64(p + SYMBOL_VALUE, big),
            .size = tl_load64(p + SYMBOL_SIZE, big),
            .type = p[SYMBOL_INFO] & 15,
            .binding = p[SYMBOL_INFO] >> 4,
            .section = tl_load16(p + SYMBOL_SECTION, big),
        };
        rc = visit(arg, &symbol);
    }
    return rc;
}

int tl_elf_each_symbol(tl_elf *elf, int (*visit)(void *arg, const tl_elf_symbol *s), void *arg, tl_error *e)
{
    static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t t = 0; t < TL_COUNT(types); t++)
        for (uint32_t i = 0; i < tl_elf_sections(elf); i++) {
            const tl_elf_section *s = tl_elf_section_get(elf, i);
            int rc = s->type == types[t] ? each_symbol_of(elf, s, visit, arg, e) : 0;
            if (rc != 0)
                return rc;
        }
    return TL_OK;
}

/* The symbol table of a relocation section, with the values of its symbols. May be missing as long as no relocation has
 * a symbol. */
static int symbol_values(tl_elf *elf, const tl_elf_section *s, const uint8_t **data, size_t *n, tl_error *e)
{
    const tl_elf_section *link = tl_elf_section_get(elf, s->link);
    *n = 0;
    if (!link || (link->type != SHT_SYMTAB && link->type != SHT_DYNSYM))
        return TL_OK;
    return table(elf, link, SYMBOL_BYTES, data, n, e);
}

static int each_rela_of(tl_elf *elf, const tl_elf_section *s,
                        int (*visit)(void *arg, uint32_t section, uint64_t place, uint32_t type, uint64_t symbol_value,
                                     int64_t addend),
                        void *arg, tl_error *e)
{
    bool big = tl_elf_big_endian(elf);
    /* Little-endian MIPS writes the symbol first and then the type as four bytes, as if the u64 were two numbers. */
    bool mips = tl_elf_machine(elf) == EM_MIPS && !big;
    const uint8_t *data = NULL, *symbols = NULL;
    size_t n = 0, nsymbol = 0;
    int rc = table(elf, s, RELA_BYTES, &data, &n, e);
    if (rc < 0 || n == 0)
        return rc;
    rc = symbol_values(elf, s, &symbols, &nsymbol, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const uint8_t *p = data + i * RELA_BYTES;
        uint64_t info = tl_load64(p + RELA_SYMBOL_TYPE, big);
        uint32_t symbol = mips ? (uint32_t)info : (uint32_t)(info >> 32);
        uint32_t type = mips ? tl_load32(p + RELA_SYMBOL_TYPE + 4, true) : (uint32_t)info;
        uint64_t value = 0;
        if (symbol > 0 && symbol >= nsymbol)
            return tl_fail(e, TL_EDAMAGED, s->offset + i * RELA_BYTES,
                           "%s: relocation %zu of %s is said to use symbol %" PRIu32 " of %zu", tl_elf_path(elf), i,
                           s->name, symbol, nsymbol);
        if (symbol > 0)
            value = tl_load64(symbols + (size_t)symbol * SYMBOL_BYTES + SYMBOL_VALUE, big);
        rc = visit(arg, s->info, tl_load64(p + RELA_PLACE, big), type, value, (int64_t)tl_load64(p + RELA_ADDEND, big));
    }
    return rc;
}

int tl_elf_each_rela(tl_elf *elf,
                     int (*visit)(void *arg, uint32_t section, uint64_t place, uint32_t type, uint64_t symbol_value,
                                  int64_t addend),
                     void *arg, tl_error *e)
{
    for (uint32_t i = 0; i < tl_elf_sections(elf); i++) {
        const tl_elf_section *s = tl_elf_section_get(elf, i);
        int rc = s->type == SHT_RELA ? each_rela_of(elf, s, visit, arg, e) : 0;
        if (rc != 0)
            return rc;
    }
    return TL_OK;
}
