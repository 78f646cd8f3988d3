/* Programs whose code is nearly all in one of their libraries, such as a python that is linked with libpython. */
#ifndef TL_CLI_RECORD_SHELL_H
#define TL_CLI_RECORD_SHELL_H

#include "cli/record/record.h"

/* Says which library has most of the code of a program that has few functions itself, unless --libs selects it. */
void tl_record_say_shell(const tl_record *r, const char *program, uint64_t functions);

#endif
