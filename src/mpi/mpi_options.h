/* The command line of traceloom-mpi: that of `traceloom report -o`, without what makes no sum, and --state. */
#ifndef TL_MPI_OPTIONS_H
#define TL_MPI_OPTIONS_H

#include "cli/options.h"

typedef struct tl_mpi_options {
    tl_arguments args;
    const char **word; /* those of args: the verb, and the rest without --state */
    const char *state; /* or NULL */
} tl_mpi_options;

/* Parses all words after the program's name. False, with a message, if the line is wrong. Finish it either way. */
bool tl_mpi_options_parse(tl_mpi_options *o, int n, const char *const *word, char message[static TL_USAGE_SIZE]);
void tl_mpi_options_fini(tl_mpi_options *o);

#endif
