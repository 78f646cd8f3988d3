/* Builds small ELF64 files in memory, for tests. */
#ifndef TEST_BUILD_ELF_H
#define TEST_BUILD_ELF_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/endian.h"

#define BUILD_ROOM 65536u

struct build_section {
    const char *name;
    uint32_t type, link, info;
    uint64_t flags, address, entry_size;
    const void *data;
    size_t size;
};

/* Where build_elf put the parts, for tests that break them. */
struct built {
    uint8_t bytes[BUILD_ROOM];
    size_t size;
    size_t headers;  /* offset of the section headers */
    size_t data[16]; /* offset of the data of each section, by section index */
    bool big;
};

/* Header, contents one after the other without alignment, names, section headers. Adds section 0 in front and .shstrtab
 * at the end, so that the i-th of s is section i + 1. */
static inline void build_elf(struct built *b, bool big, uint16_t type, uint16_t machine, const struct build_section *s,
                             size_t n)
{
    char names[512] = "";
    size_t names_size = 1;
    uint32_t name_at[16];
    assert(n + 2 <= 16);
    memset(b, 0, sizeof *b);
    b->big = big;
    memcpy(b->bytes,
           "\x7f"
           "ELF\2",
           5);
    b->bytes[5] = big ? 2 : 1;
    b->bytes[6] = 1;
    tl_store16(b->bytes + 16, type, big);
    tl_store16(b->bytes + 18, machine, big);
    size_t at = 64;
    for (size_t i = 0; i < n; i++) {
        name_at[i] = (uint32_t)names_size;
        memcpy(names + names_size, s[i].name, strlen(s[i].name) + 1);
        names_size += strlen(s[i].name) + 1;
        b->data[i + 1] = at;
        if (s[i].type != 8) { /* SHT_NOBITS */
            assert(s[i].size <= BUILD_ROOM - at);
            if (s[i].size > 0)
                memcpy(b->bytes + at, s[i].data, s[i].size);
            at += s[i].size;
        }
    }
    memcpy(names + names_size, ".shstrtab", sizeof ".shstrtab");
    uint32_t own_name = (uint32_t)names_size;
    names_size += sizeof ".shstrtab";
    b->data[n + 1] = at;
    memcpy(b->bytes + at, names, names_size);
    at += names_size;

    b->headers = at;
    assert((n + 2) * 64 <= BUILD_ROOM - at);
    for (size_t i = 0; i <= n; i++) {
        uint8_t *p = b->bytes + at + (i + 1) * 64;
        const struct build_section own = {".shstrtab", 3, 0, 0, 0, 0, 0, names, names_size};
        const struct build_section *x = i < n ? &s[i] : &own;
        tl_store32(p, i < n ? name_at[i] : own_name, big);
        tl_store32(p + 4, x->type, big);
        tl_store64(p + 8, x->flags, big);
        tl_store64(p + 16, x->address, big);
        tl_store64(p + 24, b->data[i + 1], big);
        tl_store64(p + 32, x->size, big);
        tl_store32(p + 40, x->link, big);
        tl_store32(p + 44, x->info, big);
        tl_store64(p + 56, x->entry_size, big);
    }
    tl_store64(b->bytes + 40, at, big);
    tl_store16(b->bytes + 52, 64, big);
    tl_store16(b->bytes + 58, 64, big);
    tl_store16(b->bytes + 60, (uint16_t)(n + 2), big);
    tl_store16(b->bytes + 62, (uint16_t)(n + 1), big);
    b->size = at + (n + 2) * 64;
}

/* Where a field of a section's header is. */
static inline uint8_t *section_field(struct built *b, size_t section, size_t field)
{
    return b->bytes + b->headers + section * 64 + field;
}

static inline void put_symbol(uint8_t *p, bool big, uint32_t name, unsigned binding, unsigned type, uint16_t section,
                              uint64_t value)
{
    memset(p, 0, 24);
    tl_store32(p, name, big);
    p[4] = (uint8_t)(binding << 4 | type);
    tl_store16(p + 6, section, big);
    tl_store64(p + 8, value, big);
    tl_store64(p + 16, 10, big);
}

static inline void put_rela(uint8_t *p, bool big, uint64_t place, uint32_t symbol, uint32_t type, int64_t addend)
{
    tl_store64(p, place, big);
    tl_store64(p + 8, (uint64_t)symbol << 32 | type, big);
    tl_store64(p + 16, (uint64_t)addend, big);
}

/* A sled as stored. */
static inline void put_sled(uint8_t *p, bool big, uint64_t address, uint64_t function, uint8_t kind, uint8_t version)
{
    memset(p, 0xa5, 32); /* padding may hold anything */
    tl_store64(p, address, big);
    tl_store64(p + 8, function, big);
    p[16] = kind;
    p[17] = 1;
    p[18] = version;
}

#endif
