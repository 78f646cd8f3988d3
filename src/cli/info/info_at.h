/* `info --at N`: registers and memory before an instruction. */
#ifndef TL_CLI_INFO_AT_H
#define TL_CLI_INFO_AT_H

#include "base/io/output.h"
#include "cli/verbs.h"

/* Shows the state of one input, as text or JSON. Returns a tl_exit. */
int tl_info_at(const tl_cli *c, const char *path, bool json, tl_output *out);

#endif
