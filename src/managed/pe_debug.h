/* Which portable PDB belongs to a program or library of .NET. */
#ifndef TL_PE_DEBUG_H
#define TL_PE_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

#include "managed/portable_pdb.h"

/* Reads the id of the PDB that was written with this file. False: there was none, or the file is damaged. */
bool pe_debug_id(const char *path, uint8_t id[static PORTABLE_PDB_ID]);

#endif
