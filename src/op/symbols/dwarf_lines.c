/* Finds the source lines of functions with libdw: one walk over the units with code at the wanted addresses. */
#include "op/symbols/dwarf_lines.h"

#ifdef TL_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "op/symbols/dwarf_files.h"

/* Functions are in namespaces, classes and functions; deeper ones get their line from the line table. */
#define DEPTH_MAX 24
/* Entries, ranges and addresses to visit before the rest stays unknown. A browser with full debug information has some
 * 10^8 entries; units that all claim the same code would make the number unbounded. */
#define STEPS_MAX (UINT64_C(1) << 30)

struct search {
    int fd;
    Elf *elf;
    Dwarf *dwarf;
    const uint64_t *address;
    size_t n;
    char *folder;   /* of the binary */
    bool may_split; /* split-off units in other files are read */
    bool *done;     /* of each address */
    uint64_t steps; /* that remain */
    int (*found)(void *arg, size_t i, const char *file, uint32_t line);
    void *arg;
};

/* Counts a step; false when the limit is reached. */
static bool step(struct search *s)
{
    if (s->steps == 0)
        return false;
    s->steps--;
    return true;
}

/* The first index whose address is not below `address`. */
static size_t lower_bound(const struct search *s, uint64_t address)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->address[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int report(struct search *s, size_t i, const char *file, int line)
{
    if (!file || line <= 0)
        return 0;
    s->done[i] = true;
    return s->found(s->arg, i, file, (uint32_t)line);
}

/* Where a function's code begins. One that is split into hot and cold parts has a list of ranges, the first of which
 * contains the entry. */
static bool function_begin(Dwarf_Die *die, Dwarf_Addr *begin)
{
    Dwarf_Addr base, end;
    return dwarf_lowpc(die, begin) == 0 || dwarf_ranges(die, 0, &base, begin, &end) > 0;
}

/* The file in the declaration of a function. dwarf_decl_file() is not used: it takes file 0 as missing, which in DWARF
 * 5 is the first one, and it ends the program on units whose entries are in a file of their own. */
static const char *declared_file(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    Dwarf_Half version;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t n;
    if (!dwarf_attr_integrate(function, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &index) != 0)
        return NULL;
    /* The number counts in the unit of the attribute, which may differ from that of the function. */
    if (dwarf_cu_info(attribute.cu, &version, NULL, &unit, NULL, NULL, NULL, NULL) != 0 || (index == 0 && version < 5))
        return NULL;
    if (dwarf_getsrcfiles(&unit, &files, &n) != 0 || index >= n)
        return NULL;
    return dwarf_filesrc(files, (size_t)index, NULL, NULL);
}

static int visit_function(struct search *s, Dwarf_Die *die)
{
    Dwarf_Addr begin;
    int line;
    if (!function_begin(die, &begin))
        return 0;
    size_t i = lower_bound(s, begin);
    if (i == s->n || s->address[i] != begin || s->done[i] || dwarf_decl_line(die, &line) != 0)
        return 0;
    return report(s, i, declared_file(die), line);
}

static bool may_hold_functions(int tag)
{
    switch (tag) {
    case DW_TAG_compile_unit:
    case DW_TAG_skeleton_unit:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
        return true;
    default:
        return false;
    }
}

/* Walks the tree below a unit. The entries of a valid unit are in ascending order; otherwise a walk could go in
 * circles, so it ends there. */
static int walk_unit(struct search *s, Dwarf_Die *unit)
{
    Dwarf_Die path[DEPTH_MAX];
    Dwarf_Off last = dwarf_dieoffset(unit);
    int depth = 0;
    if (dwarf_child(unit, &path[0]) != 0)
        return 0;
    while (depth >= 0) {
        Dwarf_Die *die = &path[depth];
        Dwarf_Off offset = dwarf_dieoffset(die);
        if (offset <= last || !step(s))
            return 0;
        last = offset;
        int tag = dwarf_tag(die);
        if (tag == DW_TAG_subprogram) {
            int rc = visit_function(s, die);
            if (rc < 0)
                return rc;
        }
        if (depth + 1 < DEPTH_MAX && may_hold_functions(tag) && dwarf_child(die, &path[depth + 1]) == 0) {
            depth++;
            continue;
        }
        while (depth >= 0 && dwarf_siblingof(&path[depth], &path[depth]) != 0)
            depth--;
    }
    return 0;
}

/* The row of a line table, sorted by address, with the line of an address: the first one at exactly this address that
 * has a line (0 marks code without a source), else the last one before it. */
static Dwarf_Line *find_row(Dwarf_Lines *lines, size_t n, uint64_t address)
{
    Dwarf_Addr at;
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dwarf_lineaddr(dwarf_onesrcline(lines, middle), &at) != 0)
            return NULL;
        if (at < address)
            low = middle + 1;
        else
            high = middle;
    }
    bool ends = false, ended = false; /* rows before an end belong to another piece of code */
    for (size_t i = low; i < n; i++, ended |= ends) {
        Dwarf_Line *row = dwarf_onesrcline(lines, i);
        int line;
        if (dwarf_lineaddr(row, &at) != 0 || at != address)
            break;
        if (dwarf_lineendsequence(row, &ends) == 0 && !ends && dwarf_lineno(row, &line) == 0 && line > 0)
            return row;
    }
    Dwarf_Line *before = low > 0 && !ended ? dwarf_onesrcline(lines, low - 1) : NULL;
    return before && dwarf_lineendsequence(before, &ends) == 0 && !ends ? before : NULL;
}

/* Sets the lines of addresses in a range of code from the line table, where still missing. */
static int lines_of_range(struct search *s, Dwarf_Die *unit, Dwarf_Addr begin, Dwarf_Addr end)
{
    Dwarf_Lines *lines = NULL;
    size_t n;
    for (size_t i = lower_bound(s, begin); i < s->n && s->address[i] < end && step(s); i++) {
        int line;
        if (s->done[i])
            continue;
        if (!lines && dwarf_getsrclines(unit, &lines, &n) != 0)
            return 0;
        Dwarf_Line *row = find_row(lines, n, s->address[i]);
        if (!row || dwarf_lineno(row, &line) != 0)
            continue;
        int rc = report(s, i, dwarf_linesrc(row, NULL, NULL), line);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* True if a wanted address without a line is in the code of the unit. */
static bool unit_is_wanted(struct search *s, Dwarf_Die *unit)
{
    Dwarf_Addr base, begin, end;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0 && step(s))
        for (size_t i = lower_bound(s, begin); i < s->n && s->address[i] < end && step(s); i++)
            if (!s->done[i])
                return true;
    return false;
}

static int search_unit(struct search *s, Dwarf_Die *unit, Dwarf_Die *split)
{
    Dwarf_Addr base, begin, end;
    ptrdiff_t at = 0;
    if (!unit_is_wanted(s, unit))
        return 0;
    int rc = walk_unit(s, split ? split : unit);
    while (rc >= 0 && (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0 && step(s))
        rc = lines_of_range(s, unit, begin, end);
    return rc;
}

/* The rest of a unit in another file, or NULL. */
static Dwarf_Die *split_of(const struct search *s, Dwarf_Die *unit, Dwarf_Die *split)
{
    if (!s->may_split || !tl_dwarf_split_is_sound(s->folder, unit))
        return NULL;
    const int status = dwarf_cu_info(unit->cu, NULL, NULL, NULL, split, NULL, NULL, NULL);
    return status == 0 && dwarf_tag(split) > 0 ? split : NULL;
}

static int search_units(struct search *s)
{
    Dwarf_CU *cu = NULL;
    uint8_t type;
    Dwarf_Die unit, split;
    int rc = 0;
    while (rc >= 0 && dwarf_get_units(s->dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0) {
        int tag = dwarf_tag(&unit);
        if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
            rc = search_unit(s, &unit, type == DW_UT_skeleton ? split_of(s, &unit, &split) : NULL);
    }
    return rc < 0 ? rc : 0;
}

/* By default libdw ends the program when memory runs out. */
static _Thread_local jmp_buf no_memory;

__attribute__((noreturn)) static void leave_libdw(void)
{
    longjmp(no_memory, 1);
}

/* `s` is the caller's: locals of the function that calls setjmp are lost by longjmp. */
static int search_guarded(struct search *s)
{
    if (setjmp(no_memory) != 0)
        return 0;
    dwarf_new_oom_handler(s->dwarf, leave_libdw);
    return search_units(s);
}

/* A file's folder, without symbolic links; the caller frees it. NULL: out of memory. */
static char *folder_of(const char *path)
{
    char *real = realpath(path, NULL);
    if (real)
        *strrchr(real, '/') = '\0';
    return real;
}

/* Whether the file that packs all split-off units of a binary may be opened. */
static bool may_split(const char *path)
{
    char packed[PATH_MAX + 4];
    const int n = snprintf(packed, sizeof packed, "%s.dwp", path);
    return n >= 0 && (size_t)n < sizeof packed && tl_dwarf_file_is_sound(packed);
}

int tl_dwarf_lines(const char *path, const uint64_t *address, size_t n,
                   int (*found)(void *arg, size_t i, const char *file, uint32_t line), void *arg)
{
    struct search s = {.fd = -1, .address = address, .n = n, .steps = STEPS_MAX, .found = found, .arg = arg};
    int rc = 0;
    if (n == 0 || elf_version(EV_CURRENT) == EV_NONE)
        return 0;
    s.done = calloc(n, sizeof *s.done);
    s.fd = s.done ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (s.fd < 0)
        goto out;
    s.elf = elf_begin(s.fd, ELF_C_READ, NULL); /* read, not mapped: a mapped file that shrinks would kill us */
    if (!s.elf || elf_kind(s.elf) != ELF_K_ELF)
        goto out;
    s.dwarf = dwarf_begin_elf(s.elf, DWARF_C_READ, NULL);
    s.folder = folder_of(path);
    s.may_split = may_split(path);
    if (s.dwarf && s.folder && tl_dwarf_strings_end(s.elf) && tl_dwarf_shared_is_sound(s.folder, s.dwarf))
        rc = search_guarded(&s);
out:
    if (s.dwarf)
        dwarf_end(s.dwarf);
    if (s.elf)
        elf_end(s.elf);
    if (s.fd >= 0)
        close(s.fd);
    free(s.folder);
    free(s.done);
    return rc;
}

#else

int tl_dwarf_lines(const char *path, const uint64_t *address, size_t n,
                   int (*found)(void *arg, size_t i, const char *file, uint32_t line), void *arg)
{
    (void)path;
    (void)address;
    (void)n;
    (void)found;
    (void)arg;
    return 0;
}

#endif
