/* Reads the section xray_instr_map of a binary: the ids of functions.
 *
 * The section is an array of sleds, the places in the code that can be patched. It may lie at any address, aligned or
 * not. A sled of a 64-bit binary has 32 bytes, in the byte order of the ELF file:
 *
 *     0                8                16     17       18        19                      32
 *     +----------------+----------------+------+--------+---------+-----------------------+
 *     | sled           | function       | kind | always | version | padding               |
 *     +----------------+----------------+------+--------+---------+-----------------------+
 *
 * version 0, 1   the address itself; in an object file or a position-independent binary 0 is stored,
 *                and a relocation in a RELA section has the value
 * version 2      the address minus the place of the field that holds it; needs no relocation
 *
 * Ids are stored nowhere: id n is the n-th run of sleds with the same function, counted from 1 and over sleds of every
 * kind. docs/format/xray-instr-map.md has the details. */
#include "format/xray/instr_map.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/endian.h"

enum { SLED_FUNCTION = 8, SLED_VERSION = 18, SLED_BYTES = 32 };

#define VERSION_RELATIVE 2 /* from this version on, addresses are relative to their place */

/* Relocation types by machine: base + addend, symbol + addend, symbol + addend - place; 0: none. Numbers, because
 * <elf.h> of older systems lacks some names. */
static const struct relocations {
    uint16_t machine;
    uint16_t relative, absolute, pc_relative;
} known_relocations[] = {
    {21, 22, 38, 44},      /* PowerPC 64 */
    {22, 12, 22, 23},      /* s390x */
    {62, 8, 1, 24},        /* x86-64 */
    {183, 1027, 257, 260}, /* AArch64 */
    {243, 3, 2, 0},        /* RISC-V */
    {258, 3, 2, 109},      /* LoongArch */
};

/* The map while it is read. */
struct map {
    const tl_elf *elf;
    uint32_t section; /* index */
    uint64_t place;   /* address of its first byte, as relocations see it */
    const uint8_t *sled;
    size_t n;
    uint64_t *function; /* one for each sled */
    const struct relocations *known;
};

static uint64_t place_of_function(const struct map *m, size_t sled)
{
    return m->place + (uint64_t)sled * SLED_BYTES + SLED_FUNCTION;
}

static uint64_t stored_function(const struct map *m, size_t sled)
{
    return tl_load64(m->sled + sled * SLED_BYTES + SLED_FUNCTION, tl_elf_big_endian(m->elf));
}

/* A relocation sets a sled's function if the field is in the map and holds 0: all others, even with a relocation, are
 * already complete. */
static int relocate(void *arg, uint32_t section, uint64_t place, uint32_t type, uint64_t symbol_value, int64_t addend)
{
    struct map *m = arg;
    uint64_t value = symbol_value + (uint64_t)addend;
    uint64_t offset = place - m->place; /* wraps to a large number for a place before the map */

    if (tl_elf_type(m->elf) == ET_REL && section != m->section)
        return 0;
    if (offset / SLED_BYTES >= m->n || offset % SLED_BYTES != SLED_FUNCTION)
        return 0;
    size_t sled = (size_t)(offset / SLED_BYTES);
    if (type == 0 || stored_function(m, sled) != 0)
        return 0;
    if (type == m->known->relative)
        m->function[sled] = (uint64_t)addend;
    else if (type == m->known->absolute)
        m->function[sled] = value;
    else if (type == m->known->pc_relative)
        m->function[sled] = value - place;
    return 0;
}

static int apply_relocations(tl_elf *elf, struct map *m, tl_error *e)
{
    uint16_t machine = tl_elf_machine(elf);
    for (size_t i = 0; i < TL_COUNT(known_relocations); i++)
        if (known_relocations[i].machine == machine)
            m->known = &known_relocations[i];
    if (!m->known)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "%s: the addresses in its xray_instr_map are relocations of ELF machine %u, which is not known",
                       tl_elf_path(elf), machine);
    return tl_elf_each_rela(elf, relocate, m, e);
}

/* The address of the function of each sled. */
static int read_sleds(tl_elf *elf, struct map *m, tl_error *e)
{
    bool to_relocate = false;
    for (size_t i = 0; i < m->n; i++) {
        m->function[i] = stored_function(m, i);
        to_relocate |= m->function[i] == 0;
    }
    if (to_relocate) {
        int rc = apply_relocations(elf, m, e);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < m->n; i++)
        if (m->sled[i * SLED_BYTES + SLED_VERSION] >= VERSION_RELATIVE)
            m->function[i] += place_of_function(m, i);
    return TL_OK;
}

static int add_functions(const struct map *m, tl_trace *t, tl_error *e)
{
    tl_function f = {.id = 0};
    for (size_t i = 0; i < m->n; i++) {
        if (i > 0 && m->function[i] == m->function[i - 1])
            continue;
        f.id++;
        f.address = m->function[i];
        int rc = tl_trace_add_function(t, &f, e);
        if (rc < 0)
            return rc;
    }
    return TL_OK;
}

/* Finds the section and checks that it can be a map. */
static int find_map(tl_elf *elf, struct map *m, tl_error *e)
{
    const char *path = tl_elf_path(elf);
    const tl_elf_section *s = tl_elf_section_find(elf, "xray_instr_map");
    size_t size;
    if (!s)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "%s: no section xray_instr_map: not built with -fxray-instrument, or stripped of it", path);
    if (s->type == SHT_NOBITS)
        return tl_fail(e, TL_EUNSUPPORTED, TL_NO_OFFSET,
                       "%s: its xray_instr_map has no content: a separate debug file; give the binary itself", path);
    if (s->size % SLED_BYTES != 0)
        return tl_fail(e, TL_EDAMAGED, s->offset + (s->size - s->size % SLED_BYTES),
                       "%s: xray_instr_map has %" PRIu64 " bytes, expected a multiple of %d", path, s->size,
                       SLED_BYTES);
    int rc = tl_elf_section_data(elf, s, &m->sled, &size, e);
    if (rc < 0)
        return rc;
    m->elf = elf;
    m->section = (uint32_t)(s - tl_elf_section_get(elf, 0));
    m->place = tl_elf_type(elf) == ET_REL ? 0 : s->address; /* places in an object file are relative to its sections */
    m->n = size / SLED_BYTES;
    return TL_OK;
}

int xray_instr_map_read(tl_elf *elf, tl_trace *t, tl_error *e)
{
    struct map m = {.elf = elf};
    int rc = find_map(elf, &m, e);
    if (rc < 0 || m.n == 0)
        return rc;
    m.function = calloc(m.n, sizeof *m.function);
    if (!m.function)
        return tl_fail(e, TL_ENOMEM, TL_NO_OFFSET, "%s: no memory for a map of %zu sleds", tl_elf_path(elf), m.n);
    rc = read_sleds(elf, &m, e);
    if (rc >= 0)
        rc = add_functions(&m, t, e);
    free(m.function);
    return rc;
}
