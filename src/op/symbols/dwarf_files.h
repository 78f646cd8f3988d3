/* Whether libdw may read a file: it trusts what it finds in one, and opens whatever other file a binary names. */
#ifndef TL_OP_DWARF_FILES_H
#define TL_OP_DWARF_FILES_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* False if a section of strings does not end with a zero byte, as those of compilers do: libdw looks for the end of a
 * string beyond the section. To be called once the sections are unpacked, as libdw does when it begins. */
bool tl_dwarf_strings_end(Elf *elf);
/* Whether a file that libdw may open for split-off units is a regular one and sound. One that cannot be opened is. */
bool tl_dwarf_file_is_sound(const char *path);
/* The same for those where libdw looks for the rest of a unit: beside the binary, which is in `folder` (an absolute
 * path), and where it was built. False, too, if the unit names none. */
bool tl_dwarf_split_is_sound(const char *folder, Dwarf_Die *unit);
/* The same for the file that several debug files share (.gnu_debugaltlink, by dwz). True if there is none. */
bool tl_dwarf_shared_is_sound(const char *folder, Dwarf *dwarf);

#endif
