/* The inputs of all ranks, in groups that do not depend on the number of ranks. */
#ifndef TL_MPI_FLEET_LIST_H
#define TL_MPI_FLEET_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/report/report_sum.h"
#include "mpi/part_files.h"
#include "mpi/rank_bytes.h"

typedef struct tl_fleet_list {
    tl_rank_bytes text; /* of all paths: '+' (found in a folder) or '-', and the path with its end */
    size_t capacity;
    const char **path; /* [n] in `text`, in the order of `report` */
    bool *walked;      /* [n] */
    size_t n, groups;
    tl_report_sum start; /* folders that could not be listed; of rank 0 */
} tl_fleet_list;

/* Lists the inputs of the command line, as `report` does, and only in rank 0: so all ranks mean the same files,
 * whenever a shared file system shows a new one where. An exit status. `files` stays the caller's. */
int tl_fleet_list_make(tl_fleet_list *l, const tl_cli *c, tl_profile_files *files);
/* Gives all ranks the list of rank 0. */
void tl_fleet_list_share(tl_fleet_list *l);
/* Files number *from to *to - 1 are group number `group`. */
void tl_fleet_list_group(const tl_fleet_list *l, size_t group, size_t *from, size_t *to);
/* A key of the group's part, which changes with the files and with the options. False: a file cannot be looked at. */
bool tl_fleet_list_key(const tl_fleet_list *l, size_t group, const tl_arguments *a, tl_part_key *key);
void tl_fleet_list_fini(tl_fleet_list *l);

#endif
