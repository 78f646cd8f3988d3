/* Whether libdw may read a file: it trusts the content, and opens any other file that a binary names. */
#ifndef TL_OP_DWARF_FILES_H
#define TL_OP_DWARF_FILES_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* False if a section of strings lacks the final zero byte that compilers write: libdw would look for it beyond the
 * section. To be called once the sections are unpacked, as libdw does when it begins. */
bool tl_dwarf_strings_end(Elf *elf);
/* Whether a file that libdw may open for split-off units is a regular one and valid. True if it cannot be opened. */
bool tl_dwarf_file_is_sound(const char *path);
/* The same for the places where libdw looks for the rest of a unit: beside the binary, which is in `folder` (an
 * absolute path), and where it was built. Also false if the unit names no file. */
bool tl_dwarf_split_is_sound(const char *folder, Dwarf_Die *unit);
/* The same for the file that several debug files share (.gnu_debugaltlink, by dwz). True if there is none. */
bool tl_dwarf_shared_is_sound(const char *folder, Dwarf *dwarf);

#endif
