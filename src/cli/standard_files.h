/* Standard input, output and error that are not open. */
#ifndef TL_CLI_STANDARD_FILES_H
#define TL_CLI_STANDARD_FILES_H

#include <stdbool.h>

/* To be called before anything is opened. A file would get the number of a standard one that is closed, and what is
 * printed would land in it: these numbers are taken, by what can be neither read nor written. False if it cannot be. */
bool tl_standard_files_fill(void);

#endif
