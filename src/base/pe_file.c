/* A DOS header, which says where the PE header is; behind that the optional one, with directories, and the sections. */
#include "base/pe_file.h"

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
    MAGIC_32 = 0x10b,
    MAGIC_64 = 0x20b,
    DIRECTORIES_32 = 96,
    DIRECTORIES_64 = 112,
    DIRECTORY = 8,
    SECTION = 40,
    SECTION_ADDRESS = 12,
    SECTION_SIZE = 16,
    SECTION_OFFSET = 20,
    SECTIONS_MOST = 96 /* the loader takes no more */
};

bool tl_pe_read(const tl_pe *f, uint64_t offset, void *to, size_t n)
{
    return pread(f->fd, to, n, (off_t)offset) == (ssize_t)n;
}

static bool read_headers(tl_pe *f)
{
    uint8_t dos[DOS], pe[PE_OPTIONAL + 2];
    if (!tl_pe_read(f, 0, dos, DOS) || memcmp(dos, "MZ", 2) != 0)
        return false;
    const uint64_t at = tl_load32(dos + DOS_PE, false);
    if (!tl_pe_read(f, at, pe, sizeof pe) || memcmp(pe, "PE\0", 4) != 0)
        return false;
    const unsigned magic = tl_load16(pe + PE_OPTIONAL, false), n = tl_load16(pe + PE_SECTIONS, false);
    f->directories = at + PE_OPTIONAL + (magic == MAGIC_64 ? DIRECTORIES_64 : DIRECTORIES_32);
    f->sections = at + PE_OPTIONAL + tl_load16(pe + PE_OPTIONAL_SIZE, false);
    f->nsections = n < SECTIONS_MOST ? n : SECTIONS_MOST;
    return magic == MAGIC_32 || magic == MAGIC_64;
}

bool tl_pe_open(tl_pe *f, const char *path)
{
    struct stat st;
    *f = (tl_pe){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (f->fd >= 0 && fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode) && read_headers(f))
        return true;
    tl_pe_close(f);
    return false;
}

void tl_pe_close(tl_pe *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

bool tl_pe_directory(const tl_pe *f, unsigned number, uint32_t *address, uint32_t *size)
{
    uint8_t entry[DIRECTORY];
    if (!tl_pe_read(f, f->directories + (uint64_t)number * DIRECTORY, entry, DIRECTORY))
        return false;
    *address = tl_load32(entry, false);
    *size = tl_load32(entry + 4, false);
    return *address != 0;
}

uint64_t tl_pe_offset(const tl_pe *f, uint32_t address)
{
    uint8_t s[SECTION];
    for (unsigned i = 0; i < f->nsections && tl_pe_read(f, f->sections + (uint64_t)i * SECTION, s, SECTION); i++) {
        const uint32_t from = tl_load32(s + SECTION_ADDRESS, false), size = tl_load32(s + SECTION_SIZE, false);
        if (address >= from && address - from < size)
            return (uint64_t)tl_load32(s + SECTION_OFFSET, false) + (address - from);
    }
    return 0;
}
