/* Checks files before libdw reads them. */
#ifdef TL_HAVE_LIBDW

#include "op/symbols/dwarf_files.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_ID_MAX 64 /* bytes of a build-id; ours have 20 */

bool tl_dwarf_strings_end(Elf *elf)
{
    static const char *const strings[] = {".debug_str", ".debug_line_str", ".zdebug_str", ".zdebug_line_str",
                                          ".debug_str.dwo"};
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        for (size_t i = 0; name && i < sizeof strings / sizeof *strings; i++) {
            const Elf_Data *data = strcmp(name, strings[i]) == 0 ? elf_rawdata(section, NULL) : NULL;
            if (data && data->d_buf && data->d_size > 0 && ((const char *)data->d_buf)[data->d_size - 1] != '\0')
                return false;
        }
    }
    return true;
}

static bool unpack_sections(Elf *elf)
{
    bool ok = true;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); ok && section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_COMPRESSED)
            ok = elf_compress(section, 0, 0) >= 0;
    }
    return ok;
}

bool tl_dwarf_file_is_sound(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return true;
    Elf *elf = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    const bool sound = elf && elf_kind(elf) == ELF_K_ELF && unpack_sections(elf) && tl_dwarf_strings_end(elf);
    if (elf)
        elf_end(elf);
    close(fd);
    return sound;
}

static bool is_sound_in(const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    const int n = snprintf(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : folder, name[0] == '/' ? "" : "/", name);
    return n >= 0 && (size_t)n < sizeof path && tl_dwarf_file_is_sound(path);
}

static const char *text_of(Dwarf_Die *unit, unsigned attribute)
{
    Dwarf_Attribute at;
    return dwarf_attr(unit, attribute, &at) ? dwarf_formstring(&at) : NULL;
}

bool tl_dwarf_split_is_sound(const char *folder, Dwarf_Die *unit)
{
    char built[2 * PATH_MAX];
    const char *name = text_of(unit, DW_AT_dwo_name), *in = text_of(unit, DW_AT_comp_dir);
    name = name ? name : text_of(unit, DW_AT_GNU_dwo_name);
    if (!name || !is_sound_in(folder, name))
        return false;
    if (!in)
        return true;
    const int n = snprintf(built, sizeof built, "%s%s%s", in[0] == '/' ? "" : folder, in[0] == '/' ? "" : "/", in);
    return n >= 0 && (size_t)n < sizeof built && is_sound_in(built, name);
}

/* libdw looks for it by build-id, then by name. */
bool tl_dwarf_shared_is_sound(const char *folder, Dwarf *dwarf)
{
    static const char begin[] = "/usr/lib/debug/.build-id/", end[] = ".debug";
    char path[sizeof begin + 2 * SHARED_ID_MAX + 1 + sizeof end];
    const char *name;
    const void *id;
    const ssize_t n = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
    if (n <= 0)
        return n == 0;
    if (n > SHARED_ID_MAX)
        return false;
    size_t at = (size_t)snprintf(path, sizeof path, "%s", begin);
    for (ssize_t i = 0; i < n; i++)
        at += (size_t)snprintf(path + at, sizeof path - at, "%02x%s", ((const uint8_t *)id)[i], i == 0 ? "/" : "");
    snprintf(path + at, sizeof path - at, "%s", end);
    return tl_dwarf_file_is_sound(path) && is_sound_in(folder, name);
}

#endif
