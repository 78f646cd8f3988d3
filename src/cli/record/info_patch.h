/* `record --dry-run`: what would be patched in a program and its libraries, and what not, and why. */
#ifndef TL_CLI_INFO_PATCH_H
#define TL_CLI_INFO_PATCH_H

#include "cli/options.h"
#include "cli/record/patch_file.h"
#include "cli/record/patch_pretend.h"
#include "patch/patch_place.h"
#include "view/view.h"

/* A row of each relation; texts belong to the answer. */
typedef struct tl_patch_object_row {
    const char *object, *path;
    uint64_t functions, patched, left_out, late, ends, ends_patched;
    uint64_t direct, punned, evicted, several, bytes;
} tl_patch_object_row;

typedef struct tl_patch_reason_row {
    const char *object, *reason;
    uint64_t functions;
} tl_patch_reason_row;

typedef struct tl_patch_function_row {
    const char *object, *name, *what, *reason; /* what: "left out", "may end late" */
    uint64_t address, size, detail;            /* in the file */
    bool has_detail;
} tl_patch_function_row;

typedef struct tl_patch_info {
    tl_arena arena; /* of texts */
    tl_patch_object_row *object;
    tl_patch_reason_row *reason;
    tl_patch_function_row *function;
    uint32_t nobject, nreason, nfunction;
    uint32_t object_room, reason_room, function_room;
} tl_patch_info;

/* Plans an object in the space, where it lies already, and adds its rows. Functions that the command line does not
 * select are not patched. Errors: TL_ENOMEM; TL_EUNSUPPORTED: neither call frames nor symbols. */
int tl_patch_info_add(tl_patch_info *info, tl_patch_file *f, tl_pretended *space, const tl_arguments *a, tl_error *e);
void tl_patch_info_fini(tl_patch_info *info);
/* The answer borrows from `info`. */
void tl_patch_info_answer(const tl_patch_info *info, const tl_arguments *args, const tl_ask *ask, tl_answer *a);

#endif
