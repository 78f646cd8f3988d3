/* An ELF file as the planner of patches sees it: its pieces, as the loader would map them. Nothing of it is trusted. */
#ifndef TL_CLI_PATCH_FILE_H
#define TL_CLI_PATCH_FILE_H

#include "base/elf/elf_file.h"
#include "base/elf/elf_segments.h"
#include "patch/patch_plan.h"

typedef struct tl_patch_file {
    const char *path; /* borrowed */
    tl_elf_segments segments;
    tl_elf *elf, *debug; /* NULL: none, or its sections cannot be read */
    patch_image image;
    uint8_t *bytes[PATCH_PARTS_MAX];
    uint64_t low, high; /* the pages that it occupies */
    uint64_t bias;      /* addresses in the image, less those in the file */
    bool fixed;         /* it lies where it says */
    uint64_t never[PATCH_NAMED], enter[PATCH_NAMED];
    patch_named named;
    patch_range *range; /* functions by symbols */
    uint32_t ranges;
    size_t range_room;
} tl_patch_file;

/* Reads the headers: what it occupies. In case of success to be closed; a zeroed one may be closed, too. Errors: those
 * of the headers; TL_EUNSUPPORTED: neither program nor library. */
int tl_patch_file_open(tl_patch_file *f, const char *path, tl_error *e);
void tl_patch_file_close(tl_patch_file *f);
/* Moves it, unless it is fixed. Once. */
void tl_patch_file_place(tl_patch_file *f, uint64_t bias);
/* Reads what is mapped, and collects what symbols say. Once, where it lies. Errors: TL_EDAMAGED: mapped pieces are not
 * in the file; TL_EUNSUPPORTED: too many, or none. */
int tl_patch_file_read(tl_patch_file *f, tl_error *e);
/* Calls visit for each function symbol, with its address in the image: of the debug file, too. */
int tl_patch_file_symbols(tl_patch_file *f, int (*visit)(void *arg, uint64_t address, const tl_elf_symbol *s),
                          void *arg, tl_error *e);

#endif
