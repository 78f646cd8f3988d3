/* Reads the debug directory of a PE file: entries of 28 bytes, one of which is about the PDB ("RSDS", its id). */
#include "managed/pe_debug.h"

#include <string.h>

#include "base/endian.h"
#include "base/pe_file.h"

enum {
    ENTRY = 28,
    ENTRY_STAMP = 4,
    ENTRY_MINOR = 10,
    ENTRY_TYPE = 12,
    ENTRY_OFFSET = 24,
    CODEVIEW = 2,
    PORTABLE = 0x504d,
    ENTRIES_MOST = 96
};

static bool read_entry(const tl_pe *f, uint64_t offset, uint8_t id[static PORTABLE_PDB_ID])
{
    uint8_t entry[ENTRY], view[20];
    if (!tl_pe_read(f, offset, entry, ENTRY) || tl_load32(entry + ENTRY_TYPE, false) != CODEVIEW ||
        tl_load16(entry + ENTRY_MINOR, false) != PORTABLE ||
        !tl_pe_read(f, tl_load32(entry + ENTRY_OFFSET, false), view, sizeof view) || memcmp(view, "RSDS", 4) != 0)
        return false;
    memcpy(id, view + 4, 16);
    memcpy(id + 16, entry + ENTRY_STAMP, 4);
    return true;
}

bool pe_debug_id(const char *path, uint8_t id[static PORTABLE_PDB_ID])
{
    uint32_t address, size;
    tl_pe f;
    bool found = false;
    if (!tl_pe_open(&f, path))
        return false;
    const uint64_t entries = tl_pe_directory(&f, TL_PE_DEBUG, &address, &size) ? tl_pe_offset(&f, address) : 0;
    const uint32_t n = entries ? size / ENTRY : 0;
    for (uint32_t i = 0; i < n && i < ENTRIES_MOST && !found; i++)
        found = read_entry(&f, entries + (uint64_t)i * ENTRY, id);
    tl_pe_close(&f);
    return found;
}
