/* Parts of a sum in a folder: what a run that did not end leaves to the next one. */
#ifndef TL_MPI_PART_FILES_H
#define TL_MPI_PART_FILES_H

#include <stdbool.h>

#include "base/digest.h"
#include "cli/report/report_sum.h"
#include "mpi/rank_bytes.h"

typedef struct tl_part_files {
    char *folder; /* NULL: parts are not kept */
} tl_part_files;

/* What a part is called: the SHA-256 of everything that it depends on. */
typedef struct tl_part_key {
    uint8_t byte[TL_DIGEST_MOST];
} tl_part_key;

/* The folder for the parts of an output: state, or if NULL a hidden one beside it. False without memory. */
bool tl_part_files_init(tl_part_files *f, const char *state, const char *output);
/* Makes the folder if it is not there. Errors: TL_EIO; TL_EINVAL: others may write into it. */
int tl_part_files_make(const tl_part_files *f, tl_error *e);
/* Whether there is such a part, whole: then its sum, and the messages that belong to it. */
bool tl_part_files_take(const tl_part_files *f, const tl_part_key *key, tl_report_sum *sum, tl_rank_bytes *messages);
/* Errors: TL_EIO, TL_ENOMEM. */
int tl_part_files_keep(const tl_part_files *f, const tl_part_key *key, const tl_report_sum *sum,
                       const tl_rank_bytes *messages, tl_error *e);
/* Removes all parts, and the folder if nothing else is in it. */
void tl_part_files_remove(const tl_part_files *f);
void tl_part_files_fini(tl_part_files *f);

#endif
