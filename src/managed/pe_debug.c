/* Reads the debug directory of a PE file: entries of 28 bytes, one of which is about the PDB ("RSDS", its id). */
#include "managed/pe_debug.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"

enum {
    DOS = 64,
    DOS_PE = 60,
    PE_SECTIONS = 6,
    PE_OPTIONAL_SIZE = 20,
    PE_OPTIONAL = 24,
    DIRECTORY_32 = 96,
    DIRECTORY_64 = 112,
    DEBUG = 6 * 8,
    SECTION = 40,
    SECTION_ADDRESS = 12,
    SECTION_SIZE = 16,
    SECTION_OFFSET = 20,
    ENTRY = 28,
    ENTRY_STAMP = 4,
    ENTRY_MINOR = 10,
    ENTRY_TYPE = 12,
    ENTRY_OFFSET = 24,
    CODEVIEW = 2,
    PORTABLE = 0x504d,
    MOST = 96 /* sections, and entries */
};

static bool read_at(int fd, uint64_t offset, uint8_t *to, size_t n)
{
    return pread(fd, to, n, (off_t)offset) == (ssize_t)n;
}

/* Where in the file an address of the loaded one is; 0: nowhere. */
static uint64_t offset_of(int fd, uint64_t sections, unsigned n, uint32_t address)
{
    uint8_t s[SECTION];
    for (unsigned i = 0; i < n && i < MOST && read_at(fd, sections + i * SECTION, s, SECTION); i++) {
        const uint32_t from = tl_load32(s + SECTION_ADDRESS, false), size = tl_load32(s + SECTION_SIZE, false);
        if (address >= from && address - from < size)
            return (uint64_t)tl_load32(s + SECTION_OFFSET, false) + (address - from);
    }
    return 0;
}

static bool read_entry(int fd, uint64_t offset, uint8_t id[static PORTABLE_PDB_ID])
{
    uint8_t entry[ENTRY], view[20];
    if (!read_at(fd, offset, entry, ENTRY) || tl_load32(entry + ENTRY_TYPE, false) != CODEVIEW ||
        tl_load16(entry + ENTRY_MINOR, false) != PORTABLE ||
        !read_at(fd, tl_load32(entry + ENTRY_OFFSET, false), view, sizeof view) || memcmp(view, "RSDS", 4) != 0)
        return false;
    memcpy(id, view + 4, 16);
    memcpy(id + 16, entry + ENTRY_STAMP, 4);
    return true;
}

static bool read_id(int fd, uint8_t id[static PORTABLE_PDB_ID])
{
    uint8_t dos[DOS], pe[PE_OPTIONAL + 2], debug[8];
    if (!read_at(fd, 0, dos, DOS) || memcmp(dos, "MZ", 2) != 0)
        return false;
    const uint64_t at = tl_load32(dos + DOS_PE, false);
    if (!read_at(fd, at, pe, sizeof pe) || memcmp(pe, "PE\0", 4) != 0)
        return false;
    const unsigned magic = tl_load16(pe + PE_OPTIONAL, false);
    const uint64_t optional = at + PE_OPTIONAL;
    if (!read_at(fd, optional + (magic == 0x20b ? DIRECTORY_64 : DIRECTORY_32) + DEBUG, debug, sizeof debug))
        return false;
    const uint64_t entries = offset_of(fd, optional + tl_load16(pe + PE_OPTIONAL_SIZE, false),
                                       tl_load16(pe + PE_SECTIONS, false), tl_load32(debug, false));
    const uint32_t n = entries ? tl_load32(debug + 4, false) / ENTRY : 0;
    for (uint32_t i = 0; i < n && i < MOST; i++)
        if (read_entry(fd, entries + (uint64_t)i * ENTRY, id))
            return true;
    return false;
}

bool pe_debug_id(const char *path, uint8_t id[static PORTABLE_PDB_ID])
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && read_id(fd, id);
    if (fd >= 0)
        close(fd);
    return ok;
}
